/** Loading 500,000 documents (DocOpt's largest collections are of this size) against reading the file whole. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeJsonl } from '../src/data/mod.ts';
import { createRng } from '../src/kernels/rng.ts';
import type { LoadFigures } from './load-500k-child.ts';
import type { BenchResult } from './types.ts';

const DOCUMENTS = 500_000;
const WORDS = 100;
const ROUNDS = 3;

export async function run(): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'docopt-load-'));
  try {
    const path = join(folder, 'corpus.jsonl');
    await writeJsonl(path, rows());
    // A process each, so that the peaks are their own; taken in turn, so that neither has the quieter machine.
    const rounds = Array.from({ length: ROUNDS }, () => ({
      ours: measure('ours', path),
      naive: measure('naive', path),
    }));
    const ours = rounds.map((round) => round.ours);
    const naive = rounds.map((round) => round.naive);
    if (new Set([...ours, ...naive].map(({ checksum }) => checksum)).size !== 1)
      throw new Error('the two read different texts');
    const figures = summary(ours);
    const peer = summary(naive);
    return {
      name: 'load-500k',
      figures: { documents: DOCUMENTS, fileMiB: Math.round(statSync(path).size / 2 ** 20), ...figures, naive: peer },
      ratio: {
        naive: figures.documentsPerSecond / peer.documentsPerSecond,
        naivePeakRss: peer.peakRssMiB / figures.peakRssMiB,
      },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Medians of the rounds; the highest peak. Seconds: load = until any document can be had, pass = every index text in order. */
function summary(rounds: readonly LoadFigures[]) {
  const median = (key: keyof LoadFigures): number =>
    rounds.map((round) => round[key]).sort((a, b) => a - b)[ROUNDS >> 1];
  return {
    documentsPerSecond: Math.round(DOCUMENTS / median('loadSeconds')),
    loadSeconds: Number(median('loadSeconds').toFixed(2)),
    passSeconds: Number(median('passSeconds').toFixed(2)),
    randomReadsPerSecond: Math.round(median('randomReadsPerSecond')),
    peakRssMiB: Math.max(...rounds.map(({ peakRssMiB }) => peakRssMiB)),
  };
}

function measure(how: 'ours' | 'naive', path: string): LoadFigures {
  const child = fileURLToPath(new URL('./load-500k-child.js', import.meta.url));
  return JSON.parse(execFileSync(process.execPath, [child, how, path], { encoding: 'utf8' }));
}

/** Documents of 100 words from a Zipf-like vocabulary; about a quarter of them has a letter beyond ASCII. */
function* rows(): Generator<unknown> {
  const rng = createRng(1);
  const vocabulary = Array.from({ length: 50_000 }, (_, i) => {
    const letters = Array.from({ length: 3 + rng.int(8) }, () => String.fromCharCode(97 + rng.int(26))).join('');
    return i % 200 === 199 ? `${letters}é` : letters;
  });
  for (let i = 0; i < DOCUMENTS; i++) {
    const words = Array.from({ length: WORDS }, () => vocabulary[Math.floor(vocabulary.length ** rng.next()) - 1]);
    yield { _id: `document-${i}`, title: words.slice(0, 6).join(' '), text: words.join(' ') };
  }
}
