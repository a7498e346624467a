/** The environment as this project reads it: the twins of the global flags, files of variables, and names that are slips. */
import { existsSync, readFileSync } from 'node:fs';
import { DocOptError } from '../errors.ts';
import { nearest } from '../text/suggest.ts';
import { coerce, pathsOf } from './inspect.ts';
import { GLOBAL_FLAGS, kebab } from './parse-arguments.ts';
import { SCHEMAS } from './schemas/mod.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables of ours that are no options: switches of drivers, places of caches, what tests and benches read. */
const OTHERS = ['OFFLINE', 'DATA', 'MODELS'];

/** retriever.embedder.maxTokens -> RETRIEVER_EMBEDDER_MAX_TOKENS */
export function variableSuffix(path: readonly string[]): string {
  return path.map((key) => kebab(key).replaceAll('-', '_').toUpperCase()).join('_');
}

/** The variable that speaks for an option: of `morph` MORPH_X, then DOCOPT_X. One without content counts as not set. */
export function variableOf(program: 'docopt' | 'morph', suffix: string, env: Environment): string | undefined {
  const names = program === 'morph' ? [`MORPH_${suffix}`, `DOCOPT_${suffix}`] : [`DOCOPT_${suffix}`];
  return names.find((name) => env[name] !== undefined && env[name] !== '');
}

/** A global flag out of the environment: DOCOPT_CONFIG, DOCOPT_ENV_FILE. */
export function globalText(program: 'docopt' | 'morph', flag: string, env: Environment): string | undefined {
  const name = variableOf(program, variableSuffix([flag]), env);
  return name === undefined ? undefined : env[name];
}

/** A global switch out of the environment: DOCOPT_JSON=1. Throws USAGE for what is neither yes nor no. */
export function globalSwitch(program: 'docopt' | 'morph', flag: string, env: Environment): boolean {
  const name = variableOf(program, variableSuffix([flag]), env);
  if (name === undefined) return false;
  const value = coerce(env[name]!, BOOLEAN);
  if (typeof value === 'boolean') return value;
  throw new DocOptError('USAGE', `${name} '${value}': expected true or false`, { hint: `It stands for --${flag}.` });
}

const BOOLEAN = SCHEMAS.docopt.train.shape.dryRun;

/**
 * DOCOPT_* and MORPH_* variables that are no option of any command but nearly one, as sentences. Names that are near
 * nothing are somebody else's.
 */
export function misspelledVariables(env: Environment): string[] {
  const found = Object.keys(env).flatMap((name) => {
    const [, prefix, suffix] = /^(DOCOPT|MORPH)_(.+)$/.exec(name) ?? [];
    return suffix === undefined ? [] : [{ name, prefix, suffix }];
  });
  if (found.length === 0) return [];
  const known = new Set([...OTHERS, ...GLOBAL_FLAGS.map(({ flag }) => variableSuffix([flag]))]);
  for (const program of Object.values(SCHEMAS)) {
    for (const schema of Object.values(program)) for (const path of pathsOf(schema)) known.add(variableSuffix(path));
  }
  return found.flatMap(({ name, prefix, suffix }) => {
    if (known.has(suffix)) return [];
    const meant = nearest(suffix, known);
    return meant === undefined ? [] : [`${name} is not known and was ignored. Did you mean '${prefix}_${meant}'?`];
  });
}

/** NAME=value lines; quotes and `export ` allowed. */
export function readEnvFile(path: string): Record<string, string> {
  if (!existsSync(path))
    throw new DocOptError('USAGE', `--env-file ${path} does not exist`, { hint: 'Check the path.' });
  const values: Record<string, string> = {};
  readFileSync(path, 'utf8')
    .split(/\r?\n/)
    .forEach((line, index) => {
      if (/^\s*(#|$)/.test(line)) return;
      const match = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line);
      // The line itself is not shown: it may hold a key.
      if (match === null)
        throw new DocOptError('CONFIG', `${path}:${index + 1}: expected NAME=value`, {
          hint: 'One variable per line.',
        });
      values[match[1]] = match[2].replace(/^(["'])(.*)\1$/, '$2');
    });
  return values;
}
