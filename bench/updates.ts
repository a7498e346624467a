/**
 * What an update costs beside a full run: 100,000 made-up functions, of which 1 % changed, some are new and some are gone. Each
 * step runs twice over the new collection, from nothing and with --previous, and the two artefacts must have one fingerprint.
 *
 * - rewrite: the edit policy, its tables fixed as after a training.
 * - bm25: the inverted index alone. dense: vectors of the rewrites by a fixed embedder (an LSA fitted beforehand, which is far
 *   cheaper a text than any language model: the ratio of those is better).
 *
 * Figures are processor seconds of this process, which a neighbour on the machine changes less than the clock; `wall` beside them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildIndex } from '../index/build-index.ts';
import { reusableOf } from '../index/previous-index.ts';
import { createBm25Retriever } from '../index/retrievers/bm25.ts';
import { createDenseRetriever } from '../index/retrievers/dense.ts';
import { openPreviousCorpus, settingsKey, writeCorpus } from '../rewrite/mod.ts';
import { arrayCorpus, corpusWithOriginals, loadCorpus, writeJsonl } from '../src/data/mod.ts';
import { createRng, type Rng } from '../src/kernels/rng.ts';
import { fitLsa } from '../src/models/embedders/mod.ts';
import { createPolicy } from '../src/models/policies/mod.ts';
import type { Embedder, Policy, Retriever } from '../src/ports.ts';
import { silentLog } from '../src/run/log.ts';
import { createArtefact, openArtefact } from '../src/store/artefact.ts';
import { subReader } from '../src/store/sub-artefact.ts';
import type { Corpus, Document } from '../src/types.ts';
import type { BenchResult } from './types.ts';

const DOCUMENTS = Number(process.env.DOCOPT_BENCH_DOCUMENTS ?? 100_000);
const CHANGED = 0.01;

interface Timed {
  readonly cpu: number;
  readonly wall: number;
}

export async function run(): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'docopt-updates-'));
  const at = (name: string): string => join(folder, name);
  try {
    const documents = madeUp(DOCUMENTS, createRng(1));
    await writeJsonl(at('before.jsonl'), documents.map(toRow));
    await writeJsonl(at('now.jsonl'), changed(documents, createRng(2)).map(toRow));
    const before = await loadCorpus(at('before.jsonl'));
    const policy = await editPolicy(documents);
    const rewrite = (data: string, out: string, previous?: string) =>
      rewriteCorpus(at(data), at(out), policy, previous && at(previous));

    await rewrite('before.jsonl', 'corpus-before');
    const rewriting = await compare({
      full: () => rewrite('now.jsonl', 'corpus-full'),
      update: () => rewrite('now.jsonl', 'corpus-update', 'corpus-before'),
    });

    const embedder = fixedEmbedder(before);
    const retrievers = {
      bm25: createBm25Retriever({ k1: 0.9, b: 0.4, analyzer: 'code', statistics: 'recompute' }),
      dense: createDenseRetriever({ embedder }),
    };
    const indexing: Record<string, { full: Timed; update: Timed }> = {};
    for (const [name, retriever] of Object.entries(retrievers)) {
      await index(at('corpus-before'), at(`${name}-before`), retriever);
      indexing[name] = await compare({
        full: () => index(at('corpus-full'), at(`${name}-full`), retriever),
        update: () => index(at('corpus-full'), at(`${name}-update`), retriever, at(`${name}-before`)),
      });
      for (const kind of ['before', 'full', 'update']) rmSync(at(`${name}-${kind}`), { recursive: true });
    }
    const steps = { rewrite: rewriting, ...indexing };
    return {
      name: 'updates',
      figures: { documents: DOCUMENTS, changedShare: CHANGED, ...steps },
      ratio: Object.fromEntries(
        Object.entries(steps).map(([name, { full, update }]) => [`${name} (update / full)`, update.cpu / full.cpu]),
      ),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Both over the same input; they must come to the same artefact. */
async function compare(
  runs: Record<'full' | 'update', () => Promise<string>>,
): Promise<{ full: Timed; update: Timed }> {
  const times: Partial<Record<'full' | 'update', Timed>> = {};
  const fingerprints = new Set<string>();
  for (const kind of ['full', 'update'] as const) {
    const [wall, cpu] = [performance.now(), process.cpuUsage()];
    fingerprints.add(await runs[kind]());
    const { user, system } = process.cpuUsage(cpu);
    times[kind] = { cpu: round((user + system) / 1e6), wall: round((performance.now() - wall) / 1000) };
  }
  if (fingerprints.size !== 1) throw new Error('the update is not what a full run gives');
  return times as { full: Timed; update: Timed };
}

