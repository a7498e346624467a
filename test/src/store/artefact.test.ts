import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createArtefact, openArtefact } from '../../../src/store/artefact.ts';

const place = () => join(mkdtempSync(join(tmpdir(), 'artefact-')), 'index');

async function make(folder: string, content = 'hello', options: { replace?: boolean } = {}) {
  const draft = await createArtefact(folder, 'index', options);
  await draft.write('a.txt', content);
  await draft.writeStream('deep/b.bin', [new Uint8Array([1, 2]), new Uint8Array([3])]);
  return draft.finish({ parents: { corpus: 'abc' }, info: { documents: 1 } });
}

describe('artefacts', () => {
  it('come back as written, with the chain of their parents', async () => {
    const folder = place();
    const manifest = await make(folder);
    const artefact = await openArtefact(folder, 'index', { verify: true });
    expect(artefact.manifest).toEqual(manifest);
    expect(await artefact.readText('a.txt')).toBe('hello');
    expect([...(await artefact.read('deep/b.bin'))]).toEqual([1, 2, 3]);
    expect(artefact.has('deep/b.bin')).toBe(true);
    expect(artefact.has('c')).toBe(false);
    expect(manifest.parents).toEqual({ corpus: 'abc' });
  });

  it('equal content has an equal fingerprint, other content another', async () => {
    const [a, b, c] = [await make(place()), await make(place()), await make(place(), 'other')];
    expect(a.fingerprint).toBe(b.fingerprint);
    expect(a.fingerprint).not.toBe(c.fingerprint);
  });

  it('are invisible until finished', async () => {
    const folder = place();
    const draft = await createArtefact(folder, 'index');
    await draft.write('a.txt', 'half');
    expect(existsSync(folder)).toBe(false);
    await expect(openArtefact(folder, 'index')).rejects.toThrow('does not exist');
    await draft.discard();
    await make(folder);
    expect(readdirSync(join(folder, '..'))).toEqual(['index']);
  });

  it('a dead build leaves nothing in the way of the next one', async () => {
    const folder = place();
    await (await createArtefact(folder, 'index')).write('junk.txt', 'left by a killed process');
    // A killed process leaves its lock too; its pid no longer exists.
    writeFileSync(
      join(folder, '..', '.index.lock'),
      JSON.stringify({ pid: 2 ** 30, host: (await import('node:os')).hostname(), since: '', purpose: '' }),
    );
    await make(folder);
    expect((await openArtefact(folder)).has('junk.txt')).toBe(false);
  });

  it('two builds into one folder at once: the second is refused, the first finishes', async () => {
    const folder = place();
    const first = await createArtefact(folder, 'index');
    await expect(createArtefact(folder, 'index')).rejects.toThrow(/another process .* is building/);
    await first.write('a.txt', 'x');
    await first.finish({});
    expect((await openArtefact(folder)).manifest.kind).toBe('index');
  });

  it('never change in place unless asked to replace', async () => {
    const folder = place();
    await make(folder);
    await expect(createArtefact(folder, 'index')).rejects.toThrow('exists and is not empty');
    await make(folder, 'second', { replace: true });
    expect(await (await openArtefact(folder)).readText('a.txt')).toBe('second');
    expect(readdirSync(join(folder, '..'))).toEqual(['index']);
  });

  it('replacing takes nothing but an artefact away', async () => {
    const folder = place();
    mkdirSync(folder);
    writeFileSync(join(folder, 'holiday.jpg'), '');
    await expect(createArtefact(folder, 'index', { replace: true })).rejects.toThrow('no artefact that could be');
    expect(readdirSync(folder)).toEqual(['holiday.jpg']);
    expect(readdirSync(join(folder, '..'))).toEqual(['index']);
  });

  it('one that a killed replacement left aside comes back', async () => {
    const folder = place();
    await make(folder);
    renameSync(folder, join(folder, '..', '.index.partial.old'));
    await expect(createArtefact(folder, 'index')).rejects.toThrow('exists and is not empty');
    expect(await (await openArtefact(folder)).readText('a.txt')).toBe('hello');
    expect(readdirSync(join(folder, '..'))).toEqual(['index']);
  });

  it('an empty folder may be filled, a file may not be one', async () => {
    const folder = place();
    mkdirSync(folder);
    await make(folder);
    const file = place();
    writeFileSync(file, '');
    await expect(createArtefact(file, 'index')).rejects.toThrow('is a file');
  });

  it('say which file does not parse', async () => {
    const folder = place();
    await make(folder, '{"a":');
    const artefact = await openArtefact(folder);
    await expect(artefact.readJson('a.txt')).rejects.toMatchObject({
      code: 'ARTEFACT',
      message: expect.stringMatching(/a\.txt does not parse/),
      hint: expect.stringContaining('docopt index'),
    });
  });

  it.each([
    ['a truncated file', (folder: string) => writeFileSync(join(folder, 'a.txt'), 'hel'), 'has 3 bytes, expected 5'],
    ['a missing file', (folder: string) => rmSync(join(folder, 'a.txt')), 'is missing'],
    ['changed content', (folder: string) => writeFileSync(join(folder, 'a.txt'), 'HELLO'), 'has changed'],
    ['a broken manifest', (folder: string) => appendFileSync(join(folder, 'manifest.json'), '}'), 'does not parse'],
    [
      'a foreign manifest',
      (folder: string) => writeFileSync(join(folder, 'manifest.json'), '{"a":1}'),
      'no manifest of this project',
    ],
    [
      'a manifest without its facts',
      (folder: string) => edit(folder, ({ info: _, ...m }) => m),
      "'info' is missing or not what a manifest has there",
    ],
    [
      'a manifest with other files than files',
      (folder: string) => edit(folder, (m) => ({ ...m, files: { 'a.txt': null } })),
      "'files.a.txt' is missing",
    ],
    [
      'a manifest that is null',
      (folder: string) => writeFileSync(join(folder, 'manifest.json'), 'null'),
      'no manifest',
    ],
    [
      'a newer format',
      (folder: string) => edit(folder, (m) => ({ ...m, format: 9 })),
      'has format 9; this build reads 1',
    ],
    [
      'another kind',
      (folder: string) => edit(folder, (m) => ({ ...m, kind: 'corpus' })),
      "is of kind 'corpus', 'index' is wanted",
    ],
    [
      'a name that leaves the folder',
      (folder: string) => edit(folder, (m) => ({ ...m, files: { '../x': { bytes: 1, sha256: '' } } })),
      "leaves the artefact's folder",
    ],
  ])('refuse %s', async (_, damage, message) => {
    const folder = place();
    await make(folder);
    damage(folder);
    await expect(openArtefact(folder, 'index', { verify: true })).rejects.toThrow(message);
  });
});

function edit(folder: string, change: (manifest: Record<string, unknown>) => object): void {
  const path = join(folder, 'manifest.json');
  writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>)));
}
