import { DocOptError } from '../../src/errors.ts';
import type { TokenEmbedder } from '../../src/ports.ts';
import type { Matrix } from '../../src/types.ts';

/** How far a unit vector may be from length 1 (half precision services are). */
const LENGTH_TOLERANCE = 1e-2;

/**
 * One matrix per text. The embedder gets each distinct text once and blank texts never: they have no rows. Throws UPSTREAM
 * when the answer is not what was asked for.
 */
export async function embedTokens(
  embedder: TokenEmbedder,
  texts: readonly string[],
  role: 'query' | 'document',
): Promise<Matrix[]> {
  const distinct = [...new Set(texts)].filter((text) => text.trim() !== '');
  const matrices = distinct.length === 0 ? [] : await embedder.embedTokens(distinct, role);
  if (matrices.length !== distinct.length) {
    throw refused(embedder, `answered ${matrices.length} matrices where ${distinct.length} were expected`);
  }
  const byText = new Map<string, Matrix>();
  matrices.forEach((matrix, i) => {
    checkMatrix(embedder, matrix, distinct[i]);
    byText.set(distinct[i], matrix);
  });
  const none: Matrix = { rows: 0, columns: embedder.dimensions, data: new Float32Array(0) };
  return texts.map((text) => byText.get(text) ?? none);
}

function checkMatrix(embedder: TokenEmbedder, { rows, columns, data }: Matrix, text: string): void {
  const width = embedder.dimensions;
  const excerpt = JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
  if (data.length !== rows * columns || (rows > 0 && columns !== width)) {
    throw refused(
      embedder,
      `answered ${rows} x ${columns} numbers for ${excerpt} where ${width} columns were expected`,
    );
  }
  for (let row = 0; row < rows; row++) {
    let square = 0;
    for (let j = row * width; j < (row + 1) * width; j++) square += data[j] * data[j];
    const norm = Math.sqrt(square);
    if (Math.abs(norm - 1) <= LENGTH_TOLERANCE) continue;
    const what = Number.isFinite(norm) ? `a vector of length ${norm.toPrecision(4)}` : 'non-finite values';
    throw refused(embedder, `answered ${what} for token ${row} of ${excerpt} where a unit vector was expected`);
  }
}

function refused(embedder: TokenEmbedder, what: string): DocOptError {
  return new DocOptError('UPSTREAM', `token embedder ${embedder.id} ${what}.`, {
    hint: 'Check its model and its settings; late interaction needs finite vectors of length 1 and one width.',
  });
}
