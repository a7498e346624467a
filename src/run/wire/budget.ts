/**
 * Money, in US dollars. Before a request goes out, what it can cost at most is reserved; when the answer is there, what it
 * did cost takes its place. So a cap holds with any number of requests in flight.
 */
import { DocOptError } from '../../errors.ts';
import type { Ledger } from '../../store/ledger.ts';

export interface BudgetOptions {
  /** --max-cost, of this run. */
  readonly maxCost?: number;
  /** cost.projectMax with the project's ledger. */
  readonly project?: { readonly max: number; readonly ledger: Ledger };
}

export interface Hold {
  /** What it came to; 0 = nothing. Only the first call counts. */
  settle(usd: number): void;
}

export interface Budget {
  /** Throws COST_CAP when it cannot fit any more. Waits while only what is in flight stands in its way. */
  reserve(usd: number, what: string): Promise<Hold>;
  readonly spent: number;
  readonly capped: boolean;
}

export function createBudget({ maxCost, project }: BudgetOptions): Budget {
  let spent = 0;
  let held = 0;
  let waiting: (() => void)[] = [];

  const settled = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));

  return {
    async reserve(usd, what) {
      for (;;) {
        if (maxCost !== undefined && spent + usd > maxCost) throw capReached('--max-cost', maxCost, spent, usd, what);
        if (maxCost === undefined || spent + held + usd <= maxCost) {
          const entry = project?.ledger.reserve(usd, what, project.max);
          if (project === undefined || entry !== undefined) {
            held += usd;
            return hold(usd, entry);
          }
          if (held === 0) throw capReached('cost.projectMax', project.max, project.ledger.total(), usd, what);
        }
        await settled();
      }
    },
    get spent() {
      return spent;
    },
    capped: maxCost !== undefined || project !== undefined,
  };

  function hold(usd: number, entry: number | undefined): Hold {
    let open = true;
    return {
      settle(actual) {
        if (!open) return;
        open = false;
        // Sums of small amounts come back to nothing only nearly.
        held = Math.max(0, held - usd);
        spent += actual;
        if (entry !== undefined) project?.ledger.settle(entry, actual);
        const resumed = waiting;
        waiting = [];
        for (const resume of resumed) resume();
      },
    };
  }
}

function capReached(flag: string, cap: number, spent: number, next: number, what: string): DocOptError {
  return new DocOptError(
    'COST_CAP',
    `the cost cap of ${usdText(cap)} (${flag}) is reached: ${usdText(spent)} spent, and the next request (${what}) may cost ${usdText(next)}`,
    {
      hint: 'Every answer so far is recorded. The same command with a higher cap goes on there (a training: with --resume).',
    },
  );
}

/** $12.50, $0.0131, $0.000042, under $0.000001. */
export function usdText(usd: number): string {
  if (usd === 0) return '$0';
  if (usd >= 1) return `$${usd.toFixed(2)}`;
  if (usd < 1e-6) return 'under $0.000001';
  return `$${usd.toFixed(2 - Math.floor(Math.log10(usd))).replace(/\.?0+$/, '')}`;
}
