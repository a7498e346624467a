/** The commands of this folder, by name, and what --help says of all of them. */
import { SELECTORS } from './mod.ts';

export { analyzeCommand } from './commands/analyze.ts';
export { compareCommand } from './commands/compare.ts';
export { doctorCommand } from './commands/doctor.ts';
export { selectCommand } from './commands/select.ts';
export { serveCommand } from './commands/serve.ts';

export const selectorNotes: readonly string[] = [
  `Selectors (--selector)\n  ${SELECTORS.slice(0, 6).join(', ')},\n  ${SELECTORS.slice(6).join(', ')}\n  default: morph-hybrid where there are lexical ranks, else dense-log; docs/selection.md tells them apart`,
];
