import { idFault } from './id.ts';
import { scanTextLines } from './lines.ts';
import type { Report } from './problem.ts';

/** One good qrels line. */
export interface Judgement {
  readonly queryId: string;
  readonly documentId: string;
  readonly grade: number;
}

const HINT = 'Expected "query-id<TAB>corpus-id<TAB>grade" (BEIR) or "query-id 0 document-id grade" (TREC).';
const HEADER = /^(query|qid|q_id|topic)/i;

/** Visits the judgements of a BEIR (3 columns, with or without header) or TREC (4 columns) qrels file; bad lines are reported. */
export async function scanJudgements(
  file: string,
  report: Report,
  visit: (judgement: Judgement, line: number) => void,
): Promise<void> {
  const interned = new Map<string, string>();
  let first = true;
  await scanTextLines(file, report, (text, line) => {
    const fields = splitFields(text);
    const isFirst = first;
    first = false;
    if (isFirst && isHeader(fields)) return;
    const fault = (message: string, hint = HINT): void =>
      report({ severity: 'error', file, line, id: fields[0] ?? null, message, hint });
    if (fields.length !== 3 && fields.length !== 4) return fault(`${fields.length} columns`);
    if (isFirst && fields.length === 3) {
      const message = 'no header line; other readers of BEIR files skip the first line';
      const hint = 'Add a first line: query-id<TAB>corpus-id<TAB>score';
      report({ severity: 'warning', file, line, id: null, message, hint });
    }
    const [query, document, grade] = fields.length === 3 ? fields : [fields[0], fields[2], fields[3]];
    const idProblem = idFault(query) ?? idFault(document);
    if (idProblem !== undefined) return fault(idProblem, 'Ids in qrels cannot have white space.');
    const value = Number(grade);
    if (grade === '' || !Number.isSafeInteger(value) || !/^[+-]?\d+(\.0+)?$/.test(grade)) {
      const nonFinite = /^[+-]?(nan|inf(inity)?)$/i.test(grade);
      const what = nonFinite ? 'non-finite' : /^[+-]?\d+$/.test(grade) ? 'too large a' : 'not an integer';
      return fault(
        `${what} grade '${grade.length > 40 ? `${grade.slice(0, 37)}...` : grade}' for document '${document}'`,
        'Grades are integers, e.g. 0, 1, 2.',
      );
    }
    visit({ queryId: intern(query, interned), documentId: intern(document, interned), grade: value }, line);
  });
}

/** Columns of a TREC-like line: by tabs when that gives 3 or 4 of them (so that an id with a space is seen as such), else by white space. */
export function splitFields(text: string): string[] {
  const byTab = text.split('\t');
  if (byTab.length === 3 || byTab.length === 4) return byTab.map((field) => field.trim());
  return text.trim().split(/\s+/);
}

/** One copy of each id, cut loose from the line it was read from. */
export function intern(id: string, seen: Map<string, string>): string {
  const known = seen.get(id);
  if (known !== undefined) return known;
  const own = Buffer.from(id).toString();
  seen.set(own, own);
  return own;
}

/** The first line is a header when its grade is a word that no grade could be, or it starts like one. */
function isHeader(fields: readonly string[]): boolean {
  const last = fields.at(-1)!;
  if (/\d/.test(last) || /^[+-]?(nan|inf(inity)?)$/i.test(last)) return false;
  return HEADER.test(fields[0]) || (fields.length === 3 && /^[a-z][a-z _-]*$/i.test(last));
}
