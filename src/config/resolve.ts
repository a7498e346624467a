/**
 * One set of options from all their sources. Later wins: defaults, configuration file (top level, then its
 * `commands.<name>` section), environment, --set, flags. Short forms become blocks; a partial block
 * ({k1: 0.9}) completes the block below it, a block with another driver replaces it.
 */
import { existsSync } from 'node:fs';
import { dirname, resolve as resolvePath } from 'node:path';
import type { z } from 'zod';
import { DocOptError } from '../errors.ts';
import { didYouMean } from '../text/suggest.ts';
import type { ConfigFile } from './config-file.ts';
import { variableOf, variableSuffix } from './environment.ts';
import { coerce, kindOf, metaOf, pathsOf, type Schema, schemaAt, shapeOf } from './inspect.ts';
import { invalidOption, type Layer } from './invalid-option.ts';
import { kebab } from './parse-arguments.ts';
import { SCHEMAS } from './schemas/mod.ts';
import { splitShortForms } from './short-form.ts';
import { expandShortForm, isShortForm, type SpecKind, shortForms } from './specs.ts';

export interface OptionSources {
  readonly program: 'docopt' | 'morph';
  readonly command: string;
  readonly flags: Readonly<Record<string, unknown>>;
  /** Raw KEY=VALUE texts of --set. */
  readonly set: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file?: ConfigFile;
}

type Values = Record<string, unknown>;

export function resolveOptions<S extends z.ZodObject>(
  schema: S,
  sources: OptionSources,
): { options: z.infer<S>; given: Set<string> } {
  const layers: Layer[] = [];
  if (sources.file !== undefined) layers.push(...fileLayers(schema, sources.file, sources.command));
  layers.push(environmentLayer(schema, sources.program, sources.env));
  layers.push({ values: setLayer(schema, sources.set), nameOf: (path) => `--set ${path.join('.')}` });
  layers.push({ values: { ...sources.flags }, nameOf: () => undefined });

  let merged: Values = {};
  for (const { values } of layers) merged = mergeLayer(schema, merged, values);
  for (const [key, value] of Object.entries(merged)) {
    if (isPartialBlock(schema.shape[key] as Schema, value)) {
      throw new DocOptError(
        'CONFIG',
        `${key} has settings (${Object.keys(value as Values).join(', ')}) but names no driver`,
        {
          hint: `Say which one: --${kebab(key)} ${shortForms(metaOf(schema.shape[key] as Schema).spec!)[0]}`,
        },
      );
    }
  }

  const result = schema.safeParse(merged);
  if (!result.success) throw invalidOption(schema, result.error, merged, layers);
  return { options: result.data, given: new Set(Object.keys(merged)) };
}

function fileLayers(schema: z.ZodObject, file: ConfigFile, command: string): Layer[] {
  const { $schema: _, commands, ...top } = file.values;
  const allKeys = new Set<string>();
  for (const program of Object.values(SCHEMAS)) {
    for (const commandSchema of Object.values(program))
      for (const key of Object.keys(commandSchema.shape)) allKeys.add(key);
  }
  for (const key of Object.keys(top)) {
    if (!allKeys.has(key)) throw unknownKey(file.path, key, [...allKeys, 'commands']);
  }
  const layers: Layer[] = [{ values: pick(top, schema, file), nameOf: (path) => `${file.path}: ${path.join('.')}` }];
  if (commands !== undefined && commands !== null) {
    if (!isPlain(commands)) throw notASection(file.path, 'commands', commands);
    const names = Object.values(SCHEMAS).flatMap((program) => Object.keys(program));
    for (const [name, section] of Object.entries(commands)) {
      if (!names.includes(name))
        throw unknownKey(
          file.path,
          `commands.${name}`,
          names.map((n) => `commands.${n}`),
        );
      if (section === undefined || section === null) continue;
      if (!isPlain(section)) throw notASection(file.path, `commands.${name}`, section);
      if (name !== command) continue;
      const where = `${file.path}, section commands.${name}`;
      // Both programs may have a command of that name (doctor); what is meant for the other one is passed over.
      const known = Object.values(SCHEMAS).flatMap((program: Record<string, z.ZodObject>) =>
        Object.keys(program[name]?.shape ?? {}),
      );
      for (const key of Object.keys(section)) if (!known.includes(key)) throw unknownKey(where, key, known);
      layers.push({ values: pick(section, schema, file), nameOf: (path) => `${where}: ${path.join('.')}` });
    }
  }
  return layers;
}

