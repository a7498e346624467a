import type { Policy } from '../../src/ports.ts';

/** A policy that speaks chat by a script: each prompt goes to `answer`, which says what comes back. Remembers all prompts. */
export function scriptedPolicy(
  answer: (prompt: string, turn: number) => string,
): Policy & { readonly prompts: string[] } {
  const prompts: string[] = [];
  return {
    id: 'scripted',
    prompts,
    async generate(asked, { samples }) {
      return asked.map((prompt) => {
        const content = prompt.messages!.map((message) => message.content).join('\n');
        const text = answer(content, prompts.length);
        prompts.push(content);
        return Array.from({ length: samples }, () => ({
          prompt,
          text,
          tokens: new Int32Array(0),
          logProbs: new Float64Array(0),
          finish: 'stop' as const,
        }));
      });
    },
  };
}
