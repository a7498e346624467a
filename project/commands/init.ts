/** `docopt init`: a configuration file and an example data set that runs offline. */
import { cpSync, existsSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { defineCommand } from '../../src/config/command.ts';
import { initSchema } from '../../src/config/schemas/mod.ts';
import { makeFolder, writeFileAtomic } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { packageFolder } from '../../src/run/version.ts';
import { configTemplate } from '../config-template.ts';

/** Example data of each template, inside the package. `beir` brings none: the user has a data set already. */
const EXAMPLES = { code: 'examples/code', prose: 'examples/prose', beir: undefined } as const;

export const initCommand = defineCommand({
  name: 'init',
  summary: 'Writes docopt.config.yaml and, for code and prose, a small data set to try it on.',
  details: 'Nothing that exists is overwritten unless --yes is given.',
  schema: initSchema,
  examples: [
    ['docopt init', 'a configuration and an example of documented code, here'],
    ['docopt init search --template prose', 'the same for prose, in ./search'],
    ['docopt init --template beir', 'a configuration only, for a data set that you have'],
  ],
  async run(options) {
    const config = join(options.dir, 'docopt.config.yaml');
    const data = join(options.dir, 'data');
    const example = EXAMPLES[options.template];
    const taken = [config, ...(example === undefined ? [] : [data])].filter((path) => existsSync(path));
    if (taken.length > 0 && !options.yes) {
      throw new DocOptError('USAGE', `${taken.join(' and ')} ${taken.length > 1 ? 'exist' : 'exists'}`, {
        hint: 'Pass --yes to overwrite, or another folder.',
      });
    }
    await makeFolder(options.dir);
    if (example !== undefined) cpSync(join(packageFolder, example), data, { recursive: true });
    await writeFileAtomic(config, [configTemplate(options.template, schemaPath(options.dir))]);
    const next = options.dir === '.' ? [] : [`cd ${options.dir}`];
    const steps =
      options.template === 'code'
        ? ['docopt validate', 'docopt train', 'docopt rewrite-corpus', 'morph serve']
        : ['docopt validate', 'docopt eval', 'docopt index', 'morph serve'];
    return {
      json: { config, data: example === undefined ? null : data, next: [...next, ...steps] },
      text: [
        `wrote ${config}${example === undefined ? '' : ` and ${data}`}`,
        'next:',
        ...[...next, ...steps].map((line) => `  ${line}`),
      ].join('\n'),
    };
  },
});

/** From the configuration to the schema of the package that is running, wherever it is installed. */
function schemaPath(dir: string): string {
  const path = relative(resolve(dir), join(packageFolder, 'configs', 'docopt.schema.json'))
    .split(sep)
    .join('/');
  return path.startsWith('.') || path.startsWith('/') || /^[A-Za-z]:/.test(path) ? path : `./${path}`;
}
