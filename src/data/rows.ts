import { closeSync, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { dataError } from './problem.ts';

/** JSON rows by position, as UTF-8 bytes kept off the V8 heap. The bytes are valid until the next call. */
export interface Rows {
  bytes(position: number): Buffer;
}

const CHUNK = 1 << 24;
const BLOCK = 1 << 16;
/** 8 MiB: a small corpus fits whole, a large one is read in order or at random without growing. */
const CACHED_BLOCKS = 128;

/** Rows held in memory, packed into large chunks. */
export class MemoryRows implements Rows {
  private readonly chunks: Buffer[] = [];
  private readonly chunkOf: number[] = [];
  private readonly starts: number[] = [];
  private readonly lengths: number[] = [];
  private used = 0;

  add(row: string | Buffer): void {
    const length = typeof row === 'string' ? Buffer.byteLength(row) : row.length;
    let chunk = this.chunks.at(-1);
    if (chunk === undefined || this.used + length > chunk.length) {
      // The first chunk starts small, so that a corpus of ten documents does not hold 16 MiB.
      const size = this.chunks.length === 0 ? 1 << 16 : CHUNK;
      chunk = Buffer.allocUnsafeSlow(Math.max(size, length));
      this.chunks.push(chunk);
      this.used = 0;
    }
    if (typeof row === 'string') chunk.write(row, this.used);
    else row.copy(chunk, this.used);
    this.chunkOf.push(this.chunks.length - 1);
    this.starts.push(this.used);
    this.lengths.push(length);
    this.used += length;
  }

  bytes(position: number): Buffer {
    const start = this.starts[position];
    return this.chunks[this.chunkOf[position]].subarray(start, start + this.lengths[position]);
  }
}

/**
 * Rows that stay in their file: known by offset and length, read when asked for, in blocks that are kept for a while.
 * No descriptor is held open between reads; a file that changed since it was scanned is an error, never a wrong row.
 */
export class FileRows implements Rows {
  private readonly blocks = new Map<number, Buffer>();
  private readonly path: string;
  private readonly stats: Stats;
  private readonly starts: Float64Array;
  private readonly lengths: Float64Array;
  private readonly fitsCache: boolean;
  private lastBlock = -1;

  /** `stats` = the file as it was scanned. */
  constructor(path: string, stats: Stats, starts: Float64Array, lengths: Float64Array) {
    this.path = path;
    this.stats = stats;
    this.starts = starts;
    this.lengths = lengths;
    this.fitsCache = stats.size <= CACHED_BLOCKS * BLOCK;
  }

  bytes(position: number): Buffer {
    const start = this.starts[position];
    const length = this.lengths[position];
    const first = Math.floor(start / BLOCK);
    const last = Math.floor((start + length - 1) / BLOCK);
    const near = first === this.lastBlock || first === this.lastBlock + 1 || this.fitsCache;
    this.lastBlock = last;
    // A jump reads the one row: a whole block would hardly be used. A pass in order reads blocks.
    if (last - first >= CACHED_BLOCKS / 2 || (!near && !this.blocks.has(first))) return this.read(start, length);
    if (first === last) {
      const from = start - first * BLOCK;
      return this.block(first).subarray(from, from + length);
    }
    const row = Buffer.allocUnsafe(length);
    for (let block = first; block <= last; block++) {
      const from = Math.max(start, block * BLOCK);
      const to = Math.min(start + length, (block + 1) * BLOCK);
      this.block(block).copy(row, from - start, from - block * BLOCK, to - block * BLOCK);
    }
    return row;
  }

  private block(index: number): Buffer {
    const cached = this.blocks.get(index);
    if (cached !== undefined) return cached;
    const start = index * BLOCK;
    const block = this.read(start, Math.min(BLOCK, this.stats.size - start));
    // Oldest first out: a pass in order and a random walk are served alike, and no bookkeeping on a hit.
    if (this.blocks.size >= CACHED_BLOCKS) this.blocks.delete(this.blocks.keys().next().value!);
    this.blocks.set(index, block);
    return block;
  }

  private read(start: number, length: number): Buffer {
    const file = this.open();
    try {
      const now = fstatSync(file);
      if (now.size !== this.stats.size || now.mtimeMs !== this.stats.mtimeMs) throw this.changed('changed');
      const bytes = Buffer.allocUnsafeSlow(length);
      let done = 0;
      while (done < length) {
        const count = readSync(file, bytes, done, length - done, start + done);
        if (count === 0) throw this.changed('became shorter');
        done += count;
      }
      return bytes;
    } finally {
      closeSync(file);
    }
  }

  private open(): number {
    try {
      return openSync(this.path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw this.changed('was removed', error);
      throw error;
    }
  }

  private changed(what: string, cause?: unknown): Error {
    const hint = 'Leave the data in place while a command runs, then run it again.';
    return dataError(this.path, `${what} while it was being used`, hint, cause);
  }
}
