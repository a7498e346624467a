/** A policy for rewriting a corpus: the trained one of an experiment, or one that needs no training. */
import type { PolicySpec, RetrieverSpec } from '../src/config/specs.ts';
import { policySchema } from '../src/config/specs.ts';
import { corpusWithOriginals, type DocumentText, loadCorpus } from '../src/data/mod.ts';
import { DocOptError } from '../src/errors.ts';
import { createPolicy, isChatPolicy, openPolicy as openSavedPolicy, shippedNotes } from '../src/models/policies/mod.ts';
import type { ModelServices } from '../src/models/services.ts';
import type { ArtefactReader, Log, Policy } from '../src/ports.ts';
import { fingerprintOf, openArtefact } from '../src/store/artefact.ts';
import { readExperiment } from '../src/store/experiment.ts';
import { fingerprintStrings } from '../src/store/fingerprint.ts';
import { subReader } from '../src/store/sub-artefact.ts';
import type { Corpus } from '../src/types.ts';
import { POLICY } from './checkpoint.ts';
import type { ExperimentConfig } from './experiment-config.ts';
import { type DrawOptions, PRESETS } from './options.ts';
import type { TrainReport } from './report.ts';

export interface OpenPolicy {
  readonly policy: Policy;
  /** For people. */
  readonly name: string;
  /** Of the policy's own files: equal policies, equal fingerprints. */
  readonly fingerprint: string;
  /** How the collection was rewritten while it trained. */
  readonly indexSampling: DrawOptions;
  /** For the manifest of what is made with it. */
  readonly parents: Readonly<Record<string, string>>;
  /** What stands behind it, nearest first. */
  readonly chain: readonly { readonly kind: string; readonly fingerprint: string; readonly path: string }[];
  /** What it was trained on and for; undefined without a training. */
  readonly data?: string;
  readonly documentText?: DocumentText;
  readonly retriever?: RetrieverSpec;
  /** Folder of the training. */
  readonly experiment?: string;
}

export interface OpenPolicyOptions {
  readonly log: Log;
  /** What it will rewrite: an untrained edit policy takes its statistics from there. */
  readonly corpusPath?: string;
  /** For policies that are services. */
  readonly services?: ModelServices;
}

/**
 * `named` is the folder of a finished experiment, or a policy by its block or short form. Throws ARTEFACT for folders
 * without a finished training.
 */
export async function openPolicy(named: string | PolicySpec, options: OpenPolicyOptions): Promise<OpenPolicy> {
  if (typeof named === 'string' && named !== 'identity' && named !== 'edit') return openTrained(named, options);
  const spec = typeof named === 'string' ? policySchema.parse({ driver: named }) : named;
  return openUntrained(spec, options);
}

async function openTrained(folder: string, { services }: OpenPolicyOptions): Promise<OpenPolicy> {
  const { config, artefact, path } = await openCheckpointOf(folder);
  const files = Object.entries(artefact.manifest.files).filter(([name]) => name.startsWith(`${POLICY}/`));
  const fingerprint = fingerprintOf('policy', Object.fromEntries(files));
  return {
    policy: await openSavedPolicy(subReader(artefact, POLICY), services),
    name: folder,
    fingerprint,
    indexSampling: config.options.indexing,
    parents: { checkpoint: artefact.manifest.fingerprint },
    chain: [
      { kind: 'policy', fingerprint, path },
      { kind: 'data', fingerprint: artefact.manifest.parents.data, path: config.data },
    ],
    data: config.data,
    documentText: config.documentText,
    retriever: config.retriever,
    experiment: folder,
  };
}

/** The policy files of an experiment's chosen checkpoint. */
export async function openPolicyFiles(folder: string): Promise<ArtefactReader> {
  return subReader((await openCheckpointOf(folder)).artefact, POLICY);
}

async function openCheckpointOf(
  folder: string,
): Promise<{ config: ExperimentConfig; artefact: ArtefactReader; path: string }> {
  const { config, report } = await readExperiment<ExperimentConfig, TrainReport>(folder);
  const path = `${folder}/${report.checkpoint.path}`;
  return { config, artefact: await openArtefact(path, 'checkpoint', { verify: true }), path };
}

async function openUntrained(spec: PolicySpec, { corpusPath, log, services }: OpenPolicyOptions): Promise<OpenPolicy> {
  if (corpusPath === undefined) {
    throw new DocOptError('USAGE', `which corpus? policy '${spec.driver}' comes without one`, {
      hint: 'Add --data DATA or --corpus CORPUS.',
    });
  }
  const corpus = corpusWithOriginals(await loadCorpus(corpusPath));
  const policy = await createPolicy(spec, {
    corpus,
    // No retriever is known here; the analyzer only decides which words count as the same.
    analyzer: 'english',
    trainingPairs: [],
    seed: 1,
    openExperiment: openPolicyFiles,
    services,
  });
  log.info(`policy: ${policy.id}, untrained`);
  if (isChatPolicy(policy)) {
    return {
      policy,
      name: policy.id,
      fingerprint: policy.fingerprint,
      indexSampling: PRESETS.paper.indexing,
      parents: {},
      chain: [],
    };
  }
  for (const note of shippedNotes(policy.id, corpus)) log.warn(note);
  return {
    policy,
    name: policy.id,
    // An edit policy's statistics come from all texts of the corpus.
    fingerprint: fingerprintStrings([policy.id, ...(spec.driver === 'edit' ? textsOf(corpus) : [])]),
    indexSampling: PRESETS[spec.driver === 'lm' ? 'lm' : 'edit'].indexing,
    parents: {},
    chain: [],
  };
}

function* textsOf(corpus: Corpus): Iterable<string> {
  for (let i = 0; i < corpus.size; i++) {
    yield corpus.ids[i];
    yield corpus.indexText(i);
  }
}
