/** What a service answered as vectors, held against what was asked: nothing is taken that was not checked. */
import { DocOptError } from '../../../errors.ts';
import type { EmbedAnswer } from './dialects.ts';

/**
 * Unit rows in the order of `texts`, wherever the service put them. Throws UPSTREAM, naming the text, for a missing or doubled
 * index, another width, null, NaN, or no direction. `width` undefined = whatever the first has.
 */
export function unitVectors(
  answer: EmbedAnswer,
  texts: readonly string[],
  width: number | undefined,
  embedder: string,
): Float32Array[] {
  const { items } = answer;
  if (items.length !== texts.length) {
    throw wrong(embedder, `answered ${items.length} vectors for ${texts.length} texts`);
  }
  const rows: (Float32Array | undefined)[] = texts.map(() => undefined);
  let expected = width;
  for (const [position, { index, embedding }] of items.entries()) {
    // A service that numbers its answers may give them in any order.
    const row = index === undefined ? position : index;
    if (typeof row !== 'number' || !Number.isInteger(row) || row < 0 || row >= texts.length) {
      throw wrong(embedder, `numbered a vector ${String(index)} among ${texts.length} texts`);
    }
    if (rows[row] !== undefined) throw wrong(embedder, `answered twice for ${named(texts, row)}`);
    const values = numbersOf(embedding);
    if (values === undefined) throw wrong(embedder, `answered no vector for ${named(texts, row)}`);
    expected ??= values.length;
    if (values.length !== expected || values.length === 0) {
      throw wrong(
        embedder,
        `answered ${values.length} dimensions for ${named(texts, row)} where ${expected} were expected`,
        'Another model than the one named, or `dimensions` of the block is not what it has.',
      );
    }
    rows[row] = toUnit(values, () => named(texts, row), embedder);
  }
  return rows as Float32Array[];
}

/** A list of numbers, or base64 of little-endian float32. */
function numbersOf(embedding: unknown): ArrayLike<unknown> | undefined {
  if (Array.isArray(embedding)) return embedding;
  if (typeof embedding !== 'string' || embedding.length === 0 || embedding.length % 4 !== 0) return undefined;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(embedding)) return undefined;
  const bytes = Buffer.from(embedding, 'base64');
  if (bytes.length % 4 !== 0) return undefined;
  const values = new Float32Array(bytes.length / 4);
  for (let i = 0; i < values.length; i++) values[i] = bytes.readFloatLE(i * 4);
  return values;
}

function toUnit(values: ArrayLike<unknown>, name: () => string, embedder: string): Float32Array {
  let square = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      throw wrong(embedder, `answered ${value === null ? 'null' : String(value)} at dimension ${i} for ${name()}`);
    }
    square += value * value;
  }
  const norm = Math.sqrt(square);
  if (!(norm > 0) || !Number.isFinite(norm)) throw wrong(embedder, `answered a vector of length ${norm} for ${name()}`);
  const unit = new Float32Array(values.length);
  for (let i = 0; i < unit.length; i++) unit[i] = (values[i] as number) / norm;
  return unit;
}

function named(texts: readonly string[], row: number): string {
  const text = texts[row];
  return `input ${row + 1} of ${texts.length}, ${JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text)}`;
}

function wrong(embedder: string, what: string, hint?: string): DocOptError {
  return new DocOptError('UPSTREAM', `embedder ${embedder} ${what}.`, {
    hint: hint ?? 'The service answered with status 200 and no usable vectors; nothing of that answer was kept.',
  });
}
