import { compareRanked } from '../kernels/compare.ts';
import type { Ranking, Run } from '../types.ts';
import { expectFile } from './bytes.ts';
import { idFault } from './id.ts';
import { intern } from './judgements.ts';
import { scanTextLines } from './lines.ts';
import { type Report, strictReport } from './problem.ts';

/** One good line of a run. */
export interface RunLine {
  readonly queryId: string;
  readonly documentId: string;
  readonly score: number;
}

const HINT = 'Expected "query-id Q0 document-id rank score tag" (TREC run).';

/**
 * A TREC run (also .gz): query -> ranking, by score descending then id ascending; like trec_eval, the rank column is not
 * looked at. Throws DATA with file and line for a malformed line, a non-finite score, or a document twice in one query.
 */
export async function loadRun(path: string, options: { onWarning?: Report } = {}): Promise<Run> {
  await expectFile(path, 'a TREC run');
  const scores = new Map<string, Map<string, number>>();
  await scanRun(path, strictReport(options.onWarning), ({ queryId, documentId, score }) => {
    const ranked = scores.get(queryId);
    if (ranked === undefined) scores.set(queryId, new Map([[documentId, score]]));
    else ranked.set(documentId, score);
  });
  const run = new Map<string, Ranking>();
  for (const [queryId, scored] of scores) run.set(queryId, rank(scored));
  return run;
}

/** Visits the lines of a run; malformed ones are reported, and so is the second appearance of a document. */
export async function scanRun(
  path: string,
  report: Report,
  visit: (entry: RunLine, line: number) => void,
): Promise<void> {
  const interned = new Map<string, string>();
  const seen = new Map<string, Set<string>>();
  await scanTextLines(path, report, (text, line) => {
    const fields = text.trim().split(/\s+/);
    const fault = (message: string, hint = HINT): void =>
      report({ severity: 'error', file: path, line, id: fields[0], message, hint });
    if (fields.length !== 6) return fault(`${fields.length} columns`);
    const score = Number(fields[4]);
    if (!Number.isFinite(score)) {
      const nonFinite = /^[+-]?(nan|inf(inity)?)$/i.test(fields[4]) || !Number.isNaN(score);
      const message = `${nonFinite ? 'non-finite score' : 'not a number as score:'} '${fields[4]}' for document '${fields[2]}'`;
      return fault(message, 'Scores are finite numbers; higher is better.');
    }
    const idProblem = idFault(fields[0]) ?? idFault(fields[2]);
    if (idProblem !== undefined) return fault(idProblem);
    const queryId = intern(fields[0], interned);
    const documentId = intern(fields[2], interned);
    let documents = seen.get(queryId);
    if (documents === undefined) seen.set(queryId, (documents = new Set()));
    if (documents.has(documentId))
      return fault(
        `document '${documentId}' twice for query '${queryId}'`,
        'Keep one line for each query and document.',
      );
    documents.add(documentId);
    visit({ queryId, documentId, score }, line);
  });
}

function rank(scored: ReadonlyMap<string, number>): Ranking {
  const ids = [...scored.keys()].sort((a, b) => compareRanked(scored.get(a)!, a, scored.get(b)!, b));
  return { ids, scores: Float64Array.from(ids, (id) => scored.get(id)!) };
}
