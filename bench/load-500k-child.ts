/** One measured load in a process of its own: node load-500k-child.js ours|naive PATH. */
import { readFileSync } from 'node:fs';
import { loadCorpus } from '../src/data/mod.ts';
import { createRng } from '../src/kernels/rng.ts';

export interface LoadFigures {
  readonly loadSeconds: number;
  readonly passSeconds: number;
  readonly randomReadsPerSecond: number;
  readonly peakRssMiB: number;
  /** Length of all index texts together: both sides must have read the same. */
  readonly checksum: number;
}

/** What everyone writes first: the file as one string, split, parsed. */
function loadNaively(path: string): { size: number; indexText(position: number): string } {
  const documents = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { title: string; text: string });
  return {
    size: documents.length,
    indexText: (position) => `${documents[position].title} ${documents[position].text}`,
  };
}

const READS = 50_000;
const [how, path] = process.argv.slice(2);
const started = performance.now();
const corpus = how === 'ours' ? await loadCorpus(path) : loadNaively(path);
const loaded = performance.now();
let checksum = 0;
for (let position = 0; position < corpus.size; position++) checksum += corpus.indexText(position).length;
const passed = performance.now();
const rng = createRng(2);
let letters = 0;
for (let i = 0; i < READS; i++) letters += corpus.indexText(rng.int(corpus.size)).length;
const read = performance.now();
const figures: LoadFigures = {
  loadSeconds: (loaded - started) / 1000,
  passSeconds: (passed - loaded) / 1000,
  randomReadsPerSecond: letters > 0 ? READS / ((read - passed) / 1000) : 0,
  peakRssMiB: Math.round(process.resourceUsage().maxRSS / 1024),
  checksum,
};
process.stdout.write(JSON.stringify(figures));
