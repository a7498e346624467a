/** Embedders by their block, and the two ways of having one: ready made, or fitted on the collection first. */
import type { ArtefactReader, Embedder } from '../../ports.ts';
import { fitLsa, type LsaOptions, openLsa } from './lsa.ts';
import type { Texts } from './term-counts.ts';

export { damaged, readFloat32, writeFloat32 } from './float32-file.ts';
export { fitLsa, type LsaOptions, openLsa } from './lsa.ts';
export type { Texts } from './term-counts.ts';

/** An embedder that exists only once it has seen a collection, and travels inside the index artefact. */
export interface EmbedderFit {
  /** Of the settings: same id and same texts, same embedder. */
  readonly id: string;
  /** Deterministic. `texts` are originals, never rewrites. */
  fit(texts: Texts): Embedder;
  open(artefact: ArtefactReader): Promise<Embedder>;
}

export type EmbedderSource = Embedder | EmbedderFit;

export type EmbedderBlock = { readonly driver: 'lsa' } & LsaOptions;

export function createEmbedder(block: EmbedderBlock): EmbedderSource {
  switch (block.driver) {
    case 'lsa': {
      const { driver, ...options } = block;
      const { dimensions = 200, seed = 1, analyzer = 'english' } = options;
      return {
        id: `${driver}(${dimensions},${analyzer},seed=${seed})`,
        fit: (texts) => fitLsa(texts, options),
        open: openLsa,
      };
    }
    default:
      throw new Error(`unknown embedder ${block.driver satisfies never}`);
  }
}
