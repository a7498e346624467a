/**
 * One decoder block, forward and backward, as graphs. All layers of a model share them: weights are inputs. The backward
 * graph is cut at what the forward pass kept, so everything else of a block is computed again inside it, and nothing
 * outside the two graphs could merge the recomputation away: memory is what is kept, by construction.
 */
import { attend, type Layout, rowsOf } from './attention.ts';
import { gradients } from './gradients.ts';
import { type Graph, type Node, substitute } from './graph.ts';
import { type LoraConfig, loraBlockParameters, loraNames, loraScale } from './lora.ts';
import { blockParameters, hasBias, type LinearName, type ModelConfig } from './model-config.ts';
import { add, concat, div, input, matmul, mul, reduceMean, reshape, scalar, silu, slice, sqrt, sub } from './ops.ts';

export interface BlockOptions {
  readonly config: ModelConfig;
  readonly layout: Layout;
  /** undefined = the block without an adapter. */
  readonly lora?: LoraConfig;
}

/** Names of the graphs' other inputs and outputs. */
export const BLOCK = { x: 'x', y: 'y', cos: 'cos', sin: 'sin', dy: 'dy', dx: 'dx' } as const;
/** Prefix of a parameter's gradient. */
export const GRADIENT = 'd ';

export interface Block {
  readonly x: Node;
  readonly y: Node;
  /** Keys and values of the new tokens. */
  readonly caches: Readonly<Record<string, Node>>;
  /** The results of the block's large products, which are dear to compute and small to keep. */
  readonly products: Readonly<Record<string, Node>>;
  /** Base weights, biases and adapters by name. */
  readonly parameters: ReadonlyMap<string, Node>;
}

export function buildBlock({ config, layout, lora }: BlockOptions): Block {
  const { hiddenSize, heads, keyValueHeads, headSize, normEpsilon } = config;
  const rows = rowsOf(layout);
  const parameters = new Map(
    [...blockParameters(config), ...(lora === undefined ? [] : loraBlockParameters(config, lora))].map(
      ({ name, shape }) => [name, input(name, shape)],
    ),
  );
  const parameter = (name: string): Node => parameters.get(name)!;
  const norm = (x: Node, name: string): Node => rmsNorm(x, parameter(name), normEpsilon);
  const linear = (x: Node, name: LinearName): Node => {
    let y = matmul(x, parameter(`${name}.weight`), { transposeB: true });
    if (hasBias(config, name)) y = add(y, parameter(`${name}.bias`));
    if (lora === undefined || !lora.targets.includes(name)) return y;
    const { a, b } = loraNames(name);
    const low = matmul(x, parameter(a), { transposeB: true });
    return add(y, matmul(low, parameter(b), { transposeB: true, scale: loraScale(lora) }));
  };
  const angles = [BLOCK.cos, BLOCK.sin].map((name) => input(name, [rows, 1, headSize / 2])) as [Node, Node];
  const position = (x: Node, count: number, normName: string): Node => {
    const perHead = reshape(x, [rows, count, headSize]);
    return rotate(config.queryKeyNorm ? norm(perHead, normName) : perHead, angles);
  };

  const x = input(BLOCK.x, [rows, hiddenSize]);
  const normed = norm(x, 'input_layernorm.weight');
  const q = linear(normed, 'self_attn.q_proj');
  const k = linear(normed, 'self_attn.k_proj');
  const v = linear(normed, 'self_attn.v_proj');
  const { context, caches } = attend(
    {
      q: position(q, heads, 'self_attn.q_norm.weight'),
      k: position(k, keyValueHeads, 'self_attn.k_norm.weight'),
      v: reshape(v, [rows, keyValueHeads, headSize]),
    },
    config,
    layout,
  );
  const middle = add(x, linear(context, 'self_attn.o_proj'));
  const normedMiddle = norm(middle, 'post_attention_layernorm.weight');
  const gate = linear(normedMiddle, 'mlp.gate_proj');
  const up = linear(normedMiddle, 'mlp.up_proj');
  const y = add(middle, linear(mul(silu(gate), up), 'mlp.down_proj'));
  return { x, y, caches, products: { q, k, v, context, middle, gate, up }, parameters };
}

export type Recomputation = 'all' | 'cheap';

/** Which results the forward pass keeps for the backward pass; `all` recomputes everything from the block's input. */
export function keptProducts(block: Block, recomputation: Recomputation): Readonly<Record<string, Node>> {
  return recomputation === 'all' ? {} : block.products;
}

/** x -> y, and under their names what is kept. */
export function forwardGraph(block: Block, kept: Readonly<Record<string, Node>>): Graph {
  return { outputs: { [BLOCK.y]: block.y, ...kept } };
}

/** dy, x and what was kept -> the gradients of these parameters (under GRADIENT + name), and dx where it is wanted. */
export function backwardGraph(
  block: Block,
  kept: Readonly<Record<string, Node>>,
  trained: readonly string[],
  wantsDx: boolean,
): Graph {
  const wrt = trained.map((name) => block.parameters.get(name)!);
  const dy = input(BLOCK.dy, block.y.shape);
  const [dx, ...byParameter] = gradients([block.y], [dy], [block.x, ...wrt]);
  const outputs: Record<string, Node> = wantsDx ? { [BLOCK.dx]: dx } : {};
  trained.forEach((name, i) => {
    outputs[GRADIENT + name] = byParameter[i];
  });
  const cuts = new Map(Object.entries(kept).map(([name, node]) => [node, input(name, node.shape)]));
  return substitute(outputs, cuts);
}

/** x / rms(x) * weight over the last axis. */
export function rmsNorm(x: Node, weight: Node, epsilon: number): Node {
  const meanSquare = reduceMean(mul(x, x), [x.shape.length - 1]);
  return mul(div(x, sqrt(add(meanSquare, scalar(epsilon)))), weight);
}

/** Rotary positions over [rows, heads, headSize]: dimension i turns with i + headSize / 2. */
function rotate(x: Node, [cos, sin]: readonly [Node, Node]): Node {
  const half = x.shape[2] / 2;
  const first = slice(x, 2, 0, half);
  const second = slice(x, 2, half, 2 * half);
  return concat([sub(mul(first, cos), mul(second, sin)), add(mul(second, cos), mul(first, sin))], 2);
}
