/** The few questions the command line asks of a zod schema: what is at this path, what kind is it, how is it documented. */
import type { z } from 'zod';

export type Schema = z.core.$ZodType;

export interface OptionMeta {
  /** One line for --help. */
  help?: string;
  /** Single-letter flag. */
  alias?: string;
  /** Placeholder in --help, e.g. DIR. */
  value?: string;
  /** Given by position on the command line (order of the schema's keys). */
  positional?: boolean;
  /** A list whose flag is repeated instead of split at commas and blanks: paths. */
  repeat?: boolean;
  /** A file or folder: in a configuration file it is relative to that file. */
  path?: boolean;
  /** Takes a short form (`bm25`) or a block (`{driver: 'bm25'}`). */
  spec?: 'retriever' | 'policy' | 'reranker' | 'embedder' | 'selector';
}

interface Definition {
  type: string;
  innerType?: Schema;
  in?: Schema;
  element?: Schema;
  options?: readonly Schema[];
  shape?: Record<string, Schema>;
  valueType?: Schema;
  entries?: Record<string, string>;
  values?: readonly unknown[];
  defaultValue?: unknown;
}

export function definitionOf(schema: Schema): Definition {
  return schema._zod.def as unknown as Definition;
}

/** The schema under optional(), default(), nullable(), readonly() and the input side of a pipe. */
export function unwrap(schema: Schema): Schema {
  let current = schema;
  for (;;) {
    const definition = definitionOf(current);
    if (definition.innerType !== undefined) current = definition.innerType;
    else if (definition.type === 'pipe' && definition.in !== undefined) current = definition.in;
    else return current;
  }
}

export function metaOf(schema: Schema): OptionMeta {
  const found = (schema as z.ZodType).meta?.() as OptionMeta | undefined;
  return found ?? {};
}

export function defaultOf(schema: Schema): unknown {
  let current: Schema | undefined = schema;
  while (current !== undefined) {
    const definition = definitionOf(current);
    if (definition.type === 'default' || definition.type === 'prefault') return definition.defaultValue;
    current = definition.innerType;
  }
  return undefined;
}

/** Property schemas of an object schema; of a union, all members' properties (first one wins). */
export function shapeOf(schema: Schema): Record<string, Schema> {
  const bare = unwrap(schema);
  const definition = definitionOf(bare);
  if (definition.type === 'object') return definition.shape ?? {};
  if (definition.type === 'union') {
    const all: Record<string, Schema> = {};
    for (const option of definition.options ?? []) {
      for (const [key, value] of Object.entries(shapeOf(option))) all[key] ??= value;
    }
    return all;
  }
  if (definition.type === 'array' && definition.element !== undefined) return shapeOf(definition.element);
  return {};
}

/** The schema at a dotted path, or undefined. Arrays are looked through, so retriever.k1 works for a list of retrievers. */
export function schemaAt(schema: Schema, path: readonly string[]): Schema | undefined {
  let current: Schema | undefined = schema;
  for (const key of path) {
    if (current === undefined) return undefined;
    const shape = shapeOf(current);
    current = Object.hasOwn(shape, key) ? shape[key] : undefined;
  }
  return current;
}

/** Every dotted path that a scalar can be set at. */
export function* pathsOf(schema: Schema, prefix: readonly string[] = [], depth = 0): Generator<readonly string[]> {
  for (const [key, property] of Object.entries(shapeOf(schema))) {
    const path = [...prefix, key];
    yield path;
    if (depth < 4) yield* pathsOf(property, path, depth + 1);
  }
}

export type Kind = 'boolean' | 'number' | 'array' | 'object' | 'text' | 'mixed';

export function kindOf(schema: Schema): Kind {
  const bare = unwrap(schema);
  const definition = definitionOf(bare);
  switch (definition.type) {
    case 'boolean':
      return 'boolean';
    case 'number':
    case 'int':
      return 'number';
    case 'array':
      return 'array';
    case 'object':
    case 'record':
      return 'object';
    case 'union': {
      const kinds = new Set((definition.options ?? []).map(kindOf));
      return kinds.size === 1 ? [...kinds][0] : kinds.has('array') ? 'array' : 'mixed';
    }
    default:
      return 'text';
  }
}

/** A string from a flag, an environment variable or --set, as the kind the schema wants; validation proper comes later. */
export function coerce(text: string, schema: Schema | undefined): unknown {
  if (schema === undefined) return scalar(text);
  switch (kindOf(schema)) {
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
    case 'boolean':
      return /^(true|1|yes|on)$/i.test(text) ? true : /^(false|0|no|off)$/i.test(text) ? false : text;
    case 'array': {
      const element = arrayElement(schema);
      return text
        .split(/[\s,]+/)
        .filter((part) => part !== '')
        .map((part) => coerce(part, element));
    }
    case 'mixed':
    case 'object':
      return text.startsWith('{') ? parseObject(text) : scalar(text);
    case 'text':
      return text;
  }
}

export function arrayElement(schema: Schema): Schema | undefined {
  const bare = unwrap(schema);
  const definition = definitionOf(bare);
  if (definition.type === 'array') return definition.element;
  if (definition.type === 'union') {
    for (const option of definition.options ?? []) {
      const element = arrayElement(option);
      if (element !== undefined) return element;
    }
  }
  return undefined;
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function scalar(text: string): unknown {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  return text;
}
