/** --help pages, made from the schema so that they cannot drift from it. */
import type { Command } from './command.ts';
import { variableSuffix } from './environment.ts';
import { defaultOf, definitionOf, kindOf, metaOf, type Schema, unwrap } from './inspect.ts';
import { GLOBAL_FLAGS, kebab } from './parse-arguments.ts';

export function commandHelp(program: string, command: Command): string {
  const shape = command.schema.shape as Record<string, Schema>;
  const positional = Object.values(shape)
    .filter((option) => metaOf(option).positional === true)
    .map((option) => metaOf(option).value ?? 'ARG');
  const rows: [string, string][] = Object.entries(shape).map(([key, option]) => [
    flagColumn(key, option),
    helpColumn(option, command.defaults?.[key]),
  ]);
  const globals: [string, string][] = GLOBAL_FLAGS.map((flag) => [
    `${flag.alias === undefined ? '    ' : `-${flag.alias}, `}--${flag.flag}${flag.value === undefined ? '' : ` ${flag.value}`}`,
    flag.help,
  ]);
  const prefix = program === 'morph' ? 'MORPH' : 'DOCOPT';
  return [
    `${program} ${command.name}${positional.map((value) => ` [${value}]`).join('')} [flags]`,
    '',
    command.summary + (command.details === undefined ? '' : `\n\n${command.details}`),
    '',
    'Flags',
    ...columns(rows),
    '',
    'Everywhere',
    ...columns(globals),
    '',
    `Every flag of the first list is also a configuration key (camelCase), and of both lists but --set and --help an environment\nvariable: ${prefix}_${variableSuffix([Object.keys(shape)[0]])}, ${prefix}_JSON=1, ${prefix}_CONFIG=FILE. docs/configuration.md says more.`,
    '',
    'Examples',
    ...command.examples.flatMap(([line, what]) => [`  ${line}`, `      ${what}`]),
    '',
  ].join('\n');
}

export function programHelp(
  program: string,
  summary: string,
  commands: readonly { name: string; summary: string }[],
  examples: readonly string[],
  notes: readonly string[] = [],
): string {
  return [
    `${program}: ${summary}`,
    '',
    'Commands',
    ...columns(commands.map((command) => [command.name, command.summary])),
    ...notes.flatMap((note) => ['', note]),
    ...(examples.length === 0 ? [] : ['', 'Examples', ...examples.map((line) => `  ${line}`)]),
    '',
    `${program} COMMAND --help says more.`,
    '',
  ].join('\n');
}

function flagColumn(key: string, option: Schema): string {
  const meta = metaOf(option);
  const alias = meta.alias === undefined ? '    ' : `-${meta.alias}, `;
  if (kindOf(option) === 'boolean') return `${alias}--${defaultOf(option) === true ? '[no-]' : ''}${kebab(key)}`;
  return `${alias}--${kebab(key)} ${meta.value ?? 'VALUE'}`;
}

function helpColumn(option: Schema, said: string | undefined): string {
  const fallback = said ?? defaultOf(option);
  const shown =
    fallback === undefined || fallback === false
      ? ''
      : ` (default ${Array.isArray(fallback) ? fallback.join(' ') : fallback})`;
  const definition = definitionOf(unwrap(option));
  const choices =
    definition.type === 'enum' && metaOf(option).value?.includes('|') !== true
      ? `: ${Object.values(definition.entries ?? {}).join(', ')}`
      : '';
  return `${metaOf(option).help ?? ''}${choices}${shown}`;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.min(34, Math.max(...rows.map(([left]) => left.length)) + 2);
  return rows.map(([left, right]) =>
    left.length >= width
      ? `  ${left}\n${wrapped(right, width + 2)}`
      : `  ${left.padEnd(width)}${wrapped(right, width + 2).trimStart()}`,
  );
}

/** Lines of at most 120 characters, indented. */
function wrapped(text: string, indent: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent + line.length + 1 + word.length > 120) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return [...lines, line].map((one) => `${' '.repeat(indent)}${one}`).join('\n');
}
