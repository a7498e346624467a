import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openOnnxEmbedder } from '../../../src/models/embedders/onnx.ts';
import { hubFolder } from '../../../src/models/hub.ts';
import type { ModelServices } from '../../../src/models/services.ts';
import { createWire } from '../../../src/run/wire/mod.ts';
import { acquireLock } from '../../../src/store/lock.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';
import { tinyFolder } from '../../support/tiny-onnx.ts';

const TOKEN = 'hf_averysecrettoken';
const ID = 'org/tiny-model';

/** Speaks the hub's protocol: a listing, and files by ranges; large ones lie on another host, behind a redirect. */
class HubServer {
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
          ...(rfilename.endsWith('.onnx')
            ? { lfs: { sha256: createHash('sha256').update(content).digest('hex') } }
            : {}),
        }));
        return { status: 200, body: Buffer.from(JSON.stringify({ sha: 'c0ffee', siblings })) };
      }
      const name = decodeURIComponent(path.slice(`/${ID}/resolve/c0ffee/`.length));
      if (name.endsWith('.onnx')) return { status: 302, location: `${cdn}/${name}`, body: Buffer.alloc(0) };
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

describe('models of the hub', () => {
  let hub: HubServer;
  let env: Record<string, string>;
  let services: ModelServices;
  let source: string;
  const all = (names: readonly string[]): readonly string[] => names;
  const at = (): string => join(env.DOCOPT_MODELS, 'hub', 'org--tiny-model@main');

  beforeEach(async () => {
    hub = new HubServer();
    await hub.start();
    source = tinyFolder(
      { words: ['cats', 'mice'], width: 3, output: 'states' },
      { '1_Pooling/config.json': { pooling_mode_mean_tokens: true } },
    ).folder;
    for (const name of ['model.onnx', 'tokenizer.json', '1_Pooling/config.json'])
      hub.files.set(name, readFileSync(join(source, name)));
    hub.files.set('onnx/model_fp16.onnx', Buffer.alloc(100, 1));
    hub.files.set('README.md', Buffer.from('# words'));
    env = { DOCOPT_MODELS: temporaryFolder(), HF_ENDPOINT: hub.endpoint, HF_TOKEN: TOKEN };
    const wire = createWire({ attempts: 1 });
    services = { env, wire: async () => wire };
  });
  afterEach(() => hub.close());

  it('are fetched as far as they are needed, checked, and opened without a connection afterwards', async () => {
    const embedder = await openOnnxEmbedder({ path: `hf:${ID}` }, services);
    const local = await openOnnxEmbedder({ path: source });
    expect((await embedder.embed(['cats'], 'query')).data).toEqual((await local.embed(['cats'], 'query')).data);
    expect(readdirSync(at()).sort()).toEqual(['1_Pooling', 'hub.json', 'model.onnx', 'tokenizer.json']);
    await embedder.close();
    await local.close();
    await hub.close();
    const again = await openOnnxEmbedder({ path: `hf:${ID}` }, services);
    expect(again.id).toBe(embedder.id);
    await again.close();
  });

  it('send the token to the hub and to nobody else', async () => {
    await hubFolder(`hf:${ID}`, all, services);
    const own = hub.asked.filter(({ cdn }) => !cdn);
    const other = hub.asked.filter(({ cdn }) => cdn);
    expect(own.length).toBeGreaterThan(3);
    for (const { authorization } of own) expect(authorization).toBe(`Bearer ${TOKEN}`);
    expect(other.length).toBe(2);
    for (const { authorization, range } of other) {
      expect(authorization).toBeUndefined();
      expect(range).toMatch(/^bytes=0-/);
    }
  });

  it('go on where they were interrupted', async () => {
    const content = hub.files.get('model.onnx')!;
    mkdirSync(at(), { recursive: true });
    writeFileSync(join(at(), 'model.onnx.part'), content.subarray(0, 57));
    hub.breakAfter = 10;
    await expect(hubFolder(`hf:${ID}`, all, services)).rejects.toMatchObject({ code: 'UPSTREAM' });
    expect(existsSync(join(at(), 'model.onnx'))).toBe(false);
    hub.breakAfter = undefined;
    await hubFolder(`hf:${ID}`, all, services);
    const ranges = hub.asked.filter(({ path }) => path === '/model.onnx').map(({ range }) => range);
    expect(ranges).toEqual([`bytes=57-${content.length - 1}`, `bytes=57-${content.length - 1}`]);
    expect(readFileSync(join(at(), 'model.onnx')).equals(content)).toBe(true);
  });

  it('are fetched by one of several that want them at once; the others wait and find them', async () => {
    const told: string[] = [];
    const log = {
      info: (message: string) => told.push(message),
      warn() {},
      debug() {},
      progress: () => ({ tick() {}, end() {} }),
    };
    const wanting = { ...services, log: log as unknown as ModelServices['log'] };
    const folders = await Promise.all([1, 2, 3].map(() => hubFolder(`hf:${ID}`, all, wanting)));
    expect(new Set(folders)).toEqual(new Set([at()]));
    expect(hub.asked.filter(({ path }) => path.startsWith('/api/')).length).toBe(1);
    expect(hub.asked.filter(({ cdn }) => cdn).length).toBe(2);
    expect(told.filter((message) => message.includes('waiting')).length).toBe(2);
    expect(readdirSync(join(env.DOCOPT_MODELS, 'hub'))).toEqual(['org--tiny-model@main']);
  });

  it('are waited for no longer than the command is wanted', async () => {
    mkdirSync(join(env.DOCOPT_MODELS, 'hub'), { recursive: true });
    const lock = await acquireLock(`${at()}.lock`, 'fetching');
    const interrupt = new AbortController();
    const waiting = hubFolder(`hf:${ID}`, all, { ...services, signal: interrupt.signal });
    interrupt.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    await lock.release();
  });

  it('come whole from a mirror that knows no ranges', async () => {
    hub.ranges = false;
    mkdirSync(at(), { recursive: true });
    writeFileSync(join(at(), 'model.onnx.part'), 'wrong start');
    await hubFolder(`hf:${ID}`, all, services);
    expect(readFileSync(join(at(), 'model.onnx')).equals(hub.files.get('model.onnx')!)).toBe(true);
  });

  it('are thrown away when their checksum is another', async () => {
    mkdirSync(at(), { recursive: true });
    for (const name of ['model.onnx', 'tokenizer.json']) {
      writeFileSync(join(at(), `${name}.part`), 'wrong');
      await expect(hubFolder(`hf:${ID}`, (names) => names.filter((one) => one === name), services)).rejects.toThrow(
        /another checksum/,
      );
      expect(readdirSync(at()).filter((one) => one.startsWith(name))).toEqual([]);
    }
  });

  it('say what cannot be', async () => {
    await expect(hubFolder('hf:nothing', all, services)).rejects.toMatchObject({ code: 'CONFIG' });
    await expect(hubFolder('hf:../..', all, services)).rejects.toMatchObject({ code: 'CONFIG' });
    const offline = createWire({ offline: true });
    await expect(hubFolder(`hf:${ID}`, all, { env, wire: async () => offline })).rejects.toThrow(/offline/);
    await expect(openOnnxEmbedder({ path: `hf:${ID}`, precision: 'int8' }, services)).rejects.toThrow(
      /its \.onnx files: model\.onnx, onnx\/model_fp16\.onnx/,
    );
    await expect(openOnnxEmbedder({ path: ID }, services)).rejects.toMatchObject({
      hint: expect.stringContaining(`hf:${ID}`),
    });
    hub.files.set('../evil.json', Buffer.from('{}'));
    await expect(hubFolder(`hf:${ID}`, all, services)).rejects.toThrow(/not as expected/);
  });
});
