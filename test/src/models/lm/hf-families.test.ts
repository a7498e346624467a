/** Folders as transformers writes them, against transformers and peft: test/golden/hf-families/README.md. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { decode } from '../../../../src/models/lm/decoder.ts';
import { createLanguageModel, type LanguageModel } from '../../../../src/models/lm/language-model.ts';
import { type LoadedModel, loadModel } from '../../../../src/models/lm/load-model.ts';
import { type Adapter, gatherRows, ModelParts } from '../../../../src/models/lm/model-parts.ts';
import { createOnnxRuntime } from '../../../../src/models/runtimes/graph-onnxruntime.ts';
import { globalNorm } from '../../../../src/nn/adamw.ts';
import { type LoraConfig, loraParameters } from '../../../../src/nn/lora.ts';
import { LINEARS } from '../../../../src/nn/model-config.ts';
import { packGroups } from '../../../../src/nn/pack.ts';

interface GoldenFamily {
  readonly prompt: readonly number[];
  readonly completion: readonly number[];
  readonly last_logits: readonly number[];
  readonly log_probs: readonly number[];
  readonly greedy: readonly number[];
  readonly adapter_log_probs: readonly number[];
  readonly adapter_gradient_norms: Readonly<Record<string, number>>;
}

const folder = (name: string): string => fileURLToPath(new URL(`../../../golden/hf-families/${name}`, import.meta.url));
const golden = JSON.parse(readFileSync(folder('golden.json'), 'utf8')) as {
  readonly text: string;
  readonly families: Readonly<Record<string, GoldenFamily>>;
};
const LORA: LoraConfig = { rank: 2, alpha: 6, targets: LINEARS };
const largestError = (got: ArrayLike<number>, wanted: readonly number[]): number =>
  wanted.reduce((largest, value, i) => Math.max(largest, Math.abs(value - got[i])), 0);

describe.each(Object.keys(golden.families))('%s', (name) => {
  const wanted = golden.families[name];
  let loaded: LoadedModel;
  let model: LanguageModel;
  const batch = packGroups([
    { prompt: Int32Array.from(wanted.prompt), completions: [Int32Array.from(wanted.completion)] },
  ]);

  beforeAll(async () => {
    loaded = await loadModel(folder(name));
    model = createLanguageModel(new ModelParts(await createOnnxRuntime(), loaded.config, loaded.weights));
  });

  it('chat and tokens', () => {
    const text = loaded.tokenizer.renderChat([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: golden.text },
    ]);
    expect([...loaded.tokenizer.encode(text)]).toEqual([...wanted.prompt, ...wanted.completion]);
    expect([...loaded.tokenizer.endTokens]).toEqual([1]);
  });

  it('logits and log-probabilities', async () => {
    const tape = await model.forward(batch, undefined, false);
    const rows = gatherRows(tape.hidden, [tape.hidden.length / loaded.config.hiddenSize - 1], loaded.config.hiddenSize);
    expect(largestError(await model.parts.logits(rows), wanted.last_logits)).toBeLessThan(1e-5);
    expect(largestError((await model.score(tape, 1)).logProbs, wanted.log_probs)).toBeLessThan(1e-5);
  });

  it('greedy tokens', async () => {
    const request = { prompt: Int32Array.from(wanted.prompt), seeds: [1] };
    const [[{ tokens }]] = await decode(model.parts, [request], {
      temperature: 0,
      maxNewTokens: 12,
      endTokens: new Set(),
    });
    expect([...tokens]).toEqual(wanted.greedy);
  });

  it('an adapter: log-probabilities and the norm of every gradient', async () => {
    const weights = new Map(
      loraParameters(loaded.config, LORA).map(({ name: parameter, shape }) => [
        parameter,
        Float32Array.from({ length: shape[0] * shape[1] }, (_, i) => 0.1 * Math.sin(Math.fround(3 * i + 1))),
      ]),
    );
    const adapter: Adapter = { config: LORA, weights };
    const tape = await model.forward(batch, adapter, true);
    const { logProbs } = await model.score(tape, 1);
    expect(largestError(logProbs, wanted.adapter_log_probs)).toBeLessThan(1e-5);
    const gradients = new Map<string, Float32Array>();
    await model.backward(tape, new Float32Array(logProbs.length).fill(-1 / logProbs.length), 1, gradients);
    expect([...gradients.keys()].sort()).toEqual(Object.keys(wanted.adapter_gradient_norms).sort());
    for (const [parameter, norm] of Object.entries(wanted.adapter_gradient_norms)) {
      const got = globalNorm(new Map([[parameter, gradients.get(parameter)!]]));
      expect(Math.abs(got - norm), parameter).toBeLessThan(1e-5 + 1e-4 * norm);
    }
  });
});
