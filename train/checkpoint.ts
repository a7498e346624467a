/**
 * Checkpoints: everything that decides what a training does next. The policy and its optimiser save themselves; beside
 * them lie the state below and the texts of the last refresh, from which the index is built again. All random streams
 * derive from (seed, step, epoch), so those numbers are the state of the randomness.
 */
import { DocOptError } from '../src/errors.ts';
import type { ArtefactReader, ArtefactWriter, Learner } from '../src/ports.ts';
import type { Experiment } from '../src/store/experiment.ts';
import { subReader, subWriter } from '../src/store/sub-artefact.ts';
import type { Corpus } from '../src/types.ts';
import type { TrainOptions } from './options.ts';
import type { RoundEvaluation } from './refresh.ts';
import type { SamplerState } from './sampler.ts';

export interface TrainingState {
  /** Finished updates. */
  readonly step: number;
  /** Where the document sampler stands. */
  readonly sampler: SamplerState;
  /** Tokens of all rollouts so far. */
  readonly numTokens: number;
  /** Updates before the last refresh, whose texts are the collection now. */
  readonly refreshedAt: number;
  /** One entry per refresh, ascending. */
  readonly curve: readonly RoundEvaluation[];
  /** The original texts, measured once at the start. */
  readonly original: RoundEvaluation;
  /** Refreshes at which the collapse alarm went off. */
  readonly alarms: readonly number[];
}

/** What a checkpoint must agree on with the run that resumes it. */
export interface Identity {
  readonly options: TrainOptions;
  /** Of corpus, queries, judgements, splits, retriever and policy. */
  readonly data: string;
}

/** Folder of the policy's own files inside a checkpoint. */
export const POLICY = 'policy';
const STATE = 'training.json';
const TEXTS = 'texts.jsonl';

/** Options that a resumed run may change, because no step depends on them. */
const FREE: ReadonlySet<string> = new Set(['metrics', 'runDepth', 'checkpointEvery', 'keepCheckpoints']);

export async function saveCheckpoint(
  experiment: Experiment,
  learner: Learner,
  corpus: Corpus,
  texts: readonly string[],
  state: TrainingState,
  identity: Identity,
  indexFingerprint: string,
  seconds: number,
): Promise<void> {
  await experiment.saveCheckpoint(
    state.step,
    async (artefact: ArtefactWriter) => {
      await learner.save(subWriter(artefact, POLICY));
      await artefact.write(STATE, `${JSON.stringify({ state, identity, indexFingerprint }, null, 2)}\n`);
      await artefact.writeStream(TEXTS, textRows(corpus, texts));
    },
    {
      parents: { data: identity.data, index: indexFingerprint },
      // Time stands in the manifest, not in the content: equal runs have equal fingerprints.
      info: { step: state.step, policy: learner.policy.id, seconds },
    },
  );
}

export interface LoadedCheckpoint {
  readonly state: TrainingState;
  readonly texts: readonly string[];
  readonly indexFingerprint: string;
  /** Wall time until then. */
  readonly seconds: number;
}

/** Reads a checkpoint and puts the learner where it was. Throws CONFIG when it belongs to another training. */
export async function loadCheckpoint(
  experiment: Experiment,
  step: number,
  learner: Learner,
  corpus: Corpus,
  identity: Identity,
): Promise<LoadedCheckpoint> {
  const artefact = await experiment.openCheckpoint(step);
  const saved = await artefact.readJson<{ state: TrainingState; identity: Identity; indexFingerprint: string }>(STATE);
  checkIdentity(saved.identity, identity);
  await learner.load(subReader(artefact, POLICY));
  return {
    seconds: Number(artefact.manifest.info.seconds ?? 0),
    state: saved.state,
    texts: await readTexts(artefact, corpus),
    indexFingerprint: saved.indexFingerprint,
  };
}

/** Only the texts of a checkpoint and the learner's weights: what the final measurement takes. */
export async function restoreCheckpoint(
  experiment: Experiment,
  step: number,
  learner: Learner,
  corpus: Corpus,
): Promise<readonly string[]> {
  const artefact = await experiment.openCheckpoint(step);
  await learner.load(subReader(artefact, POLICY));
  return readTexts(artefact, corpus);
}

