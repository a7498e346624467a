/** An export as the writers take it: which documents, their vectors, and the names that the target uses. */
import { DocOptError } from '../../src/errors.ts';
import type { Corpus, Matrix } from '../../src/types.ts';
import type { CorpusChanges } from './changes.ts';
import type { Export, ExportFields } from './types.ts';

export interface ExportVectors {
  readonly dimensions: number;
  documents(ids: readonly string[]): Promise<Matrix>;
}

export interface PlanInput {
  readonly corpus: Corpus;
  readonly changes: CorpusChanges;
  readonly isChange: boolean;
  readonly vectors?: ExportVectors;
  readonly fields: ExportFields;
  readonly name: string;
  readonly signal?: AbortSignal;
  /** Told how many documents more have been handed out. */
  readonly onDocuments?: (count: number) => void;
}

/** Documents whose vectors are looked up together. */
const BATCH = 256;

export function planExport(input: PlanInput): Export {
  const { corpus, changes, isChange, vectors, fields, name } = input;
  checkFields(fields);
  return {
    upserts: changes.upserts.length,
    deletes: changes.deletes,
    isChange,
    fields,
    name,
    dimensions: vectors?.dimensions,
    async *documents() {
      for (let start = 0; start < changes.upserts.length; start += BATCH) {
        input.signal?.throwIfAborted();
        const positions = changes.upserts.subarray(start, start + BATCH);
        const rows = await vectors?.documents(Array.from(positions, (position) => corpus.ids[position]));
        for (let row = 0; row < positions.length; row++) {
          const { id, title, text, metadata } = corpus.original(positions[row]);
          const searchText = corpus.indexText(positions[row]);
          yield { id, title, text, searchText, metadata, vector: rows && rowOf(rows, row) };
        }
        input.onDocuments?.(positions.length);
      }
    },
  };
}

/** A text without direction has no vector: engines refuse zeros, or divide by their length. */
function rowOf({ columns, data }: Matrix, row: number): Float32Array | undefined {
  const vector = Float32Array.from(data.subarray(row * columns, (row + 1) * columns));
  return vector.some((value) => value !== 0) ? vector : undefined;
}

const FIXED = ['op', 'id', 'title', 'metadata'];

/** Names that every target takes without quoting rules of its own, each once. */
function checkFields({ searchText, text, vector }: ExportFields): void {
  const given = { 'text-field': searchText, 'original-field': text, 'vector-field': vector };
  const taken = new Map(FIXED.map((name) => [name, 'every row has it already']));
  for (const [flag, name] of Object.entries(given)) {
    const fault = /^[A-Za-z_]\w{0,62}$/.test(name)
      ? taken.get(name)
      : 'expected letters, digits and underscores, at most 63, no digit first';
    if (fault !== undefined) {
      throw new DocOptError('USAGE', `--${flag} '${name}': ${fault}`, { hint: 'Choose another name.' });
    }
    taken.set(name, `it is --${flag} already`);
  }
}
