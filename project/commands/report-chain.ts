/** Which artefact was made of which, by the fingerprints in their manifests: the checkpoint, and what was built on it since. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readManifest } from '../../src/store/manifest.ts';
import { kindFolder, latest } from '../../src/store/workspace.ts';
import type { Manifest } from '../../src/types.ts';
import type { ChainLink } from '../report/types.ts';

export async function manifestChain(
  folder: string,
  checkpoint: { readonly manifest: Manifest; readonly folder: string } | undefined,
  projectFolder: string,
): Promise<ChainLink[]> {
  if (checkpoint === undefined) return [];
  const { manifest } = checkpoint;
  const links: ChainLink[] = [
    ...(manifest.parents.data === undefined
      ? []
      : [
          {
            what: 'data',
            fingerprint: manifest.parents.data,
            detail: 'documents, queries, judgements, splits, retriever, policy',
          },
        ]),
    {
      what: 'experiment',
      fingerprint: manifest.fingerprint,
      detail: `${basename(checkpoint.folder)} of ${basename(folder)}, ${manifest.createdBy}`,
    },
  ];
  const others = await built(projectFolder);
  const known = new Set([manifest.fingerprint]);
  // Corpora name the experiment, indexes name the corpora.
  for (const kind of ['corpus', 'index'] as const) {
    for (const { name, manifest: one } of others.filter(({ manifest: own }) => own.kind === kind)) {
      if (!Object.values(one.parents).some((parent) => known.has(parent))) continue;
      known.add(one.fingerprint);
      links.push({ what: kind, fingerprint: one.fingerprint, detail: `${name}, ${one.createdBy}` });
    }
  }
  return links;
}

interface Built {
  readonly name: string;
  readonly manifest: Manifest;
}

/** Corpora and indexes of the project: in their default places, and the latest of each wherever it is. */
async function built(projectFolder: string): Promise<Built[]> {
  const folders = new Set<string>();
  for (const kind of ['corpus', 'index'] as const) {
    const all = kindFolder(projectFolder, kind);
    if (existsSync(all))
      for (const name of (await readdir(all)).sort()) if (!name.startsWith('.')) folders.add(join(all, name));
    const newest = latest(projectFolder, kind);
    if (newest !== undefined) folders.add(newest);
  }
  const found: Built[] = [];
  for (const folder of folders) {
    const manifest = await readManifest(folder).catch(() => undefined);
    if (manifest !== undefined) found.push({ name: basename(folder), manifest });
  }
  return found;
}
