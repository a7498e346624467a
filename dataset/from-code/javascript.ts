import { type ParserPlugin, parse } from '@babel/parser';
import type { AstFile } from './ast.ts';
import { candidates } from './candidates.ts';
import { commentsAbove } from './comments-above.ts';
import { type Language, type SourceFunction, UnparsableError } from './source-function.ts';
import { dedent, indentationAt, withoutSpans } from './strip.ts';
import { moduleNames, tokenKey } from './token-key.ts';

/**
 * Every named function of a JavaScript or TypeScript file, in the order of the file: declarations, class and object
 * methods, functions assigned to a name, also through a wrapper (`const f = memo(() => ...)`). Declarations without a
 * body (overloads, `.d.ts` files) come as entries with empty code, so that their comments can serve the body.
 * @param path decides the dialect by its ending. @throws UnparsableError
 */
export function javascriptFunctions(path: string, text: string): SourceFunction[] {
  const file = parseFile(path, text);
  const modules = moduleNames(file.program);
  return candidates(file.program, fileStem(path))
    .sort((a, b) => a.start - b.start || b.end - a.end)
    .map((candidate) => {
      const lineStart = text.lastIndexOf('\n', candidate.start - 1) + 1;
      const code = candidate.value
        ? dedent(
            withoutSpans(text, candidate.start, candidate.end, file.comments),
            indentationAt(text, candidate.start),
          )
        : '';
      return {
        name: candidate.name.replace(/\s+/g, ''),
        line: lineNumber(file, candidate.start),
        column: candidate.start - lineStart + 1,
        code,
        comments: commentsAbove(text, file.comments, candidate.anchors, candidate.needs),
        key: candidate.value ? tokenKey(text, file.tokens, candidate.value, modules) : '',
      };
    });
}

export function javascriptLanguage(path: string): Language {
  return /\.[mc]?tsx?$/.test(path) ? 'typescript' : 'javascript';
}

function parseFile(path: string, text: string): AstFile {
  const common: ParserPlugin[] = ['decorators', 'decoratorAutoAccessors', 'explicitResourceManagement'];
  // TypeScript with JSX reads `<T>x` as a tag, so plain .ts goes without; JavaScript may carry Flow types or, rarely, neither.
  const dialects: ParserPlugin[][] =
    javascriptLanguage(path) === 'typescript'
      ? path.endsWith('x')
        ? [['typescript', 'jsx']]
        : [[['typescript', { dts: /\.d\.[mc]?ts$/.test(path) }]]]
      : [['jsx', 'flow'], ['jsx'], []];
  let reason = '';
  for (const dialect of dialects) {
    try {
      return parse(text, {
        sourceType: 'unambiguous',
        errorRecovery: true,
        attachComment: false,
        tokens: true,
        allowReturnOutsideFunction: true,
        allowAwaitOutsideFunction: true,
        allowSuperOutsideMethod: true,
        allowNewTargetOutsideFunction: true,
        allowUndeclaredExports: true,
        plugins: [...common, ...dialect],
      }) as unknown as AstFile;
    } catch (error) {
      // A stack overflow on a chain of ten thousand operators is a file we cannot read, too.
      reason ||= error instanceof RangeError ? 'nested too deeply' : (error as Error).message.split('\n')[0];
    }
  }
  throw new UnparsableError(reason);
}

function fileStem(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/(?:\.d)?\.[^.]+$/, '');
}

function lineNumber(file: AstFile, position: number): number {
  let low = 0;
  let high = file.tokens.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (file.tokens[middle].start < position) low = middle + 1;
    else high = middle;
  }
  return file.tokens[low].loc.start.line;
}
