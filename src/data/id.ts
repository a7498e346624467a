import type { Report } from './problem.ts';

// White space breaks TREC files, control characters break lines and terminals, lone surrogates do not survive UTF-8.
const FORBIDDEN = /[\s\p{Cc}\p{Cs}]/u;

/** Why a string cannot be an id; undefined when it can. */
export function idFault(id: string): string | undefined {
  if (id === '') return 'the id is empty';
  if (isPlain(id)) return undefined;
  const found = FORBIDDEN.exec(id);
  if (found === null) return undefined;
  const code = found[0].codePointAt(0)!;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  if (/\s/.test(found[0]))
    return `the id ${JSON.stringify(id)} contains white space (${name}), which TREC files cannot carry`;
  return `the id ${JSON.stringify(id)} contains the character ${name}, which files cannot carry`;
}

/** Visible ASCII only: nearly every id, and far cheaper to see than by the expression. */
function isPlain(id: string): boolean {
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i);
    if (code <= 0x20 || code >= 0x7f) return false;
  }
  return true;
}

/** Ids in order of appearance, each once, with the place where it was seen. */
export class IdIndex {
  readonly ids: string[] = [];
  readonly positions = new Map<string, number>();
  private readonly lines: number[] = [];
  private readonly what: string;

  /** `what` = 'document' or 'query', for messages. */
  constructor(what: string) {
    this.what = what;
  }

  /** The new id's position, or -1 after reporting a malformed or a second one. */
  add(id: string, file: string, line: number | null, report: Report): number {
    const fault = idFault(id);
    if (fault !== undefined) {
      report({ severity: 'error', file, line, id, message: fault, hint: 'Give every row an id without white space.' });
      return -1;
    }
    const earlier = this.positions.get(id);
    if (earlier !== undefined) {
      const where = line === null ? '' : `: first on line ${this.lines[earlier]}, again on line ${line}`;
      const message = `duplicate ${this.what} id '${id}'${where}`;
      report({ severity: 'error', file, line, id, message, hint: 'Ids must be unique; remove or rename one of them.' });
      return -1;
    }
    const position = this.ids.length;
    this.ids.push(id);
    this.positions.set(id, position);
    this.lines.push(line ?? 0);
    return position;
  }

  /** Line of the row at a position; 0 where the format has no lines. */
  lineOf(position: number): number {
    return this.lines[position];
  }
}
