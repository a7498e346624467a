/** With what a table was made: enough for somebody else to make it again, and to see why theirs differs. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, availableParallelism, cpus, platform } from 'node:os';
import { join } from 'node:path';
import type { CommandContext } from '../../src/config/command.ts';
import type { PolicySpec, RetrieverSpec } from '../../src/config/specs.ts';
import { cardOfCorpus, type DatasetCard } from '../../src/data/dataset-card.ts';
import type { Dataset } from '../../src/data/mod.ts';
import { redact } from '../../src/run/redact.ts';
import { packageFolder, version } from '../../src/run/version.ts';
import { corpusManifest } from '../../src/store/artefact.ts';
import { fingerprintStrings } from '../../src/store/fingerprint.ts';
import { openPolicy, type SeedsReport, type TrainReport } from '../../train/mod.ts';
import type { Cell, PaperTable } from '../reproduce/paper-table.ts';

export interface DataRecord {
  readonly name: string;
  readonly path: string;
  /** Of documents, queries and judgements, as they were read. */
  readonly fingerprint: string;
  readonly documents: number;
  readonly queries: number;
  readonly card: DatasetCard;
}

/** All that the figures follow from. */
export interface Plan {
  readonly table: PaperTable;
  readonly policy: PolicySpec | string;
  readonly retrievers: readonly RetrieverSpec[];
  readonly preset: string | null;
  /** null = as the preset says. */
  readonly steps: number | null;
  readonly seeds: readonly number[];
  readonly data: readonly DataRecord[];
}

/** The same work, wherever its data lies. */
export function planFingerprint({ data, ...rest }: Plan): string {
  const content = data.map(({ name, fingerprint }) => [name, fingerprint]);
  return fingerprintStrings([JSON.stringify(rest), JSON.stringify(content)]);
}

export async function dataRecord(path: string, name: string, dataset: Dataset): Promise<DataRecord> {
  return {
    name,
    path,
    fingerprint: fingerprintStrings(contentOf(dataset)),
    documents: dataset.corpus.size,
    queries: dataset.queries.length,
    card: await cardOfCorpus(path, await corpusManifest(path)),
  };
}

function* contentOf({ corpus, queries, qrels }: Dataset): Generator<string> {
  yield `${corpus.size} documents`;
  for (const [position, id] of corpus.ids.entries()) {
    yield id;
    yield corpus.indexText(position);
  }
  yield `${queries.length} queries`;
  for (const { id, text } of queries) {
    yield id;
    yield text;
  }
  for (const [query, grades] of qrels) for (const [id, grade] of grades) yield `${query}\t${id}\t${grade}`;
}

/** The command as it was typed, and the code that ran. */
export function sourceRecord(): Record<string, unknown> {
  const git = (...argv: string[]): string | undefined => {
    if (!existsSync(join(packageFolder, '.git'))) return undefined;
    const { status, stdout } = spawnSync('git', ['-C', packageFolder, ...argv], { encoding: 'utf8' });
    return status === 0 ? stdout.trim() : undefined;
  };
  return {
    command: redact(['docopt', ...process.argv.slice(2)].join(' ')),
    version,
    /** null in an installed package: the version stands for it. */
    commit: git('rev-parse', 'HEAD') ?? null,
    /** Whether tracked files differed from the commit. */
    modified: (git('status', '--porcelain', '--untracked-files=no') ?? '') !== '',
  };
}

export function environmentRecord(): Record<string, unknown> {
  const processors = cpus();
  return {
    node: process.version,
    onnxruntime: installedVersion('onnxruntime-node') ?? null,
    platform: `${platform()} ${arch()}`,
    cpu: processors[0]?.model.trim() ?? 'unknown',
    instructions: instructions(),
    cores: processors.length,
    threads: availableParallelism(),
  };
}

function installedVersion(name: string): string | undefined {
  try {
    return (createRequire(import.meta.url)(`${name}/package.json`) as { version: string }).version;
  } catch {
    return undefined;
  }
}

/** Vector instructions of the processor, on which the last bits of floating point may hang; null where the system does not say. */
function instructions(): string[] | null {
  try {
    const line = /^(?:flags|Features)\s*:\s*(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1];
    return line?.split(' ').filter((flag) => /^(sse4_|avx|fma|f16c|amx|asimd|sve|neon)/.test(flag)) ?? null;
  } catch {
    return null;
  }
}

/** One finished cell: descriptions carry the revisions of models, the fingerprint is that of the trained policy's files. */
export async function cellRecord(
  folder: string,
  { id, label, settings }: Cell,
  report: TrainReport | SeedsReport,
  context: CommandContext,
): Promise<Record<string, unknown>> {
  const trained = await openPolicy(folder, { log: context.log, services: context });
  return {
    id,
    label,
    settings,
    ...report.descriptions,
    policyFingerprint: trained.fingerprint,
    checkpoint: report.checkpoint,
    splits: report.splits,
    metrics: report.metrics,
    notes: report.notes,
    cost: report.cost,
    seconds: report.seconds,
  };
}
