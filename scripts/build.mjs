// Compiles to dist/ when a source is newer than the last build. Installs the pinned dependencies first when they are missing.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCES = ['mod.ts', 'bin', 'src', 'index', 'rewrite', 'train', 'select', 'dataset', 'project', 'bench', 'test'];

/** `npm ci` unless node_modules was installed from this very lock file. */
export function installDependencies() {
  const stamp = join(root, 'node_modules', '.package-lock.json');
  if (existsSync(stamp) && statSync(stamp).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs - 1) return;
  console.error('installing the pinned dependencies (npm ci) ...');
  const npm = process.env.npm_execpath;
  const [command, first] = npm ? [process.execPath, [npm]] : ['npm', []];
  must(
    spawnSync(command, [...first, 'ci', '--no-audit', '--no-fund'], {
      cwd: root,
      stdio: ['ignore', 2, 2],
      shell: !npm && process.platform === 'win32',
    }),
    'npm ci',
  );
}

/** `clean` also removes what deleted sources left behind: for packing. Otherwise a running command keeps its files. */
export function build({ clean = false } = {}) {
  installDependencies();
  const stamp = join(root, 'dist', '.built');
  const newest = Math.max(
    ...['package.json', 'tsconfig.json', 'package-lock.json', ...SOURCES].map((name) => newestIn(join(root, name))),
  );
  if (!clean && existsSync(stamp) && statSync(stamp).mtimeMs >= newest) return;
  if (clean) rmSync(join(root, 'dist'), { recursive: true, force: true });
  must(
    spawnSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', root], {
      cwd: root,
      stdio: ['ignore', 2, 2],
    }),
    'tsc',
  );
  copyData('src');
  for (const bin of ['docopt.js', 'morph.js']) chmodSync(join(root, 'dist', 'bin', bin), 0o755);
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(stamp, '');
}

/** JSON that modules read from beside themselves (shipped weights) travels along. */
function copyData(folder) {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) copyData(path);
    else if (entry.name.endsWith('.json')) {
      mkdirSync(join(root, 'dist', folder), { recursive: true });
      cpSync(join(root, path), join(root, 'dist', path));
    }
  }
}

function newestIn(path) {
  if (!existsSync(path)) return 0;
  const info = statSync(path);
  if (!info.isDirectory()) return info.mtimeMs;
  return Math.max(info.mtimeMs, ...readdirSync(path).map((name) => newestIn(join(path, name))));
}

function must(result, what) {
  if (result.status === 0) return;
  console.error(`${what} failed${result.error ? `: ${result.error.message}` : ''}`);
  process.exit(result.status ?? 1);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  build({ clean: process.argv.includes('--clean') });