/** As `docopt rewrite-corpus` does, reading the data included. */
async function rewriteCorpus(data: string, folder: string, policy: Policy, previous?: string): Promise<string> {
  const corpus = corpusWithOriginals(await loadCorpus(data));
  const work = {
    corpus,
    policy,
    policyFingerprint: 'fixed',
    sampling: { temperature: 0, seed: 1 },
    guards: { onEmpty: 'keep', onOverlong: 'keep', onDropped: 'keep', maxGrowth: 10, minKept: 0.5 },
    retries: 1,
    // Each batch is flushed to disk before it counts; large ones, so that the disk is not what is measured.
    batchSize: 1024,
    concurrency: 2,
    log: silentLog,
  } as const;
  const { manifest, report } = await writeCorpus({
    ...work,
    previous: previous === undefined ? undefined : await openPreviousCorpus(previous, 'fixed', settingsKey(work)),
    folder,
    replace: false,
    parents: { policy: 'fixed' },
    info: {},
    now: () => performance.now(),
  });
  if (previous !== undefined && report.from.policy > DOCUMENTS * CHANGED * 2)
    throw new Error('the update rewrote too much');
  return manifest.fingerprint;
}

/** As `docopt index --embedder none` does, without the reranker. */
async function index(data: string, folder: string, retriever: Retriever, previous?: string): Promise<string> {
  const corpus = await loadCorpus(data);
  const settings = { retriever: { driver: 'http', url: retriever.id }, documentText: 'title+text' } as const;
  const reuse =
    previous === undefined
      ? undefined
      : reusableOf({ ...(await open(previous, retriever)), info: settings }, corpus, settings);
  const artefact = await createArtefact(folder, 'index');
  await buildIndex({ corpus, documentText: settings.documentText, retriever, reuse, artefact, log: silentLog });
  return (await artefact.finish({ info: {} })).fingerprint;
}

async function open(folder: string, retriever: Retriever) {
  const artefact = await openArtefact(folder, 'index');
  const corpus = await loadCorpus(artefact.path('corpus.jsonl'));
  return { corpus, index: await retriever.open(subReader(artefact, 'retriever')) };
}

/** Its tables from a sample: fitting them is part of a training, not of an update. */
function editPolicy(documents: readonly Document[]): Promise<Policy> {
  const corpus = arrayCorpus(documents.slice(0, 1500));
  return createPolicy({ driver: 'edit' }, { corpus, analyzer: 'english', trainingPairs: [], seed: 1 });
}

function fixedEmbedder(corpus: Corpus): Embedder {
  const sample = Array.from({ length: Math.min(1000, corpus.size) }, (_, i) => corpus.indexText(i));
  const { save: _, ...embedder } = fitLsa(sample);
  return embedder;
}

function madeUp(count: number, rng: Rng): Document[] {
  const syllables = ['ba', 'ke', 'li', 'mo', 'nu', 'ra', 'se', 'ti', 'vo', 'zu', 'par', 'den', 'kol', 'mer', 'tan'];
  const words = Array.from({ length: 3000 }, () =>
    Array.from({ length: 2 + rng.int(2) }, () => syllables[rng.int(15)]).join(''),
  );
  const word = (): string => words[Math.floor(words.length ** rng.next()) - 1];
  const name = (): string => `${word()}${capital(word())}`;
  return Array.from({ length: count }, (_, i) => {
    const title = `${name()}${i}`;
    const [a, b] = [name(), name()];
    const body = Array.from({ length: 6 }, () => `  const ${name()} = ${word()}(${a}, ${b}.${word()});`).join('\n');
    return { id: `d${i}`, title, text: `function ${title}(${a}, ${b}) {\n${body}\n  return ${word()};\n}` };
  });
}

const capital = (text: string): string => text[0].toUpperCase() + text.slice(1);
const toRow = ({ id, title, text }: Document): unknown => ({ _id: id, title, text });
const round = (seconds: number): number => Number(seconds.toFixed(2));

/** 1 %: eight in ten of those have another text, one in ten is gone, one is new. */
function changed(documents: readonly Document[], rng: Rng): Document[] {
  const out: Document[] = [];
  for (const document of documents) {
    if (rng.next() >= CHANGED) out.push(document);
    else {
      const fate = rng.next();
      if (fate < 0.8) out.push({ ...document, text: `${document.text}\n// changedBefore${rng.int(1000)}` });
      else if (fate > 0.9) out.push(document, { ...document, id: `new-${document.id}` });
    }
  }
  return out;
}
