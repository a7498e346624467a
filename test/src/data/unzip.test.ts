import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openZip } from '../../../src/data/unzip.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { makeZip } from '../../support/make-zip.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

const rng = createRng(5);
const noise = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i % 3 === 0 ? rng.int(256) : 7));
const MEMBERS = [
  { name: 'a/empty', content: new Uint8Array(0) },
  { name: 'stored.bin', content: noise, method: 'stored' },
  { name: 'a/deflated.bin', content: noise },
  { name: 'größe.txt', content: Buffer.from('words') },
] as const;

describe('openZip', () => {
  const folder = temporaryFolder();
  const archive = (name: string, bytes: Uint8Array): string => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };

  it('unpacks stored and deflated entries, comment or not', async () => {
    for (const comment of ['', 'a comment that ends the file']) {
      const zip = await openZip(archive('good.zip', makeZip(MEMBERS, comment)));
      expect([...zip.entries.keys()]).toEqual(MEMBERS.map(({ name }) => name));
      for (const { name, content } of MEMBERS) {
        const to = join(folder, 'out', name);
        await zip.extract(name, to);
        expect(Buffer.compare(readFileSync(to), Buffer.from(content))).toBe(0);
        expect(zip.entries.get(name)!.bytes).toBe(content.length);
      }
      await expect(zip.extract('absent', join(folder, 'absent'))).rejects.toThrow(/holds no 'absent'/);
      await zip.close();
    }
  });

  it('leaves nothing behind of an entry that does not unpack to what the directory says', async () => {
    const good = makeZip(MEMBERS);
    for (const [name, at] of [
      ['stored.bin', good.indexOf('stored.bin') + 1000],
      ['a/deflated.bin', good.indexOf('a/deflated.bin') + 1000],
    ] as const) {
      const bad = Buffer.from(good);
      bad[at] ^= 0xff;
      const zip = await openZip(archive('bad.zip', bad));
      const to = join(folder, 'bad.bin');
      await expect(zip.extract(name, to)).rejects.toMatchObject({ code: 'DATA' });
      expect(() => readFileSync(to)).toThrow(/ENOENT/);
      await zip.close();
    }
  });

  it('refuses what is no archive, and one that was cut short', async () => {
    const good = makeZip(MEMBERS);
    for (const bytes of [Buffer.alloc(0), Buffer.from('no zip at all'), good.subarray(0, good.length - 40)]) {
      await expect(openZip(archive('cut.zip', bytes))).rejects.toMatchObject({ code: 'DATA' });
    }
  });
});
