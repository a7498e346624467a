/** `docopt search`: one query against an index; what comes back is the original. */
import { type CommandContext, defineCommand } from '../../src/config/command.ts';
import { searchSchema } from '../../src/config/schemas/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { latest } from '../../src/store/workspace.ts';
import { openIndex } from '../mod.ts';

export const searchCommand = defineCommand({
  name: 'search',
  summary: 'Searches an index and shows the original documents.',
  schema: searchSchema,
  examples: [
    ['docopt search "deep copy of an object"', 'the latest index'],
    ['docopt search --index INDEX "parse a date" -k 3', 'a given index, three results'],
    ['docopt search --index INDEX "parse a date" --json | jq .results[0].id', 'for scripts'],
  ],
  async run(options, context) {
    if (options.text === undefined || options.text.trim() === '') {
      throw new DocOptError('USAGE', 'the query text is missing', {
        hint: 'Example: docopt search "deep copy of an object"',
      });
    }
    const { index, corpus } = await openIndex(takeIndex(options.index, context), context);
    const [ranking] = await index.search([{ id: 'query', text: options.text }], options.k);
    const results = ranking.ids.map((id, i) => {
      const { title, text, metadata } = corpus.original(corpus.positionOf(id)!);
      return { id, rank: i + 1, score: ranking.scores[i], title, text, metadata: metadata ?? {} };
    });
    const lines = results.map(
      ({ id, rank, score, title, text }) =>
        `${String(rank).padStart(3)}  ${score.toFixed(4)}  ${id}\n     ${excerpt(title, text)}`,
    );
    return { json: { query: options.text, results }, text: lines.length === 0 ? 'nothing matches' : lines.join('\n') };
  },
});

/** --index, else the latest one, said aloud. */
export function takeIndex(given: string | undefined, context: CommandContext): string {
  if (given !== undefined) return given;
  const found = latest(context.projectFolder, 'index');
  if (found === undefined) {
    throw new DocOptError('USAGE', 'which index? --index is missing and there is none under .docopt/', {
      hint: 'Build one first: docopt index --data DATA --retriever bm25',
    });
  }
  context.log.info(`index: ${found} (the latest)`);
  return found;
}

/** One line of at most 120 characters; control characters of documents never reach the terminal. */
function excerpt(title: string, text: string): string {
  const line = `${title}${title === '' || text === '' ? '' : ': '}${text}`.replace(/[\s\p{C}]+/gu, ' ').trim();
  return line.length > 120 ? `${line.slice(0, 117)}...` : line;
}
