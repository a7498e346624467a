/** Judgements of a qrels file, of labels in a table, or of a click log. */
import { scanJudgements } from '../../src/data/judgements.ts';
import { pathToId } from '../../src/data/list-files.ts';
import { normaliseQuery } from '../../src/data/mod.ts';
import { DataError, dataError, strictReport } from '../../src/data/problem.ts';
import type { JsonObject } from '../../src/data/row.ts';
import { DocOptError } from '../../src/errors.ts';
import type { Query } from '../../src/types.ts';
import { type ClickRule, gradeOf } from './clicks.ts';
import type { JudgementColumns } from './columns.ts';
import { rowsOf } from './corpus-source.ts';
import { textHash } from './document-ids.ts';
import { formatOf, isRowFormat, unknownFormat } from './formats.ts';
import { type RowPlace, textOf } from './rows.ts';
import { UnknownNames, type UnknownReport } from './unknown-names.ts';

export interface JudgementOptions {
  readonly file: string;
  readonly columns: JudgementColumns;
  readonly encoding: string;
  readonly rule: ClickRule;
  /** undefined: the queries are those of the judgements. */
  readonly queries: readonly Query[] | undefined;
  readonly hasDocument: (id: string) => boolean;
}

export interface JudgementReport {
  readonly file: string;
  readonly kind: 'qrels' | 'labels' | 'clicks';
  /** Rows read. */
  readonly rows: number;
  /** Different pairs of a query and a document, both known. */
  readonly pairs: number;
  /** Pairs with a grade. */
  readonly judged: number;
  /** Pairs with too few clicks. */
  readonly belowThreshold: number;
  readonly clicks?: number;
  readonly unknownDocuments: UnknownReport;
  readonly unknownQueries: UnknownReport;
}

export interface Judgements {
  /** Of documents as the source has them, before any chunking. */
  readonly qrels: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly queries: readonly Query[];
  readonly report: JudgementReport;
}

interface Pair {
  clicks: number;
  label: number | undefined;
}

/** Streams the file: what is kept grows with its different pairs, not with its rows. DATA with file and line. */
export async function readJudgements(options: JudgementOptions): Promise<Judgements> {
  const { rule } = options;
  const gathering = new Gathering(options);
  const kind = await readRows(options, gathering);
  const qrels = new Map<string, Map<string, number>>();
  let pairs = 0;
  let judged = 0;
  for (const [queryId, documents] of gathering.pairs) {
    for (const [documentId, { clicks, label }] of documents) {
      pairs++;
      const grade = label ?? (gradeOf(clicks, rule) || undefined);
      if (grade === undefined) continue;
      judged++;
      let row = qrels.get(queryId);
      if (row === undefined) qrels.set(queryId, (row = new Map()));
      row.set(documentId, grade);
    }
  }
  return {
    qrels,
    queries: options.queries ?? gathering.found.filter(({ id }) => qrels.has(id)),
    report: {
      file: options.file,
      kind,
      rows: gathering.rows,
      pairs,
      judged,
      belowThreshold: pairs - judged,
      ...(kind === 'clicks' ? { clicks: gathering.clicks } : {}),
      unknownDocuments: gathering.unknownDocuments.report(),
      unknownQueries: gathering.unknownQueries.report(),
    },
  };
}

/** Rows as they come, each told to the gathering; answers what kind of file it was. */
async function readRows(options: JudgementOptions, gathering: Gathering): Promise<JudgementReport['kind']> {
  const { file, columns, encoding } = options;
  const named = Object.keys(columns).length > 0;
  const format = formatOf(file);
  const isTable = format !== undefined && isRowFormat(format);
  if (!named && (format === 'tsv' || !isTable)) {
    if (options.queries === undefined)
      throw new DocOptError('USAGE', `${file}: qrels name queries by id, and there are none`, {
        hint: 'Give the queries, too: --queries FILE; or say what the columns are: --columns query=..,id=..,label=..',
      });
    await scanJudgements(file, strictReport(), ({ queryId, documentId, grade }, line) =>
      gathering.add(queryId, documentId, 0, grade, { file, line }),
    );
    return 'qrels';
  }
  if (!isTable) throw unknownFormat(file);
  let names: Named | undefined;
  const wanted = Object.values(columns).filter((name) => name !== undefined);
  for await (const { row, line } of rowsOf(file, format, encoding, LONGEST_ROW, (all) =>
    wanted.length > 0 ? wanted : all,
  )) {
    const place = { file, line };
    names ??= namesOf(row, columns, place);
    if (format === 'jsonl') checkNames(row, names, place);
    const label = names.label === undefined ? '' : textOf(row, names.label, place).trim();
    // A label says it; where there is none, the clicks of the row do. Without a column for them a row is one click.
    const labelled = label !== '' || (names.label !== undefined && names.clicks === undefined);
    gathering.add(
      textOf(row, names.query, place),
      textOf(row, names.id, place),
      labelled ? 0 : names.clicks === undefined ? 1 : clicksOf(textOf(row, names.clicks, place), place),
      labelled ? labelOf(label, place) : undefined,
      place,
    );
  }
  if (names === undefined) throw dataError(file, 'the file has no rows', 'Expected one judgement or click a row.');
  return names.label !== undefined && names.clicks === undefined ? 'labels' : 'clicks';
}

