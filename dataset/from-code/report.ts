import type { CodeReport } from './from-code.ts';

const NAMED = 3;

/** The report for people: what was read, what became of each function, and where the rest went. */
export function codeReportText(
  report: CodeReport,
  skipped: readonly { readonly path: string; readonly reason: string }[],
  out: string,
): string {
  const { files, functions, queries } = report;
  const languages = Object.entries(files.read).filter(([, count]) => count > 0);
  const rows: [string, number, string][] = [
    [
      'files read',
      languages.reduce((sum, [, count]) => sum + count, 0),
      languages.map(([name, count]) => `${count} ${name}`).join(', '),
    ],
    ...groups(skipped).map(([reason, paths]): [string, number, string] => [
      '  skipped',
      paths.length,
      `${reason}: ${some(paths)}`,
    ]),
  ];
  if (files.unparsable.length > 0) {
    const named = files.unparsable.map(({ path, message }) => `${path} (${message})`);
    rows.push(['  not parsed', named.length, some(named)]);
  }
  rows.push(['functions', functions.found, '']);
  rows.push(['  undocumented', functions.undocumented, '']);
  for (const [reason, count] of Object.entries(functions.refusedComments))
    rows.push(['  no query', count, `comment: ${reason}`]);
  const { sameTokens, sameComment } = functions.copies;
  if (sameTokens + sameComment > 0) {
    rows.push([
      '  copies',
      sameTokens + sameComment,
      `${sameTokens} by their code, ${sameComment} by name and comment`,
    ]);
  }
  if (functions.tooLong.length > 0) rows.push(['  too long', functions.tooLong.length, some(functions.tooLong)]);
  rows.push(['documents', functions.documents, '']);
  rows.push([
    'queries',
    queries.written,
    queries.shared > 0 ? `${queries.shared} of them answered by several documents` : '',
  ]);
  if (queries.givenAway.length > 0) {
    rows.push([
      '  given away',
      queries.givenAway.length,
      `the sentence stands in a document: ${some(queries.givenAway)}`,
    ]);
  }
  const width = Math.max(...rows.map(([, count]) => String(count).length));
  const lines = rows.map(([label, count, note]) =>
    `${label.padEnd(15)} ${String(count).padStart(width)}  ${note}`.trimEnd(),
  );
  return `${lines.join('\n')}\nwrote ${out}`;
}

/** Reason -> paths, the largest group first. */
function groups(skipped: readonly { path: string; reason: string }[]): [string, string[]][] {
  const byReason = new Map<string, string[]>();
  for (const { path, reason } of skipped) byReason.set(reason, [...(byReason.get(reason) ?? []), path]);
  return [...byReason].sort(([, a], [, b]) => b.length - a.length);
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? `${shown}, ... (${names.length - NAMED} more in --json)` : shown;
}
