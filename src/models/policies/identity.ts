/** The policy that leaves every document as it is: the baseline of every comparison, and what rewriting costs without a policy. */
import type { Policy } from '../../ports.ts';
import type { Completion } from '../../types.ts';

export function createIdentityPolicy(): Policy {
  return {
    id: 'identity',
    async generate(prompts, sampling) {
      return prompts.map((prompt) =>
        Array.from(
          { length: sampling.samples },
          (): Completion => ({
            prompt,
            text: prompt.document.text,
            tokens: new Int32Array(0),
            logProbs: new Float64Array(0),
            finish: 'stop',
          }),
        ),
      );
    },
  };
}
