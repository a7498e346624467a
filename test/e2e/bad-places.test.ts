/** Where nothing can be written, what must not be written, and who no longer reads: through the real programs. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliResult, finished, start } from '../support/cli.ts';
import { runHere } from '../support/in-process.ts';
import { folderWith, jsonl } from '../support/temp-folder.ts';

const documents = Array.from({ length: 40 }, (_, i) => ({
  _id: `d${i}`,
  title: '',
  text: `function part${i}(token${i}) { return open${i % 7}(token${i}, ${i % 5}); }`,
}));
const cwd = folderWith({
  'data/corpus.jsonl': jsonl(...documents),
  'data/queries.jsonl': jsonl(...documents.map((_, i) => ({ _id: `q${i}`, text: `open${i % 7} the token${i}` }))),
  'data/qrels/test.tsv': `query-id\tcorpus-id\tscore\n${documents.map((_, i) => `q${i}\td${i}\t1\n`).join('')}`,
  'code/a.ts': '/** Adds the second number to the first one. */\nexport function add(a, b) {\n  return a + b;\n}\n',
  file: '',
});
const at = (...names: string[]): string => join(cwd, ...names);

const train = [
  ...['docopt', 'train', '--data', 'data', '--retriever', 'bm25', '--policy', 'edit', '--steps', '2'],
  ...['--no-baselines', '--metrics', 'nDCG@5'],
];
/** Every command that writes, told to write to `out`. The first four can replace. */
const writers = (out: string): string[][] => [
  ['docopt', 'dataset', 'from-code', 'code', '--out', out],
  ['docopt', 'dataset', 'split', 'data', '--out', out],
  ['docopt', 'index', '--data', 'data', '--retriever', 'bm25', '--out', out],
  ['docopt', 'rewrite-corpus', '--data', 'data', '--policy', 'identity', '--out', out],
  ['docopt', 'eval', '--data', 'data', '--retriever', 'bm25', '--save-runs', out],
  [...train, '--out', out],
  ['docopt', 'init', out, '--template', 'beir'],
  ['docopt', 'demo', '--out', out],
];

async function refused(argv: readonly string[], message: RegExp, folder = cwd): Promise<void> {
  const { status, stdout } = await runHere([...argv, '--json'], { cwd: folder });
  const { error } = JSON.parse(stdout) as { error: { code: string; message: string; hint: string } };
  expect([argv.join(' '), status === 1 || status === 2, error]).toEqual([
    argv.join(' '),
    true,
    {
      code: expect.stringMatching(/^(ENVIRONMENT|USAGE)$/),
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/\S/),
    },
  ]);
}

beforeAll(async () => {
  // Once for all: no command below may fail for want of a split.
  expect((await runHere(['docopt', 'dataset', 'split', 'data'], { cwd })).status).toBe(0);
}, 60_000);

describe('places where nothing can be made', () => {
  it.each([
    ['a file', 'file', /file.*(is a file|holds no|exists)/, true],
    ['below a file', 'file/below', /file.* (is a file|is read-only)/, true],
    ['/proc', '/proc/docopt-out', /\/proc.*(nothing can be created there|is read-only)/, existsSync('/proc/self')],
    ['/sys', '/sys/docopt-out', /\/sys.*(permission denied|not permitted|is read-only)/, existsSync('/sys/kernel')],
    ['a name that is too long', `${'n'.repeat(300)}/x`, /n{9}.*the name is too long/, true],
  ])('%s', async (_, place, message, here) => {
    if (!here) return;
    for (const argv of writers(place)) await refused(argv, message);
    expect(readdirSync(cwd).sort()).toEqual(['code', 'data', 'file']);
  });

  it('a read-only file system', async (test) => {
    const shut = at('shut');
    mkdirSync(shut);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,ro', 'tmpfs', shut], { stdio: 'ignore' });
    } catch {
      rmSync(shut, { recursive: true });
      test.skip('no file system could be mounted read-only');
    }
    try {
      for (const argv of writers('shut/out')) await refused(argv, /shut.*read-only/);
      expect(readdirSync(shut)).toEqual([]);
    } finally {
      execFileSync('umount', [shut]);
      rmSync(shut, { recursive: true });
    }
  }, 60_000);

  it('--force takes nothing but its own away', async () => {
    mkdirSync(at('photos'));
    writeFileSync(at('photos/cat.jpg'), 'cat');
    for (const argv of writers('photos').slice(0, 4)) await refused([...argv, '--force'], /photos/);
    expect(readdirSync(at('photos'))).toEqual(['cat.jpg']);
    rmSync(at('photos'), { recursive: true });
  });
});

