#!/usr/bin/env node
import { runProgram } from '../src/config/run-program.ts';

process.exitCode = await runProgram(
  {
    name: 'docopt',
    summary: 'rewrite documents so that your retriever ranks them better',
    examples: ['docopt demo', 'docopt train --data DATA --retriever bm25', 'docopt rewrite-corpus && morph serve'],
    commands: {
      demo: {
        summary: 'the whole pipeline on real code, in a few minutes',
        load: async () => (await import('../project/commands/demo.ts')).demoCommand,
      },
      init: {
        summary: 'a configuration file and an example that runs offline',
        load: async () => (await import('../project/commands/init.ts')).initCommand,
      },
      doctor: {
        summary: 'what is installed and what each configured name resolves to',
        load: async () => (await import('../project/commands/doctor.ts')).doctorCommand,
      },
      validate: {
        summary: 'every problem of a data set, with file and line',
        load: async () => (await import('../dataset/command.ts')).validateCommand,
      },
      'dataset from-code': {
        summary: 'a data set from documented functions of a code base',
        load: async () => (await import('../dataset/command.ts')).datasetFromCodeCommand,
      },
      'dataset import': {
        summary: 'a data set from own documents, queries and clicks',
        load: async () => (await import('../dataset/command.ts')).datasetImportCommand,
      },
      'dataset split': {
        summary: 'train, dev and test queries, saved as files',
        load: async () => (await import('../dataset/command.ts')).datasetSplitCommand,
      },
      index: {
        summary: 'an immutable index of a corpus',
        load: async () => (await import('../index/commands/index.ts')).indexCommand,
      },
      search: {
        summary: 'query an index; the original documents come back',
        load: async () => (await import('../index/commands/search.ts')).searchCommand,
      },
      train: {
        summary: 'train a rewriting policy against ranking rewards',
        load: async () => (await import('../train/command.ts')).trainCommand,
      },
      'rewrite-corpus': {
        summary: 'rewrite every document with a policy',
        load: async () => (await import('../rewrite/command.ts')).rewriteCorpusCommand,
      },
      'runs list': {
        summary: 'batch jobs that are under way at a vendor',
        load: async () => (await import('../rewrite/commands/runs.ts')).runsListCommand,
      },
      'runs cancel': {
        summary: 'cancels them; what was answered is kept',
        load: async () => (await import('../rewrite/commands/runs.ts')).runsCancelCommand,
      },
      eval: {
        summary: 'several systems side by side, with significance',
        load: async () => (await import('../index/commands/eval.ts')).evalCommand,
      },
      'model show': {
        summary: 'what a language model or a trained one is',
        load: async () => (await import('../train/commands/model.ts')).modelShowCommand,
      },
      'model export': {
        summary: 'a trained language model for other tools: PEFT adapter or merged Hugging Face folder',
        load: async () => (await import('../train/commands/model.ts')).modelExportCommand,
      },
      report: {
        summary: 'what a training gave, on one page: verdict, curves, queries, documents',
        load: async () => (await import('../project/commands/report.ts')).reportCommand,
      },
      reproduce: {
        summary: 'a table of the paper on your data: its cells trained, the table, the manifest',
        load: async () => (await import('../project/commands/reproduce.ts')).reproduceCommand,
      },
      'experiments list': {
        summary: 'trainings, how far they got and what they gained',
        load: async () => (await import('../project/commands/experiments.ts')).experimentsListCommand,
      },
      'experiments show': {
        summary: 'one training',
        load: async () => (await import('../project/commands/experiments.ts')).experimentsShowCommand,
      },
      'experiments compare': {
        summary: 'two trainings on the same test queries',
        load: async () => (await import('../project/commands/experiments.ts')).experimentsCompareCommand,
      },
      'experiments rm': {
        summary: 'remove a training',
        load: async () => (await import('../project/commands/experiments.ts')).experimentsRemoveCommand,
      },
      'cache stats': {
        summary: 'what is kept of services and local models',
        load: async () => (await import('../project/commands/cache.ts')).cacheStatsCommand,
      },
      'cache clear': {
        summary: 'forget what is kept',
        load: async () => (await import('../project/commands/cache.ts')).cacheClearCommand,
      },
      export: {
        summary: 'a rewritten corpus for the engine you have: bulk files, SQL, points, tables',
        load: async () => (await import('../index/commands/export.ts')).exportCommand,
      },
    },
  },
  process.argv.slice(2),
);
