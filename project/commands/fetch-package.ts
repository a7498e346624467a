/** Has npm fetch a package, for its files. With the wire, the only way out of this machine; it is closed offline, too. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DocOptError } from '../../src/errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The package's folder under `place`. Throws ENVIRONMENT offline, before npm is begun; MISSING where npm cannot fetch it. */
export function fetchPackage(name: string, version: string, place: string, env: Environment): string {
  const hint = `Install it yourself: npm install ${name}@${version}`;
  if (/^(1|true|yes|on)$/i.test(env.DOCOPT_OFFLINE ?? '')) {
    throw new DocOptError(
      'ENVIRONMENT',
      `the npm package ${name} ${version} is not installed, and this run is offline`,
      {
        hint: `Unset DOCOPT_OFFLINE to have npm fetch it. ${hint}`,
      },
    );
  }
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  const npm = spawnSync('npm', ['install', '--prefix', place, ...flags, `${name}@${version}`], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  const found = join(place, 'node_modules', name);
  if (npm.status === 0 && existsSync(found)) return found;
  throw new DocOptError(
    'MISSING',
    `the demo reads the code of the npm package ${name} ${version}, which npm could not fetch`,
    {
      hint,
      cause: npm.error ?? npm.stderr,
    },
  );
}
