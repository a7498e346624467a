/** The commands of this folder, by name. */
export { compareCommand } from './commands/compare.ts';
export { selectCommand } from './commands/select.ts';
export { serveCommand } from './commands/serve.ts';
