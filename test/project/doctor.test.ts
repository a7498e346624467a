/** `docopt doctor` through the real program: a wrong name is a line, never an end. */
import { describe, expect, it } from 'vitest';
import { runHere } from '../support/in-process.ts';
import { folderWith, jsonl } from '../support/temp-folder.ts';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly remedy: string;
  readonly ms?: number;
}

const cwd = folderWith({
  'data/corpus.jsonl': jsonl({ _id: 'a', text: 'wooden boats' }, { _id: 'b', text: 'white birds' }),
  'bad.yaml': 'retreiver: bm25\nseed: 1\nreranker: {driver: features}\n',
  'torn.yaml': 'retriever: bm25\n  k1: [\n',
});

async function doctor(...argv: string[]): Promise<{ status: number | null; ok: boolean; by: Map<string, Check> }> {
  const { status, stdout, stderr } = await runHere(['docopt', 'doctor', ...argv, '--json'], { cwd });
  expect(stderr).toBe('');
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  for (const { ok, remedy, detail } of checks) {
    expect(detail).not.toContain('\n');
    if (!ok) expect(remedy).toMatch(/\S/);
  }
  return { status, ok, by: new Map(checks.map((check) => [check.name, check])) };
}

describe('docopt doctor', () => {
  it('tries every name with one text and tells what it resolves to and how long it took', async () => {
    const { status, by } = await doctor(
      '--data',
      'data',
      '--retriever',
      'lsa',
      '--policy',
      'edit',
      '--reranker',
      'qrels',
    );
    expect(status).toBe(0);
    expect(by.get('retriever')).toMatchObject({
      detail: 'lsa:dimensions=200,seed=1,analyzer=english: found its probe document',
      ms: expect.any(Number),
    });
    expect(by.get('policy')).toMatchObject({ detail: expect.stringMatching(/^edit: \w+ its probe document/) });
    expect(by.get('reranker')).toMatchObject({
      detail: expect.stringMatching(/^qrels:noise=0.12,seed=1: 0\.\d+, 0\.\d+/),
    });
    expect(by.get('data')).toMatchObject({ detail: 'data: 2 documents, 0 queries, 0 of them judged' });
    expect(by.get('speed')).toMatchObject({ ok: true, ms: expect.any(Number) });
    for (const name of ['node', 'machine', 'libsql', 'onnxruntime-node', 'keys', 'project folder', 'names'])
      expect(by.has(name)).toBe(true);
  });

  it('every wrong name is one line with its remedy, and the others are tried all the same', async () => {
    const { status, ok, by } = await doctor(
      ...['--retriever', 'bm52', '--policy', 'nowhere', '--reranker', 'features:x=1', '--data', 'none', '--set', 'x=1'],
    );
    expect([status, ok]).toEqual([1, false]);
    expect(by.get('retriever')).toMatchObject({ ok: false, detail: expect.stringContaining("Did you mean 'bm25'?") });
    expect(by.get('policy')).toMatchObject({ ok: false, detail: "policy 'nowhere' is not known." });
    expect(by.get('reranker')).toMatchObject({ ok: false, detail: expect.stringContaining("unknown setting 'x'") });
    expect(by.get('data')).toMatchObject({ ok: false, detail: expect.stringContaining('no such file or folder') });
    expect(by.get('configuration')).toMatchObject({ ok: false, detail: expect.stringContaining("unknown key 'x'") });
    expect(by.get('speed')).toMatchObject({ ok: true });
  });

  it('a configuration that is wrong or torn is a line too', async () => {
    const wrong = await doctor('-c', 'bad.yaml');
    expect(wrong.by.get('configuration')).toMatchObject({
      ok: false,
      detail: "bad.yaml: unknown key 'retreiver'. Did you mean 'retriever'?",
    });
    expect(wrong.by.get('reranker')).toMatchObject({ ok: true, remedy: 'Build one: docopt index' });
    const torn = await doctor('-c', 'torn.yaml', '--retriever', 'bm25');
    expect(torn.by.get('configuration')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('does not parse'),
    });
    expect(torn.by.get('retriever')).toMatchObject({ ok: true });
  });
});
