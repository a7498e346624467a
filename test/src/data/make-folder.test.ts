import { existsSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../src/data/make-folder.ts';
import { folderWith } from '../../support/temp-folder.ts';

describe('makeFolder', () => {
  it('makes what is missing, also when many ask at once, and is content when it is there', async () => {
    const folder = join(folderWith({ a: '' }), 'x/y/z');
    await Promise.all(Array.from({ length: 20 }, () => makeFolder(folder)));
    await makeFolder(folder);
    expect(statSync(folder).isDirectory()).toBe(true);
  });

  it('names a file that stands in the way, above or at the place, and a link that leads nowhere', async () => {
    const root = folderWith({ file: '' });
    symlinkSync(join(root, 'gone'), join(root, 'link'));
    for (const place of ['file', 'file/x', 'file/x/y']) {
      await expect(makeFolder(join(root, place))).rejects.toThrow(
        `${join(root, 'file')} is a file, a folder is wanted there`,
      );
    }
    await expect(makeFolder(join(root, 'link/x'))).rejects.toMatchObject({ code: 'ENVIRONMENT' });
  });

  it.skipIf(!existsSync('/proc/self'))('comes back from where nothing can be made', async () => {
    await expect(makeFolder('/proc/docopt/x')).rejects.toMatchObject({
      code: 'ENVIRONMENT',
      message: expect.stringMatching(/^cannot write \/proc\/docopt: /),
    });
  });
});
