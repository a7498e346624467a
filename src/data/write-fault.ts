import { DocOptError, systemHint } from '../errors.ts';

/** What keeps files from being written, in words. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'nothing can be created there',
  ENOTDIR: 'a file stands where a folder is wanted',
  EISDIR: 'a folder stands there',
  EEXIST: 'something stands there already',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the quota is used up',
  EFBIG: 'the file would be too large for the file system',
  ENAMETOOLONG: 'the name is too long',
};

/** What the system says of a failed write, as an ENVIRONMENT error that names the file. Other errors pass as they are. */
export function writeFault(path: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (error instanceof DocOptError || code === undefined || !Object.hasOwn(REASONS, code)) return error;
  const hint = code === 'ENOENT' ? 'Choose another place.' : (systemHint(code) ?? 'Choose another place.');
  return new DocOptError('ENVIRONMENT', `cannot write ${path}: ${REASONS[code]}`, { hint, cause: error });
}
