/** What `docopt train` is to do: flags and configuration, completed by the interrupted run that it resumes. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import type { CommandContext } from '../../src/config/command.ts';
import type { ChatPolicySpec as ApiPolicySpec } from '../../src/config/schemas/chat-policy.ts';
import type { trainSchema } from '../../src/config/schemas/mod.ts';
import type { PolicySpec } from '../../src/config/specs.ts';
import type { DocumentText } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { readJsonFile } from '../../src/store/experiment.ts';
import { unfinishedExperiment } from '../../src/store/unfinished.ts';
import { defaultFolder } from '../../src/store/workspace.ts';
import type { ExperimentConfig } from '../experiment-config.ts';
import { type Preset, type TrainChanges, type TrainOptions, trainOptions } from '../options.ts';

export type TrainCommandOptions = z.infer<typeof trainSchema>;

export interface TrainSettings extends Omit<ExperimentConfig, 'policy'> {
  /** Of the experiment. */
  readonly folder: string;
  /** undefined = nobody chose one. */
  readonly policy?: PolicySpec | string;
  /** Starting weights of the edit policy. */
  readonly init?: string;
}

export const CONFIG_FILE = 'config.json';

/** Throws USAGE for what is missing. */
export async function trainSettings(options: TrainCommandOptions, context: CommandContext): Promise<TrainSettings> {
  const folder = options.out ?? (await ownFolder(options, context));
  const saved = options.resume ? await readJsonFile<ExperimentConfig>(join(folder, CONFIG_FILE)) : undefined;
  const keep = <K extends keyof TrainCommandOptions, T>(key: K, before: T | undefined): TrainCommandOptions[K] | T =>
    before !== undefined && !context.given.has(key) ? before : options[key];

  const data = options.data === undefined ? saved?.data : resolve(context.cwd, options.data);
  if (data === undefined && options.resume) {
    throw new DocOptError('USAGE', `there is no training to resume in '${folder}': it holds no ${CONFIG_FILE}`, {
      hint: 'Check --out, or start one: docopt train --data DATA --retriever RETRIEVER',
    });
  }
  if (data === undefined) {
    throw new DocOptError('USAGE', 'which data? --data is missing', {
      hint: 'E.g. docopt train --data DATA --retriever bm25; from a code base: docopt dataset from-code DIR --out DATA',
    });
  }
  const retriever = options.retriever ?? saved?.retriever;
  if (retriever === undefined) {
    throw new DocOptError('USAGE', 'which retriever? --retriever is missing', {
      hint: 'The one that will search the rewritten documents, e.g. --retriever bm25 --set retriever.analyzer=code',
    });
  }
  const chosen = chosenOptions(options);
  const { policy } = options;
  const learner = options.learner ?? saved?.learner;
  const preset = options.preset ?? presetFor(policy);
  const drawn = (more: TrainChanges): TrainOptions =>
    saved === undefined
      ? trainOptions(preset, { ...chosen, ...more })
      : trainOptions(preset, { ...saved.options, ...onlyGiven(chosen, context.given), ...more });
  const scope = options.refresh?.scope ?? saved?.refreshScope;
  return {
    folder,
    data,
    documentText: keep('documentText', saved?.documentText) as DocumentText,
    retriever: withWholePaths(retriever, context.cwd),
    policy: policy === undefined ? saved?.policy : withWholePaths(policy, context.cwd),
    init: options.init,
    ...(learner === undefined ? {} : { learner }),
    ...(scope === undefined ? {} : { refreshScope: scope }),
    options: learner === 'zero-shot' ? { ...drawn({ steps: undefined }), steps: 0 } : drawn({}),
    seeds: options.seeds ?? saved?.seeds,
    split: {
      train: keep('train', saved?.split.train) as number,
      dev: keep('dev', saved?.split.dev) as number,
      by: keep('by', saved?.split.by) as 'query' | 'document',
      seed: keep('splitSeed', saved?.split.seed) as number,
    },
    baselines: keep('baselines', saved?.baselines) as boolean,
  };
}

/** Models that were named by a path have it whole: a training may be resumed from another folder. */
function withWholePaths<T>(value: T, cwd: string): T {
  if (Array.isArray(value)) return value.map((one) => withWholePaths(one, cwd)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const whole = Object.entries(value).map(([key, inner]) => {
    if (key !== 'path' || typeof inner !== 'string') return [key, withWholePaths(inner, cwd)];
    const path = resolve(cwd, inner);
    return [key, existsSync(path) ? path : inner];
  });
  return Object.fromEntries(whole) as T;
}

/** A new folder; to resume, that of the latest training that did not end. */
async function ownFolder({ resume }: TrainCommandOptions, { projectFolder, log }: CommandContext): Promise<string> {
  if (!resume) return defaultFolder(projectFolder, 'experiment', new Date());
  const found = await unfinishedExperiment(projectFolder);
  if (found === undefined) {
    throw new DocOptError(
      'USAGE',
      'which training is to go on? --out is missing and there is no unfinished one under .docopt/',
      {
        hint: 'E.g. docopt train --out experiments/a --resume',
      },
    );
  }
  log.info(`experiment: ${found} (the latest unfinished one)`);
  return found;
}

/** A chat model behind an API: a policy without weights of its own. */
export function isApi(policy: PolicySpec | string | undefined): policy is ApiPolicySpec {
  return typeof policy === 'object' && ['openai', 'anthropic', 'chat'].includes(policy.driver);
}

function presetFor(policy: PolicySpec | string | undefined): Preset {
  if (isApi(policy)) return 'api';
  return typeof policy === 'object' && policy.driver === 'lm' ? 'lm' : 'edit';
}

/** The flags that are settings of the training itself, under the same names. */
function chosenOptions(options: TrainCommandOptions): TrainChanges {
  const {
    data: _data,
    retriever: _retriever,
    policy: _policy,
    out: _out,
    preset: _preset,
    learner: _learner,
    refresh: _refresh,
    train: _train,
    dev: _dev,
    splitSeed: _splitSeed,
    by: _by,
    baselines: _baselines,
    init: _init,
    seeds: _seeds,
    documentText: _documentText,
    resume: _resume,
    dryRun: _dryRun,
    maxCost: _maxCost,
    price: _price,
    cost: _cost,
    offline: _offline,
    wire: _wire,
    ...settings
  } = options;
  return settings;
}

function onlyGiven(options: TrainChanges, given: ReadonlySet<string>): TrainChanges {
  return Object.fromEntries(Object.entries(options).filter(([key]) => given.has(key)));
}
