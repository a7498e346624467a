import { dataError } from './problem.ts';

export interface TextLine {
  readonly text: string;
  /** 1-based. */
  readonly line: number;
  /** False for a last line without its newline, which may have been cut off. */
  readonly terminated: boolean;
}

/** The lines of a decoded stream, those of each chunk together, blank ones left out. DATA beyond `longest` characters. */
export async function* textLines(
  chunks: AsyncIterable<string>,
  file: string,
  longest: number,
): AsyncGenerator<readonly TextLine[]> {
  let line = 0;
  let carried: string[] = [];
  let carriedLength = 0;
  const make = (raw: string, terminated: boolean): TextLine => {
    line++;
    return { text: raw.endsWith('\r') ? raw.slice(0, -1) : raw, line, terminated };
  };
  for await (const chunk of chunks) {
    const found: TextLine[] = [];
    let from = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
      const piece = chunk.slice(from, end);
      found.push(make(carried.length === 0 ? piece : [...carried, piece].join(''), true));
      carried = [];
      carriedLength = 0;
      from = end + 1;
    }
    if (from < chunk.length) {
      carried.push(chunk.slice(from));
      carriedLength += chunk.length - from;
      if (carriedLength > longest) throw tooLong(file, line + 1, longest);
    }
    yield found.filter(({ text }) => text.trim() !== '');
  }
  const last = carried.join('');
  if (last.trim() !== '') yield [make(last, false)];
}

export function tooLong(file: string, line: number, longest: number): Error {
  return dataError(
    file,
    `the row on line ${line} is longer than ${longest.toLocaleString('en')} characters`,
    'Expected one document a row; is this the right file and format? --max-document-bytes sets the limit.',
  );
}
