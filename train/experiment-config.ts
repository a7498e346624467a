import type { PolicySpec, RetrieverSpec } from '../src/config/specs.ts';
import type { DatasetCard } from '../src/data/dataset-card.ts';
import type { DocumentText } from '../src/data/mod.ts';
import type { TrainOptions } from './options.ts';

/** EXPERIMENT/config.json: enough to go on, and for others to know what the policy was trained for. */
export interface ExperimentConfig {
  /** Absolute path. */
  readonly data: string;
  /** Its name, licence, source, languages and citation; absent in experiments of earlier versions. */
  readonly dataset?: DatasetCard;
  readonly documentText: DocumentText;
  readonly retriever: RetrieverSpec;
  readonly policy: PolicySpec;
  readonly options: TrainOptions;
  /** How it learns; absent = by gradient, or as API policies do by default. */
  readonly learner?: 'gradient' | 'zero-shot' | 'best-of-g' | 'experience';
  /** Documents that are rewritten at a refresh, of API policies; absent = all. */
  readonly refreshScope?: 'all' | 'training';
  readonly seeds?: readonly number[];
  readonly split: {
    readonly train: number;
    readonly dev: number;
    readonly by: 'query' | 'document';
    readonly seed: number;
  };
  /** Whether fixed baselines are measured beside the trained policy. */
  readonly baselines: boolean;
}
