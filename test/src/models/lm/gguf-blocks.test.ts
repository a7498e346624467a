import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BLOCK_FORMATS } from '../../../../src/models/lm/gguf-blocks.ts';

interface Blocks {
  readonly blocks: readonly {
    readonly type: number;
    readonly name: string;
    readonly bytes: string;
    readonly values: string;
  }[];
}

const { blocks } = JSON.parse(
  readFileSync(new URL('../../../golden/gguf-blocks/blocks.json', import.meta.url), 'utf8'),
) as Blocks;

describe('GGUF blocks', () => {
  it('every quantised and half format has golden blocks', () => {
    const wanted = Object.values(BLOCK_FORMATS).map(({ name }) => name);
    expect(blocks.map(({ name }) => name).sort()).toEqual(wanted.filter((name) => name !== 'F32').sort());
  });

  it.each(blocks)('$name as the Python package reads it, bit for bit', ({ type, bytes, values }) => {
    const source = Buffer.from(bytes, 'base64');
    const wanted = Buffer.from(values, 'base64');
    const format = BLOCK_FORMATS[type];
    const got = new Float32Array(wanted.length / 4);
    expect(source.length / format.bytes).toBe(got.length / format.values);
    format.dequantise(source, got);
    expect(Buffer.from(got.buffer).equals(wanted)).toBe(true);
  });
});
