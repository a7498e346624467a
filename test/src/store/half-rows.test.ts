import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { floatsToHalves, halvesToFloats } from '../../../src/kernels/float16.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { halfRowsInFile, halfRowsInMemory } from '../../../src/store/half-rows.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

describe('half rows', () => {
  it('answer the same ranges from memory and from a file', async () => {
    const rng = createRng(9);
    const width = 3;
    const parts = Array.from({ length: 40 }, () =>
      floatsToHalves(Float32Array.from({ length: rng.int(5) * width }, () => rng.normal())),
    );
    const all = halvesToFloats(Uint16Array.from(parts.flatMap((part) => [...part])));
    const memory = halfRowsInMemory(parts, width);
    const path = join(temporaryFolder(), 'rows.f16');
    const chunks: Uint8Array[] = [];
    for await (const chunk of memory.bytes()) chunks.push(chunk);
    writeFileSync(path, Buffer.concat(chunks));
    const rows = all.length / width;
    const file = await halfRowsInFile(path, rows, width);
    for (let i = 0; i < 200; i++) {
      const first = rng.int(rows + 1);
      const last = first + rng.int(rows - first + 1);
      const expected = all.slice(first * width, last * width);
      expect(await memory.read(first, last)).toEqual(expected);
      expect(await file.read(first, last)).toEqual(expected);
    }
    const copied: Uint8Array[] = [];
    for await (const chunk of file.bytes()) copied.push(chunk);
    expect(Buffer.concat(copied).equals(Buffer.concat(chunks))).toBe(true);
    await expect(halfRowsInFile(path, rows + 1, width)).rejects.toMatchObject({ code: 'ARTEFACT' });
  });
});
