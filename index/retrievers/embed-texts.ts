import { DocOptError } from '../../src/errors.ts';
import type { Embedder } from '../../src/ports.ts';

/** How far a unit vector may be from length 1 (half precision services are). */
const LENGTH_TOLERANCE = 1e-2;

/**
 * One row per text. The embedder gets each distinct text once and blank texts never (services refuse them), unless it has a
 * policy for them: a blank text has no direction, and its row is zeros. Throws UPSTREAM when the answer is not what was asked for.
 */
export async function embedTexts(
  embedder: Embedder,
  texts: readonly string[],
  role: 'query' | 'document',
): Promise<Float32Array> {
  const width = embedder.dimensions;
  const rowOf = new Map<string, number>();
  for (const text of texts) {
    if (!rowOf.has(text) && (text.trim() !== '' || embedder.seesBlank === true)) rowOf.set(text, rowOf.size);
  }
  const out = new Float32Array(texts.length * width);
  if (rowOf.size === 0) return out;

  const distinct = [...rowOf.keys()];
  const { rows, columns, data } = await embedder.embed(distinct, role);
  if (rows !== distinct.length || columns !== width || data.length !== rows * width) {
    throw refused(embedder, `answered ${rows} x ${columns} where ${distinct.length} x ${width} was expected`);
  }
  for (let row = 0; row < rows; row++) checkRow(embedder, data, row * width, width, distinct[row]);
  texts.forEach((text, i) => {
    const row = rowOf.get(text);
    if (row !== undefined) out.set(data.subarray(row * width, (row + 1) * width), i * width);
  });
  return out;
}

function checkRow(
  embedder: Embedder,
  data: Float32Array | Float64Array,
  start: number,
  width: number,
  text: string,
): void {
  let square = 0;
  for (let j = start; j < start + width; j++) square += data[j] * data[j];
  const norm = Math.sqrt(square);
  if (norm === 0 || Math.abs(norm - 1) <= LENGTH_TOLERANCE) return;
  const excerpt = JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
  const what = Number.isFinite(norm) ? `a vector of length ${norm.toPrecision(4)}` : 'non-finite values';
  throw refused(embedder, `answered ${what} for ${excerpt} where a unit vector was expected`);
}

function refused(embedder: Embedder, what: string): DocOptError {
  return new DocOptError('UPSTREAM', `embedder ${embedder.id} ${what}.`, {
    hint: 'Check its model and its settings; retrieval needs finite vectors of length 1 and one width.',
  });
}
