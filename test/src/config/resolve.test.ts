import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../../src/config/parse-arguments.ts';
import { resolveOptions } from '../../../src/config/resolve.ts';
import { evalSchema, searchSchema, selectSchema, serveSchema, trainSchema } from '../../../src/config/schemas/mod.ts';

const train = (sources: { flags?: object; set?: string[]; env?: Record<string, string>; file?: object } = {}) =>
  resolveOptions(trainSchema, {
    program: 'docopt',
    command: 'train',
    flags: (sources.flags ?? {}) as Record<string, unknown>,
    set: sources.set ?? [],
    env: sources.env ?? {},
    file:
      sources.file === undefined
        ? undefined
        : { path: 'docopt.config.yaml', values: sources.file as Record<string, unknown> },
  }).options;

describe('options from their sources', () => {
  it('later sources win: file, its command section, environment, --set, flags', () => {
    const file = { seed: 1, beta: 0.1, commands: { train: { seed: 2, groupSize: 4 }, eval: { seed: 9 } } };
    expect(train({ file }).seed).toBe(2);
    expect(train({ file, env: { DOCOPT_SEED: '3' } }).seed).toBe(3);
    expect(train({ file, env: { DOCOPT_SEED: '3' }, set: ['seed=4'] }).seed).toBe(4);
    expect(train({ file, env: { DOCOPT_SEED: '3' }, set: ['seed=4'], flags: { seed: 5 } })).toMatchObject({
      seed: 5,
      beta: 0.1,
      groupSize: 4,
    });
  });

  it('short forms become blocks with the documented defaults', () => {
    expect(train({ flags: { retriever: 'bm25' } }).retriever).toEqual({
      driver: 'bm25',
      k1: 0.9,
      b: 0.4,
      analyzer: 'english',
      statistics: 'recompute',
    });
    expect(train({ flags: { retriever: 'lsa' } }).retriever).toEqual({
      driver: 'dense',
      embedder: { driver: 'lsa', dimensions: 200, seed: 1, analyzer: 'english' },
    });
  });

  it('a setting completes the short form wherever each stands', () => {
    expect(train({ flags: { retriever: 'bm25' }, set: ['retriever.k1=1.2'] }).retriever).toMatchObject({
      driver: 'bm25',
      k1: 1.2,
    });
    expect(train({ file: { retriever: 'bm25' }, set: ['retriever.analyzer=code'] }).retriever).toMatchObject({
      analyzer: 'code',
    });
    expect(
      train({ file: { retriever: { driver: 'bm25', k1: 2 } }, env: { DOCOPT_RETRIEVER_B: '0.7' } }).retriever,
    ).toMatchObject({ k1: 2, b: 0.7 });
    expect(train({ set: ['retriever.k1=1.2', 'retriever=bm25'] }).retriever).toMatchObject({ driver: 'bm25', k1: 1.2 });
    expect(train({ set: ['retriever=bm25', 'retriever.k1=1.2'] }).retriever).toMatchObject({ driver: 'bm25', k1: 1.2 });
    expect(train({ set: ['retriever=lsa', 'retriever.embedder.dimensions=64'] }).retriever).toMatchObject({
      embedder: { dimensions: 64 },
    });
  });

  it('another driver replaces the block below instead of mixing with it', () => {
    const { retriever } = train({ file: { retriever: { driver: 'bm25', k1: 2 } }, flags: { retriever: 'lsa' } });
    expect(retriever).toEqual({
      driver: 'dense',
      embedder: { driver: 'lsa', dimensions: 200, seed: 1, analyzer: 'english' },
    });
  });

  it('a name in a list takes the settings of the configuration, as it does alone', () => {
    const { options } = resolveOptions(evalSchema, {
      program: 'docopt',
      command: 'eval',
      flags: { retriever: ['bm25', 'bm25:analyzer=standard', 'wink'] },
      set: [],
      env: {},
      file: { path: 'c.yaml', values: { retriever: { driver: 'bm25', k1: 2, analyzer: 'code' } } },
    });
    expect(options.retriever).toMatchObject([
      { driver: 'bm25', k1: 2, analyzer: 'code' },
      { driver: 'bm25', k1: 2, analyzer: 'standard' },
      { driver: 'wink', k1: 0.9, analyzer: 'english' },
    ]);
  });

  it('settings reach every retriever of a list', () => {
    const { options } = resolveOptions(evalSchema, {
      program: 'docopt',
      command: 'eval',
      flags: { retriever: ['bm25', 'wink'] },
      set: ['retriever.analyzer=code'],
      env: {},
    });
    expect(options.retriever).toMatchObject([
      { driver: 'bm25', analyzer: 'code' },
      { driver: 'wink', analyzer: 'code' },
    ]);
  });

  it('one block in the configuration serves commands that take several', () => {
    const file = { path: 'docopt.config.yaml', values: { retriever: { driver: 'bm25', k1: 2 } } };
    const resolve = (flags: Record<string, unknown>) =>
      resolveOptions(evalSchema, { program: 'docopt', command: 'eval', flags, set: ['retriever.b=1'], env: {}, file })
        .options;
    expect(resolve({}).retriever).toMatchObject([{ driver: 'bm25', k1: 2, b: 1 }]);
    expect(resolve({ retriever: ['wink'] }).retriever).toMatchObject([{ driver: 'wink' }]);
  });

  it('paths of a file are relative to it, and a list may be one text', () => {
    const file = {
      path: '/project/docopt.config.yaml',
      values: {
        data: 'data',
        metrics: 'nDCG@5 R@100',
        index: ['a', '/b'],
        commands: { eval: { saveRuns: '../runs' } },
      },
    };
    const { options } = resolveOptions(evalSchema, {
      program: 'docopt',
      command: 'eval',
      flags: {},
      set: [],
      env: {},
      file,
    });
    expect(options).toMatchObject({
      data: '/project/data',
      metrics: ['nDCG@5', 'R@100'],
      index: ['/project/a', '/b'],
      saveRuns: '/runs',
    });
    expect(train({ flags: { data: 'data' } }).data).toBe('data');
  });

  it('an experiment folder is a policy too', () => {
    expect(train({ flags: { policy: 'test' } }).policy).toBe('test');
    expect(train({ flags: { policy: 'edit' }, set: ['policy.init=zero'] }).policy).toEqual({
      driver: 'edit',
      init: 'zero',
    });
  });

  it('morph reads its own prefix first, then the shared one', () => {
    const serve = (env: Record<string, string>) =>
      resolveOptions(serveSchema, { program: 'morph', command: 'serve', flags: {}, set: [], env }).options.port;
    expect(serve({ MORPH_PORT: '81', DOCOPT_PORT: '82' })).toBe(81);
    expect(serve({ DOCOPT_PORT: '82' })).toBe(82);
    expect(serve({ MORPH_PORT: '' })).toBe(7700);
  });

  it('a key or a section without a value is as good as none', () => {
    expect(train({ file: { seed: null, retriever: null, commands: { train: null } } })).toMatchObject({ seed: 1 });
    expect(train({ file: { seed: 3, commands: null } }).seed).toBe(3);
  });

  it('never quotes a key', () => {
    const serve = (file: object, set: string[] = []) =>
      resolveOptions(serveSchema, {
        program: 'morph',
        command: 'serve',
        flags: {},
        set,
        env: {},
        file: { path: 'c.yaml', values: file as Record<string, unknown> },
      });
    expect(() => serve({ apiKey: 12345678 })).toThrow(/^c\.yaml: apiKey: expected a text$/);
    for (const key of ['apikey', 'apiKey.x', 'API_KEY']) {
      expect(() => serve({}, [`${key}=sk-fake-key`])).toThrow(/^(?!.*sk-fake).*unknown key/);
    }
  });

  it('knows what was given and what is a default', () => {
    const { given } = resolveOptions(trainSchema, {
      program: 'docopt',
      command: 'train',
      flags: { seed: 1 },
      set: [],
      env: { DOCOPT_BETA: '0' },
    });
    expect([...given].sort()).toEqual(['beta', 'seed']);
  });

  it.each([
    [{ file: { retriver: 'bm25' } }, "docopt.config.yaml: unknown key 'retriver'. Did you mean 'retriever'?"],
    [{ file: { commands: { trian: {} } } }, "unknown key 'commands.trian'. Did you mean 'commands.train'?"],
    [
      { file: { commands: { train: { stepz: 3 } } } },
      "section commands.train: unknown key 'stepz'. Did you mean 'steps'?",
    ],
    [{ set: ['retriever.k2=1'] }, "unknown key 'retriever.k2'. Did you mean 'k1'?"],
    [{ set: ['steps'] }, 'expected KEY=VALUE'],
    [{ set: ['retriever.k1=0.9'] }, 'retriever has settings (k1) but names no driver'],
    [{ flags: { retriever: 'bm52' } }, "retriever 'bm52' is not known. Did you mean 'bm25'?"],
    [
      { flags: { retriever: 'text-embeding-3-small' } },
      "retriever 'text-embeding-3-small' is not known. Did you mean 'text-embedding-3-small'?",
    ],
    [{ flags: { policy: 'no/such/folder' } }, "policy 'no/such/folder' is not known."],
    [{ set: ['steps=many'] }, "--set steps 'many': expected a finite number"],
    [{ flags: { steps: 0 } }, '--steps 0: expected at least 1'],
    [{ flags: { steps: 1.5 } }, '--steps 1.5: expected a whole number'],
    [{ flags: { preset: 'none' } }, "--preset 'none': expected edit or lm or api or paper or trl"],
    [{ flags: { data: '' } }, "--data '': expected a text that is not empty"],
    [{ file: { beta: Number.NaN } }, 'docopt.config.yaml: beta NaN: expected a finite number'],
    [{ file: { beta: Number.POSITIVE_INFINITY } }, 'beta Infinity: expected a finite number'],
    [{ file: { commands: { train: { metrics: 5 } } } }, 'metrics 5: expected a list'],
    [
      { file: { retriever: { driver: 'bm25', k1: 'x' } } },
      "docopt.config.yaml: retriever.k1 'x': expected a finite number",
    ],
    [{ file: { retriever: { driver: 5 } } }, 'retriever.driver 5: expected bm25 or wink or dense'],
    [{ file: { policy: { driver: 'edit', init: 5 } } }, 'policy.init 5: expected a text'],
    [{ file: { policy: { driver: 'edit', inti: 'zero' } } }, "policy: unknown key 'inti'. Did you mean 'init'?"],
    [{ file: { commands: 5 } }, 'commands is a number, expected keys and values'],
    [{ file: { commands: { eval: ['x'] } } }, 'commands.eval is a list, expected keys and values'],
    ...['__proto__', '__proto__.x', 'constructor', 'retriever.__proto__', 'retriever.constructor.prototype'].map(
      (key): [object, string] => [{ set: [`${key}=1`] }, `unknown key '${key}'`],
    ),
    [{ file: JSON.parse('{"__proto__": {"steps": 3}}') }, "unknown key '__proto__'"],
    [{ file: { retriever: { driver: 'bm25', k3: 1 } } }, "retriever: unknown key 'k3'. Did you mean 'k1'?"],
    [{ env: { DOCOPT_DEV: '1.5' } }, 'DOCOPT_DEV 1.5: expected less than 1'],
  ] as [Parameters<typeof train>[0], string][])('refuses %j with a sentence that helps', (sources, message) => {
    expect(() => train(sources)).toThrow(message);
  });
});

