/**
 * One decoding step of a whole model as one ONNX file, its weights in few bits inside: hidden states of one token a row in, logits
 * out, keys and values written in place behind those that are there. Operators of ONNX Runtime do what src/nn/block.ts spells out;
 * this file is for drawing tokens, never for gradients.
 */
import { blockParameters, hasBias, type LinearName, type ModelConfig } from './model-config.ts';
import { BLOCK_SIZE, type NBits } from './n-bits.ts';
import { OnnxFile } from './onnx-file.ts';

/** Linear maps of the same input, their rows below each other: one product instead of several. */
export const GROUPS = {
  qkv: ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'],
  o: ['self_attn.o_proj'],
  gateUp: ['mlp.gate_proj', 'mlp.up_proj'],
  down: ['mlp.down_proj'],
} as const satisfies Record<string, readonly LinearName[]>;
export type GroupName = keyof typeof GROUPS;
export const GROUP_NAMES = Object.keys(GROUPS) as GroupName[];

export interface StepWeights {
  /** By layer. */
  readonly matrices: readonly Readonly<Record<GroupName, NBits>>[];
  readonly head: NBits;
  /** Norms and biases by full name. */
  vector(name: string, layer?: number): Float32Array;
}

export const STEP = {
  x: 'x',
  cos: 'cos',
  sin: 'sin',
  lengths: 'lengths',
  total: 'total',
  logits: 'logits',
} as const;
export const stepCache = (kind: 'k' | 'v', layer: number): string => `cache ${kind}${layer}`;
/** The name of what comes out: the same memory. */
export const stepCacheOut = (kind: 'k' | 'v', layer: number): string => `cache ${kind}${layer} out`;
/** Adapter of a group: A [parts rank, in], and B [out, parts rank] with the maps on its diagonal. */
export const stepAdapter = (side: 'A' | 'B', layer: number, group: GroupName): string => `${side}${layer} ${group}`;