/**
 * What a command has an option for; a key without a value (`out:`) is as good as none. Paths are relative to the file that
 * names them, and a list may be written as one text, as on the command line.
 */
function pick(values: Values, schema: z.ZodObject, file: ConfigFile): Values {
  const picked: Values = {};
  for (const [key, value] of Object.entries(values)) {
    if (!Object.hasOwn(schema.shape, key) || value === null) continue;
    const option = schema.shape[key] as Schema;
    const { spec, path } = metaOf(option);
    if (path === true)
      picked[key] = Array.isArray(value) ? value.map((one) => besideFile(one, file)) : besideFile(value, file);
    else
      picked[key] =
        typeof value === 'string' && spec === undefined && kindOf(option) === 'array' ? coerce(value, option) : value;
  }
  return picked;
}

function besideFile(value: unknown, { path }: ConfigFile): unknown {
  return typeof value === 'string' && value !== '' ? resolvePath(dirname(path), value) : value;
}

function notASection(path: string, key: string, value: unknown): DocOptError {
  const found = Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  return new DocOptError('CONFIG', `${path}: ${key} is ${found}, expected keys and values`, {
    hint: 'Example: commands: {train: {steps: 100}}',
  });
}

/** DOCOPT_RETRIEVER_K1=0.9. `morph` reads MORPH_* first, then DOCOPT_*. Empty values count as unset. */
function environmentLayer(schema: z.ZodObject, program: 'docopt' | 'morph', env: OptionSources['env']): Layer {
  const layer: Values = {};
  const variables = new Map<string, string>();
  for (const path of pathsOf(schema)) {
    const name = variableOf(program, variableSuffix(path), env);
    if (name === undefined) continue;
    setAt(layer, path, valueFor(schemaAt(schema, path), env[name]!));
    variables.set(path.join('.'), name);
  }
  return { values: layer, nameOf: (path) => variables.get(path.join('.')) };
}

function setLayer(schema: z.ZodObject, settings: readonly string[]): Values {
  const layer: Values = {};
  for (const setting of settings) {
    const equals = setting.indexOf('=');
    if (equals < 1) {
      // A value stays unsaid: it may be a key.
      throw new DocOptError('USAGE', `--set ${setting.split('=')[0]}: expected KEY=VALUE`, {
        hint: 'Example: --set retriever.k1=0.9',
      });
    }
    const path = setting.slice(0, equals).split('.');
    const target = schemaAt(schema, path);
    if (target === undefined) {
      const parent = schemaAt(schema, path.slice(0, -1)) ?? schema;
      const known = Object.keys(shapeOf(path.length > 1 ? parent : schema));
      throw new DocOptError('CONFIG', `--set: unknown key '${path.join('.')}'.${didYouMean(path.at(-1)!, known)}`, {
        hint: known.length > 0 ? `Known here: ${known.join(', ')}.` : 'See --help.',
      });
    }
    setAt(layer, path, valueFor(target, setting.slice(equals + 1)));
  }
  return layer;
}

function valueFor(schema: Schema | undefined, text: string): unknown {
  if (schema !== undefined && metaOf(schema).spec !== undefined && !text.startsWith('{')) {
    return kindOf(schema) === 'array' ? splitShortForms(text) : text;
  }
  return coerce(text, schema);
}

