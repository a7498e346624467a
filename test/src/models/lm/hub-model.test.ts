/** Language models by their name on the hub: fetched once, then opened without a connection; refused when there is none. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeModel } from '../../../../src/models/lm/describe-model.ts';
import { loadModel, locateModel } from '../../../../src/models/lm/load-model.ts';
import type { ModelServices } from '../../../../src/models/services.ts';
import { createWire } from '../../../../src/run/wire/mod.ts';
import { HubServer, ID } from '../../../support/servers/hub.ts';
import { temporaryFolder } from '../../../support/temp-folder.ts';

const SOURCE = fileURLToPath(new URL('../../../golden/hf-families/llama3', import.meta.url));

describe('language models of the hub', () => {
  let hub: HubServer;
  let services: ModelServices;
  let models: string;

  beforeEach(async () => {
    hub = new HubServer();
    await hub.start();
    for (const name of readdirSync(SOURCE)) hub.files.set(name, readFileSync(join(SOURCE, name)));
    hub.files.set('README.md', Buffer.from('---\nlicense: apache-2.0\n---\n# A model'));
    hub.files.set('pytorch_model.bin', Buffer.alloc(100));
    hub.files.set('onnx/model.onnx', Buffer.alloc(100));
    models = temporaryFolder();
    const wire = createWire({ attempts: 1 });
    const env = { DOCOPT_MODELS: models, HF_ENDPOINT: hub.endpoint, HF_HOME: join(models, 'hf') };
    services = { env, wire: async () => wire };
  });
  afterEach(() => hub.close());

  it.each([ID, `hf:${ID}`])(
    '%s is fetched as far as it is needed, and opened without a connection afterwards',
    async (name) => {
      const [here, there] = [await loadModel(SOURCE), await loadModel(name, services)];
      expect([there.name, there.config]).toEqual([name, here.config]);
      expect(there.weights).toEqual(here.weights);
      expect(there.tokenizer.renderChat([])).toBe(here.tokenizer.renderChat([]));
      const got = readdirSync(there.path).sort();
      expect(got.filter((file) => file.endsWith('.safetensors'))).toHaveLength(3);
      expect(got).not.toContain('pytorch_model.bin');
      expect(got).not.toContain('onnx');
      expect((await describeModel(name, services)).licence).toBe('apache-2.0');
      const asked = hub.asked.length;
      await hub.close();
      expect(await locateModel(name, services)).toBe(there.path);
      expect(hub.asked.length).toBe(asked);
    },
  );

  it("is taken from the cache of Hugging Face's own tools when it is there", async () => {
    const snapshot = join(models, 'hf/hub/models--org--tiny-model/snapshots/c0ffee');
    mkdirSync(snapshot, { recursive: true });
    writeFileSync(join(snapshot, 'config.json'), '{}');
    expect(await locateModel(ID, services)).toBe(snapshot);
    expect(hub.asked).toEqual([]);
  });

  it('says what cannot be', async () => {
    const offline = createWire({ offline: true });
    await expect(locateModel(ID, { ...services, wire: async () => offline })).rejects.toMatchObject({
      code: 'MISSING',
      message: expect.stringMatching(/org\/tiny-model.*offline/),
    });
    await expect(locateModel('no-such-folder', services)).rejects.toMatchObject({ code: 'MISSING' });
    await expect(locateModel('./org/model', services)).rejects.toMatchObject({ code: 'MISSING' });
    const file = join(models, 'model.bin');
    writeFileSync(file, 'not a model');
    await expect(locateModel(file, services)).rejects.toThrow(/model\.bin' is a file, and no GGUF file/);
    expect(hub.asked).toEqual([]);
    for (const name of hub.files.keys()) if (name.endsWith('.safetensors')) hub.files.delete(name);
    await expect(locateModel(ID, services)).rejects.toThrow(/no model in safetensors; its files: .*pytorch_model.bin/);
  });
});
