/** Zero-shot: nothing is learned. The training is one rewrite of the collection and its measurement. */
import type { ArtefactReader, ArtefactWriter, Learner, Policy } from '../../src/ports.ts';

export interface Saved {
  save(artefact: ArtefactWriter): Promise<void>;
}

export function createFrozenLearner(policy: Policy & Saved): Learner {
  return {
    policy,
    step: async () => ({}),
    save: (artefact) => policy.save(artefact),
    // It is as it was configured; the checkpoint's identity has been compared.
    load: async (_artefact: ArtefactReader) => {},
  };
}
