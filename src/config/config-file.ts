/** Finds and reads docopt.config.{yaml,yml,json,ts,js,mjs}, walking up from the working folder. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DocOptError } from '../errors.ts';

export interface ConfigFile {
  readonly path: string;
  readonly values: Record<string, unknown>;
}

const NAMES = ['yaml', 'yml', 'json', 'ts', 'mjs', 'js'].map((extension) => `docopt.config.${extension}`);

/** The nearest configuration file at or above `folder`, or undefined. */
export function findConfigFile(folder: string): string | undefined {
  for (let current = resolve(folder); ; current = dirname(current)) {
    for (const name of NAMES) {
      const candidate = join(current, name);
      if (existsSync(candidate)) return candidate;
    }
    if (dirname(current) === current) return undefined;
  }
}

/** Reads one file into plain values. Throws CONFIG with file and line when it does not parse. */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  const values = await parse(path);
  if (values === null || values === undefined) return { path, values: {} };
  if (typeof values !== 'object' || Array.isArray(values)) {
    throw new DocOptError(
      'CONFIG',
      `${path} holds ${Array.isArray(values) ? 'a list' : `a ${typeof values}`}, not keys and values`,
      {
        hint: 'Start with `docopt init`, which writes a working file.',
      },
    );
  }
  return { path, values: values as Record<string, unknown> };
}

async function parse(path: string): Promise<unknown> {
  switch (extname(path)) {
    case '.yaml':
    case '.yml': {
      const { parseDocument } = await import('yaml');
      const document = parseDocument(readText(path), { prettyErrors: true });
      if (document.errors.length > 0) throw broken(path, document.errors[0].message);
      return plainValues(path, () => document.toJS());
    }
    case '.json':
      try {
        return JSON.parse(readText(path));
      } catch (error) {
        throw broken(path, (error as Error).message);
      }
    case '.ts': {
      const { createJiti } = await import('jiti');
      try {
        return await createJiti(pathToFileURL(path).href, { fsCache: false }).import(path, { default: true });
      } catch (error) {
        throw broken(path, (error as Error).message);
      }
    }
    case '.js':
    case '.mjs':
      try {
        return defaultExport((await import(pathToFileURL(path).href)) as { default?: unknown });
      } catch (error) {
        throw broken(path, (error as Error).message);
      }
    default:
      throw new DocOptError(
        'CONFIG',
        `cannot read configuration file ${path}: its ending is none of yaml, json, ts, mjs`,
        {
          hint: `Name it one of: ${NAMES.join(', ')}.`,
        },
      );
  }
}

/** Anchors may refer to themselves, or be many: neither is a configuration. */
function plainValues(path: string, read: () => unknown): unknown {
  try {
    const values = read();
    JSON.stringify(values);
    return values;
  } catch (error) {
    throw broken(path, /circular/i.test((error as Error).message) ? 'an anchor refers to itself' : `${error}`);
  }
}

function defaultExport(module: { default?: unknown }): unknown {
  if (!('default' in module)) throw new Error('it has no default export');
  return module.default;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    throw new DocOptError('CONFIG', `cannot read configuration file ${path}: ${(error as Error).message}`, {
      hint: 'Check -c/--config.',
      cause: error,
    });
  }
}

function broken(path: string, reason: string): DocOptError {
  return new DocOptError('CONFIG', `${path} does not parse: ${reason.trim()}`, {
    hint: 'Mend the file, or pass another with -c.',
  });
}
