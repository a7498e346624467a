/** Texts through a policy, guarded: the piece that index refreshes during training and `rewrite-corpus` share. */
import { DocOptError } from '../src/errors.ts';
import type { Policy } from '../src/ports.ts';
import type { Completion, IndexText, Sampling } from '../src/types.ts';
import { checkRewrite, type GuardAction, type GuardOptions } from './guards.ts';

export type RewriteStatus = 'rewritten' | 'kept' | 'failed';

/** One document's fate. `text` is what will be indexed: the rewrite, or the source when it was kept or failed. */
export interface Rewrite {
  readonly text: string;
  readonly status: RewriteStatus;
  /** '' when rewritten whole. */
  readonly reason: string;
}

export interface RewriterOptions {
  readonly policy: Policy;
  readonly sampling: Omit<Sampling, 'samples'>;
  readonly guards: GuardOptions;
  /** How often a guard's `retry` asks again, each time with another seed. */
  readonly retries: number;
}

/**
 * Rewrites a batch, in order. A guard decides per document: keep the source, ask again, or fail the run (throws DATA,
 * naming the document). A completion that the policy itself could not finish leaves the source, marked failed.
 */
export async function rewriteBatch(sources: readonly IndexText[], options: RewriterOptions): Promise<Rewrite[]> {
  const results: (Rewrite | undefined)[] = sources.map(() => undefined);
  let open = sources.map((_, i) => i);
  let room = 1;
  for (let attempt = 0; open.length > 0; attempt++) {
    const { maxNewTokens, seed } = options.sampling;
    const sampling: Sampling = {
      ...options.sampling,
      samples: 1,
      seed: (seed + attempt) >>> 0,
      // Whoever was cut off gets more room; the others do not need it.
      ...(maxNewTokens === undefined ? {} : { maxNewTokens: maxNewTokens * room }),
    };
    const groups = await options.policy.generate(
      open.map((i) => ({ document: sources[i] })),
      sampling,
    );
    const again: number[] = [];
    let cut = false;
    open.forEach((i, j) => {
      const outcome = judge(sources[i], groups[j][0], options.guards, attempt < options.retries);
      if (outcome === 'retry') {
        again.push(i);
        cut ||= groups[j][0].finish === 'length';
      } else results[i] = outcome;
    });
    if (cut) room *= 2;
    open = again;
  }
  return results as Rewrite[];
}

function judge(source: IndexText, completion: Completion, guards: GuardOptions, mayRetry: boolean): Rewrite | 'retry' {
  // What ran into the token limit is judged by its text, as at the refreshes of a training, and reported as cut; unless the
  // guards say that half a rewrite is none.
  const cut = completion.finish === 'length' && (guards.onTruncated ?? 'allow') === 'allow';
  if (completion.finish !== 'stop' && !cut) {
    const action = actionFor(completion.finish, guards);
    if (action === 'retry' && mayRetry) return 'retry';
    if (action === 'fail') {
      const flag = completion.finish === 'length' ? 'on-truncated' : 'on-refused';
      throw new DocOptError('DATA', `document '${source.id}': the policy ended with '${completion.finish}'`, {
        hint: `--${flag} is set to fail; finished documents are kept. Use --${flag} keep to index the original instead.`,
      });
    }
    return { text: source.text, status: 'failed', reason: `the policy ended with '${completion.finish}'` };
  }
  const violation = checkRewrite(source.text, completion.text, guards);
  if (violation === undefined) {
    return { text: completion.text, status: 'rewritten', reason: cut ? 'cut at the token limit' : '' };
  }
  if (violation.action === 'retry' && mayRetry) return 'retry';
  if (violation.action === 'fail') {
    const flag = `on-${violation.guard}`;
    throw new DocOptError('DATA', `document '${source.id}': ${violation.reason}`, {
      hint: `The guard is set to fail; finished documents are kept. Use --${flag} keep to index the original instead.`,
    });
  }
  return { text: source.text, status: 'kept', reason: violation.reason };
}

function actionFor(finish: Completion['finish'], guards: GuardOptions): GuardAction {
  if (finish === 'length') return guards.onTruncated ?? 'allow';
  if (finish === 'refusal' || finish === 'filtered') return guards.onRefused ?? 'retry';
  return 'retry';
}
