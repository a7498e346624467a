/**
 * A local HTTP service for tests, on a real socket: answers by a handler that speaks some vendor's protocol, unless the next
 * thing on its list is a fault, which it then commits the way real services and the networks before them do.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed where it is JSON. */
  readonly body: unknown;
  readonly at: number;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Texts as they are, all else as JSON. */
  readonly body?: unknown;
}

export type Fault =
  | ({ readonly kind: 'answer' } & Answer)
  /** The connection is reset before any answer. */
  | { readonly kind: 'reset' }
  /** Half of the right answer, then a reset. */
  | { readonly kind: 'half' }
  /** The right answer, byte after byte, `everyMs` apart. */
  | { readonly kind: 'drip'; readonly everyMs: number }
  /** Never answers. */
  | { readonly kind: 'silence' }
  /** The right answer, changed. */
  | { readonly kind: 'spoil'; readonly change: (body: unknown) => unknown };

export type Handler = (asked: Asked) => Answer | Promise<Answer>;

export interface Service {
  readonly url: string;
  readonly host: string;
  readonly asked: readonly Asked[];
  /** Commits these, in order, in place of the next answers. */
  next(...faults: readonly Fault[]): void;
  /** Commits this from now on, until `next` or `always(undefined)`. */
  always(fault: Fault | undefined): void;
  close(): Promise<void>;
}

export async function startService(handler: Handler): Promise<Service> {
  const asked: Asked[] = [];
  const faults: Fault[] = [];
  let always: Fault | undefined;
  const server = createServer((request, response) => {
    void receive(request).then(async (one) => {
      asked.push(one);
      const fault = faults.shift() ?? always;
      if (fault?.kind === 'reset') return request.socket.destroy();
      if (fault?.kind === 'silence') return;
      const right = fault?.kind === 'answer' ? fault : await handler(one);
      await reply(response, right, fault);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    host,
    asked,
    next: (...more) => void faults.push(...more),
    always(fault) {
      always = fault;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function receive(request: IncomingMessage): Promise<Asked> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString('utf8');
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // A body that is none stays a text.
  }
  return { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body, at: Date.now() };
}

async function reply(response: ServerResponse, answer: Answer, fault: Fault | undefined): Promise<void> {
  const { status = 200, headers = {} } = answer;
  const body = fault?.kind === 'spoil' ? fault.change(answer.body) : answer.body;
  const isText = typeof body === 'string';
  const text = body === undefined ? '' : isText ? body : JSON.stringify(body);
  response.writeHead(status, {
    'content-type': isText ? 'text/html' : 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  if (fault?.kind === 'half') {
    response.write(text.slice(0, Math.floor(text.length / 2)), () => setTimeout(() => response.destroy(), 20));
    return;
  }
  if (fault?.kind === 'drip') {
    for (const letter of text) {
      if (response.destroyed) return;
      response.write(letter);
      await new Promise((resolve) => setTimeout(resolve, fault.everyMs));
    }
  } else response.write(text);
  response.end();
}

/** The JSON of an error as FastAPI, OpenAI and others send it. */
export const openAiError = (message: string, code: string | null = null, type = 'invalid_request_error'): unknown => ({
  error: { message, type, param: null, code },
});
