import { isAscii, isUtf8 } from 'node:buffer';

/** The text of UTF-8 bytes, or undefined when they are not UTF-8. ASCII takes the short way: one copy, no decoding. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isAscii(buffer)) return buffer.toString('latin1');
  return isUtf8(buffer) ? buffer.toString('utf8') : undefined;
}

/** Offset of the first byte that cannot belong to UTF-8; -1 when all is well. */
export function badUtf8Offset(bytes: Uint8Array): number {
  if (isUtf8(bytes)) return -1;
  for (let i = 0; i < bytes.length; ) {
    const length = sequenceLength(bytes, i);
    if (length === 0) return i;
    i += length;
  }
  return bytes.length;
}

/** Bytes of the character that starts at i; 0 when none can (RFC 3629, table 3-7 of the Unicode standard). */
function sequenceLength(bytes: Uint8Array, i: number): number {
  const first = bytes[i];
  if (first < 0x80) return 1;
  const length =
    first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
  if (length === 0 || i + length > bytes.length) return 0;
  for (let j = 1; j < length; j++) if ((bytes[i + j] & 0xc0) !== 0x80) return 0;
  const second = bytes[i + 1];
  if (first === 0xe0 && second < 0xa0) return 0;
  if (first === 0xed && second > 0x9f) return 0;
  if (first === 0xf0 && second < 0x90) return 0;
  if (first === 0xf4 && second > 0x8f) return 0;
  return length;
}
