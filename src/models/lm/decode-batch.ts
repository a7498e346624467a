/** What decoder.ts asks of an engine: prompts read, then a token a row and step. */
import type { Adapter, ModelParts } from './model-parts.ts';

export interface DecodeRequest {
  readonly prompt: Int32Array;
  /** One seed per completion. */
  readonly seeds: readonly number[];
}

/** Completions on their way; completion `request * samples + sample`. */
export interface DecodeBatch {
  /** Which completion each row is. */
  readonly rows: readonly number[];
  /** Logits after each prompt, [requests, vocabulary]. */
  readonly firstLogits: Float32Array;
  /** Told before each step which completions go on; may drop rows of the others, and change the order of the rest. */
  keep(isOpen: (completion: number) => boolean): void;
  /** The next token of each row through the model: the logits after it, [rows, vocabulary], valid until the next step. */
  step(tokens: Int32Array): Promise<Float32Array>;
}

export interface DecodeEngine {
  begin(
    parts: ModelParts,
    requests: readonly DecodeRequest[],
    options: { readonly samples: number; readonly maxNewTokens: number; readonly adapter?: Adapter },
  ): Promise<DecodeBatch>;
  release(): Promise<void>;
}
