/** What every bench reports: figures with units in their names, and ratios against a peer or an oracle of the same run. */
export interface BenchResult {
  readonly name: string;
  readonly figures: Readonly<Record<string, unknown>>;
  readonly ratio: Readonly<Record<string, number>>;
}
