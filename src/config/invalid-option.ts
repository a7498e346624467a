/** What zod found wrong with an option, as one sentence that names where it was set, what was given and what was expected. */
import type { z } from 'zod';
import { DocOptError } from '../errors.ts';
import { isSecretName } from '../run/redact.ts';
import { didYouMean } from '../text/suggest.ts';
import { defaultOf, metaOf, type Schema, schemaAt, shapeOf } from './inspect.ts';
import { kebab } from './parse-arguments.ts';

type Values = Record<string, unknown>;
type Issue = z.core.$ZodIssue;

/** One source of options: its values, and what to call a value of it. */
export interface Layer {
  readonly values: Values;
  /** 'DOCOPT_STEPS', 'docopt.config.yaml: steps', ...; undefined = the flag's own name says it. */
  nameOf(path: readonly string[]): string | undefined;
}

export function invalidOption(
  schema: z.ZodObject,
  error: z.ZodError,
  values: Values,
  layers: readonly Layer[],
): DocOptError {
  const issue = deepest(error.issues[0]);
  const place = issue.path.map(String);
  // A single retriever is a list of one for some commands; nobody wrote that 0.
  const path = place.filter((part) => !/^\d+$/.test(part));
  const source = layers.findLast(
    ({ values: own }) => valueAt(own, path) !== undefined || valueAt(own, place) !== undefined,
  );
  const name = source?.nameOf(path) ?? flagOf(schema, path);
  if (issue.code === 'unrecognized_keys') {
    const at = path.length === 0 ? schema : schemaAt(schema, path);
    const known = at === undefined ? [] : Object.keys(shapeOf(at));
    const message = `${name || 'options'}: unknown key '${issue.keys[0]}'.${didYouMean(issue.keys[0], known)}`;
    return new DocOptError('CONFIG', message, {
      hint: known.length > 0 ? `Known here: ${known.join(', ')}.` : 'See --help.',
    });
  }
  const top = path.length === 1 ? (schema.shape[path[0]] as Schema | undefined) : undefined;
  const given = valueAt(values, place);
  if (given === undefined)
    return new DocOptError('USAGE', `${name} is missing`, {
      hint: top === undefined ? 'See --help.' : `${metaOf(top).help ?? ''}. See --help.`,
    });
  const shown = isSecretName(path.at(-1) ?? '') ? '' : ` ${show(given)}`;
  const fallback = top === undefined ? undefined : defaultOf(top);
  return new DocOptError('USAGE', `${name}${shown}: ${expectation(issue)}`, {
    hint: fallback === undefined ? 'See --help.' : `The default is ${show(fallback)}.`,
  });
}

/** Of a union the member that came farthest: what is wrong inside a block says more than that it is no text. */
function deepest(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors
    .map(([first]) => first)
    .filter((one) => one !== undefined && (one.path.length > 0 || one.code === 'unrecognized_keys'));
  if (inner.length === 0) return issue;
  const [best] = inner.sort((a, b) => b.path.length - a.path.length);
  return deepest({ ...best, path: [...issue.path, ...best.path] } as Issue);
}

function expectation(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${KINDS[issue.expected] ?? issue.expected}`;
    case 'too_small':
      if (issue.origin === 'string') return 'expected a text that is not empty';
      if (issue.origin === 'array') return `expected at least ${issue.minimum} of them`;
      return `expected ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
    case 'too_big':
      return `expected ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`;
    case 'invalid_value':
      return `expected ${issue.values.map(String).join(' or ')}`;
    case 'invalid_union':
      if ('options' in issue && Array.isArray(issue.options)) return `expected ${issue.options.join(' or ')}`;
      return issue.errors.length === 0
        ? issue.message
        : `expected ${issue.errors.map(([first]) => expectation(first).replace(/^expected /, '')).join(', or ')}`;
    default:
      return issue.message;
  }
}

const KINDS: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a finite number',
  boolean: 'true or false',
  string: 'a text',
  array: 'a list',
  object: 'keys and values',
};

function flagOf(schema: z.ZodObject, path: readonly string[]): string {
  if (path.length !== 1) return path.join('.');
  const option = schema.shape[path[0]] as Schema | undefined;
  const flag = `--${kebab(path[0])}`;
  return option !== undefined && metaOf(option).positional === true
    ? `${metaOf(option).value ?? path[0]} (${flag})`
    : flag;
}

function valueAt(values: unknown, path: readonly string[]): unknown {
  let current = values;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Values)[key];
  }
  return current;
}

function show(value: unknown): string {
  const text =
    typeof value === 'string' ? `'${value}'` : typeof value === 'number' ? String(value) : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
