export interface UnknownReport {
  /** Rows that name one. */
  readonly rows: number;
  /** Different names, at most as many as are listed are remembered. */
  readonly names: number;
  /** True: there were more names than could be kept. */
  readonly more: boolean;
  /** With the rows of each, those with the most rows first. */
  readonly listed: readonly { readonly name: string; readonly rows: number }[];
}

/** Enough to see what is wrong; a log of a million strange rows must not fill the memory. */
const KEPT = 10_000;

/** Names that judgements have and the data has not. */
export class UnknownNames {
  private readonly rowsOf = new Map<string, number>();
  private rows = 0;
  private more = false;

  add(name: string): void {
    this.rows++;
    const rows = this.rowsOf.get(name);
    if (rows !== undefined || this.rowsOf.size < KEPT) this.rowsOf.set(name, (rows ?? 0) + 1);
    else this.more = true;
  }

  report(): UnknownReport {
    const listed = [...this.rowsOf].map(([name, rows]) => ({ name, rows }));
    // Stable: names with as many rows stay in the order they came in.
    listed.sort((a, b) => b.rows - a.rows);
    return { rows: this.rows, names: listed.length, more: this.more, listed };
  }
}
