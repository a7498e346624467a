/** What tells one LLaMA-like decoder from another: sizes, and the few things in which the families differ. */
export interface ModelConfig {
  readonly family: 'llama' | 'qwen2' | 'qwen3';
  readonly vocabularySize: number;
  readonly hiddenSize: number;
  /** Width of the gated feed-forward layer. */
  readonly intermediateSize: number;
  readonly layers: number;
  readonly heads: number;
  /** Fewer than heads: grouped-query attention. */
  readonly keyValueHeads: number;
  readonly headSize: number;
  readonly ropeTheta: number;
  readonly ropeScaling?: RopeScaling;
  readonly normEpsilon: number;
  /** The head's matrix is the embedding's. */
  readonly tiedHead: boolean;
  /** RMSNorm over each head of q and k (Qwen3). */
  readonly queryKeyNorm: boolean;
  /** q, k and v have biases (Qwen2). */
  readonly queryKeyValueBias: boolean;
  readonly outputBias: boolean;
  readonly feedForwardBias: boolean;
  /** Longest sequence. */
  readonly maxPositions: number;
}

export type RopeScaling =
  | { readonly type: 'linear'; readonly factor: number }
  /** What each frequency is divided by. */
  | { readonly type: 'factors'; readonly factors: readonly number[] }
  | {
      readonly type: 'llama3';
      readonly factor: number;
      readonly lowFrequencyFactor: number;
      readonly highFrequencyFactor: number;
      readonly originalMaxPositions: number;
    };

/** The linear maps of a block, by their Hugging Face names: what LoRA can be put on. */
export const LINEARS = [
  'self_attn.q_proj',
  'self_attn.k_proj',
  'self_attn.v_proj',
  'self_attn.o_proj',
  'mlp.gate_proj',
  'mlp.up_proj',
  'mlp.down_proj',
] as const;
export type LinearName = (typeof LINEARS)[number];

export interface ParameterShape {
  readonly name: string;
  readonly shape: readonly number[];
}

/** [out, in] of a linear map. */
export function linearShape(config: ModelConfig, name: LinearName): readonly [number, number] {
  const { hiddenSize, intermediateSize, headSize } = config;
  const queries = config.heads * headSize;
  const keys = config.keyValueHeads * headSize;
  switch (name) {
    case 'self_attn.q_proj':
      return [queries, hiddenSize];
    case 'self_attn.k_proj':
    case 'self_attn.v_proj':
      return [keys, hiddenSize];
    case 'self_attn.o_proj':
      return [hiddenSize, queries];
    case 'mlp.gate_proj':
    case 'mlp.up_proj':
      return [intermediateSize, hiddenSize];
    case 'mlp.down_proj':
      return [hiddenSize, intermediateSize];
    default:
      return name satisfies never;
  }
}

export function hasBias(config: ModelConfig, name: LinearName): boolean {
  if (name === 'self_attn.o_proj') return config.outputBias;
  return name.startsWith('mlp.') ? config.feedForwardBias : config.queryKeyValueBias;
}

/** Every parameter of one block, named as Hugging Face names it behind `model.layers.N.`. */
export function blockParameters(config: ModelConfig): ParameterShape[] {
  const { hiddenSize, headSize } = config;
  return [
    { name: 'input_layernorm.weight', shape: [hiddenSize] },
    { name: 'post_attention_layernorm.weight', shape: [hiddenSize] },
    ...(config.queryKeyNorm
      ? ['self_attn.q_norm.weight', 'self_attn.k_norm.weight'].map((name) => ({ name, shape: [headSize] }))
      : []),
    ...LINEARS.flatMap((name) => [
      { name: `${name}.weight`, shape: linearShape(config, name) },
      ...(hasBias(config, name) ? [{ name: `${name}.bias`, shape: [linearShape(config, name)[0]] }] : []),
    ]),
  ];
}

export const EMBEDDING = 'model.embed_tokens.weight';
export const FINAL_NORM = 'model.norm.weight';
export const HEAD = 'lm_head.weight';

export function layerPrefix(layer: number): string {
  return `model.layers.${layer}.`;
}

/** Every parameter of a model, under its full Hugging Face name. */
export function modelParameters(config: ModelConfig): ParameterShape[] {
  const { vocabularySize, hiddenSize, layers } = config;
  const block = blockParameters(config);
  return [
    { name: EMBEDDING, shape: [vocabularySize, hiddenSize] },
    ...Array.from({ length: layers }, (_, layer) =>
      block.map(({ name, shape }) => ({ name: layerPrefix(layer) + name, shape })),
    ).flat(),
    { name: FINAL_NORM, shape: [hiddenSize] },
    ...(config.tiedHead ? [] : [{ name: HEAD, shape: [vocabularySize, hiddenSize] }]),
  ];
}

/** The matrix that turns hidden states into logits. */
export function headName(config: ModelConfig): string {
  return config.tiedHead ? EMBEDDING : HEAD;
}
