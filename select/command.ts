/** The commands of this folder, by name. */
export { selectCommand } from './commands/select.ts';
export { serveCommand } from './commands/serve.ts';
