/** The configuration file as JSON Schema, generated so that editors and the command line can never disagree. */
import { z } from 'zod';
import { definitionOf, metaOf, type Schema, shapeOf } from './inspect.ts';
import { NAMES, PREFIXES, type SpecKind } from './names.ts';
import { SCHEMAS } from './schemas/mod.ts';
import { BLOCKS } from './specs.ts';

type Json = Record<string, unknown>;

/** What stands under $defs, once: each kind of block, and each of its drivers. */
const NAMED = z.registry<{ id: string }>();
for (const [kind, union] of Object.entries(BLOCKS)) {
  NAMED.add(union, { id: kind });
  for (const member of definitionOf(union).options ?? []) {
    const [driver] = definitionOf(shapeOf(member).driver).values as string[];
    NAMED.add(member, { id: `${kind}.${driver}` });
  }
}

export function configJsonSchema(): Json {
  const definitions: Record<string, Json> = {};
  const top: Record<string, Json> = {};
  const commands: Record<string, Json> = {};
  for (const program of Object.values(SCHEMAS)) {
    for (const [name, schema] of Object.entries(program)) {
      // A command that both programs have shares one section.
      const properties = (commands[name]?.properties ?? {}) as Record<string, Json>;
      for (const [key, option] of Object.entries(schema.shape as Record<string, Schema>)) {
        const json = optionJson(option, definitions);
        top[key] ??= json;
        // Most commands mean by an option what all mean.
        properties[key] ??= JSON.stringify(json) === JSON.stringify(top[key]) ? { $ref: `#/properties/${key}` } : json;
      }
      commands[name] = { type: 'object', properties, additionalProperties: false };
    }
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'docopt.config',
    description: 'Keys are the flags of all commands in camelCase; `commands` holds settings of one command only.',
    type: 'object',
    properties: {
      $schema: { type: 'string' },
      ...top,
      commands: { type: 'object', properties: commands, additionalProperties: false },
    },
    additionalProperties: false,
    $defs: definitions,
  };
}

/** Definitions that it refers to are added to `definitions`. */
function optionJson(option: Schema, definitions: Record<string, Json>): Json {
  const { help, spec } = metaOf(option);
  const whole = z.toJSONSchema(option as z.ZodType, { io: 'input', metadata: NAMED, override: dropId });
  const { $schema: _, $defs, ...json } = whole as Json;
  Object.assign(definitions, $defs);
  const described = help === undefined ? json : { description: help, ...json };
  return spec === undefined ? described : { description: help, anyOf: [shortFormJson(spec), withoutDescription(json)] };
}

/** A block may be written as its short form, settings behind a colon; a policy also as the folder of an experiment. */
function shortFormJson(kind: SpecKind): Json {
  const names = Object.keys(NAMES[kind]);
  if (kind === 'policy') return { type: 'string', examples: names };
  const plain = names.map((name) => `${name}(:.+)?`);
  const withArgument = Object.keys(PREFIXES[kind]).map((prefix) => `${prefix}:.+`);
  return { type: 'string', pattern: `^(${[...plain, ...withArgument].join('|')})$`, examples: names };
}

function withoutDescription({ description: _, ...json }: Json): Json {
  return json;
}

/** Where a definition stands says its name. */
function dropId({ jsonSchema }: { jsonSchema: Json }): void {
  delete jsonSchema.id;
}
