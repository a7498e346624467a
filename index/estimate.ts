/** What a retriever will cost before anything is sent: the sum over the embedders in it. */
import type { RetrieverSpec } from '../src/config/specs.ts';
import {
  type EmbeddingEstimate,
  estimateEmbedding,
  estimateTokenEmbedding,
  type TextSource,
} from '../src/models/embedders/mod.ts';
import type { ModelServices } from '../src/models/services.ts';
import { usdText } from '../src/run/wire/mod.ts';

export interface RetrievalEstimate {
  /** One per embedder that is a service. */
  readonly embeddings: readonly EmbeddingEstimate[];
  /** US dollars; null = a price is not known. */
  readonly costUsd: number | null;
}

/** The texts must be re-readable when there are several retrievers: give functions. */
export async function estimateRetrievers(
  specs: readonly RetrieverSpec[],
  texts: () => readonly TextSource[],
  services: ModelServices,
): Promise<RetrievalEstimate> {
  const embeddings: EmbeddingEstimate[] = [];
  for (const spec of specs.flatMap((one) => (one.driver === 'fusion' ? one.retrievers : [one]))) {
    const found =
      spec.driver === 'dense'
        ? await estimateEmbedding(spec.embedder, texts(), services)
        : spec.driver === 'late-interaction'
          ? await estimateTokenEmbedding(spec.embedder, texts(), services)
          : undefined;
    if (found !== undefined) embeddings.push(found);
  }
  return { embeddings, costUsd: sumOf(embeddings.map(({ usd }) => usd)) };
}

/** One line per embedder. */
export function estimateLines({ embeddings }: RetrievalEstimate): string[] {
  if (embeddings.length === 0) return ['everything runs on this machine and costs nothing'];
  return embeddings.map((estimate) => {
    const { model, sent, recorded, blank, overlong, requests, tokens, exact, usd, priceAsOf } = estimate;
    const notes = [
      ...(recorded > 0 ? [`${recorded} on record`] : []),
      ...(blank > 0 ? [`${blank} empty`] : []),
      ...(overlong > 0 ? [`${overlong} over its limit`] : []),
    ];
    const price = usd === null ? 'no listed price (give --price IN,OUT)' : `${usdText(usd)} (price of ${priceAsOf})`;
    return (
      `${model}: ${sent} texts in ${requests} requests${notes.length === 0 ? '' : ` (${notes.join(', ')})`}, ` +
      `${exact ? '' : 'about '}${tokens} tokens, ${price}`
    );
  });
}

function sumOf(amounts: readonly (number | null)[]): number | null {
  return amounts.includes(null) ? null : amounts.reduce<number>((sum, usd) => sum + (usd ?? 0), 0);
}

/** The index texts of a corpus, read one by one. */
export function* indexTexts(corpus: { readonly size: number; indexText(position: number): string }): Generator<string> {
  for (let i = 0; i < corpus.size; i++) yield corpus.indexText(i);
}
