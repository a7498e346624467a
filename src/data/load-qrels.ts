import type { Qrels } from '../types.ts';
import { expectFile } from './bytes.ts';
import { scanJudgements } from './judgements.ts';
import { findQrelsFiles, kindAt } from './locate.ts';
import { dataError, type Report, strictReport } from './problem.ts';

/** Judgements by split as their files have them, and all of them together. */
export interface QrelsFiles {
  readonly all: Qrels;
  readonly bySplit: { readonly train?: Qrels; readonly dev?: Qrels; readonly test?: Qrels };
}

type Judgements = Map<string, Map<string, number>>;

/** The judgements of a qrels file (BEIR or TREC) or of all qrels files of a BEIR folder. Throws DATA with file and line. */
export async function loadQrels(path: string, options: { onWarning?: Report } = {}): Promise<Qrels> {
  const kind = await kindAt(path, 'a qrels file, or a folder with qrels/test.tsv');
  if (kind === 'folder') {
    const { all, bySplit } = await loadQrelsFiles(path, options);
    if (Object.keys(bySplit).length === 0)
      throw dataError(path, 'the folder has no qrels', 'Expected qrels/test.tsv (and perhaps train.tsv, dev.tsv).');
    return all;
  }
  await expectFile(path, 'a qrels file');
  const qrels: Judgements = new Map();
  await readInto(path, [qrels], strictReport(options.onWarning));
  return qrels;
}

/** The qrels files of a BEIR folder; all empty when there are none. */
export async function loadQrelsFiles(folder: string, options: { onWarning?: Report } = {}): Promise<QrelsFiles> {
  const files = await findQrelsFiles(folder);
  const all: Judgements = new Map();
  const bySplit: { train?: Judgements; dev?: Judgements; test?: Judgements } = {};
  for (const split of ['train', 'dev', 'test'] as const) {
    const file = files[split];
    if (file === undefined) continue;
    bySplit[split] = new Map();
    await readInto(file, [bySplit[split], all], strictReport(options.onWarning));
  }
  return { all, bySplit };
}

async function readInto(file: string, targets: readonly Judgements[], report: Report): Promise<void> {
  await scanJudgements(file, report, ({ queryId, documentId, grade }, line) => {
    for (const target of targets) {
      let judged = target.get(queryId);
      if (judged === undefined) target.set(queryId, (judged = new Map()));
      const earlier = judged.get(documentId);
      if (earlier !== undefined && earlier !== grade) {
        const message = `query '${queryId}' and document '${documentId}' are judged ${earlier} before and ${grade} here`;
        report({ severity: 'error', file, line, id: queryId, message, hint: 'Keep one of the two judgements.' });
        return;
      }
      judged.set(documentId, grade);
    }
  });
}
