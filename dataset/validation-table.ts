import type { Validation } from './validate.ts';

const SHOWN = 100;

/** What people read: errors first, one line each, what to do about each kind, and the totals. */
export function validationTable(path: string, { ok, problems, counts }: Validation): string {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const warnings = problems.filter(({ severity }) => severity === 'warning');
  const shown = [...errors, ...warnings].slice(0, SHOWN);
  const places = shown.map(({ file, line }) => (line === null ? file : `${file}:${line}`));
  const width = Math.min(60, Math.max(0, ...places.map((place) => place.length)));
  const lines = shown.map(
    ({ severity, message, hint }, i) =>
      `${severity.padEnd(7)}  ${places[i].padEnd(width)}  ${message}${hint === '' ? '' : ` - ${hint}`}`,
  );
  const hidden = problems.length - shown.length;
  if (hidden > 0) lines.push(`... and ${hidden} more; --json lists all`);
  const verdict = ok ? 'ok' : 'not usable';
  lines.push(
    `${path}: ${verdict}, ${amount(counts.errors, 'error')}, ${amount(counts.warnings, 'warning')} ` +
      `(${contents(counts)})`,
  );
  return lines.join('\n');
}

function contents({ documents, queries, judgements, rankings, retrieved }: Validation['counts']): string {
  const inQueries = (count: number): string => `${count} ${count === 1 ? 'query' : 'queries'}`;
  if (rankings !== undefined) return `a run: ${amount(retrieved ?? 0, 'document')} for ${inQueries(rankings)}`;
  if (documents + queries === 0 && judgements > 0) return amount(judgements, 'judgement');
  return `${amount(documents, 'document')}, ${inQueries(queries)}, ${amount(judgements, 'judgement')}`;
}

function amount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
