/** Own data in: documents, chunks, queries and judgements of any format become one BEIR folder, streamed. */
import { chunkFacts, chunkId, clashingKey, makeChunk } from '../../src/data/chunks.ts';
import { CARD_FILE, completeCard, type DatasetCard } from '../../src/data/dataset-card.ts';
import { loadQueries, loadTopics, writeBeir } from '../../src/data/mod.ts';
import { dataError } from '../../src/data/problem.ts';
import type { BeirQrels } from '../../src/data/write-beir.ts';
import { DocOptError } from '../../src/errors.ts';
import type { Document, Qrels, Query } from '../../src/types.ts';
import { type CountTokens, chunkText } from './chunk.ts';
import type { ChunkSpec } from './chunk-spec.ts';
import type { ClickRule } from './clicks.ts';
import { ruleText } from './clicks.ts';
import type { JudgementColumns } from './columns.ts';
import { type CorpusSource, type CorpusSourceOptions, openCorpusSource } from './corpus-source.ts';
import { type IdFrom, idOf, TakenIds } from './document-ids.ts';
import { type JudgementReport, readJudgements } from './judgements.ts';

export interface ImportOptions {
  readonly corpus: CorpusSourceOptions;
  readonly idFrom?: IdFrom;
  readonly chunk: ChunkSpec;
  readonly queries?: string;
  readonly judgements?: { readonly file: string; readonly columns: JudgementColumns };
  readonly rule: ClickRule;
  /** What the user said of the data; gaps come from a card beside the source. */
  readonly card: Partial<DatasetCard>;
  readonly cardName: string;
  readonly out: string;
  readonly replace: boolean;
  /** For `tokens:N`. */
  readonly countTokens: CountTokens;
  readonly onOpen?: (source: CorpusSource) => void;
  readonly onDocument?: (id: string) => void;
}

export interface ImportReport {
  readonly source: string;
  readonly formats: CorpusSource['formats'];
  readonly documents: number;
  /** Rows written; equal to the documents where nothing was cut. */
  readonly chunks: number;
  readonly emptyDocuments: number;
  /** With `--id-from hash`: texts that were there already and are kept once. */
  readonly sameTexts: number;
  /** Documents whose metadata has a key that chunks need; theirs gave way. */
  readonly clashingMetadata: number;
  readonly skipped: CorpusSource['skipped'];
  readonly queries: number;
  /** Pairs with a grade, of documents; each is written for every chunk of its document. */
  readonly judgements: JudgementReport | { readonly kind: 'beir'; readonly judged: number } | null;
  readonly clickRule: string | null;
  readonly notes: readonly string[];
  readonly dataset: DatasetCard;
}

export const POSITION_BIAS =
  'Clicks are counted as they are: position bias is not corrected, so what stood higher was clicked, and is graded, more.';

/** Reads everything, writes the folder whole or not at all. */
export async function importDataset(options: ImportOptions): Promise<ImportReport> {
  const { corpus, out, replace, rule } = options;
  const source = await openCorpusSource(corpus);
  options.onOpen?.(source);
  const isBeir = source.formats.beir !== undefined;
  const topics = isBeir ? await loadTopics(corpus.path) : undefined;
  const givenQueries = options.queries === undefined ? undefined : await loadQueries(options.queries);
  const queriesBefore =
    givenQueries ?? (topics !== undefined && topics.queries.length > 0 ? topics.queries : undefined);

  const documents = new Documents(source, options);
  let judgements: Awaited<ReturnType<typeof readJudgements>> | undefined;
  /** Documents are all read by then: writeBeir takes them first. */
  const judge = async (): Promise<void> => {
    if (documents.count === 0)
      throw dataError(corpus.path, 'there is no document in it', 'Check the path and --format.');
    if (options.judgements === undefined) return;
    judgements = await readJudgements({
      ...options.judgements,
      encoding: corpus.encoding,
      rule,
      queries: queriesBefore,
      hasDocument: (id) => documents.has(id),
    });
    if (judgements.report.judged === 0) throw nothingJudged(judgements.report, rule);
  };
  let queries: readonly Query[] = [];
  const finalQueries = async function* (): AsyncGenerator<Query> {
    await judge();
    queries = judgements?.queries ?? queriesBefore ?? [];
    yield* queries;
  };
  const finalQrels = (): BeirQrels => {
    if (judgements !== undefined) return documents.withChunks(judgements.qrels);
    if (topics === undefined) return new Map();
    const { train, dev, test } = topics.qrelsBySplit;
    const mapped = (qrels: Qrels | undefined) => (qrels === undefined ? undefined : documents.withChunks(qrels));
    return { train: mapped(train), dev: mapped(dev), test: mapped(test) };
  };
  const report = (): ImportReport => {
    const clicked = judgements?.report.kind === 'clicks';
    const beirJudged = topics === undefined ? 0 : [...topics.qrels.values()].reduce((sum, row) => sum + row.size, 0);
    return {
      source: corpus.path,
      formats: source.formats,
      documents: documents.count,
      chunks: documents.written,
      emptyDocuments: documents.empty,
      sameTexts: documents.sameTexts,
      clashingMetadata: documents.clashing,
      skipped: source.skipped,
      queries: queries.length,
      judgements: judgements?.report ?? (beirJudged > 0 ? { kind: 'beir', judged: beirJudged } : null),
      clickRule: clicked ? ruleText(rule) : null,
      notes: clicked ? [POSITION_BIAS] : [],
      dataset: completeCard(options.card, options.cardName),
    };
  };
  await writeBeir(
    out,
    {
      documents: documents.stream(),
      queries: finalQueries(),
      qrels: finalQrels,
      json: () => ({ [CARD_FILE]: report().dataset, 'import-report.json': report() }),
    },
    { replace },
  );
  return report();
}

