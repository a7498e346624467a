/** `docopt doctor`: one line per thing that must work, with the remedy when it does not. Nothing makes it stop before the end. */
import { basename } from 'node:path';
import type { z } from 'zod';
import { type CommandContext, defineCommand } from '../../src/config/command.ts';
import { doctorSchema } from '../../src/config/schemas/mod.ts';
import { shortForms } from '../../src/config/specs.ts';
import { loadDataset } from '../../src/data/mod.ts';
import { version } from '../../src/run/version.ts';
import { latest } from '../../src/store/workspace.ts';
import { type Check, type Finding, fault, tried } from './doctor-check.ts';
import { leaving, leavingCheck } from './doctor-leaves.ts';
import { keys, machine, packages, projectFolder, runtime } from './doctor-machine.ts';
import {
  tryIndex,
  tryLatestCorpus,
  tryLatestExperiment,
  tryPolicy,
  tryReranker,
  tryRetriever,
  trySpeed,
} from './doctor-tries.ts';

type Options = z.infer<typeof doctorSchema>;

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'Checks this machine, the configuration and every name in it; one line each, with the remedy.',
  details:
    'Every configured name is tried with one text: what it resolves to, whether it answers, how long it takes. Services are asked\n' +
    'once, so a paid one costs a fraction of a cent. What each command would send to which host is listed. Exit 1 when something\n' +
    'fails.',
  schema: doctorSchema,
  tolerant: true,
  examples: [
    ['docopt doctor', 'everything that the configuration names'],
    ['docopt doctor --retriever lsa', 'what a name resolves to, tried with one text'],
    [
      'docopt doctor --data DATA --json',
      'for scripts: {ok, version, checks: [{name, ok, detail, remedy, ms?}], leaves}',
    ],
  ],
  async run(options, context) {
    const checks = await allChecks(options, context);
    const leaves = leaving(options, context.env);
    checks.push(leavingCheck(leaves, options.offline));
    const ok = checks.every((check) => check.ok);
    return { json: { ok, version, checks, leaves }, text: checks.map(line).join('\n'), exitStatus: ok ? 0 : 1 };
  },
});

async function allChecks(options: Options, context: CommandContext): Promise<Check[]> {
  const { log, env, signal, projectFolder: folder, faults = [] } = context;
  const checks: Check[] = [runtime(), machine(), ...(await packages()), keys(env), projectFolder(folder)];
  const add = async (name: string, work: () => Promise<Finding>): Promise<void> => {
    signal.throwIfAborted();
    const wrong = faults.find((one) => one.name === name);
    checks.push(wrong === undefined ? await tried(name, work) : fault(name, wrong.error));
  };
  const isWrong = (name: string): boolean => faults.some((one) => one.name === name);
  if (!isWrong('configuration')) checks.push(configuration(context.configuration));
  else for (const one of faults) if (one.name === 'configuration') checks.push(fault(one.name, one.error));
  await add('speed', trySpeed);

  const { data, retriever, policy, reranker } = options;
  if (data !== undefined || isWrong('data')) await add('data', () => describeData(data!));
  if (retriever !== undefined || isWrong('retriever')) await add('retriever', () => tryRetriever(retriever!, context));
  if (policy !== undefined || isWrong('policy')) await add('policy', () => tryPolicy(policy!, log, context));
  const index = latest(folder, 'index');
  if (reranker !== undefined || isWrong('reranker'))
    await add('reranker', () => tryReranker(reranker!, index, context));

  const experiment = latest(folder, 'experiment');
  const corpus = latest(folder, 'corpus');
  if (experiment !== undefined) await add('latest experiment', () => tryLatestExperiment(experiment));
  if (corpus !== undefined) await add('latest corpus', () => tryLatestCorpus(corpus));
  if (index !== undefined) await add('latest index', () => tryIndex(index, context));
  checks.push({ name: 'names', ok: true, detail: knownNames(), remedy: '' });
  return checks;
}

function configuration(path: string | undefined): Check {
  const detail = path ?? 'none';
  return { name: 'configuration', ok: true, detail, remedy: path === undefined ? '`docopt init` writes one.' : '' };
}

async function describeData(path: string): Promise<Finding> {
  const { corpus, queries, qrels } = await loadDataset(path);
  return {
    detail: `${basename(path)}: ${corpus.size} documents, ${queries.length} queries, ${qrels.size} of them judged`,
    ...(qrels.size === 0 ? { remedy: 'Training and eval need judgements: docs/data.md' } : {}),
  };
}

function knownNames(): string {
  return (['retriever', 'policy', 'reranker'] as const)
    .map((kind) => `${kind}: ${shortForms(kind).join(' ')}`)
    .join('; ');
}

function line({ name, ok, detail, remedy, ms }: Check): string {
  const time = ms === undefined ? '' : ` (${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms)`;
  return `${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(18)}${detail}${time}${remedy === '' ? '' : `\n      ${''.padEnd(18)}${remedy}`}`;
}
