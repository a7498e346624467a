/** ' Did you mean 'X'?' for the name with the fewest edits, case aside; '' when none is near. */
export function nearestHint(word: string, names: readonly string[]): string {
  const wanted = word.slice(0, 64).toLowerCase();
  let best = '';
  let fewest = Math.max(1, Math.floor(wanted.length / 2)) + 1;
  for (const name of names) {
    const needed = edits(wanted, name.toLowerCase());
    if (needed < fewest) [best, fewest] = [name, needed];
  }
  return best === '' ? '' : ` Did you mean '${best}'?`;
}

/** Levenshtein distance, one row at a time. */
function edits(a: string, b: string): number {
  const row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    let diagonal = row[0];
    row[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const replaced = diagonal + (a[i - 1] === b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = Math.min(replaced, row[j] + 1, row[j - 1] + 1);
    }
  }
  return row[b.length];
}
