import { expect, it } from 'vitest';
import { scoreScale } from '../../../select/study/score-scale.ts';

const of = (scores: number[], relevance: number[]) => [
  { scores: Float64Array.from(scores), relevance: Float64Array.from(relevance) },
];

it('describes the spread, by label too', () => {
  const scale = scoreScale(of([0.1, 0.9, Number.NaN, 0.5, 0.3], [0, 1, 1, 1, 0]));
  expect(scale).toEqual({
    pairs: 4,
    failed: 1,
    quantiles: [0.1, expect.closeTo(0.25, 12), 0.4, 0.6, 0.9],
    saturated: 0,
    meanRelevant: 0.7,
    meanOther: 0.2,
    warnings: ['1 of 5 calls failed.'],
  });
});

it.each([
  [[0.5, 0.5, 0.5], [1, 0, 0], /All scores are 0.5/],
  [[1, 0, 0, 0], [1, 0, 0, 0], /100 % of the scores are 0 or 1/],
  [[0.1, 0.9, 0.8], [1, 0, 0], /upside down/],
])('warns of %j', (scores, relevance, warning) => {
  expect(scoreScale(of(scores, relevance)).warnings.join(' ')).toMatch(warning);
});

it('is empty where nothing was scored', () => {
  expect(scoreScale([])).toMatchObject({
    pairs: 0,
    quantiles: [null, null, null, null, null],
    meanOther: null,
    warnings: [],
  });
});
