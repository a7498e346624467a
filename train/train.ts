/**
 * DocOpt's outer loop (3.2), top to bottom: rewrite everything, index it, then step by step sample documents, rewrite each
 * G times, reward each rewrite by the rankings that it alone would change, and update the policy once; every so often
 * rewrite and index everything again. At the end the checkpoint with the best dev nDCG rewrites the collection once more,
 * and the test queries are looked at for the first and only time.
 */
import { DocOptError } from '../src/errors.ts';
import { deriveSeed } from '../src/kernels/rng.ts';
import type { Experiment } from '../src/store/experiment.ts';
import type { RewardedGroup } from '../src/types.ts';
import { breathe } from './breathe.ts';
import {
  chooseStep,
  loadCheckpoint,
  parseTextRows,
  pruneCheckpoints,
  restoreCheckpoint,
  saveCheckpoint,
  type TrainingState,
  textRows,
} from './checkpoint.ts';
import { groupAdvantages, hasSpread } from './kernels/advantages.ts';
import { learningRateAt } from './kernels/schedule.ts';
import { createPace } from './pace.ts';
import { evaluateOriginal, openRound, type Round, type RoundEvaluation, rewriteCollection } from './refresh.ts';
import { rehearse } from './rehearse.ts';
import { type FinalTexts, type TrainOutcome, writeReport } from './report.ts';
import { rollouts, sampling } from './rollouts.ts';
import { createDocumentSampler, type DocumentSampler } from './sampler.ts';
import { openSession, type Session, type TrainSetup } from './session.ts';
import { completionRows, evaluationRow, metricsRow } from './step-rows.ts';

const METRICS = 'metrics.jsonl';
const COMPLETIONS = 'completions.jsonl';
const ZERO_SHOT = 'zero-shot.jsonl';

/**
 * Trains, and measures what training gained. With an experiment the run can be interrupted at any moment (`signal`, or the
 * process may simply die) and `resume` continues it to the same series. Throws INTERRUPTED when the signal fires, DATA
 * when no document can be trained on, CONFIG when a resumed run does not fit the one that began.
 */
export async function train(setup: TrainSetup): Promise<TrainOutcome> {
  const session = await openSession(setup);
  const { options, learner, log, experiment } = session;
  let { state, round } = await begin(session);
  const sampler = createDocumentSampler(round.rewarder.eligible, options.seed, state.sampler);
  const progress = log.progress('training', options.steps);
  progress.tick(state.step);
  const pace = createPace();
  let updating = false;

  try {
    while (state.step < options.steps) {
      session.signal?.throwIfAborted();
      const started = session.now();
      if (state.step % options.indexRefreshRate === 0 && state.refreshedAt !== state.step) {
        ({ state, round } = await refresh(session, state));
      }

      const { groups, resampled } = await sampleGroups(session, round, sampler, state.step);
      const scaled = groupAdvantages(
        groups.map((group) => group.rewards),
        options.scaleRewards,
      );
      const rewarded = groups.map((group, i): RewardedGroup => ({ ...group, advantages: scaled.advantages[i] }));

      session.signal?.throwIfAborted();
      const learningRate = learningRateAt(state.step, options);
      updating = true;
      const learned = await learner.step(rewarded, learningRate);
      state = {
        ...state,
        step: state.step + 1,
        sampler: sampler.state(),
        numTokens: state.numTokens + tokensOf(rewarded),
      };
      updating = false;

      const seconds = (session.now() - started) / 1000;
      const facts = { learningRate, numTokens: state.numTokens, seconds, resampled };
      await experiment.appendRows(METRICS, [metricsRow(state.step, rewarded, scaled, learned, facts)]);
      await experiment.appendRows(COMPLETIONS, completionRows(state.step, rewarded, options.loggedDocuments));
      if (options.checkpointEvery > 0 && state.step % options.checkpointEvery === 0 && state.step < options.steps) {
        await checkpoint(session, state, round);
      }
      progress.tick(1, `reward ${scaled.reward.toFixed(3)}, ${pace(tokensOf(rewarded), seconds)}`);
      await breathe();
    }
    progress.end();
    if (state.refreshedAt !== state.step) ({ state, round } = await refresh(session, state));
    return await finish(session, state);
  } catch (error) {
    progress.end();
    if (session.signal?.aborted !== true) throw error;
    // Between two updates the state is whole; within one, the last checkpoint is what remains.
    if (!updating && !(await experiment.checkpoints()).includes(state.step)) await checkpoint(session, state, round);
    throw interrupted(session, state.step);
  }
}

