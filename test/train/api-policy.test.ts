/** `docopt train` by chat models behind an API, whole, against a service that speaks the vendors' protocols. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cli.ts';
import { runHere } from '../support/in-process.ts';
import { type Heard, type Model, type Said, startChatService } from '../support/servers/chat-apis.ts';
import type { Service } from '../support/servers/service.ts';

const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

/** Documents of code numbers; people ask for them by other words. */
const DOCUMENTS = 24;
const document = (i: number): string => `item${i} is kept in row${i % 5} beside shelf${i % 3}`;
const query = (i: number): string => `wanted${i} gadget${i % 4} somewhere`;
const wordsOf = (text: string): string => {
  const i = Number(/item(\d+)/.exec(text)?.[1]);
  return `wanted${i} gadget${i % 4}`;
};

const LESSON = 'Name the thing by the word that buyers use for it';

/** Knows the words of people, and uses them when it was told to or, sometimes, by chance. */
const buyer =
  (chance: (heard: Heard) => boolean): Model =>
  (heard): Said => {
    const { system, document: text } = heard;
    if (system.includes('"insight"')) return { text: '{"insight": "the better one uses the words that buyers use"}' };
    if (system.includes('"operations"')) {
      const operations = heard.user.includes(LESSON) ? [] : [{ op: 'ADD', text: LESSON }];
      return { text: JSON.stringify({ operations }) };
    }
    return { text: system.includes(LESSON) || chance(heard) ? `${text} ${wordsOf(text)}` : text };
  };

async function project(model: Model) {
  const service = await startChatService(model);
  services.push(service);
  const cwd = tempFolder();
  const write = (name: string, lines: readonly string[]): void =>
    writeFileSync(join(cwd, 'data', name), lines.map((line) => `${line}\n`).join(''));
  mkdirSync(join(cwd, 'data', 'qrels'), { recursive: true });
  const each = <T>(make: (i: number) => T): T[] => Array.from({ length: DOCUMENTS }, (_, i) => make(i));
  write(
    'corpus.jsonl',
    each((i) => JSON.stringify({ _id: `d${i}`, title: '', text: document(i) })),
  );
  write(
    'queries.jsonl',
    each((i) => JSON.stringify({ _id: `q${i}`, text: query(i) })),
  );
  write('qrels/test.tsv', ['query-id\tcorpus-id\tscore', ...each((i) => `q${i}\td${i}\t1`)]);
  const train = (...more: string[]) =>
    runHere(
      [
        ...['docopt', 'train', '--data', 'data', '--retriever', 'bm25', '--policy', `chat:${service.url}#m`],
        ...['--out', 'experiment', '--train', '0.5', '--no-baselines', '--json', ...more],
      ],
      { cwd },
    );
  return { service, cwd, train };
}

/** By the seed that was sent: the same request, the same answer. */
const byChance = ({ body }: Heard): boolean => (Number(body.seed) + String(body.messages).length) % 2 === 0;
let turn = 0;
const alternating = (): boolean => turn++ % 2 === 0;

describe('training a chat model behind an API', { timeout: 240_000 }, () => {
  it('zero-shot: rewrites once, measures, and the experiment rewrites a corpus for nothing', async () => {
    const { service, train, cwd } = await project(buyer(() => true));
    const { status, stdout, stderr } = await train('--learner', 'zero-shot');
    expect(stderr).not.toMatch(/^error/im);
    expect(status).toBe(0);
    const report = JSON.parse(stdout);
    expect(report.metrics['nDCG@5'].original).toBeLessThan(0.2);
    expect(report.metrics['nDCG@5'].trained).toBe(1);
    expect(report.metrics['nDCG@5'].zeroShot).toBe(1);
    expect(report.cost).toMatchObject({ answers: DOCUMENTS, usd: 0 });
    expect(service.asked.length).toBe(DOCUMENTS);

    const rewritten = await runHere(
      ['docopt', 'rewrite-corpus', '--policy', 'experiment', '--data', 'data', '--out', 'out', '--json'],
      { cwd },
    );
    expect(JSON.parse(rewritten.stdout)).toMatchObject({ rewritten: DOCUMENTS, cost: { recorded: DOCUMENTS } });
    expect(service.asked.length).toBe(DOCUMENTS);
  });

  it('experience: learns the lesson that the rewards teach, and keeps it as the policy', async () => {
    const { train, cwd } = await project(buyer(alternating));
    const { status, stdout } = await train('--steps', '2', '--index-refresh-rate', '1', '--documents-per-step', '4');
    expect(status).toBe(0);
    const report = JSON.parse(stdout);
    expect(report.metrics['nDCG@5'].trained).toBe(1);
    expect(report.metrics['nDCG@5'].zeroShot).toBeLessThan(1);
    const folder = join(cwd, 'experiment', report.checkpoint.path, 'policy');
    expect(readFileSync(join(folder, 'lessons.txt'), 'utf8')).toBe(`${LESSON}\n`);
    expect(readdirSync(join(folder, 'library'))).toContain('0001.md');
    expect(readFileSync(join(folder, 'library', '0001.md'), 'utf8')).toContain(`- ADD: ${LESSON}`);
    // The words of no query are in a lesson or in what the model is told before a document.
    expect(readFileSync(join(folder, 'chat.json'), 'utf8')).not.toMatch(/wanted\d|gadget\d/);
  });

  it('best-of-g: keeps what earned most, and exports it for fine-tuning elsewhere', async () => {
    const { train, cwd } = await project(buyer(alternating));
    const { status, stdout } = await train(
      ...['--learner', 'best-of-g', '--steps', '1', '--documents-per-step', '6', '--set', 'refresh.scope=training'],
    );
    expect(status).toBe(0);
    const report = JSON.parse(stdout);
    const folder = join(cwd, 'experiment', 'checkpoints');
    const last = join(folder, readdirSync(folder).sort().at(-1)!, 'policy');
    const rows = (name: string) =>
      readFileSync(join(last, name), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    expect(rows('picks.jsonl').length).toBeGreaterThan(0);
    for (const { source, best, bestReward } of rows('picks.jsonl')) {
      expect(best).toBe(`${source} ${wordsOf(source)}`);
      expect(bestReward).toBeGreaterThan(0);
    }
    expect(rows('sft.jsonl')[0].messages.map(({ role }: { role: string }) => role)).toEqual([
      'system',
      'user',
      'assistant',
    ]);
    expect(rows('preferences.trl.jsonl')[0]).toHaveProperty('rejected');
    expect(rows('preferences.openai.jsonl')[0]).toHaveProperty('non_preferred_output');
    expect(report.notes.join()).toContain('refresh.scope: training');
  });

  it('says before what it would cost, and refuses a gradient', async () => {
    const { service, train, cwd } = await project(buyer(byChance));
    const estimated = JSON.parse((await train('--dry-run', '--price', '1,2')).stdout);
    expect(estimated).toMatchObject({ dryRun: true, learner: 'experience', steps: 12 });
    expect(estimated.costUsd).toBeGreaterThan(0);
    expect((await train('--learner', 'gradient')).status).toBe(2);
    expect(service.asked.length).toBe(0);
    expect(existsSync(join(cwd, 'experiment', 'report.json'))).toBe(false);
  });
});
