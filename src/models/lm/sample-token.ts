/**
 * One token from one row of logits, in the order that Transformers has: repetition and presence penalties, temperature,
 * top-k, top-p, draw. In double precision, so that the draw depends on the logits alone.
 */
export interface TokenSampling {
  /** 0 = the most likely token; lowest id among equals. */
  readonly temperature: number;
  readonly topK?: number;
  readonly topP?: number;
  /** Logits of tokens seen before are divided by it when positive, multiplied when negative. */
  readonly repetitionPenalty?: number;
  /** Subtracted from the logits of tokens generated before. */
  readonly presencePenalty?: number;
}

export interface SampledToken {
  readonly token: number;
  /** Under softmax(logits / temperature) over the whole vocabulary, penalties left out: what GRPO's ratio is about. */
  readonly logProb: number;
  /** Under the distribution that was drawn from. */
  readonly drawnLogProb: number;
}

export interface SeenTokens {
  /** Of the prompt and the completion. */
  readonly all: ReadonlySet<number>;
  readonly generated: ReadonlySet<number>;
}

/** `uniform` in [0, 1) decides the draw. `logits` are not changed. */
export function sampleToken(
  logits: Float32Array,
  options: TokenSampling,
  uniform: number,
  seen: SeenTokens,
): SampledToken {
  const greedy = options.temperature === 0;
  const temperature = greedy ? 1 : options.temperature;
  const penalised = penalise(logits, options, seen);
  const candidates = greedy ? [argmax(penalised)] : keepTop(penalised, temperature, options);
  const drawn = draw(penalised, candidates, temperature, uniform);
  const logProb = logits[drawn.token] / temperature - logSumExp(logits, temperature);
  return { token: drawn.token, logProb, drawnLogProb: drawn.logProb };
}

function penalise(logits: Float32Array, options: TokenSampling, seen: SeenTokens): Float32Array {
  const { repetitionPenalty = 1, presencePenalty = 0 } = options;
  if (repetitionPenalty === 1 && presencePenalty === 0) return logits;
  const changed = logits.slice();
  if (repetitionPenalty !== 1) {
    for (const token of seen.all) changed[token] *= changed[token] > 0 ? 1 / repetitionPenalty : repetitionPenalty;
  }
  if (presencePenalty !== 0) for (const token of seen.generated) changed[token] -= presencePenalty;
  return changed;
}

/** The tokens that may be drawn, most likely first; undefined = all of them. */
function keepTop(logits: Float32Array, temperature: number, options: TokenSampling): number[] | undefined {
  const topK = options.topK === undefined || options.topK >= logits.length ? 0 : options.topK;
  const topP = options.topP ?? 1;
  if (topK === 0 && topP >= 1) return undefined;
  const byLogit = (a: number, b: number): number => logits[b] - logits[a] || a - b;
  let kept: number[] = [];
  if (topK > 0) {
    const threshold = kthLargest(logits, topK);
    for (let i = 0; i < logits.length; i++) if (logits[i] >= threshold) kept.push(i);
    kept = kept.sort(byLogit).slice(0, topK);
  } else {
    // Tokens below this share together weigh less than what top-p leaves out, so none of them is within it.
    const least = logSumExp(logits, temperature) + Math.log((1 - topP) / logits.length);
    for (let i = 0; i < logits.length; i++) if (logits[i] / temperature >= least) kept.push(i);
    kept.sort(byLogit);
  }
  if (topP >= 1) return kept;
  // Shares among what top-k left, as Transformers has it; after top-p alone, of everything.
  const top = logits[kept[0]] / temperature;
  const weights = kept.map((i) => Math.exp(logits[i] / temperature - top));
  const total =
    topK > 0 ? weights.reduce((sum, weight) => sum + weight, 0) : Math.exp(logSumExp(logits, temperature) - top);
  let mass = 0;
  let count = 0;
  while (count < kept.length && (count === 0 || mass < topP * total)) mass += weights[count++];
  return kept.slice(0, count);
}

function draw(
  logits: Float32Array,
  candidates: readonly number[] | undefined,
  temperature: number,
  uniform: number,
): { token: number; logProb: number } {
  const count = candidates?.length ?? logits.length;
  const tokenAt = (i: number): number => candidates?.[i] ?? i;
  let top = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) top = Math.max(top, logits[tokenAt(i)]);
  let total = 0;
  for (let i = 0; i < count; i++) total += Math.exp((logits[tokenAt(i)] - top) / temperature);
  let chosen = tokenAt(0);
  let mass = 0;
  for (let i = 0; i < count; i++) {
    const weight = Math.exp((logits[tokenAt(i)] - top) / temperature);
    mass += weight;
    // Rounding may leave the last sum below the total: then it is the last token of any weight.
    if (weight > 0) chosen = tokenAt(i);
    if (uniform * total < mass) break;
  }
  return { token: chosen, logProb: (logits[chosen] - top) / temperature - Math.log(total) };
}

function argmax(values: Float32Array): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

/** Value of the k-th largest, by a heap of k: one comparison for nearly every value. */
function kthLargest(values: Float32Array, k: number): number {
  const heap = values.slice(0, k).sort();
  for (let i = k; i < values.length; i++) {
    const value = values[i];
    if (!(value > heap[0])) continue;
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= k) break;
      if (child + 1 < k && heap[child + 1] < heap[child]) child++;
      if (heap[child] >= value) break;
      heap[hole] = heap[child];
      hole = child;
    }
    heap[hole] = value;
  }
  return heap[0];
}

function logSumExp(logits: Float32Array, temperature: number): number {
  let top = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < logits.length; i++) if (logits[i] > top) top = logits[i];
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += Math.exp((logits[i] - top) / temperature);
  return top / temperature + Math.log(sum);
}
