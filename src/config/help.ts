/** --help pages, made from the schema so that they cannot drift from it. */
import type { Command } from './command.ts';
import { defaultOf, definitionOf, kindOf, metaOf, type Schema, unwrap } from './inspect.ts';
import { GLOBAL_FLAGS, kebab } from './parse-arguments.ts';

export function commandHelp(program: string, command: Command): string {
  const shape = command.schema.shape as Record<string, Schema>;
  const positional = Object.values(shape)
    .filter((option) => metaOf(option).positional === true)
    .map((option) => metaOf(option).value ?? 'ARG');
  const rows: [string, string][] = Object.entries(shape).map(([key, option]) => [
    flagColumn(key, option),
    helpColumn(option),
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
    `Every flag is also a configuration key (camelCase) and an environment variable (${prefix}_..., e.g. ${prefix}_${kebab(Object.keys(shape)[0]).replaceAll('-', '_').toUpperCase()}).`,
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
): string {
  return [
    `${program}: ${summary}`,
    '',
    'Commands',
    ...columns(commands.map((command) => [command.name, command.summary])),
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

function helpColumn(option: Schema): string {
  const fallback = defaultOf(option);
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
    left.length >= width ? `  ${left}\n  ${' '.repeat(width)}${right}` : `  ${left.padEnd(width)}${right}`,
  );
}
