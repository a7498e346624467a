/** `docopt rewrite-corpus` by API policies, whole: the real command against a service that speaks the vendors' protocols. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cli.ts';
import { runHere } from '../support/in-process.ts';
import { type Model, startChatService } from '../support/servers/chat-apis.ts';
import type { Service } from '../support/servers/service.ts';

const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

async function project(model: Model, texts: readonly string[]) {
  const service = await startChatService(model);
  services.push(service);
  const cwd = tempFolder();
  mkdirSync(join(cwd, 'in'));
  const rows = texts.map((text, i) => `${JSON.stringify({ _id: `d${i}`, title: '', text })}\n`);
  writeFileSync(join(cwd, 'in', 'corpus.jsonl'), rows.join(''));
  const env = { OPENAI_API_KEY: 'sk-test-0123456789', OPENAI_BASE_URL: `${service.url}/v1` };
  const rewrite = (...more: string[]) =>
    runHere(
      ['docopt', 'rewrite-corpus', '--corpus', 'in/corpus.jsonl', '--policy', 'openai:gpt-5.4-mini', '--json', ...more],
      { cwd, env },
    );
  const written = () =>
    readFileSync(join(cwd, 'out', 'corpus.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { service, cwd, rewrite, written };
}

const told = (text: string): { text: string } => ({ text: JSON.stringify({ text }) });
const texts = Array.from({ length: 20 }, (_, i) => `the document number ${i} speaks of boats and rivers`);

describe('rewrite-corpus by an API policy', { timeout: 240_000 }, () => {
  it('writes rewrites and what they cost, and pays nothing twice', async () => {
    const { service, rewrite, written } = await project(({ document }) => told(`About boats: ${document}`), texts);
    const first = await rewrite('--out', 'out');
    expect(first.stderr).not.toMatch(/error/i);
    expect(first.status).toBe(0);
    const report = JSON.parse(first.stdout);
    expect(report).toMatchObject({ documents: 20, rewritten: 20, cost: { answers: 20, recorded: 0 } });
    expect(report.cost.usd).toBeGreaterThan(0);
    expect(written()[3]).toMatchObject({ _id: 'd3', text: `About boats: ${texts[3]}`, docopt: { text: texts[3] } });
    expect(service.asked.length).toBe(20);

    const again = await rewrite('--out', 'out', '--force');
    expect(JSON.parse(again.stdout)).toMatchObject({ rewritten: 20, cost: { answers: 20, recorded: 20, usd: 0 } });
    expect(service.asked.length).toBe(20);
  });

  it('says before what it will cost, and sends nothing', async () => {
    const { service, rewrite } = await project(() => told(''), texts);
    const { status, stdout } = await rewrite('--dry-run');
    expect(status).toBe(0);
    const estimate = JSON.parse(stdout);
    expect(estimate).toMatchObject({ dryRun: true, documents: 20, requests: 20, exact: true });
    expect(estimate.inputTokens).toBeGreaterThan(20 * 10);
    expect(estimate.costUsd).toBeGreaterThan(0);
    expect(estimate.usdAtMost).toBeGreaterThan(estimate.costUsd);
    expect(estimate.usdByBatch).toBeCloseTo(estimate.costUsd / 2, 12);
    expect(service.asked.length).toBe(0);
  });

  it('stops at the cap with status 3, and goes on from there with a higher one', async () => {
    const { service, rewrite } = await project(({ document }) => told(`x ${document}`), texts);
    const capped = await rewrite('--out', 'out', '--max-cost', '0.02', '--set', 'policy.thinkingTokens=0');
    expect(capped.status).toBe(3);
    const asked = service.asked.length;
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(20);
    const rest = await rewrite('--out', 'out', '--set', 'policy.thinkingTokens=0');
    expect(rest.status).toBe(0);
    expect(service.asked.length).toBe(20);
  });

  it('keeps the original of documents that were refused, cut off or emptied, and counts them', async () => {
    const { rewrite, written, service } = await project(
      ({ document }) => {
        if (document === texts[0]) return { text: 'No.', finish: 'refusal' };
        if (document === texts[1]) return { text: '{"text": "the doc', finish: 'length' };
        if (document === texts[2]) return told('');
        return told(document);
      },
      texts.slice(0, 5),
    );
    const { stdout } = await rewrite('--out', 'out');
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ rewritten: 2, kept: 1, failed: 2 });
    expect(report.cost).toMatchObject({ refused: 1, truncated: 2, empty: 1 });
    expect(written().map(({ text }) => text)).toEqual(texts.slice(0, 5));
    // The second try of what was cut off has twice the room, and the same for thinking.
    const limits = service.asked
      .filter(({ body }) => JSON.stringify(body).includes(texts[1]))
      .map(({ body }) => (body as { max_output_tokens: number }).max_output_tokens - 2048);
    expect(limits[1]).toBe(2 * limits[0]);
  });
});
