/** What `docopt doctor` says of texts that leave the machine, through the real program; no address here answers. */
import { describe, expect, it } from 'vitest';
import { runHere } from '../support/in-process.ts';
import { folderWith } from '../support/temp-folder.ts';

interface Leaving {
  readonly command: string;
  readonly texts: string;
  readonly host: string;
}

const cwd = folderWith({ 'empty.txt': '' });

async function doctor(...argv: string[]): Promise<{ leaves: Leaving[]; line: string }> {
  const { stdout } = await runHere(['docopt', 'doctor', ...argv, '--json'], { cwd });
  const { leaves, checks } = JSON.parse(stdout) as { leaves: Leaving[]; checks: { name: string; detail: string }[] };
  return { leaves, line: checks.find(({ name }) => name === 'what leaves')!.detail };
}

describe('what leaves the machine', () => {
  it('is nothing while every name runs here', async () => {
    const { leaves, line } = await doctor(
      '--retriever',
      'fusion:bm25+lsa',
      '--policy',
      'edit',
      '--reranker',
      'features',
    );
    expect(leaves).toEqual([]);
    expect(line).toMatch(/^nothing by the names configured here; .* artefacts may name services/);
  });

  it('is listed by command, texts and host, for each of the three, inside a fusion too', async () => {
    const { leaves, line } = await doctor(
      ...['--retriever', 'fusion:bm25+tei:http://127.0.0.1:9', '--policy', 'chat:http://localhost:9/v1#m'],
      ...['--reranker', 'tei:http://[::1]:9', '--set', 'wire.attempts=1'],
    );
    const hosts = (command: string) => leaves.filter((one) => one.command.includes(command)).map(({ host }) => host);
    expect(hosts('docopt train')).toEqual(['127.0.0.1:9', 'localhost:9']);
    expect(hosts('docopt rewrite-corpus')).toEqual(['localhost:9']);
    expect(hosts('docopt index')).toEqual(['127.0.0.1:9']);
    expect(hosts('morph serve')).toEqual(['127.0.0.1:9', '[::1]:9']);
    for (const { command, texts, host } of leaves) expect(line).toContain(`${command}: ${texts} -> ${host}`);
  });

  it('is nothing while offline is set, and says what it would be else', async () => {
    const { line } = await doctor('--retriever', 'tei:http://127.0.0.1:9', '--offline');
    expect(line).toMatch(/^nothing while offline is set; else docopt train: .* -> 127\.0\.0\.1:9/);
  });
});
