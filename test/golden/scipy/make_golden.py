"""Makes significance.json with scipy; see README.md."""

import json

import numpy as np
import scipy
from scipy import special, stats

random = np.random.default_rng(5)


def permutation(d):
    """Exact p of the paired randomisation test (every sign pattern)."""
    result = stats.permutation_test(
        (d, np.zeros(len(d))), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type='samples', vectorized=True,
        n_resamples=np.inf,
    )
    return float(result.pvalue)


def case(d):
    d = np.asarray(d, dtype=float)
    moved = d[d != 0]
    sizes = np.abs(moved)
    exact = len(moved) <= 50 and len(set(sizes)) == len(sizes)
    t = stats.ttest_1samp(d, 0.0)
    w = stats.wilcoxon(moved, method='exact') if exact else stats.wilcoxon(moved, method='asymptotic', correction=True)
    boot = stats.bootstrap((d,), np.mean, n_resamples=100_000, method='percentile', confidence_level=0.95, random_state=1)
    return {
        'differences': d.tolist(),
        't': float(t.statistic),
        'tP': float(t.pvalue),
        'wilcoxon': float(w.statistic),
        'wilcoxonP': float(w.pvalue),
        'wilcoxonExact': exact,
        'randomisationP': permutation(d) if len(d) <= 16 else None,
        'interval': [float(boot.confidence_interval.low), float(boot.confidence_interval.high)],
    }


grid = lambda n: random.integers(-3, 5, n) / 4
cases = {
    'eight': case([0.11, -0.05, 0.3, 0.21, -0.02, 0.4, 0.17, 0.08]),
    'two': case([0.25, 0.125]),
    'twelve with zeros': case([0, 0.5, 0, 0.25, -0.125, 0, 1, 0.375, 0, -0.75, 0.0625, 0]),
    'fourteen with ties': case(grid(14)),
    'thirty': case(random.normal(0.02, 0.1, 30)),
    'thirty with ties': case(grid(30)),
    'fifty': case(random.normal(0.03, 0.1, 50)),
    'eighty': case(random.normal(0.05, 0.1, 80)),
    'three hundred, mostly zero': case(np.where(random.random(300) < 0.7, 0, np.round(random.normal(0.02, 0.2, 300), 2))),
}
ps = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216, 0.222, 0.251, 0.269, 0.275, 0.34, 0.341, 0.384, 0.569, 0.594, 0.696, 0.762, 0.94, 0.942, 0.975, 0.986]
shuffled = list(map(float, random.permutation(ps)))
golden = {
    'scipy': scipy.__version__,
    'numpy': np.__version__,
    'student': [[t, df, float(2 * stats.t.sf(t, df))] for df in (1, 2, 5, 29, 300, 20000) for t in (0.0, 0.01, 0.5, 1.0, 2.0, 5.0, 20.0)],
    'normal': [[z, float(2 * stats.norm.sf(z))] for z in (0.0, 0.001, 0.3, 1.0, 1.7, 1.7320508, 1.8, 2.5, 4.0, 8.0, 20.0)],
    'logGamma': [[x, float(special.gammaln(x))] for x in (0.001, 0.5, 1.0, 1.5, 2.0, 3.7, 9.99, 10.0, 55.5, 10000.0)],
    'falseDiscovery': [[p, float(q)] for p, q in zip(shuffled, stats.false_discovery_control(shuffled))],
    'cases': cases,
}
with open('significance.json', 'w') as file:
    json.dump(golden, file, separators=(',', ':'))
    file.write('\n')
