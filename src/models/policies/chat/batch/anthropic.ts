/**
 * Anthropic's message batches: the requests in one body, the results in one stream. A job carries no mark of its sender, so one
 * whose creation was cut off is looked for by time and size, and known by its results.
 */
import { anthropicClient } from '../apis.ts';
import { type BatchResult, type BatchService, type BatchWay, LARGE, SKEW_MS } from './service.ts';

export function anthropicBatches({ wire, endpoint, signal }: BatchWay): BatchService {
  type Client = Awaited<ReturnType<typeof anthropicClient>>;
  type Plan = Parameters<typeof wire.through>[0];
  const through = <T>(plan: Partial<Plan>, call: (client: Client) => Promise<T>): Promise<T> =>
    wire.through({ service: 'anthropic', repeat: 'always', signal, ...plan }, async (fetch) =>
      call(await anthropicClient(fetch, endpoint)),
    );

  return {
    most: { requests: 100_000, bytes: 256e6 },
    line: ({ id, body }) => JSON.stringify({ custom_id: id, params: body }),

    async submit(_state, lines) {
      const requests = lines.map((line) => JSON.parse(line) as never);
      const batch = await through({ repeat: 'unsent', ...LARGE }, (client) =>
        client.messages.batches.create({ requests }),
      );
      return batch.id;
    },

    find: ({ at, requests, notThese = [] }) =>
      through({}, async (client) => {
        const found: string[] = [];
        for await (const { id, created_at, request_counts: counts } of client.messages.batches.list({ limit: 100 })) {
          if (Date.parse(created_at) < at - SKEW_MS) break;
          const size = counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired;
          if (size === requests.length && !notThese.includes(id)) found.push(id);
        }
        return found;
      }),

    async poll(id) {
      const batch = await through({}, (client) => client.messages.batches.retrieve(id));
      const { processing_status, request_counts: counts, cancel_initiated_at } = batch;
      return {
        state: processing_status === 'ended' ? 'ended' : 'open',
        cancelled: cancel_initiated_at !== null && cancel_initiated_at !== undefined,
        done: counts.succeeded + counts.errored + counts.canceled + counts.expired,
        said: '',
        later: false,
      };
    },

    async *results(id) {
      const rows = await through({ answer: 'bytes', ...LARGE }, async (client) => {
        const all: BatchResult[] = [];
        for await (const { custom_id, result } of await client.messages.batches.results(id)) {
          if (result.type === 'succeeded') all.push({ id: custom_id, kind: 'answer', body: result.message });
          else if (result.type === 'errored') {
            const { type, message } = result.error.error;
            const refused = type === 'invalid_request_error';
            all.push({ id: custom_id, kind: refused ? 'refused' : 'again', said: `${type}: ${message}` });
          } else all.push({ id: custom_id, kind: 'again', said: result.type });
        }
        return all;
      });
      yield* rows;
    },

    async cancel(id) {
      await through({}, (client) => client.messages.batches.cancel(id));
    },
  };
}
