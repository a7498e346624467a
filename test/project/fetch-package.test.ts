import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fetchPackage } from '../../project/commands/fetch-package.ts';
import { folderWith } from '../support/temp-folder.ts';

it('offline, npm is not even begun', () => {
  const place = join(folderWith({}), 'package');
  for (const DOCOPT_OFFLINE of ['1', 'true', 'yes']) {
    expect(() => fetchPackage('no-such-package', '0.0.0', place, { DOCOPT_OFFLINE })).toThrow(/this run is offline/);
  }
  expect(existsSync(place)).toBe(false);
});
