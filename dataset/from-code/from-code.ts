import { normaliseQuery } from '../../src/data/splits.ts';
import { compareIds } from '../../src/kernels/compare.ts';
import { deriveSeed } from '../../src/kernels/rng.ts';
import type { Document, Qrels, Query } from '../../src/types.ts';
import { type CommentRefusal, describeComment } from './comment.ts';
import { buildRank, createCopyCheck } from './duplicates.ts';
import { javascriptFunctions, javascriptLanguage } from './javascript.ts';
import { leakedSentences } from './leaks.ts';
import { pythonFunctions } from './python.ts';
import { type Language, type SourceFunction, UnparsableError } from './source-function.ts';

/** The files of a code base, however they are stored. Paths are relative, with `/`. */
export interface CodeBase {
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** The text, or why there is none ('binary', 'not UTF-8', ...). */
  read(path: string): Promise<{ readonly text: string } | { readonly skipped: string }>;
}

export interface FromCodeOptions {
  /** Default: all. */
  readonly languages?: readonly Language[];
  /** Shorter sentences are no queries. Default 3. */
  readonly fewestWords?: number;
  /** Functions whose code is longer (characters) are left out: mostly wrappers of whole programs. Default 50,000. */
  readonly maxFunctionLength?: number;
  /** Called before each file. */
  readonly onFile?: (path: string) => void;
}

export interface CodeDataset {
  readonly documents: readonly Document[];
  readonly queries: readonly Query[];
  readonly qrels: Qrels;
  readonly report: CodeReport;
}

/** What became of everything that was read. `found` is the sum of what follows it. */
export interface CodeReport {
  readonly files: {
    readonly read: Readonly<Record<Language, number>>;
    readonly skipped: readonly { readonly path: string; readonly reason: string }[];
    readonly unparsable: readonly { readonly path: string; readonly message: string }[];
  };
  readonly functions: {
    readonly found: number;
    readonly documents: number;
    readonly undocumented: number;
    readonly refusedComments: Readonly<Partial<Record<CommentRefusal, number>>>;
    readonly copies: { readonly sameTokens: number; readonly sameComment: number };
    readonly tooLong: readonly string[];
  };
  readonly queries: {
    readonly written: number;
    /** Queries that several functions answer. */
    readonly shared: number;
    /** Sentences that a document holds, in a string for example; they became no queries. */
    readonly givenAway: readonly string[];
  };
}

interface Found {
  readonly path: string;
  readonly language: Language;
  readonly source: SourceFunction;
  readonly sentence: string;
}

/**
 * Documented functions as a retrieval data set: the code without its comments is the document, the first sentence of its
 * comment the query. Copies count once; different functions with the same sentence answer the same query. The same
 * files give the same data set, whatever order they are listed in.
 */
export async function fromCode(base: CodeBase, options: FromCodeOptions = {}): Promise<CodeDataset> {
  const collected = await collect(base, options);
  const found = collected.found.sort(
    (a, b) => compareIds(a.path, b.path) || a.source.line - b.source.line || a.source.column - b.source.column,
  );
  const ids = uniqueIds(found);
  const documents = found.map(({ path, language, source }, i) => ({
    id: ids[i],
    title: '',
    text: source.code,
    metadata: { file: path, line: source.line, name: source.name, language },
  }));

  const asked = new Map<string, { text: string; ids: string[] }>();
  found.forEach(({ sentence }, i) => {
    const same = asked.get(queryKey(sentence));
    if (same) same.ids.push(ids[i]);
    else asked.set(queryKey(sentence), { text: sentence, ids: [ids[i]] });
  });
  const entries = [...asked.entries()];
  const leaked = leakedSentences(
    entries.map(([, { text }]) => text),
    documents.map(({ text }) => text),
  );

  const queries: Query[] = [];
  const qrels = new Map<string, Map<string, number>>();
  for (const [key, { text, ids: relevant }] of entries.filter((_, i) => !leaked.has(i))) {
    const id = queryId(key, qrels);
    queries.push({ id, text });
    qrels.set(id, new Map(relevant.map((documentId) => [documentId, 1])));
  }
  return {
    documents,
    queries,
    qrels,
    report: {
      files: collected.files,
      functions: { ...collected.functions, documents: documents.length },
      queries: {
        written: queries.length,
        shared: queries.filter(({ id }) => qrels.get(id)!.size > 1).length,
        givenAway: [...leaked].sort((a, b) => a - b).map((i) => entries[i][1].text),
      },
    },
  };
}

type Collected = Omit<CodeReport, 'queries' | 'functions'> & {
  readonly found: Found[];
  readonly functions: Omit<CodeReport['functions'], 'documents'>;
};

