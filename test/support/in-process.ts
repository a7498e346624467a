/** Runs the real programs inside the test's own process: the same files as the command line, without the second a process costs. */
import { join } from 'node:path';
import { vi } from 'vitest';
import type { CliOptions, CliResult } from './cli.ts';

let runs = 0;

/** `docopt ...` or `morph ...` from the sources. One at a time: it is the process's own stdout that is listened to. */
export async function runHere(argv: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const [program, ...rest] = argv;
  const out = listen(process.stdout);
  const err = listen(process.stderr);
  const before = { argv: process.argv, cwd: process.cwd(), env: process.env, exitCode: process.exitCode };
  const listeners = (['SIGINT', 'SIGTERM'] as const).map((name) => [name, process.listeners(name)] as const);
  process.argv = [process.execPath, program, ...rest];
  process.env = {
    ...Object.fromEntries(Object.entries(before.env).filter(([name]) => !/^(DOCOPT|MORPH)_/.test(name))),
    ...options.env,
  };
  if (options.cwd !== undefined) process.chdir(options.cwd);
  try {
    // Another name each time, so that the file runs each time; what it imports stays loaded.
    const file = join(import.meta.dirname, '..', '..', 'bin', `${program}.ts`);
    await import(/* @vite-ignore */ `${file}?${++runs}`);
    return { status: Number(process.exitCode ?? 0), signal: null, stdout: out.text(), stderr: err.text() };
  } finally {
    out.stop();
    err.stop();
    process.chdir(before.cwd);
    process.argv = before.argv;
    process.env = before.env;
    process.exitCode = before.exitCode;
    for (const [name, earlier] of listeners) {
      process.removeAllListeners(name);
      for (const listener of earlier) process.on(name, listener);
    }
  }
}

function listen(stream: NodeJS.WriteStream): { text(): string; stop(): void } {
  let text = '';
  const spy = vi.spyOn(stream, 'write').mockImplementation((chunk, ...rest) => {
    text += String(chunk);
    for (const done of rest) if (typeof done === 'function') done();
    return true;
  });
  return { text: () => text, stop: () => spy.mockRestore() };
}
