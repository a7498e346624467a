/** Charts as inline SVG: shapes and numbers only, colours by class, so that dark and light are the style sheet's business. */
import { html } from './escape.ts';
import type { Chart, EmbeddingMap, LengthStatistics } from './types.ts';

const WIDTH = 640;
const HEIGHT = 260;
const LEFT = 56;
const RIGHT = 14;
const TOP = 14;
const BOTTOM = 34;
/** More points than this a line do not show on a page; a line keeps the extremes of each stretch. */
const MOST_POINTS = 400;

export function lineChart({ title, series, xLabel }: Chart): string {
  const points = series.flatMap((one) => one.points);
  if (points.length === 0) return '';
  const x = scale(extent(points.map(([at]) => at)), LEFT, WIDTH - RIGHT);
  const y = scale(padded(extent(points.map(([, value]) => value))), HEIGHT - BOTTOM, TOP);
  const lines = series.map(({ style, points: own, marked }) => {
    const path = thinned(own)
      .map(([at, value], i) => `${i === 0 ? 'M' : 'L'}${round(x.of(at))} ${round(y.of(value))}`)
      .join('');
    const dots =
      marked || own.length === 1
        ? own.map(
            ([at, value]) => `<circle class="${style}" cx="${round(x.of(at))}" cy="${round(y.of(value))}" r="3.5"/>`,
          )
        : [];
    return `<path class="line ${style}" d="${path}"/>${dots.join('')}`;
  });
  return figureOf(
    title,
    `${axes(x, y, xLabel)}${lines.join('')}`,
    legend(series.map(({ name, style }) => [name, style])),
  );
}

/** Bars side by side, one group a bin. */
export function histogram({ edges, systems }: LengthStatistics): string {
  const most = Math.max(1, ...systems.flatMap(({ counts }) => counts));
  const group = (WIDTH - LEFT - RIGHT) / edges.length;
  const bar = (group * 0.8) / systems.length;
  const y = scale([0, most], HEIGHT - BOTTOM, TOP);
  const bars = systems.flatMap(({ counts }, s) =>
    counts.map((count, b) => {
      const top = y.of(count);
      return `<rect class="s${s + 1}" x="${round(LEFT + b * group + group * 0.1 + s * bar)}" y="${round(top)}" width="${round(bar)}" height="${round(HEIGHT - BOTTOM - top)}"/>`;
    }),
  );
  const every = Math.ceil(edges.length / 12);
  const labels = edges
    .map((edge, b) => (b % every === 0 ? tick(LEFT + b * group, HEIGHT - BOTTOM + 16, String(edge), 'middle') : ''))
    .join('');
  const horizontal = y.ticks.map((value) => gridLine(y.of(value), value)).join('');
  const title = `<text class="tick" x="${WIDTH - RIGHT}" y="${HEIGHT - 4}" text-anchor="end">words</text>`;
  return figureOf(
    'Documents by length',
    `${horizontal}${bars.join('')}${labels}${title}`,
    legend(systems.map(({ name }, s) => [name, `s${s + 1}`])),
  );
}

export function scatter({ title, points }: EmbeddingMap): string {
  const size = 520;
  const x = scale(padded(extent(points.map((point) => point.x))), 10, size - 10);
  const y = scale(padded(extent(points.map((point) => point.y))), size - 10, 10);
  const place = (point: { x: number; y: number }): [number, number] => [round(x.of(point.x)), round(y.of(point.y))];
  const originals = points.filter(({ kind }) => kind === 'original');
  const rewrites = points.filter(({ kind }) => kind === 'rewrite');
  const moves = originals.map((from, i) => {
    const [x1, y1] = place(from);
    const [x2, y2] = place(rewrites[i]);
    return x1 === x2 && y1 === y2 ? '' : `M${x1} ${y1}L${x2} ${y2}`;
  });
  const circles = (kind: string, style: string, r: number): string =>
    points
      .filter((point) => point.kind === kind)
      .map((point) => place(point))
      .map(([cx, cy]) => `<circle class="${style}" cx="${cx}" cy="${cy}" r="${r}"/>`)
      .join('');
  const diamonds = points
    .filter(({ kind }) => kind === 'query')
    .map((point) => place(point))
    .map(([cx, cy]) => `<path class="s4" d="M${cx} ${cy - 4}l4 4l-4 4l-4 -4z"/>`)
    .join('');
  return figureOf(
    title,
    `<path class="move" d="${moves.join('')}"/>${circles('original', 's1', 3)}${circles('rewrite', 's3', 3)}${diamonds}`,
    legend([
      ['originals', 's1'],
      ['rewrites', 's3'],
      ['queries', 's4'],
    ]),
    size,
    size,
  );
}

