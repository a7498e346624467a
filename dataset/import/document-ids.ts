import { createHash } from 'node:crypto';
import { pathToId } from '../../src/data/list-files.ts';
import { DataError } from '../../src/data/problem.ts';
import { DocOptError } from '../../src/errors.ts';
import type { SourceDocument } from './source-document.ts';

/** Where ids come from. */
export type IdFrom =
  | { readonly by: 'path' | 'hash' }
  | { readonly by: 'frontmatter' | 'column'; readonly name: string };

/** `path`, `hash`, `frontmatter:KEY`, `column:NAME`. Throws USAGE. */
export function parseIdFrom(text: string): IdFrom {
  if (text === 'path' || text === 'hash') return { by: text };
  const [, by, name] = /^(frontmatter|column):(.+)$/.exec(text) ?? [];
  if (by === 'frontmatter' || by === 'column') return { by, name };
  throw new DocOptError('USAGE', `--id-from ${text} is not understood`, {
    hint: 'Expected path, hash, frontmatter:KEY or column:NAME.',
  });
}

/**
 * The id of a document (rows: `column` is also the `id` of their columns); white space in it is written as in a URL, because ids have none. DATA when the source has none there;
 * USAGE when that kind of source cannot have it.
 */
export function idOf(document: SourceDocument, from: IdFrom | undefined): string {
  switch (from?.by) {
    case undefined:
      return pathToId(named(document, document.id ?? document.path, 'id'));
    case 'path': {
      if (document.path === undefined)
        throw new DocOptError('USAGE', '--id-from path is for formats of which each file is a document', {
          hint: 'Rows have their ids in a column (--id-from column:NAME), or from their text (--id-from hash).',
        });
      return pathToId(document.path);
    }
    case 'hash':
      return textHash(`${document.title}\n${document.text}`);
    case 'frontmatter':
      return pathToId(named(document, document.metadata?.[from.name], from.name));
    case 'column':
      return pathToId(named(document, document.id, from.name));
    default:
      throw new Error(`unknown source of ids ${JSON.stringify(from satisfies never)}`);
  }
}

/** The first 16 digits of the text's sha256. */
export function textHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function named({ file, line, metadata }: SourceDocument, value: unknown, name: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  const keys = Object.keys(metadata ?? {}).filter((key) => key !== 'path');
  throw new DataError({
    severity: 'error',
    file,
    line,
    id: null,
    message:
      value === undefined
        ? `the document has no '${name}' to be its id (it has ${keys.slice(0, 8).join(', ') || 'nothing else'})`
        : `'${name}' is empty or no text or whole number, so it cannot be an id`,
    hint: 'Say where ids are: --columns id=NAME, --id-from column:NAME, frontmatter:KEY, path or hash.',
  });
}

/** Ids that were taken, and by which file and line: for the message when one comes again. */
export class TakenIds {
  private readonly files: string[] = [];
  private readonly fileOf = new Map<string, number>();
  private readonly places = new Map<string, { file: number; line: number }>();

  has(id: string): boolean {
    return this.places.has(id);
  }

  /** DATA naming both places when the id is taken. */
  add(id: string, { file, line }: SourceDocument): void {
    const earlier = this.places.get(id);
    if (earlier !== undefined) {
      const at = (name: string, row: number | null): string => (row === null || row === 0 ? name : `${name}:${row}`);
      throw new DataError({
        severity: 'error',
        file,
        line,
        id,
        message: `duplicate document id '${id}': ${at(this.files[earlier.file], earlier.line)} has it, too`,
        hint: 'Ids must be unique; choose another source of ids (--id-from), or remove one of the two.',
      });
    }
    let number = this.fileOf.get(file);
    if (number === undefined) {
      number = this.files.push(file) - 1;
      this.fileOf.set(file, number);
    }
    this.places.set(id, { file: number, line: line ?? 0 });
  }
}
