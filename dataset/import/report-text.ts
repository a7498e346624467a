import type { ImportReport } from './import-dataset.ts';
import type { JudgementReport } from './judgements.ts';
import type { UnknownReport } from './unknown-names.ts';

const NAMED = 5;

/** What people read after an import: counts, and everything that did not become part of the data set. */
export function importReportText(report: ImportReport, out: string): string {
  const { documents, chunks, skipped, queries, judgements, dataset } = report;
  const rows: [string, number, string][] = [];
  const formats = Object.entries(report.formats).map(
    ([format, files]) => `${format}${files > 1 ? ` (${files} files)` : ''}`,
  );
  rows.push(['documents', documents, formats.join(', ')]);
  if (chunks !== documents) rows.push(['  chunks', chunks, 'their metadata has parent, start, end']);
  if (report.emptyDocuments > 0) rows.push(['  empty', report.emptyDocuments, 'without title and text']);
  if (report.sameTexts > 0) rows.push(['  same text', report.sameTexts, 'kept once']);
  if (report.clashingMetadata > 0)
    rows.push([
      '  metadata',
      report.clashingMetadata,
      'had parent, start, end or headings; those of the chunk stand there',
    ]);
  if (skipped.length > 0)
    rows.push(['  left out', skipped.length, some(skipped.map(({ path, reason }) => `${path} (${reason})`))]);
  rows.push(['queries', queries, '']);
  if (judgements !== null) {
    rows.push(['judgements', judgements.judged, judgements.kind === 'beir' ? '' : readOf(judgements)]);
    if (judgements.kind !== 'beir') {
      if (judgements.belowThreshold > 0)
        rows.push(['  few clicks', judgements.belowThreshold, `pairs below the rule: ${report.clickRule}`]);
      rows.push(
        ...unknown('no document', judgements.unknownDocuments),
        ...unknown('no query', judgements.unknownQueries),
      );
    }
  }
  const width = Math.max(...rows.map(([, count]) => String(count).length));
  const lines = rows.map(([label, count, note]) =>
    `${label.padEnd(13)} ${String(count).padStart(width)}  ${note}`.trimEnd(),
  );
  if (report.clickRule !== null) lines.push(`${report.clickRule}. ${report.notes.join(' ')}`);
  lines.push(`licence: ${dataset.license}`, `wrote ${out}`);
  return lines.join('\n');
}

function readOf({ kind, rows, pairs, clicks }: JudgementReport): string {
  if (kind === 'clicks') return `of ${pairs} pairs, ${clicks} clicks, ${rows} rows`;
  return `of ${rows} rows`;
}

function unknown(label: string, { rows, names, more, listed }: UnknownReport): [string, number, string][] {
  if (rows === 0) return [];
  const shown = some(listed.map((one) => `'${one.name}'`));
  return [[`  ${label}`, rows, `rows with ${more ? 'more than ' : ''}${names} unknown: ${shown}`]];
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? `${shown}, ... (all in import-report.json)` : shown;
}
