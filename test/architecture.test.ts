/** Holds the direction rules of docs/architecture.md. Reads every import of the sources, type imports included. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const FEATURES = ['index', 'rewrite', 'train', 'select', 'dataset', 'project'];
/** Where the outside world may be touched: files, network, process, clock. */
const IMPURE = [
  /^bin\//,
  /^src\/(data|store|models|run|config)\//,
  /^(index|rewrite|train|select|dataset|project)\/(command\.ts$|commands\/)/,
  /^select\/serve\//,
];
const PURE = /^(src\/(kernels|metrics|nn|text)\/|(index|train|select|rewrite)\/kernels\/)/;

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sourceFiles(path);
    return entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts') ? [path] : [];
  });
}

interface Source {
  readonly path: string;
  readonly code: string;
  /** Project files, as paths from the root. */
  readonly imports: string[];
  readonly packages: string[];
}

function read(path: string): Source {
  const code = readFileSync(join(root, path), 'utf8');
  const imports: string[] = [];
  const packages: string[] = [];
  for (const [, , specifier] of code.matchAll(
    /(?:^|[\s;])(?:import|export)\b([^'"`;]*?from\s*|\s*\(?\s*)['"]([^'"]+)['"]/g,
  )) {
    if (specifier.startsWith('.'))
      imports.push(
        normalize(join(dirname(path), specifier))
          .split(sep)
          .join('/'),
      );
    else packages.push(specifier);
  }
  return { path, code, imports, packages };
}

const sources = ['mod.ts', ...['bin', 'src', ...FEATURES].flatMap(sourceFiles)].map(read);
const topOf = (path: string): string => path.split('/')[0];
const isWiring = (path: string): boolean =>
  /^[a-z]+\/(command\.ts$|commands\/)/.test(path) && FEATURES.includes(topOf(path));
/** Comments and strings removed, roughly: enough to look for names of globals. */
const bare = (code: string): string =>
  code.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '').replace(/(['"`])(?:\\.|(?!\1)[^\\])*\1/g, "''");

function violations(rule: (source: Source) => string[]): string[] {
  return sources.flatMap((source) => rule(source).map((what) => `${source.path}: ${what}`));
}

describe('architecture', () => {
  it('there is something to check', () => {
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.flatMap((source) => source.imports).length).toBeGreaterThan(200);
  });

  it('src imports src only', () => {
    expect(
      violations(({ path, imports }) =>
        topOf(path) === 'src' ? imports.filter((target) => topOf(target) !== 'src') : [],
      ),
    ).toEqual([]);
  });

  it('a feature folder imports itself and src; only its commands import the mod.ts or a command of others', () => {
    const rule = ({ path, imports }: Source): string[] => {
      if (!FEATURES.includes(topOf(path))) return [];
      return imports.filter((target) => {
        if (topOf(target) === topOf(path) || topOf(target) === 'src') return false;
        return !(isWiring(path) && (/^[a-z]+\/mod\.ts$/.test(target) || isWiring(target)));
      });
    };
    expect(violations(rule)).toEqual([]);
  });

  it('bin imports commands and the program runner only; nothing imports a command or bin', () => {
    const bin = violations(({ path, imports }) =>
      topOf(path) === 'bin'
        ? imports.filter((target) => !isWiring(target) && target !== 'src/config/run-program.ts')
        : [],
    );
    const others = violations(({ path, imports }) =>
      topOf(path) === 'bin'
        ? []
        : imports.filter((target) => topOf(target) === 'bin' || (isWiring(target) && !isWiring(path))),
    );
    expect([...bin, ...others]).toEqual([]);
  });

  it('kernels, metrics, nn and text are pure', () => {
    const rule = ({ path, code, imports, packages }: Source): string[] => {
      if (!PURE.test(path)) return [];
      const globals =
        bare(code).match(/\b(process|fetch|console|Date\.now|new Date|Math\.random|performance|setTimeout)\b/g) ?? [];
      // Stemmers are pure; the large ones are loaded when the first word asks for them.
      const foreign = packages.filter((name) => name !== 'stemmer' && !isStemmerLoader(path, name));
      const allowed = /^src\/(types|errors|kernels\/|metrics\/|nn\/|text\/)/;
      const reach = imports.filter(
        (target) => !allowed.test(target) && dirname(target) !== dirname(path) && !/^[a-z]+\/kernels\//.test(target),
      );
      return [...globals, ...foreign, ...reach];
    };
    expect(violations(rule)).toEqual([]);
  });

  it('only the edges touch the outside world', () => {
    const rule = ({ path, code, packages }: Source): string[] => {
      if (IMPURE.some((pattern) => pattern.test(path))) return [];
      const builtins = packages.filter(
        (name) => name.startsWith('node:') && !HARMLESS.has(name) && !isStemmerLoader(path, name),
      );
      const globals = bare(code).match(/\b(process\.|fetch\(|console\.|Date\.now|Math\.random)/g) ?? [];
      return [...builtins, ...globals];
    };
    expect(violations(rule)).toEqual([]);
  });

  it('nothing opens a connection but the wire, and the SDKs of vendors over its fetch', () => {
    const rule = ({ path, code, packages }: Source): string[] => {
      const plain = bare(code);
      const calls = OWN_SERVER.has(path) ? [] : (plain.match(/(?<![.\w])fetch\s*\(/g) ?? []);
      // As a value; `typeof globalThis.fetch` is only its type.
      const globals = plain.match(/(?<!typeof )\b(globalThis|global|window)\s*\.\s*fetch\b/g) ?? [];
      const others = plain.match(/\b(WebSocket|EventSource|XMLHttpRequest|sendBeacon)\b/g) ?? [];
      const network = packages.filter((name) => NETWORK.test(name) && !(REASONED.get(path) ?? []).includes(name));
      const sdks = packages.filter((name) => SDK.test(name)).length > 0 && !SDK_FILES.includes(path) ? ['an SDK'] : [];
      return [...calls, ...(path === 'src/run/wire/wire.ts' ? [] : globals), ...others, ...network, ...sdks];
    };
    expect(violations(rule)).toEqual([]);
    // Where a vendor's client is made, it gets the fetch of the wire and no retries of its own.
    const clients = sources.flatMap(({ path, code }) =>
      [...code.matchAll(/new (OpenAI|Anthropic)\(\{([\s\S]*?)\n\s*\}\)/g)].map(([, name, options]) => ({
        path,
        name,
        wired: /^\s*fetch,$/m.test(options) && /maxRetries: 0/.test(options),
      })),
    );
    expect(clients.length).toBeGreaterThanOrEqual(3);
    expect(clients.filter(({ wired }) => !wired)).toEqual([]);
    expect(sources.flatMap(({ code }) => bare(code).match(/\bnew (OpenAI|Anthropic)\b/g) ?? [])).toHaveLength(
      clients.length,
    );
  });

  it('folders are made in one place, which comes back from wherever none can be made', () => {
    const makers = sources.filter(({ code }) => /\bmkdir(Sync)?\b/.test(bare(code))).map(({ path }) => path);
    expect(makers).toEqual(['src/data/make-folder.ts']);
  });

  it('there are no import cycles, type imports counted', () => {
    const graph = new Map(sources.map((source) => [source.path, source.imports]));
    const state = new Map<string, 'open' | 'done'>();
    const cycles: string[] = [];
    const visit = (path: string, trail: readonly string[]): void => {
      if (state.get(path) === 'done') return;
      if (state.get(path) === 'open') {
        cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
        return;
      }
      state.set(path, 'open');
      for (const target of graph.get(path) ?? []) visit(target, [...trail, path]);
      state.set(path, 'done');
    };
    for (const path of graph.keys()) visit(path, []);
    expect(cycles).toEqual([]);
  });

  it('every import leads to a file', () => {
    const known = new Set(sources.map((source) => source.path));
    expect(violations(({ imports }) => imports.filter((target) => !known.has(target)))).toEqual([]);
  });

  it('files are named in kebab-case and stay readable in one sitting', () => {
    const long = sources.filter(({ code }) => code.split('\n').length > 400).map(({ path }) => path);
    const odd = sources
      .filter(({ path }) => !/^[a-z0-9-]+\.ts$/.test(path.split('/').at(-1)!))
      .map(({ path }) => relative('.', path));
    expect([long, odd]).toEqual([[], []]);
  });
});

/** Only loads the Snowball stemmers, which are pure, when the first text asks for one: together they are too large to load always. */
const isStemmerLoader = (path: string, name: string): boolean =>
  path === 'src/text/snowball.ts' && (name === 'node:module' || name === 'snowball-stemmers');

/** Deterministic, no outside world: hashing is a function of its input. */
const HARMLESS: ReadonlySet<string> = new Set(['node:crypto']);

/** Packages that can open a connection by themselves. */
const NETWORK =
  /^(node:)?(https?|http2|net|tls|dgram|dns|child_process|undici|ws|axios|got|node-fetch)(\/|$)|^@hono\/node-server/;
const SDK = /^(openai|@anthropic-ai\/sdk)(\/|$)/;
const SDK_FILES: readonly string[] = [
  'src/models/embedders/api/transport.ts',
  'src/models/policies/chat/apis.ts',
  // Wraps a file for an upload; makes no client.
  'src/models/policies/chat/batch/openai.ts',
];
/** `morph serve` listens and connects to nobody; npm is refused offline; git is asked for its own commit. */
const REASONED: ReadonlyMap<string, readonly string[]> = new Map([
  ['project/commands/fetch-package.ts', ['node:child_process']],
  ['project/commands/reproduce-manifest.ts', ['node:child_process']],
  ['select/serve/listen.ts', ['node:net', '@hono/node-server']],
]);
/** The demo asks the server that it has started itself, on this machine. */
const OWN_SERVER: ReadonlySet<string> = new Set(['project/commands/demo.ts']);
