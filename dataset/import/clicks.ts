import { DocOptError } from '../../src/errors.ts';

/** thresholds[g - 1] = clicks from which a pair has grade g; ascending. */
export interface ClickRule {
  readonly thresholds: readonly number[];
}

/** `--grades 3,10,30`: grade 1 from 3 clicks, 2 from 10, 3 from 30. Alone, `--min-clicks 3` is grade 1. Throws USAGE. */
export function clickRule(minClicks: number | undefined, grades: readonly number[] | undefined): ClickRule {
  const thresholds = grades ?? [minClicks ?? 3];
  const ascends = thresholds.every(
    (value, i) => Number.isInteger(value) && value >= 1 && value > (thresholds[i - 1] ?? 0),
  );
  if (!ascends || thresholds.length === 0)
    throw new DocOptError('USAGE', `--grades ${thresholds.join(',')}: thresholds must be whole numbers that rise`, {
      hint: 'Example: --grades 3,10,30 gives grade 1 from 3 clicks, 2 from 10, 3 from 30.',
    });
  if (grades !== undefined && minClicks !== undefined && minClicks !== grades[0])
    throw new DocOptError('USAGE', `--min-clicks ${minClicks} and --grades ${grades.join(',')} say different things`, {
      hint: 'The first number of --grades is the fewest clicks; leave --min-clicks out.',
    });
  return { thresholds };
}

/** 0 = too few clicks to count as a judgement. */
export function gradeOf(clicks: number, { thresholds }: ClickRule): number {
  let grade = 0;
  for (const threshold of thresholds) if (clicks >= threshold) grade++;
  return grade;
}

export function ruleText({ thresholds }: ClickRule): string {
  return thresholds.map((from, i) => `grade ${i + 1} from ${from} clicks`).join(', ');
}
