/** The values inside a measure's brackets: read by the rules of the table, written the way Python writes them. */
import { DocOptError } from '../errors.ts';
import { didYouMean } from '../text/suggest.ts';
import type { ParameterRule, ParameterValue } from './measures.ts';

/** The value of `key=text` in a measure. USAGE error for an unknown key or a value that does not fit. */
export function parseParameter(
  key: string,
  text: string,
  rules: Readonly<Record<string, ParameterRule>>,
  measure: string,
): ParameterValue {
  if (!Object.hasOwn(rules, key)) {
    const known = Object.keys(rules);
    const list = known.length === 0 ? 'It takes none.' : `It takes: ${known.join(', ')}.`;
    throw usage(`measure '${measure}' has no parameter '${key}'.${didYouMean(key, known)}`, list);
  }
  const rule = rules[key];
  const value = parseValue(text, rule);
  if (value !== undefined) return value;
  throw usage(`'${key}=${text}' in measure '${measure}' is not ${expectedOf(rule)}`, 'See docs/metrics.md.');
}

function parseValue(text: string, rule: ParameterRule): ParameterValue | undefined {
  if (Array.isArray(rule.type)) {
    const bare = text.replace(/^(['"])(.*)\1$/, '$2');
    return rule.type.includes(bare) ? bare : undefined;
  }
  if (rule.type === 'boolean') return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined;
  if (rule.type === 'gains') return parseGains(text);
  const value = /^[+-]?(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  const whole = rule.type !== 'integer' || Number.isSafeInteger(value);
  return whole && value >= (rule.minimum ?? -Infinity) && value < (rule.below ?? Infinity) ? value : undefined;
}

/** `{0: 0, 1: 1, 2: 3}`: grade -> gain. */
function parseGains(text: string): ReadonlyMap<number, number> | undefined {
  const inside = /^\{(.*)\}$/s.exec(text)?.[1];
  if (inside === undefined) return undefined;
  const gains = new Map<number, number>();
  for (const match of inside.split(/[\s,]+(?=-?\d+\s*:)/)) {
    const pair = /^\s*(-?\d+)\s*:\s*(-?\d+(?:\.\d+)?)\s*,?\s*$/.exec(match);
    if (pair === null) return undefined;
    gains.set(Number(pair[1]), Number(pair[2]));
  }
  return gains;
}

function expectedOf(rule: ParameterRule): string {
  if (Array.isArray(rule.type)) return `one of ${rule.type.map((choice) => `'${choice}'`).join(', ')}`;
  if (rule.type === 'boolean') return 'True or False';
  if (rule.type === 'gains') return 'a table of grades and gains like {1:1,2:3}';
  const range = rule.minimum === undefined ? '' : ` of at least ${rule.minimum}`;
  return `a ${rule.type === 'integer' ? 'whole ' : ''}number${range}${rule.below === undefined ? '' : ` and below ${rule.below}`}`;
}

/** As it stands in a canonical name. */
export function literal(value: ParameterValue, rule: ParameterRule): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return rule.type === 'number' ? decimal(value) : String(value);
  const pairs = [...value].filter(([grade, gain]) => grade !== gain).sort((a, b) => a[0] - b[0]);
  return `{${pairs.map(([grade, gain]) => `${grade}:${gain}`).join(',')}}`;
}

/** 1 as 1.0, the way Python writes a float. */
export function decimal(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

/** Cuts at blanks and commas that stand outside (), {} and quotes. */
export function splitOutsideBrackets(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = '';
  let part = '';
  for (const char of text) {
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === "'" || char === '"') quote = char;
    else if (char === '(' || char === '{') depth++;
    else if (char === ')' || char === '}') depth--;
    if (depth <= 0 && quote === '' && /[\s,]/.test(char)) {
      if (part !== '') parts.push(part);
      part = '';
    } else part += char;
  }
  if (part !== '') parts.push(part);
  return parts;
}

/** A USAGE error about a measure. */
export function usage(message: string, hint: string): DocOptError {
  return new DocOptError('USAGE', message, { hint });
}
