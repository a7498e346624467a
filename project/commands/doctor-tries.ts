/** Every configured name, tried with one text: what it resolves to, what it answers, how fast. */
import { createRetriever, openIndex } from '../../index/mod.ts';
import { describeSpec } from '../../src/config/spec-names.ts';
import type { PolicySpec, RerankerSpec, RetrieverSpec } from '../../src/config/specs.ts';
import { arrayCorpus } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { createRng } from '../../src/kernels/rng.ts';
import { createPolicy } from '../../src/models/policies/mod.ts';
import { createReranker, openEmbeddedReranker } from '../../src/models/rerankers/mod.ts';
import type { ModelServices } from '../../src/models/services.ts';
import type { Log, Policy, Reranker } from '../../src/ports.ts';
import { openArtefact } from '../../src/store/artefact.ts';
import { readExperiment } from '../../src/store/experiment.ts';
import { subReader } from '../../src/store/sub-artefact.ts';
import type { Document } from '../../src/types.ts';
import { openPolicy } from '../../train/mod.ts';
import type { Finding } from './doctor-check.ts';

const BOATS: Document = {
  id: 'boats',
  title: '',
  text: 'function buildBoat(planks) { return planks.map(bend); } // wooden boats are built of bent planks',
};
const OTHERS: readonly Document[] = [
  { id: 'birds', title: '', text: 'birds of passage cross the sea in spring' },
  { id: 'bread', title: '', text: 'bread is baked of flour, water and salt' },
];
const PROBE = [BOATS, ...OTHERS];
const QUESTION = { id: 'probe', text: 'how are wooden boats built' };

/** Builds an index of three documents and finds one again. */
export async function tryRetriever(spec: RetrieverSpec, services: ModelServices): Promise<Finding> {
  const index = await createRetriever(spec, services).build(arrayCorpus(PROBE));
  const started = performance.now();
  const [ranking] = await index.search([QUESTION], PROBE.length);
  const ms = performance.now() - started;
  const detail = describeSpec('retriever', spec);
  if (ranking.ids[0] === BOATS.id) return { detail: `${detail}: found its probe document`, ms };
  const found = ranking.ids.length === 0 ? 'nothing' : ranking.ids.join(', ');
  throw new DocOptError('UPSTREAM', `${detail}: asked for boats it found ${found}`, {
    hint: 'Check the model and its settings: prompts, pooling, dimensions.',
  });
}

/** Rewrites one document. */
export async function tryPolicy(policy: PolicySpec | string, log: Log, services: ModelServices): Promise<Finding> {
  const isFolder = typeof policy === 'string';
  const opened: Policy = isFolder
    ? (await openPolicy(policy, { log, services })).policy
    : await createPolicy(policy, {
        corpus: arrayCorpus(PROBE),
        analyzer: 'english',
        trainingPairs: [],
        seed: 1,
        services,
      });
  const started = performance.now();
  const [[completion]] = await opened.generate([{ document: { id: BOATS.id, text: BOATS.text } }], {
    samples: 1,
    temperature: 0,
    seed: 1,
  });
  const ms = performance.now() - started;
  const name = isFolder ? `${policy} (${opened.id})` : describeSpec('policy', policy);
  if (completion.finish === 'error') {
    throw new DocOptError('UPSTREAM', `${name}: the rewrite of one document failed`, {
      hint: 'Run it with --verbose.',
    });
  }
  const change = completion.text === BOATS.text ? 'kept its probe document as it is' : 'rewrote its probe document';
  return { detail: `${name}: ${change}`, ms };
}

/** Scores a document that answers and two that do not. */
export async function tryReranker(
  spec: RerankerSpec,
  index: string | undefined,
  services: ModelServices,
): Promise<Finding> {
  const detail = describeSpec('reranker', spec);
  if (spec.driver === 'features' && index === undefined) {
    return { detail: `${detail}: comes with an index, and there is none yet`, remedy: 'Build one: docopt index' };
  }
  const reranker = createReranker(spec, {
    embedded: spec.driver === 'features' ? await embeddedOf(index!) : undefined,
    scores: new Map(PROBE.map(({ id }) => [id, id === BOATS.id ? 0.9 : 0.1])),
    qrels: new Map([[QUESTION.id, new Map([[BOATS.id, 1]])]]),
    services,
  });
  const started = performance.now();
  const scores = await reranker.score(QUESTION, PROBE);
  const ms = performance.now() - started;
  const shown = Array.from(scores, (score) => score.toFixed(3)).join(', ');
  if (scores.some((score) => !(score >= 0 && score <= 1))) {
    throw new DocOptError('UPSTREAM', `${detail}: answered ${shown}, expected probabilities`, {
      hint: 'Check the model: a reranker answers one score in [0, 1] per pair.',
    });
  }
  const better = scores[0] > Math.max(scores[1], scores[2]);
  return {
    detail: `${detail}: ${shown} for a right and two wrong documents`,
    ms,
    ...(better ? {} : { remedy: 'The right one is not the best. `morph doctor` measures whether it earns its calls.' }),
  };
}

async function embeddedOf(folder: string): Promise<Reranker> {
  const { artefact, index, corpus, vectors } = await openIndex(folder);
  return openEmbeddedReranker(subReader(artefact, 'reranker'), { index, corpus }, vectors?.embedder);
}

export async function tryLatestExperiment(folder: string): Promise<Finding> {
  const { report } = await readExperiment<unknown, { retriever: string; policy: string; steps: number }>(folder);
  return { detail: `${folder}: ${report.policy} for ${report.retriever}, ${report.steps} steps` };
}

export async function tryLatestCorpus(folder: string): Promise<Finding> {
  const { manifest } = await openArtefact(folder, 'corpus');
  return { detail: `${folder} (${manifest.fingerprint.slice(0, 12)})` };
}

/** Opens it and asks one question. */
export async function tryIndex(folder: string, services: ModelServices): Promise<Finding> {
  const opening = performance.now();
  const { index, info, manifest } = await openIndex(folder, services);
  const asked = performance.now();
  await index.search([QUESTION], 10);
  const ms = performance.now() - asked;
  const opened = `opened in ${Math.round(asked - opening)} ms`;
  const what = `${info.documents} documents, ${describeSpec('retriever', info.retriever)}`;
  return { detail: `${folder} (${manifest.fingerprint.slice(0, 12)}): ${what}; ${opened}, one query`, ms };
}

/** How fast this machine is at what everything stands on: BM25 over seeded texts. */
export async function trySpeed(): Promise<Finding> {
  const rng = createRng(1);
  const word = (): string => `w${Math.floor(rng.next() ** 3 * 5000)}`;
  const text = (length: number): string => Array.from({ length }, word).join(' ');
  const corpus = arrayCorpus(Array.from({ length: 2000 }, (_, i) => ({ id: `d${i}`, title: '', text: text(60) })));
  const queries = Array.from({ length: 100 }, (_, i) => ({ id: `q${i}`, text: text(8) }));
  const built = performance.now();
  const index = await createRetriever({
    driver: 'bm25',
    k1: 0.9,
    b: 0.4,
    analyzer: 'english',
    statistics: 'recompute',
  }).build(corpus);
  const asked = performance.now();
  await index.search(queries, 100);
  const ms = performance.now() - asked;
  return { detail: `bm25: 2,000 documents indexed in ${Math.round(asked - built)} ms, then 100 queries`, ms };
}
