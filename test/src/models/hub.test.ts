import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openOnnxEmbedder } from '../../../src/models/embedders/onnx.ts';
import { hubFolder } from '../../../src/models/hub.ts';
import type { ModelServices } from '../../../src/models/services.ts';
import { createWire } from '../../../src/run/wire/mod.ts';
import { acquireLock } from '../../../src/store/lock.ts';
import { HubServer, ID } from '../../support/servers/hub.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';
import { tinyFolder } from '../../support/tiny-onnx.ts';

const TOKEN = 'hf_averysecrettoken';

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
