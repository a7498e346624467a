/** `docopt report`: an experiment as one page, or as tables for a repository or a paper. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { z } from 'zod';
import { type CommandContext, type CommandResult, defineCommand } from '../../src/config/command.ts';
import { reportSchema } from '../../src/config/schemas/mod.ts';
import { writeFileAtomic } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { latest } from '../../src/store/workspace.ts';
import { htmlReport } from '../report/html.ts';
import { latexReport } from '../report/latex.ts';
import { markdownReport } from '../report/markdown.ts';
import type { ReportModel } from '../report/types.ts';
import { gatherReport } from './report-data.ts';

type Options = z.infer<typeof reportSchema>;

const FORMATS = {
  html: { render: htmlReport, ending: 'html' },
  markdown: { render: markdownReport, ending: 'md' },
  latex: { render: latexReport, ending: 'tex' },
} as const;

export const reportCommand = defineCommand({
  name: 'report',
  summary: 'Draws what a training gave: one self-contained page, or its tables in Markdown or LaTeX.',
  details: `The page loads nothing: verdict, systems with intervals, learning curves, every test query, documents before and after with the queries
that moved, lengths, a map, cost, and the fingerprints of what it was made from. A training that is not finished is drawn as far as it got.
Documents are shown as text, whatever they contain; but they are shown: a report holds passages of the corpus.`,
  schema: reportSchema,
  examples: [
    ['docopt report', 'the latest training: report.html in its folder'],
    ['docopt report experiments/a --out a.html', 'somewhere else'],
    ['docopt report experiments/a --format markdown --out -', 'tables for an issue or a README'],
    ['docopt report experiments/a --data DATA', 'where the data has moved since'],
  ],
  run: (options, context) => writeExperimentReport(options, context),
});

async function writeExperimentReport(options: Options, context: CommandContext): Promise<CommandResult> {
  const { format, out } = options;
  const folder = options.experiment ?? latestExperiment(context);
  if (out === '-' && context.json) {
    throw new DocOptError('USAGE', '--out - and --json both want standard output', {
      hint: 'Choose a file with --out FILE, or leave --json out.',
    });
  }
  const { render, ending } = FORMATS[format];
  const target = out === '-' ? undefined : resolve(context.cwd, out ?? join(folder, `report.${ending}`));
  // In the experiment it is ours to renew; elsewhere a file may be anybody's.
  if (target !== undefined && out !== undefined && !options.force) refuseExisting(target);
  // Tables have no map, which is what takes the time.
  const model = await gatherReport(folder, format === 'html' ? options : { ...options, map: 'none' }, context);
  const text = render(model);
  if (target === undefined) return { text: text.trimEnd() };
  await writeFileAtomic(target, [text]);
  return { json: { report: target, ...summary(model) }, text: `${model.verdict.text}\nwrote ${target}` };
}

function summary({ title, finished, verdict, missing, notes }: ReportModel): Record<string, unknown> {
  return { title, finished, verdict: verdict.text, tone: verdict.tone, missing, notes };
}

function latestExperiment({ projectFolder, log }: CommandContext): string {
  const found = latest(projectFolder, 'experiment');
  if (found === undefined) {
    throw new DocOptError('USAGE', 'which training? None is named, and there is none under .docopt/', {
      hint: 'docopt report EXPERIMENT; docopt train makes one.',
    });
  }
  log.info(`experiment: ${found} (the latest)`);
  return found;
}

function refuseExisting(path: string): void {
  if (!existsSync(path)) return;
  const ours = /^<!doctype html>[\s\S]{0,2000}DocOpt report/.test(readFileSync(path, 'utf8').slice(0, 12_000));
  if (ours) return;
  throw new DocOptError('USAGE', `${basename(path)} is there already`, { hint: 'Choose another --out, or --force.' });
}