describe('arguments', () => {
  const parse = (schema: Parameters<typeof parseArguments>[1], ...argv: string[]) =>
    parseArguments(argv, schema, 'docopt x');

  it('reads positions, short flags, inline values, negations and repeats', () => {
    expect(parse(searchSchema, 'two words', '-k', '3').values).toEqual({ text: 'two words', k: 3 });
    expect(parse(selectSchema, '--budget=7', '-k', '2', '--', '--odd query').values).toEqual({
      budget: 7,
      capacity: 2,
      text: '--odd query',
    });
    expect(parse(trainSchema, '--no-baselines', '--seeds', '1,2,3').values).toEqual({
      baselines: false,
      seeds: [1, 2, 3],
    });
    expect(parse(evalSchema, '--retriever', 'bm25', '--run', 'a b.trec', '--retriever', 'lsa')).toMatchObject({
      values: { retriever: ['bm25', 'lsa'], run: ['a b.trec'] },
      typed: [{ name: 'retriever' }, { name: 'run' }, { name: 'retriever' }],
    });
    expect(parse(selectSchema, '--pool', '100').values.pool).toBe(100);
    expect(parse(selectSchema, '--pool', 'p.json').values.pool).toBe('p.json');
  });

  it('short flags may stand glued to their value, and switches in a row', () => {
    expect(parse(selectSchema, 'q', '-k2', '-B25', '-qv')).toMatchObject({
      values: { text: 'q', capacity: 2, budget: 25 },
      globals: { quiet: true, verbose: true },
    });
    expect(parse(searchSchema, '-k=3').values).toEqual({ k: 3 });
    expect(parse(searchSchema, '-qk4x', '--', '-k5').values).toEqual({ k: '4x', text: '-k5' });
  });

  it('collects the global flags wherever they stand', () => {
    const { globals } = parse(trainSchema, '--set', 'a=1', '--json', '-c', 'x.yaml', '--set', 'b=2', '-h');
    expect(globals).toMatchObject({ set: ['a=1', 'b=2'], json: true, config: 'x.yaml', help: true });
  });

  it.each([
    [['--retreiver', 'bm25'], "unknown flag --retreiver. Did you mean '--retriever'?"],
    [['--steps'], '--steps needs a value'],
    [['--steps', '--json'], '--steps needs a value'],
    [['--steps', '1', '--steps', '2'], '--steps was given twice'],
    [['stray'], "unexpected argument 'stray'"],
    [['--baselines', '--no-baselines'], '--baselines and --no-baselines were both given'],
    [['-c', 'a.yaml', '--config', 'b.yaml'], '--config was given twice'],
    [['--json=false'], '--json takes no value'],
    [['-config', 'x.yaml'], "unknown flag -config. Did you mean '--config'?"],
    [['-retriever', 'bm25'], "unknown flag -retriever. Did you mean '--retriever'?"],
    [['-qx'], 'unknown flag -qx'],
    [['--__proto__', 'x'], 'unknown flag --__proto__'],
    [['--no-constructor'], 'unknown flag --no-constructor'],
  ])('refuses %j', (argv, message) => {
    expect(() => parse(trainSchema, ...argv)).toThrow(message);
  });
});
