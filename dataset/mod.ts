/** Data sets: checked, divided, made from code. */
export { type SplitDatasetOptions, splitDataset } from './split.ts';
export { type Validation, validateDataset } from './validate.ts';