/**
 * The refresh whose policy becomes the product: the best dev nDCG, the later one among equals; without dev queries the
 * last. Training nDCG never chooses: it is worse than taking the last.
 */
export function chooseStep(curve: readonly RoundEvaluation[]): number {
  return best(curve, ({ dev }) => dev).step;
}

/** Removes all checkpoints but the newest `keep`, and the best by dev (by train when there is no dev). */
export async function pruneCheckpoints(
  experiment: Experiment,
  curve: readonly RoundEvaluation[],
  keep: number,
): Promise<void> {
  const steps = await experiment.checkpoints();
  const hasDev = curve.some(({ dev }) => dev !== null);
  const protectedSteps = new Set([...steps.slice(-keep), best(curve, ({ dev, train }) => (hasDev ? dev : train)).step]);
  for (const step of steps) if (!protectedSteps.has(step)) await experiment.removeCheckpoint(step);
}

/** One JSON row a document, {_id, text}, in blocks of about 256 KB. */
export function* textRows(corpus: Corpus, texts: readonly string[]): Generator<string> {
  let block = '';
  for (let position = 0; position < texts.length; position++) {
    block += `${JSON.stringify({ _id: corpus.ids[position], text: texts[position] })}\n`;
    if (block.length < 1 << 18) continue;
    yield block;
    block = '';
  }
  yield block;
}

/** Texts by position from such rows. Line by line: the whole may be larger than a string can be. */
export function parseTextRows(bytes: Uint8Array, corpus: Corpus): string[] {
  const decoder = new TextDecoder();
  const texts: string[] = [];
  let same = true;
  for (let start = 0, end = bytes.indexOf(10); end !== -1; start = end + 1, end = bytes.indexOf(10, start)) {
    const row = parseRow(decoder.decode(bytes.subarray(start, end)));
    same &&= row._id === corpus.ids[texts.length];
    texts.push(row.text);
  }
  if (same && texts.length === corpus.size) return texts;
  throw new DocOptError(
    'ARTEFACT',
    `the saved texts are of ${texts.length} documents, not of the ${corpus.size} given`,
    {
      hint: 'The data changed since the training began. Start a new one with another --out.',
    },
  );
}

function parseRow(line: string): { _id: string; text: string } {
  try {
    return JSON.parse(line) as { _id: string; text: string };
  } catch (error) {
    throw new DocOptError('ARTEFACT', `a saved text does not parse: ${(error as Error).message}`, {
      hint: 'The experiment is damaged. Start a new training with another --out.',
      cause: error,
    });
  }
}

async function readTexts(artefact: ArtefactReader, corpus: Corpus): Promise<string[]> {
  return parseTextRows(await artefact.read(TEXTS), corpus);
}

function best(curve: readonly RoundEvaluation[], value: (round: RoundEvaluation) => number | null): RoundEvaluation {
  return curve.reduce((leader, round) => {
    const [a, b] = [value(leader), value(round)];
    return a === null || b === null || b >= a ? round : leader;
  });
}

function checkIdentity(saved: Identity, now: Identity): void {
  const differing = Object.keys(now.options).filter(
    (key) =>
      !FREE.has(key) &&
      JSON.stringify(saved.options[key as keyof TrainOptions]) !==
        JSON.stringify(now.options[key as keyof TrainOptions]),
  );
  if (differing.length > 0) {
    const key = differing[0] as keyof TrainOptions;
    throw new DocOptError(
      'CONFIG',
      `this training began with ${key} ${JSON.stringify(saved.options[key])}, not ${JSON.stringify(now.options[key])}`,
      {
        hint: `A resumed run must go on as it began: drop the change of ${differing.join(', ')}, or take another --out.`,
      },
    );
  }
  if (saved.data !== now.data) {
    throw new DocOptError(
      'CONFIG',
      'the data, its splits, the retriever or the policy changed since this training began',
      {
        hint: 'Bring them back as they were, or start a new training with another --out.',
      },
    );
  }
}
