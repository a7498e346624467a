/** `docopt runs list | cancel`: batch jobs that this project has under way at a vendor. */
import { type CommandContext, defineCommand } from '../../src/config/command.ts';
import { runsCancelSchema, runsListSchema } from '../../src/config/schemas/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { endpointOf } from '../../src/models/endpoint.ts';
import { batchService } from '../../src/models/policies/mod.ts';
import { wireOf } from '../../src/models/services.ts';
import { type BatchState, batchStore } from '../../src/store/batches.ts';

interface RunLine {
  readonly id: string;
  readonly vendor: string;
  readonly model: string;
  readonly requests: number;
  readonly since: string;
  readonly status: string;
  readonly done?: number;
  readonly upToUsd: number;
}

const idOf = ({ batch, part }: BatchState): string => batch ?? part;

async function serviceFor(state: BatchState, context: CommandContext) {
  const { driver, url, authFrom } = state;
  const endpoint = endpointOf(driver, { url, authFrom }, context.env);
  return batchService(driver, { wire: await wireOf(context), endpoint, signal: context.signal });
}

const lineOf = (state: BatchState, status: string, done?: number): RunLine => ({
  id: idOf(state),
  vendor: state.driver,
  model: state.model,
  requests: state.requests.length,
  since: new Date(state.at).toISOString(),
  status,
  ...(done === undefined ? {} : { done }),
  upToUsd: state.upToUsd,
});

function textOf(runs: readonly RunLine[]): string {
  if (runs.length === 0) return 'no batch job is under way';
  return runs
    .map(
      ({ id, vendor, model, requests, since, status, done }) =>
        `${id}  ${vendor} ${model}, ${done ?? '?'} of ${requests} done, since ${since}: ${status}`,
    )
    .join('\n');
}

export const runsListCommand = defineCommand({
  name: 'runs list',
  summary: 'Batch jobs that are under way at a vendor, with how far each is.',
  details: 'Their answers are fetched by the command that sent them, given again.',
  schema: runsListSchema,
  examples: [
    ['docopt runs list', 'what is under way'],
    ['docopt runs list --json', 'the same for scripts'],
    ['docopt runs list --offline', 'only what this project knows; nobody is asked'],
  ],
  async run(options, context) {
    const runs: RunLine[] = [];
    for (const state of await batchStore(context.projectFolder).list()) {
      if (state.batch === undefined) runs.push(lineOf(state, 'was being sent when its run was cut off'));
      else if (options.offline) runs.push(lineOf(state, state.status));
      else {
        const progress = await (await serviceFor(state, context)).poll(state.batch);
        const status = progress.state === 'open' ? (progress.cancelled ? 'cancelling' : state.status) : progress.state;
        runs.push(lineOf(state, status, progress.done));
      }
    }
    return { json: { runs }, text: textOf(runs) };
  },
});

export const runsCancelCommand = defineCommand({
  name: 'runs cancel',
  summary:
    'Cancels batch jobs. What they have answered is paid, and kept when the command that sent them is given again.',
  schema: runsCancelSchema,
  examples: [
    ['docopt runs cancel', 'all that are open'],
    ['docopt runs cancel batch_abc123', 'this one'],
    ['docopt runs cancel --json', 'for scripts'],
  ],
  async run(options, context) {
    const store = batchStore(context.projectFolder);
    const states = (await store.list()).filter((state) => options.batch === undefined || idOf(state) === options.batch);
    if (options.batch !== undefined && states.length === 0) {
      throw new DocOptError('USAGE', `no batch job '${options.batch}' is under way here`, {
        hint: 'docopt runs list names them.',
      });
    }
    const runs: RunLine[] = [];
    for (const state of states) {
      const service = await serviceFor(state, context);
      const batch = state.batch ?? (await service.find(state))[0];
      // Anthropic's jobs have no mark of ours: one that was found by size alone may be another's, and is left alone.
      if (state.batch === undefined && (batch === undefined || state.driver === 'anthropic')) {
        await store.remove(state.part);
        runs.push(
          lineOf(state, batch === undefined ? 'never reached the vendor; forgotten' : `forgotten; look at ${batch}`),
        );
        continue;
      }
      await service.cancel(batch!);
      await store.save({ ...state, batch, status: 'cancelled' });
      runs.push(lineOf({ ...state, batch }, 'cancelled'));
    }
    return { json: { runs }, text: textOf(runs) };
  },
});
