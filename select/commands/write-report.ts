import { join } from 'node:path';
import type { CommandContext } from '../../src/config/command.ts';
import { writeFileAtomic } from '../../src/data/mod.ts';

/** report.json and report.md in a folder, where one was asked for. */
export async function writeReport(
  folder: string | undefined,
  report: { readonly json: unknown; readonly text: string },
  { log }: CommandContext,
): Promise<void> {
  if (folder === undefined) return;
  await writeFileAtomic(join(folder, 'report.json'), [`${JSON.stringify(report.json)}\n`]);
  await writeFileAtomic(join(folder, 'report.md'), [report.text]);
  log.info(`wrote ${join(folder, 'report.md')} and report.json beside it`);
}
