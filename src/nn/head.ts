/**
 * The end of the model: final norm, logits, and the log-probabilities of given tokens. It is run over a few hundred rows
 * at a time, forward and backward, so the logits of a whole sequence never exist at once.
 */
import { GRADIENT, rmsNorm } from './block.ts';
import { gradients } from './gradients.ts';
import type { Graph, Node } from './graph.ts';
import type { ModelConfig } from './model-config.ts';
import { input, logSumExp, matmul, mul, reduceSum, reshape, scalar, softmax, sub, take } from './ops.ts';

export const HEAD_INPUT = {
  hidden: 'hidden',
  norm: 'norm',
  matrix: 'matrix',
  targets: 'targets',
  dLogProbs: 'dLogProbs',
} as const;
export const HEAD_OUTPUT = { logits: 'logits', logProbs: 'logProbs', entropy: 'entropy', dHidden: 'dHidden' } as const;

export interface HeadOptions {
  readonly config: ModelConfig;
  readonly rows: number;
  /** Logits are divided by it before the softmax; 1 is the plain model. */
  readonly temperature: number;
}

interface Head {
  readonly hidden: Node;
  readonly norm: Node;
  readonly matrix: Node;
  readonly normed: Node;
  /** [rows, vocabulary], divided by the temperature. */
  readonly logits: Node;
}

function buildHead({ config, rows, temperature }: HeadOptions): Head {
  const { hiddenSize, vocabularySize, normEpsilon } = config;
  const hidden = input(HEAD_INPUT.hidden, [rows, hiddenSize]);
  const norm = input(HEAD_INPUT.norm, [hiddenSize]);
  const matrix = input(HEAD_INPUT.matrix, [vocabularySize, hiddenSize]);
  const normed = rmsNorm(hidden, norm, normEpsilon);
  return { hidden, norm, matrix, normed, logits: matmul(normed, matrix, { transposeB: true, scale: 1 / temperature }) };
}

/** log softmax of the targets' logits, [rows]. The target's own logit is a product of two rows, not picked from the matrix. */
function targetLogProbs({ matrix, normed, logits }: Head, { rows, temperature }: HeadOptions): Node {
  const targets = input(HEAD_INPUT.targets, [rows], 'int32');
  const own = mul(reduceSum(mul(normed, take(matrix, targets)), [1]), scalar(1 / temperature));
  return reshape(sub(own, logSumExp(logits)), [rows]);
}

/** hidden -> logits. */
export function logitsGraph(options: HeadOptions): Graph {
  return { outputs: { [HEAD_OUTPUT.logits]: buildHead(options).logits } };
}

/** hidden, targets -> log-probabilities [rows], and the entropy of each row's distribution in nats. */
export function logProbsGraph(options: HeadOptions): Graph {
  const head = buildHead(options);
  const expected = reduceSum(mul(softmax(head.logits), head.logits), [1]);
  const entropy = reshape(sub(logSumExp(head.logits), expected), [options.rows]);
  return { outputs: { [HEAD_OUTPUT.logProbs]: targetLogProbs(head, options), [HEAD_OUTPUT.entropy]: entropy } };
}

/** hidden, targets, dLogProbs -> dHidden, and the gradients of `norm` and `matrix` when they are trained. */
export function headBackwardGraph(options: HeadOptions, trainsWeights: boolean): Graph {
  const head = buildHead(options);
  const wrt = trainsWeights ? [head.hidden, head.norm, head.matrix] : [head.hidden];
  const seed = input(HEAD_INPUT.dLogProbs, [options.rows]);
  const [dHidden, dNorm, dMatrix] = gradients([targetLogProbs(head, options)], [seed], wrt);
  const outputs: Record<string, Node> = { [HEAD_OUTPUT.dHidden]: dHidden };
  if (trainsWeights) {
    outputs[GRADIENT + HEAD_INPUT.norm] = dNorm;
    outputs[GRADIENT + HEAD_INPUT.matrix] = dMatrix;
  }
  return { outputs };
}