/** A finished or begun training is never written over. Throws USAGE. */
export async function refuseExisting(experiment: Experiment): Promise<void> {
  if ((await experiment.checkpoints()).length > 0) throw alreadyTrained(experiment.folder);
}

export function alreadyTrained(folder = 'the experiment'): DocOptError {
  return new DocOptError('USAGE', `${folder} already holds a training`, {
    hint: 'Continue it with --resume, or take another --out.',
  });
}

interface Progressing {
  state: TrainingState;
  round: Round;
}

/** Resumes at the newest checkpoint, or starts: the first baseline is the zero-shot rewrite, not the original. */
async function begin(session: Session): Promise<Progressing> {
  const { experiment, log, options } = session;
  const saved = (await experiment.checkpoints()).at(-1);
  if (saved !== undefined && session.resume) return resumeAt(session, saved);
  await refuseExisting(experiment);
  await Promise.all([METRICS, COMPLETIONS].map((name) => experiment.keepRows(name, 0)));
  try {
    await rehearse(session);
    const original = await evaluateOriginal(session.context);
    const texts = await rewriteCollection(session.context, 0);
    await experiment.writeFile(ZERO_SHOT, textRows(session.corpus, texts));
    const round = await openRound(session.context, 0, texts);
    checkTrainable(session, round);
    const state: TrainingState = {
      step: 0,
      sampler: { epoch: 0, taken: 0 },
      numTokens: 0,
      refreshedAt: 0,
      curve: [round.evaluation],
      original,
      alarms: [],
    };
    log.info(
      `${round.rewarder.eligible.length} of ${session.corpus.size} documents can be trained on; ` +
        `nDCG@${options.rewardK} of the originals: ${figures(original)}; zero-shot: ${figures(round.evaluation)}`,
    );
    await checkpoint(session, state, round);
    return { state, round };
  } catch (error) {
    if (session.signal?.aborted === true) throw interrupted(session, 0);
    throw error;
  }
}

async function resumeAt(session: Session, step: number): Promise<Progressing> {
  const { experiment, learner, corpus, identity, log } = session;
  const saved = await loadCheckpoint(experiment, step, learner, corpus, identity);
  if (saved.indexFingerprint !== session.indexFingerprint(saved.texts)) {
    throw new DocOptError('ARTEFACT', `the texts saved at step ${step} are not those that were indexed`, {
      hint: `Delete the checkpoint of step ${step} and resume from the one before it.`,
    });
  }
  session.addElapsed(saved.seconds);
  await Promise.all([METRICS, COMPLETIONS].map((name) => experiment.keepRows(name, step)));
  log.info(`resuming at step ${step}`);
  // Indexing and mining are deterministic: the same texts give the same round.
  const round = await openRound(session.context, saved.state.refreshedAt, saved.texts);
  checkTrainable(session, round);
  return { state: saved.state, round };
}

/** Rewrites and indexes everything with the policy as it is, measures, and keeps a checkpoint. */
async function refresh(session: Session, state: TrainingState): Promise<Progressing> {
  const { options, learner, log, experiment } = session;
  const texts = await rewriteCollection(session.context, state.step);
  const round = await openRound(session.context, state.step, texts);
  learner.onRefresh?.();
  await experiment.amendRow(METRICS, state.step, evaluationRow(round.evaluation, options.rewardK));
  const { train, dev } = round.evaluation;
  // Training nDCG alone is biased low: the right document's rewrite comes from a table that has not seen the query.
  const devHolds = dev !== null && dev >= (state.original.dev ?? dev);
  const collapsed = !devHolds && train < state.original.train - options.collapseMargin;
  const next: TrainingState = {
    ...state,
    refreshedAt: state.step,
    curve: [...state.curve, round.evaluation],
    alarms: collapsed ? [...state.alarms, state.step] : state.alarms,
  };
  log.info(`step ${state.step}: nDCG@${options.rewardK} ${figures(round.evaluation)}`);
  if (collapsed) {
    const protection =
      dev === null
        ? 'Without dev queries nothing protects the result'
        : `Dev is at ${dev.toFixed(4)} (originals ${state.original.dev?.toFixed(4)}), and the best checkpoint by dev is kept`;
    log.warn(
      `COLLAPSE at step ${state.step}: training nDCG@${options.rewardK} ${train.toFixed(4)} is below the original ` +
        `${state.original.train.toFixed(4)}. ${protection}; if it stays there, lower --learning-rate or --index-refresh-rate.`,
    );
  }
  await checkpoint(session, next, round);
  return { state: next, round };
}

