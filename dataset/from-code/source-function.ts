/** A function as a parser hands it over, before anyone has judged its comment. */
export interface SourceFunction {
  /** Qualified by its class or object (`Box2.union`), without white space. */
  readonly name: string;
  /** 1-based place of its first character. */
  readonly line: number;
  readonly column: number;
  /** The code as written, without comments and docstrings, dedented. */
  readonly code: string;
  /** Comment texts, markers removed, most trusted first; empty = undocumented. */
  readonly comments: readonly string[];
  /** Its tokens in a form that white space, comments and the module system do not change: equal key and name = a copy. */
  readonly key: string;
}

export type Language = 'javascript' | 'typescript' | 'python';

/** Thrown by a parser that cannot make sense of a file. The message is one line. */
export class UnparsableError extends Error {}
