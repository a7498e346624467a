/** What a command is: plain data plus one async function. bin/ names them, run-program.ts runs them. */
import type { z } from 'zod';
import type { Log } from '../ports.ts';
import type { Wire } from '../run/wire/types.ts';
import type { ResponseCache } from '../store/response-cache.ts';
import type { Fault } from './resolve-each.ts';

export interface CommandContext {
  readonly program: 'docopt' | 'morph';
  readonly log: Log;
  /** --json was given: the result's `json` is printed and nothing else may reach stdout. */
  readonly json: boolean;
  readonly cwd: string;
  /** Folder that holds `.docopt/`: where the configuration file is, else cwd. */
  readonly projectFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The configuration file that was read. */
  readonly configuration?: string;
  /** What is wrong with the options, for commands that are `tolerant`. */
  readonly faults?: readonly Fault[];
  /** Aborted by SIGINT / SIGTERM. Long jobs check it, leave a resumable state and throw INTERRUPTED. */
  readonly signal: AbortSignal;
  /** Flags in the order they were typed, repeats included: [{name: 'retriever', value: 'bm25'}, ...]. */
  readonly typed: readonly { readonly name: string; readonly value: string | boolean }[];
  /** Keys (top-level) that came from flags, --set, environment or a configuration file, not from a default. */
  readonly given: ReadonlySet<string>;
  /**
   * The way to services, under the command's caps and limits, opened when a driver first needs it. So the context itself is
   * what drivers take: `createRetriever(spec, context)`.
   */
  readonly wire?: () => Promise<Wire>;
  /** The project's vectors of local models, kept by content; opened when a driver first needs them. */
  readonly vectors?: () => Promise<ResponseCache>;
  /** Straight to stdout, for commands that must speak before they end (`morph serve`). */
  print(line: string): void;
}

export interface CommandResult {
  /** The one JSON document of --json. */
  readonly json?: unknown;
  /** What people read on stdout. */
  readonly text?: string;
  /** 0 unless said otherwise (100 = a gate failed, but the result is still printed). */
  readonly exitStatus?: number;
}

export interface Command<S extends z.ZodObject = z.ZodObject> {
  /** As typed: 'train', 'dataset split'. */
  readonly name: string;
  readonly summary: string;
  /** More for --help. */
  readonly details?: string;
  readonly schema: S;
  /** Runs also when options or the configuration are wrong: those have their defaults, and stand in `context.faults`. */
  readonly tolerant?: boolean;
  /** Defaults that the schema does not know because they depend on another option; for --help, by key. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** At least three, each [command line, what it does]. */
  readonly examples: readonly (readonly [string, string])[];
  /** What a first Ctrl-C or SIGTERM makes it do, in words; default: it stops after the current step. */
  readonly onStop?: string;
  run(options: z.infer<S>, context: CommandContext): Promise<CommandResult>;
}

/** Identity with inference: the options' type follows from the schema. */
export function defineCommand<S extends z.ZodObject>(command: Command<S>): Command<S> {
  return command;
}
