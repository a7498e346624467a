/** Runs the real commands, as built into dist/, in child processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

export interface CliResult {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The test writes to the program's standard input. */
  readonly input?: boolean;
}

export function tempFolder(name = 'docopt-'): string {
  return mkdtempSync(join(tmpdir(), name));
}

/** Starts `docopt ...` or `morph ...` (the first word names the program). */
export function start(argv: readonly string[], options: CliOptions = {}): ChildProcess {
  const [program, ...rest] = argv;
  const script = join(root, 'dist', 'bin', `${program}.js`);
  if (!existsSync(script)) throw new Error('dist/ is missing: npm test builds it; by hand, npm run build');
  // Nothing of the caller's own configuration may reach the test.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(DOCOPT|MORPH)_/.test(name)));
  return spawn(process.execPath, [script, ...rest], {
    cwd: options.cwd,
    env: { ...env, ...options.env },
    stdio: [options.input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
}

export async function run(argv: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return finished(start(argv, options));
}

export function finished(child: ChildProcess): Promise<CliResult> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status, signal) => resolve({ status, signal, stdout, stderr }));
  });
}

/** Runs with --json and gives back the one document; fails the test with stderr when the status is another. */
export async function runJson<T = Record<string, unknown>>(
  argv: readonly string[],
  options: CliOptions & { status?: number } = {},
): Promise<T> {
  const result = await run([...argv, '--json'], options);
  if (result.status !== (options.status ?? 0))
    throw new Error(`${argv.join(' ')} exited ${result.status}\n${result.stdout}\n${result.stderr}`);
  return JSON.parse(result.stdout) as T;
}
