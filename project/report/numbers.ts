/** How numbers read in every format of a report. */

export function figure(value: number | null | undefined): string {
  return value === null || value === undefined || !Number.isFinite(value) ? 'n/a' : value.toFixed(4);
}

/** With its sign; a true minus, so that columns align. */
export function signed(value: number, digits = 4): string {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return `${value < 0 ? '\u2212' : '+'}${text}`;
}

export function probability(p: number): string {
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

export function rank(value: number | null): string {
  return value === null ? 'not found' : String(value);
}
