/** Runs the Python side of a bench (bench/peers/), where there is one: DOCOPT_PEER_PYTHON names the interpreter. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeModelFolder } from '../src/models/lm/export-model.ts';
import type { LoadedModel } from '../src/models/lm/load-model.ts';
import { packageFolder } from '../src/run/version.ts';
import type { Spent } from './language-model.ts';

/** The model is handed over as a Hugging Face folder in single precision. */
export async function languageModelPeer(
  mode: 'decode' | 'train',
  loaded: LoadedModel,
  groups: number,
  newTokens: number,
): Promise<Readonly<Record<string, Spent>> | string> {
  const python = process.env.DOCOPT_PEER_PYTHON;
  if (python === undefined) {
    return 'none: DOCOPT_PEER_PYTHON names no Python with torch, transformers, peft (and xllamacpp)';
  }
  const folder = mkdtempSync(join(tmpdir(), 'docopt-peer-'));
  try {
    await writeModelFolder(loaded, loaded.weights, folder);
    const path = join(packageFolder, 'bench', 'peers', 'language_model.py');
    const argv = [path, mode, folder, loaded.path, String(groups), String(newTokens)];
    const { stdout, stderr, status } = spawnSync(python, argv, { encoding: 'utf8', maxBuffer: 1 << 26 });
    if (status !== 0) return `failed: ${stderr.trim().split('\n').at(-1)}`;
    const { missing, ...figures } = JSON.parse(stdout.trim().split('\n').at(-1)!);
    return missing === undefined ? figures : `missing: ${missing}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
