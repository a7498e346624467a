/** argv -> flags in order, by the schema of one command. Positions, short aliases (-k 2, -k2, -qv), --no-x, --x=y, `--`. */
import type { z } from 'zod';
import { DocOptError } from '../errors.ts';
import { didYouMean } from '../text/suggest.ts';
import { coerce, kindOf, metaOf, type Schema } from './inspect.ts';

export interface ParsedArguments {
  /** Values by option key, coerced, ready to validate. */
  readonly values: Record<string, unknown>;
  readonly typed: { name: string; value: string | boolean }[];
  readonly globals: GlobalArguments;
}

export interface GlobalArguments {
  help: boolean;
  /** undefined = not given: the environment may say it. */
  json?: boolean;
  verbose?: boolean;
  quiet?: boolean;
  config?: string;
  envFile?: string;
  set: string[];
}

export const GLOBAL_FLAGS: readonly { flag: string; alias?: string; value?: string; help: string }[] = [
  {
    flag: 'config',
    alias: 'c',
    value: 'FILE',
    help: 'configuration file (default: docopt.config.{yaml,json,ts}, walking up)',
  },
  { flag: 'set', value: 'KEY=VALUE', help: 'any configuration key, dotted; repeatable: --set retriever.k1=0.9' },
  { flag: 'env-file', value: 'FILE', help: 'read environment variables from a file; those that are set already win' },
  { flag: 'json', help: 'one JSON document on stdout' },
  { flag: 'verbose', alias: 'v', help: 'more on stderr' },
  { flag: 'quiet', alias: 'q', help: 'only errors and warnings on stderr' },
  { flag: 'help', alias: 'h', help: 'this page' },
];

export const kebab = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const camel = (flag: string): string => flag.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

