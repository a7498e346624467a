/** `docopt doctor`: one line per thing that must work, with the remedy when it does not. */
import { accessSync, constants } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { createRetriever } from '../../index/mod.ts';
import { type CommandContext, defineCommand } from '../../src/config/command.ts';
import { doctorSchema } from '../../src/config/schemas/mod.ts';
import { describeSpec } from '../../src/config/spec-names.ts';
import { shortForms } from '../../src/config/specs.ts';
import { arrayCorpus, loadDataset } from '../../src/data/mod.ts';
import { toDocOptError } from '../../src/errors.ts';
import { version } from '../../src/run/version.ts';
import { openArtefact } from '../../src/store/artefact.ts';
import { readExperiment } from '../../src/store/experiment.ts';
import { latest } from '../../src/store/workspace.ts';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do; '' when nothing. */
  readonly remedy: string;
}

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'Checks this machine, the configuration and every name in it; one line each, with the remedy.',
  schema: doctorSchema,
  examples: [
    ['docopt doctor', 'everything that the configuration names'],
    ['docopt doctor --retriever lsa', 'what a name resolves to, tried with one text'],
    ['docopt doctor --data DATA --json', 'for scripts; exit 1 when something fails'],
  ],
  async run(options, context) {
    const checks: Check[] = [runtime(), machine(), writable(context.projectFolder)];
    const attempt = async (name: string, work: () => Promise<string> | string): Promise<void> => {
      try {
        checks.push({ name, ok: true, detail: await work(), remedy: '' });
      } catch (thrown) {
        const error = toDocOptError(thrown);
        checks.push({ name, ok: false, detail: error.message, remedy: error.hint });
      }
    };
    const { data, retriever } = options;
    if (data !== undefined) {
      await attempt('data', async () => {
        const { corpus, queries, qrels } = await loadDataset(data);
        return `${data}: ${corpus.size} documents, ${queries.length} queries, ${qrels.size} of them judged`;
      });
    }
    if (retriever !== undefined) await attempt('retriever', () => tryRetriever(retriever, context));
    if (options.policy !== undefined) {
      const { policy } = options;
      await attempt('policy', () =>
        typeof policy === 'string' ? describeExperiment(policy) : describeSpec('policy', policy),
      );
    }
    if (options.reranker !== undefined)
      checks.push({ name: 'reranker', ok: true, detail: describeSpec('reranker', options.reranker), remedy: '' });
    for (const kind of ['experiment', 'corpus', 'index'] as const) {
      const folder = latest(context.projectFolder, kind);
      if (folder === undefined) continue;
      await attempt(`latest ${kind}`, async () =>
        kind === 'experiment'
          ? folder
          : `${folder} (${(await openArtefact(folder, kind)).manifest.fingerprint.slice(0, 12)})`,
      );
    }
    checks.push({
      name: 'names',
      ok: true,
      detail: (['retriever', 'policy', 'reranker'] as const)
        .map((kind) => `${kind}: ${shortForms(kind).join(' ')}`)
        .join('; '),
      remedy: '',
    });
    const ok = checks.every((check) => check.ok);
    return { json: { ok, version, checks }, text: checks.map(line).join('\n'), exitStatus: ok ? 0 : 1 };
  },
});

function line({ name, ok, detail, remedy }: Check): string {
  return `${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(18)}${detail}${remedy === '' ? '' : `\n      ${''.padEnd(18)}${remedy}`}`;
}

function runtime(): Check {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const ok = major > 20 || (major === 20 && minor >= 11);
  return {
    name: 'node',
    ok,
    detail: `${process.version}, docopt-ir ${version}`,
    remedy: ok ? '' : 'Install Node 20.11 or newer.',
  };
}

function machine(): Check {
  const gigabytes = (totalmem() / 2 ** 30).toFixed(1);
  return { name: 'machine', ok: true, detail: `${availableParallelism()} cores, ${gigabytes} GiB memory`, remedy: '' };
}

function writable(folder: CommandContext['projectFolder']): Check {
  try {
    accessSync(folder, constants.W_OK);
    return { name: 'project folder', ok: true, detail: folder, remedy: '' };
  } catch {
    return {
      name: 'project folder',
      ok: false,
      detail: `${folder} is not writable`,
      remedy: 'Pass --out to every command, or change the permissions.',
    };
  }
}

/** Builds an index of one document and finds it again. */
async function tryRetriever(spec: Parameters<typeof createRetriever>[0], context: CommandContext): Promise<string> {
  const retriever = createRetriever(spec, context);
  const index = await retriever.build(
    arrayCorpus([{ id: 'probe', title: '', text: 'a small probe document about wooden boats' }]),
  );
  const [ranking] = await index.search([{ id: 'q', text: 'wooden boats' }], 1);
  return `${describeSpec('retriever', spec)}: ${ranking.ids.length === 1 ? 'found its probe document' : 'did not find its probe document'}`;
}

async function describeExperiment(folder: string): Promise<string> {
  const { config } = await readExperiment<{ retriever: unknown }, unknown>(folder);
  return `experiment ${folder}, retriever ${JSON.stringify(config.retriever)}`;
}
