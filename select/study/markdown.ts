/** Tables for people: Markdown that also reads well as plain text. */

export type Align = 'left' | 'right';

/** Columns are as wide as their widest cell. The first column is left-aligned, the others right-aligned. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [header, ...rows].map((row) => row.map((text) => text.replaceAll('|', '\\|')));
  const widths = header.map((_, c) => Math.max(3, ...cells.map((row) => row[c].length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, c) => (c === 0 ? text.padEnd(widths[c]) : text.padStart(widths[c]))).join(' | ')} |`;
  const rule = `| ${widths.map((width, c) => (c === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n');
}

/** A share in percent, one decimal. */
export function percent(value: number): string {
  return Number.isNaN(value) ? '-' : (100 * value).toFixed(1);
}

/** A difference of shares in percentage points, with its sign. */
export function points(value: number): string {
  if (Number.isNaN(value)) return '-';
  const text = (100 * value).toFixed(1);
  return value > 0 && text !== '0.0' ? `+${text}` : text === '-0.0' ? '0.0' : text;
}

/** The best of each column in bold, the second best in italics; values that print alike are marked alike. */
export function markBest(columns: readonly (readonly string[])[]): string[][] {
  return columns.map((column) => {
    const values = [...new Set(column.map(Number).filter((value) => !Number.isNaN(value)))].sort((a, b) => b - a);
    return column.map((text) => {
      const value = Number(text);
      if (column.length < 2 || Number.isNaN(value)) return text;
      return value === values[0] ? `**${text}**` : value === values[1] ? `_${text}_` : text;
    });
  });
}
