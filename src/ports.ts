/** Every interface that a driver implements. Types only. docs/architecture.md says why they are cut this way. */
import type {
  Completion,
  Corpus,
  Document,
  IndexText,
  Manifest,
  Matrix,
  Pool,
  Prompt,
  Query,
  Ranking,
  RewardedGroup,
  Sampling,
  ScoreScale,
  Selection,
  StepMetrics,
} from './types.ts';

/** Text -> unit vectors, one row per text. Rejects non-finite vectors; never reorders. */
export interface Embedder {
  readonly id: string;
  readonly dimensions: number;
  embed(texts: readonly string[], role: 'query' | 'document'): Promise<Matrix>;
  /** Texts per call that keep it busy; default 256. */
  readonly batch?: number;
  /** It has a policy for blank texts; others never get one, and a blank text has no vector. */
  readonly seesBlank?: boolean;
  /** Only for embedders that were fitted here (lsa): they travel inside the index artefact. */
  save?(artefact: ArtefactWriter): Promise<void>;
}

/** Text -> one unit vector per token that counts, for late interaction. A blank text has none. Never reorders. */
export interface TokenEmbedder {
  readonly id: string;
  readonly dimensions: number;
  embedTokens(texts: readonly string[], role: 'query' | 'document'): Promise<Matrix[]>;
  /** Rows that each text will have, without computing them; absent where only the model knows. */
  tokenCounts?(texts: readonly string[], role: 'query' | 'document'): Int32Array;
}

/** A first-stage retriever: any black box that can index texts and rank them. */
export interface Retriever {
  readonly id: string;
  /** `known`: vectors of an earlier index; drivers that embed take over those of texts that have not changed. */
  build(corpus: Corpus, known?: KnownVectors): Promise<RetrievalIndex>;
  open(artefact: ArtefactReader): Promise<RetrievalIndex>;
}

/** Document vectors that were made before, by their text. */
export interface KnownVectors {
  /** Id of the embedder that made them; another one's are of no use. */
  readonly embedder: string;
  /** One per text, undefined where the text is new. */
  vectorsOf(texts: readonly string[]): Promise<readonly (Float32Array | undefined)[]>;
}

export interface RetrievalIndex {
  readonly size: number;
  /** Its scores are -rank: it says which document is better, never by how much. */
  readonly rankOnly?: boolean;
  /** Rankings of at most k documents, score descending then id ascending. Documents that match nothing are left out by lexical indexes. */
  search(queries: readonly Query[], k: number): Promise<Ranking[]>;
  /** queries x ids, in the index's own score. Rank-only black boxes answer -rank. */
  similarities(queries: readonly Query[], ids: readonly string[]): Promise<Matrix>;
  /**
   * Counterfactual search (DocOpt 3.1): for each replacement i ALONE, swap the document of that id for the given text and
   * rank queries[i] to depth k. Exact: equal to rebuilding the index with the swap. Returns [replacement][query].
   */
  searchReplacing(
    replacements: readonly IndexText[],
    queries: readonly (readonly Query[])[],
    k: number,
  ): Promise<Ranking[][]>;
  save(artefact: ArtefactWriter): Promise<void>;
  /** Dense indexes: what made their vectors. */
  readonly embedder?: Embedder;
  /** Dense indexes: the stored unit vectors, one row per id, and the query's. Lexical indexes have none. */
  embeddings?(ids: readonly string[]): Promise<Matrix>;
  embedQueries?(queries: readonly Query[]): Promise<Matrix>;
}

/** Rewrites documents. Knows nothing of rewards. A frozen API model is simply this. */
export interface Policy {
  readonly id: string;
  /** completions[prompt][sample]; always sampling.samples per prompt. */
  generate(prompts: readonly Prompt[], sampling: Sampling): Promise<Completion[][]>;
  /** Whether the document is longer than what it sees of one; absent where that cannot be known here. */
  truncates?(prompt: Prompt): boolean;
}

