/** A training step tried out before the first: whether it fits the memory that is free, and how long it takes. */
import { freemem } from 'node:os';
import { DocOptError } from '../../../errors.ts';
import { rowsOf } from '../../../nn/attention.ts';
import { stepMemory } from '../../../nn/memory.ts';
import type { Rehearsal } from '../../../ports.ts';
import type { Completion, Prompt, Sampling } from '../../../types.ts';
import { HEAD_ROWS, type LanguageModel } from '../../lm/language-model.ts';
import type { Adapter } from '../../lm/model-parts.ts';
import { backwardPass, type Pass, planPasses, scorePass } from './scoring.ts';

export interface StepPlan {
  readonly model: LanguageModel;
  readonly adapter: Adapter | undefined;
  /** Parameters that are trained. */
  readonly trained: number;
  readonly recomputation: 'cheap' | 'all';
  readonly maxRows: number;
  readonly promptTokens: (prompt: Prompt) => Int32Array;
  /** Bytes; default: what the system says. */
  readonly available?: number;
}

/**
 * The largest pass of a step whose documents are these and whose answers are all as long as they may be, forward and back.
 * Gradients are thrown away. Throws ENVIRONMENT when the estimate is above what is free, or when memory runs out all the same.
 */
export async function rehearseStep(
  prompts: readonly Prompt[],
  sampling: Sampling & { readonly maxNewTokens: number },
  plan: StepPlan,
): Promise<Rehearsal> {
  const { model, adapter, trained, recomputation, available = availableMemory() } = plan;
  const completions = longestAnswers(prompts, sampling, plan.promptTokens);
  const passes = planPasses(completions, plan.promptTokens, plan.maxRows);
  const largest = passes.reduce((a, b) => (rowsOf(b.batch.layout) > rowsOf(a.batch.layout) ? b : a));
  const { layout } = largest.batch;
  const options = { recomputation, headRows: HEAD_ROWS, trained };
  const { kept, passing, optimiser } = stepMemory(model.parts.config, layout, options);
  const estimatedBytes = kept + passing + optimiser;
  const facts = { promptTokens: layout.promptLength, passes: passes.length, rows: rowsOf(layout), estimatedBytes };
  if (estimatedBytes > available) throw tooLarge(facts, available, plan);
  const from = performance.now();
  try {
    await forwardAndBack(model, largest, completions, adapter);
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
    throw tooLarge(facts, available, plan, error);
  }
  const seconds = (performance.now() - from) / 1000;
  return { ...facts, seconds, peakBytes: process.resourceUsage().maxRSS * 1024 };
}

/** Answers of the prompt's own tokens, over and over. */
function longestAnswers(
  prompts: readonly Prompt[],
  { samples, maxNewTokens, temperature }: Sampling & { readonly maxNewTokens: number },
  promptTokens: (prompt: Prompt) => Int32Array,
): Completion[] {
  return prompts.flatMap((prompt) => {
    const own = promptTokens(prompt);
    const tokens = Int32Array.from({ length: maxNewTokens }, (_, t) => own[t % own.length]);
    const logProbs = new Float64Array(maxNewTokens);
    const at = temperature === 0 ? 1 : temperature;
    return Array.from(
      { length: samples },
      (): Completion => ({ prompt, text: '', tokens, logProbs, finish: 'length', temperature: at }),
    );
  });
}

async function forwardAndBack(
  model: LanguageModel,
  pass: Pass,
  completions: readonly Completion[],
  adapter: Adapter | undefined,
): Promise<void> {
  const scored = await scorePass(model, pass, completions, adapter, true);
  const slopes = completions.map(({ tokens }) => new Float64Array(tokens.length).fill(1e-3));
  await backwardPass(model, scored, slopes, new Map());
}

/** Of what this process may still take; containers included where Node knows of them. */
function availableMemory(): number {
  const known = (process as { availableMemory?: () => number }).availableMemory?.();
  return known ?? freemem();
}

function isOutOfMemory(error: unknown): boolean {
  const { message } = error as Error;
  return /alloc|out of memory/i.test(message);
}

function tooLarge(
  { rows, promptTokens, estimatedBytes }: Pick<Rehearsal, 'rows' | 'promptTokens' | 'estimatedBytes'>,
  available: number,
  { recomputation, trained }: StepPlan,
  cause?: unknown,
): DocOptError {
  const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(bytes < 1e8 ? 3 : 1);
  const found = cause === undefined ? 'are free' : 'were free, and memory ran out';
  const less = recomputation === 'all' ? '' : '--set policy.recomputation=all (a tenth of what is kept, slower), ';
  const lora = trained > 1e7 ? '--set policy.training=lora, ' : '';
  return new DocOptError(
    'ENVIRONMENT',
    `a training step (${rows} rows, prompts of up to ${promptTokens} tokens) needs about ${gigabytes(estimatedBytes)} GB beside the model; ${gigabytes(available)} GB ${found}`,
    {
      hint: `Any of: ${less}--set policy.memoryGb=1 (more, smaller passes), ${lora}--set policy.maxPromptTokens=${Math.max(16, promptTokens >> 1)}, a smaller model.`,
      cause,
    },
  );
}
