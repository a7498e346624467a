/** What a service answered as matrices, held against what was asked: nothing is taken that was not checked. */
import { DocOptError } from '../../errors.ts';
import type { Matrix } from '../../types.ts';
import type { TokenAnswer } from './api-dialects.ts';

/**
 * One matrix of unit rows per text, in the order of `texts`, wherever the service put it. Throws UPSTREAM, naming the text,
 * for a missing or doubled index, no tokens, another width, null, NaN, or no direction. `width` undefined = that of the first.
 */
export function unitMatrices(
  { items }: TokenAnswer,
  texts: readonly string[],
  width: number | undefined,
  embedder: string,
): Matrix[] {
  const wrong = (what: string): DocOptError =>
    new DocOptError('UPSTREAM', `token embedder ${embedder} answered ${what}.`, {
      hint: 'The service answered with status 200 and no usable vectors; nothing of that answer was kept.',
    });
  if (items.length !== texts.length) throw wrong(`${items.length} matrices for ${texts.length} texts`);
  const found: (Matrix | undefined)[] = texts.map(() => undefined);
  let columns = width;
  for (const [position, { index = position, embeddings }] of items.entries()) {
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= texts.length) {
      throw wrong(`a matrix numbered ${String(index)} among ${texts.length} texts`);
    }
    const named = `input ${index + 1} of ${texts.length}, ${excerpt(texts[index])}`;
    if (found[index] !== undefined) throw wrong(`twice for ${named}`);
    if (!Array.isArray(embeddings) || embeddings.length === 0) throw wrong(`no token vectors for ${named}`);
    columns ??= Array.isArray(embeddings[0]) ? embeddings[0].length : 0;
    const data = new Float32Array(embeddings.length * columns);
    for (const [token, row] of embeddings.entries()) {
      if (!Array.isArray(row) || row.length !== columns || columns === 0) {
        const got = Array.isArray(row) ? `${row.length} dimensions` : String(row);
        throw wrong(`${got} for token ${token} of ${named} where ${columns} dimensions were expected`);
      }
      const norm = Math.sqrt(
        row.reduce((sum: number, value) => sum + (typeof value === 'number' ? value * value : Number.NaN), 0),
      );
      if (!(norm > 0) || !Number.isFinite(norm)) {
        const bad = row.find((value) => typeof value !== 'number' || !Number.isFinite(value));
        throw wrong(`${bad === undefined ? 'a vector of length 0' : String(bad)} for token ${token} of ${named}`);
      }
      for (let j = 0; j < columns; j++) data[token * columns + j] = row[j] / norm;
    }
    found[index] = { rows: embeddings.length, columns, data };
  }
  return found as Matrix[];
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}
