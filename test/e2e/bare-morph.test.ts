/** After a training, morph needs no flags: what is missing on the way is made first, and said aloud. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run, runJson, tempFolder } from '../support/cli.ts';

it('morph select right after docopt train rewrites, indexes and answers', async () => {
  const cwd = tempFolder('bare-');
  const none = await run(['morph', 'select', 'deep copy'], { cwd });
  expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('Build one first: docopt index')]);

  await runJson(['docopt', 'init'], { cwd });
  const schema = /\$schema=(\S+)/.exec(readFileSync(join(cwd, 'docopt.config.yaml'), 'utf8'))?.[1] ?? '';
  expect(JSON.parse(readFileSync(join(cwd, schema), 'utf8'))).toHaveProperty('properties.retriever');
  await runJson(['docopt', 'train', '--steps', '2', '--no-baselines'], { cwd });
  const first = await run(['morph', 'select', 'a seeded stream of random numbers', '--json', '-k', '3'], { cwd });
  expect(first.status, first.stderr).toBe(0);
  expect(first.stderr).toContain('rewriting the corpus of the latest training first');
  expect(JSON.parse(first.stdout).selected).toHaveLength(3);
  const latest = JSON.parse(readFileSync(join(cwd, '.docopt/latest.json'), 'utf8')) as Record<string, string>;
  expect(Object.keys(latest).sort()).toEqual(['corpus', 'experiment', 'index']);
  for (const folder of Object.values(latest)) expect(existsSync(join(cwd, folder))).toBe(true);

  const second = await run(['morph', 'select', 'a seeded stream of random numbers', '--json', '-k', '3'], { cwd });
  expect(second.stderr).not.toContain('rewriting');
  const answer = (text: string) =>
    JSON.parse(text).selected.map(({ id, rank }: { id: string; rank: number }) => [id, rank]);
  expect(answer(second.stdout)).toEqual(answer(first.stdout));
});
