import { readFile, stat } from 'node:fs/promises';
import { DocOptError } from '../../src/errors.ts';
import { type Learned, type LoggedQuery, learnNoise, learnWeights } from '../history.ts';
import { type EmbedTogether, poolFromDocuments } from '../pool.ts';
import { parsePool } from '../pool-file.ts';
import type { TokenCapacity } from '../selectors/token-capacity.ts';

/** Earlier queries from disk: one pool a line, as in --pool, with `score` where there was a call and `relevant` where known. */
export async function readHistory(path: string, embed: EmbedTogether): Promise<LoggedQuery[]> {
  const info = await stat(path).catch(() => undefined);
  if (info === undefined || !info.isFile()) {
    throw new DocOptError('USAGE', `the history '${path}' ${info === undefined ? 'does not exist' : 'is not a file'}`, {
      hint: 'Give a JSONL file: one pool a line, {"query": ..., "documents": [{"id", "text", "score", "relevant"}]}.',
    });
  }
  const logged: LoggedQuery[] = [];
  const lines = (await readFile(path, 'utf8')).split('\n');
  for (const [number, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const where = `${path}, line ${number + 1}`;
    const given = parsePool(parseLine(line, where), where);
    const { pool } = await poolFromDocuments(given, embed);
    logged.push({
      pool,
      scores: Float64Array.from(pool.ids, (id) => given.scores.get(id) ?? Number.NaN),
      relevant: given.relevant.size === 0 ? undefined : pool.ids.map((id) => given.relevant.get(id) ?? 0),
    });
  }
  return logged;
}

/** Everything that a history teaches for these limits. */
export function learnFrom(
  logged: readonly LoggedQuery[],
  limits: { readonly budget: number; readonly capacity: number | TokenCapacity },
  wantsNoise: boolean,
): Learned {
  const weights = learnWeights(logged);
  if (!wantsNoise) return weights;
  // Tokens hold about as many documents as the standard capacity; the noise hardly depends on it.
  const capacity = typeof limits.capacity === 'number' ? limits.capacity : 10;
  const noise = learnNoise(logged, { budget: limits.budget, capacity });
  return { ...weights, ...noise, notes: [...weights.notes, ...noise.notes] };
}

function parseLine(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new DocOptError('DATA', `${where}: not JSON: ${(error as Error).message}`, {
      hint: 'Write one pool a line.',
      cause: error,
    });
  }
}
