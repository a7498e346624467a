import { anthropicBatches } from './anthropic.ts';
import { openAiBatches } from './openai.ts';
import type { BatchService, BatchWay } from './service.ts';

export function batchService(driver: 'openai' | 'anthropic', way: BatchWay): BatchService {
  return driver === 'openai' ? openAiBatches(way) : anthropicBatches(way);
}
