/** Markdown files: front matter becomes metadata, the rest is the text, untouched. */
import { LineCounter, parseDocument } from 'yaml';
import { DataError } from '../../src/data/problem.ts';
import { headingsOf } from './headings.ts';

export interface ParsedMarkdown {
  /** Of the front matter, else the first heading of the first level when the text begins with it; '' without either. */
  readonly title: string;
  readonly text: string;
  /** The front matter, without its title. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

const FRONT_MATTER = /^---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;

/** DATA with the line when what stands between the two `---` is not a YAML mapping. */
export function parseMarkdown(source: string, file: string): ParsedMarkdown {
  const found = FRONT_MATTER.exec(source);
  const metadata = found === null ? {} : parseFrontMatter(found[1] ?? '', file);
  const text = source.slice(found?.[0].length ?? 0).replace(/^(?:[ \t]*\r?\n)+/, '');
  const { title, ...others } = metadata;
  if (typeof title === 'string') return { title: title.trim(), text, metadata: others };
  const [first] = headingsOf(text);
  return { title: first?.start === 0 && first.level === 1 ? first.text : '', text, metadata };
}

function parseFrontMatter(yaml: string, file: string): Record<string, unknown> {
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  // The first line of the file is the ---.
  if (error !== undefined) throw notYaml(file, lines.linePos(error.pos[0]).line + 1, error.message);
  let value: unknown;
  try {
    value = document.toJS();
  } catch (cause) {
    throw notYaml(file, 2, (cause as Error).message);
  }
  if (value === null || value === undefined) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  throw notYaml(file, 2, 'expected keys with values, such as "title: ..."');
}

function notYaml(file: string, line: number, why: string): DataError {
  return new DataError({
    severity: 'error',
    file,
    line,
    id: null,
    message: `the front matter is not YAML: ${why}`,
    hint: 'Correct it, or leave the file out: --glob. A text that begins with a rule can write it as *** .',
  });
}
