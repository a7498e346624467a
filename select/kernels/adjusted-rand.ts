/**
 * Adjusted Rand index of two partitions of the same items (Hubert and Arabie 1985): 1 for the same partition, 0 on average
 * for a random one, below 0 for less agreement than chance. Labels are compared for equality only.
 */
export function adjustedRandIndex(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  const both = new Map<string | number, Map<string | number, number>>();
  const rows = new Map<string | number, number>();
  const columns = new Map<string | number, number>();
  a.forEach((label, i) => {
    const row = both.get(label) ?? new Map<string | number, number>();
    both.set(label, row);
    for (const [counts, key] of [
      [row, b[i]],
      [rows, label],
      [columns, b[i]],
    ] as const) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  });
  const pairs = (n: number): number => (n * (n - 1)) / 2;
  const sum = (counts: Iterable<number>): number => [...counts].reduce((total, n) => total + pairs(n), 0);
  const together = [...both.values()].reduce((total, row) => total + sum(row.values()), 0);
  const inA = sum(rows.values());
  const inB = sum(columns.values());
  const expected = a.length < 2 ? 0 : (inA * inB) / pairs(a.length);
  const most = (inA + inB) / 2;
  // Both put everything into one group, or every item into its own: there is nothing to disagree on.
  return most === expected ? 1 : (together - expected) / (most - expected);
}