export function parseArguments(argv: readonly string[], schema: z.ZodObject, usage: string): ParsedArguments {
  const shape = schema.shape as Record<string, Schema>;
  const keyByAlias = new Map<string, string>();
  const positionalKeys: string[] = [];
  for (const [key, option] of Object.entries(shape)) {
    const meta = metaOf(option);
    if (meta.alias !== undefined) keyByAlias.set(meta.alias, key);
    if (meta.positional === true) positionalKeys.push(key);
  }
  const globals: GlobalArguments = { help: false, set: [] };
  const values: Record<string, unknown> = {};
  const typed: { name: string; value: string | boolean }[] = [];
  const positions: string[] = [];

  const assign = (key: string, text: string): void => {
    const option = shape[key];
    typed.push({ name: key, value: text });
    if (kindOf(option) === 'array') {
      const whole = metaOf(option).spec !== undefined || metaOf(option).repeat === true;
      const more = whole ? [text] : (coerce(text, option) as unknown[]);
      values[key] = [...((values[key] as unknown[]) ?? []), ...more];
    } else if (key in values) {
      throw usageError(`--${kebab(key)} was given twice`, usage);
    } else {
      values[key] = metaOf(option).spec === undefined ? coerce(text, option) : text;
    }
  };

  const switchTo = (key: string, on: boolean): void => {
    if (values[key] === !on) throw usageError(`--${kebab(key)} and --no-${kebab(key)} were both given`, usage);
    values[key] = on;
    typed.push({ name: key, value: on });
  };
  const once = (earlier: string | undefined, value: string, flag: string): string => {
    if (earlier !== undefined) throw usageError(`--${flag} was given twice`, usage);
    return value;
  };

  const takesNoValue = (letter: string): boolean => {
    const key = keyByAlias.get(letter);
    if (key !== undefined) return kindOf(shape[key]) === 'boolean';
    return GLOBAL_FLAGS.some(({ alias, value }) => alias === letter && value === undefined);
  };
  const isLetter = (letter: string): boolean =>
    keyByAlias.has(letter) || GLOBAL_FLAGS.some(({ alias }) => alias === letter);

  const words = [...argv];
  for (let i = 0; i < words.length; i++) {
    words.splice(i, 1, ...unglued(words[i], isLetter, takesNoValue));
    const argument = words[i];
    if (argument === '--') {
      positions.push(...words.slice(i + 1));
      break;
    }
    if (!argument.startsWith('-') || argument === '-' || /^-\d/.test(argument)) {
      positions.push(argument);
      continue;
    }
    const equals = argument.indexOf('=');
    const name = (equals === -1 ? argument : argument.slice(0, equals)).replace(/^--?/, '');
    const inline = equals === -1 ? undefined : argument.slice(equals + 1);
    const isShort = !argument.startsWith('--');
    const next = (): string => {
      if (inline !== undefined) return inline;
      const value = words[++i];
      if (value === undefined || (value.startsWith('--') && value.length > 2)) {
        throw usageError(`${argument} needs a value`, usage);
      }
      return value;
    };

    const globalFlag = GLOBAL_FLAGS.find((flag) => (isShort ? flag.alias === name : flag.flag === name));
    const key = isShort ? keyByAlias.get(name) : camel(name);
    if (key !== undefined && Object.hasOwn(shape, key)) {
      if (kindOf(shape[key]) === 'boolean' && inline === undefined) {
        switchTo(key, true);
      } else {
        assign(key, next());
      }
    } else if (name.startsWith('no-') && kindAt(shape, camel(name.slice(3))) === 'boolean') {
      switchTo(camel(name.slice(3)), false);
    } else if (globalFlag !== undefined) {
      if (globalFlag.flag === 'set') globals.set.push(next());
      else if (globalFlag.flag === 'config') globals.config = once(globals.config, next(), 'config');
      else if (globalFlag.flag === 'env-file') globals.envFile = once(globals.envFile, next(), 'env-file');
      else if (inline !== undefined) throw usageError(`--${globalFlag.flag} takes no value`, usage);
      else globals[globalFlag.flag as 'help' | 'json' | 'verbose' | 'quiet'] = true;
    } else {
      const known = [...Object.keys(shape).map((k) => `--${kebab(k)}`), ...GLOBAL_FLAGS.map((f) => `--${f.flag}`)];
      throw usageError(`unknown flag ${isShort ? argument : `--${name}`}.${didYouMean(`--${name}`, known)}`, usage);
    }
  }

  for (const key of positionalKeys) {
    if (positions.length === 0) break;
    if (kindOf(shape[key]) === 'array') {
      values[key] = positions.splice(0);
    } else if (!(key in values)) {
      assign(key, positions.shift()!);
    }
  }
  if (positions.length > 0 && !globals.help) throw usageError(`unexpected argument '${positions[0]}'`, usage);
  return { values, typed, globals };
}

/** -k2 is -k=2 and -qv is -q -v, as everywhere; a word that is no row of known letters stays as it is. */
function unglued(
  argument: string,
  isLetter: (letter: string) => boolean,
  takesNoValue: (letter: string) => boolean,
): string[] {
  if (!/^-[A-Za-z][^=]/.test(argument) || GLOBAL_FLAGS.some(({ flag }) => argument === `-${flag}`)) return [argument];
  const words: string[] = [];
  for (let at = 1; at < argument.length; at++) {
    const letter = argument[at];
    if (!isLetter(letter)) return [argument];
    if (!takesNoValue(letter)) {
      const rest = argument.slice(at + 1);
      return [...words, rest === '' ? `-${letter}` : `-${letter}=${rest.replace(/^=/, '')}`];
    }
    words.push(`-${letter}`);
  }
  return words;
}

function kindAt(shape: Record<string, Schema>, key: string): string | undefined {
  return Object.hasOwn(shape, key) ? kindOf(shape[key]) : undefined;
}

function usageError(message: string, usage: string): DocOptError {
  return new DocOptError('USAGE', message, { hint: `See: ${usage} --help` });
}
