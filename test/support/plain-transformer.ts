/** A decoder in double precision, one sequence, one token after the other, straight from the definitions: the oracle. */
import { type LoraConfig, loraNames, loraOn } from '../../src/nn/lora.ts';
import { headName, type LinearName, layerPrefix, type ModelConfig } from '../../src/nn/model-config.ts';
import { ropeFrequencies } from '../../src/nn/rope.ts';

export type PlainWeights = ReadonlyMap<string, ArrayLike<number>>;

export interface PlainAdapter {
  readonly config: LoraConfig;
  readonly weights: PlainWeights;
}

/** Logits of every position. */
export function plainLogits(
  config: ModelConfig,
  weights: PlainWeights,
  tokens: ArrayLike<number>,
  adapter?: PlainAdapter,
): number[][] {
  const { hiddenSize, heads, keyValueHeads, headSize, layers } = config;
  const get = (name: string): ArrayLike<number> => weights.get(name)!;
  const norm = (x: number[], w: ArrayLike<number>): number[] => {
    const scale = 1 / Math.sqrt(x.reduce((s, v) => s + v * v, 0) / x.length + config.normEpsilon);
    return x.map((v, i) => v * scale * w[i]);
  };
  const times = (matrix: ArrayLike<number>, x: number[], rows: number): number[] =>
    Array.from({ length: rows }, (_, r) => x.reduce((s, v, i) => s + v * matrix[r * x.length + i], 0));
  const linear = (layer: number, name: LinearName, x: number[]): number[] => {
    const prefix = layerPrefix(layer);
    const matrix = get(`${prefix}${name}.weight`);
    const bias = weights.get(`${prefix}${name}.bias`);
    let y = times(matrix, x, matrix.length / x.length);
    if (bias !== undefined) y = y.map((v, i) => v + bias[i]);
    if (adapter === undefined || !adapter.config.targets.includes(name) || !loraOn(adapter.config, layer)) return y;
    const { a, b } = loraNames(name);
    const low = times(adapter.weights.get(prefix + a)!, x, adapter.config.rank);
    const added = times(adapter.weights.get(prefix + b)!, low, y.length);
    return y.map((v, i) => v + (adapter.config.alpha / adapter.config.rank) * added[i]);
  };
  const frequencies = ropeFrequencies(config);
  const rotated = (x: number[], position: number): number[] =>
    x.map((v, i) => {
      const half = headSize / 2;
      const angle = position * frequencies[i % half];
      return v * Math.cos(angle) + (i < half ? -x[i + half] : x[i - half]) * Math.sin(angle);
    });
  const keys: number[][][] = Array.from({ length: layers }, () => []);
  const values: number[][][] = Array.from({ length: layers }, () => []);

  return Array.from(tokens, (token, position) => {
    let x = Array.from({ length: hiddenSize }, (_, i) => get('model.embed_tokens.weight')[token * hiddenSize + i]);
    for (let layer = 0; layer < layers; layer++) {
      const prefix = layerPrefix(layer);
      const h = norm(x, get(`${prefix}input_layernorm.weight`));
      const perHead = (vector: number[], count: number, normName: string): number[][] =>
        Array.from({ length: count }, (_, head) => {
          const part = vector.slice(head * headSize, (head + 1) * headSize);
          return rotated(config.queryKeyNorm ? norm(part, get(prefix + normName)) : part, position);
        });
      const q = perHead(linear(layer, 'self_attn.q_proj', h), heads, 'self_attn.q_norm.weight');
      keys[layer].push(perHead(linear(layer, 'self_attn.k_proj', h), keyValueHeads, 'self_attn.k_norm.weight').flat());
      values[layer].push(linear(layer, 'self_attn.v_proj', h));
      const context = q.flatMap((query, head) => {
        const from = Math.floor((head * keyValueHeads) / heads) * headSize;
        const scores = keys[layer].map(
          (key) => query.reduce((s, v, i) => s + v * key[from + i], 0) / Math.sqrt(headSize),
        );
        const top = Math.max(...scores);
        const raw = scores.map((score) => Math.exp(score - top));
        const total = raw.reduce((s, v) => s + v, 0);
        return Array.from({ length: headSize }, (_, i) =>
          values[layer].reduce((s, value, t) => s + (raw[t] / total) * value[from + i], 0),
        );
      });
      x = linear(layer, 'self_attn.o_proj', context).map((v, i) => v + x[i]);
      const m = norm(x, get(`${prefix}post_attention_layernorm.weight`));
      const gate = linear(layer, 'mlp.gate_proj', m);
      const up = linear(layer, 'mlp.up_proj', m);
      const gated = gate.map((g, i) => (g / (1 + Math.exp(-g))) * up[i]);
      x = linear(layer, 'mlp.down_proj', gated).map((v, i) => v + x[i]);
    }
    return times(get(headName(config)), norm(x, get('model.norm.weight')), config.vocabularySize);
  });
}

/** log softmax(logits / temperature)[token] of each completion token. */
export function plainLogProbs(
  config: ModelConfig,
  weights: PlainWeights,
  prompt: ArrayLike<number>,
  completion: ArrayLike<number>,
  temperature: number,
  adapter?: PlainAdapter,
): number[] {
  const logits = plainLogits(config, weights, [...Array.from(prompt), ...Array.from(completion)], adapter);
  return Array.from(completion, (token, t) => {
    const row = logits[prompt.length + t - 1].map((logit) => logit / temperature);
    const top = Math.max(...row);
    return row[token] - top - Math.log(row.reduce((sum, logit) => sum + Math.exp(logit - top), 0));
  });
}
