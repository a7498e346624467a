/**
 * A chat policy whose answers come by its vendor's batch API, at half the price. Jobs bring the answers onto the record, under
 * the keys that single requests have; the policy then finds them there. So nothing else knows about jobs, and what was
 * answered by a job is never paid again.
 */
import { createHash } from 'node:crypto';
import { DocOptError } from '../../../../errors.ts';
import type { Log, Policy } from '../../../../ports.ts';
import { systemClock, type Wire, type WireClock, WireError } from '../../../../run/wire/mod.ts';
import type { BatchState, BatchStore } from '../../../../store/batches.ts';
import type { Completion, Prompt, Sampling } from '../../../../types.ts';
import { noPrice } from '../../../embedders/api/api-embedder.ts';
import type { RawAnswer } from '../answer.ts';
import { type ChatPolicy, chargeOf, mostOf } from '../chat-policy.ts';
import { batchService } from './batch-service.ts';
import type { BatchService } from './service.ts';

export interface BatchOptions {
  readonly store: BatchStore;
  readonly wire: Wire;
  readonly log: Log;
  readonly signal?: AbortSignal;
  /** Longest wait between two looks at a job. */
  readonly pollMs: number;
  /** Requests of one job, where fewer than the vendor's limit are wanted. */
  readonly most?: number;
  readonly clock?: WireClock;
}

export interface BatchPolicy extends Policy {
  /** Answers that jobs have brought in this run. */
  answers(): number;
}

/** Both vendors take half for what they may do within a day. */
export const BATCH_SHARE = 0.5;
/** How often a request is sent that expired or met a failure of the vendor. */
const MOST_TRIES = 4;
/** How often a job may find the vendor's queue full. */
const MOST_WAITS = 200;

