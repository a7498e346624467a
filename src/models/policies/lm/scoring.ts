/**
 * Log-probabilities and gradients of completions, in passes that fit a given memory. Completions of one prompt are scored
 * together, so the prompt is computed once. When everything fits one pass, what it kept serves the gradient too: a GRPO
 * update is then one pass forward and one back.
 */
import { type PackedBatch, packGroups, type TokenGroup } from '../../../nn/pack.ts';
import type { Completion, Prompt } from '../../../types.ts';
import type { Gradients, LanguageModel, Tape } from '../../lm/language-model.ts';
import type { Adapter } from '../../lm/model-parts.ts';

export interface CompletionScores {
  readonly logProbs: Float64Array;
  /** Sum over the tokens. */
  readonly entropy: number;
}

/** Completions that go through the model together. */
export interface Pass {
  readonly batch: PackedBatch;
  readonly temperature: number;
  /** Their places in what was asked, in the order of the batch's targets. */
  readonly members: readonly number[];
}

export interface ScoredPass {
  readonly pass: Pass;
  readonly tape: Tape;
  readonly scores: readonly CompletionScores[];
}

/** Lengths are rounded up so that the same graphs serve many steps. */
const ROUNDING = { promptMultiple: 32, lengthMultiple: 16 };

/**
 * Divides completions into passes of at most `maxRows` rows (one completion at least). Groups of similar length go
 * together; a group that is too large by itself is cut, its prompt repeated.
 */
export function planPasses(
  completions: readonly Completion[],
  promptTokens: (prompt: Prompt) => Int32Array,
  maxRows: number,
): Pass[] {
  const groups = new Map<string, { prompt: Int32Array; temperature: number; members: number[] }>();
  const promptNumbers = new Map<Prompt, number>();
  completions.forEach(({ prompt, temperature = 1 }, i) => {
    if (!promptNumbers.has(prompt)) promptNumbers.set(prompt, promptNumbers.size);
    const key = `${promptNumbers.get(prompt)} ${temperature}`;
    const group = groups.get(key) ?? { prompt: promptTokens(prompt), temperature, members: [] };
    group.members.push(i);
    groups.set(key, group);
  });
  const pieces = [...groups.values()].flatMap((group) => {
    const longest = Math.max(1, ...group.members.map((i) => completions[i].tokens.length));
    const size = Math.max(1, Math.floor((maxRows - group.prompt.length) / longest));
    return Array.from({ length: Math.ceil(group.members.length / size) }, (_, n) => ({
      ...group,
      members: group.members.slice(n * size, (n + 1) * size),
    }));
  });
  pieces.sort(
    (a, b) => a.temperature - b.temperature || a.prompt.length - b.prompt.length || a.members[0] - b.members[0],
  );
  const passes: Pass[] = [];
  let open: typeof pieces = [];
  const pack = (chosen: typeof pieces): PackedBatch =>
    packGroups(
      chosen.map(
        ({ prompt, members }): TokenGroup => ({ prompt, completions: members.map((i) => completions[i].tokens) }),
      ),
      ROUNDING,
    );
  const close = (): void => {
    if (open.length === 0) return;
    passes.push({
      batch: pack(open),
      temperature: open[0].temperature,
      members: open.flatMap(({ members }) => members),
    });
    open = [];
  };
  for (const piece of pieces) {
    const fits =
      open.length === 0 ||
      (open[0].temperature === piece.temperature && pack([...open, piece]).tokens.length <= maxRows);
    if (!fits) close();
    open.push(piece);
  }
  close();
  return passes;
}

export async function scorePass(
  model: LanguageModel,
  pass: Pass,
  completions: readonly Completion[],
  adapter: Adapter | undefined,
  keep: boolean,
): Promise<ScoredPass> {
  const tape = await model.forward(pass.batch, adapter, keep);
  const { logProbs, entropy } = await model.score(tape, pass.temperature);
  let at = 0;
  const scores = pass.members.map((i): CompletionScores => {
    const end = at + completions[i].tokens.length;
    const own = { logProbs: Float64Array.from(logProbs.subarray(at, end)), entropy: sum(entropy.subarray(at, end)) };
    at = end;
    return own;
  });
  return { pass, tape, scores };
}

/** Adds the gradient of this pass, given d loss / d log-probability of every completion. */
export async function backwardPass(
  model: LanguageModel,
  { pass, tape }: ScoredPass,
  lossByLogProb: readonly Float64Array[],
  gradients: Gradients,
): Promise<void> {
  const slopes = Float32Array.from(pass.members.flatMap((i) => [...lossByLogProb[i]]));
  await model.backward(tape, slopes, pass.temperature, gradients);
}

function sum(values: Float32Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
