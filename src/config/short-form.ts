/**
 * The one notation for drivers and their settings, read and written: NAME:key=value,key=value. A name alone is the driver
 * with its defaults (`bm25`), and `bm25:analyzer=code,k1=1.2` the same as the block {driver: bm25, analyzer: code, k1: 1.2}.
 * Settings of an embedder inside a retriever need no prefix of their own: `lsa:dimensions=100`.
 */
import { DocOptError } from '../errors.ts';
import { isSecretName } from '../run/redact.ts';
import { didYouMean } from '../text/suggest.ts';
import { coerce, definitionOf, type Schema, schemaAt, shapeOf, unwrap } from './inspect.ts';
import type { Block } from './names.ts';

/** Settings begin at a `:` or `,` that a KEY= follows; a comma without one belongs to the value before it. */
const SETTINGS = /[:,](?=[A-Za-z_][\w.]*=)/;

/** 'bm25:k1=1.2,analyzer=code' -> 'bm25' and its settings, in order. Names with an argument keep it: 'onnx:DIR,pooling=cls'. */
export function splitSettings(text: string): { name: string; settings: readonly (readonly [string, string])[] } {
  const [name, ...parts] = text.split(SETTINGS);
  return {
    name,
    settings: parts.map((part) => {
      const equals = part.indexOf('=');
      return [part.slice(0, equals), part.slice(equals + 1)];
    }),
  };
}

/** Several short forms in one text, apart by blanks or commas: 'bm25:k1=1.2,b=0.4,lsa' are two. */
export function splitShortForms(text: string): string[] {
  return text.split(/\s+|,(?![A-Za-z_][\w.]*=)/).filter((part) => part !== '');
}

/** The block with settings on top. CONFIG for a setting that the driver does not have, with the nearest one. */
export function withSettings(
  block: Block,
  settings: readonly (readonly [string, string])[],
  schema: Schema,
  what: string,
): Block {
  const out = structuredClone(block);
  for (const [key, value] of settings) {
    const at = settingAt(out, key, schema);
    if (at === undefined) {
      const known = settingNames(out, schema);
      throw new DocOptError('CONFIG', `${what}: unknown setting '${key}'.${didYouMean(key, known)}`, {
        hint: known.length === 0 ? 'It has no settings.' : `Known here: ${known.join(', ')}.`,
      });
    }
    at.target[at.key] = coerce(value, at.schema);
  }
  return out;
}

interface Place {
  readonly target: Record<string, unknown>;
  readonly key: string;
  readonly schema: Schema;
}

/** Where a setting lives: in the block, or in the embedder inside it. */
function settingAt(block: Block, dotted: string, union: Schema): Place | undefined {
  const own = memberOf(union, block.driver);
  const path = dotted.split('.');
  const key = path.at(-1)!;
  const found = own === undefined || key === 'driver' ? undefined : schemaAt(own, path);
  if (found !== undefined) {
    let target: Record<string, unknown> = block;
    for (const part of path.slice(0, -1)) target = (target[part] ??= {}) as Record<string, unknown>;
    return { target, key, schema: found };
  }
  const inner = innerBlock(block);
  return inner === undefined || own === undefined ? undefined : settingAt(inner, dotted, shapeOf(own).embedder);
}

function settingNames(block: Block, union: Schema): string[] {
  const own = memberOf(union, block.driver);
  if (own === undefined) return [];
  const shape = shapeOf(own);
  const inner = innerBlock(block);
  const names = Object.keys(shape).filter((key) => key !== 'driver' && !(inner !== undefined && key === 'embedder'));
  return inner === undefined ? names : [...names, ...settingNames(inner, shape.embedder)];
}

function innerBlock({ embedder }: Block): Block | undefined {
  return typeof embedder === 'object' && embedder !== null && 'driver' in embedder ? (embedder as Block) : undefined;
}

/** The schema of one driver out of a union of them. */
function memberOf(union: Schema, driver: string): Schema | undefined {
  const bare = unwrap(union);
  const members = definitionOf(bare).options ?? [bare];
  return members.find((member) => {
    const { driver: name } = shapeOf(member);
    return name !== undefined && definitionOf(name).values?.includes(driver) === true;
  });
}

/** 'bm25:k1=0.9,b=0.4,analyzer=english': everything that a block says beyond its name. What would be a secret is left out. */
export function formatSettings(name: string, settings: readonly (readonly [string, unknown])[]): string {
  const parts = settings
    .filter(([key, value]) => value !== undefined && !isSecretName(key))
    .map(
      ([key, value]) => `${key}=${typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : value}`,
    );
  if (parts.length === 0) return name;
  return `${name}${name.includes(':') ? ',' : ':'}${parts.join(',')}`;
}

/** A block's settings, those of its embedder inside it among them, without the ones that `name` stands for. */
export function settingsOf(block: Readonly<Record<string, unknown>>, named: unknown): (readonly [string, unknown])[] {
  const known = (typeof named === 'object' && named !== null ? named : {}) as Record<string, unknown>;
  return Object.entries(block).flatMap(([key, value]): (readonly [string, unknown])[] => {
    if (key === 'driver') return [];
    if (key === 'embedder' && typeof value === 'object' && value !== null) {
      return settingsOf(value as Record<string, unknown>, known[key]);
    }
    return JSON.stringify(value) === JSON.stringify(known[key]) ? [] : [[key, value]];
  });
}
