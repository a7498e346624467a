/**
 * One self-contained page: no network, no markup from outside. All foreign text passes `html()`, and a content security
 * policy allows the page's own style and script by their hashes and nothing else.
 */
import { createHash } from 'node:crypto';
import { histogram, intervalBar, lineChart, scatter } from './charts.ts';
import { html } from './escape.ts';
import { figure, probability, rank, signed } from './numbers.ts';
import { SCRIPT, STYLE } from './style.ts';
import type { DiffPart, DocumentChange, ReportModel, SystemRow } from './types.ts';

/** More rows than this make a page that phones cannot sort; the JSON has them all. */
const MOST_QUERIES = 2_000;
/** Unchanged text on either side of a change. */
const CONTEXT = 160;

export function htmlReport(model: ReportModel): string {
  const policy = `default-src 'none'; style-src '${hashOf(STYLE)}'; script-src '${hashOf(SCRIPT)}'; base-uri 'none'; form-action 'none'`;
  const parts = [
    systemsSection(model),
    curvesSection(model),
    queriesSection(model),
    documentsSection(model),
    lengthsSection(model),
    mapSection(model),
    section('Cost and time', definitions(model.costs)),
    chainSection(model),
    model.missing.length === 0 ? '' : section('Not in this report', list(model.missing)),
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="referrer" content="no-referrer">
<title>${html(model.title)}</title><style>${STYLE}</style></head>
<body><main><header><p class="over">DocOpt report</p><h1>${html(model.title)}</h1>
<p class="verdict ${model.verdict.tone}">${html(model.verdict.text)}</p>${definitions(model.facts)}${list(model.notes)}</header>
${parts.filter((part) => part !== '').join('\n')}
<footer>This page holds everything it shows: it loads nothing and sends nothing. Documents and queries are shown as text; control characters and marks that turn the reading direction are written as \\uXXXX.</footer>
</main><script>${SCRIPT}</script></body></html>
`;
}

function hashOf(content: string): string {
  return `sha256-${createHash('sha256').update(content).digest('base64')}`;
}

function section(title: string, content: string): string {
  return content === '' ? '' : `<section><h2>${html(title)}</h2>${content}</section>`;
}

function definitions(pairs: readonly (readonly [string, string])[]): string {
  if (pairs.length === 0) return '';
  return `<dl>${pairs.map(([label, value]) => `<dt>${html(label)}</dt><dd>${html(value)}</dd>`).join('')}</dl>`;
}

function list(items: readonly string[]): string {
  return items.length === 0 ? '' : `<ul class="note">${items.map((item) => `<li>${html(item)}</li>`).join('')}</ul>`;
}

interface Head {
  readonly text: string;
  readonly numeric?: boolean;
}

function table(heads: readonly Head[], rows: readonly string[], sortable = false): string {
  const cells = heads.map(({ text, numeric }) => {
    const content = sortable ? `<button type="button">${html(text)}</button>` : html(text);
    return `<th scope="col"${numeric ? ' class="n"' : ''}>${content}</th>`;
  });
  return `<div class="scroll"><table${sortable ? ' class="sort"' : ''}><thead><tr>${cells.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

const numeric = (text: string): Head => ({ text, numeric: true });

/** `value` sorts; the text is what is read. */
function number(text: string, value: number | null | undefined, style = ''): string {
  const sort = value === null || value === undefined || !Number.isFinite(value) ? '-1e9' : String(value);
  return `<td class="n${style === '' ? '' : ` ${style}`}" data-v="${sort}">${html(text)}</td>`;
}

function change(delta: number): string {
  return number(signed(delta), delta, delta > 0 ? 'good' : delta < 0 ? 'bad' : '');
}

function systemsSection({ metrics, systems, baselines, differences }: ReportModel): string {
  if (systems.length === 0) return '';
  const row = ({ name, metrics: own, deviations, note }: SystemRow, main: boolean): string =>
    `<tr${main ? ' class="main"' : ''}><td class="q">${html(name)}${note === undefined ? '' : `<br><span class="note">${html(note)}</span>`}</td>${metrics
      .map((metric) => {
        const spread = deviations?.[metric];
        const text = figure(own[metric]) + (spread === undefined || spread === null ? '' : ` \u00b1 ${figure(spread)}`);
        return number(text, own[metric]);
      })
      .join('')}</tr>`;
  const heads = [{ text: 'Test queries' }, ...metrics.map(numeric)];
  const means = table(heads, [
    ...systems.map((system, i) => row(system, i === systems.length - 1)),
    ...baselines.map((system) => row(system, false)),
  ]);
  const most = Math.max(...differences.flatMap(({ interval }) => interval.map(Math.abs)), 0);
  const tested = differences.map(
    (one) =>
      `<tr><td class="q">${html(`${one.system} against ${one.baseline}, ${one.metric}`)}</td>${change(one.delta)}` +
      `<td>${intervalBar(one.delta, one.interval, most)}</td>${number(`${signed(one.interval[0])} to ${signed(one.interval[1])}`, one.interval[0])}` +
      `${number(probability(one.adjustedP), one.adjustedP)}${number(`${one.wins} / ${one.ties} / ${one.losses}`, one.wins)}</tr>`,
  );
  const level = differences.length === 0 ? 95 : Math.round(differences[0].level * 100);
  const comparisons =
    tested.length === 0
      ? ''
      : `<h3>Differences</h3>${table(
          [
            { text: 'Compared' },
            numeric('Difference'),
            { text: '' },
            numeric(`${level} % interval`),
            numeric('Adjusted p'),
            numeric('Won / tied / lost'),
          ],
          tested,
        )}<p class="note">Paired over queries: bootstrap intervals, randomisation tests, p adjusted by Benjamini and Hochberg over this table.</p>`;
  return section('Original, zero-shot, trained', `${means}${comparisons}`);
}

function curvesSection({ charts }: ReportModel): string {
  return section(
    'Learning curves',
    charts.length === 0 ? '' : `<div class="pair">${charts.map(lineChart).join('')}</div>`,
  );
}

function queriesSection({ queries, queryMetric }: ReportModel): string {
  if (queryMetric === null || queries.length === 0) return '';
  const count = (test: (delta: number) => boolean): number =>
    queries.filter(({ trained, original }) => test(trained - original)).length;
  const rows = queries
    .slice(0, MOST_QUERIES)
    .map(
      ({ id, text, original, zeroShot, trained }) =>
        `<tr><td class="q" dir="auto">${html(text)}<br><code>${html(id)}</code></td>${number(figure(original), original)}` +
        `${number(figure(zeroShot), zeroShot)}${number(figure(trained), trained)}${change(trained - original)}</tr>`,
    );
  const heads = [{ text: 'Query' }, numeric('Original'), numeric('Zero-shot'), numeric('Trained'), numeric('Change')];
  const all = table(heads, rows, true);
  const summary = `${count((d) => d > 0)} better, ${count((d) => d === 0)} equal, ${count((d) => d < 0)} worse`;
  const cut = queries.length > MOST_QUERIES ? ` The ${MOST_QUERIES} worst of ${queries.length} are listed.` : '';
  return section(
    `Query by query (${queryMetric})`,
    `<p>${html(summary)}, the worst first; press a heading to sort.${cut}</p><details open><summary>${queries.length} test queries</summary><div class="tall">${all}</div></details>`,
  );
}

function documentsSection({ helped, harmed }: ReportModel): string {
  const block = (title: string, documents: readonly DocumentChange[]): string =>
    documents.length === 0
      ? ''
      : `<h3>${html(title)}</h3>${documents.map((one, i) => documentBlock(one, i === 0)).join('')}`;
  return section(
    'What changed in documents',
    `${block('Where queries lost', harmed)}${block('Where queries won', helped)}`,
  );
}

function documentBlock({ id, title, diff, queries, delta }: DocumentChange, open: boolean): string {
  const moved = queries.map(
    ({ id: query, text, before, after, delta: own }) =>
      `<tr><td class="q" dir="auto">${html(text)}<br><code>${html(query)}</code></td>${number(`${rank(before)} \u2192 ${rank(after)}`, after)}${change(own)}</tr>`,
  );
  const name = title === '' ? '' : ` <bdi>${html(title)}</bdi>`;
  return (
    `<details${open ? ' open' : ''}><summary><code>${html(id)}</code>${name} <span class="${delta < 0 ? 'bad' : 'good'}">${signed(delta)}</span></summary>` +
    `${moved.length === 0 ? '' : table([{ text: 'Query it answers' }, numeric('Rank'), numeric('Change')], moved)}` +
    `<p class="diff" dir="auto">${diff.map((part, i) => diffPart(part, i, diff.length)).join('')}</p></details>`
  );
}

function diffPart({ kind, text }: DiffPart, i: number, parts: number): string {
  if (kind === 'added') return `<ins>${html(text)}</ins>`;
  if (kind === 'removed') return `<del>${html(text)}</del>`;
  if (text.length <= 2 * CONTEXT + 20) return html(text);
  const head = i === 0 ? '' : text.slice(0, CONTEXT);
  const tail = i === parts - 1 ? '' : text.slice(-CONTEXT);
  return `${html(head)}<span class="gap"> \u2026 ${text.length - head.length - tail.length} characters \u2026 </span>${html(tail)}`;
}

function lengthsSection({ lengths }: ReportModel): string {
  if (lengths === null) return '';
  const rows = lengths.systems.map(
    ({ name, mean, quartiles }) =>
      `<tr><td class="q">${html(name)}</td>${number(mean.toFixed(1), mean)}${quartiles.map((value) => number(value.toFixed(1), value)).join('')}</tr>`,
  );
  const heads = [
    { text: 'Words' },
    numeric('Mean'),
    numeric('Lower quartile'),
    numeric('Median'),
    numeric('Upper quartile'),
  ];
  const changed = `${lengths.changed} of ${lengths.documents} documents have another text than the original.`;
  return section('Length', `<p>${changed}</p>${histogram(lengths)}${table(heads, rows)}`);
}

function mapSection({ maps, mapNote }: ReportModel): string {
  if (maps.length === 0) return '';
  return section(
    'Queries, originals, rewrites',
    `<p class="note">${html(mapNote)}</p><div class="pair">${maps.map(scatter).join('')}</div>`,
  );
}

function chainSection({ chain }: ReportModel): string {
  const rows = chain.map(
    ({ what, fingerprint, detail }) =>
      `<tr><td>${html(what)}</td><td><code>${html(fingerprint)}</code></td><td class="q">${html(detail)}</td></tr>`,
  );
  if (rows.length === 0) return '';
  return section('Where it comes from', table([{ text: 'What' }, { text: 'Fingerprint' }, { text: 'Detail' }], rows));
}
