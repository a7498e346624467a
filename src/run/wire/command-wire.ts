/** The wire of a command: its flags, the project's caches of answers and vectors and its ledger, opened when first needed. */
import { join } from 'node:path';
import type { Log } from '../../ports.ts';
import { openLedger } from '../../store/ledger.ts';
import { memoryCache, openResponseCache, type ResponseCache } from '../../store/response-cache.ts';
import { createBudget, usdText } from './budget.ts';
import type { Wire } from './types.ts';
import { createWire } from './wire.ts';

/** What `network()` of src/config/options.ts has. */
export interface NetworkFlags {
  readonly maxCost?: number;
  readonly price?: readonly number[];
  readonly cost?: { readonly projectMax?: number };
  readonly offline?: boolean;
  readonly wire?: {
    readonly hosts?: readonly string[];
    readonly concurrency?: number;
    readonly requestsPerMinute?: number;
    readonly tokensPerMinute?: number;
    readonly attempts?: number;
    readonly timeoutSeconds?: number;
    readonly deadlineSeconds?: number;
    readonly cache?: boolean;
  };
}

export interface CommandWire {
  /** One per command; nothing is opened or made before the first call. */
  wire(): Promise<Wire>;
  /** Vectors that local models computed, apart from the answers, which were paid for. */
  vectors(): Promise<ResponseCache>;
  /** Says what it came to, and closes what was opened. */
  close(): void;
}

/** Where a project keeps its answers and its ledger. */
export const answersPath = (projectFolder: string): string => join(projectFolder, '.docopt', 'cache', 'answers.db');
export const vectorsPath = (projectFolder: string): string => join(projectFolder, '.docopt', 'cache', 'vectors.db');
export const ledgerPath = (projectFolder: string): string => join(projectFolder, '.docopt', 'ledger.db');

export interface Surroundings {
  readonly log: Log;
  readonly projectFolder: string;
  readonly signal: AbortSignal;
}

export function commandWire(flags: NetworkFlags, context: Surroundings): CommandWire {
  let opening: Promise<Wire> | undefined;
  let openingVectors: Promise<ResponseCache> | undefined;
  const closing: (() => void)[] = [];
  return {
    wire() {
      opening ??= openWire(flags, context, closing);
      return opening;
    },
    vectors() {
      openingVectors ??= openVectors(flags, context, closing);
      return openingVectors;
    },
    close() {
      for (const close of closing.splice(0)) close();
    },
  };
}

async function openVectors(
  flags: NetworkFlags,
  { log, projectFolder }: Surroundings,
  closing: (() => void)[],
): Promise<ResponseCache> {
  if (flags.wire?.cache === false) return memoryCache();
  const cache = await openResponseCache(vectorsPath(projectFolder), log);
  closing.push(cache.close);
  return cache;
}

async function openWire(
  flags: NetworkFlags,
  { log, projectFolder, signal }: Surroundings,
  closing: (() => void)[],
): Promise<Wire> {
  const { wire: limits = {}, cost, price, offline, maxCost } = flags;
  const cache = limits.cache === false ? memoryCache() : await openResponseCache(answersPath(projectFolder), log);
  const project =
    cost?.projectMax === undefined
      ? undefined
      : { max: cost.projectMax, ledger: await openLedger(ledgerPath(projectFolder)) };
  const wire = createWire({
    log,
    cache,
    budget: createBudget({ maxCost, project }),
    price: price === undefined ? undefined : { input: price[0], output: price[1] ?? 0 },
    offline,
    signal,
    hosts: limits.hosts,
    concurrency: limits.concurrency,
    requestsPerMinute: limits.requestsPerMinute,
    tokensPerMinute: limits.tokensPerMinute,
    attempts: limits.attempts,
    timeoutMs: milliseconds(limits.timeoutSeconds),
    deadlineMs: milliseconds(limits.deadlineSeconds),
  });
  closing.push(() => {
    const { requests, retries, recorded, usd } = wire.report();
    if (requests + recorded > 0) {
      log.info(
        `services: ${requests} requests (${retries} of them again), ${recorded} answers on record, ${usdText(usd)}`,
      );
    }
    wire.close();
    project?.ledger.close();
  });
  return wire;
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
