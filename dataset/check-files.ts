import { type DocumentText, documentText as textOf } from '../src/data/corpora.ts';
import { scanJudgements } from '../src/data/judgements.ts';
import { scanQueries } from '../src/data/load-queries.ts';
import { scanRun } from '../src/data/load-run.ts';
import type { Source } from '../src/data/locate.ts';
import type { Report } from '../src/data/problem.ts';
import { scanDocuments } from '../src/data/scan-documents.ts';
import { normaliseQuery } from '../src/data/splits.ts';

/** A query as the checks need it: where it stands, and whether a judgement named it. */
export interface CheckedQuery {
  readonly id: string;
  readonly text: string;
  readonly file: string;
  readonly line: number;
  judged: boolean;
  positive: boolean;
}

/** Checks every document; gives the ids of the good ones. */
export async function checkCorpus(source: Source, mode: DocumentText, report: Report): Promise<ReadonlySet<string>> {
  const lowerCase = new Map<string, string>();
  const index = await scanDocuments(source, report, ({ document, rewrite, file, line }) => {
    const { id } = document;
    const warn = (message: string, hint: string): void =>
      report({ severity: 'warning', file, line, id, message, hint });
    const text = rewrite ?? textOf(document, mode);
    if (text.trim() === '') {
      const what = rewrite === undefined ? 'the document is empty' : 'the rewrite is empty';
      warn(what, 'It can never be found; give it text or leave it out.');
    }
    if (text.includes('\u0000')) warn('the text contains NUL characters', 'Was this a binary file?');
    const lower = id.toLowerCase();
    const other = lowerCase.get(lower);
    if (other === undefined) lowerCase.set(lower, id);
    else warn(`id '${id}' differs only by case from '${other}'`, 'Some tools take them for one.');
  });
  if (index.ids.length === 0) {
    const hint = 'Expected at least one document.';
    report({ severity: 'error', file: source.path, line: null, id: null, message: 'no usable document', hint });
  }
  return new Set(index.ids);
}

/** Checks every query; gives the good ones by id. */
export async function checkQueries(source: Source, report: Report): Promise<Map<string, CheckedQuery>> {
  const queries = new Map<string, CheckedQuery>();
  const byText = new Map<string, CheckedQuery>();
  await scanQueries(source, report, ({ id, text }, line) => {
    const query = { id, text, file: source.path, line, judged: false, positive: false };
    queries.set(id, query);
    const warn = (message: string, hint: string): void =>
      report({ severity: 'warning', file: source.path, line, id, message, hint });
    const normalised = normaliseQuery(text);
    if (normalised === '') return warn('the query is empty', 'It finds nothing; give it text or leave it out.');
    const twin = byText.get(normalised);
    if (twin === undefined) byText.set(normalised, query);
    else warn(`the same text as query '${twin.id}' on line ${twin.line}`, 'Splits keep such queries on one side.');
  });
  return queries;
}

interface Judged {
  readonly grade: number;
  readonly file: string;
  readonly line: number;
}

/** Checks the judgements of all files together against documents and queries; gives how many there are. */
export async function checkQrels(
  files: readonly string[],
  documents: ReadonlySet<string> | undefined,
  queries: ReadonlyMap<string, CheckedQuery> | undefined,
  report: Report,
): Promise<number> {
  const judgements = new Map<string, Map<string, Judged>>();
  const fileOfQuery = new Map<string, string>();
  let count = 0;
  for (const file of files) {
    let empty = true;
    const reportLine: Report = (problem) => {
      empty = false;
      report(problem);
    };
    await scanJudgements(file, reportLine, ({ queryId, documentId, grade }, line) => {
      count++;
      empty = false;
      const problem = (severity: 'error' | 'warning', message: string, hint: string): void =>
        report({ severity, file, line, id: queryId, message, hint });
      const query = queries?.get(queryId);
      if (queries !== undefined && query === undefined) {
        problem('error', `judgement of unknown query '${queryId}'`, 'Add the query or remove the line.');
      }
      if (documents !== undefined && !documents.has(documentId)) {
        problem('error', `judgement of unknown document '${documentId}'`, 'Add the document or remove the line.');
      }
      if (query !== undefined) {
        query.judged = true;
        query.positive ||= grade > 0;
      }
      const other = fileOfQuery.get(queryId);
      if (other === undefined) fileOfQuery.set(queryId, file);
      else if (other !== file) {
        fileOfQuery.set(queryId, file); // Said once, not for each of its lines.
        problem('error', `query '${queryId}' is also judged in ${other}`, 'A query belongs to one split only.');
      }
      const judged = judgements.get(queryId) ?? new Map<string, Judged>();
      judgements.set(queryId, judged);
      const earlier = judged.get(documentId);
      if (earlier === undefined) judged.set(documentId, { grade, file, line });
      else {
        const where = `${earlier.file === file ? '' : `${earlier.file}, `}line ${earlier.line}`;
        const pair = `query '${queryId}' and document '${documentId}'`;
        if (earlier.grade === grade)
          problem('warning', `${pair} are judged twice (${where})`, 'Remove one of the lines.');
        else
          problem(
            'error',
            `${pair} are judged ${grade} here and ${earlier.grade} before (${where})`,
            'Keep one of the two.',
          );
      }
    });
    if (empty) {
      const hint = 'Expected lines query-id, corpus-id, score.';
      report({ severity: 'warning', file, line: null, id: null, message: 'no judgements', hint });
    }
  }
  for (const query of queries?.values() ?? []) {
    if (query.positive) continue;
    const message = query.judged ? 'the query has no positive judgement' : 'the query has no judgements';
    const hint = 'It takes no part in training or evaluation.';
    report({ severity: 'warning', file: query.file, line: query.line, id: query.id, message, hint });
  }
  return count;
}

/** Checks a run against documents and queries, where they are known. */
export async function checkRun(
  file: string,
  documents: ReadonlySet<string> | undefined,
  queries: ReadonlyMap<string, CheckedQuery> | undefined,
  report: Report,
): Promise<{ rankings: number; retrieved: number }> {
  const unknown = new Set<string>();
  const answered = new Set<string>();
  let retrieved = 0;
  await scanRun(file, report, ({ queryId, documentId }, line) => {
    answered.add(queryId);
    retrieved++;
    const warn = (id: string, message: string): void => {
      const hint = 'Is it a run of other data?';
      if (!unknown.has(message)) report({ severity: 'warning', file, line, id, message, hint });
      unknown.add(message);
    };
    if (queries !== undefined && !queries.has(queryId)) warn(queryId, `unknown query '${queryId}'`);
    if (documents !== undefined && !documents.has(documentId)) warn(documentId, `unknown document '${documentId}'`);
  });
  return { rankings: answered.size, retrieved };
}
