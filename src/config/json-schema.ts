/** The configuration file as JSON Schema, generated so that editors and the command line can never disagree. */
import { z } from 'zod';
import { metaOf, type Schema } from './inspect.ts';
import { NAMES, PREFIXES, type SpecKind } from './names.ts';
import { SCHEMAS } from './schemas/mod.ts';

type Json = Record<string, unknown>;

export function configJsonSchema(): Json {
  const top: Record<string, Json> = {};
  const commands: Record<string, Json> = {};
  for (const program of Object.values(SCHEMAS)) {
    for (const [name, schema] of Object.entries(program)) {
      // A command that both programs have shares one section.
      const properties = (commands[name]?.properties ?? {}) as Record<string, Json>;
      for (const [key, option] of Object.entries(schema.shape as Record<string, Schema>)) {
        properties[key] ??= optionJson(option);
        top[key] ??= properties[key];
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
  };
}

function optionJson(option: Schema): Json {
  const { help, spec } = metaOf(option);
  const { $schema: _, ...json } = z.toJSONSchema(option as z.ZodType, { io: 'input', override: dropMeta }) as Json;
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

/** Our own metadata (help, alias, ...) is not JSON Schema. */
function dropMeta({ jsonSchema }: { jsonSchema: Json }): void {
  for (const key of ['help', 'alias', 'value', 'positional', 'spec', 'repeat', 'path']) delete jsonSchema[key];
}