async function collect(base: CodeBase, options: FromCodeOptions): Promise<Collected> {
  const { languages, fewestWords, maxFunctionLength = 50_000, onFile } = options;
  const paths = new Set(base.files.map(({ path }) => path));
  const read: Record<Language, number> = { javascript: 0, typescript: 0, python: 0 };
  const skipped: { path: string; reason: string }[] = [];
  const unparsable: { path: string; message: string }[] = [];
  const refusedComments: Partial<Record<CommentRefusal, number>> = {};
  const tooLong: string[] = [];
  const copies = { sameTokens: 0, sameComment: 0 };
  const found: Found[] = [];
  const copyCheck = createCopyCheck();
  let all = 0;
  let undocumented = 0;

  const functionsOf = async (path: string): Promise<SourceFunction[] | undefined> => {
    const content = await base.read(path);
    if ('skipped' in content) {
      skipped.push({ path, reason: content.skipped });
      return undefined;
    }
    try {
      // Line ends differ between checkouts of one repository; the data set must not.
      const text = content.text.replace(/\r\n?/g, '\n');
      return languageOf(path) === 'python' ? pythonFunctions(text) : javascriptFunctions(path, text);
    } catch (error) {
      if (!(error instanceof UnparsableError)) throw error;
      unparsable.push({ path, message: error.message });
      return undefined;
    }
  };

  for (const { path } of inOrderOfTrust(base.files)) {
    const language = languageOf(path);
    if (languages && !languages.includes(language)) continue;
    onFile?.(path);
    const functions = await functionsOf(path);
    if (!functions) continue;
    read[language]++;
    const inherited = await declaredComments(path, functions, paths, functionsOf);
    for (const source of functions) {
      if (source.code === '') continue;
      all++;
      const comments = source.comments.length > 0 ? source.comments : (inherited.get(source.name) ?? []);
      if (comments.length === 0) {
        undocumented++;
        continue;
      }
      const described = firstDescription(comments, fewestWords);
      if ('refused' in described) {
        refusedComments[described.refused] = (refusedComments[described.refused] ?? 0) + 1;
        continue;
      }
      if (source.code.length > maxFunctionLength) {
        tooLong.push(`${path}#${source.name}`);
        continue;
      }
      const copy = copyCheck.check({ path, name: source.name, key: source.key, comment: described.comment });
      if (copy === 'tokens') copies.sameTokens++;
      else if (copy === 'comment') copies.sameComment++;
      else found.push({ path, language, source, sentence: described.sentence });
    }
  }
  const byPath = (a: { path: string }, b: { path: string }): number => compareIds(a.path, b.path);
  return {
    found,
    files: { read, skipped: skipped.sort(byPath), unparsable: unparsable.sort(byPath) },
    functions: { found: all, undocumented, refusedComments, copies, tooLong: tooLong.sort(compareIds) },
  };
}

/** Sources before builds and small files before large: of copies the first is kept. Type declarations have no code. */
function inOrderOfTrust(files: CodeBase['files']): CodeBase['files'] {
  return files
    .filter(({ path }) => !isDeclarations(path))
    .map((file) => ({ ...file, rank: buildRank(file.path) }))
    .sort((a, b) => a.rank - b.rank || a.bytes - b.bytes || compareIds(a.path, b.path));
}

/** Endings of the files that can be read. */
export const SOURCE_EXTENSIONS: readonly string[] = '.js .mjs .cjs .jsx .ts .mts .cts .tsx .py'.split(' ');

function languageOf(path: string): Language {
  return path.endsWith('.py') ? 'python' : javascriptLanguage(path);
}

function isDeclarations(path: string): boolean {
  return /\.d\.[mc]?ts$/.test(path);
}

/**
 * Comments by function name for functions that have none of their own: those of an overload above the body, and those in
 * the `.d.ts` file beside a `.js` file, where TypeScript packages keep them.
 */
async function declaredComments(
  path: string,
  functions: readonly SourceFunction[],
  paths: ReadonlySet<string>,
  functionsOf: (path: string) => Promise<SourceFunction[] | undefined>,
): Promise<Map<string, readonly string[]>> {
  const byName = new Map<string, string[]>();
  const learn = (sources: readonly SourceFunction[]): void => {
    for (const { code, name, comments } of sources) {
      if (code === '' && comments.length > 0) byName.set(name, [...(byName.get(name) ?? []), ...comments]);
    }
  };
  learn(functions);
  const script = /^(.*)\.([mc]?)jsx?$/.exec(path);
  if (script && functions.some(({ comments }) => comments.length === 0)) {
    const beside = [`${script[1]}.d.${script[2]}ts`, `${script[1]}.d.ts`].find((candidate) => paths.has(candidate));
    if (beside !== undefined) learn((await functionsOf(beside)) ?? []);
  }
  return byName;
}

function firstDescription(
  comments: readonly string[],
  fewestWords: number | undefined,
): { sentence: string; comment: string } | { refused: CommentRefusal } {
  let refused: CommentRefusal | undefined;
  for (const comment of comments) {
    const described = describeComment(comment, fewestWords);
    if ('sentence' in described) return { sentence: described.sentence, comment };
    refused ??= described.refused;
  }
  return { refused: refused ?? 'no description' };
}

/** `path#name`; a name that comes again in its file gets its line, and if need be its column. */
function uniqueIds(found: readonly Found[]): string[] {
  const taken = new Set<string>();
  return found.map(({ path, source }) => {
    const base = `${path}#${source.name}`.replace(/[\s\p{Cc}]/gu, (character) => encodeURIComponent(character));
    const choices = [base, `${base}:${source.line}`, `${base}:${source.line}:${source.column}`];
    const id = choices.find((choice) => !taken.has(choice)) ?? `${base}:${source.line}:${source.column}:${taken.size}`;
    taken.add(id);
    return id;
  });
}

/** Queries that differ in case, white space or the closing stop are one. */
function queryKey(sentence: string): string {
  return normaliseQuery(sentence).replace(/[.!?。！？]+$/u, '');
}

/** From the text alone: files may move and functions be added without changing the id that a saved split knows. */
function queryId(key: string, taken: ReadonlyMap<string, unknown>): string {
  const half = (seed: number): string => deriveSeed(seed, key).toString(16).padStart(8, '0');
  let id = `q${half(1)}${half(2)}`;
  while (taken.has(id)) id += 'x';
  return id;
}
