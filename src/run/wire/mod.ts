/** The wire: the project's one HTTP client. */
export { type Budget, createBudget, usdText } from './budget.ts';
export { systemClock, type WireClock } from './clock.ts';
export { parseAddress } from './hosts.ts';
export { costOf, PRICES, type Price, priceOf } from './prices.ts';
export type { Wire, WireAnswer, WireCost, WirePlan, WireReport, WireRequest } from './types.ts';
export { createWire, requestKey, type WireOptions } from './wire.ts';
export { WireError, type WireFault } from './wire-error.ts';
