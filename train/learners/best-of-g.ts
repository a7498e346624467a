/**
 * Best of G: of all rewrites that were drawn of a training document, the one with the best reward is kept, when it is
 * better than the original's neighbourhood of 0. No upper bound of anything: rewards are counted one document at a time, and
 * choices that are good alone can fight each other. What it is good for are the pairs, as data for fine-tuning elsewhere.
 */
import type { ArtefactReader, ArtefactWriter, Learner, Policy } from '../../src/ports.ts';
import type { Message } from '../../src/types.ts';

interface Pick {
  readonly id: string;
  /** Of the document that was rewritten. */
  readonly source: string;
  readonly best: string;
  readonly bestReward: number;
  readonly worst: string;
  readonly worstReward: number;
}

export interface BestOfGOptions {
  /** What the model was told, without the fence: the same for every document. */
  readonly system: string;
  readonly savePolicy: (artefact: ArtefactWriter) => Promise<void>;
}

export const PICKS = 'picks.jsonl';

export function createBestOfGLearner(base: Policy, { system, savePolicy }: BestOfGOptions): Learner {
  let picks = new Map<string, Pick>();
  const policy = withPicks(base, (source) => picks.get(source)?.best);
  return {
    policy,

    async step(groups) {
      let chosen = 0;
      for (const { prompt, completions, rewards } of groups) {
        const usable = [...rewards.keys()].filter(
          (i) => completions[i].finish === 'stop' && completions[i].text !== '',
        );
        if (usable.length === 0) continue;
        const best = usable.reduce((a, b) => (rewards[b] > rewards[a] ? b : a));
        const worst = usable.reduce((a, b) => (rewards[b] < rewards[a] ? b : a));
        const { id, text: source } = prompt.document;
        const before = picks.get(source);
        if (rewards[best] <= 0 || (before !== undefined && before.bestReward >= rewards[best])) continue;
        chosen++;
        picks.set(source, {
          id,
          source,
          best: completions[best].text,
          bestReward: rewards[best],
          worst: completions[worst].text,
          worstReward: rewards[worst],
        });
      }
      return { picks: picks.size, 'picks/changed': chosen };
    },

    async save(artefact) {
      await savePolicy(artefact);
      const all = [...picks.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
      const lines = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
      const pairs = all.filter(
        ({ best, worst, bestReward, worstReward }) => best !== worst && bestReward > worstReward,
      );
      const asked = (source: string): Message[] => [
        { role: 'system', content: system },
        { role: 'user', content: source },
      ];
      const said = (content: string): Message[] => [{ role: 'assistant', content }];
      await artefact.write(PICKS, lines(all));
      // OpenAI's supervised fine-tuning and TRL's SFTTrainer read the same rows.
      await artefact.write(
        'sft.jsonl',
        lines(all.map(({ source, best }) => ({ messages: [...asked(source), ...said(best)] }))),
      );
      await artefact.write(
        'preferences.openai.jsonl',
        lines(
          pairs.map(({ source, best, worst }) => ({
            input: { messages: asked(source), tools: [], parallel_tool_calls: true },
            preferred_output: said(best),
            non_preferred_output: said(worst),
          })),
        ),
      );
      await artefact.write(
        'preferences.trl.jsonl',
        lines(
          pairs.map(({ source, best, worst }) => ({
            prompt: asked(source),
            chosen: said(best),
            rejected: said(worst),
          })),
        ),
      );
    },

    async load(artefact: ArtefactReader) {
      const rows = (await artefact.readText(PICKS)).split('\n').filter((line) => line !== '');
      picks = new Map(rows.map((line) => JSON.parse(line) as Pick).map((pick) => [pick.source, pick]));
    },
  };
}

/** The policy, but documents that have a pick get it wherever one rewrite is asked for; groups to learn from stay fresh. */
export function withPicks(base: Policy, pickOf: (source: string) => string | undefined): Policy {
  return {
    id: base.id,
    async generate(prompts, sampling) {
      if (sampling.samples > 1) return base.generate(prompts, sampling);
      const picked = prompts.map(({ document, messages }) =>
        messages === undefined ? pickOf(document.text) : undefined,
      );
      const open = prompts.filter((_, i) => picked[i] === undefined);
      const answers = open.length === 0 ? [] : await base.generate(open, sampling);
      let next = 0;
      return prompts.map((prompt, i) => {
        const text = picked[i];
        if (text === undefined) return answers[next++];
        return [{ prompt, text, tokens: new Int32Array(0), logProbs: new Float64Array(0), finish: 'stop' as const }];
      });
    },
  };
}
