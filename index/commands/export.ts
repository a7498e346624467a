/** `docopt export`: a rewritten corpus for somebody else's engine; originals go along, deletions too. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { type CommandContext, type CommandResult, defineCommand } from '../../src/config/command.ts';
import { exportSchema } from '../../src/config/schemas/mod.ts';
import { type BeirContent, loadCorpus, loadTopics } from '../../src/data/mod.ts';
import { writeFault } from '../../src/data/write-fault.ts';
import { partPath } from '../../src/data/write-parts.ts';
import { DocOptError } from '../../src/errors.ts';
import { openArtefact } from '../../src/store/artefact.ts';
import { latest } from '../../src/store/workspace.ts';
import { visible } from '../../src/text/visible.ts';
import type { Corpus, Manifest } from '../../src/types.ts';
import { type CorpusChanges, changesBetween, wholeCorpus } from '../export/changes.ts';
import {
  checkName,
  type ExportFormat,
  isFolderFormat,
  isTextFormat,
  needsVectors,
  textChunks,
} from '../export/formats.ts';
import { planExport } from '../export/plan.ts';
import type { Export } from '../export/types.ts';
import { openExportVectors } from '../export/vectors.ts';
import { writeExport } from '../export/write-export.ts';

type Options = z.infer<typeof exportSchema>;

/** What OpenSearch and Elasticsearch take in one request by default (http.max_content_length). */
const LARGEST_BODY = 100_000_000;

export const exportCommand = defineCommand({
  name: 'export',
  summary: 'Hands a rewritten corpus to the engine you have: the rewrite to be searched, the original to be shown.',
  details:
    'Formats are one stream of text (jsonl, csv, opensearch-bulk, elasticsearch-bulk, qdrant, pgvector), a file (parquet), or\na folder (beir, npy). --changed-since makes it the difference to an earlier corpus. docs/export.md has the way into each\nengine.',
  schema: exportSchema,
  examples: [
    ['docopt export --to opensearch-bulk --name docs --out docs.ndjson', 'the latest corpus, for POST /_bulk'],
    [
      'docopt export --corpus corpora/b --changed-since corpora/a --to pgvector --vectors indexes/b | psql',
      'only what changed, straight into PostgreSQL',
    ],
    ['docopt export --to npy --vectors indexes/b --out vectors/', 'vectors.npy and ids.txt'],
  ],
  onStop: 'stopping; nothing is left half written',
  run: (options, context) => exportCorpus(options, context),
});

async function exportCorpus(options: Options, context: CommandContext): Promise<CommandResult> {
  const { log, signal } = context;
  const { to: format, name } = options;
  const out = checkOut(options, context);
  checkName(format, name);
  if (needsVectors(format) && options.vectors === undefined) {
    throw new DocOptError('USAGE', `--to ${format} is about vectors; --vectors is missing`, {
      hint: 'Build them with: docopt index --corpus CORPUS --retriever EMBEDDER --out INDEX, and add --vectors INDEX.',
    });
  }
  const folder = takeCorpus(options, context);
  const { corpus, manifest } = await openCorpus(folder);
  const changes = await takeChanges(corpus, options, context);
  const vectors =
    options.vectors === undefined
      ? undefined
      : await openExportVectors(
          options.vectors,
          { folder, corpus, fingerprint: manifest.fingerprint },
          options.changedSince === undefined ? undefined : changes,
          context,
        );
  if (vectors?.note !== undefined) log.warn(vectors.note);

  const progress = log.progress(`exporting to ${format}`, changes.upserts.length);
  const what = planExport({
    corpus,
    changes,
    isChange: options.changedSince !== undefined,
    vectors,
    fields: { searchText: options.textField, text: options.originalField, vector: options.vectorField },
    name,
    signal,
    onDocuments: (count) => progress.tick(count),
  });
  const facts = {
    corpus: folder,
    format,
    documents: corpus.size,
    upserts: what.upserts,
    deletes: what.deletes.length,
    ...(what.isChange ? { added: changes.added, changed: changes.changed, unchanged: changes.unchanged } : {}),
    ...(vectors === undefined
      ? {}
      : { vectors: { index: options.vectors, dimensions: vectors.dimensions, of: vectors.of } }),
  };
  try {
    if (out === undefined) {
      await toStandardOutput(format, what);
      log.info(summary(what, changes));
      return {};
    }
    const files = await writeExport(format, what, out, {
      replace: options.force,
      partBytes: options.partMb === undefined ? undefined : options.partMb * 1e6,
      topics: format === 'beir' ? await topicsOf(manifest, context) : undefined,
    });
    const largest = Math.max(...files.map((file) => statSync(file).size));
    if (format.endsWith('-bulk') && largest > LARGEST_BODY) {
      log.warn(
        `${(largest / 1e6).toFixed(0)} MB are more than an engine takes in one request by default (100 MB); --part-mb 50 writes several files`,
      );
    }
    return { json: { ...facts, out, files }, text: `${summary(what, changes)}\nwrote ${files.join(', ')}` };
  } finally {
    progress.end();
  }
}

