/** One error class, one table of codes: the same code decides the exit status and the HTTP status. */

const CODES = {
  /** Wrong flag, missing argument, unknown name. */
  USAGE: { exit: 2, http: 400 },
  /** A configuration file or value that does not fit its schema. */
  CONFIG: { exit: 2, http: 400 },
  /** The user's data: a file, a line, an id. */
  DATA: { exit: 1, http: 400 },
  /** An artefact that is missing, unfinished, damaged or of a newer format. */
  ARTEFACT: { exit: 1, http: 500 },
  /** Something on this machine: disk full, read-only folder, locked output. */
  ENVIRONMENT: { exit: 1, http: 500 },
  /** A package or model that must be installed first. */
  MISSING: { exit: 2, http: 501 },
  /** A remote service or a driver that failed. */
  UPSTREAM: { exit: 1, http: 502 },
  /** The service is still opening its index. */
  NOT_READY: { exit: 1, http: 503 },
  UNAUTHORIZED: { exit: 1, http: 401 },
  NOT_FOUND: { exit: 1, http: 404 },
  TOO_LARGE: { exit: 1, http: 413 },
  /** --max-cost reached; resumable. */
  COST_CAP: { exit: 3, http: 402 },
  /** --fail-under. */
  GATE: { exit: 100, http: 500 },
  /** SIGINT or SIGTERM; resumable. */
  INTERRUPTED: { exit: 130, http: 503 },
  /** A bug in this project. */
  INTERNAL: { exit: 1, http: 500 },
} as const;

export type ErrorCode = keyof typeof CODES;

/** An error meant for the user: what happened to which thing, what was expected, and (hint) what to do now. */
export class DocOptError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DocOptError';
    this.code = code;
    this.hint = options.hint ?? '';
  }

  get exitStatus(): number {
    return CODES[this.code].exit;
  }

  get httpStatus(): number {
    return CODES[this.code].http;
  }

  /** The shape both the command line (--json) and the HTTP service answer with. */
  toJSON(): { error: { code: ErrorCode; message: string; hint: string } } {
    return { error: { code: this.code, message: this.message, hint: this.hint } };
  }
}

/** Any thrown value as a DocOptError; what is not ours becomes INTERNAL, what the file system says becomes ENVIRONMENT. */
export function toDocOptError(thrown: unknown): DocOptError {
  if (thrown instanceof DocOptError) return thrown;
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const code = (error as { code?: unknown }).code;
  const found = typeof code === 'string' ? systemError(code) : undefined;
  if (found !== undefined) {
    const { path } = error as { path?: unknown };
    const message = typeof path === 'string' ? `${path}: ${found.reason}` : `${found.reason} (${error.message})`;
    return new DocOptError('ENVIRONMENT', message, { hint: found.hint, cause: error });
  }
  return new DocOptError('INTERNAL', error.message, {
    hint: 'This looks like a bug; please report it with the command line and --verbose output.',
    cause: error,
  });
}

/** An error of the system in words: what it is, and what to do about it. */
export function systemError(code: string): { readonly reason: string; readonly hint: string } | undefined {
  if (!Object.hasOwn(SYSTEM_ERRORS, code)) return undefined;
  const [reason, hint] = SYSTEM_ERRORS[code];
  return { reason, hint };
}

const MORE_SPACE =
  'Free some space and run the same command again (a training: with --resume); finished parts are kept.';
const RIGHTS = 'Check the permissions, or choose another --out.';

const SYSTEM_ERRORS: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  ENOENT: ['no such file or folder', 'Check the path.'],
  ENOTDIR: ['a file stands where a folder is wanted', 'Check the path.'],
  EISDIR: ['a folder stands where a file is wanted', 'Check the path.'],
  EEXIST: ['something stands there already', 'Choose another place.'],
  EACCES: ['permission denied', RIGHTS],
  EPERM: ['not permitted', RIGHTS],
  EROFS: ['the file system is read-only', 'Choose another --out.'],
  ENOSPC: ['no space left on the device', MORE_SPACE],
  EDQUOT: ['the quota is used up', MORE_SPACE],
  EFBIG: ['the file would be too large for the file system', 'Choose a place on another file system.'],
  ENAMETOOLONG: ['the name is too long', 'Choose a shorter name.'],
  ELOOP: ['the links lead in a circle', 'Check the path.'],
  EMFILE: ['too many open files', 'Raise `ulimit -n`.'],
  EADDRINUSE: ['the port is taken', 'Choose another with --port, or --port 0 for any free one.'],
};
