/** What leaves this machine: which command sends which texts to which host, by the configured names alone. Sends nothing. */
import type { PolicySpec, RerankerSpec, RetrieverSpec } from '../../src/config/specs.ts';
import { toDocOptError } from '../../src/errors.ts';
import { addressOf, type ServiceName } from '../../src/models/endpoint.ts';
import type { Check } from './doctor-check.ts';

export interface Leaving {
  readonly command: string;
  /** In words: which of the user's texts. */
  readonly texts: string;
  /** host:port; or why it is not known. */
  readonly host: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

interface Configured {
  readonly retriever?: RetrieverSpec;
  /** A text is the folder of an experiment. */
  readonly policy?: PolicySpec | string;
  readonly reranker?: RerankerSpec;
}

/** By use, in the order of a pipeline. */
const RETRIEVER_USES = [
  ['docopt train', 'documents, every rewrite that is tried, queries of all splits'],
  ['docopt index', 'documents, as they are or rewritten'],
  ['docopt eval', 'documents and queries of the split'],
  ['docopt search, morph select, morph serve', 'each query'],
  ['morph compare, morph analyze, morph doctor', 'documents and queries'],
] as const;
const POLICY_USES = [
  [
    'docopt train',
    'documents with a training query, at a refresh all of them; with --learner experience also rewrites, training queries and lessons',
  ],
  ['docopt rewrite-corpus', 'all documents, one by one'],
] as const;
const RERANKER_USES = [
  ['morph select, morph serve', 'each query with the documents that the budget asks about'],
  ['morph compare, morph analyze, morph doctor', 'queries with the documents of their pools'],
] as const;

export function leaving({ retriever, policy, reranker }: Configured, env: Environment): Leaving[] {
  const of = (hosts: readonly string[], uses: readonly (readonly [string, string])[]): Leaving[] =>
    hosts.flatMap((host) => uses.map(([command, texts]) => ({ command, texts, host })));
  return [
    ...of(retriever === undefined ? [] : retrieverHosts(retriever, env), RETRIEVER_USES),
    ...of(policyHosts(policy, env), POLICY_USES),
    ...of(reranker === undefined ? [] : serviceHosts(reranker, env), RERANKER_USES),
  ];
}

export function leavingCheck(leaves: readonly Leaving[], offline: boolean): Check {
  const listed = leaves.map(({ command, texts, host }) => `${command}: ${texts} -> ${host}`).join('; ');
  const name = 'what leaves';
  if (leaves.length === 0)
    return {
      name,
      ok: true,
      detail:
        'nothing by the names configured here; models of a hub are fetched by name, and artefacts may name services of their own',
      remedy: '',
    };
  if (offline) return { name, ok: true, detail: `nothing while offline is set; else ${listed}`, remedy: '' };
  const remedy = 'DOCOPT_OFFLINE=1 forbids every connection; wire.hosts all but those listed.';
  return { name, ok: true, detail: listed, remedy };
}

function policyHosts(policy: PolicySpec | string | undefined, env: Environment): string[] {
  if (policy === undefined) return [];
  if (typeof policy === 'string') return ['the service of that experiment, where its policy is one'];
  return serviceHosts(policy, env);
}

function retrieverHosts(spec: RetrieverSpec, env: Environment): string[] {
  if (spec.driver === 'fusion') return [...new Set(spec.retrievers.flatMap((part) => retrieverHosts(part, env)))];
  if (spec.driver === 'dense' || spec.driver === 'late-interaction') return serviceHosts(spec.embedder, env);
  return serviceHosts(spec, env);
}

/** Drivers that are services; every other one works on this machine. */
const SERVICES: ReadonlySet<string> = new Set<ServiceName>([
  'openai',
  'anthropic',
  'cohere',
  'voyage',
  'jina',
  'tei',
  'vllm',
  'infinity',
  'chat',
  'http',
]);

function serviceHosts(spec: { readonly driver: string; readonly url?: string }, env: Environment): string[] {
  if (!SERVICES.has(spec.driver)) return [];
  try {
    return [new URL(addressOf(spec.driver as ServiceName, { url: spec.url }, env)).host];
  } catch (error) {
    return [`unknown (${toDocOptError(error).message})`];
  }
}
