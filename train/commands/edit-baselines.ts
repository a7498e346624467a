/** What the edit policy's gain is to be seen beside: fixed choices of the same edits, ablations, a stronger analyzer. */
import { createRetriever } from '../../index/mod.ts';
import type { RetrieverSpec } from '../../src/config/specs.ts';
import { applyEdits } from '../../src/models/policies/edit/edits.ts';
import { chooseFixedSubset, type EditPolicy, fixedPolicy, type Operation } from '../../src/models/policies/mod.ts';
import type { Policy } from '../../src/ports.ts';
import { ANALYZERS } from '../../src/text/mod.ts';
import type { Baseline, BaselineContext } from '../baseline.ts';
import { plainPrompt, rewriteAllWith } from '../rollouts.ts';

/**
 * All edits on; the best set of operations kept whole, chosen on train; the translation table alone (what supervision gives
 * without reinforcement learning); and the trained policy without each of its operations.
 */
export function editBaselines(operations: readonly Operation[]): Baseline[] {
  const fixed = (name: string, chosen: readonly Operation[]): Baseline => ({
    name,
    prepare: async (context) => ({ texts: await rewriteBy(fixedPolicy(edit(context), chosen), context) }),
  });
  return [
    fixed('allEdits', operations),
    {
      name: 'bestFixedSubset',
      async prepare(context) {
        const base = edit(context);
        const rewrite = (chosen: readonly Operation[]) => rewriteBy(fixedPolicy(base, chosen), context);
        const best = await chooseFixedSubset(operations, async (chosen) => context.trainNdcg(await rewrite(chosen)));
        const note = `${best.operations.join('+') || 'none'}, chosen on train (${best.score.toFixed(4)})`;
        return { texts: await rewrite(best.operations), note };
      },
    },
    ...(operations.includes('trans') ? [fixed('tableAlone', ['trans'])] : []),
    ...operations.map(
      (left): Baseline => ({
        name: `without:${left}`,
        compared: false,
        prepare: async (context) => ({ texts: await rewriteBy(without(edit(context), left), context) }),
      }),
    ),
  ];
}

/** The original texts under the other analyzers: a good one may be worth as much as a rewrite. */
export function analyzerBaselines(retriever: RetrieverSpec): Baseline[] {
  if (!('analyzer' in retriever)) return [];
  return ANALYZERS.filter((analyzer) => analyzer !== retriever.analyzer).map((analyzer) => ({
    name: `analyzer:${analyzer}`,
    prepare: async () => ({ retriever: createRetriever({ ...retriever, analyzer }), note: 'original texts' }),
  }));
}

/** The policy with one operation's edits never kept. */
function without(base: EditPolicy, left: Operation): Policy {
  return {
    id: `${base.id} without ${left}`,
    async generate(prompts, sampling) {
      const drawn = await base.generate(prompts, sampling);
      return drawn.map((completions, i) => {
        const { document } = prompts[i];
        const { edits } = base.candidates(document);
        return completions.map((completion) => {
          const tokens = completion.tokens.map((kept, e) => (edits[e].operation === left ? 0 : kept));
          return { ...completion, tokens, text: applyEdits(document.text, edits, tokens) };
        });
      });
    },
  };
}

function rewriteBy(policy: Policy, { corpus, signal }: BaselineContext): Promise<string[]> {
  return rewriteAllWith(plainPrompt)({ policy, corpus, sampling: { samples: 1, temperature: 0, seed: 1 }, signal });
}

function edit({ policy }: BaselineContext): EditPolicy {
  return policy as EditPolicy;
}
