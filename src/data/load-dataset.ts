import { basename, resolve } from 'node:path';
import type { Corpus, Qrels, Query } from '../types.ts';
import { type LoadCorpusOptions, loadCorpus } from './load-corpus.ts';
import { loadQrelsFiles, type QrelsFiles } from './load-qrels.ts';
import { loadQueries } from './load-queries.ts';
import { findRowFile, kindAt } from './locate.ts';
import { dataError } from './problem.ts';

/** The questions of a test collection and their judgements, without its documents. */
export interface Topics {
  /** Last part of the path. */
  readonly name: string;
  readonly path: string;
  /** In file order; may hold queries without judgements. */
  readonly queries: readonly Query[];
  /** All qrels files together. */
  readonly qrels: Qrels;
  /** As the files have them. A lone file is not a split: it holds all judgements. */
  readonly qrelsBySplit: QrelsFiles['bySplit'];
}

/** A test collection: documents, queries, and which of them belong together. */
export interface Dataset extends Topics {
  readonly corpus: Corpus;
}

export interface LoadDatasetOptions extends LoadCorpusOptions {
  /** Require queries and judgements (training, evaluation). */
  readonly judged?: boolean;
}

/** What can be known of a data set without reading its documents, which may be many. */
export async function loadTopics(path: string, options: LoadDatasetOptions = {}): Promise<Topics> {
  const isFolder =
    (await kindAt(path, 'a data set: a folder with corpus.jsonl, queries.jsonl and qrels/')) === 'folder';
  const hasQueries = isFolder && (await findRowFile(path, 'queries')) !== undefined;
  const queries = hasQueries ? await loadQueries(path, options) : [];
  const { all, bySplit } = isFolder ? await loadQrelsFiles(path, options) : { all: new Map(), bySplit: {} };
  if (options.judged) requireJudged(path, queries, all);
  return { name: basename(resolve(path)), path, queries, qrels: all, qrelsBySplit: bySplit };
}

/** The data set at a path. Whatever has a corpus is one; queries and judgements are there when the folder has them. */
export async function loadDataset(path: string, options: LoadDatasetOptions = {}): Promise<Dataset> {
  const topics = await loadTopics(path, options);
  const corpus = await loadCorpus(path, options);
  if (corpus.size === 0) throw dataError(path, 'the corpus is empty', 'Expected at least one document.');
  return { ...topics, corpus };
}

function requireJudged(path: string, queries: readonly Query[], qrels: Qrels): void {
  if (queries.length === 0)
    throw dataError(path, 'the data set has no queries', 'Add queries.jsonl with rows {"_id": "...", "text": "..."}.');
  if (qrels.size === 0)
    throw dataError(
      path,
      'the data set has no judgements',
      'Add qrels/test.tsv with lines query-id, corpus-id, score.',
    );
}
