import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from '../../support/in-process.ts';
import { DOCUMENTS_PER_TOPIC, STUDY_TOPICS, studyCollection } from '../../support/study-collection.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

const data = studyCollection();
const base = ['morph', 'doctor', '--data', data, '--retriever', 'bm25'];

/** A run with a score for every pair: relevant documents low or high, as asked. */
function recordedRun(scoreOf: (isRelevant: boolean) => number): string {
  const lines: string[] = [];
  for (let q = 0; q < STUDY_TOPICS; q++) {
    for (let twin = 0; twin < 2; twin++) {
      for (let topic = 0; topic < STUDY_TOPICS; topic++) {
        for (let i = 0; i < DOCUMENTS_PER_TOPIC; i++) {
          const spread = (topic * DOCUMENTS_PER_TOPIC + i) / 1e4;
          lines.push(`q${q}x${twin} Q0 d${topic}x${i} 1 ${scoreOf(topic === q) + spread} r`);
        }
      }
    }
  }
  const path = join(temporaryFolder(), 'scores.trec');
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

describe('morph doctor', () => {
  it('says that a reranker earns its calls when it does', async () => {
    const scores = recordedRun((isRelevant) => (isRelevant ? 0.8 : 0.1));
    const { status, stdout } = await runHere([...base, '--reranker', 'recorded', '--scores', scores, '--json']);
    expect(status).toBe(0);
    const [{ trust, sentence, scale, latency, queries }] = JSON.parse(stdout).diagnoses;
    expect(queries).toBe(16);
    expect(trust.verdict).toBe('earns');
    expect(sentence).toMatch(/^The reranker earns its calls/);
    expect(trust.auc.reranker).toBe(1);
    expect(trust.auc.retriever).toBeLessThan(1);
    expect(trust.ndcg.reranker).toBeGreaterThan(trust.ndcg.retriever);
    expect(scale.meanRelevant).toBeGreaterThan(scale.meanOther);
    expect(latency).toBeNull();
  });

  it('says plainly that it does not when it does not', async () => {
    const scores = recordedRun((isRelevant) => (isRelevant ? 0.1 : 0.8));
    const { stdout } = await runHere([...base, '--reranker', 'recorded', '--scores', scores]);
    expect(stdout).toContain('The reranker does not earn its calls');
    expect(stdout).toContain('upside down');
    expect(stdout).toMatch(/\| AUC +\| +0\.\d+ \| +0\.000 \|/);
  });

  it('names the pair that a recording lacks, and what is no probability', async () => {
    const path = join(temporaryFolder(), 'few.trec');
    writeFileSync(path, 'q0x0 Q0 d0x0 1 0.5 r\n');
    const missing = await runHere([...base, '--reranker', 'recorded', '--scores', path]);
    expect([missing.status, missing.stderr]).toEqual([
      1,
      expect.stringMatching(/no score for document '.+' of query '.+'/),
    ]);
    const logits = recordedRun(() => 7);
    const wrong = await runHere([...base, '--reranker', 'recorded', '--scores', logits]);
    expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringMatching(/the score 7.*\n.*probability/)]);
  });

  it('times the embedded reranker', async () => {
    const { stdout } = await runHere([...base, '--reranker', 'features', '--pool', '20', '--json'], {
      cwd: temporaryFolder(),
    });
    const [{ latency, pool }] = JSON.parse(stdout).diagnoses;
    expect(pool).toBeLessThanOrEqual(20);
    expect(latency.medianMs).toBeGreaterThan(0);
    expect(latency.p95Ms).toBeGreaterThanOrEqual(latency.medianMs);
  });
});
