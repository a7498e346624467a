import { describe, expect, it } from 'vitest';
import { splitShortForms } from '../../../src/config/short-form.ts';
import { describeSpec, distinctNames, specName } from '../../../src/config/spec-names.ts';
import { BLOCKS, expandShortForm, policySchema, retrieverSchema } from '../../../src/config/specs.ts';

const retriever = (text: string) => retrieverSchema.parse(expandShortForm('retriever', text));

describe('short forms with settings', () => {
  it('are the block that they stand for', () => {
    expect(retriever('bm25:analyzer=code,k1=1.2')).toEqual(
      retrieverSchema.parse({ driver: 'bm25', analyzer: 'code', k1: 1.2 }),
    );
    expect(retriever('lsa:dimensions=64,embedder.seed=3')).toMatchObject({
      driver: 'dense',
      embedder: { driver: 'lsa', dimensions: 64, seed: 3, analyzer: 'english' },
    });
    expect(policySchema.parse(expandShortForm('policy', 'edit:operations=title,abbr,init=zero'))).toEqual({
      driver: 'edit',
      operations: ['title', 'abbr'],
      init: 'zero',
    });
  });

  it.each([
    ['bm25:analyser=code', "unknown setting 'analyser'. Did you mean 'analyzer'?"],
    ['bm25:driver=wink', "unknown setting 'driver'"],
    ['bm25:__proto__=1', "unknown setting '__proto__'"],
    ['lsa:dimension=1', "unknown setting 'dimension'. Did you mean 'dimensions'?"],
    ['bm52:k1=1', "retriever 'bm52' is not known. Did you mean 'bm25'?"],
    ['bm25:code', "retriever 'bm25:code' is not known"],
    ['bm25:', "retriever 'bm25:' is not known"],
  ])('%s is refused', (text, message) => {
    expect(() => expandShortForm('retriever', text)).toThrow(message);
  });

  it('stand several in one text', () => {
    expect(splitShortForms('bm25:k1=1.2,b=0.4,lsa wink:analyzer=code')).toEqual([
      'bm25:k1=1.2,b=0.4',
      'lsa',
      'wink:analyzer=code',
    ]);
  });
});

describe('names of blocks', () => {
  it('are what one types, and the description is the same with every setting', () => {
    for (const text of ['bm25', 'wink', 'lsa', 'bm25:analyzer=code,k1=2', 'lsa:dimensions=7']) {
      const block = retriever(text);
      expect(specName('retriever', block)).toBe(text.split(':')[0]);
      expect(retriever(describeSpec('retriever', block))).toEqual(block);
    }
    expect(describeSpec('retriever', retriever('bm25'))).toBe(
      'bm25:k1=0.9,b=0.4,analyzer=english,statistics=recompute',
    );
    expect(describeSpec('reranker', { driver: 'features' })).toBe('features');
    const edit = policySchema.parse({ driver: 'edit', operations: ['title', 'abbr'] });
    expect(expandShortForm('policy', describeSpec('policy', edit))).toEqual(edit);
  });

  it('of drivers with an argument have it, and can be typed again', () => {
    for (const [kind, text] of [
      ['retriever', 'onnx:models/e5'],
      ['retriever', 'text-embedding-3-small'],
      ['retriever', 'tei:http://localhost:8080'],
      ['retriever', 'colbert:models/colbert'],
      ['retriever', 'colbert-tei:http://localhost:8080'],
      ['retriever', 'colbert-jina:jina-colbert-v2'],
      ['retriever', 'voyage:some-model,dimensions=64'],
      ['reranker', 'cohere:rerank-v3.5'],
      ['reranker', 'chat:http://localhost:8000/v1#my-model'],
    ] as const) {
      const block = BLOCKS[kind].parse(expandShortForm(kind, text)) as Record<string, unknown>;
      expect(specName(kind, block)).toBe(text.split(',')[0]);
      expect(BLOCKS[kind].parse(expandShortForm(kind, describeSpec(kind, block)))).toEqual(block);
    }
  });

  it('grow only where two would be the same', () => {
    const names = (...texts: string[]) => distinctNames('retriever', texts.map(retriever));
    expect(names('bm25:analyzer=code', 'lsa')).toEqual(['bm25', 'lsa']);
    expect(names('bm25', 'bm25:analyzer=code,k1=2', 'wink')).toEqual(['bm25', 'bm25:k1=2,analyzer=code', 'wink']);
    expect(names('bm25', 'bm25', 'bm25:k1=2')).toEqual(['bm25', 'bm25 #2', 'bm25:k1=2']);
  });
});
