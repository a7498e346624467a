import { createHash } from 'node:crypto';

/** Of this project's document ids; itself the UUIDv5 of 'docopt-ir:document' in the namespace of URLs. */
export const DOCUMENT_NAMESPACE = uuid5('6ba7b811-9dad-11d1-80b4-00c04fd430c8', 'docopt-ir:document');

/** RFC 9562, section 5.5: the same namespace and name, the same UUID, everywhere. */
export function uuid5(namespace: string, name: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name, 'utf8')
    .digest();
  hash[6] = (hash[6] & 0x0f) | 0x50;
  hash[8] = (hash[8] & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
