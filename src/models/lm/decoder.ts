/**
 * Sampling with a key-value cache. A prompt is read once however many completions follow it, and its keys are read once a
 * step for all of them (src/nn/attention.ts). Every completion draws from a stream of its own, so what it says does not
 * depend on who else is in the batch.
 */
import { DocOptError } from '../../errors.ts';
import { createRng, type Rng } from '../../kernels/rng.ts';
import type { DecodeEngine, DecodeRequest } from './decode-batch.ts';
import { exactEngine } from './exact-engine.ts';
import type { Adapter, ModelParts } from './model-parts.ts';
import { sampleToken, type TokenSampling } from './sample-token.ts';

export type { DecodeRequest } from './decode-batch.ts';

export interface DecodeOptions extends TokenSampling {
  readonly maxNewTokens: number;
  readonly endTokens: ReadonlySet<number>;
  /** Asked after every token: ends the completion there, as finished (a stop string) or as cut (runaway repetition). */
  readonly stops?: (tokens: readonly number[]) => 'stop' | 'length' | undefined;
}

export interface Decoded {
  /** The end token included, when there was one. */
  readonly tokens: Int32Array;
  /** Under softmax(logits / temperature); greedy: temperature 1. */
  readonly logProbs: Float64Array;
  /** Under the distribution that was drawn from (penalties, top-k and top-p included). */
  readonly drawnLogProbs: Float64Array;
  readonly finish: 'stop' | 'length';
}

/**
 * Decodes completions of several prompts together; [request][completion]. All requests want equally many. `engine` says how a step
 * is computed; default: exactly.
 */
export async function decode(
  parts: ModelParts,
  requests: readonly DecodeRequest[],
  options: DecodeOptions,
  adapter?: Adapter,
  engine: DecodeEngine = exactEngine,
): Promise<Decoded[][]> {
  const samples = requests[0]?.seeds.length ?? 0;
  if (requests.some(({ seeds }) => seeds.length !== samples)) {
    throw new DocOptError('INTERNAL', 'prompts of one batch want different numbers of completions');
  }
  const completions = requests.flatMap(({ prompt, seeds }) => seeds.map((seed) => new OpenCompletion(prompt, seed)));
  if (samples === 0) return [];
  const { vocabularySize } = parts.config;
  const { maxNewTokens } = options;
  const batch = await engine.begin(parts, requests, { samples, maxNewTokens, adapter });
  let logits = batch.firstLogits;
  for (let t = 0; ; t++) {
    batch.rows.forEach((completion, row) => {
      // The first token of all completions is drawn from the prompt's last row.
      const from = (t === 0 ? Math.floor(completion / samples) : row) * vocabularySize;
      completions[completion].extend(logits.subarray(from, from + vocabularySize), options);
    });
    if (t + 1 === maxNewTokens || completions.every(({ done }) => done)) break;
    batch.keep((completion) => !completions[completion].done);
    logits = await batch.step(Int32Array.from(batch.rows, (completion) => completions[completion].last));
  }
  return requests.map((_, r) => completions.slice(r * samples, (r + 1) * samples).map((one) => one.result()));
}

class OpenCompletion {
  readonly #tokens: number[] = [];
  readonly #logProbs: number[] = [];
  readonly #drawn: number[] = [];
  readonly #rng: Rng;
  readonly #seen: Set<number>;
  readonly #generated = new Set<number>();
  #finish: 'stop' | 'length' = 'length';
  done = false;

  constructor(prompt: Int32Array, seed: number) {
    this.#rng = createRng(seed);
    this.#seen = new Set(prompt);
  }

  get last(): number {
    return this.#tokens.at(-1) ?? 0;
  }

  extend(logits: Float32Array, options: DecodeOptions): void {
    if (this.done) return;
    const seen = { all: this.#seen, generated: this.#generated };
    const { token, logProb, drawnLogProb } = sampleToken(logits, options, this.#rng.next(), seen);
    this.#tokens.push(token);
    this.#logProbs.push(logProb);
    this.#drawn.push(drawnLogProb);
    this.#seen.add(token);
    this.#generated.add(token);
    const ends = options.endTokens.has(token) ? 'stop' : options.stops?.(this.#tokens);
    if (ends === undefined) return;
    this.done = true;
    this.#finish = ends;
  }

  result(): Decoded {
    return {
      tokens: Int32Array.from(this.#tokens),
      logProbs: Float64Array.from(this.#logProbs),
      drawnLogProbs: Float64Array.from(this.#drawn),
      finish: this.#finish,
    };
  }
}
