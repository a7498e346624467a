import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configJsonSchema } from '../../../src/config/json-schema.ts';
import { SCHEMAS } from '../../../src/config/schemas/mod.ts';

describe('the JSON Schema of the configuration', () => {
  it('in configs/ is the generated one (node scripts/json-schema.mjs writes it)', () => {
    const file = join(import.meta.dirname, '../../../configs/docopt.schema.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(configJsonSchema())));
  });

  it('knows every key of every command', () => {
    const { properties } = configJsonSchema() as {
      properties: Record<string, { properties?: Record<string, unknown> }>;
    };
    for (const program of Object.values(SCHEMAS)) {
      for (const [name, schema] of Object.entries(program)) {
        expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(schema.shape)));
        const { properties: own } = properties.commands.properties![name] as { properties: object };
        expect(Object.keys(own)).toEqual(expect.arrayContaining(Object.keys(schema.shape)));
      }
    }
    // A section that both programs have holds the keys of both, and nothing else.
    for (const name of Object.keys(properties.commands.properties!)) {
      const both = Object.values(SCHEMAS).flatMap((program: Record<string, { shape: object }>) =>
        Object.keys(program[name]?.shape ?? {}),
      );
      const { properties: own } = properties.commands.properties![name] as { properties: object };
      expect(new Set(Object.keys(own))).toEqual(new Set(both));
    }
  });

  it('says each block once, and every reference leads somewhere', () => {
    const schema = configJsonSchema();
    const references: string[] = [];
    JSON.stringify(schema, (key, value) => {
      if (key === '$ref') references.push(value);
      return value;
    });
    expect(new Set(references)).toContain('#/$defs/retriever.fusion');
    for (const reference of new Set(references)) {
      const target = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], schema);
      expect(target, reference).toBeTypeOf('object');
    }
    expect(JSON.stringify(schema).split('"const":"late-interaction"').length).toBe(2);
    // Editors load it with every configuration file.
    expect(JSON.stringify(schema).length).toBeLessThan(100_000);
  });
});
