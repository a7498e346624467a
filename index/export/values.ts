/** Values as text, shared by the formats. */

/** Nine digits give every float32 back, and half the characters of its double. */
export function floatText(value: number): string {
  return String(Number(value.toPrecision(9)));
}

/** [0.1,0.2]: JSON, and what pgvector reads. */
export function vectorText(vector: Float32Array): string {
  const parts = new Array<string>(vector.length);
  for (let i = 0; i < vector.length; i++) parts[i] = floatText(vector[i]);
  return `[${parts.join(',')}]`;
}

/** A JSON object whose last field may be a vector, which is far longer than it must be in JSON.stringify's digits. */
export function jsonWithVector(
  fields: Readonly<Record<string, unknown>>,
  name: string,
  vector: Float32Array | undefined,
): string {
  const json = JSON.stringify(fields);
  return vector === undefined ? json : `${json.slice(0, -1)},${JSON.stringify(name)}:${vectorText(vector)}}`;
}
