import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSourceFolder } from '../../../src/data/source-folder.ts';
import { folderWith, temporaryFolder } from '../../support/temp-folder.ts';

const options = { extensions: ['.js', '.py'], maxFileBytes: 10_000 };

describe('openSourceFolder', () => {
  it('lists source files in order of path, with what it left out', async () => {
    const folder = folderWith({
      'b.js': 'b',
      'a/z.py': 'z',
      'a.js': 'a',
      'README.md': '#',
      'node_modules/x/x.js': 'x',
      '.git/hook.js': 'x',
      'vendor/v.js': 'v',
      'constructor/c.js': 'c',
      'large.js': 'x'.repeat(10_001),
    });
    const source = await openSourceFolder(folder, options);
    expect(source.files).toEqual([
      { path: 'a.js', bytes: 1 },
      { path: 'a/z.py', bytes: 1 },
      { path: 'b.js', bytes: 1 },
      { path: 'constructor/c.js', bytes: 1 },
    ]);
    expect(source.skipped).toEqual([
      { path: '.git/', reason: 'hidden' },
      { path: 'large.js', reason: 'larger than 10,000 bytes' },
      { path: 'node_modules/', reason: 'dependencies' },
      { path: 'vendor/', reason: 'vendored code' },
    ]);
    expect(await source.read('a.js')).toEqual({ text: 'a' });
  });

  it('a folder inside node_modules is read, but not its own dependencies', async () => {
    const folder = folderWith({ 'node_modules/pkg/i.js': 'i', 'node_modules/pkg/node_modules/dep/d.js': 'd' });
    const source = await openSourceFolder(join(folder, 'node_modules/pkg'), options);
    expect(source.files.map(({ path }) => path)).toEqual(['i.js']);
    const all = await openSourceFolder(join(folder, 'node_modules'), options);
    expect(all.files.map(({ path }) => path)).toEqual(['pkg/i.js']);
  });

  it('links are not followed, loops least of all', async () => {
    const folder = folderWith({ 'src/a.js': 'a' });
    symlinkSync('..', join(folder, 'src/up'));
    symlinkSync('a.js', join(folder, 'src/b.js'));
    symlinkSync('nowhere', join(folder, 'src/broken.js'));
    const source = await openSourceFolder(folder, options);
    expect(source.files.map(({ path }) => path)).toEqual(['src/a.js']);
    expect(source.skipped.map(({ path }) => path)).toEqual(['src/b.js', 'src/broken.js', 'src/up']);
    const link = join(temporaryFolder(), 'link');
    symlinkSync(folder, link);
    expect((await openSourceFolder(link, options)).files).toHaveLength(1);
  });

  it('what is no text of ours is named', async () => {
    const folder = folderWith({
      'nul.js': 'a\0b',
      'latin.js': Uint8Array.of(0x2f, 0x2f, 0xe9, 0x0a),
      'min.js': `${'x=1;'.repeat(2000)}\nvar a;`,
      'wide.js': `${'x=1;'.repeat(200)}\nvar a;`,
      'bom.js': '\uFEFFvar a;',
      'long-line.js': `${'var a;\n'.repeat(90)}var b="${'x'.repeat(300)}";`,
    });
    const source = await openSourceFolder(folder, options);
    const read = async (path: string) => source.read(path);
    expect(await read('nul.js')).toEqual({ skipped: 'binary, or not UTF-8' });
    expect(await read('latin.js')).toEqual({ skipped: 'not UTF-8' });
    expect(await read('min.js')).toEqual({ skipped: 'minified' });
    expect(await read('wide.js')).toHaveProperty('text');
    expect(await read('bom.js')).toEqual({ text: 'var a;' });
    expect(await read('long-line.js')).toHaveProperty('text');
    expect(await read('gone.js')).toEqual({ skipped: 'cannot be read (ENOENT)' });
  });

  it.skipIf(process.getuid?.() === 0)(
    'an unreadable folder or file stops nothing (not as root, who may read all)',
    async () => {
      const folder = folderWith({ 'a.js': 'a', 'shut/b.js': 'b', 'c.js': 'c' });
      chmodSync(join(folder, 'shut'), 0);
      chmodSync(join(folder, 'c.js'), 0);
      const source = await openSourceFolder(folder, options);
      expect(source.skipped).toEqual([{ path: 'shut/', reason: 'cannot be read (EACCES)' }]);
      expect(await source.read('c.js')).toEqual({ skipped: 'cannot be read (EACCES)' });
      chmodSync(join(folder, 'shut'), 0o755);
    },
  );

  it('a missing folder, a file', async () => {
    const folder = folderWith({ 'a.js': 'a' });
    await expect(openSourceFolder(join(folder, 'none'), options)).rejects.toMatchObject({
      code: 'DATA',
      message: expect.stringContaining('no such folder'),
    });
    await expect(openSourceFolder(join(folder, 'a.js'), options)).rejects.toMatchObject({
      code: 'DATA',
      message: expect.stringContaining('is a file'),
    });
  });
});
