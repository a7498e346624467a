/**
 * The embedded reranker, for when no cross-encoder is configured: a calibrated scorer over lexical overlap, nearness and
 * LSA cosine of the query and the ORIGINAL document. It is no cross-encoder and does not pose as one; `morph doctor` says
 * what it earns.
 */
import { sigmoid } from '../../../kernels/logistic.ts';
import type { Reranker } from '../../../ports.ts';
import { createPairAnalysis } from './analyse.ts';
import { FEATURES, featuresInto } from './feature-vector.ts';
import { scoreFeatures } from './fit-features.ts';
import { describeFeatures, type FeaturesModel } from './model.ts';

/** Scores depend on the pair alone: alone or in a batch, now or later, the same bits. */
export function createFeaturesReranker(model: FeaturesModel): Reranker {
  const analysis = createPairAnalysis(model);
  return {
    id: describeFeatures(model),
    async score(query, documents) {
      const analysed = await analysis.query(query.text);
      const values = new Float64Array(FEATURES.length);
      return Float64Array.from(await analysis.documents(documents), (document) => {
        featuresInto(analysed, document, model.statistics.averageLength, values, 0);
        return sigmoid(scoreFeatures(model.scorer, values, 0));
      });
    },
  };
}
