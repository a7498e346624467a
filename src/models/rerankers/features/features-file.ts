import { DocOptError } from '../../../errors.ts';
import type { ArtefactReader, ArtefactWriter, Embedder } from '../../../ports.ts';
import { ANALYZERS } from '../../../text/mod.ts';
import { damaged, openLsa, readFloat32, writeFloat32 } from '../../embedders/mod.ts';
import { FEATURES } from './feature-vector.ts';
import type { FeatureScorer, FeaturesModel } from './model.ts';
import type { TermStatistics } from './term-statistics.ts';

/** 1 knew nothing of the first stage. */
const FORMAT = 2;

const TERMS = 'features.terms.json';
const INDEX_TERMS = 'features.index-terms.json';

/**
 * features.json, features.terms.json, features.f32; features.index-terms.json where the corpus was rewritten; with
 * `withEmbedder` the LSA model too, when it is nowhere else in the artefact.
 */
export async function saveFeatures(
  model: FeaturesModel,
  artefact: ArtefactWriter,
  withEmbedder: boolean,
): Promise<void> {
  const { statistics, indexStatistics, background, lsa } = model;
  const header = {
    format: FORMAT,
    analyzer: model.analyzer,
    documentText: model.documentText,
    statistics: countsOf(statistics),
    indexStatistics: indexStatistics === undefined ? null : countsOf(indexStatistics),
    embedder: lsa.id,
    background: lsa.dimensions === 0 ? 0 : background.length / lsa.dimensions,
    scorer: scorerRecord(model.scorer),
    foreignScorer: scorerRecord(model.foreignScorer),
    evidence: model.evidence,
  };
  await artefact.write('features.json', `${JSON.stringify(header, null, 2)}\n`);
  await artefact.write(TERMS, JSON.stringify([...statistics.documentFrequencies]));
  if (indexStatistics !== undefined) {
    await artefact.write(INDEX_TERMS, JSON.stringify([...indexStatistics.documentFrequencies]));
  }
  await writeFloat32(artefact, 'features.f32', background);
  if (withEmbedder) await lsa.save?.(artefact);
}

function countsOf({ documents, averageLength }: TermStatistics): object {
  return { documents, averageLength };
}

function scorerRecord({ kind, intercept, coefficients, means, deviations, scale }: FeatureScorer): object {
  const named = (values: Float64Array) => Object.fromEntries(FEATURES.map((name, f) => [name, values[f]]));
  return {
    kind,
    intercept,
    scale,
    coefficients: named(coefficients),
    means: named(means),
    deviations: named(deviations),
  };
}

/** `lsa`: the artefact's own embedder, unless the scorer brought one. ARTEFACT when files are damaged, disagree or are of another format. */
export async function openFeatures(artefact: ArtefactReader, lsa?: Embedder): Promise<FeaturesModel> {
  const embedder = artefact.has('lsa.json') ? await openLsa(artefact) : lsa;
  const header = (await readJson(artefact, 'features.json')) as Record<string, unknown> | null;
  requireFormat(artefact, header?.format);
  const fail = failing(artefact);
  const { analyzer, documentText, background, evidence, scorer, foreignScorer, indexStatistics } = header!;
  if (embedder === undefined || header!.embedder !== embedder.id) {
    throw fail(`the scorer was fitted with embedder ${String(header!.embedder)}, here is ${embedder?.id ?? 'none'}`);
  }
  if (!ANALYZERS.includes(analyzer as never))
    throw fail(`analyzer '${String(analyzer)}' is none of ${ANALYZERS.join(', ')}`);
  if (documentText !== 'title+text' && documentText !== 'text') throw fail(`documentText is '${String(documentText)}'`);
  if (!isCount(background)) throw fail("'background' is no count");
  if (typeof evidence !== 'object' || evidence === null) throw fail("'evidence' is missing");
  return {
    analyzer: analyzer as FeaturesModel['analyzer'],
    documentText,
    statistics: await readStatistics(artefact, header!.statistics, TERMS),
    indexStatistics:
      indexStatistics === null ? undefined : await readStatistics(artefact, indexStatistics, INDEX_TERMS),
    lsa: embedder,
    background: await readFloat32(artefact, 'features.f32', background * embedder.dimensions),
    scorer: readScorer(artefact, scorer),
    foreignScorer: readScorer(artefact, foreignScorer),
    evidence: evidence as FeaturesModel['evidence'],
  };
}

