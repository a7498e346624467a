import { describe, expect, it } from 'vitest';
import { expandShortForm, type RetrieverSpec, retrieverSchema } from '../../src/config/specs.ts';
import { arrayCorpus } from '../../src/data/mod.ts';
import { OPERATIONS } from '../../src/models/policies/mod.ts';
import { defaultPolicy } from '../../train/commands/default-policy.ts';

const corpusOf = (texts: readonly string[]) => ({
  corpus: arrayCorpus(texts.map((text, i) => ({ id: `d${i}`, title: '', text }))),
});
const CODE = corpusOf([
  'def similar(a, b):\n  res = tuple(set(a) & set(b))\n  return (res)',
  'def count_even(nums):\n  return len([n for n in nums if n % 2 == 0])',
  'export function idxOf(list, x) {\n  for (let i = 0; i < list.length; i++) if (list[i] === x) return i;\n  return -1;\n}',
]);
const PROSE = corpusOf([
  'The committee met in spring and agreed that the old bridge should be kept.',
  'Measles is a disease of children that spreads in winter.',
]);
const retriever = (text: string): RetrieverSpec => retrieverSchema.parse(expandShortForm('retriever', text));

describe('the policy where nobody named one', () => {
  it.each(['bm25', 'wink', 'lsa', 'http://localhost:1', 'fusion:bm25+text-embedding-3-small'])(
    '%s on code: all edits',
    (name) => {
      const { policy, why } = defaultPolicy(retriever(name), CODE, 0.25);
      expect(policy).toEqual({ driver: 'edit' });
      expect(why).toMatch(/code/);
    },
  );

  it.each(['text-embedding-3-small', 'onnx:some/folder', 'colbert:some/folder', 'fusion:voyage-3.5+onnx:some/folder'])(
    '%s on code: words of the code itself, guarded by dev, and what would be better',
    (name) => {
      const { policy, why } = defaultPolicy(retriever(name), CODE, 0.25);
      if (policy.driver !== 'edit') throw new Error('another policy');
      expect(policy.operations).toEqual(['title', 'abbr', 'verb', 'split']);
      for (const operation of policy.operations!) expect(OPERATIONS).toContain(operation);
      expect(why).toMatch(/dev queries decide/);
      expect(why).toMatch(/--policy lm:MODEL/);
      expect(defaultPolicy(retriever(name), CODE, 0).why).toMatch(/without dev queries/);
    },
  );

  it.each(['bm25', 'text-embedding-3-small'])('%s on prose: none, with the ways on', (name) => {
    expect(() => defaultPolicy(retriever(name), PROSE, 0.25)).toThrow(/which policy\? These documents read as prose/);
  });
});
