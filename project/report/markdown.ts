/** The report for a repository or a chat: tables, no pictures. Foreign text is escaped, so that it stays text. */
import { markdown } from './escape.ts';
import { figure, probability, rank, signed } from './numbers.ts';
import type { DocumentChange, ReportModel } from './types.ts';

const MOST_QUERIES = 20;

export function markdownReport(model: ReportModel): string {
  const { metrics, systems, baselines, differences, queries, queryMetric, lengths, chain } = model;
  const blocks = [
    `# ${markdown(model.title)}`,
    `**${markdown(model.verdict.text)}**`,
    bullets(model.facts),
    model.notes.map((note) => `> ${markdown(note)}`).join('\n>\n'),
    systems.length === 0
      ? ''
      : `## Original, zero-shot, trained\n\n${table(
          ['Test queries', ...metrics],
          [...systems, ...baselines].map(({ name, metrics: own }) => [
            name,
            ...metrics.map((metric) => figure(own[metric])),
          ]),
        )}`,
    differences.length === 0
      ? ''
      : `## Differences\n\n${table(
          ['Compared', 'Measure', 'Difference', 'Interval', 'Adjusted p', 'Won / tied / lost'],
          differences.map((one) => [
            `${one.system} against ${one.baseline}`,
            one.metric,
            signed(one.delta),
            `${signed(one.interval[0])} to ${signed(one.interval[1])}`,
            probability(one.adjustedP),
            `${one.wins} / ${one.ties} / ${one.losses}`,
          ]),
        )}`,
    queryMetric === null || queries.length === 0
      ? ''
      : `## Worst queries (${markdown(queryMetric)}, ${Math.min(MOST_QUERIES, queries.length)} of ${queries.length})\n\n${table(
          ['Query', 'Text', 'Original', 'Zero-shot', 'Trained', 'Change'],
          queries
            .slice(0, MOST_QUERIES)
            .map((one) => [
              one.id,
              one.text,
              figure(one.original),
              figure(one.zeroShot),
              figure(one.trained),
              signed(one.trained - one.original),
            ]),
        )}`,
    documents('Documents whose queries lost', model.harmed),
    documents('Documents whose queries won', model.helped),
    lengths === null
      ? ''
      : `## Length in words\n\n${table(
          ['Texts', 'Mean', 'Lower quartile', 'Median', 'Upper quartile'],
          lengths.systems.map(({ name, mean, quartiles }) => [
            name,
            ...[mean, ...quartiles].map((value) => value.toFixed(1)),
          ]),
        )}\n\n${lengths.changed} of ${lengths.documents} documents have another text than the original.`,
    model.costs.length === 0 ? '' : `## Cost and time\n\n${bullets(model.costs)}`,
    chain.length === 0
      ? ''
      : `## Where it comes from\n\n${table(
          ['What', 'Fingerprint', 'Detail'],
          chain.map(({ what, fingerprint, detail }) => [what, fingerprint, detail]),
        )}`,
    model.missing.length === 0
      ? ''
      : `## Not in this report\n\n${model.missing.map((reason) => `- ${markdown(reason)}`).join('\n')}`,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function documents(title: string, changes: readonly DocumentChange[]): string {
  if (changes.length === 0) return '';
  const rows = changes.flatMap(({ id, queries }) =>
    queries.map((one) => [id, one.text, `${rank(one.before)} to ${rank(one.after)}`, signed(one.delta)]),
  );
  return `## ${title}\n\n${table(['Document', 'Query', 'Rank', 'Change'], rows)}`;
}

function bullets(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map(([label, value]) => `- ${markdown(label)}: ${markdown(value)}`).join('\n');
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(markdown).join(' | ')} |`;
  return [line(heads), `|${heads.map(() => ' --- ').join('|')}|`, ...rows.map(line)].join('\n');
}
