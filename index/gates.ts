/** `--fail-under nDCG@5=0.6`: bounds that a system must reach. */
import { DocOptError } from '../src/errors.ts';
import { type Measure, parseMeasure, splitOutsideBrackets } from '../src/metrics/mod.ts';
import type { EvaluationReport } from './evaluate.ts';

export interface Gate {
  readonly measure: Measure;
  readonly minimum: number;
}

export interface GateResult {
  readonly system: string;
  readonly metric: string;
  readonly minimum: number;
  readonly value: number;
  readonly passed: boolean;
}

/** `M=X` texts, apart by blanks or commas; USAGE error for anything else. */
export function parseGates(texts: readonly string[]): Gate[] {
  return splitOutsideBrackets(texts.join(' ')).map((text) => {
    const equals = text.lastIndexOf('=');
    const number = text.slice(equals + 1);
    const minimum = number.trim() === '' ? Number.NaN : Number(number);
    if (equals < 1 || !Number.isFinite(minimum)) {
      throw new DocOptError('USAGE', `--fail-under ${text}: expected MEASURE=NUMBER`, {
        hint: 'For example --fail-under nDCG@5=0.6',
      });
    }
    return { measure: parseMeasure(text.slice(0, equals)), minimum };
  });
}

/** Holds the last system of the report (the one that is compared with the others before it) against every gate. */
export function checkGates(report: EvaluationReport, gates: readonly Gate[]): GateResult[] {
  const { name, mean } = report.systems[report.systems.length - 1];
  return gates.map(({ measure, minimum }) => {
    const value = mean[measure.name];
    return { system: name, metric: measure.name, minimum, value, passed: value >= minimum };
  });
}
