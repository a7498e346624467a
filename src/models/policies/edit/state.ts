/** Everything about an edit policy that training changes or that a checkpoint must carry. */
import type { AdamState } from './adam.ts';
import type { Candidates } from './candidates.ts';

export interface EditPolicyState {
  readonly candidates: Candidates;
  /** Where the weights started, for reports. */
  readonly init: string;
  readonly weights: Float64Array;
  /** The KL anchor. */
  readonly reference: Float64Array;
  readonly adam: AdamState;
}
