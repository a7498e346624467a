import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  loadCorpus,
  loadDataset,
  loadQrels,
  loadQueries,
  loadRun,
  writeBeir,
  writeJsonl,
  writeRun,
} from '../../../src/data/mod.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import type { Corpus, Document } from '../../../src/types.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';
import { randomDocuments, randomQrels, randomQueries, randomRun } from './random-data.ts';

const SEEDS = [1, 2, 3, 4, 5];

function documents(corpus: Corpus): Document[] {
  return corpus.ids.map((_, position) => corpus.original(position));
}

test.each(SEEDS)('a BEIR folder reads back as it was written (seed %i)', async (seed) => {
  const rng = createRng(seed);
  const content = randomDocuments(rng, 1 + rng.int(200));
  const queries = randomQueries(rng, 1 + rng.int(50));
  const qrels = randomQrels(rng, queries, content);
  const folder = join(temporaryFolder(), 'data');
  await writeBeir(folder, { documents: content, queries, qrels });
  const read = await loadDataset(folder);
  expect(documents(read.corpus)).toEqual(content);
  expect(read.queries).toEqual(queries);
  expect(read.qrels).toEqual(qrels);
  expect(read.qrelsBySplit).toEqual({ test: qrels });
  read.corpus.ids.forEach((id, position) => {
    expect(read.corpus.positionOf(id)).toBe(position);
  });
});

test.each(SEEDS)('JSONL, plain and packed (seed %i)', async (seed) => {
  const content = randomDocuments(createRng(seed), 100);
  const rows = content.map(({ id, ...rest }) => ({ _id: id, ...rest }));
  for (const name of ['rows.jsonl', 'rows.jsonl.gz']) {
    const path = join(temporaryFolder(), name);
    await writeJsonl(path, rows);
    expect(documents(await loadCorpus(path))).toEqual(content);
  }
});

test.each(SEEDS)('CSV and TSV with everything that must be quoted (seed %i)', async (seed) => {
  // Half a surrogate pair has no UTF-8 form; JSON escapes it, CSV cannot.
  const content = randomDocuments(createRng(seed), 40, '\ud800').map(({ id, title, text }) => ({ id, title, text }));
  const folder = temporaryFolder();
  for (const [name, separator] of [
    ['rows.csv', ','],
    ['rows.tsv', '\t'],
  ]) {
    const quote = (field: string) => `"${field.replaceAll('"', '""')}"`;
    for (const end of ['\n', '\r\n']) {
      const rows = [['id', 'title', 'text'], ...content.map(({ id, title, text }) => [id, title, text])];
      const table = rows.map((row) => `${row.map(quote).join(separator)}${end}`).join('');
      writeFileSync(join(folder, name), table);
      writeFileSync(join(folder, `${name}.gz`), gzipSync(table));
      expect(documents(await loadCorpus(join(folder, name)))).toEqual(content);
      expect(documents(await loadCorpus(join(folder, `${name}.gz`)))).toEqual(content);
    }
  }
});

test.each(SEEDS)('TREC qrels say the same as BEIR qrels (seed %i)', async (seed) => {
  const rng = createRng(seed);
  const queries = randomQueries(rng, 40);
  const qrels = randomQrels(rng, queries, randomDocuments(rng, 60));
  const folder = temporaryFolder();
  const trec = [...qrels].flatMap(([query, judged]) =>
    [...judged].map(([id, grade]) => `${query} 0  ${id}\t${grade}\r\n`),
  );
  writeFileSync(join(folder, 'qrels.txt'), trec.join(''));
  expect(await loadQrels(join(folder, 'qrels.txt'))).toEqual(qrels);
});

test.each(SEEDS)('queries from JSONL and from TSV (seed %i)', async (seed) => {
  const queries = randomQueries(createRng(seed), 50).map(({ id, text }) => ({
    id,
    text: `x${text.replace(/[\t\n\r\ud800]/gu, ' ')}`,
  }));
  const folder = temporaryFolder();
  await writeJsonl(
    join(folder, 'queries.jsonl'),
    queries.map(({ id, text }) => ({ _id: id, text })),
  );
  writeFileSync(join(folder, 'queries.tsv'), queries.map(({ id, text }) => `${id}\t${text}\n`).join(''));
  expect(await loadQueries(folder)).toEqual(queries);
  expect(await loadQueries(join(folder, 'queries.tsv'))).toEqual(queries);
});

test.each(SEEDS)('a run keeps its order through any reader that sorts by score (seed %i)', async (seed) => {
  const run = randomRun(createRng(seed), 20, 300);
  const path = join(temporaryFolder(), 'run.trec');
  await writeRun(path, run, 'tag');
  const read = await loadRun(path);
  expect([...read.keys()]).toEqual([...run.keys()]);
  for (const [query, { ids }] of run) expect(read.get(query)!.ids).toEqual(ids);
  // trec_eval: 32-bit scores, descending; equal ones would be reordered by id, so there may be none.
  const last = new Map<string, { rank: number; score: number }>();
  const wrong = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .filter((line) => {
      const [query, q0, , rank, score, tag] = line.split(' ');
      const before = last.get(query) ?? { rank: 0, score: Infinity };
      last.set(query, { rank: Number(rank), score: Math.fround(Number(score)) });
      const falls = Math.fround(Number(score)) < before.score;
      return !(q0 === 'Q0' && tag === 'tag' && falls && Number(rank) === before.rank + 1);
    });
  expect(wrong).toEqual([]);
});
