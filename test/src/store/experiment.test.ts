import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openExperiment } from '../../../src/store/experiment.ts';
import { createMemoryExperiment } from '../../../src/store/memory-experiment.ts';

const place = () => join(mkdtempSync(join(tmpdir(), 'experiment-')), 'a');
const row = (step: number) => ({ step, text: `schön ${step}` });

describe('rows', () => {
  it('are kept up to a step; later ones and a line that was cut off go', async () => {
    const folder = place();
    const experiment = await openExperiment(folder);
    await experiment.appendRows('m.jsonl', [row(1), row(2)]);
    await experiment.appendRows('m.jsonl', [row(2), row(3)]);
    const upToTwo = [row(1), row(2), row(2)].map((one) => `${JSON.stringify(one)}\n`).join('');
    appendFileSync(join(folder, 'm.jsonl'), '{"step":2,"te');
    await experiment.keepRows('m.jsonl', 3);
    expect(readFileSync(join(folder, 'm.jsonl'), 'utf8')).toBe(`${upToTwo}${JSON.stringify(row(3))}\n`);
    await experiment.keepRows('m.jsonl', 2);
    expect(readFileSync(join(folder, 'm.jsonl'), 'utf8')).toBe(upToTwo);
    await experiment.keepRows('m.jsonl', 0);
    expect(readFileSync(join(folder, 'm.jsonl'), 'utf8')).toBe('');
    await experiment.keepRows('none.jsonl', 0);
    await experiment.close();
  });

  it('of many bytes are cut at the right one', async () => {
    const folder = place();
    const experiment = await openExperiment(folder);
    const rows = Array.from({ length: 300 }, (_, i) => ({ step: i + 1, text: 'ä'.repeat(i * 7) }));
    await experiment.appendRows('m.jsonl', rows);
    await experiment.keepRows('m.jsonl', 211);
    const expected = rows
      .slice(0, 211)
      .map((one) => `${JSON.stringify(one)}\n`)
      .join('');
    expect(readFileSync(join(folder, 'm.jsonl'), 'utf8')).toBe(expected);
    await experiment.close();
  });
});

describe.each(['folder', 'memory'] as const)('checkpoints in a %s', (kind) => {
  const open = async () => (kind === 'folder' ? openExperiment(place()) : createMemoryExperiment());

  it('come back as written, in the order of their steps', async () => {
    const experiment = await open();
    for (const step of [10, 0, 2]) {
      await experiment.saveCheckpoint(
        step,
        async (artefact) => {
          await artefact.write('a.json', JSON.stringify({ step }));
          await artefact.writeStream('deep/b.txt', ['x', 'y']);
        },
        { info: { step } },
      );
    }
    expect(await experiment.checkpoints()).toEqual([0, 2, 10]);
    const artefact = await experiment.openCheckpoint(2);
    expect(await artefact.readJson('a.json')).toEqual({ step: 2 });
    expect(await artefact.readText('deep/b.txt')).toBe('xy');
    expect(artefact.has('deep/b.txt')).toBe(true);
    expect(artefact.manifest.info).toEqual({ step: 2 });
    await experiment.removeCheckpoint(2);
    expect(await experiment.checkpoints()).toEqual([0, 10]);
    await experiment.close();
  });

  it('that fail while being written do not exist', async () => {
    const experiment = await open();
    const failing = experiment.saveCheckpoint(
      1,
      async (artefact) => {
        await artefact.write('a.json', '{}');
        throw new Error('disk full');
      },
      {},
    );
    await expect(failing).rejects.toThrow('disk full');
    expect(await experiment.checkpoints()).toEqual([]);
    await experiment.saveCheckpoint(1, (artefact) => artefact.write('a.json', '{}'), {});
    expect(await experiment.checkpoints()).toEqual([1]);
    await experiment.close();
  });

  it('files are replaced whole', async () => {
    const experiment = await open();
    expect(await experiment.readFile('r.json')).toBeUndefined();
    await experiment.writeFile('r.json', 'one');
    await experiment.writeFile('r.json', ['tw', 'o']);
    expect(new TextDecoder().decode(await experiment.readFile('r.json'))).toBe('two');
    await experiment.close();
  });
});

describe('the lock', () => {
  it('lets one run at a time into a folder', async () => {
    const folder = place();
    const first = await openExperiment(folder);
    await expect(openExperiment(folder)).rejects.toThrow(/another process \(pid \d+/);
    await first.close();
    const second = await openExperiment(folder);
    await second.close();
  });

  it('of a process that is gone is taken over', async () => {
    const folder = place();
    await (await openExperiment(folder)).close();
    const child = spawn(process.execPath, ['-e', '']);
    await new Promise((resolve) => child.on('exit', resolve));
    const stale = { pid: child.pid, host: hostname(), since: '2026-01-01T00:00:00Z', purpose: 'training' };
    writeFileSync(join(folder, 'lock'), JSON.stringify(stale));
    const experiment = await openExperiment(folder);
    expect(JSON.parse(readFileSync(join(folder, 'lock'), 'utf8')).pid).toBe(process.pid);
    await experiment.close();
    expect(existsSync(join(folder, 'lock'))).toBe(false);
  });
});