/** A bar from 0 to the interval of a difference, as a share of the widest. */
export function intervalBar(delta: number, [low, high]: readonly [number, number], most: number): string {
  const middle = 60;
  const at = (value: number): number => round(middle + (value / (most || 1)) * 56);
  return (
    `<svg class="interval" viewBox="0 0 120 16" aria-hidden="true"><path class="axis" d="M${middle} 1V15"/>` +
    `<path class="range" d="M${at(low)} 8H${at(high)}"/><circle class="${delta < 0 ? 'bad' : 'good'}" cx="${at(delta)}" cy="8" r="4"/></svg>`
  );
}

interface Scale {
  of(value: number): number;
  readonly ticks: readonly number[];
}

function scale([low, high]: readonly [number, number], from: number, to: number): Scale {
  const span = high - low || 1;
  const step = niceStep(span / 4);
  const ticks: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(i * step);
  return { of: (value) => from + ((value - low) / span) * (to - from), ticks };
}

/** 1, 2 or 5 times a power of ten. */
function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

function extent(values: readonly number[]): [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

function padded([low, high]: readonly [number, number]): [number, number] {
  const pad = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  return [low - pad, high + pad];
}

/** First, last, lowest and highest of each stretch, in order. */
function thinned(points: Chart['series'][number]['points']): Chart['series'][number]['points'] {
  if (points.length <= MOST_POINTS) return points;
  const stretch = Math.ceil((points.length * 4) / MOST_POINTS);
  const kept: (readonly [number, number])[] = [];
  for (let start = 0; start < points.length; start += stretch) {
    const part = points.slice(start, start + stretch);
    const byValue = [...part].sort((a, b) => a[1] - b[1]);
    kept.push(...new Set([part[0], byValue[0], byValue.at(-1)!, part.at(-1)!]));
  }
  return kept.sort((a, b) => a[0] - b[0]);
}

function axes(x: Scale, y: Scale, xLabel: string): string {
  const horizontal = y.ticks.map((value) => gridLine(y.of(value), value)).join('');
  const vertical = x.ticks
    .filter((value) => Number.isInteger(value))
    .map((value) => tick(x.of(value), HEIGHT - BOTTOM + 16, String(value), 'middle'))
    .join('');
  return `${horizontal}${vertical}<text class="tick" x="${WIDTH - RIGHT}" y="${HEIGHT - 4}" text-anchor="end">${html(xLabel)}</text>`;
}

function gridLine(at: number, value: number): string {
  return `<path class="grid" d="M${LEFT} ${round(at)}H${WIDTH - RIGHT}"/>${tick(LEFT - 6, at + 4, plain(value), 'end')}`;
}

function tick(x: number, y: number, text: string, anchor: string): string {
  return `<text class="tick" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${html(text)}</text>`;
}

function legend(entries: readonly (readonly [name: string, style: string])[]): string {
  const items = entries.map(([name, style]) => `<span><i class="${style}"></i>${html(name)}</span>`);
  return `<div class="legend">${items.join('')}</div>`;
}

function figureOf(title: string, content: string, below: string, width = WIDTH, height = HEIGHT): string {
  return (
    `<figure><figcaption>${html(title)}</figcaption><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${html(title)}">` +
    `${content}</svg>${below}</figure>`
  );
}

function plain(value: number): string {
  return String(Number(value.toPrecision(6)));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
