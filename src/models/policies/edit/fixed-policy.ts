/**
 * Edits kept by a rule instead of by training: what the trained policy is to be seen beside. The candidates are those of
 * a given edit policy, tables included, so that only the choice differs.
 */
import type { Policy } from '../../../ports.ts';
import type { Completion } from '../../../types.ts';
import type { EditPolicy } from './edit-policy.ts';
import { applyEdits } from './edits.ts';
import type { Operation } from './operations.ts';

/** Keeps every edit of these operations: all of them = all edits on; ['trans'] = the table alone. */
export function fixedPolicy(base: EditPolicy, operations: readonly Operation[]): Policy {
  const wanted = new Set(operations);
  return {
    id: `edit-fixed(${operations.join('+')})`,
    async generate(prompts, sampling) {
      return prompts.map((prompt) => {
        const { edits } = base.candidates(prompt.document);
        const tokens = Int32Array.from(edits, ({ operation }) => (wanted.has(operation) ? 1 : 0));
        const text = applyEdits(prompt.document.text, edits, tokens);
        return Array.from(
          { length: sampling.samples },
          (): Completion => ({ prompt, text, tokens, logProbs: new Float64Array(tokens.length), finish: 'stop' }),
        );
      });
    },
  };
}

/**
 * The best fixed subset by greedy forward selection: adds the operation that helps most as long as one helps. `score`
 * measures a set of rewrites on the training queries; at most operations^2 / 2 calls, where all subsets would be 2^n.
 */
export async function chooseFixedSubset(
  operations: readonly Operation[],
  score: (chosen: readonly Operation[]) => Promise<number>,
): Promise<{ readonly operations: readonly Operation[]; readonly score: number }> {
  let chosen: readonly Operation[] = [];
  let best = await score(chosen);
  for (;;) {
    let better: readonly Operation[] | undefined;
    for (const operation of operations) {
      if (chosen.includes(operation)) continue;
      const candidate = operations.filter((name) => name === operation || chosen.includes(name));
      const value = await score(candidate);
      if (value > best) {
        best = value;
        better = candidate;
      }
    }
    if (better === undefined) return { operations: chosen, score: best };
    chosen = better;
  }
}
