import type { compareSchema } from '../../src/config/schemas/study.ts';

/** What all studies are told about what they study. */
export type SubjectOptions = Omit<
  typeof compareSchema._zod.output,
  | 'selectors'
  | 'budgets'
  | 'capacities'
  | 'sweep'
  | 'focus'
  | 'policy'
  | 'agenticDepths'
  | 'agenticHops'
  | 'out'
  | 'dryRun'
>;