/** The stream of documents or chunks, and what is remembered of it. */
class Documents {
  count = 0;
  written = 0;
  empty = 0;
  sameTexts = 0;
  clashing = 0;
  private readonly source: CorpusSource;
  private readonly options: ImportOptions;
  private readonly taken = new TakenIds();
  private readonly chunksOf = new Map<string, number>();

  constructor(source: CorpusSource, options: ImportOptions) {
    this.source = source;
    this.options = options;
  }

  async *stream(): AsyncGenerator<Document> {
    const { idFrom, chunk, countTokens, onDocument } = this.options;
    for await (const found of this.source.documents) {
      const { title, text, metadata, structure } = found;
      const id = idOf(found, idFrom);
      if (idFrom?.by === 'hash' && this.taken.has(id)) {
        this.sameTexts++;
        continue;
      }
      this.taken.add(id, found);
      this.count++;
      if (text.trim() === '' && title.trim() === '') this.empty++;
      const document = metadata === undefined ? { id, title, text } : { id, title, text, metadata };
      onDocument?.(id);
      if (chunk.by === 'none') {
        this.written++;
        yield document;
        continue;
      }
      if (chunkFacts(document) !== undefined)
        throw dataError(found.file, `'${id}' is a chunk already`, 'Import the whole documents, or leave --chunk out.');
      if (clashingKey(document) !== undefined) this.clashing++;
      const spans = chunkText(text, chunk, structure, countTokens);
      this.chunksOf.set(id, spans.length);
      this.written += spans.length;
      for (let n = 0; n < spans.length; n++) yield makeChunk(document, n, { parent: id, ...spans[n] });
    }
  }

  has(id: string): boolean {
    return this.taken.has(id);
  }

  /** What is judged of a document is judged of each of its chunks. */
  withChunks(qrels: Qrels): Qrels {
    if (this.options.chunk.by === 'none') return qrels;
    const out = new Map<string, Map<string, number>>();
    for (const [queryId, documents] of qrels) {
      const row = new Map<string, number>();
      for (const [id, grade] of documents) {
        const chunks = this.chunksOf.get(id);
        if (chunks === undefined) row.set(id, grade);
        else for (let n = 0; n < chunks; n++) row.set(chunkId(id, n), grade);
      }
      out.set(queryId, row);
    }
    return out;
  }
}

function nothingJudged(
  { file, rows, unknownDocuments, unknownQueries, belowThreshold }: JudgementReport,
  rule: ClickRule,
) {
  const first = (names: JudgementReport['unknownQueries']): string =>
    names.listed.length === 0 ? '' : `, e.g. '${names.listed[0].name}'`;
  return new DocOptError(
    'DATA',
    `${file}: none of its ${rows} rows became a judgement: ${unknownDocuments.rows} name unknown documents${first(unknownDocuments)}; ` +
      `${unknownQueries.rows} unknown queries${first(unknownQueries)}; ${belowThreshold} pairs have too few clicks`,
    { hint: `Check --columns and --id-from; clicks count so: ${ruleText(rule)} (--min-clicks).` },
  );
}