function requireFormat(artefact: ArtefactReader, format: unknown): void {
  if (format === FORMAT) return;
  const older = typeof format === 'number' && format < FORMAT;
  throw new DocOptError(
    'ARTEFACT',
    `the embedded reranker in ${artefact.folder} has format ${String(format)}; this build reads ${FORMAT}.`,
    {
      hint: older
        ? 'It was built by an earlier version. Build the index again with: docopt index ... --out INDEX'
        : 'Use the version that built it, or build the index again with: docopt index ... --out INDEX',
    },
  );
}

function readScorer(artefact: ArtefactReader, record: unknown): FeatureScorer {
  const fail = failing(artefact);
  const { kind, intercept, scale, ...tables } = (record ?? {}) as Record<string, unknown>;
  if (kind !== 'logistic' && kind !== 'fusion') throw fail(`kind '${String(kind)}' is neither logistic nor fusion`);
  if (typeof intercept !== 'number') throw fail("'intercept' is no number");
  const values = (key: 'coefficients' | 'means' | 'deviations'): Float64Array => {
    const table = tables[key] as Record<string, unknown> | undefined;
    return Float64Array.from(FEATURES, (name) => {
      const value = table?.[name];
      if (typeof value === 'number' && Number.isFinite(value) && !(key === 'deviations' && value <= 0)) return value;
      throw fail(`${key}.${name} is ${String(value)}`);
    });
  };
  return {
    kind,
    intercept,
    scale: readScale(scale, fail),
    coefficients: values('coefficients'),
    means: values('means'),
    deviations: values('deviations'),
  };
}

/** Scorers of earlier builds have none. */
function readScale(record: unknown, fail: (what: string) => DocOptError): FeatureScorer['scale'] {
  if (record === undefined) return undefined;
  const { top, fall } = (record ?? {}) as Record<string, unknown>;
  const isSound = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value < 10;
  if (!isSound(top) || !isSound(fall) || top > 1) throw fail("'scale' is not a top up to 1 and a fall of at least 0");
  return { top, fall };
}

async function readStatistics(artefact: ArtefactReader, counts: unknown, file: string): Promise<TermStatistics> {
  const { documents, averageLength } = (counts ?? {}) as Record<string, unknown>;
  if (!isCount(documents)) throw failing(artefact)("'documents' is no count");
  if (!(typeof averageLength === 'number' && averageLength > 0)) {
    throw failing(artefact)("'averageLength' is no number above 0");
  }
  const entries = await readJson(artefact, file);
  const sound = (entry: unknown): entry is [string, number] =>
    Array.isArray(entry) && typeof entry[0] === 'string' && isCount(entry[1]);
  if (!Array.isArray(entries) || !entries.every(sound)) {
    throw damaged(artefact, file, 'it is no list of [term, document frequency]');
  }
  return { documents, averageLength, documentFrequencies: new Map(entries) };
}

function failing(artefact: ArtefactReader): (what: string) => DocOptError {
  return (what) => damaged(artefact, 'features.json', what);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

async function readJson(artefact: ArtefactReader, name: string): Promise<unknown> {
  if (!artefact.has(name)) throw damaged(artefact, name, 'it is missing');
  try {
    return await artefact.readJson<unknown>(name);
  } catch (cause) {
    throw damaged(artefact, name, 'it is not complete JSON', cause);
  }
}
