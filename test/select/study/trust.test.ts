import { describe, expect, it } from 'vitest';
import { explainTrust, judgeTrust, trustOf } from '../../../select/study/trust.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { studyQuery } from '../../support/study-group.ts';

const base = studyQuery('q', 4, createRng(1));

describe('trustOf', () => {
  it('has the figures of a case by hand', () => {
    const at = {
      ...base,
      relevance: Float64Array.from([0, 1, 0, 1]),
      scores: Float64Array.from([0.1, 0.9, 0.2, Number.NaN]),
      relevant: 2,
    };
    const found = trustOf(at)!;
    // Retriever: of the four pairs (relevant, other) one is right: position 1 before position 2.
    expect(found.retriever.auc).toBe(0.25);
    expect(found.reranker.auc).toBe(0.5);
    const [at2, at4] = [1 / Math.log2(3), 1 / Math.log2(5)];
    const ideal = 1 + at2;
    expect(found.retriever.ndcg).toBeCloseTo((at2 + at4) / ideal, 14);
    expect(found.reranker.ndcg).toBeCloseTo((1 + at4) / ideal, 14);
    // Reciprocal ranks: 1/61 + 1/63, 1/62 + 1/61, 1/63 + 1/62, 1/64 + 1/64.
    expect(found.fusion.ndcg).toBeCloseTo((1 + at4) / ideal, 14);
  });

  it('says nothing where there is nothing to tell apart', () => {
    expect(trustOf({ ...base, relevance: new Float64Array(4) })).toBeUndefined();
    expect(trustOf({ ...base, relevance: new Float64Array(4).fill(1) })).toBeUndefined();
  });
});

describe('the verdict', () => {
  const queries = (reranker: number, fusion: number) =>
    Array.from({ length: 30 }, (_, i) => ({
      retriever: { auc: 0.7, ndcg: 0.4 + i / 1000 },
      reranker: { auc: 0.7, ndcg: 0.4 + i / 1000 + reranker * (i + 1) },
      fusion: { auc: 0.7, ndcg: 0.4 + i / 1000 + fusion * (i + 1) },
    }));

  it.each([
    [0.001, 0, 'earns', /^The reranker earns its calls: \+1\.6 points/],
    [-0.001, 0.001, 'only-fused', /does not beat the retriever.*the two together do/],
    [-0.001, -0.001, 'does-not-earn', /^The reranker does not earn its calls: -1\.6 points/],
    [0, 0, 'does-not-earn', /does not earn its calls/],
  ] as const)('gain %f, fused %f: %s', (reranker, fusion, verdict, sentence) => {
    const trust = judgeTrust(queries(reranker, fusion));
    expect(trust.verdict).toBe(verdict);
    expect(explainTrust(trust)).toMatch(sentence);
  });

  it('is open where a gain may be chance', () => {
    const mixed = queries(0, 0).map((query, i) => ({
      ...query,
      reranker: { auc: 0.7, ndcg: query.retriever.ndcg + (i % 2 === 0 ? 0.01 + i * 1e-4 : -0.0095 - i * 1e-4) },
    }));
    expect(judgeTrust(mixed).verdict).toBe('unclear');
  });

  it('says so when no query could be judged', () => {
    const trust = judgeTrust([undefined]);
    expect([trust.queries, trust.verdict]).toEqual([0, 'does-not-earn']);
    expect(explainTrust(trust)).toMatch(/^No query/);
  });
});