/** A policy whose per-token log-probs can be read and pushed. It knows no RL: the loss arrives as its gradient. */
export interface TrainablePolicy extends Policy {
  /** log-probs of each completion's tokens under the current or the reference (anchor) weights, temperature 1 for the edit policy, the sampling temperature for LMs. */
  logProbs(completions: readonly Completion[], weights: 'current' | 'reference'): Promise<Float64Array[]>;
  /** One optimiser step. lossByLogProb[c][t] = d loss / d logProb of token t of completion c. */
  applyGradient(
    completions: readonly Completion[],
    lossByLogProb: readonly Float64Array[],
    learningRate: number,
  ): Promise<void>;
  /** Mean per-token entropy over these completions' distributions, in nats. */
  entropy(completions: readonly Completion[]): Promise<number>;
  /** Make the current weights the KL anchor (`kl.anchor: round`). */
  anchor(): void;
  /**
   * Tries out, before anything is trained, what a step on the `documents` longest of these prompts takes; nothing is changed by
   * it. Throws ENVIRONMENT with a remedy when it does not fit this machine.
   */
  rehearse?(prompts: readonly Prompt[], documents: number, sampling: Sampling): Promise<Rehearsal>;
  /** Weights, optimiser state, anchor: enough to continue identically. */
  save(artefact: ArtefactWriter): Promise<void>;
  load(artefact: ArtefactReader): Promise<void>;
}

/** What the largest pass of a training step took. */
export interface Rehearsal {
  /** Tokens of the longest prompt. */
  readonly promptTokens: number;
  /** Passes that the step is made of, and the rows of the largest. */
  readonly passes: number;
  readonly rows: number;
  /** Of that pass, forward and back. */
  readonly seconds: number;
  readonly estimatedBytes: number;
  /** Of the whole process, until now. */
  readonly peakBytes: number;
}

/** Turns rewarded groups into a better policy: by gradient, by experience, or by a remote trainer. */
export interface Learner {
  readonly policy: Policy;
  step(groups: readonly RewardedGroup[], learningRate: number): Promise<StepMetrics>;
  /** The collection has been rewritten and indexed by the policy as it is now. */
  onRefresh?(): void;
  save(artefact: ArtefactWriter): Promise<void>;
  load(artefact: ArtefactReader): Promise<void>;
}

/** A cross-encoder or anything that plays one. Probabilities in [0, 1]; NaN = this pair failed. */
export interface Reranker {
  readonly id: string;
  /** What every answer made with it says, e.g. that it is known to be worse than what it refines. */
  readonly warnings?: readonly string[];
  /** What it gives the documents of its first stage on average, where that is known. */
  readonly scale?: ScoreScale;
  score(query: Query, documents: readonly Document[]): Promise<Float64Array>;
}

/** Budgeted top-k set selection over one pool. Synchronous, deterministic, ask/tell: select.ts owns the only loop. */
export interface Selector {
  readonly name: string;
  begin(pool: Pool, limits: SelectionLimits): SelectionRun;
}

export interface SelectionLimits {
  /** Reranker calls, B. */
  readonly budget: number;
  /** Documents that reach the generator, k. */
  readonly capacity: number;
}

export interface SelectionRun {
  /** Pool positions to score next; empty = done. Never more than the budget in total, never one twice. */
  ask(): readonly number[];
  /** null or NaN = the call failed: it stays spent and is never asked again. */
  tell(position: number, score: number | null): void;
  /** Valid at any moment. */
  result(): Selection;
}

/** Writes a write-once folder that becomes visible only when finished. */
export interface ArtefactWriter {
  /** Where a driver may put large files itself; they are fingerprinted at finish. */
  path(name: string): string;
  write(name: string, content: string | Uint8Array): Promise<void>;
  writeStream(name: string, chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>): Promise<void>;
}

export interface ArtefactReader {
  readonly manifest: Manifest;
  readonly folder: string;
  has(name: string): boolean;
  path(name: string): string;
  /** Size of a file. */
  bytes(name: string): number;
  read(name: string): Promise<Uint8Array>;
  /** A file piece by piece: one that is too large to be read at once, too. */
  stream(name: string): AsyncIterable<Uint8Array>;
  readText(name: string): Promise<string>;
  readJson<T>(name: string): Promise<T>;
}

/** Progress and log lines, injected so that pure code never touches a stream. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
  debug(message: string): void;
  /** A long job of `total` units; call tick as it goes, end when done. */
  progress(label: string, total: number): Progress;
}

export interface Progress {
  tick(units?: number, note?: string): void;
  end(): void;
}