/** Writes value at path; a string already standing on the way is a short form and becomes {driver-by-short-form} later, so it is kept under ''. */
function setAt(target: Values, path: readonly string[], value: unknown): void {
  let current = target;
  for (const key of path.slice(0, -1)) {
    const next = current[key];
    if (typeof next === 'string' || Array.isArray(next)) current[key] = { [SHORT]: next };
    else if (typeof next !== 'object' || next === null) current[key] = {};
    current = current[key] as Values;
  }
  const last = path.at(-1)!;
  const standing = current[last];
  // `retriever=bm25` after `retriever.k1=1.2` in the same layer must not erase it.
  if (
    typeof standing === 'object' &&
    standing !== null &&
    !Array.isArray(standing) &&
    (typeof value === 'string' || Array.isArray(value))
  ) {
    (standing as Values)[SHORT] = value;
  } else {
    current[last] = value;
  }
}

/** Key under which a layer keeps a short form that stands beside settings of the same block. */
const SHORT = ' short form';

function mergeLayer(schema: z.ZodObject, below: Values, layer: Values): Values {
  const merged: Values = { ...below };
  for (const [key, value] of Object.entries(layer)) {
    if (value === undefined) continue;
    const option = schema.shape[key] as Schema | undefined;
    const kind = option === undefined ? undefined : metaOf(option).spec;
    if (kind === undefined) {
      const below = merged[key];
      merged[key] = isPlain(value) && isPlain(below) ? { ...below, ...value } : value;
      continue;
    }
    let current = merged[key];
    for (const part of specParts(value)) current = mergeSpec(kind, current, part);
    merged[key] = wantsList(option!) && isPlain(current) && 'driver' in current ? [current] : current;
  }
  return merged;
}

/** A configuration names one retriever for all commands; those that take several get a list of one. */
function wantsList(option: Schema): boolean {
  return kindOf(option) === 'array';
}

/** A layer's value as the steps it takes: the short form first, then the settings on top. */
function specParts(value: unknown): unknown[] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && SHORT in value) {
    const { [SHORT]: short, ...rest } = value as Values;
    return [short, rest];
  }
  return [value];
}

function mergeSpec(kind: SpecKind, below: unknown, above: unknown): unknown {
  if (Array.isArray(above)) {
    // The one of the configuration is completed in a list too: `--retriever bm25` means the same to train and to eval.
    const base = Array.isArray(below) && below.length === 1 ? below[0] : isPlain(below) ? below : undefined;
    return above.map((one) => mergeSpec(kind, base, one));
  }
  const block = expand(kind, above);
  if (Array.isArray(below) && isPlain(block) && !('driver' in block))
    return below.map((one) => mergeSpec(kind, one, block));
  if (!isPlain(block) || !isPlain(below)) return block;
  if ('driver' in block && 'driver' in below && block.driver !== below.driver) return block;
  const merged: Values = { ...below };
  for (const [key, value] of Object.entries(block)) {
    merged[key] = key === 'embedder' ? mergeSpec('embedder', below[key], value) : value;
  }
  return merged;
}

function expand(kind: SpecKind, value: unknown): unknown {
  if (typeof value === 'string') {
    // A policy may also be the folder of an experiment: that is for the command to open.
    if (kind === 'policy' && !isShortForm('policy', value) && existsSync(value)) return value;
    return expandShortForm(kind, value);
  }
  if (isPlain(value) && typeof value.embedder === 'string')
    return { ...value, embedder: expandShortForm('embedder', value.embedder) };
  return value;
}

function isPlain(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isPartialBlock(option: Schema | undefined, value: unknown): boolean {
  return option !== undefined && metaOf(option).spec !== undefined && isPlain(value) && !('driver' in value);
}

function unknownKey(where: string, key: string, known: readonly string[]): DocOptError {
  return new DocOptError('CONFIG', `${where}: unknown key '${key}'.${didYouMean(key, known)}`, {
    hint: 'Remove or rename it; `docopt <command> --help` lists the keys (flags in camelCase).',
  });
}
