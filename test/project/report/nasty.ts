/** Strings that would like to be more than text, and a report that is full of them. */
import type { ReportModel } from '../../../project/report/types.ts';

export const NASTY = [
  '</script><script>alert(1)</script>',
  '</style><img src=x onerror=alert(1)>',
  `" onmouseover="alert(1)" x='`,
  "'><svg/onload=alert(1)>",
  '<a href="javascript:alert(1)">press</a>',
  '<!-- --><meta http-equiv="refresh" content="0;url=https://evil.example/">',
  '\u202egnp.exe\u202c \u2066hidden\u2069 \u200f',
  'null\u0000byte \u001b[31mred\u001b[0m \u0085',
  '&lt;b&gt; &#x3c;script&#x3e;',
  '\ud800 lone surrogate',
  '| cell | [link](https://evil.example/) ![image](x) `code` |',
  '\\input{/etc/passwd} \\write18{rm} $x$ % & _ ^ ~ {',
] as const;

const all = NASTY.join(' ');
const figures = { 'nDCG@5': 0.5 };

export function nastyModel(): ReportModel {
  return {
    title: all,
    finished: true,
    verdict: { tone: 'better', text: all },
    facts: [[all, all]],
    notes: [all],
    missing: [all],
    metrics: [all],
    systems: [{ name: all, metrics: { [all]: 0.5 }, note: all }],
    baselines: [{ name: all, metrics: figures, note: all }],
    differences: [
      {
        baseline: all,
        system: all,
        metric: all,
        n: 2,
        delta: 0.1,
        interval: [-0.1, 0.2],
        level: 0.95,
        adjustedP: 0.04,
        wins: 1,
        losses: 0,
        ties: 1,
      },
    ],
    charts: [
      {
        title: all,
        xLabel: all,
        series: [
          {
            name: all,
            style: 's1',
            points: [
              [0, 1],
              [1, 2],
            ],
          },
        ],
      },
    ],
    queryMetric: all,
    queries: [{ id: all, text: all, original: 0, zeroShot: 0, trained: 1 }],
    helped: [
      {
        id: all,
        title: all,
        diff: [
          { kind: 'same', text: all },
          { kind: 'added', text: all },
          { kind: 'removed', text: all },
        ],
        queries: [{ id: all, text: all, before: null, after: 1, delta: 1 }],
        delta: 1,
      },
    ],
    harmed: [],
    lengths: {
      edges: [0, 8],
      systems: [{ name: all, mean: 1, quartiles: [1, 1, 1], counts: [1, 0] }],
      changed: 1,
      documents: 1,
    },
    maps: [
      {
        title: all,
        points: [
          { kind: 'original', x: 0, y: 0 },
          { kind: 'rewrite', x: 1, y: 1 },
          { kind: 'query', x: 0, y: 1 },
        ],
      },
    ],
    mapNote: all,
    costs: [[all, all]],
    chain: [{ what: all, fingerprint: all, detail: all }],
  };
}
