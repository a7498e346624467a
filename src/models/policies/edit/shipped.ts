import { DocOptError } from '../../../errors.ts';

/** Weights that come with the package, for code without labels. */
export interface ShippedWeights {
  readonly name: string;
  /** What they were trained on, under which licence. */
  readonly trainedOn: readonly {
    readonly name: string;
    readonly licence: string;
    readonly source: string;
    readonly fingerprint: string;
  }[];
  readonly weights: Readonly<Record<string, number>>;
}

export const SHIPPED: ShippedWeights | undefined = undefined;

export function shippedWeights(): ShippedWeights {
  throw new DocOptError('MISSING', 'this build ships no weights', { hint: 'Use --init zero.' });
}