/** `lora`: rank and scale of an adapter whose matrices are inputs. */
export function writeQuantisedStep(
  config: ModelConfig,
  weights: StepWeights,
  lora?: { readonly rank: number; readonly scale: number },
): Uint8Array {
  const { hiddenSize, heads, keyValueHeads, headSize, layers, normEpsilon, vocabularySize } = config;
  const file = new OnnxFile();
  const epsilon = { epsilon: { float: normEpsilon } };
  const queries = heads * headSize;
  const keys = keyValueHeads * headSize;
  const vector = (name: string, layer?: number): string => {
    const values = weights.vector(name, layer);
    return file.tensor('float32', [values.length], values);
  };
  const blockSums = (x: string, columns: number): string =>
    file.emit(
      'ReduceSum',
      [file.emit('Reshape', [x, file.integers([-1, columns / BLOCK_SIZE, BLOCK_SIZE])]), file.integers([-1])],
      { keepdims: 0 },
    );
  const product = (x: string, { bits, rows, columns, packed, scales, offsets }: NBits): string => {
    const blocks = columns / BLOCK_SIZE;
    const y = file.emit(
      'MatMulNBits',
      [
        x,
        file.tensor('uint8', [rows, blocks, (BLOCK_SIZE * bits) / 8], packed),
        file.tensor('float32', [rows * blocks], scales),
      ],
      // 4: x in eight bits a block as well, which is what the fast kernels take.
      { K: columns, N: rows, bits, block_size: BLOCK_SIZE, accuracy_level: 4 },
    );
    if (offsets === undefined) return y;
    return file.emit('Gemm', [blockSums(x, columns), file.tensor('float32', [rows, blocks], offsets), y], {
      transB: 1,
    });
  };
  const linear = (x: string, layer: number, group: GroupName): string => {
    const matrix = weights.matrices[layer][group];
    let y = product(x, matrix);
    const names: readonly LinearName[] = GROUPS[group];
    if (names.some((name) => hasBias(config, name))) {
      const bias = new Float32Array(matrix.rows);
      let row = 0;
      for (const name of names) {
        if (hasBias(config, name)) bias.set(weights.vector(`${name}.bias`, layer), row);
        row += rowsOf(config, name);
      }
      y = file.emit('Add', [y, file.tensor('float32', [bias.length], bias)]);
    }
    if (lora === undefined) return y;
    const wide = names.length * lora.rank;
    const a = file.input(stepAdapter('A', layer, group), 'float32', [wide, matrix.columns]);
    const b = file.input(stepAdapter('B', layer, group), 'float32', [matrix.rows, wide]);
    const low = file.emit('Gemm', [x, a], { transB: 1 });
    return file.emit('Gemm', [low, b, y], { transB: 1, alpha: { float: lora.scale } });
  };
  /** [rows, width] -> [rows, 1, width], each head normed where the family does so. */
  const attended = (x: string, width: number, layer: number, norm: string): string => {
    if (!config.queryKeyNorm) return file.emit('Reshape', [x, file.integers([-1, 1, width])]);
    const perHead = file.emit('Reshape', [x, file.integers([-1, width / headSize, headSize])]);
    const normed = file.emit('SimplifiedLayerNormalization', [perHead, vector(norm, layer)], { axis: -1, ...epsilon });
    return file.emit('Reshape', [normed, file.integers([-1, 1, width])]);
  };

  file.input(STEP.x, 'float32', ['rows', hiddenSize]);
  for (const angles of [STEP.cos, STEP.sin]) file.input(angles, 'float32', ['positions', headSize / 2]);
  file.input(STEP.lengths, 'int32', ['rows']);
  file.input(STEP.total, 'int32', [1]);
  let residual: string = STEP.x;
  let normed = file.emit('SimplifiedLayerNormalization', [residual, vector('input_layernorm.weight', 0)], {
    axis: -1,
    ...epsilon,
  });
  const addAndNorm = (more: string, norm: string): void => {
    const [next, sum] = [`${more} normed`, `${more} sum`];
    file.emitAll('SkipSimplifiedLayerNormalization', [more, residual, norm], [next, '', '', sum], epsilon);
    [normed, residual] = [next, sum];
  };
  for (let layer = 0; layer < layers; layer++) {
    const [q, k, v] = ['q', 'k', 'v'].map((part) => `${part} of ${layer}`);
    file.emitAll('Split', [linear(normed, layer, 'qkv'), file.integers([queries, keys, keys])], [q, k, v], { axis: 1 });
    const caches = (['k', 'v'] as const).map((kind) => {
      const shape = ['rows', keyValueHeads, 'positions', headSize];
      file.output(stepCacheOut(kind, layer), 'float32', shape);
      return file.input(stepCache(kind, layer), 'float32', shape);
    });
    const context = `context of ${layer}`;
    file.emitAll(
      'GroupQueryAttention',
      [
        attended(q, queries, layer, 'self_attn.q_norm.weight'),
        attended(k, keys, layer, 'self_attn.k_norm.weight'),
        file.emit('Reshape', [v, file.integers([-1, 1, keys])]),
        ...caches,
        STEP.lengths,
        STEP.total,
        STEP.cos,
        STEP.sin,
      ],
      [context, stepCacheOut('k', layer), stepCacheOut('v', layer)],
      {
        num_heads: heads,
        kv_num_heads: keyValueHeads,
        scale: { float: 1 / Math.sqrt(headSize) },
        do_rotary: 1,
        rotary_interleaved: 0,
      },
    );
    const flat = file.emit('Reshape', [context, file.integers([-1, queries])]);
    addAndNorm(linear(flat, layer, 'o'), vector('post_attention_layernorm.weight', layer));
    const [gate, up] = [`gate of ${layer}`, `up of ${layer}`];
    const width = config.intermediateSize;
    file.emitAll('Split', [linear(normed, layer, 'gateUp'), file.integers([width, width])], [gate, up], { axis: 1 });
    const active = file.emit('QuickGelu', [gate], { alpha: { float: 1 } });
    const down = linear(file.emit('Mul', [active, up]), layer, 'down');
    addAndNorm(down, layer + 1 < layers ? vector('input_layernorm.weight', layer + 1) : vector('model.norm.weight'));
  }
  file.emit('Identity', [product(normed, weights.head)], {}, STEP.logits);
  file.output(STEP.logits, 'float32', ['rows', vocabularySize]);
  return file.finish();
}

function rowsOf(config: ModelConfig, linear: LinearName): number {
  return blockParameters(config).find(({ name }) => name === `${linear}.weight`)!.shape[0];
}

/** Whether every matrix consists of whole blocks. */
export function fitsBlocks({ hiddenSize, intermediateSize, heads, headSize }: ModelConfig): boolean {
  return [hiddenSize, intermediateSize, heads * headSize].every((width) => width % BLOCK_SIZE === 0);
}
