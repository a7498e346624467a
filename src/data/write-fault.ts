import { DocOptError, systemError } from '../errors.ts';

/** What the system says of a failed write, as an ENVIRONMENT error that names the file. Other errors pass as they are. */
export function writeFault(path: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const found = error instanceof DocOptError || code === undefined ? undefined : systemError(code);
  if (found === undefined) return error;
  const [reason, hint] =
    code === 'ENOENT' ? ['nothing can be created there', 'Choose another place.'] : [found.reason, found.hint];
  return new DocOptError('ENVIRONMENT', `cannot write ${path}: ${reason}`, { hint, cause: error });
}
