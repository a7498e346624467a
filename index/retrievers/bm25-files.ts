/**
 * A BM25 index on disk: a header in JSON, ids and terms as JSON arrays, and the flat arrays as little-endian binary.
 * Everything is checked on opening, down to every document's length against its counts, because a damaged index that
 * opens gives wrong rankings without a word.
 */
import { DocOptError } from '../../src/errors.ts';
import type { ArtefactReader, ArtefactWriter } from '../../src/ports.ts';
import { ANALYZERS, type AnalyzerName } from '../../src/text/mod.ts';
import { toBytes, toInt32, toUint16 } from '../kernels/binary.ts';
import type { Postings } from '../kernels/postings.ts';

const FORMAT = 1;

interface Header {
  readonly format: number;
  readonly k1: number;
  readonly b: number;
  readonly analyzer: AnalyzerName;
  readonly documents: number;
  readonly terms: number;
  readonly postings: number;
  readonly tokens: number;
  /** Bytes of one cell of bm25.counts.bin. */
  readonly countBytes: 2 | 4;
}

export interface StoredBm25 {
  readonly k1: number;
  readonly b: number;
  readonly analyzer: AnalyzerName;
  readonly ids: readonly string[];
  readonly postings: Postings;
}

export async function saveBm25(
  artefact: ArtefactWriter,
  { k1, b, analyzer, ids, postings }: StoredBm25,
): Promise<void> {
  const header: Header = {
    format: FORMAT,
    k1,
    b,
    analyzer,
    documents: postings.size,
    terms: postings.vocabulary.size,
    postings: postings.documents.length,
    tokens: postings.totalLength,
    countBytes: postings.counts instanceof Uint16Array ? 2 : 4,
  };
  await artefact.write('bm25.json', `${JSON.stringify(header, null, 2)}\n`);
  await artefact.write('bm25.ids.json', JSON.stringify(ids));
  await artefact.write('bm25.terms.json', JSON.stringify([...postings.vocabulary.keys()]));
  await artefact.write('bm25.lengths.bin', toBytes(postings.lengths));
  await artefact.write('bm25.offsets.bin', toBytes(postings.offsets));
  await artefact.write('bm25.documents.bin', toBytes(postings.documents));
  await artefact.write('bm25.counts.bin', toBytes(postings.counts));
}

/** Throws ARTEFACT naming the file and what is wrong with it. */
export async function openBm25(artefact: ArtefactReader): Promise<StoredBm25> {
  const header = checkedHeader(await readJson(artefact, 'bm25.json'));
  const ids = checkedStrings('bm25.ids.json', await readJson(artefact, 'bm25.ids.json'), header.documents);
  const terms = checkedStrings('bm25.terms.json', await readJson(artefact, 'bm25.terms.json'), header.terms);
  const vocabulary = new Map(terms.map((term, number) => [term, number]));
  if (vocabulary.size !== terms.length) throw damaged('bm25.terms.json', 'a term occurs twice');
  const binary = (name: string, bytes: number) => readExactly(artefact, name, bytes);
  const counts = await binary('bm25.counts.bin', header.postings * header.countBytes);
  const postings: Postings = {
    size: header.documents,
    vocabulary,
    lengths: toInt32(await binary('bm25.lengths.bin', header.documents * 4)),
    offsets: toInt32(await binary('bm25.offsets.bin', (header.terms + 1) * 4)),
    documents: toInt32(await binary('bm25.documents.bin', header.postings * 4)),
    counts: header.countBytes === 2 ? toUint16(counts) : toInt32(counts),
    totalLength: header.tokens,
  };
  checkPostings(postings);
  return { k1: header.k1, b: header.b, analyzer: header.analyzer, ids, postings };
}

function checkedHeader(value: unknown): Header {
  const header = (typeof value === 'object' && value !== null ? value : {}) as Partial<Header>;
  if (header.format !== FORMAT) {
    throw damaged('bm25.json', `format ${String(header.format)} is not ${FORMAT}, which this build reads`);
  }
  for (const key of ['documents', 'terms', 'postings', 'tokens'] as const) {
    if (!Number.isSafeInteger(header[key]) || header[key]! < 0) throw damaged('bm25.json', `'${key}' is no count`);
  }
  const { k1, b } = header;
  if (typeof k1 !== 'number' || !Number.isFinite(k1) || k1 < 0) throw damaged('bm25.json', "'k1' is no number >= 0");
  if (typeof b !== 'number' || !(b >= 0 && b <= 1)) throw damaged('bm25.json', "'b' is not between 0 and 1");
  if (!ANALYZERS.includes(header.analyzer!)) {
    throw damaged('bm25.json', `analyzer '${String(header.analyzer)}' is none of ${ANALYZERS.join(', ')}`);
  }
  if (header.countBytes !== 2 && header.countBytes !== 4) throw damaged('bm25.json', "'countBytes' is not 2 or 4");
  return header as Header;
}

function checkedStrings(name: string, value: unknown, length: number): string[] {
  if (!Array.isArray(value) || value.length !== length) {
    throw damaged(
      name,
      `it holds ${Array.isArray(value) ? value.length : 'no'} entries where bm25.json says ${length}`,
    );
  }
  for (const entry of value) if (typeof entry !== 'string') throw damaged(name, 'an entry is no string');
  return value;
}

/** One pass over everything: offsets ascend, documents ascend within a term, and counts add up to the lengths. */
function checkPostings({ size, offsets, documents, counts, lengths, totalLength }: Postings): void {
  if (offsets[0] !== 0 || offsets[offsets.length - 1] !== documents.length) {
    throw damaged('bm25.offsets.bin', 'it does not span the postings');
  }
  const rest = lengths.slice();
  for (let term = 0; term + 1 < offsets.length; term++) {
    if (offsets[term] >= offsets[term + 1]) throw damaged('bm25.offsets.bin', `term ${term} has no postings`);
    for (let p = offsets[term], before = -1; p < offsets[term + 1]; p++) {
      const document = documents[p];
      if (document <= before || document >= size) {
        throw damaged('bm25.documents.bin', `document ${document} is out of order or beyond the ${size} there are`);
      }
      if (counts[p] < 1) throw damaged('bm25.counts.bin', `count ${counts[p]} at ${p}`);
      rest[document] -= counts[p];
      before = document;
    }
  }
  let tokens = 0;
  for (let d = 0; d < size; d++) {
    if (rest[d] !== 0) throw damaged('bm25.lengths.bin', `document ${d}: the counts do not add up to its length`);
    tokens += lengths[d];
  }
  if (tokens !== totalLength) throw damaged('bm25.lengths.bin', `${tokens} tokens where bm25.json says ${totalLength}`);
}

async function readJson(artefact: ArtefactReader, name: string): Promise<unknown> {
  if (!artefact.has(name)) throw damaged(name, 'it is missing');
  try {
    return JSON.parse(await artefact.readText(name));
  } catch (cause) {
    if (cause instanceof DocOptError) throw cause;
    throw damaged(name, 'it is not complete JSON', cause);
  }
}

async function readExactly(artefact: ArtefactReader, name: string, bytes: number): Promise<Uint8Array> {
  if (!artefact.has(name)) throw damaged(name, 'it is missing');
  const content = await artefact.read(name);
  if (content.byteLength !== bytes) {
    throw damaged(name, `it has ${content.byteLength} bytes where ${bytes} were expected`);
  }
  return content;
}

function damaged(name: string, what: string, cause?: unknown): DocOptError {
  return new DocOptError('ARTEFACT', `the index is damaged: ${name}: ${what}.`, {
    hint: 'Build the index again with: docopt index ... --out INDEX',
    cause,
  });
}
