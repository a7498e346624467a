/**
 * The vendors' batch APIs over the same "model": files and batches of OpenAI, message batches of Anthropic, with their shapes
 * and their errors. Jobs end after so many looks at them; what happens to a row is the test's to say.
 */
import { answerTo, type Model } from './chat-apis.ts';
import { type Answer, type Asked, type Service, startService } from './service.ts';

export type RowFate =
  | 'answer'
  | 'expired'
  | 'cancelled'
  | { readonly status: number; readonly code: string; readonly message: string };

export interface BatchWorld {
  readonly service: Service;
  /** Jobs that were created, in order. */
  readonly jobs: Job[];
  /** Requests that were computed, which is what costs. */
  readonly computed: () => number;
}

export interface Job {
  readonly id: string;
  readonly rows: readonly Row[];
  readonly metadata?: Readonly<Record<string, string>>;
  readonly route: string;
  readonly createdAt: number;
  looks: number;
  status: 'open' | 'ended' | 'failed' | 'cancelled';
  failure?: { readonly code: string; readonly message: string };
  output: string;
  errors: string;
}

interface Row {
  readonly custom_id: string;
  readonly body: Record<string, unknown>;
}

export interface BatchRules {
  readonly looks?: number;
  /** What becomes of a row, by the document and the number of the job. */
  readonly fate?: (row: Row, job: number) => RowFate;
  /** A whole job that is not taken. */
  readonly failure?: (job: number, rows: readonly Row[]) => Job['failure'];
}

export async function startBatchService(model: Model, rules: BatchRules = {}): Promise<BatchWorld> {
  const { looks = 2, fate = () => 'answer' } = rules;
  const files = new Map<string, string>();
  const jobs: Job[] = [];
  let computed = 0;
  let url = '';

  async function end(job: Job, status: Job['status']): Promise<void> {
    job.status = status;
    const isMessages = job.route === '/v1/messages';
    for (const row of job.rows) {
      const is = status === 'cancelled' ? 'cancelled' : fate(row, jobs.indexOf(job));
      const output = is === 'answer' ? (await answerTo({ path: job.route, body: row.body }, model)).body : undefined;
      if (is === 'answer') computed++;
      const line = isMessages ? messagesRow(row, is, output) : openAiRow(row, is, output);
      if (is === 'answer' || isMessages) job.output += `${JSON.stringify(line)}\n`;
      else job.errors += `${JSON.stringify(line)}\n`;
    }
  }

  async function look(job: Job): Promise<void> {
    if (job.status === 'open' && ++job.looks >= looks) await end(job, 'ended');
  }

  const create = (rows: readonly Row[], route: string, metadata?: Record<string, string>): Job => {
    const job: Job = {
      id: `${route === '/v1/messages' ? 'msgbatch' : 'batch'}_${jobs.length + 1}`,
      rows,
      metadata,
      route,
      createdAt: Date.now(),
      looks: 0,
      status: 'open',
      output: '',
      errors: '',
    };
    jobs.push(job);
    job.failure = rules.failure?.(jobs.length - 1, rows);
    if (job.failure !== undefined) job.status = 'failed';
    return job;
  };

  const service = await startService(async (asked): Promise<Answer> => {
    const { method, path } = asked;
    const [route] = path.split('?');
    if (/^\/v1\/(messages|responses|chat\/completions)$/.test(route)) return answerTo(asked, model);
    if (method === 'POST' && route === '/v1/files') {
      const content = /filename="[^"]*"[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(asked.body as string)?.[1] ?? '';
      if (!/name="purpose"\r\n\r\nbatch\r\n/.test(asked.body as string)) return refused(400, 'purpose is missing');
      files.set(`file-${files.size + 1}`, content);
      return { body: { id: `file-${files.size}`, object: 'file', purpose: 'batch', bytes: content.length } };
    }
    const content = /^\/v1\/files\/([^/]+)\/content$/.exec(route)?.[1];
    if (content !== undefined) {
      const [id, kind] = content.split('.');
      const job = jobs.find((one) => one.id === id);
      const body = kind === 'output' ? job?.output : kind === 'error' ? job?.errors : files.get(content);
      return body === undefined ? refused(404, 'No such file object') : { body };
    }
    if (route === '/v1/batches') {
      if (method === 'GET')
        return { body: { object: 'list', data: [...jobs].reverse().map(openAiJob), has_more: false } };
      const sent = asked.body as { input_file_id: string; endpoint: string; metadata?: Record<string, string> };
      const text = files.get(sent.input_file_id);
      if (text === undefined) return refused(400, `Invalid file id: ${sent.input_file_id}`);
      const rows = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Row & { url: string; method: string });
      if (new Set(rows.map(({ custom_id }) => custom_id)).size !== rows.length)
        return refused(400, 'duplicate_custom_id');
      if (rows.some((row) => row.url !== sent.endpoint || row.method !== 'POST')) return refused(400, 'mismatched_url');
      return { body: openAiJob(create(rows, sent.endpoint, sent.metadata)) };
    }
    if (route === '/v1/messages/batches') {
      if (method === 'GET') {
        return {
          body: {
            data: [...jobs].reverse().map((job) => messagesJob(job, url)),
            has_more: false,
            first_id: null,
            last_id: null,
          },
        };
      }
      const sent = asked.body as { requests: { custom_id: string; params: Record<string, unknown> }[] };
      if (sent.requests.some(({ custom_id }) => !/^[a-zA-Z0-9_-]{1,64}$/.test(custom_id)))
        return refused(400, 'requests.0.custom_id: String should match pattern');
      const rows = sent.requests.map(({ custom_id, params }) => ({ custom_id, body: params }));
      return { body: messagesJob(create(rows, '/v1/messages'), url) };
    }
    const [, kind, id, verb] = /^\/v1\/(batches|messages\/batches)\/([^/]+)(?:\/(cancel|results))?$/.exec(route) ?? [];
    const job = jobs.find((one) => one.id === id);
    if (kind === undefined || job === undefined) return refused(404, `No batch found with id '${id}'.`);
    if (verb === 'results') return { body: job.output };
    if (verb === 'cancel') await end(job, 'cancelled');
    else await look(job);
    return { body: kind === 'batches' ? openAiJob(job) : messagesJob(job, url) };
  });
  url = service.url;
  return { service, jobs, computed: () => computed };
}

