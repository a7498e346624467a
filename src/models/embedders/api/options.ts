import { nativeDimensions } from '../../../config/names.ts';

/** What all embedders of remote services have in common, as their block says it. */
export interface ApiEmbedderOptions {
  readonly driver: 'openai' | 'cohere' | 'voyage' | 'jina' | 'tei';
  /** 'text-embedding-3-small'; a TEI server has one model and needs no name. */
  readonly model?: string;
  /** undefined = what the first answer has. */
  readonly dimensions?: number;
  readonly url?: string;
  readonly authFrom?: string;
  /** Put before every text of that role. */
  readonly queryPrompt?: string;
  readonly documentPrompt?: string;
  /** Tokens of one text; more are cut off and counted, or the text is split and its vectors averaged. Counted by OpenAI's encoding, so only where the service is OpenAI's or like it. */
  readonly maxTokens?: number;
  readonly overlong?: 'truncate' | 'split';
  /** A blank text has no vector: it is never sent, stands for a placeholder, or is an error. */
  readonly emptyTexts?: 'skip' | 'placeholder' | 'error';
  /** Most texts in one request. */
  readonly batchSize?: number;
  readonly encoding?: 'base64' | 'float';
}

/** With the width that the model is known to have, where no other is asked for. */
export function withWidth(options: ApiEmbedderOptions): ApiEmbedderOptions {
  const { driver, model, dimensions } = options;
  return { ...options, dimensions: dimensions ?? (model === undefined ? undefined : nativeDimensions(driver, model)) };
}
