"""Fits of running-time models by sparkpart, by SciPy's curve_fit and by lmfit.

The competitors search from random starts around the size of the printed coefficients, with the
same bounds and their default methods. A search of theirs is worse (better) if its SSE is above
(below) ours by more than one in a million; a start that fails is worse.
"""

import timeit
import warnings

import lmfit
import numpy as np
from scipy.optimize import curve_fit

from sparkpart import MODELS, fit, published, running_time
from sparkpart.reconstruction import reconstruct

STARTS = 20
RESAMPLES = 1000
TIMED_RESAMPLES = 5  # of the competitors, from one start each; their time is scaled up
TABLE_MODELS = ("eq2", "eq3", "eq4", "eq5")
SAME = 1 + 1e-6
SIZES = {"a": 100, "b": 2000, "b2": 8000, "c": 1, "d": 0.01, "cs": 1, "cr": 1,
         "t0": 100, "t1": 2000, "t2": 10, "t3": 1}  # fmt: skip


def problem(model, x):
    """Lower and upper bounds, and random starts within them."""
    spec, e_max = MODELS[model], x.min(axis=0).flat[0] - 1
    low = [0.0 if k in spec.nonnegative or k == "e" else -np.inf for k in spec.coefficients]
    high = [e_max if k == "e" else np.inf for k in spec.coefficients]
    size = np.array([SIZES.get(k, e_max) for k in spec.coefficients], dtype=float)
    least = np.where(np.isfinite(low), 0.0, -size)
    return low, high, np.random.default_rng(0).uniform(least, size, (STARTS, len(size)))


def by_curve_fit(model, x, y, low, high, starts):
    """SSE reached from each start; infinite where curve_fit gives up."""
    names, reached = MODELS[model].coefficients, []

    def curve(x, *values):
        return running_time(model, x, dict(zip(names, values, strict=True)))

    for start in starts:
        try:
            found, _ = curve_fit(curve, x, y, start, bounds=(low, high))
            reached.append(np.square(y - curve(x, *found)).sum())
        except RuntimeError:
            reached.append(np.inf)
    return reached


def by_lmfit(model, x, y, low, high, starts):
    """SSE reached from each start; infinite where lmfit runs into NaN."""
    reached = []
    for start in starts:
        parameters = lmfit.Parameters()
        for k, value, least, most in zip(MODELS[model].coefficients, start, low, high, strict=True):
            parameters.add(k, value=value, min=least, max=most)
        try:
            found = lmfit.minimize(lambda p: y - running_time(model, x, p.valuesdict()), parameters)
            reached.append(np.square(found.residual).sum())
        except ValueError:
            reached.append(np.inf)
    return reached


COMPETITORS = {"curve_fit": by_curve_fit, "lmfit": by_lmfit}


def seconds(call, repeats):
    """Best of several, each long enough for the clock."""
    timer = timeit.Timer(call)
    number = max(1, int(0.05 / timer.timeit(1)))
    return min(timer.repeat(repeats, number)) / number


def compare(model, sets):
    """Time of one fit, and over all data sets how often the competitors end elsewhere."""
    ours = np.array([fit(x, y, model).sse for x, y in sets])
    x, y = sets[0]
    own = seconds(lambda: fit(x, y, model), 5)
    row = {"what": f"one fit of {model}", "ms": 1e3 * own}
    for name, search in COMPETITORS.items():
        ratio = np.array([search(model, *data, *problem(model, data[0])) for data in sets])
        ratio /= ours[:, None]
        row[f"{name}: time"] = seconds(lambda s=search: s(model, x, y, *problem(model, x)), 2) / own
        row[f"{name}: starts worse"] = np.mean(ratio > SAME)
        row[f"{name}: best worse"] = np.mean(ratio.min(axis=1) > SAME)
        row[f"{name}: best better"] = np.mean(ratio.min(axis=1) < 1 / SAME)
    return row


def tables(sets):
    """Time of Tables 1 and 2 with bootstraps; the competitors from one start a resample."""
    fits = [fit(x, y, model) for x, y in sets for model in TABLE_MODELS]
    own = seconds(lambda: [fit(f.nodes[:, 0], f.seconds, f.model).bootstrap(RESAMPLES, seed=0)
                           for f in fits], 3)  # fmt: skip
    row = {"what": f"{len(fits)} fits, each with {RESAMPLES} resamples", "ms": 1e3 * own}
    for name, search in COMPETITORS.items():
        args = [
            (f.model, x, f.seconds, *problem(f.model, x)) for f in fits for x in [f.nodes[:, 0]]
        ]
        once = seconds(lambda s=search, a=args: [s(*p, q[:TIMED_RESAMPLES]) for *p, q in a], 1)
        row[f"{name}: time"] = once * RESAMPLES / TIMED_RESAMPLES / own
    return row


def run():
    """Reconstructed times of all programs; for Eq. 6, made times of a repartitioning."""
    times = [reconstruct(program) for program in published.PROGRAMS]
    one = [(t.nodes, t.seconds) for t in times]
    x = np.array([(s, r) for s in (8, 16, 32, 64, 96) for r in range(8, 97, 8)], dtype=float)
    exact = running_time("eq6", x, published.EQUATION_6 | {"a": 2.0, "e": 3.5})
    two = [(x, exact + np.random.default_rng(seed).normal(size=len(x))) for seed in range(9)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # covariances that the competitors cannot estimate
        rows = [compare(m, one if spec.inputs == 1 else two) for m, spec in MODELS.items()]
        return [*rows, tables(one)]
