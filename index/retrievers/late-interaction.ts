/**
 * The `late-interaction` driver (ColBERT): documents are matrices of token vectors, kept in half precision, and scored by
 * exact MaxSim. A blank text has no tokens: it is never found, and as a query finds nothing.
 */
import { DocOptError } from '../../src/errors.ts';
import { floatsToHalves } from '../../src/kernels/float16.ts';
import { damaged } from '../../src/models/embedders/mod.ts';
import type { TokenEmbedderLoad } from '../../src/models/token-embedders/mod.ts';
import type { ArtefactReader, Log, Retriever, TokenEmbedder } from '../../src/ports.ts';
import { halfRowsInFile, halfRowsInMemory } from '../../src/store/half-rows.ts';
import type { Corpus } from '../../src/types.ts';
import { embedTokens } from './embed-tokens.ts';
import { LateInteractionIndex } from './late-interaction-index.ts';

export interface LateInteractionOptions {
  readonly embedder: TokenEmbedderLoad;
  readonly log?: Log;
  /** Texts per embedding call while building. Default 64. */
  readonly batchSize?: number;
  /** Query texts remembered with their tokens and best documents. Default 4,096. */
  readonly cachedQueries?: number;
}

export function createLateInteractionRetriever(options: LateInteractionOptions): Retriever {
  const { embedder: source, log, batchSize = 64, cachedQueries = 4096 } = options;
  let loaded: Promise<TokenEmbedder> | undefined;
  /** Loaded once; a failure is not kept, so that the next index may try again. */
  const load = (): Promise<TokenEmbedder> => {
    loaded ??= source.load().catch((error) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
  return {
    id: `late-interaction(${source.id})`,
    async build(corpus) {
      const embedder = await load();
      announceSize(embedder, corpus, batchSize, log);
      const lengths = new Int32Array(corpus.size);
      const parts: Uint16Array[] = [];
      for (let start = 0; start < corpus.size; start += batchSize) {
        const matrices = await embedTokens(embedder, textsOf(corpus, start, batchSize), 'document');
        matrices.forEach(({ rows, data }, i) => {
          lengths[start + i] = rows;
          if (rows > 0) parts.push(floatsToHalves(data));
        });
      }
      return new LateInteractionIndex({
        ids: corpus.ids,
        lengths,
        tokens: halfRowsInMemory(parts, embedder.dimensions),
        embedder,
        indexText: (position) => corpus.indexText(position),
        cachedQueries,
      });
    },
    async open(artefact) {
      const embedder = await load();
      return new LateInteractionIndex({ ...(await readTokens(artefact, embedder)), embedder, cachedQueries });
    },
  };
}

function textsOf(corpus: Corpus, start: number, count: number): string[] {
  const length = Math.min(count, corpus.size - start);
  return Array.from({ length }, (_, i) => corpus.indexText(start + i));
}

/** A matrix per document is large; people should know before the hours of embedding. */
function announceSize(embedder: TokenEmbedder, corpus: Corpus, batchSize: number, log?: Log): void {
  if (log === undefined || embedder.tokenCounts === undefined) return;
  let tokens = 0;
  for (let start = 0; start < corpus.size; start += batchSize) {
    for (const count of embedder.tokenCounts(textsOf(corpus, start, batchSize), 'document')) tokens += count;
  }
  const bytes = tokens * embedder.dimensions * 2;
  const size =
    bytes < 1e6
      ? `${(bytes / 1e3).toFixed(1)} kB`
      : bytes < 1e9
        ? `${(bytes / 1e6).toFixed(1)} MB`
        : `${(bytes / 1e9).toFixed(2)} GB`;
  log.info(
    `token vectors: ${corpus.size} documents, ${tokens} tokens x ${embedder.dimensions} halves = ${size}, in memory while building`,
  );
}

interface Header {
  readonly format: number;
  readonly embedder: string;
  readonly dimensions: number;
  readonly documents: number;
  readonly tokens: number;
}

async function readTokens(artefact: ArtefactReader, embedder: TokenEmbedder) {
  const header = ((await json(artefact, 'tokens.json')) ?? {}) as Partial<Header>;
  if (header.format !== 1) {
    throw damaged(artefact, 'tokens.json', `format ${String(header.format)} is not 1, which this build reads`);
  }
  if (header.embedder !== embedder.id || header.dimensions !== embedder.dimensions) {
    throw new DocOptError(
      'ARTEFACT',
      `the index in ${artefact.folder} was built with ${String(header.embedder)} of ${String(header.dimensions)} ` +
        `dimensions; this one is ${embedder.id} of ${embedder.dimensions}.`,
      { hint: 'Open it with the model it was built with, or build it again with: docopt index ... --out INDEX' },
    );
  }
  const ids = await json(artefact, 'tokens.ids.json');
  const counts = await json(artefact, 'tokens.lengths.json');
  if (!Array.isArray(ids) || ids.length !== header.documents || ids.some((id) => typeof id !== 'string')) {
    throw damaged(artefact, 'tokens.ids.json', `it is no list of ${String(header.documents)} ids`);
  }
  const isCount = (count: unknown): boolean => Number.isInteger(count) && (count as number) >= 0;
  if (!Array.isArray(counts) || counts.length !== ids.length || !counts.every(isCount)) {
    throw damaged(artefact, 'tokens.lengths.json', `it is no list of ${ids.length} counts`);
  }
  const lengths = Int32Array.from(counts as number[]);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total !== header.tokens || !artefact.has('tokens.f16')) {
    throw damaged(
      artefact,
      'tokens.f16',
      `the ${String(header.tokens)} tokens that tokens.json speaks of are not there`,
    );
  }
  return {
    ids: ids as string[],
    lengths,
    tokens: await halfRowsInFile(artefact.path('tokens.f16'), total, embedder.dimensions),
  };
}

async function json(artefact: ArtefactReader, name: string): Promise<unknown> {
  if (!artefact.has(name)) throw damaged(artefact, name, 'it is missing');
  try {
    return await artefact.readJson<unknown>(name);
  } catch (cause) {
    throw damaged(artefact, name, 'it is not complete JSON', cause);
  }
}