const LONGEST_ROW = 1 << 20;

interface Named {
  readonly query: string;
  readonly id: string;
  readonly clicks?: string;
  readonly label?: string;
}

/** What was asked for, else the columns that bear those names. */
function namesOf(row: JsonObject, asked: JudgementColumns, place: RowPlace): Named {
  const pick = (key: keyof JudgementColumns): string | undefined =>
    asked[key] ?? (Object.keys(asked).length === 0 && Object.hasOwn(row, key) ? key : undefined);
  const [query, id] = [pick('query'), pick('id')];
  if (query === undefined || id === undefined) {
    const missing = query === undefined ? 'query' : 'id';
    throw dataError(
      place.file,
      `which column is the ${missing === 'query' ? 'query' : 'document'}? (its columns: ${Object.keys(row).join(', ')})`,
      `Say so: --columns query=..,id=..,clicks=.. or ,label=..`,
    );
  }
  const names = { query, id, clicks: pick('clicks'), label: pick('label') };
  checkNames(row, names, place);
  return names;
}

function checkNames(row: JsonObject, names: Named, { file, line }: RowPlace): void {
  for (const name of [names.query, names.id, names.clicks, names.label])
    if (name !== undefined && !Object.hasOwn(row, name))
      throw dataError(
        file,
        `line ${line}: no column '${name}' (its columns: ${Object.keys(row).slice(0, 12).join(', ')})`,
        'Check the names in --columns.',
      );
}

function clicksOf(text: string, place: RowPlace): number {
  const clicks = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(clicks) && clicks >= 0) return clicks;
  throw fault(place, `'${text.slice(0, 40)}' is no number of clicks`, 'Clicks are whole numbers, 0 or more.');
}

function labelOf(text: string, place: RowPlace): number {
  const grade = Number(text);
  if (text !== '' && Number.isSafeInteger(grade)) return grade;
  throw fault(place, `the label '${text.slice(0, 40)}' is no grade`, 'Grades are whole numbers, e.g. 0, 1, 2.');
}

function fault({ file, line }: RowPlace, message: string, hint: string): DataError {
  return new DataError({ severity: 'error', file, line, id: null, message, hint });
}

/** Pairs by query and document; a query is known by its id or its text, a document by its id, also before it was written as in a URL. */
class Gathering {
  readonly pairs = new Map<string, Map<string, Pair>>();
  /** Queries met on the way, when the judgements are where they come from. */
  readonly found: Query[] = [];
  readonly unknownDocuments = new UnknownNames();
  readonly unknownQueries = new UnknownNames();
  rows = 0;
  clicks = 0;
  private readonly options: JudgementOptions;
  private readonly byText = new Map<string, string>();
  private readonly ids: ReadonlySet<string>;

  constructor(options: JudgementOptions) {
    this.options = options;
    const { queries = [] } = options;
    this.ids = new Set(queries.map(({ id }) => id));
    for (const { id, text } of queries) {
      const key = normaliseQuery(text);
      if (!this.byText.has(key)) this.byText.set(key, id);
    }
  }

  add(query: string, document: string, clicks: number, label: number | undefined, place: RowPlace): void {
    this.rows++;
    this.clicks += clicks;
    const queryId = this.queryOf(query);
    const documentId = this.documentOf(document);
    if (queryId === undefined) this.unknownQueries.add(query);
    if (documentId === undefined) this.unknownDocuments.add(document);
    if (queryId === undefined || documentId === undefined) return;
    let documents = this.pairs.get(queryId);
    if (documents === undefined) this.pairs.set(queryId, (documents = new Map()));
    const pair = documents.get(documentId);
    if (pair === undefined) documents.set(documentId, { clicks, label });
    else {
      pair.clicks += clicks;
      if (label !== undefined && pair.label !== undefined && label !== pair.label)
        throw fault(
          place,
          `query '${query}' and document '${document}' are judged ${pair.label} before and ${label} here`,
          'Keep one of the two judgements.',
        );
      pair.label ??= label;
    }
  }

  private queryOf(query: string): string | undefined {
    if (this.options.queries !== undefined && this.ids.has(query)) return query;
    const key = normaliseQuery(query);
    const known = this.byText.get(key);
    if (known !== undefined || this.options.queries !== undefined || key === '') return known;
    const id = `q-${textHash(key)}`;
    this.byText.set(key, id);
    this.found.push({ id, text: query.trim() });
    return id;
  }

  private documentOf(id: string): string | undefined {
    if (this.options.hasDocument(id)) return id;
    const written = pathToId(id);
    return written !== id && this.options.hasDocument(written) ? written : undefined;
  }
}
