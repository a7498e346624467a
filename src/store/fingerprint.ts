/** sha256 over a sequence of strings; each is framed by its length, so that no two sequences run together. */
import { createHash } from 'node:crypto';

export function fingerprintStrings(parts: Iterable<string>): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
}
