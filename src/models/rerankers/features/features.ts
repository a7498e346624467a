/**
 * The embedded reranker, for when no cross-encoder is configured: a calibrated scorer over what the first stage says of
 * the pair, lexical overlap, nearness and LSA cosine. It is no cross-encoder and does not pose as one; it warns where the
 * first stage alone does better.
 */
import { sigmoid } from '../../../kernels/logistic.ts';
import type { Reranker } from '../../../ports.ts';
import { createPairFeatures } from './analyse.ts';
import { FEATURES } from './feature-vector.ts';
import type { FirstStage } from './first-stage.ts';
import { describeFeatures, type FeaturesModel, featureWarnings, scoreFeatures } from './model.ts';

/**
 * Scores depend on the pair alone: alone or in a batch, now or later, the same bits. `firstStage`: the index that the
 * model was fitted for. Documents that it does not hold, or all without one, are scored by their texts alone.
 */
export function createFeaturesReranker(model: FeaturesModel, firstStage?: FirstStage): Reranker {
  const pairFeatures = createPairFeatures(model, firstStage);
  return {
    id: describeFeatures(model),
    warnings: featureWarnings(model),
    scale: (firstStage === undefined ? model.foreignScorer : model.scorer).scale,
    async score(query, documents) {
      const { x, indexed } = await pairFeatures(query, documents);
      return Float64Array.from(documents, (_, row) => {
        const scorer = indexed[row] ? model.scorer : model.foreignScorer;
        return sigmoid(scoreFeatures(scorer, x, row * FEATURES.length));
      });
    },
  };
}
