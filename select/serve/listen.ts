/** The service on a socket: binds, says where, and closes without cutting off requests that are being answered. */
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import type { Hono } from 'hono';
import { DocOptError } from '../../src/errors.ts';

export interface Listening {
  readonly url: string;
  /** Stops accepting; resolves when the last request is answered, or after `graceMs`, when what is left is cut. */
  close(graceMs: number): Promise<void>;
}

/** Errors: ENVIRONMENT when the address cannot be bound (taken, not ours, not allowed). */
export async function listen(app: Hono, host: string, port: number): Promise<Listening> {
  const server = serve({ fetch: app.fetch, hostname: host, port });
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', (error: NodeJS.ErrnoException) => reject(bindError(error, host, port)));
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    close: (graceMs) =>
      new Promise((resolve) => {
        const cut = setTimeout(() => 'closeAllConnections' in server && server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        // Kept-alive connections without a request would hold the server open.
        if ('closeIdleConnections' in server) server.closeIdleConnections();
      }),
  };
}

function bindError(error: NodeJS.ErrnoException, host: string, port: number): DocOptError {
  const hints: Readonly<Record<string, string>> = {
    EADDRINUSE: 'Choose another with --port, or --port 0 for any free one.',
    EACCES: 'Ports below 1024 need rights; choose another with --port.',
    EADDRNOTAVAIL: 'No network interface of this machine has that address; --host 127.0.0.1 always works.',
    ENOTFOUND: 'That host name does not resolve; --host 127.0.0.1 always works.',
  };
  return new DocOptError('ENVIRONMENT', `Cannot listen on ${host}:${port}: ${error.message}`, {
    hint: hints[error.code ?? ''] ?? 'Choose another --host or --port.',
    cause: error,
  });
}
