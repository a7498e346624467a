import { describe, expect, it } from 'vitest';
import { type RewriteCorpusInput, rewriteKey, rewriteRows, sourceHash } from '../../rewrite/rewrite-corpus.ts';
import type { Rewrite } from '../../rewrite/rewriter.ts';
import type { Policy } from '../../src/ports.ts';
import { silentLog } from '../../src/run/log.ts';
import type { Journal } from '../../src/store/journal.ts';
import type { Completion, Corpus } from '../../src/types.ts';

function corpusOf(texts: readonly string[]): Corpus {
  const ids = texts.map((_, i) => `d${i}`);
  return {
    size: texts.length,
    ids,
    positionOf: (id) => ids.indexOf(id),
    original: (i) => ({ id: ids[i], title: '', text: texts[i] }),
    indexText: (i) => texts[i],
  };
}

/** A policy by a function of (text, seed), counting what it is asked; finishes batches out of order. */
function policyOf(
  rewrite: (text: string, seed: number) => string | Completion['finish'],
): Policy & { asked: string[] } {
  const asked: string[] = [];
  return {
    id: 'fake',
    asked,
    async generate(prompts, sampling) {
      await new Promise((resolve) => setTimeout(resolve, prompts.length % 2 === 0 ? 5 : 0));
      return prompts.map((prompt) => {
        asked.push(prompt.document.id);
        const out = rewrite(prompt.document.text, sampling.seed);
        const finish = ['length', 'refusal', 'error'].includes(out) ? (out as Completion['finish']) : 'stop';
        return [{ prompt, text: out, tokens: new Int32Array(0), logProbs: new Float64Array(0), finish }];
      });
    },
  };
}

function memoryJournal(): Journal<Rewrite> & { known: Map<string, Rewrite> } {
  const known = new Map<string, Rewrite>();
  return {
    known,
    recovered: 0,
    get: (key) => known.get(key),
    append: async (entries) => {
      for (const [key, rewrite] of entries) known.set(key, rewrite);
    },
    close: async () => {},
    remove: async () => {},
  };
}

const input = (corpus: Corpus, policy: Policy, more: Partial<RewriteCorpusInput> = {}): RewriteCorpusInput => ({
  corpus,
  policy,
  policyFingerprint: 'p1',
  sampling: { temperature: 0, seed: 1 },
  guards: { onEmpty: 'keep', onOverlong: 'keep', onDropped: 'keep', maxGrowth: 10, minKept: 0.5 },
  retries: 1,
  batchSize: 3,
  concurrency: 4,
  log: silentLog,
  ...more,
});

const collect = async (rows: AsyncIterable<{ rewrite: Rewrite; from: string }>) => {
  const all = [];
  for await (const row of rows) all.push(row);
  return all;
};

describe('rewriteRows', () => {
  const texts = Array.from({ length: 20 }, (_, i) => `text number ${i}`);

  it('answers in corpus order whatever finishes first', async () => {
    const rows = await collect(
      rewriteRows(
        input(
          corpusOf(texts),
          policyOf((text) => `${text} more`),
        ),
      ),
    );
    expect(rows.map((row) => row.rewrite.text)).toEqual(texts.map((text) => `${text} more`));
  });

  it('asks nothing twice once the journal knows it, and equal texts only by content', async () => {
    const journal = memoryJournal();
    const policy = policyOf((text) => `${text} more`);
    await collect(rewriteRows(input(corpusOf(texts), policy, { journal, limit: 7 })));
    expect(policy.asked).toHaveLength(7);
    const rows = await collect(rewriteRows(input(corpusOf(texts), policy, { journal })));
    expect(policy.asked).toHaveLength(20);
    expect(rows.filter((row) => row.from === 'journal')).toHaveLength(7);
  });

  it('reuses a previous corpus by id and source hash', async () => {
    const policy = policyOf((text) => `${text} new`);
    const find = (id: string, hash: string): Rewrite | undefined =>
      id === 'd3' && hash === sourceHash(texts[3]) ? { text: 'old', status: 'rewritten', reason: '' } : undefined;
    const rows = await collect(
      rewriteRows(
        input(corpusOf(texts), policy, {
          previous: { find, changes: () => ({ added: 0, changed: 0, removed: 0, unchanged: 0 }) },
        }),
      ),
    );
    expect(rows[3].rewrite.text).toBe('old');
    expect(policy.asked).not.toContain('d3');
  });

  it('keeps the original of what a guard stops, and says why', async () => {
    const rows = await collect(
      rewriteRows(
        input(
          corpusOf(['one two', 'three']),
          policyOf((text) => (text === 'three' ? '' : 'other words')),
        ),
      ),
    );
    expect(rows.map((row) => row.rewrite)).toEqual([
      { text: 'one two', status: 'kept', reason: "only 0 % of the original's words are left" },
      { text: 'three', status: 'kept', reason: 'empty rewrite' },
    ]);
  });

  it('retries with another seed, then keeps', async () => {
    const guards = { onEmpty: 'retry', onOverlong: 'keep', onDropped: 'keep', maxGrowth: 10, minKept: 0.5 } as const;
    const policy = policyOf((text, seed) => (seed === 1 ? '' : `${text}!`));
    const [row] = await collect(rewriteRows(input(corpusOf(['one']), policy, { guards })));
    expect(row.rewrite.text).toBe('one!');
    const [never] = await collect(
      rewriteRows(
        input(
          corpusOf(['one']),
          policyOf(() => ''),
          { guards },
        ),
      ),
    );
    expect(never.rewrite).toMatchObject({ text: 'one', status: 'kept' });
  });

  it('marks what the policy could not finish', async () => {
    const [row] = await collect(
      rewriteRows(
        input(
          corpusOf(['one']),
          policyOf(() => 'refusal'),
        ),
      ),
    );
    expect(row.rewrite).toEqual({ text: 'one', status: 'failed', reason: "the policy ended with 'refusal'" });
  });

  it('fail names the document', async () => {
    const guards = { onEmpty: 'fail', onOverlong: 'keep', onDropped: 'keep', maxGrowth: 10, minKept: 0.5 } as const;
    const run = collect(
      rewriteRows(
        input(
          corpusOf(['a', 'b']),
          policyOf((text) => (text === 'b' ? '' : text)),
          { guards },
        ),
      ),
    );
    await expect(run).rejects.toThrow("document 'd1': empty rewrite");
  });

  it('an abort stops it, and what was done is in the journal', async () => {
    const journal = memoryJournal();
    const controller = new AbortController();
    const policy = policyOf((text) => {
      if (text === texts[8]) controller.abort(new Error('stop'));
      return `${text} more`;
    });
    await expect(
      collect(rewriteRows(input(corpusOf(texts), policy, { journal, signal: controller.signal, concurrency: 1 }))),
    ).rejects.toThrow('stop');
    expect(journal.known.size).toBe(9);
  });

  it('an empty corpus yields nothing', async () => {
    expect(
      await collect(
        rewriteRows(
          input(
            corpusOf([]),
            policyOf((text) => text),
          ),
        ),
      ),
    ).toEqual([]);
  });

  it('keys differ by policy, settings and text', () => {
    const keys = new Set([
      rewriteKey('p', 's', 't'),
      rewriteKey('q', 's', 't'),
      rewriteKey('p', 'x', 't'),
      rewriteKey('p', 's', 'u'),
      rewriteKey('ps', '', 't'),
    ]);
    expect(keys.size).toBe(5);
  });
});
