/**
 * What all rerankers that are services share: scores of pairs that were paid for once are kept, blank texts are not sent, a
 * request that fails leaves its pairs unscored (NaN, never 0) with one warning, and a service that fails three times in a
 * row is left alone for a while, so that a selection ends in time with what is known.
 */
import { documentText } from '../../../data/mod.ts';
import { DocOptError } from '../../../errors.ts';
import type { Reranker } from '../../../ports.ts';
import { type Wire, WireError } from '../../../run/wire/mod.ts';
import { cacheKey } from '../../../store/response-cache.ts';

export interface PairScorer {
  /** Everything that decides a score beside the two texts. */
  readonly identity: readonly string[];
  readonly model: string;
  /** Most pairs in one request. */
  readonly inputs: number;
  readonly scoreSpace: 'probability' | 'logit';
  /** Raw scores of the service, NaN where it has none. Throws WireError when the request failed. */
  score(query: string, texts: readonly string[]): Promise<Float64Array>;
}

/** Failed requests in a row before the service is left alone, and for how long. */
const PATIENCE = 3;
const PAUSE_MS = 30_000;
const MOST_WARNINGS = 5;

export function pairReranker(id: string, wire: () => Promise<Wire>, open: () => Promise<PairScorer>): Reranker {
  const warnings: string[] = [];
  const warn = (text: string): void => {
    if (warnings.length < MOST_WARNINGS && !warnings.includes(text)) warnings.push(text);
  };
  let opened: Promise<PairScorer> | undefined;
  /** Learned from refusals: most pairs in one request. */
  let most = Number.POSITIVE_INFINITY;
  let failures = 0;
  let pausedUntil = 0;

  const ask = async (scorer: PairScorer, query: string, texts: readonly string[]): Promise<Float64Array> => {
    if (Date.now() < pausedUntil) {
      warn(`${id}: ${PATIENCE} requests in a row failed, so no more were sent for ${PAUSE_MS / 1000} s.`);
      return failed(texts);
    }
    try {
      const raw = await scorer.score(query, texts);
      failures = 0;
      return probabilities(raw, scorer, id, warn);
    } catch (error) {
      if (!(error instanceof WireError) || isHopeless(error)) throw error;
      if (error.fault === 'refused' && texts.length > 1) {
        const half = Math.ceil(texts.length / 2);
        most = Math.min(most, half);
        return join([await ask(scorer, query, texts.slice(0, half)), await ask(scorer, query, texts.slice(half))]);
      }
      warn(`${id}: ${error.message}`);
      failures++;
      if (failures >= PATIENCE) {
        failures = 0;
        pausedUntil = Date.now() + PAUSE_MS;
      }
      return failed(texts);
    }
  };

  return {
    id,
    warnings,
    async score(query, documents) {
      const scores = new Float64Array(documents.length);
      if (documents.length === 0) return scores;
      if (query.text.trim() === '') {
        warn(`${id}: a blank query was not sent.`);
        return scores.fill(Number.NaN);
      }
      opened ??= open().catch((error) => {
        opened = undefined;
        throw error;
      });
      const { cache } = await wire();
      const scorer = await opened;
      const missing = new Map<string, { readonly key: string; readonly at: number[] }>();
      for (const [i, document] of documents.entries()) {
        const text = wellFormed(documentText(document));
        // Services refuse empty texts, and there is nothing in one that could be relevant.
        if (text.trim() === '') continue;
        const key = cacheKey('rerank', ...scorer.identity, scorer.scoreSpace, query.text, text);
        const found = cache.get(key);
        if (found?.length === 8) scores[i] = Buffer.from(found).readDoubleLE(0);
        else {
          const entry = missing.get(text) ?? { key, at: [] };
          entry.at.push(i);
          missing.set(text, entry);
        }
      }
      const texts = [...missing.keys()];
      const parts: Promise<void>[] = [];
      const inputs = Math.min(scorer.inputs, most);
      for (let start = 0; start < texts.length; start += inputs) {
        const part = texts.slice(start, start + inputs);
        parts.push(
          ask(scorer, wellFormed(query.text), part).then((found) => {
            const known: [string, Uint8Array][] = [];
            for (const [i, text] of part.entries()) {
              const { key, at } = missing.get(text)!;
              for (const position of at) scores[position] = found[i];
              if (!Number.isNaN(found[i])) known.push([key, bytesOf(found[i])]);
            }
            cache.put(known, scorer.model);
          }),
        );
      }
      const results = await Promise.allSettled(parts);
      for (const result of results) if (result.status === 'rejected') throw result.reason;
      return scores;
    },
  };
}

/** The same for whichever pair: a wrong key, model or address is for the user to mend, not for the selection to suffer. */
function isHopeless({ status }: WireError): boolean {
  return status === 401 || status === 403 || status === 404;
}

function probabilities(
  raw: Float64Array,
  { scoreSpace }: PairScorer,
  id: string,
  warn: (text: string) => void,
): Float64Array {
  if (scoreSpace === 'logit') return raw.map((score) => 1 / (1 + Math.exp(-score)));
  return raw.map((score) => {
    // A hair beyond is rounding.
    if (Number.isNaN(score) || (score >= -1e-6 && score <= 1 + 1e-6)) return Math.min(1, Math.max(0, score));
    warn(
      `${id} answers ${score} where a probability in [0, 1] was expected, and such pairs count as failed: ` +
        'if these are logits, set scoreSpace=logit.',
    );
    return Number.NaN;
  });
}

/** Raw scores in the order of the texts. NaN for what is missing or no number; throws when the numbering cannot be trusted. */
export function scoresOf(
  items: readonly { readonly index: unknown; readonly score: unknown }[],
  count: number,
  id: string,
): Float64Array {
  const scores = new Float64Array(count).fill(Number.NaN);
  const seen = new Set<number>();
  for (const { index, score } of items) {
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count || seen.has(index)) {
      throw new WireError(
        'malformed',
        `it numbered a document ${String(index)}${seen.has(index as number) ? ' twice' : ''} of ${count}`,
        {
          hint: `${id} answers what was not asked.`,
        },
      );
    }
    seen.add(index);
    if (typeof score === 'number' && Number.isFinite(score)) scores[index] = score;
  }
  return scores;
}

/** For a service that answers in another shape than it should. */
export function unusable(id: string, what: string, hint: string): DocOptError {
  return new DocOptError('UPSTREAM', `reranker ${id}: ${what}`, { hint });
}

function failed(texts: readonly string[]): Float64Array {
  return new Float64Array(texts.length).fill(Number.NaN);
}

function join(parts: readonly Float64Array[]): Float64Array {
  return Float64Array.from(parts.flatMap((part) => [...part]));
}

function bytesOf(score: number): Uint8Array {
  return new Uint8Array(Float64Array.of(score).buffer);
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
