import { DocOptError } from '../errors.ts';
import { dataError } from './problem.ts';
import { badUtf8Offset } from './utf8.ts';

/** The name that TextDecoder gives an encoding ('sjis' -> 'shift_jis'). Throws USAGE for one that it does not know. */
export function encodingName(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch (cause) {
    throw new DocOptError('USAGE', `the encoding '${label}' is not known`, {
      hint: 'Names are those of the WHATWG: utf-8, shift_jis, euc-jp, gb18030, big5, euc-kr, windows-1252, utf-16le, ...',
      cause,
    });
  }
}

/**
 * Bytes to text, piece by piece, a byte order mark left out. Nothing is repaired: bytes that the encoding does not have are a
 * DATA error that names the file and, for UTF-8, the byte.
 */
export async function* decodedChunks(
  bytes: AsyncIterable<Buffer> | Iterable<Buffer>,
  file: string,
  encoding = 'utf-8',
): AsyncGenerator<string> {
  const name = encodingName(encoding);
  const decoder = new TextDecoder(name, { fatal: true });
  let read = 0;
  const decode = (chunk?: Buffer): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (cause) {
      throw dataError(
        file,
        chunk === undefined
          ? `ends in the middle of a ${name} character`
          : `bytes that are not ${name}, between byte ${read} and byte ${read + chunk.length}`,
        OTHER_ENCODING,
        cause,
      );
    }
  };
  for await (const chunk of name === 'utf-8' ? utf8Chunks(bytes, file) : bytes) {
    const text = decode(chunk);
    read += chunk.length;
    if (text !== '') yield text;
  }
  const last = decode();
  if (last !== '') yield last;
}

/** Chunks cut between characters, each its own copy and checked to be UTF-8. */
export async function* utf8Chunks(
  bytes: AsyncIterable<Buffer> | Iterable<Buffer>,
  file: string,
): AsyncGenerator<Buffer> {
  let offset = 0;
  let rest = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const joined = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    const whole = joined.length - unfinished(joined);
    const bad = badUtf8Offset(joined.subarray(0, whole));
    if (bad >= 0) throw badByte(file, joined, bad, offset);
    offset += whole;
    rest = joined.subarray(whole);
    yield joined.subarray(0, whole);
  }
  if (rest.length > 0) throw badByte(file, rest, 0, offset);
}

const OTHER_ENCODING =
  'Convert it to UTF-8, e.g. iconv -f shift_jis -t utf-8; `docopt dataset import` reads it as it is with --encoding shift_jis.';

function badByte(file: string, bytes: Buffer, at: number, offset: number): Error {
  const value = bytes[at].toString(16).padStart(2, '0');
  if (offset === 0 && at === 0 && (bytes[0] === 0xff || bytes[0] === 0xfe)) {
    const name = bytes[0] === 0xff ? 'utf-16le' : 'utf-16be';
    const hint = `Convert it to UTF-8, e.g. iconv -f ${name} -t utf-8; \`docopt dataset import\` takes --encoding ${name}.`;
    return dataError(file, `bad UTF-8 at byte 0 of the file, which begins as UTF-16 does`, hint);
  }
  return dataError(file, `bad UTF-8 at byte ${offset + at} of the file (0x${value})`, OTHER_ENCODING);
}

/** Bytes at the end that may be the beginning of a character (0..3). */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}
