/** Runs one of the two programs: finds the command, resolves its options, prints its result, turns errors into exit codes. */
import { dirname, resolve } from 'node:path';
import { writeFault } from '../data/write-fault.ts';
import { DocOptError, toDocOptError } from '../errors.ts';
import { createLog } from '../run/log.ts';
import { redact, registerSecretsOf, registerSecretsOfArguments } from '../run/redact.ts';
import { version } from '../run/version.ts';
import { commandWire, type NetworkFlags } from '../run/wire/command-wire.ts';
import { didYouMean } from '../text/suggest.ts';
import { visible } from '../text/visible.ts';
import type { Command, CommandContext } from './command.ts';
import { type ConfigFile, findConfigFile, readConfigFile } from './config-file.ts';
import { type Environment, globalSwitch, globalText, misspelledVariables, readEnvFile } from './environment.ts';
import { commandHelp, programHelp } from './help.ts';
import { type GlobalArguments, parseArguments } from './parse-arguments.ts';
import { resolveOptions } from './resolve.ts';
import { type Fault, resolveEach } from './resolve-each.ts';

export interface Program {
  readonly name: 'docopt' | 'morph';
  readonly summary: string;
  readonly examples: readonly string[];
  /** More for --help, loaded when asked for. */
  readonly notes?: () => Promise<readonly string[]>;
  /** name -> how to load it; commands load nothing until they are called. */
  readonly commands: Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<Command> }>>;
}

/** Runs and returns the exit status; writes to process.stdout and process.stderr. */
export async function runProgram(program: Program, argv: readonly string[]): Promise<number> {
  // A reader that went away, or a full disk: whoever writes hears of it (writeOut); what nobody waits for is lost.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  registerSecretsOf(process.env);
  registerSecretsOfArguments(argv);
  try {
    return await dispatch(program, argv);
  } catch (thrown) {
    const error = toDocOptError(thrown);
    const { code, exitStatus } = error;
    const [message, hint] = [redact(error.message), redact(error.hint)];
    if (wantsJson(program.name, argv)) await writeOut(jsonLine({ error: { code, message, hint } })).catch(() => {});
    complain(`${program.name}: ${message}\n${hint === '' ? '' : `  ${hint}\n`}`);
    if (argv.includes('--verbose') || argv.includes('-v')) complain(`${errorStack(error)}\n`);
    return exitStatus;
  }
}

/** Also where the arguments are what is wrong. */
function wantsJson(program: Program['name'], argv: readonly string[]): boolean {
  if (argv.includes('--json')) return true;
  try {
    return globalSwitch(program, 'json', process.env);
  } catch {
    return false;
  }
}

async function dispatch(program: Program, argv: readonly string[]): Promise<number> {
  // `docopt help train` is `docopt train --help`.
  if (argv[0] === 'help' && argv.length > 1) return dispatch(program, [...argv.slice(1), '--help']);
  if (argv.length === 0 || argv[0] === '--help' || argv[0] === '-h' || argv[0] === 'help') {
    const summaries = Object.entries(program.commands).map(([name, { summary }]) => ({ name, summary }));
    await writeOut(programHelp(program.name, program.summary, summaries, program.examples, await program.notes?.()));
    return 0;
  }
  if (argv[0] === '--version' || argv[0] === '-V') {
    await writeOut(`${version}\n`);
    return 0;
  }
  const family = Object.entries(program.commands).filter(([name]) => name.startsWith(`${argv[0]} `));
  if (family.length > 0 && (argv[1] === '--help' || argv[1] === '-h')) {
    const commands = family.map(([name, { summary }]) => ({ name, summary }));
    await writeOut(programHelp(`${program.name} ${argv[0]}`, 'a family of commands', commands, []));
    return 0;
  }
  const [name, rest] = commandName(program, argv);
  const command = await program.commands[name].load();
  const usage = `${program.name} ${name}`;
  const { values, typed, globals } = parseArguments(rest, command.schema, usage);
  if (globals.help) {
    await writeOut(commandHelp(program.name, command));
    return 0;
  }

  const envFile = globals.envFile ?? globalText(program.name, 'env-file', process.env);
  const env: Record<string, string | undefined> = {
    ...(envFile === undefined ? {} : readEnvFile(envFile)),
    ...process.env,
  };
  for (const [key, value] of Object.entries(env)) process.env[key] ??= value;
  registerSecretsOf(env);
  const cwd = process.cwd();
  const configPath = globals.config ?? globalText(program.name, 'config', env) ?? findConfigFile(cwd);
  const { file, fault } = await readFile(configPath, command.tolerant === true);
  if (file !== undefined) registerSecretsOf(file.values);
  const sources = { program: program.name, command: name, flags: values, set: globals.set, env, file };
  const { options, given, faults } =
    command.tolerant === true
      ? resolveEach(command.schema, sources)
      : { ...resolveOptions(command.schema, sources), faults: undefined };

  const log = createLog({ level: logLevel(program.name, globals, env) });
  const json = globals.json ?? globalSwitch(program.name, 'json', env);
  for (const warning of misspelledVariables(env)) log.warn(warning);
  if (file !== undefined) log.debug(`configuration: ${file.path}`);
  const signal = interruptSignal(log, 'resume' in command.schema.shape, command.onStop);
  const projectFolder = file === undefined ? cwd : dirname(resolve(file.path));
  const network = commandWire(options as NetworkFlags, { log, projectFolder, signal });
  const context: CommandContext = {
    program: program.name,
    log,
    json,
    cwd,
    projectFolder,
    env,
    configuration: file?.path,
    faults: fault === undefined ? faults : [fault, ...(faults ?? [])],
    signal,
    typed,
    given,
    wire: network.wire,
    vectors: network.vectors,
    print: (line) => void process.stdout.write(`${visible(line)}\n`),
  };
  const result = await command.run(options as never, context).finally(network.close);
  if (json && result.json !== undefined) await writeOut(jsonLine(result.json));
  else if (!json && result.text !== undefined && result.text !== '')
    await writeOut(visible(result.text.endsWith('\n') ? result.text : `${result.text}\n`));
  return result.exitStatus ?? 0;
}

