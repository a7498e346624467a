/** The map of queries, originals and rewrites (DocOpt Fig. 4): vectors, then PCA by our kernel and UMAP by umap-js, seeded. */
import type { CommandContext } from '../../src/config/command.ts';
import type { Dataset } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { principalComponents } from '../../src/kernels/pca.ts';
import { createRng, deriveSeed, shuffle } from '../../src/kernels/rng.ts';
import { createEmbedder, type EmbedderBlock, fitLsa } from '../../src/models/embedders/mod.ts';
import type { Embedder } from '../../src/ports.ts';
import type { ExperimentConfig } from '../../train/mod.ts';
import type { EmbeddingMap, MapPoint } from '../report/types.ts';

interface MapInput {
  readonly config: ExperimentConfig;
  readonly dataset: Dataset;
  readonly trained: readonly string[];
  readonly options: { readonly map: 'auto' | 'lsa' | 'none'; readonly mapPoints: number };
  readonly context: CommandContext;
  readonly missing: string[];
}

/** UMAP's usual neighbourhood; fewer points have fewer neighbours. */
const NEIGHBOURS = 15;
const FEWEST = 4;

export async function embeddingMaps(input: MapInput): Promise<{ maps: EmbeddingMap[]; note: string }> {
  const { dataset, trained, config, missing, options } = input;
  const { corpus, queries } = dataset;
  const seed = config.options.seed;
  const originals = corpus.ids.map((_, position) => corpus.indexText(position));
  const { embedder, name } = await embedderOf(input, originals);
  const positions = sample(
    originals.map((_, i) => i).filter((i) => originals[i].trim() !== '' && trained[i].trim() !== ''),
    options.mapPoints,
    deriveSeed(seed, 'map-documents'),
  );
  const judged = queries.filter(({ id, text }) => dataset.qrels.has(id) && text.trim() !== '');
  const asked = sample(judged, Math.ceil(options.mapPoints / 2), deriveSeed(seed, 'map-queries'));
  if (positions.length < FEWEST) {
    missing.push(`The map: ${positions.length} documents are too few for one.`);
    return { maps: [], note: '' };
  }
  const documents = await embedder.embed(
    [...positions.map((i) => originals[i]), ...positions.map((i) => trained[i])],
    'document',
  );
  const vectors = await embedder.embed(
    asked.map(({ text }) => text),
    'query',
  );
  const kinds: MapPoint['kind'][] = [
    ...positions.map(() => 'original' as const),
    ...positions.map(() => 'rewrite' as const),
    ...asked.map(() => 'query' as const),
  ];
  const columns = documents.columns;
  const data = new Float64Array(kinds.length * columns);
  data.set(documents.data);
  if (asked.length > 0) data.set(vectors.data, documents.rows * columns);
  const place = (of: (i: number) => readonly [number, number]): MapPoint[] =>
    kinds.map((kind, i) => ({ kind, x: of(i)[0], y: of(i)[1] }));

  const { scores, shares } = principalComponents({ rows: kinds.length, columns, data }, 2);
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  const near = await umap(data, columns, deriveSeed(seed, 'umap'));
  return {
    maps: [
      {
        title: `PCA: ${percent(shares[0])} and ${percent(shares[1])} of the variance`,
        points: place((i) => [scores[2 * i], scores[2 * i + 1]]),
      },
      { title: `UMAP: ${Math.min(NEIGHBOURS, kinds.length - 1)} neighbours, seeded`, points: place((i) => near[i]) },
    ],
    note: `${positions.length} of ${corpus.size} documents and ${asked.length} of ${judged.length} judged queries, drawn by the seed; vectors by ${name}. A line joins a document and its rewrite.`,
  };
}

/** The experiment's own embedder where it runs here and costs nothing; else LSA fitted on the originals. */
async function embedderOf(
  { config, context, options }: MapInput,
  originals: readonly string[],
): Promise<{ embedder: Embedder; name: string }> {
  const block = config.retriever.driver === 'dense' ? config.retriever.embedder : undefined;
  const lsa = { embedder: fitLsa(originals), name: 'lsa, fitted on the originals' };
  if (options.map === 'lsa' || block === undefined || (block.driver !== 'lsa' && block.driver !== 'onnx')) return lsa;
  try {
    const source = createEmbedder(block as EmbedderBlock, context);
    const embedder = 'fit' in source ? source.fit(originals) : 'load' in source ? await source.load() : source;
    return { embedder, name: `${embedder.id}, the retriever's own` };
  } catch (error) {
    if (!(error instanceof DocOptError)) throw error;
    context.log.warn(`the map is drawn with lsa: ${error.message}`);
    return lsa;
  }
}

function sample<T>(items: readonly T[], most: number, seed: number): T[] {
  const order = items.map((_, i) => i);
  shuffle(order, createRng(seed));
  return order
    .slice(0, most)
    .sort((a, b) => a - b)
    .map((i) => items[i]);
}

async function umap(
  data: Float64Array,
  columns: number,
  seed: number,
): Promise<readonly (readonly [number, number])[]> {
  const { UMAP } = await import('umap-js');
  const rows = data.length / columns;
  const rng = createRng(seed);
  const vectors = Array.from({ length: rows }, (_, r) => Array.from(data.subarray(r * columns, (r + 1) * columns)));
  const fitted = new UMAP({ nComponents: 2, nNeighbors: Math.min(NEIGHBOURS, rows - 1), random: () => rng.next() }).fit(
    vectors,
  );
  return fitted.map(([x, y]) => [x, y] as const);
}
