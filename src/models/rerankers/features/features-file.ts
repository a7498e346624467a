import type { DocOptError } from '../../../errors.ts';
import type { ArtefactReader, ArtefactWriter, Embedder } from '../../../ports.ts';
import { ANALYZERS } from '../../../text/mod.ts';
import { damaged, openLsa, readFloat32, writeFloat32 } from '../../embedders/mod.ts';
import { FEATURES } from './feature-vector.ts';
import type { FeatureScorer, FeaturesModel } from './model.ts';

const FORMAT = 1;

/** features.json, features.terms.json, features.f32; with `withEmbedder` the LSA model too, when it is nowhere else in the artefact. */
export async function saveFeatures(
  model: FeaturesModel,
  artefact: ArtefactWriter,
  withEmbedder: boolean,
): Promise<void> {
  const { scorer, statistics, background, lsa } = model;
  const named = (values: Float64Array) => Object.fromEntries(FEATURES.map((name, f) => [name, values[f]]));
  const header = {
    format: FORMAT,
    analyzer: model.analyzer,
    documentText: model.documentText,
    documents: statistics.documents,
    averageLength: statistics.averageLength,
    embedder: lsa.id,
    background: lsa.dimensions === 0 ? 0 : background.length / lsa.dimensions,
    kind: scorer.kind,
    intercept: scorer.intercept,
    coefficients: named(scorer.coefficients),
    means: named(scorer.means),
    deviations: named(scorer.deviations),
    evidence: model.evidence,
  };
  await artefact.write('features.json', `${JSON.stringify(header, null, 2)}\n`);
  await artefact.write('features.terms.json', JSON.stringify([...statistics.documentFrequencies]));
  await writeFloat32(artefact, 'features.f32', background);
  if (withEmbedder) await lsa.save?.(artefact);
}

/** `lsa`: the artefact's own embedder, unless the scorer brought one. ARTEFACT when files are damaged or disagree. */
export async function openFeatures(artefact: ArtefactReader, lsa?: Embedder): Promise<FeaturesModel> {
  const embedder = artefact.has('lsa.json') ? await openLsa(artefact) : lsa;
  const header = (await readJson(artefact, 'features.json')) as Record<string, unknown> | null;
  const fail = (what: string): DocOptError => damaged(artefact, 'features.json', what);
  if (header?.format !== FORMAT)
    throw fail(`format ${String(header?.format)} is not ${FORMAT}, which this build reads`);
  if (embedder === undefined || header.embedder !== embedder.id) {
    throw fail(`the scorer was fitted with embedder ${String(header.embedder)}, here is ${embedder?.id ?? 'none'}`);
  }
  const { analyzer, documentText, documents, averageLength, background, kind, evidence } = header;
  if (!ANALYZERS.includes(analyzer as never))
    throw fail(`analyzer '${String(analyzer)}' is none of ${ANALYZERS.join(', ')}`);
  if (documentText !== 'title+text' && documentText !== 'text') throw fail(`documentText is '${String(documentText)}'`);
  if (kind !== 'logistic' && kind !== 'fusion') throw fail(`kind '${String(kind)}' is neither logistic nor fusion`);
  if (!isCount(documents) || !isCount(background)) throw fail("'documents' or 'background' is no count");
  if (!(typeof averageLength === 'number' && averageLength > 0)) throw fail("'averageLength' is no number above 0");
  if (typeof evidence !== 'object' || evidence === null) throw fail("'evidence' is missing");
  if (typeof header.intercept !== 'number') throw fail("'intercept' is no number");

  const values = (key: 'coefficients' | 'means' | 'deviations'): Float64Array => {
    const table = header[key] as Record<string, unknown> | undefined;
    return Float64Array.from(FEATURES, (name) => {
      const value = table?.[name];
      if (typeof value === 'number' && Number.isFinite(value) && !(key === 'deviations' && value <= 0)) return value;
      throw fail(`${key}.${name} is ${String(value)}`);
    });
  };
  const scorer: FeatureScorer = {
    kind,
    intercept: header.intercept,
    coefficients: values('coefficients'),
    means: values('means'),
    deviations: values('deviations'),
  };
  return {
    analyzer: analyzer as FeaturesModel['analyzer'],
    documentText,
    statistics: { documents, averageLength, documentFrequencies: await readTerms(artefact) },
    lsa: embedder,
    background: await readFloat32(artefact, 'features.f32', background * embedder.dimensions),
    scorer,
    evidence: evidence as FeaturesModel['evidence'],
  };
}

async function readTerms(artefact: ArtefactReader): Promise<Map<string, number>> {
  const entries = await readJson(artefact, 'features.terms.json');
  const sound = (entry: unknown): entry is [string, number] =>
    Array.isArray(entry) && typeof entry[0] === 'string' && isCount(entry[1]);
  if (!Array.isArray(entries) || !entries.every(sound)) {
    throw damaged(artefact, 'features.terms.json', 'it is no list of [term, document frequency]');
  }
  return new Map(entries);
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
