import { describe, expect, it } from 'vitest';
import { trainOptions } from '../../train/options.ts';

describe('trainOptions', () => {
  it('has the settings of the edit policy', () => {
    expect(trainOptions('edit')).toMatchObject({
      steps: 150,
      documentsPerStep: 16,
      groupSize: 8,
      learningRate: 0.1,
      schedule: 'linear',
      beta: 0.02,
      indexRefreshRate: 10,
      rewardK: 5,
      negativesPerDocument: 5,
      klAnchor: 'initial',
    });
  });

  it('has the settings of the paper: batches of 32 completions', () => {
    const paper = trainOptions('paper');
    expect(paper.documentsPerStep * paper.groupSize).toBe(32);
    expect(paper).toMatchObject({
      steps: 150,
      indexRefreshRate: 50,
      learningRate: 1e-5,
      beta: 0.1,
      loss: 'dapo',
      scaleRewards: 'group',
      rollout: { temperature: 0.7, topP: 0.8, topK: 20, maxNewTokens: 1024 },
      indexing: { temperature: 0.3, topP: 0.9, topK: 30, repetitionPenalty: 1.1, maxNewTokens: 4096 },
    });
  });

  it('has what TRL does by default', () => {
    expect(trainOptions('trl')).toMatchObject({ beta: 0, learningRate: 1e-6 });
  });

  it('takes changes, but undefined changes nothing', () => {
    expect(trainOptions('edit', { steps: 3, beta: undefined })).toMatchObject({ steps: 3, beta: 0.02 });
  });

  it.each([
    [{ groupSize: 1 }, 'groupSize is 1, expected at least 2'],
    [{ steps: 0 }, 'steps is 0, expected at least 1'],
    [{ learningRate: -1 }, 'learningRate is -1'],
    [{ clipLow: 1 }, 'clipLow is 1'],
    [{ metrics: [] }, 'metrics is []'],
  ])('refuses %j', (changes, message) => {
    expect(() => trainOptions('edit', changes)).toThrow(message);
  });
});
