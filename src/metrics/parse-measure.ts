/**
 * Measures by name, in the syntax of ir_measures: NAME, NAME@10, NAME(key=value, ...)@10. Names are case-sensitive as
 * there; the common other names (MAP, MRR, NDCG, Recall, ...) and trec_eval's (`map`, `ndcg_cut_10`) are understood.
 */

import { didYouMean } from '../text/suggest.ts';
import { decimal, literal, parseParameter, splitOutsideBrackets, usage } from './measure-parameters.ts';
import { MEASURE_KINDS, type Measure, type MeasureKind, measureRule, type ParameterValue } from './measures.ts';

type Params = Record<string, ParameterValue>;

const ALIASES: Readonly<Record<string, { kind: MeasureKind; params?: Params }>> = {
  NDCG: { kind: 'nDCG' },
  MAP: { kind: 'AP' },
  MRR: { kind: 'RR' },
  Precision: { kind: 'P' },
  Recall: { kind: 'R' },
  RPrec: { kind: 'Rprec' },
  BPref: { kind: 'Bpref' },
  SetRelP: { kind: 'SetP', params: { relative: true } },
  NumRelRet: { kind: 'NumRet', params: { rel: 1 } },
};

/** trec_eval's names without their cutoff; a cutoff follows as `_10` or `.10`. */
const TREC_NAMES: Readonly<Record<string, string>> = {
  ndcg: 'nDCG',
  ndcg_cut: 'nDCG',
  map: 'AP',
  map_cut: 'AP',
  recip_rank: 'RR',
  P: 'P',
  recall: 'R',
  success: 'Success',
  relative_P: 'nCG',
  Rprec: 'Rprec',
  bpref: 'Bpref',
  infAP: 'infAP',
  iprec_at_recall: 'IPrec',
  set_P: 'SetP',
  set_relative_P: 'SetRelP',
  set_recall: 'SetR',
  set_F: 'SetF',
  set_map: 'SetAP',
  num_q: 'NumQ',
  num_rel: 'NumRel',
  num_ret: 'NumRet',
  num_rel_ret: 'NumRelRet',
};

/** Several measures in one text or list, apart by blanks or commas (not those inside brackets). Doubles count once. */
export function parseMeasures(text: string | readonly string[]): Measure[] {
  const whole = typeof text === 'string' ? text : text.join(' ');
  const found = new Map<string, Measure>();
  for (const part of splitOutsideBrackets(whole)) {
    const measure = parseMeasure(part);
    found.set(measure.name, measure);
  }
  if (found.size === 0) throw usage('no measure was given', 'Name at least one, for example nDCG@5.');
  return [...found.values()];
}

/** One measure. USAGE error, with the nearest name, for anything that is not one. */
export function parseMeasure(text: string): Measure {
  const trimmed = text.trim();
  const match = /^([A-Za-z][A-Za-z0-9_]*)\s*(?:\((.*)\))?\s*(?:@\s*(\S+))?$/s.exec(fromTrecName(trimmed) ?? trimmed);
  if (match === null) throw usage(`'${text}' is not a measure`, 'Write NAME, NAME@CUTOFF or NAME(key=value)@CUTOFF.');
  const [, name, inside, at] = match;
  const { kind, params: implied } = kindNamed(name, text);
  const rule = measureRule(kind);
  const params: Params = { ...implied };
  let cutoffText = at;
  for (const assignment of splitOutsideBrackets((inside ?? '').replace(/\s*=\s*/g, '='))) {
    const [key, value] = splitOnce(assignment, '=');
    const isCutoff = key === 'cutoff' || (key === 'recall' && rule.cutoff === 'recall');
    if (value === undefined) {
      throw usage(`'${assignment}' in measure '${text}' is not key=value`, 'Write for example AP(rel=2).');
    }
    if (isCutoff) cutoffText ??= value;
    else params[key] = parseParameter(key, value, rule.parameters, text);
  }
  const cutoff = parseCutoff(cutoffText, rule.cutoff, text);
  for (const [key, value] of Object.entries(params)) if (value === rule.parameters[key]?.default) delete params[key];
  return { name: canonicalName(kind, params, cutoff), kind, ...(cutoff === undefined ? {} : { cutoff }), params };
}

function kindNamed(name: string, text: string): { kind: MeasureKind; params?: Params } {
  if ((MEASURE_KINDS as readonly string[]).includes(name)) return { kind: name as MeasureKind };
  if (Object.hasOwn(ALIASES, name)) return ALIASES[name];
  const known = [...MEASURE_KINDS, ...Object.keys(ALIASES)];
  throw usage(
    `there is no measure '${name}'${name === text ? '' : ` (in '${text}')`}.${didYouMean(name, known)}`,
    `Known: ${MEASURE_KINDS.join(' ')}.`,
  );
}

/** `ndcg_cut_10` -> `nDCG@10`, `map` -> `AP`; undefined when the text is not one of trec_eval's names. */
function fromTrecName(text: string): string | undefined {
  const match = /^([A-Za-z_]+?)(?:[._](\d+(?:\.\d+)?))?$/.exec(text);
  if (match === null || !Object.hasOwn(TREC_NAMES, match[1])) return undefined;
  return TREC_NAMES[match[1]] + (match[2] === undefined ? '' : `@${match[2]}`);
}

function parseCutoff(text: string | undefined, rule: 'required' | 'optional' | 'none' | 'recall', measure: string) {
  const needed = rule === 'required' || rule === 'recall';
  if (text === undefined) {
    if (!needed) return undefined;
    throw usage(`measure '${measure}' needs a cutoff`, `Write ${measure}@${rule === 'recall' ? '0.5' : '10'}.`);
  }
  if (rule === 'none') throw usage(`measure '${measure}' takes no cutoff`, 'Leave out what follows the @.');
  const value = /^[0-9.]+$/.test(text) ? Number(text) : Number.NaN;
  if (rule === 'recall' ? value >= 0 && value <= 1 : Number.isSafeInteger(value) && value >= 1) return value;
  const expected = rule === 'recall' ? 'a recall from 0 to 1' : 'a whole number of at least 1';
  throw usage(`the cutoff '${text}' of measure '${measure}' is not ${expected}`, 'Write for example nDCG@5.');
}

/** As ir_measures prints it: parameters that differ from the default, Python literals, no blanks. */
function canonicalName(kind: MeasureKind, params: Params, cutoff: number | undefined): string {
  const rule = measureRule(kind);
  const parts = Object.keys(rule.parameters)
    .filter((key) => Object.hasOwn(params, key))
    .map((key) => `${key}=${literal(params[key], rule.parameters[key])}`);
  const at = cutoff === undefined ? '' : `@${rule.cutoff === 'recall' ? decimal(cutoff) : cutoff}`;
  return `${kind}${parts.length === 0 ? '' : `(${parts.join(',')})`}${at}`;
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}
