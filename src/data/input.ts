import { byteChunks } from './bytes.ts';

/** What stands for standard input where a path is expected. */
export const STDIN = '-';

/** The bytes at a path, or of standard input; chunks of a file are valid only until the next one. */
export function inputChunks(path: string): AsyncIterable<Buffer> {
  return path === STDIN ? process.stdin : byteChunks(path);
}

/** A path as people read it in messages. */
export const inputName = (path: string): string => (path === STDIN ? 'standard input' : path);
