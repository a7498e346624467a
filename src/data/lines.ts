import { byteChunks } from './bytes.ts';
import { dataError, type Report } from './problem.ts';
import { badUtf8Offset, decodeUtf8 } from './utf8.ts';

/** Beyond this a line cannot become one JavaScript string; nothing sane has such lines. */
const LONGEST_LINE = 256 * 1024 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/**
 * One line without its line end. `bytes` is valid only during the call; `offset` counts in the (unpacked) file;
 * `terminated` is false for a last line without a newline, which may have been cut off.
 */
export type VisitLine = (bytes: Buffer, line: number, offset: number, terminated: boolean) => void;

/** Visits every line that is not blank. A byte order mark and the \r of \r\n belong to no line. */
export async function scanLines(path: string, visit: VisitLine): Promise<void> {
  let line = 0;
  let offset = 0;
  let carried: Buffer[] = [];
  let carriedBytes = 0;

  const emit = (bytes: Buffer, terminated: boolean): void => {
    line++;
    const start = offset;
    offset += bytes.length + (terminated ? 1 : 0);
    let from = 0;
    let to = bytes.length;
    if (line === 1) from = byteOrderMark(path, bytes);
    if (to > from && bytes[to - 1] === RETURN) to--;
    const content = from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to);
    if (!isBlank(content)) visit(content, line, start + from, terminated);
  };

  for await (const chunk of byteChunks(path)) {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end < 0) break;
      const piece = chunk.subarray(from, end);
      if (carriedBytes === 0) emit(piece, true);
      else {
        emit(Buffer.concat([...carried, piece]), true);
        carried = [];
        carriedBytes = 0;
      }
      from = end + 1;
    }
    if (from < chunk.length) {
      carried.push(Buffer.from(chunk.subarray(from)));
      carriedBytes += chunk.length - from;
      if (carriedBytes > LONGEST_LINE) {
        throw dataError(
          path,
          `line ${line + 1} is longer than 256 MiB`,
          'Expected one row a line; is this the right file?',
        );
      }
    }
  }
  if (carriedBytes > 0) emit(Buffer.concat(carried), false);
}

/** Like scanLines, decoded; lines that are not UTF-8 are reported and skipped. */
export async function scanTextLines(
  path: string,
  report: Report,
  visit: (text: string, line: number, terminated: boolean) => void,
): Promise<void> {
  await scanLines(path, (bytes, line, offset, terminated) => {
    const text = decodeLine(bytes, path, line, offset, report);
    if (text !== undefined) visit(text, line, terminated);
  });
}

/** The text of a line; undefined after reporting when it is not UTF-8. */
export function decodeLine(
  bytes: Buffer,
  file: string,
  line: number,
  offset: number,
  report: Report,
): string | undefined {
  const text = decodeUtf8(bytes);
  if (text === undefined) {
    const at = badUtf8Offset(bytes);
    const byte = bytes[at].toString(16).padStart(2, '0');
    report({
      severity: 'error',
      file,
      line,
      id: null,
      message: `bad UTF-8: byte 0x${byte} at byte ${offset + at} of the file (byte ${at} of the line)`,
      hint: 'Convert the file to UTF-8, e.g. with: iconv -f latin1 -t utf-8',
    });
  }
  return text;
}

function byteOrderMark(path: string, bytes: Buffer): number {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 3;
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw dataError(path, 'is UTF-16; expected UTF-8', 'Convert it, e.g. with: iconv -f utf-16 -t utf-8');
  }
  return 0;
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x09 && byte !== RETURN) return false;
  return true;
}
