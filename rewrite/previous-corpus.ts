/** An earlier rewritten corpus: what of it still holds, and what has changed since. */
import { scanTextLines } from '../src/data/lines.ts';
import { strictReport } from '../src/data/problem.ts';
import { openArtefact } from '../src/store/artefact.ts';
import type { Rewrite } from './rewriter.ts';

/** Documents against an earlier corpus, by id and by the text that is rewritten. */
export interface SourceChanges {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
}

export interface PreviousCorpus {
  /** The rewrite of this very text under the same policy and settings. Asked once for every document. */
  find(id: string, sourceHash: string): Rewrite | undefined;
  /** After every document was asked for. */
  changes(): SourceChanges;
}

/** Reads an earlier corpus; its rewrites hold where policy and settings are the same, its ids and sources always. */
export async function openPreviousCorpus(
  folder: string,
  policyFingerprint: string,
  settings: string,
): Promise<PreviousCorpus> {
  const { manifest, path } = await openArtefact(folder, 'corpus', { verify: true });
  const holds = manifest.parents.policy === policyFingerprint && manifest.info.settings === settings;
  const known = new Map<string, { readonly hash: string; readonly rewrite?: Rewrite }>();
  await scanTextLines(path('corpus.jsonl'), strictReport(), (line) => {
    const row = JSON.parse(line) as {
      _id: string;
      text: string;
      docopt: { sourceHash: string; status: Rewrite['status']; reason: string };
    };
    const { sourceHash: hash, status, reason } = row.docopt;
    known.set(row._id, holds ? { hash, rewrite: { text: row.text, status, reason } } : { hash });
  });
  const counts = { added: 0, changed: 0, unchanged: 0 };
  return {
    find(id, sourceHash) {
      const earlier = known.get(id);
      const fate = earlier === undefined ? 'added' : earlier.hash === sourceHash ? 'unchanged' : 'changed';
      counts[fate]++;
      return fate === 'unchanged' ? earlier!.rewrite : undefined;
    },
    changes: () => ({ ...counts, removed: known.size - counts.changed - counts.unchanged }),
  };
}
