import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The one repository that it has. */
export const ID = 'org/tiny-model';

const isLarge = (name: string): boolean => /\.(onnx|safetensors)$/.test(name);

/** Speaks the hub's protocol: a listing, and files by ranges; large ones lie on another host, behind a redirect. */
export class HubServer {
  readonly files = new Map<string, Buffer>();
  /** 'METHOD path range authorization' of each request. */
  readonly asked: { path: string; range?: string; authorization?: string; cdn: boolean }[] = [];
  readonly #servers: Server[] = [];
  /** Requests to the other host that are broken off after so many bytes. */
  breakAfter: number | undefined;
  ranges = true;
  endpoint = '';

  async start(): Promise<void> {
    const cdn = await this.#listen((path, range) => this.#content(path.slice(1), range), true);
    this.endpoint = await this.#listen((path, range) => {
      if (path.startsWith('/api/')) {
        const siblings = [...this.files].map(([rfilename, content]) => ({
          rfilename,
          size: content.length,
          blobId: createHash('sha1').update(`blob ${content.length}\u0000`).update(content).digest('hex'),
          ...(isLarge(rfilename) ? { lfs: { sha256: createHash('sha256').update(content).digest('hex') } } : {}),
        }));
        return { status: 200, body: Buffer.from(JSON.stringify({ sha: 'c0ffee', siblings })) };
      }
      const name = decodeURIComponent(path.slice(`/${ID}/resolve/c0ffee/`.length));
      if (isLarge(name)) return { status: 302, location: `${cdn}/${name}`, body: Buffer.alloc(0) };
      return this.#content(name, range);
    }, false);
  }

  async close(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  #content(name: string, range: string | undefined): { status: number; body: Buffer } {
    const content = this.files.get(name);
    if (content === undefined) return { status: 404, body: Buffer.from('{"error":"no such file"}') };
    const match = /^bytes=(\d+)-(\d+)$/.exec(range ?? '');
    if (match === null || !this.ranges) return { status: 200, body: content };
    return { status: 206, body: content.subarray(Number(match[1]), Number(match[2]) + 1) };
  }

  async #listen(
    answer: (path: string, range: string | undefined) => { status: number; body: Buffer; location?: string },
    cdn: boolean,
  ): Promise<string> {
    const server = createServer((request, response) => {
      const { range, authorization } = request.headers;
      this.asked.push({ path: request.url!, range, authorization, cdn });
      const { status, body, location } = answer(request.url!.split('?')[0], range);
      response.writeHead(status, { 'content-length': body.length, ...(location === undefined ? {} : { location }) });
      if (cdn && this.breakAfter !== undefined) {
        response.write(body.subarray(0, this.breakAfter), () => request.socket.destroy());
        return;
      }
      response.end(body);
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
}
