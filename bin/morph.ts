#!/usr/bin/env node
import { runProgram } from '../src/config/run-program.ts';

process.exitCode = await runProgram(
  {
    name: 'morph',
    summary: 'choose the documents that reach your generator, with few reranker calls',
    examples: [
      'morph serve',
      'morph select "how do I deep copy an object" --budget 20 --capacity 5',
      'morph select --pool pool.json --reranker recorded -B 3 -k 2 --json',
    ],
    notes: async () => (await import('../select/command.ts')).selectorNotes,
    commands: {
      select: {
        summary: 'one selection, with its trace',
        load: async () => (await import('../select/command.ts')).selectCommand,
      },
      compare: {
        summary: "the paper's tables on your data",
        load: async () => (await import('../select/command.ts')).compareCommand,
      },
      analyze: {
        summary: "the paper's figures on your data",
        load: async () => (await import('../select/command.ts')).analyzeCommand,
      },
      doctor: {
        summary: 'whether a reranker earns its calls, from judgements',
        load: async () => (await import('../select/command.ts')).doctorCommand,
      },
      serve: {
        summary: 'the HTTP service over an index',
        load: async () => (await import('../select/command.ts')).serveCommand,
      },
    },
  },
  process.argv.slice(2),
);
