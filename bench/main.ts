/** `npm run bench -- NAME [--json]`; without NAME it lists the benches. */
import { cpus } from 'node:os';
import { DocOptError } from '../src/errors.ts';
import type { BenchResult } from './types.ts';

const BENCHES: Readonly<Record<string, { what: string; load: () => Promise<{ run(): Promise<BenchResult> }> }>> = {
  counterfactual: {
    what: 'exact BM25 swaps and query latency at 100,000 documents',
    load: () => import('./counterfactual.ts'),
  },
  selector: { what: 'BoundaryMORPH at N = 10,000', load: () => import('./selector.ts') },
  'selector-simulation': {
    what: 'every selector against a simulated cross-encoder, on the collections in DOCOPT_DATA',
    load: () => import('./selector-simulation.ts'),
  },
  serve: { what: 'the HTTP service', load: () => import('./serve.ts') },
  'vector-search': { what: 'exact flat search', load: () => import('./vector-search.ts') },
  'lm-train': { what: 'one GRPO update of a 135M language model', load: () => import('./lm-train.ts') },
  'lm-decode': { what: 'sampling from a 135M language model', load: () => import('./lm-decode.ts') },
  'edit-operations': {
    what: 'which edits help a retriever (DOCOPT_BENCH_RETRIEVER), on the code collections in DOCOPT_DATA',
    load: () => import('./edit-operations.ts'),
  },
  'load-500k': { what: 'loading 500,000 documents', load: () => import('./load-500k.ts') },
  updates: {
    what: 'an update against a full run at 100,000 documents, 1 % changed',
    load: () => import('./updates.ts'),
  },
  'reranker-quality': {
    what: 'what the embedded reranker earns, on the collections in DOCOPT_DATA',
    load: () => import('./reranker-quality.ts'),
  },
};

const args = process.argv.slice(2);
const json = args.includes('--json');
const name = args.find((argument) => !argument.startsWith('-'));
if (name === undefined || !Object.hasOwn(BENCHES, name)) {
  const lines = Object.entries(BENCHES).map(([key, { what }]) => `  ${key.padEnd(16)}${what}`);
  console.log(['npm run bench -- NAME [--json]', ...lines].join('\n'));
  process.exit(name === undefined ? 0 : 2);
}
const { run } = await BENCHES[name].load();
const result = {
  ...(await run().catch(refuse)),
  machine: {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
  },
};
if (json) console.log(JSON.stringify(result));
else {
  console.log(`${result.name} on ${result.machine.cores} x ${result.machine.cpu}, Node ${result.machine.node}`);
  for (const [key, value] of Object.entries(result.figures))
    console.log(`  ${key.padEnd(28)}${typeof value === 'object' ? JSON.stringify(value) : value}`);
  for (const [key, value] of Object.entries(result.ratio))
    console.log(`  ratio to ${key.padEnd(19)}${value.toPrecision(4)}`);
}

/** What a bench lacks is said in a line; anything else is a bug and keeps its trace. */
function refuse(error: unknown): never {
  if (!(error instanceof DocOptError)) throw error;
  console.error(`${name}: ${error.message}\n${error.hint}`);
  process.exit(2);
}
