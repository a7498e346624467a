/**
 * The `wink` driver: BM25 by the npm package wink-bm25-text-search, an engine written by others. It is here to check
 * ours against and to compare with, not for large collections: it answers from objects, and replaces by rebuilding.
 */
import { DocOptError } from '../../src/errors.ts';
import { compareRanked } from '../../src/kernels/compare.ts';
import type { ArtefactReader, RetrievalIndex, Retriever } from '../../src/ports.ts';
import { type Analyzer, type AnalyzerName, createAnalyzer } from '../../src/text/mod.ts';
import type { Corpus, Query, Ranking } from '../../src/types.ts';
import { checkDepth, unknownDocument } from './checks.ts';
import { refuseWithoutTexts, searchByRebuilding } from './rebuild.ts';

/** The part of wink-bm25-text-search 3.1 that is used here. */
export interface WinkEngine {
  defineConfig(config: {
    fldWeights: Record<string, number>;
    bm25Params: { k1: number; b: number; k: number };
  }): boolean;
  definePrepTasks(tasks: readonly ((input: string) => string[])[]): number;
  addDoc(document: Record<string, string>, id: string): number;
  consolidate(decimals: number): boolean;
  search(text: string, limit: number): [id: string, score: number][];
  exportJSON(): string;
  importJSON(json: string): boolean;
}

export interface WinkOptions {
  readonly k1: number;
  readonly b: number;
  readonly analyzer: AnalyzerName;
}

/** Wink rounds every term's score to this many decimals; 9 is its most. */
const DECIMALS = 9;
/** Wink refuses smaller collections. */
const FEWEST_DOCUMENTS = 3;

export function createWinkRetriever(options: WinkOptions): Retriever {
  const retriever: Retriever = {
    id: `wink:k1=${options.k1},b=${options.b},analyzer=${options.analyzer}`,
    async build(corpus) {
      const engine = await buildWink(corpus, options);
      return winkIndex(engine, corpus.ids, options, (replacements, queries, k) =>
        searchByRebuilding(retriever, corpus, replacements, queries, k),
      );
    },
    open: openWink,
  };
  return retriever;
}

/** The engine itself, filled and consolidated; its document ids are positions in the corpus. Benches time it bare. */
export async function buildWink(corpus: Corpus, options: WinkOptions): Promise<WinkEngine> {
  if (corpus.size < FEWEST_DOCUMENTS) {
    throw new DocOptError(
      'DATA',
      `the wink driver needs ${FEWEST_DOCUMENTS} documents; this corpus has ${corpus.size}.`,
      {
        hint: 'Use --retriever bm25, which takes any number.',
      },
    );
  }
  const engine = await emptyEngine(createAnalyzer(options.analyzer), options);
  for (let i = 0; i < corpus.size; i++) engine.addDoc({ text: corpus.indexText(i) }, String(i));
  engine.consolidate(DECIMALS);
  return engine;
}

async function emptyEngine(analyzer: Analyzer, { k1, b }: WinkOptions): Promise<WinkEngine> {
  // @ts-expect-error The package ships no types; WinkEngine says what is used of it.
  const { default: createEngine } = (await import('wink-bm25-text-search')) as { default: () => WinkEngine };
  const engine = createEngine();
  // k = 1 is the 1 in Lucene's ln(1 + ...).
  engine.defineConfig({ fldWeights: { text: 1 }, bm25Params: { k1, b, k: 1 } });
  engine.definePrepTasks([analyzer.analyze]);
  return engine;
}

async function openWink(artefact: ArtefactReader): Promise<RetrievalIndex> {
  const { options, ids } = await artefact.readJson<{ options: WinkOptions; ids: string[] }>('wink.json');
  const engine = await emptyEngine(createAnalyzer(options.analyzer), options);
  try {
    engine.importJSON(await artefact.readText('wink.engine.json'));
  } catch (cause) {
    throw new DocOptError('ARTEFACT', 'the index is damaged: wink.engine.json cannot be imported.', {
      hint: 'Build the index again with: docopt index ... --out INDEX',
      cause,
    });
  }
  return winkIndex(engine, ids, options, refuseWithoutTexts);
}

function winkIndex(
  engine: WinkEngine,
  ids: readonly string[],
  options: WinkOptions,
  searchReplacing: RetrievalIndex['searchReplacing'],
): RetrievalIndex {
  // Wink multiplies every score by k1 + 1, which Lucene dropped; ours are Lucene's.
  const scale = 1 / (options.k1 + 1);
  /** All matching documents: wink cuts ties where its sort happens to leave them. */
  const everything = (query: Query): [string, number][] => engine.search(query.text, ids.length);

  return {
    size: ids.length,
    async search(queries, k) {
      checkDepth(k);
      return queries.map((query): Ranking => {
        const hits = everything(query).map(([position, score]) => ({
          id: ids[Number(position)],
          score: score * scale,
        }));
        const best = hits.sort((x, y) => compareRanked(x.score, x.id, y.score, y.id)).slice(0, k);
        return { ids: best.map((hit) => hit.id), scores: Float64Array.from(best, (hit) => hit.score) };
      });
    },
    async similarities(queries, wanted) {
      const column = new Map(ids.map((id, position) => [id, position]));
      for (const id of wanted) if (!column.has(id)) throw unknownDocument(id);
      const data = new Float64Array(queries.length * wanted.length);
      queries.forEach((query, row) => {
        const scores = new Map(everything(query));
        wanted.forEach((id, c) => {
          data[row * wanted.length + c] = (scores.get(String(column.get(id))) ?? 0) * scale;
        });
      });
      return { rows: queries.length, columns: wanted.length, data };
    },
    searchReplacing,
    async save(artefact) {
      await artefact.write('wink.json', JSON.stringify({ options, ids }));
      await artefact.write('wink.engine.json', engine.exportJSON());
    },
  };
}
