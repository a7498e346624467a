/**
 * The HTTP drivers against a real Infinity server over bge-small, which somebody started beforehand (5.8 GB of packages):
 *
 *   pip install 'infinity-emb[server,optimum]==0.0.78'; npm run models
 *   cd ~/.cache/docopt/models/bge-small-en-v1.5-int8 && infinity_emb v2 --device cpu --engine optimum --model-id . --port 7997 \
 *     --no-bettertransformer --no-model-warmup --onnx-disable-optimize --pooling-method cls
 *   DOCOPT_INFINITY=http://127.0.0.1:7997 npx vitest run test/servers/infinity.test.ts
 *
 * It has no /v1 in its routes, and answers whatever model is named.
 */
import { describe, expect, it } from 'vitest';
import { apiEmbedder } from '../../src/models/embedders/api/api-embedder.ts';
import { openOnnxEmbedder } from '../../src/models/embedders/onnx.ts';
import type { ModelServices } from '../../src/models/services.ts';
import { createWire } from '../../src/run/wire/mod.ts';
import { realModel } from '../support/real-models.ts';

const url = process.env.DOCOPT_INFINITY;
const title = 'a real Infinity server';
const TEXTS = [
  'How many people live in Berlin?',
  'Berlin has a population of 3.5 million registered inhabitants.',
  'New York City is famous for its museums.',
];

describe.skipIf(url === undefined)(url === undefined ? `${title} (skipped: DOCOPT_INFINITY is not set)` : title, () => {
  const services = (): ModelServices => {
    const wire = createWire();
    return { env: { OPENAI_API_KEY: 'none' }, wire: async () => wire };
  };
  const served = (encoding: 'float' | 'base64') =>
    apiEmbedder({ driver: 'openai', model: 'bge', url, encoding }, services()).load();

  it('answers the same vectors as floats and in base64, those of the model in this process', {
    timeout: 60_000,
  }, async () => {
    const floats = await (await served('float')).embed(TEXTS, 'document');
    const base64 = await (await served('base64')).embed(TEXTS, 'document');
    const local = await openOnnxEmbedder({ path: realModel('bge-small-en-v1.5-int8') });
    const expected = await local.embed(TEXTS, 'document');
    await local.close();
    expect(floats.columns).toBe(expected.columns);
    for (let row = 0; row < TEXTS.length; row++) {
      const cosine = (other: { data: ArrayLike<number> }): number => {
        let sum = 0;
        for (let j = row * floats.columns; j < (row + 1) * floats.columns; j++) sum += floats.data[j] * other.data[j];
        return sum;
      };
      expect(cosine(base64)).toBeGreaterThan(0.999);
      // A dynamic int8 model depends on the company in its batch.
      expect(cosine(expected)).toBeGreaterThan(0.98);
    }
  });
});