describe('a full disk', () => {
  const disk = at('disk');
  let mounted = false;
  beforeAll(() => {
    mkdirSync(disk);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk], { stdio: 'ignore' });
      mounted = true;
    } catch {
      // Only root may, and not everywhere.
    }
  });
  afterAll(() => {
    if (mounted) execFileSync('umount', [disk]);
    rmSync(disk, { recursive: true, force: true });
  });

  it('is named with the file that found no room, leaves nothing half, and the same command goes on later', async (test) => {
    if (!mounted) test.skip('no file system could be mounted to fill up');
    cpSync(at('data'), join(disk, 'data'), { recursive: true });
    for (const [argv, rooms, ...later] of [
      [
        ['docopt', 'index', '--data', 'data', '--retriever', 'bm25', '--out', 'index'],
        [0, 8_000],
      ],
      [
        ['docopt', 'rewrite-corpus', '--data', 'data', '--policy', 'identity', '--out', 'corpus'],
        [0, 8_000],
      ],
      [[...train, '--out', 'exp'], [0, 8_000], '--resume'],
      [['docopt', 'eval', '--data', 'data', '--retriever', 'bm25', '--save-runs', 'runs'], [0]],
    ] as const) {
      for (const room of rooms) {
        fillUp(join(disk, 'filler'), room);
        await refused(argv, /^cannot write \S+: no space left on the device$/, disk);
        rmSync(join(disk, 'filler'));
      }
      execFileSync('mount', ['-o', 'remount,size=4m', disk]);
      const { status, stderr } = await runHere([...argv, ...later], { cwd: disk });
      expect([status, stderr]).toEqual([0, expect.any(String)]);
      expect(readdirSync(disk).filter((name) => /partial|journal|lock|tmp/.test(name))).toEqual([]);
      for (const name of ['index', 'corpus', 'exp', 'runs', '.docopt'])
        rmSync(join(disk, name), { recursive: true, force: true });
      execFileSync('mount', ['-o', 'remount,size=64k', disk]);
    }
  }, 60_000);

  /** Leaves about `room` bytes. */
  function fillUp(path: string, room: number): void {
    let blocks = 0;
    try {
      for (; ; blocks++) writeFileSync(path, Buffer.alloc(1024), { flag: 'a' });
    } catch {
      writeFileSync(path, Buffer.alloc(Math.max(0, blocks - Math.ceil(room / 1024)) * 1024));
    }
  }
});

describe('keys', () => {
  it('of the environment and of flags are in no output and in no artefact', async () => {
    const key = 'sk-fake-0123456789abcdef';
    const env = { OPENAI_API_KEY: key, MORPH_API_KEY: `${key}-morph`, DOCOPT_API_KEY: `${key}-docopt` };
    let said = '';
    const go = async (status: number, ...argv: string[]): Promise<void> => {
      const result = await runHere(argv, { cwd, env });
      said += result.stdout + result.stderr;
      expect([argv, result.status]).toEqual([argv, status]);
    };
    await go(0, ...train, '--out', 'keys/exp', '--verbose');
    await go(0, 'docopt', 'rewrite-corpus', '--policy', 'keys/exp', '--out', 'keys/corpus', '--json');
    await go(0, 'docopt', 'index', '--corpus', 'keys/corpus', '--out', 'keys/index', '--verbose');
    await go(0, 'docopt', 'doctor', '--json');
    await go(0, 'morph', 'select', 'token1', '--index', 'keys/index', '--json');
    await go(2, 'morph', 'serve', '--api-key', key, '--port', '99999', '--verbose');
    await go(2, 'morph', 'serve', `--api-key=${key}`, key, '--json');
    await go(2, 'morph', 'serve', '--set', `apiKey.x=${key}`, '--json');
    await go(1, 'morph', 'serve', '--index', `${key}-morph`, '--port', '0', '--json');
    expect(said).toContain('[redacted]');
    expect(said).not.toContain(key);
    const files = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    expect(files.length).toBeGreaterThan(20);
    for (const { parentPath, name } of files)
      expect([name, readFileSync(join(parentPath, name)).includes(key)]).toEqual([name, false]);
  }, 60_000);
});

describe('streams', () => {
  it('morph serve --json says where it listens in one JSON document', async () => {
    const child = start(['morph', 'serve', '--index', 'keys/index', '--port', '0', '--json'], { cwd });
    const done = finished(child);
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    child.kill('SIGTERM');
    const { status, stdout } = await done;
    expect([status, JSON.parse(stdout)]).toEqual([
      0,
      { message: expect.stringMatching(/^listening on http:/), url: expect.stringMatching(/^http:\S+:\d+$/) },
    ]);
  });

  it('a reader that went away ends quietly; a full one is an error', async () => {
    const argv = ['docopt', 'eval', '--data', 'data', '--retriever', 'bm25', '--json'];
    const child = start(argv, { cwd });
    child.stdout?.destroy();
    const closed = await finished(child);
    expect([closed.status, closed.stderr]).toEqual([0, expect.not.stringContaining('EPIPE')]);
    if (!existsSync('/dev/full')) return;
    const full = shell('"$0" "$@" > /dev/full', argv);
    expect([full.status, full.stderr]).toEqual([
      1,
      expect.stringContaining('docopt: cannot write standard output: no space left on the device\n'),
    ]);
  });
});

/** A shell line whose "$0" "$@" is the command. */
function shell(line: string, argv: readonly string[]): CliResult {
  const [program, ...rest] = argv;
  const script = join(import.meta.dirname, '..', '..', 'dist', 'bin', `${program}.js`);
  expect(statSync(script).isFile()).toBe(true);
  try {
    const stdout = execFileSync('sh', ['-c', line, process.execPath, script, ...rest], { cwd, stdio: 'pipe' });
    return { status: 0, signal: null, stdout: String(stdout), stderr: '' };
  } catch (error) {
    const { status, stderr } = error as { status: number; stderr: Buffer };
    return { status, signal: null, stdout: '', stderr: String(stderr) };
  }
}
