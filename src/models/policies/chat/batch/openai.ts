/** OpenAI's batch API: a file of requests up, a job over it, one file of answers and one of errors down. */
import { openAiClient } from '../apis.ts';
import { type BatchResult, type BatchService, type BatchWay, isRefusal, jsonLines, LARGE, SKEW_MS } from './service.ts';

/** In the metadata of a job: whose it is. */
const MARK = 'docopt';

export function openAiBatches({ wire, endpoint, signal }: BatchWay): BatchService {
  type Client = Awaited<ReturnType<typeof openAiClient>>;
  type Plan = Parameters<typeof wire.through>[0];
  const through = <T>(plan: Partial<Plan>, call: (client: Client) => Promise<T>): Promise<T> =>
    wire.through({ service: 'openai', repeat: 'always', signal, ...plan }, async (fetch) =>
      call(await openAiClient(fetch, endpoint)),
    );

  async function* rowsOf(file: string | undefined): AsyncGenerator<Record<string, unknown>> {
    if (file === undefined) return;
    const bytes = await through({ answer: 'bytes', ...LARGE }, async (client) =>
      (await client.files.content(file)).arrayBuffer(),
    );
    yield* jsonLines(new Uint8Array(bytes));
  }

  return {
    most: { requests: 50_000, bytes: 200e6 },
    line: ({ id, body }, route) => `${JSON.stringify({ custom_id: id, method: 'POST', url: route, body })}\n`,

    async submit(state, lines, save) {
      const { part, route } = state;
      let file = state.file;
      if (file === undefined) {
        const { toFile } = await import('openai');
        const pieces = lines.map((line) => Buffer.from(line));
        // A file that is uploaded twice costs nothing.
        const uploaded = await through(LARGE, async (client) =>
          client.files.create({ file: await toFile(Buffer.concat(pieces), `docopt-${part}.jsonl`), purpose: 'batch' }),
        );
        file = uploaded.id;
        await save({ ...state, file });
      }
      const input = file;
      const batch = await through({ repeat: 'unsent' }, (client) =>
        client.batches.create({
          input_file_id: input,
          endpoint: route as '/v1/responses',
          completion_window: '24h',
          metadata: { [MARK]: part },
        }),
      );
      return batch.id;
    },

    find: ({ part, at }) =>
      through({}, async (client) => {
        for await (const batch of client.batches.list({ limit: 100 })) {
          if (batch.metadata?.[MARK] === part && batch.created_at * 1000 >= at - SKEW_MS) return [batch.id];
          if (batch.created_at * 1000 < at - SKEW_MS) break;
        }
        return [];
      }),

    async poll(id) {
      const { status, request_counts, errors } = await through({}, (client) => client.batches.retrieve(id));
      const ended = status === 'completed' || status === 'expired' || status === 'cancelled';
      const complaints = errors?.data ?? [];
      return {
        state: status === 'failed' ? 'failed' : ended ? 'ended' : 'open',
        cancelled: status === 'cancelled',
        done: (request_counts?.completed ?? 0) + (request_counts?.failed ?? 0),
        said: complaints
          .slice(0, 3)
          .map(({ message, line }) => `${message ?? ''}${line == null ? '' : ` (line ${line})`}`)
          .join('; '),
        later: complaints.some(({ code }) => code === 'token_limit_exceeded'),
      };
    },

    async *results(id) {
      const { output_file_id, error_file_id } = await through({}, (client) => client.batches.retrieve(id));
      for (const file of [output_file_id, error_file_id]) {
        for await (const row of rowsOf(file ?? undefined)) yield resultOf(row);
      }
    },

    async cancel(id) {
      await through({}, (client) => client.batches.cancel(id));
    },
  };
}

function resultOf(row: Record<string, unknown>): BatchResult {
  const id = String(row.custom_id);
  const response = row.response as { status_code?: number; body?: unknown } | null | undefined;
  const { code, message } = (row.error ?? {}) as { code?: string; message?: string };
  const status = response?.status_code ?? 0;
  if (status >= 200 && status < 300) return { id, kind: 'answer', body: response?.body };
  const inner = (response?.body as { error?: { message?: string; code?: string } } | undefined)?.error;
  const said = [inner?.code ?? code, inner?.message ?? message].filter((word) => word != null).join(': ');
  return { id, kind: isRefusal(status) ? 'refused' : 'again', said: said === '' ? `status ${status}` : said };
}
