import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Where models are kept between runs: DOCOPT_MODELS, else `docopt/models` in the user's cache folder. Never inside a project. */
export function modelsFolder(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  const { DOCOPT_MODELS, XDG_CACHE_HOME, LOCALAPPDATA } = environment;
  if (DOCOPT_MODELS) return resolve(DOCOPT_MODELS);
  const cache =
    XDG_CACHE_HOME || (process.platform === 'win32' ? LOCALAPPDATA : undefined) || join(homedir(), '.cache');
  return join(cache, 'docopt', 'models');
}