async function readFile(path: string | undefined, tolerant: boolean): Promise<{ file?: ConfigFile; fault?: Fault }> {
  if (path === undefined) return {};
  try {
    return { file: await readConfigFile(path) };
  } catch (thrown) {
    if (!tolerant) throw thrown;
    return { fault: { name: 'configuration', error: toDocOptError(thrown) } };
  }
}

/** Flags win over the environment; of two in one place the quieter one. */
function logLevel(
  program: Program['name'],
  globals: GlobalArguments,
  env: Environment,
): 'quiet' | 'normal' | 'verbose' {
  if (globals.quiet === true || globals.verbose === true) return globals.quiet === true ? 'quiet' : 'verbose';
  if (globalSwitch(program, 'quiet', env)) return 'quiet';
  return globalSwitch(program, 'verbose', env) ? 'verbose' : 'normal';
}

/** 'dataset split' is two words: the longest known prefix of the arguments names the command. */
function commandName(program: Program, argv: readonly string[]): [string, readonly string[]] {
  const two = argv.slice(0, 2).join(' ');
  if (Object.hasOwn(program.commands, two)) return [two, argv.slice(2)];
  if (Object.hasOwn(program.commands, argv[0])) return [argv[0], argv.slice(1)];
  const names = Object.keys(program.commands);
  const family = names.filter((name) => name.startsWith(`${argv[0]} `));
  if (family.length > 0) {
    const problem =
      argv[1] === undefined || argv[1].startsWith('-') ? 'needs a subcommand' : `has no subcommand '${argv[1]}'`;
    throw new DocOptError('USAGE', `${program.name} ${argv[0]} ${problem}.${didYouMean(two, family)}`, {
      hint: `Available: ${family.join(', ')}.`,
    });
  }
  throw new DocOptError('USAGE', `unknown command '${argv[0]}'.${didYouMean(argv[0], names)}`, {
    hint: `Available: ${names.join(', ')}.`,
  });
}

/** First Ctrl-C asks for a clean, resumable stop; the second one ends at once. */
function interruptSignal(
  log: { warn(message: string): void },
  resumable: boolean,
  onStop = 'stopping after the current step',
): AbortSignal {
  const controller = new AbortController();
  const stop = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(130);
    log.warn(`${signal}: ${onStop} (again to stop at once)`);
    controller.abort(
      new DocOptError('INTERRUPTED', 'interrupted', {
        hint: resumable ? 'What was done is kept; add --resume to go on.' : 'Nothing was written; run it again.',
      }),
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return controller.signal;
}

/** One line; what a terminal would obey is escaped also where JSON need not. */
function jsonLine(value: unknown): string {
  return `${visible(JSON.stringify(value))}\n`;
}

function complain(text: string): void {
  process.stderr.write(visible(redact(text)));
}

/** Waits until the pipe has taken it, so that a large JSON document is never cut by process.exit. */
function writeOut(text: string): Promise<void> {
  return new Promise((resolveWrite, reject) => {
    process.stdout.write(text, (error) => {
      // The reader closed the pipe (`| head`): that is its right.
      if (error && (error as NodeJS.ErrnoException).code !== 'EPIPE') reject(writeFault('standard output', error));
      else resolveWrite();
    });
  });
}

function errorStack(error: DocOptError): string {
  return error.cause instanceof Error
    ? `${error.stack}\ncaused by: ${error.cause.stack}`
    : (error.stack ?? error.message);
}
