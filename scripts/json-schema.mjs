// Writes configs/docopt.schema.json from the zod schemas, for editors. A test holds it current.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';

build();
const { configJsonSchema } = await import('../dist/src/config/json-schema.js');
writeFileSync(
  join(import.meta.dirname, '..', 'configs', 'docopt.schema.json'),
  `${JSON.stringify(configJsonSchema(), null, 2)}\n`,
);
