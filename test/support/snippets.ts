/**
 * A small code collection with labels: functions with terse names, and queries that say the same in plain words. Every
 * combination of an action and a thing is one document; some words only the queries use, so there is something to learn.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { arrayCorpus } from '../../src/data/mod.ts';
import type { Corpus, Qrels, Query } from '../../src/types.ts';

const ACTIONS = [
  { name: 'calc_avg', words: 'compute the average', body: 'return sum(xs) / len(xs)' },
  { name: 'rm_dup', words: 'remove duplicate entries', body: 'return list(dict.fromkeys(xs))' },
  { name: 'srt_desc', words: 'order from largest to smallest', body: 'return sorted(xs, reverse=True)' },
  { name: 'cnt_occ', words: 'count how often each occurs', body: 'return {x: xs.count(x) for x in xs}' },
  { name: 'chk_empty', words: 'tell whether nothing is there', body: 'return len(xs) == 0' },
  { name: 'max_elem', words: 'find the biggest', body: 'return max(xs)' },
  { name: 'rev_lst', words: 'turn around backwards', body: 'return xs[::-1]' },
  { name: 'flt_neg', words: 'drop everything below zero', body: 'return [x for x in xs if x >= 0]' },
] as const;

const THINGS = [
  { name: 'usr_ages', words: 'ages of users' },
  { name: 'ord_prices', words: 'prices of orders' },
  { name: 'tmp_vals', words: 'temperature readings' },
  { name: 'acct_bal', words: 'account balances' },
  { name: 'msg_len', words: 'message lengths' },
  { name: 'img_px', words: 'pixels of an image' },
  { name: 'pwd_hash', words: 'password hashes' },
  { name: 'net_lat', words: 'network latencies' },
  { name: 'doc_idx', words: 'document positions' },
  { name: 'geo_dist', words: 'distances between places' },
] as const;

export interface Snippets {
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  readonly qrels: Qrels;
}

export function createSnippets(): Snippets {
  const pairs = ACTIONS.flatMap((action) => THINGS.map((thing) => ({ action, thing })));
  const corpus = arrayCorpus(
    pairs.map(({ action, thing }, i) => ({
      id: `d${i}`,
      title: '',
      text: `def ${action.name}_${thing.name}(xs):\n    ${action.body}\n`,
    })),
  );
  const queries = pairs.map(({ action, thing }, i) => ({ id: `q${i}`, text: `${action.words} of ${thing.words}` }));
  return { corpus, queries, qrels: new Map(queries.map(({ id }, i) => [id, new Map([[`d${i}`, 1]])])) };
}

/** The same as a BEIR folder. */
export function writeSnippets(folder: string): string {
  const { corpus, queries, qrels } = createSnippets();
  mkdirSync(join(folder, 'qrels'), { recursive: true });
  const lines = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeFileSync(
    join(folder, 'corpus.jsonl'),
    lines(corpus.ids.map((id, i) => ({ _id: id, title: '', text: corpus.indexText(i) }))),
  );
  writeFileSync(join(folder, 'queries.jsonl'), lines(queries.map(({ id, text }) => ({ _id: id, text }))));
  const judgements = [...qrels].flatMap(([query, grades]) =>
    [...grades].map(([id, grade]) => `${query}\t${id}\t${grade}\n`),
  );
  writeFileSync(join(folder, 'qrels', 'test.tsv'), `query-id\tcorpus-id\tscore\n${judgements.join('')}`);
  return folder;
}
