/** The words everyone shares. Types only; this file imports nothing. */

/** A document as its owner wrote it. What users get back, always. */
export interface Document {
  readonly id: string;
  /** '' when the source has none. */
  readonly title: string;
  readonly text: string;
  /** Whatever else the source row carried; handed back untouched. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What a retriever indexes and a policy sees: one string per document, title already joined in (or already rewritten). */
export interface IndexText {
  readonly id: string;
  readonly text: string;
}

/**
 * A collection addressed by position 0..size-1. Every document has two faces: the original, which is what people get
 * back, and the index text, which is what retrievers see. They differ once a corpus has been rewritten.
 */
export interface Corpus {
  readonly size: number;
  /** ids[position]; unique. */
  readonly ids: readonly string[];
  positionOf(id: string): number | undefined;
  original(position: number): Document;
  indexText(position: number): string;
}

export interface Query {
  readonly id: string;
  readonly text: string;
}

/** query id -> document id -> grade. Grades are integers as trec_eval has them; <= 0 is judged but not relevant. */
export type Qrels = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** The answer to one query, best first; the two arrays run in parallel. */
export interface Ranking {
  readonly ids: readonly string[];
  readonly scores: Float64Array;
}

/** query id -> its ranking: what TREC calls a run. */
export type Run = ReadonlyMap<string, Ranking>;

/** Row-major: element (r, c) is data[r * columns + c]. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly data: Float32Array | Float64Array;
}

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** One request to a policy: rewrite this document. `messages` is for policies that speak chat. */
export interface Prompt {
  readonly document: IndexText;
  readonly messages?: readonly Message[];
}

/** How to draw completions. Temperature 0 = the mode (greedy). */
export interface Sampling {
  /** Completions per prompt (G). */
  readonly samples: number;
  readonly temperature: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly repetitionPenalty?: number;
  /** Subtracted from the logits of tokens that the completion has already. */
  readonly presencePenalty?: number;
  readonly maxNewTokens?: number;
  /** A completion ends once it contains one of these. */
  readonly stop?: readonly string[];
  /** Same seed, same prompts, same weights: same completions. */
  readonly seed: number;
}

/** One rewrite. `tokens` are the policy's own actions (token ids; for the edit policy, 0/1 decisions). */
export interface Completion {
  readonly prompt: Prompt;
  readonly text: string;
  readonly tokens: Int32Array;
  /** log-probability of each action under the policy that sampled it, same length as tokens; empty for black-box APIs. */
  readonly logProbs: Float64Array;
  /** What its log-probabilities were computed at, where that is not 1. */
  readonly temperature?: number;
  readonly finish: 'stop' | 'length' | 'refusal' | 'filtered' | 'error';
}

/** The fate of one query in a counterfactual swap: rank of the swapped document before and after (1-based, null = below the cut). */
export interface QueryMove {
  readonly queryId: string;
  readonly positive: boolean;
  readonly rankBefore: number | null;
  readonly rankAfter: number | null;
  readonly ndcgBefore: number;
  readonly ndcgAfter: number;
}

/** G completions of one document with what they earned. */
export interface RewardedGroup {
  readonly prompt: Prompt;
  readonly completions: readonly Completion[];
  readonly rewards: Float64Array;
  readonly advantages: Float64Array;
  /** moves[completion][query]. */
  readonly moves: readonly (readonly QueryMove[])[];
}

/** What one learner step measured; keys are TRL's metric names. */
export type StepMetrics = Readonly<Record<string, number>>;

/**
 * What a reranker gives the documents of a first stage, on average: top - fall ln(1 + rank) at rank 0, 1, 2, ...; never below 0.
 * A calibrated reranker is near 0 for almost all of a pool, another one near .5.
 */
export interface ScoreScale {
  readonly top: number;
  readonly fall: number;
}

/** Candidates of one query in first-stage order: position 0 is the retriever's best. */
export interface Pool {
  readonly query: { readonly id?: string; readonly text?: string };
  readonly ids: readonly string[];
  /** First-stage scores, same order; absent for rank-only retrievers. */
  readonly firstStageScores?: Float64Array;
  /** N x d, unit rows in pool order. */
  readonly embeddings: Matrix;
  /** d, unit. */
  readonly queryEmbedding?: Float32Array | Float64Array;
  /** 0-based BM25 rank of each document within the pool; those that match no word of the query come last, in pool order. */
  readonly lexicalRanks?: Int32Array;
  /** 0-based rank of each document by its vector; absent = the order of the pool is that ranking. */
  readonly denseRanks?: Int32Array;
  /** What the documents and the query say, as TF-IDF: rows 0..N-1 are the documents, row N is the query. */
  readonly terms?: TermRows;
  /** Length of each document as the generator counts it. */
  readonly tokenCounts?: Int32Array;
  /** Of the reranker that will be asked, where it says so. */
  readonly scoreScale?: ScoreScale;
}

/** Sparse rows over one vocabulary: row r has terms[offsets[r]..offsets[r+1]), ascending, with their weights. Unit rows; a text without terms has none. */
export interface TermRows {
  readonly rows: number;
  /** Size of the vocabulary. */
  readonly width: number;
  readonly offsets: Int32Array;
  readonly terms: Int32Array;
  readonly weights: Float64Array;
}

export interface SelectedDocument {
  /** Position in the pool. */
  readonly position: number;
  readonly id: string;
  /** 1-based rank in the answer. */
  readonly rank: number;
  readonly source: 'scored' | 'estimated';
  /** Reranker score when scored, else the selector's estimate; NaN when the selector estimates nothing (single-stage). */
  readonly relevanceScore: number;
  /** Posterior deviation; 0 when scored. */
  readonly std: number;
}

/** The outcome of one selection: the whole pool in final order; the first `capacity` documents reach the generator. */
export interface Selection {
  readonly order: readonly SelectedDocument[];
  readonly capacity: number;
}

/** What an artefact says of itself; written last, so a folder without one does not exist. */
export interface Manifest {
  readonly kind: 'corpus' | 'index' | 'experiment' | 'checkpoint';
  /** Format number of this kind; readers refuse newer ones. */
  readonly format: number;
  readonly createdBy: string;
  readonly createdAt: string;
  /** sha256 over the content files, hex. */
  readonly fingerprint: string;
  /** Fingerprints of what this was made from, e.g. {corpus: '...', policy: '...'}. */
  readonly parents: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, { readonly bytes: number; readonly sha256: string }>>;
  /** Settings and facts of the kind: retriever block, document count, ... Never a secret. */
  readonly info: Readonly<Record<string, unknown>>;
}
