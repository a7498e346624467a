/** `docopt rewrite-corpus --batch`, whole: the real command against a service that speaks both vendors' batch protocols. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cli.ts';
import { runHere } from '../support/in-process.ts';
import { type BatchRules, isCreation, startBatchService } from '../support/servers/batch-apis.ts';
import type { Model } from '../support/servers/chat-apis.ts';
import type { Service } from '../support/servers/service.ts';

const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

const texts = Array.from({ length: 12 }, (_, i) => `the document number ${i} speaks of boats and rivers`);
const told: Model = ({ document }) => ({ text: JSON.stringify({ text: `About boats: ${document}` }) });
const POLICIES = {
  responses: ['--policy', 'openai:gpt-5.4-mini'],
  chat: ['--policy', 'openai:gpt-5.4-mini', '--set', 'policy.api=chat'],
  messages: ['--policy', 'anthropic:claude-haiku-4-5'],
} as const;

async function project(api: keyof typeof POLICIES, rules: BatchRules = {}, model = told, documents = texts) {
  const world = await startBatchService(model, rules);
  services.push(world.service);
  const cwd = tempFolder();
  mkdirSync(join(cwd, 'in'));
  const rows = documents.map((text, i) => `${JSON.stringify({ _id: `d${i}`, title: '', text })}\n`);
  writeFileSync(join(cwd, 'in', 'corpus.jsonl'), rows.join(''));
  const env = {
    OPENAI_API_KEY: 'sk-test-0123456789',
    OPENAI_BASE_URL: `${world.service.url}/v1`,
    ANTHROPIC_API_KEY: 'sk-ant-0123456789',
    ANTHROPIC_BASE_URL: world.service.url,
  };
  const here = (...argv: string[]) => runHere(['docopt', ...argv, '--json'], { cwd, env });
  const rewrite = (...more: string[]) =>
    here(
      'rewrite-corpus',
      '--corpus',
      'in/corpus.jsonl',
      ...POLICIES[api],
      '--batch-poll',
      '0.02',
      '--out',
      'out',
      ...more,
    );
  const written = (): { _id: string; text: string; docopt: { status: string; reason: string } }[] =>
    readFileSync(join(cwd, 'out', 'corpus.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const open = (): string[] =>
    existsSync(join(cwd, '.docopt', 'batches')) ? readdirSync(join(cwd, '.docopt', 'batches')) : [];
  return { ...world, cwd, here, rewrite, written, open };
}

describe.each(Object.keys(POLICIES) as (keyof typeof POLICIES)[])('--batch by %s', { timeout: 120_000 }, (api) => {
  it('gives the corpus that single requests give, at half the price, and nothing is sent twice', async () => {
    const { rewrite, written, jobs, computed, service, open } = await project(api);
    const batch = await rewrite('--batch', '--batch-part', '5');
    expect(batch.stderr).not.toMatch(/^error/im);
    expect(batch.status).toBe(0);
    const report = JSON.parse(batch.stdout);
    expect(report).toMatchObject({ documents: 12, rewritten: 12, cost: { answers: 12, recorded: 0, byBatch: 12 } });
    expect(jobs.map(({ rows }) => rows.length)).toEqual([5, 5, 2]);
    expect(written().map(({ text }) => text)).toEqual(texts.map((text) => `About boats: ${text}`));
    expect(open()).toEqual([]);
    expect(computed()).toBe(12);
    const before = service.asked.length;
    const again = JSON.parse((await rewrite('--force')).stdout);
    expect(again).toMatchObject({ rewritten: 12, fingerprint: report.fingerprint, cost: { recorded: 12, usd: 0 } });
    expect(service.asked.length).toBe(before);

    const single = await project(api);
    const dear = JSON.parse((await single.rewrite()).stdout);
    expect(dear.fingerprint).toBe(report.fingerprint);
    expect(report.cost.usd).toBeCloseTo(dear.cost.usd / 2, 12);
  });

  it('sends again what expired or failed, keeps the original of what was refused', async () => {
    const { rewrite, written, jobs } = await project(api, {
      fate: ({ body }, job) => {
        const said = JSON.stringify(body);
        if (said.includes('number 3 ')) return { status: 400, code: 'invalid_prompt', message: 'our usage policies' };
        if (said.includes('number 4 ') && job === 0) return 'expired';
        if (said.includes('number 5 ') && job < 2) return { status: 500, code: 'server_error', message: 'oops' };
        return 'answer';
      },
    });
    const { stdout, status, stderr } = await rewrite('--batch');
    expect(stderr).not.toMatch(/error:/i);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ rewritten: 11, failed: 1 });
    expect(jobs.map(({ rows }) => rows.length)).toEqual([12, 2, 1]);
    expect(written()[3]).toMatchObject({ text: texts[3], docopt: { status: 'failed' } });
    expect(written()[3].docopt.reason).toContain('filtered');
  });

  it('finds a job whose creation was answered by a broken connection, and pays it once', async () => {
    const { rewrite, written, service, jobs, computed, open } = await project(api, { looks: 1 });
    const fault = { kind: 'half' } as const;
    // The upload of openai comes before.
    if (api === 'messages') service.next(fault);
    else {
      service.next({ kind: 'spoil', change: (body) => body }, fault);
    }
    const broken = await rewrite('--batch');
    expect(broken.status).toBe(1);
    expect(jobs.length).toBe(1);
    expect(open().length).toBe(1);
    const resumed = await rewrite('--batch');
    expect(resumed.status).toBe(0);
    expect(service.asked.filter(isCreation).length).toBe(1);
    expect(computed()).toBe(12);
    expect(written().length).toBe(12);
    expect(open()).toEqual([]);
  });

  it('lists and cancels; the same command then sends the rest', async () => {
    const { rewrite, here, service, jobs, open } = await project(api, { looks: 1_000_000 });
    const sent = rewrite('--batch', '--max-cost', '50');
    // One command at a time in this process: cancelled at the vendor, as a person would on its page.
    while (jobs.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const path = api === 'messages' ? 'messages/batches' : 'batches';
    await fetch(`${service.url}/v1/${path}/${jobs[0].id}/cancel`, { method: 'POST' });
    const stopped = await sent;
    expect(stopped.status).toBe(130);
    expect(stopped.stderr + stopped.stdout).toContain('was cancelled');
    expect(open()).toEqual([]);
    expect(JSON.parse((await here('runs', 'list')).stdout)).toEqual({ runs: [] });
  });

  it('stays under the cap: jobs are made as small as fit', async () => {
    const { rewrite, computed, jobs } = await project(api);
    // Less than one answer at its limit.
    const none = await rewrite('--batch', '--max-cost', '0.001');
    expect(none.status).toBe(3);
    expect(jobs.length).toBe(0);
    // All at their limits do not fit, a few do; what they come to makes room for the next.
    const { status, stdout } = await rewrite('--batch', '--max-cost', '0.05');
    expect(status).toBe(0);
    expect(JSON.parse(stdout).cost.usd).toBeLessThan(0.05);
    expect(computed()).toBe(12);
    expect(jobs.length).toBeGreaterThan(2);
  });
});

describe('--batch', { timeout: 120_000 }, () => {
  it('is refused where there is no batch API', async () => {
    const { here, cwd } = await project('chat');
    for (const policy of ['chat:http://localhost:9#m', 'edit']) {
      const { status, stdout, stderr } = await here(
        'rewrite-corpus',
        '--corpus',
        join(cwd, 'in', 'corpus.jsonl'),
        '--policy',
        policy,
        '--batch',
      );
      expect(status).toBe(2);
      expect(stdout + stderr).toContain('batch API');
    }
  });

  it('waits where the queue of the vendor is full, and says what else a job is refused for', async () => {
    const full = { code: 'token_limit_exceeded', message: 'Enqueued token limit reached' };
    const waits = await project('responses', { failure: (job) => (job === 0 ? full : undefined) });
    expect((await waits.rewrite('--batch')).status).toBe(0);
    expect(waits.jobs.length).toBe(2);
    const bad = { code: 'model_not_found', message: 'The provided model is not supported by the Batch API.' };
    const fails = await project('responses', { failure: () => bad });
    const { status, stdout, stderr } = await fails.rewrite('--batch');
    expect(status).toBe(1);
    expect(stdout + stderr).toContain('not supported by the Batch API');
  });

  it('docopt runs cancel ends a job of a run that is gone; the next run keeps its answers and sends the rest', async () => {
    const { here, rewrite, service, jobs, open, cwd } = await project('messages', { looks: 1_000_000 });
    service.next({ kind: 'half' });
    expect((await rewrite('--batch')).status).toBe(1);
    // Found again by a run that is then interrupted.
    const sent = rewrite('--batch');
    const isOpen = (): boolean =>
      open().some((name) => /"status":"open"/.test(readFileSync(join(cwd, '.docopt', 'batches', name), 'utf8')));
    while (!isOpen()) await new Promise((resolve) => setTimeout(resolve, 10));
    process.emit('SIGTERM');
    expect((await sent).status).toBe(130);
    const listed = JSON.parse((await here('runs', 'list')).stdout);
    expect(listed.runs).toMatchObject([
      { id: 'msgbatch_1', vendor: 'anthropic', requests: 12, done: 0, status: 'open' },
    ]);
    const cancelled = JSON.parse((await here('runs', 'cancel')).stdout);
    expect(cancelled.runs).toMatchObject([{ id: 'msgbatch_1', status: 'cancelled' }]);
    expect(jobs[0].status).toBe('cancelled');
  });
});
