/** The local drivers on real models, against numbers from outside (test/golden/onnx/README.md). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createRetriever } from '../../../index/mod.ts';
import { openOnnxEmbedder } from '../../../src/models/embedders/onnx.ts';
import { openTokenizer } from '../../../src/models/onnx/tokenizer.ts';
import { createOnnxReranker } from '../../../src/models/rerankers/mod.ts';
import { rerankerContract } from '../../contracts/reranker.ts';
import { retrievalIndexContract } from '../../contracts/retrieval-index.ts';
import { describeWithModels, realModel } from '../../support/real-models.ts';

interface GoldenText {
  readonly ids: readonly number[];
  readonly tokens: number;
  readonly vector: readonly number[];
}
interface Golden {
  readonly texts: readonly string[];
  readonly pairs: readonly (readonly [query: string, passage: string])[];
  readonly 'all-minilm-l6-v2': readonly GoldenText[];
  readonly 'bge-small-en-v1.5-int8': readonly GoldenText[];
  readonly 'e5-small-v2-int8': readonly GoldenText[];
  readonly 'ms-marco-minilm-l-12-v2-int8': readonly { readonly logit: number }[];
}
const golden: Golden = JSON.parse(readFileSync(join(import.meta.dirname, '../../golden/onnx/golden.json'), 'utf8'));

/** Largest distance of a number from the golden one. int8: a CPU without VNNI rounds otherwise. */
const EMBEDDERS = [
  { name: 'all-minilm-l6-v2', prompt: '', tolerance: 1e-5 },
  {
    name: 'bge-small-en-v1.5-int8',
    prompt: 'Represent this sentence for searching relevant passages: ',
    tolerance: 0.02,
  },
  { name: 'e5-small-v2-int8', prompt: 'query: ', tolerance: 0.02 },
] as const;

for (const { name, prompt, tolerance } of EMBEDDERS) {
  describeWithModels(`embedder ${name}`, [name], () => {
    it('cuts texts into the tokens that the reference does', async () => {
      const { pieces, single } = await openTokenizer(realModel(name));
      golden.texts.forEach((text, i) => {
        const { ids } = pieces(prompt + text, 256 - single.before.length - single.after.length);
        const whole = [...single.before.map(({ id }) => id), ...ids, ...single.after.map(({ id }) => id)];
        expect([i, whole.length]).toEqual([i, golden[name][i].tokens]);
        expect(whole.slice(0, 40)).toEqual(golden[name][i].ids);
      });
    });

    it('answers the vectors of the reference, alone and in company, by what its folder says', async () => {
      const embedder = await openOnnxEmbedder({ path: realModel(name), maxTokens: 256 });
      const { data, columns } = await embedder.embed(golden.texts, 'query');
      expect(columns).toBe(384);
      golden.texts.forEach((_, i) => {
        golden[name][i].vector.forEach((value, j) => {
          expect(Math.abs(data[i * columns + j] - value)).toBeLessThan(tolerance);
        });
      });
      for (let i = 0; i < golden.texts.length; i++) {
        const alone = (await embedder.embed([golden.texts[i]], 'query')).data;
        expect(alone).toEqual(data.slice(i * columns, (i + 1) * columns));
      }
      await embedder.close();
    });
  });
}

const CROSS_ENCODER = 'ms-marco-minilm-l-12-v2-int8';
describeWithModels(`reranker ${CROSS_ENCODER}`, [CROSS_ENCODER], () => {
  it('answers the logits of the reference', async () => {
    const reranker = createOnnxReranker({ path: realModel(CROSS_ENCODER) });
    for (const [i, [query, text]] of golden.pairs.entries()) {
      const [score] = await reranker.score({ id: 'q', text: query }, [{ id: 'd', title: '', text }]);
      // Token types of zero would be off by two.
      expect(Math.abs(Math.log(score / (1 - score)) - golden[CROSS_ENCODER][i].logit)).toBeLessThan(0.3);
    }
    expect(reranker.counts).toEqual({ pairs: 3, cut: 1 });
    await reranker.close();
  });

  const documents = golden.texts.map((text, i) => ({ id: `d${i}`, title: '', text }));
  rerankerContract({
    name: CROSS_ENCODER,
    create: () => createOnnxReranker({ path: realModel(CROSS_ENCODER) }),
    documents,
    queries: [golden.pairs[0][0], ''].map((text, i) => ({ id: `q${i}`, text })),
  });
});

const EVERY_WORD = 'every text has a direction, so nothing matches nothing';
const CONTRACT = {
  deterministic: true,
  lexical: false,
  // Quantization is by the whole text, one text a run: what is embedded again is the same.
  tolerance: 0,
  skips: { 'leaves out what matches nothing': EVERY_WORD },
};
const MINILM = 'all-minilm-l6-v2-int8';
describeWithModels(`retriever ${MINILM}`, [MINILM], () => {
  retrievalIndexContract({
    ...CONTRACT,
    name: MINILM,
    create: () =>
      createRetriever({ driver: 'dense', embedder: { driver: 'onnx', path: realModel(MINILM), maxTokens: 32 } }),
  });
});

const COLBERT = 'answerai-colbert-small-v1-int8';
describeWithModels(`retriever ${COLBERT}`, [COLBERT], () => {
  retrievalIndexContract({
    ...CONTRACT,
    name: COLBERT,
    create: () =>
      createRetriever({
        driver: 'late-interaction',
        embedder: { driver: 'onnx', path: realModel(COLBERT), documentTokens: 32, queryTokens: 16 },
      }),
  });
});
