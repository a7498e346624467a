/**
 * A real OpenSearch for tests that ask for one: fetched by Maven, kept in the user's cache, started on a free port in a
 * folder of its own, and never as root, which it refuses.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openZip } from '../../src/data/unzip.ts';
import { modelsFolder } from '../../src/models/models-folder.ts';

const ARTIFACT = 'org.opensearch.distribution.integ-test-zip:opensearch:2.19.1:zip';
const SHA256 = 'af7152d8b7f6f1cee09d47276b32b70479fe6dd8cdbb61213f84eb7f8098b261';
/** The user 'nobody', for who runs the tests as root. */
const NOBODY = 65534;
const SECONDS = 180;

export interface OpenSearch {
  readonly url: string;
  readonly version: string;
  stop(): Promise<void>;
}

/** Why it cannot be started here; undefined = it can. */
export function whyNoOpenSearch(): string | undefined {
  if (process.env.DOCOPT_SERVERS !== '1') return 'DOCOPT_SERVERS=1 is not set';
  if (process.platform === 'win32') return 'not written for Windows';
  if (spawnSync('java', ['-version']).status !== 0) return 'java is not installed';
  if (existsSync(archivePath()) || spawnSync('mvn', ['--version']).status === 0) return undefined;
  return 'mvn is not installed';
}

export async function startOpenSearch(): Promise<OpenSearch> {
  const folder = mkdtempSync(join(tmpdir(), 'docopt-opensearch-'));
  const child = await launch(folder, await freePort());
  const stop = async (): Promise<void> => {
    if (child.process.exitCode === null) {
      const ended = new Promise((resolve) => child.process.once('exit', resolve));
      child.process.kill('SIGKILL');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (let waited = 0; waited < SECONDS; waited++) {
      if (child.process.exitCode !== null) throw new Error(`OpenSearch ended: ${child.said().slice(-2000)}`);
      const answer = await fetch(`${child.url}/_cluster/health?wait_for_status=yellow&timeout=1s`).catch(
        () => undefined,
      );
      if (answer?.ok) {
        const { version } = (await (await fetch(child.url)).json()) as { version: { number: string } };
        return { url: child.url, version: version.number, stop };
      }
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    throw new Error(`OpenSearch did not answer within ${SECONDS} s: ${child.said().slice(-2000)}`);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function launch(
  folder: string,
  port: number,
): Promise<{ process: ChildProcess; url: string; said: () => string }> {
  const zip = await openZip(await archive());
  try {
    for (const { name } of zip.entries.values()) {
      if (name.endsWith('/')) mkdirSync(join(folder, name), { recursive: true });
      else await zip.extract(name, join(folder, name));
    }
  } finally {
    await zip.close();
  }
  const home = join(folder, readdirSync(folder)[0]);
  const asRoot = process.getuid?.() === 0;
  if (asRoot) giveAway(folder);
  const javaHome = spawnSync('java', ['-XshowSettings:properties', '-version'], { encoding: 'utf8' }).stderr.match(
    /java\.home = (.+)/,
  )?.[1];
  const settings = { 'discovery.type': 'single-node', 'http.port': port, 'node.store.allow_mmap': false };
  const child = spawn(
    'bash',
    [join(home, 'bin/opensearch'), ...Object.entries(settings).map(([k, v]) => `-E${k}=${v}`)],
    {
      cwd: home,
      // bin/opensearch ends as the Java process itself, so that the signal reaches it.
      env: { PATH: process.env.PATH, JAVA_HOME: javaHome, OPENSEARCH_JAVA_OPTS: '-Xms512m -Xmx512m' },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(asRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-20_000);
    });
  return { process: child, url: `http://127.0.0.1:${port}`, said: () => said };
}

function giveAway(path: string): void {
  chownSync(path, NOBODY, NOBODY);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) giveAway(inner);
    else chownSync(inner, NOBODY, NOBODY);
  }
}

function archivePath(): string {
  return join(dirname(modelsFolder()), 'servers', 'opensearch-2.19.1.zip');
}

async function archive(): Promise<string> {
  const path = archivePath();
  if (!existsSync(path)) {
    const options = [`-Dartifact=${ARTIFACT}`, '-Dtransitive=false', `-DoutputDirectory=${dirname(path)}`];
    const { status, stdout } = spawnSync(
      'mvn',
      ['--batch-mode', '--quiet', 'dependency:get', 'dependency:copy', ...options],
      {
        encoding: 'utf8',
      },
    );
    if (status !== 0 || !existsSync(path)) throw new Error(`mvn did not fetch ${ARTIFACT}: ${stdout.slice(-1000)}`);
  }
  const found = createHash('sha256').update(readFileSync(path)).digest('hex');
  if (found !== SHA256) throw new Error(`${path} has sha256 ${found}, expected ${SHA256}; remove it and try again`);
  return path;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
