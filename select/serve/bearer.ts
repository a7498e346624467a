/** The bearer token of a request against the configured key, in a time that tells nothing of where they differ. */
import { createHash, timingSafeEqual } from 'node:crypto';

export function bearerCheck(apiKey: string): (authorization: string | undefined) => boolean {
  const expected = digest(apiKey);
  return (authorization) => {
    const match = /^Bearer +(\S.*?) *$/i.exec(authorization ?? '');
    // Digests have one length, so neither the length nor a common prefix of the key shows.
    return timingSafeEqual(digest(match?.[1] ?? ''), expected) && match !== null;
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
