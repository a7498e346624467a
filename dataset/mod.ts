/** Data sets: checked, divided, made from code. */
export {
  type CodeDataset,
  type CodeReport,
  type FromCodeOptions,
  fromCode,
  SOURCE_EXTENSIONS,
} from './from-code/from-code.ts';
export { type SplitDatasetOptions, splitDataset } from './split.ts';
export { type Validation, validateDataset } from './validate.ts';