/** Throws USAGE for a policy without a batch API. */
export function createBatchPolicy(policy: ChatPolicy, options: BatchOptions): BatchPolicy {
  const { store, wire, log, signal, clock = systemClock } = options;
  const { spec } = policy;
  const driver = spec.driver === 'chat' ? undefined : spec.driver;
  if (driver === undefined) {
    throw new DocOptError('USAGE', `--batch: servers of one's own (${policy.id}) have no batch API`, {
      hint: 'Leave --batch out. openai:MODEL and anthropic:MODEL have one.',
    });
  }
  const endpoint = policy.endpoint();
  const service: BatchService = batchService(driver, { wire, endpoint, signal });
  const price = policy.price(wire);
  if (price === undefined && wire.capped) throw noPrice(driver, spec.model);
  let brought = 0;

  /** What the vendor would refuse every time, by record key; all other answers are on record afterwards. */
  async function answerAll(needed: ReadonlyMap<string, Prompt>, sampling: Sampling): Promise<Map<string, string>> {
    const refused = new Map<string, string>();
    const missing = (): string[] =>
      [...needed.keys()].filter((id) => !refused.has(id) && wire.cache.get(id) === undefined);
    let last = '';
    let answeredHere = 0;
    for (let round = 0; ; round++) {
      const open = missing();
      if (open.length === 0) return refused;
      if (round === MOST_TRIES) {
        throw new DocOptError(
          'UPSTREAM',
          `${driver}: ${open.length} requests came back from batch jobs unanswered ${MOST_TRIES} times (last: ${last})`,
          {
            hint: 'What was answered is kept. Try again later, or without --batch.',
          },
        );
      }
      const mine = (await store.list()).filter(
        (state) => state.driver === driver && state.url === endpoint.url && state.requests.some((id) => needed.has(id)),
      );
      const covered = new Set(mine.flatMap(({ requests }) => requests));
      const jobs = mine.map((state) => finish(state, 0));
      for (const job of jobs) job.catch(() => {});
      try {
        await submitAll(
          open.filter((id) => !covered.has(id)),
          jobs,
        );
      } catch (error) {
        // What is under way is paid: its answers are waited for, unless somebody wants to stop now.
        if (signal?.aborted !== true) await Promise.allSettled(jobs);
        throw error;
      }
      const failure = (await Promise.allSettled(jobs)).find(({ status }) => status === 'rejected');
      if (failure?.status === 'rejected') throw failure.reason;
    }

    async function submitAll(ids: readonly string[], jobs: Promise<void>[]): Promise<void> {
      let size = Math.min(service.most.requests, options.most ?? Number.POSITIVE_INFINITY);
      for (let from = 0; from < ids.length; ) {
        const lines: string[] = [];
        const part: string[] = [];
        let bytes = 0;
        let usd = 0;
        for (let i = from; i < ids.length && part.length < size; i++) {
          const body = policy.request(needed.get(ids[i])!, sampling);
          const line = service.line({ id: ids[i], body }, policy.api.route);
          // A comma or a line feed more.
          bytes += Buffer.byteLength(line) + 1;
          if (part.length > 0 && bytes > service.most.bytes * 0.95) break;
          lines.push(line);
          part.push(ids[i]);
          if (price !== undefined) usd += BATCH_SHARE * mostOf(price, body, policy.maxTokens(sampling));
        }
        const hold = await wire.hold(usd, `a batch of ${part.length} for ${spec.model}`).catch((error) => {
          // Half of it may still fit under the cap.
          if (part.length > 1 && error instanceof DocOptError && error.code === 'COST_CAP') return undefined;
          throw error;
        });
        if (hold === undefined) {
          size = Math.floor(part.length / 2);
          continue;
        }
        let state: BatchState = {
          format: 1,
          part: partName(part),
          driver: driver!,
          url: endpoint.url,
          ...(spec.authFrom === undefined ? {} : { authFrom: spec.authFrom }),
          model: spec.model,
          route: policy.api.route,
          at: clock.now(),
          status: 'sending',
          upToUsd: usd,
          requests: part,
        };
        await store.save(state);
        state = await send(state, lines);
        log.info(`batch ${state.batch}: ${part.length} requests are with ${driver}`);
        const job = finish(state, usd, hold.settle);
        job.catch(() => {});
        jobs.push(job);
        from += part.length;
      }
    }

    /** Sends a job, or finds the one that an interrupted sending left at the vendor. */
    async function send(state: BatchState, lines?: readonly string[]): Promise<BatchState> {
      const opened = async (batch: string): Promise<BatchState> => {
        const next = { ...((await store.get(state.part)) ?? state), status: 'open' as const, batch };
        await store.save(next);
        return next;
      };
      if (lines === undefined) {
        const [found] = await service.find(state);
        if (found !== undefined) return opened(found);
        return send(
          state,
          state.requests.map((id) => lineOf(id)),
        );
      }
      try {
        return await opened(await service.submit(state, lines, store.save));
      } catch (error) {
        // Refused is refused; after anything else the vendor may have it.
        if (error instanceof WireError && (error.fault === 'refused' || error.fault === 'limited')) {
          await store.remove(state.part);
        }
        throw error;
      }
    }

    function lineOf(id: string): string {
      const prompt = needed.get(id);
      if (prompt === undefined) {
        throw new DocOptError('DATA', 'a batch job that was cut off while it was sent had other documents', {
          hint: 'Give the command of that time again, or forget the job: docopt runs cancel',
        });
      }
      return service.line({ id, body: policy.request(prompt, sampling) }, policy.api.route);
    }

    async function finish(begun: BatchState, held: number, settle?: (usd: number) => void): Promise<void> {
      let state = begun;
      // What an earlier run sent is paid already; only what it comes to is counted. Was it cancelled since, then whoever gives
      // the command again wants the rest.
      const adopted = settle === undefined;
      settle ??= (await wire.hold(0, `the batch ${begun.batch ?? begun.part}`)).settle;
      if (state.batch === undefined) state = await send(state);
      for (let waits = 0; ; waits++) {
        const { progress, batch } = await ended(state);
        if (progress.state === 'failed') {
          await store.remove(state.part);
          if (progress.later && waits < MOST_WAITS) {
            log.info(`batch ${batch}: ${driver}'s queue is full; it is sent again in a while`);
            await clock.sleep(options.pollMs, signal);
            const { batch: _batch, file: _file, ...again } = state;
            state = { ...again, status: 'sending', at: clock.now() };
            await store.save(state);
            state = await send(
              state,
              state.requests.map((id) => lineOf(id)),
            );
            continue;
          }
          settle(0);
          throw new DocOptError('UPSTREAM', `${driver} did not take batch ${batch}: ${progress.said}`, {
            hint: 'Nothing of it was done or paid. Check the settings of the block.',
          });
        }
        const harvest = await collect(state, batch);
        if (harvest.foreign) {
          log.info(`batch ${batch} is another's; looking on`);
          const { batch: _batch, ...rest } = state;
          state = { ...rest, status: 'sending', notThese: [...(state.notThese ?? []), batch] };
          await store.save(state);
          state = await send(state);
          continue;
        }
        settle(Math.max(0, harvest.usd ?? held));
        const cancelled = progress.cancelled || (await store.get(state.part))?.status === 'cancelled';
        await store.remove(state.part);
        if (
          harvest.answers === 0 &&
          harvest.refused > 0 &&
          answeredHere === 0 &&
          harvest.refused === state.requests.length
        ) {
          throw new WireError('refused', `${driver} refused every request of batch ${batch}: ${last}`, {
            hint: 'Check the model and the settings of the block.',
          });
        }
        if (cancelled && !adopted) {
          throw new DocOptError(
            'INTERRUPTED',
            `batch ${batch} was cancelled; ${harvest.answers} of its ${state.requests.length} answers are kept`,
            {
              hint: 'The same command sends the others again.',
            },
          );
        }
        return;
      }
    }

    /** Waits until a job is over; a service that cannot be reached is waited for too. */
    async function ended(state: BatchState) {
      const batch = state.batch!;
      let wait = options.pollMs / 16;
      for (let shown = -1; ; wait = Math.min(options.pollMs, wait * 1.5)) {
        const progress = await service.poll(batch).catch((error: unknown) => {
          if (!(error instanceof WireError) || error.fault === 'refused') throw error;
          log.warn(`batch ${batch}: ${error.message}; looking again later`);
          return undefined;
        });
        if (progress !== undefined && progress.state !== 'open') return { progress, batch };
        if (progress !== undefined && progress.done !== shown) {
          shown = progress.done;
          log.info(`batch ${batch}: ${shown} of ${state.requests.length} done`);
        }
        await clock.sleep(wait, signal);
      }
    }

    async function collect(state: BatchState, batch: string) {
      const own = new Set(state.requests);
      const good: [string, Uint8Array][] = [];
      let usd: number | undefined = 0;
      let failed = 0;
      for await (const result of service.results(batch)) {
        if (!own.has(result.id)) return { foreign: true, answers: 0, refused: 0, usd: 0 };
        if (result.kind === 'answer') {
          const read = readable(result.body);
          if (read === undefined) {
            last = 'an answer that is none';
            continue;
          }
          const charge = price === undefined ? 0 : chargeOf(price, read);
          usd = usd === undefined || charge === undefined ? undefined : usd + BATCH_SHARE * charge;
          good.push([result.id, Buffer.from(JSON.stringify(result.body))]);
        } else {
          last = result.said;
          if (result.kind !== 'refused') continue;
          refused.set(result.id, result.said);
          failed++;
        }
      }
      // Written before the job is forgotten.
      wire.cache.put(good, spec.model);
      brought += good.length;
      answeredHere += good.length;
      return { foreign: false, answers: good.length, refused: failed, usd };
    }

    function readable(body: unknown): RawAnswer | undefined {
      try {
        return policy.api.read(body);
      } catch {
        return undefined;
      }
    }
  }

  return {
    id: policy.id,
    answers: () => brought,
    async generate(prompts, sampling) {
      // Equal documents are one request: a vendor takes no custom id twice.
      const needed = new Map<string, Prompt>();
      const keys = prompts.map((prompt) =>
        Array.from({ length: sampling.samples }, (_, sample) => {
          const key = policy.recordKey(prompt, sampling, sample);
          needed.set(key, prompt);
          return key;
        }),
      );
      const refused = await answerAll(needed, sampling);
      const answered = prompts.flatMap((_, i) => (keys[i].some((key) => refused.has(key)) ? [] : [i]));
      const completions: Completion[][] = prompts.map((prompt, i) =>
        keys[i].map((key) => policy.completion(prompt, fate(refused.get(key) ?? ''))),
      );
      const made = await policy.generate(
        answered.map((i) => prompts[i]),
        sampling,
      );
      answered.forEach((i, j) => {
        completions[i] = made[j];
      });
      return completions;
    },
  };
}

function fate(said: string): RawAnswer {
  const filtered = /content.?(filter|policy|management)|safety|usage policies|invalid.?prompt/i.test(said);
  const usage = { input: 0, cached: 0, cacheWritten: 0, output: 0, thinking: 0 };
  return { text: '', finish: filtered ? 'filtered' : 'error', usage };
}

/** The same requests, the same name, in whatever order. */
function partName(ids: readonly string[]): string {
  return createHash('sha256')
    .update([...ids].sort().join('\n'))
    .digest('hex')
    .slice(0, 32);
}