type UnscaledGroup = Omit<RewardedGroup, 'advantages'>;

/** Documents with queries to win and to leave alone, G rewrites each from the original text, and what each earns. */
async function sampleGroups(
  session: Session,
  round: Round,
  sampler: DocumentSampler,
  step: number,
): Promise<{ groups: UnscaledGroup[]; resampled: number }> {
  const { options } = session;
  let groups = await rewardedRollouts(session, round, sampler.draw(options.documentsPerStep), step, 0);
  let resampled = 0;
  for (let attempt = 1; attempt <= options.resample; attempt++) {
    const silent = groups.filter((group) => !hasSpread(group.rewards)).length;
    if (silent === 0) break;
    resampled += silent;
    const fresh = await rewardedRollouts(session, round, sampler.draw(silent), step, attempt);
    groups = [...groups.filter((group) => hasSpread(group.rewards)), ...fresh];
  }
  return { groups, resampled };
}

async function rewardedRollouts(
  session: Session,
  round: Round,
  documents: readonly number[],
  step: number,
  attempt: number,
): Promise<UnscaledGroup[]> {
  const { options, learner, corpus, promptFor } = session;
  const seed = deriveSeed(options.seed, 'rollout', step, attempt);
  const drawn = sampling(options.rollout, options.groupSize, seed);
  const answered = await rollouts(learner.policy, corpus, documents, drawn, promptFor);
  const earned = await round.rewarder.reward(
    answered.map(({ document, completions }) => ({ document, texts: completions.map(({ text }) => text) })),
  );
  return answered.map(({ prompt, completions }, i) => ({ prompt, completions, ...earned[i] }));
}

async function checkpoint(session: Session, state: TrainingState, round: Round): Promise<void> {
  const { experiment, learner, corpus, identity, options } = session;
  const fingerprint = session.indexFingerprint(round.texts);
  await saveCheckpoint(experiment, learner, corpus, round.texts, state, identity, fingerprint, session.elapsed());
  await pruneCheckpoints(experiment, state.curve, options.keepCheckpoints);
}

/** The chosen checkpoint's policy and its rewrite of everything; then the one look at the test queries. */
async function finish(session: Session, state: TrainingState): Promise<TrainOutcome> {
  const { experiment, learner, corpus, log } = session;
  const chosen = chooseStep(state.curve);
  const trained = await restoreCheckpoint(experiment, chosen, learner, corpus);
  const zeroShot = await experiment.readFile(ZERO_SHOT);
  if (zeroShot === undefined) {
    throw new DocOptError('ARTEFACT', `${ZERO_SHOT} is gone from ${experiment.folder ?? 'the experiment'}`, {
      hint: 'Start the training again with another --out.',
    });
  }
  log.info(`the policy after step ${chosen} is kept; measuring on the test queries`);
  const texts: FinalTexts = { zeroShot: parseTextRows(zeroShot, corpus), trained, chosen };
  return writeReport(session, state, texts);
}

function checkTrainable(session: Session, round: Round): void {
  if (round.rewarder.eligible.length > 0) return;
  const queries = session.context.training.queries.length;
  throw new DocOptError(
    'DATA',
    `no document has both positive and negative training queries (${queries} training queries over ${session.corpus.size} documents)`,
    { hint: 'A larger --train share gives more training queries; --negatives none trains on positive ones alone.' },
  );
}

function interrupted(session: Session, step: number): DocOptError {
  const { folder } = session.experiment;
  return new DocOptError('INTERRUPTED', `interrupted after step ${step} of ${session.options.steps}`, {
    hint:
      folder === undefined ? 'Train with resume to continue.' : `Continue with: docopt train --out ${folder} --resume`,
  });
}

function tokensOf(groups: readonly RewardedGroup[]): number {
  let tokens = 0;
  for (const group of groups) for (const completion of group.completions) tokens += completion.tokens.length;
  return tokens;
}

function figures({ train, dev }: RoundEvaluation): string {
  return `train ${train.toFixed(4)}${dev === null ? '' : `, dev ${dev.toFixed(4)}`}`;
}
