// `npm test`, `npm run demo`, `npm run bench`: each works on a fresh clone, installing and building what it needs.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [task, ...rest] = process.argv.slice(2);
const TASKS = {
  test: [join('node_modules', 'vitest', 'vitest.mjs'), 'run'],
  demo: [join('dist', 'bin', 'docopt.js'), 'demo'],
  bench: [join('dist', 'bench', 'main.js')],
};
if (!Object.hasOwn(TASKS, task)) {
  console.error(`usage: node scripts/run.mjs ${Object.keys(TASKS).join('|')} [arguments]`);
  process.exit(2);
}
build();
const result = spawnSync(
  process.execPath,
  [...TASKS[task].map((part, i) => (i === 0 ? join(root, part) : part)), ...rest],
  { cwd: root, stdio: 'inherit' },
);
process.exit(result.status ?? 1);
