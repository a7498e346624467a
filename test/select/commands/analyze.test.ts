import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from '../../support/in-process.ts';
import { studyCollection } from '../../support/study-collection.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

const data = studyCollection();
const base = [
  'morph',
  'analyze',
  '--data',
  data,
  '--retriever',
  'bm25',
  '--reranker',
  'qrels',
  '--budgets',
  '5',
  '--capacities',
  '8',
  '--queries',
  '4',
  '--pool',
  '50',
];

describe('morph analyze', () => {
  it('draws every figure that needs no chat policy, and says what is left out', async () => {
    const out = join(temporaryFolder(), 'figures');
    const { status, stdout, stderr } = await runHere([...base, '--out', out, '--json'], { cwd: temporaryFolder() });
    expect([status, stderr]).toEqual([0, expect.stringContaining('without the agentic loop and the audit of peaks')]);
    const { analyses } = JSON.parse(stdout);
    expect(Object.keys(analyses[0].figures)).toEqual([
      'coverage',
      'capacity',
      'allocation',
      'multimodality',
      'latency',
      'frontier',
    ]);
    expect(Object.keys(analyses[1].figures)).toEqual(['kernels', 'robustness']);
    expect(existsSync(join(out, 'report.md'))).toBe(true);
  });

  it('refuses the audit without a policy that speaks chat', async () => {
    const alone = await runHere([...base, '--figures', 'audit'], { cwd: temporaryFolder() });
    expect([alone.status, alone.stderr]).toEqual([
      2,
      expect.stringMatching(/audit needs a policy that speaks chat, and none is configured/),
    ]);
    const silent = await runHere([...base, '--figures', 'audit', '--policy', 'edit'], { cwd: temporaryFolder() });
    expect([silent.status, silent.stderr]).toEqual([2, expect.stringMatching(/'edit' does not talk/)]);
    const compared = await runHere(['morph', 'compare', ...base.slice(2), '--selectors', 'single-stage,agentic'], {
      cwd: temporaryFolder(),
    });
    expect([compared.status, compared.stderr]).toEqual([2, expect.stringMatching(/agentic needs a policy/)]);
  });
});
