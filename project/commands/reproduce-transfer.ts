/** Table 4: the rewrites of every trained policy, searched by every retriever. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createRetriever } from '../../index/mod.ts';
import { rewriteCorpus } from '../../rewrite/command.ts';
import type { CommandContext } from '../../src/config/command.ts';
import { rewriteCorpusSchema } from '../../src/config/schemas/mod.ts';
import type { RetrieverSpec } from '../../src/config/specs.ts';
import { type Dataset, loadCorpus, resolveSplits } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { evaluate, parseMeasure } from '../../src/metrics/mod.ts';
import { readJsonFile } from '../../src/store/experiment.ts';
import { type ExperimentConfig, runOf, type SeedsReport, type TrainReport } from '../../train/mod.ts';
import type { FinishedCell } from '../reproduce/table.ts';

interface Place {
  /** Of the reproduction. */
  readonly folder: string;
  readonly paths: readonly string[];
  readonly datasets: readonly Dataset[];
  readonly retrievers: readonly RetrieverSpec[];
  readonly measure: string;
}

/** Rewritten corpora go to corpora/CELL; of several seeds the policy with the best dev figure rewrites. */
export async function transferred(
  cells: readonly FinishedCell<TrainReport | SeedsReport>[],
  { folder, paths, datasets, retrievers, measure: name }: Place,
  context: CommandContext,
): Promise<FinishedCell[]> {
  const measure = parseMeasure(name);
  const done: FinishedCell[] = [];
  for (const { cell, report } of cells) {
    const experiment = join(folder, 'cells', cell.id);
    const out = join(folder, 'corpora', cell.id);
    context.log.info(`\n${cell.id}: its rewrites under ${retrievers.length} retrievers`);
    if (!existsSync(join(out, 'manifest.json'))) {
      const options = { data: paths[cell.data], policy: experiment, out };
      await rewriteCorpus(rewriteCorpusSchema.parse(options), { ...context, given: new Set(Object.keys(options)) });
    }
    const config = await readJsonFile<ExperimentConfig>(join(experiment, 'config.json'));
    if (config === undefined)
      throw new DocOptError('ARTEFACT', `${experiment} has lost its config.json`, {
        hint: 'Remove the folder and reproduce again.',
      });
    const corpus = await loadCorpus(out, { documentText: config.documentText });
    const { queries, qrels } = datasets[cell.data];
    const seed = /^seed-\d+/.exec(report.checkpoint.path)?.[0] ?? '';
    const { test } = await resolveSplits(datasets[cell.data], config.split, join(experiment, seed));
    const wanted = new Set(test);
    const asked = queries.filter(({ id }) => wanted.has(id));
    const figures: number[] = [];
    for (const spec of retrievers) {
      context.signal.throwIfAborted();
      const index = await createRetriever(spec, context).build(corpus);
      const run = await runOf(index, asked, measure.cutoff ?? 1000, context.signal);
      figures.push(evaluate(run, qrels, [measure], { queries: test }).mean[measure.name]);
    }
    done.push({ cell, report, transferred: figures });
  }
  return done;
}
