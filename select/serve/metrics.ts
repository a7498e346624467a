/** Counters of the service in the Prometheus text format. Labels are routes and status codes only: bounded, and no secrets. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

interface Latency {
  readonly counts: number[];
  sum: number;
  count: number;
}

export interface Metrics {
  requestStarted(): void;
  requestEnded(route: string, status: number, seconds: number): void;
  selection(calls: number, failed: number): void;
  render(facts: Readonly<Record<string, number>>): string;
}

export function createMetrics(): Metrics {
  const requests = new Map<string, number>();
  const latencies = new Map<string, Latency>();
  let inFlight = 0;
  let selections = 0;
  let rerankerCalls = 0;
  let failedCalls = 0;

  return {
    requestStarted() {
      inFlight++;
    },
    requestEnded(route, status, seconds) {
      inFlight--;
      const key = `route="${route}",status="${status}"`;
      requests.set(key, (requests.get(key) ?? 0) + 1);
      const latency = latencies.get(route) ?? { counts: BUCKETS.map(() => 0), sum: 0, count: 0 };
      latencies.set(route, latency);
      BUCKETS.forEach((bound, i) => {
        if (seconds <= bound) latency.counts[i]++;
      });
      latency.sum += seconds;
      latency.count++;
    },
    selection(calls, failed) {
      selections++;
      rerankerCalls += calls;
      failedCalls += failed;
    },
    render(facts) {
      const lines: string[] = [];
      const family = (name: string, type: string, help: string, samples: readonly string[]): void => {
        lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples);
      };
      family(
        'morph_requests_total',
        'counter',
        'Requests answered, by route and status.',
        [...requests].map(([labels, value]) => `morph_requests_total{${labels}} ${value}`),
      );
      family(
        'morph_request_seconds',
        'histogram',
        'Time to answer, by route.',
        [...latencies].flatMap(([route, { counts, sum, count }]) => [
          ...BUCKETS.map((bound, i) => `morph_request_seconds_bucket{route="${route}",le="${bound}"} ${counts[i]}`),
          `morph_request_seconds_bucket{route="${route}",le="+Inf"} ${count}`,
          `morph_request_seconds_sum{route="${route}"} ${sum}`,
          `morph_request_seconds_count{route="${route}"} ${count}`,
        ]),
      );
      const single = (name: string, type: string, help: string, value: number): void =>
        family(name, type, help, [`${name} ${value}`]);
      single('morph_requests_in_flight', 'gauge', 'Requests being answered now.', inFlight);
      single('morph_selections_total', 'counter', 'Selections made.', selections);
      single('morph_reranker_calls_total', 'counter', 'Query-document pairs handed to the reranker.', rerankerCalls);
      single('morph_reranker_failed_calls_total', 'counter', 'Pairs that brought no score.', failedCalls);
      for (const [name, value] of Object.entries(facts))
        single(`morph_${name}`, 'gauge', 'A fact of the service.', value);
      return `${lines.join('\n')}\n`;
    },
  };
}