function summary({ upserts, deletes, isChange }: Export, { added, changed, unchanged }: CorpusChanges): string {
  return isChange
    ? `${added} added, ${changed} changed, ${deletes.length} removed, ${unchanged} unchanged and left out`
    : `${upserts} documents`;
}

/** Where to; undefined = standard output. Refuses what could cost anybody a file. */
function checkOut({ to, out = '-', force, partMb }: Options, { json }: CommandContext): string | undefined {
  if (partMb !== undefined && (!to.endsWith('-bulk') || out === '-')) {
    throw new DocOptError('USAGE', '--part-mb is for the bulk formats, and for files', { hint: 'Add --out FILE.' });
  }
  if (out === '-') {
    if (!isTextFormat(to)) {
      const hint = isFolderFormat(to) ? 'It is a folder of files: --out DIR.' : 'It is binary: --out FILE.';
      throw new DocOptError('USAGE', `--to ${to} cannot go to standard output`, { hint });
    }
    if (json) {
      throw new DocOptError('USAGE', '--json and the export both want standard output', { hint: 'Add --out FILE.' });
    }
    return undefined;
  }
  const first = partMb === undefined ? out : partPath(out, 1);
  if (!existsSync(first)) return out;
  const stats = statSync(first);
  if (isFolderFormat(to)) {
    const own = to === 'beir' ? 'corpus.jsonl' : 'vectors.npy';
    if (force && stats.isDirectory() && !existsSync(join(out, own))) {
      throw new DocOptError('USAGE', `${out} holds no ${own}: it is no earlier export that could be replaced`, {
        hint: 'Choose another --out.',
      });
    }
    return out;
  }
  if (!stats.isFile()) {
    throw new DocOptError(
      'USAGE',
      `${first} is ${stats.isDirectory() ? 'a folder' : 'no file'}, a file is wanted there`,
      {
        hint: 'Choose another --out; - is standard output.',
      },
    );
  }
  if (!force) throw new DocOptError('USAGE', `${first} exists`, { hint: 'Choose another --out, or add --force.' });
  return out;
}

function takeCorpus({ corpus }: Options, { projectFolder, log }: CommandContext): string {
  if (corpus !== undefined) return corpus;
  const found = latest(projectFolder, 'corpus');
  if (found === undefined) {
    throw new DocOptError('USAGE', 'which corpus? --corpus is missing and there is none under .docopt/', {
      hint: 'Make one with: docopt rewrite-corpus --data DATA --policy POLICY --out CORPUS',
    });
  }
  log.info(`corpus: ${found} (the latest)`);
  return found;
}

async function openCorpus(folder: string): Promise<{ corpus: Corpus; manifest: Manifest }> {
  const { manifest, path } = await openArtefact(folder, 'corpus', { verify: true });
  return { corpus: await loadCorpus(path('corpus.jsonl')), manifest };
}

async function takeChanges(corpus: Corpus, { changedSince }: Options, { log }: CommandContext): Promise<CorpusChanges> {
  if (changedSince === undefined) return wholeCorpus(corpus);
  const { corpus: before } = await openCorpus(changedSince);
  const changes = changesBetween(corpus, before);
  if (2 * changes.deletes.length > before.size) {
    log.warn(
      `${changes.deletes.length} of the ${before.size} documents of ${changedSince} are gone; is it an earlier corpus of the same collection?`,
    );
  }
  return changes;
}

/** Queries and judgements of the data set that the corpus was made from, where it still is. */
async function topicsOf(
  { info }: Manifest,
  { log }: CommandContext,
): Promise<Pick<BeirContent, 'queries' | 'qrels'> | undefined> {
  if (typeof info.data !== 'string' || !existsSync(info.data)) {
    log.info('the data set behind the corpus is not there: no queries and no judgements go along');
    return undefined;
  }
  const { queries, qrels, qrelsBySplit } = await loadTopics(info.data);
  if (queries.length === 0) return undefined;
  return { queries, qrels: Object.keys(qrelsBySplit).length > 0 ? qrelsBySplit : qrels };
}

/** Waits for the reader; one that has seen enough (`| head`) ends it quietly. A terminal gets nothing that it would obey. */
async function toStandardOutput(format: ExportFormat, what: Export): Promise<void> {
  if (!isTextFormat(format)) return;
  const { stdout } = process;
  const send = (text: string): Promise<boolean> =>
    new Promise((resolve, reject) => {
      stdout.write(stdout.isTTY ? visible(text) : text, (error) => {
        if (!error) resolve(true);
        else if ((error as NodeJS.ErrnoException).code === 'EPIPE') resolve(false);
        else reject(writeFault('standard output', error));
      });
    });
  let pending = '';
  for await (const chunk of textChunks(format, what)) {
    pending += chunk;
    if (pending.length < 1 << 16) continue;
    if (!(await send(pending))) return;
    pending = '';
  }
  await send(pending);
}