const refused = (status: number, message: string): Answer => ({
  status,
  body: { type: 'error', error: { message, type: 'invalid_request_error', param: null, code: null } },
});

function openAiRow({ custom_id }: Row, fate: RowFate, body: unknown): unknown {
  const id = `batch_req_${custom_id.slice(0, 8)}`;
  if (fate === 'answer') return { id, custom_id, response: { status_code: 200, request_id: 'req', body }, error: null };
  if (typeof fate === 'string') {
    return { id, custom_id, response: null, error: { code: `batch_${fate}`, message: `This request was ${fate}.` } };
  }
  const { status, code, message } = fate;
  const error = { message, type: 'invalid_request_error', param: null, code };
  return { id, custom_id, response: { status_code: status, request_id: 'req', body: { error } }, error: null };
}

function messagesRow({ custom_id }: Row, fate: RowFate, message: unknown): unknown {
  if (fate === 'answer') return { custom_id, result: { type: 'succeeded', message } };
  if (typeof fate === 'string') return { custom_id, result: { type: fate === 'cancelled' ? 'canceled' : fate } };
  const type = fate.status === 400 ? 'invalid_request_error' : 'api_error';
  return { custom_id, result: { type: 'errored', error: { type: 'error', error: { type, message: fate.message } } } };
}

function openAiJob(job: Job): unknown {
  const { id, route, createdAt, metadata = null, status, rows, output, errors, failure } = job;
  const lines = (text: string): number => text.split('\n').length - 1;
  const expired = errors.includes('batch_expired');
  return {
    id,
    object: 'batch',
    endpoint: route,
    completion_window: '24h',
    created_at: Math.floor(createdAt / 1000),
    metadata,
    input_file_id: 'file',
    status: { open: 'in_progress', ended: expired ? 'expired' : 'completed', failed: 'failed', cancelled: 'cancelled' }[
      status
    ],
    output_file_id: output === '' ? null : `${id}.output`,
    error_file_id: errors === '' ? null : `${id}.error`,
    request_counts: { total: rows.length, completed: lines(output), failed: lines(errors) },
    errors: failure === undefined ? null : { object: 'list', data: [{ ...failure, line: null, param: null }] },
  };
}

function messagesJob({ id, createdAt, status, rows, output }: Job, url: string): unknown {
  const count = (type: string): number => output.split(`"result":{"type":"${type}"`).length - 1;
  const open = status === 'open';
  return {
    id,
    type: 'message_batch',
    processing_status: open ? 'in_progress' : 'ended',
    created_at: new Date(createdAt).toISOString(),
    expires_at: new Date(createdAt + 86_400_000).toISOString(),
    ended_at: open ? null : new Date().toISOString(),
    archived_at: null,
    cancel_initiated_at: status === 'cancelled' ? new Date().toISOString() : null,
    results_url: open ? null : `${url}/v1/messages/batches/${id}/results`,
    request_counts: {
      processing: open ? rows.length : 0,
      succeeded: count('succeeded'),
      errored: count('errored'),
      canceled: count('canceled'),
      expired: count('expired'),
    },
  };
}

export const isCreation = ({ method, path }: Asked): boolean =>
  method === 'POST' && (path === '/v1/batches' || path === '/v1/messages/batches');
