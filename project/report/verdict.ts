/** The whole report in one sentence, which says no more than its interval does. */
import { figure, signed } from './numbers.ts';
import type { Difference, ReportModel } from './types.ts';

export function verdictOf(
  differences: readonly Difference[],
  figures: { readonly original: number | null; readonly trained: number | null } | undefined,
): ReportModel['verdict'] {
  const main = differences.find(({ baseline, system }) => baseline === 'original' && system === 'trained');
  if (main === undefined || figures === undefined) {
    return { tone: 'open', text: 'There is no verdict: no test query was compared.' };
  }
  const [low, high] = main.interval;
  const queries = `${main.n} test ${main.n === 1 ? 'query' : 'queries'}`;
  const interval = `${Math.round(main.level * 100)} % interval ${signed(low)} to ${signed(high)}`;
  const change = `${main.metric} ${figure(figures.original)} to ${figure(figures.trained)} on ${queries} (${signed(main.delta)}, ${interval})`;
  if (low > 0) return { tone: 'better', text: `Training helped: ${change}.` };
  if (high < 0) return { tone: 'worse', text: `Training harmed: ${change}.` };
  if (main.delta === 0 && low === 0 && high === 0) {
    return {
      tone: 'open',
      text: `Nothing changed: ${main.metric} is ${figure(figures.trained)} before and after on ${queries}.`,
    };
  }
  return { tone: 'open', text: `No difference is shown: ${change}; the interval holds 0.` };
}
