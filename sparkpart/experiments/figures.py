"""Figures 1-4 and 13, and the statements of the text about them."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pandas as pd

from sparkpart import published
from sparkpart.profiles import running_time
from sparkpart.sampling import LOG_READINGS, scale_profile


def figure1() -> pd.DataFrame:
    """Figure 1: stage graphs of sort and of one k-means iteration.

    The paper's figure is an image that we do not have; the graphs are constructed from the
    description in Section 2.2 and the operations of Spark 1.5.

    Returns
    -------
    DataFrame
        One edge a row: ``program``, ``stage`` (of the target), ``source``, ``target``,
        ``shuffle`` (whether data moves between stages).
    """
    with files("sparkpart.data").joinpath("figure1.csv").open(encoding="utf-8") as stream:
        return pd.read_csv(stream)


def figure2(points: int = 177) -> pd.DataFrame:
    """Figure 2: running time against nodes by the coefficients of Table 2.

    Parameters
    ----------
    points
        Number of node counts between 8 and 96.

    Returns
    -------
    DataFrame
        ``program``, ``model`` (eq4, eq5), ``version`` ("printed", "corrected"), ``nodes``,
        ``seconds``.
    """
    nodes = np.linspace(8, 96, points)
    versions: tuple[published.Version, ...] = ("printed", "corrected")
    parts = [
        pd.DataFrame(
            {
                "program": program,
                "model": model,
                "version": version,
                "nodes": nodes,
                "seconds": running_time(
                    model, nodes, published.coefficients(program, model, version)
                ),
            }
        )
        for program in published.PROGRAMS
        for model in ("eq4", "eq5")
        for version in versions
    ]
    return pd.concat(parts, ignore_index=True)


def observations() -> pd.DataFrame:
    """Check what Section 2.3 reads off Figure 2 on the corrected curves of Table 2.

    Returns
    -------
    DataFrame
        ``program``, ``model``; times ``t8``, ``t16``, ``t24``, ``t96`` (s); ``ratio_16_8``;
        ``share_8_24``, the part of the fall from 8 nodes to the minimum that is reached at
        24; ``gain_80_96``, the part of the time that going from 80 to 96 nodes saves;
        ``fastest``, the node count of the minimum; ``superlinear``, whether doubling 8 nodes
        more than halves the time; ``c`` of Table 2 as printed and ``negative_c``.
    """
    rows = []
    for program in published.PROGRAMS:
        for model in ("eq4", "eq5"):
            nodes = np.arange(8, max(published.NODE_GRIDS[program]) + 1)
            t = running_time(model, nodes, published.coefficients(program, model))
            at = dict(zip(nodes.tolist(), t.tolist(), strict=True))
            rows.append(
                {
                    "program": program,
                    "model": model,
                    **{f"t{n}": at.get(n, np.nan) for n in (8, 16, 24, 96)},
                    "ratio_16_8": at[16] / at[8],
                    "share_8_24": (at[8] - at[24]) / (at[8] - t.min()),
                    "gain_80_96": 1 - at.get(96, np.nan) / at.get(80, np.nan),
                    "fastest": int(nodes[t.argmin()]),
                    "superlinear": at[16] / at[8] < 0.5,
                    "c": (c := published.coefficients(program, model, "printed")["c"]),
                    "negative_c": c < 0,
                }
            )
    return pd.DataFrame(rows)


def figure3(e: tuple[float, ...] = (0.0, 3.5, 7.0), points: int = 89) -> pd.DataFrame:
    """Figure 3: repartitioning time by the printed Equation 6, for several values of e.

    Parameters
    ----------
    e
        Values of the coefficient that the paper does not print, in [0, 7].
    points
        Number of receiver counts between 8 and 96.

    Returns
    -------
    DataFrame
        ``e``, ``senders``, ``receivers``, ``seconds``.
    """
    receivers = np.linspace(8, 96, points)
    parts = []
    for value in e:
        for senders in (8, 16, 32, 64, 96):
            nodes = np.column_stack([np.full(points, float(senders)), receivers])
            seconds = running_time("eq6", nodes, published.EQUATION_6 | {"e": value})
            parts.append(
                pd.DataFrame(
                    {"e": value, "senders": senders, "receivers": receivers, "seconds": seconds}
                )
            )
    return pd.concat(parts, ignore_index=True)


def figure4() -> pd.DataFrame:
    """Figure 4: the levels that Table 2 gives if the reducers' number has no effect.

    The paper prints no numbers for this figure. Its reading, horizontal lines, means that
    the running time of aggregate is that of its sender nodes.

    Returns
    -------
    DataFrame
        ``senders``, ``reducers``, ``seconds``.
    """
    aggregate = published.coefficients("aggregate", "eq4")
    rows = [
        (senders, reducers, float(running_time("eq4", [senders], aggregate)[0]))
        for senders in (16, 32, 56)
        for reducers in range(8, 65, 8)
    ]
    return pd.DataFrame(rows, columns=["senders", "reducers", "seconds"])


def figure13() -> pd.DataFrame:
    """Figure 13: k-means profiles estimated from a sample of 50 million records.

    The sample is k-meansII; k-meansI has twice and k-meansIII three times as many records.
    "Actual" is Equation 4 with the coefficients of Table 2, not the measurements.

    Returns
    -------
    DataFrame
        ``reading`` (of the logarithm), ``scaled_a``, ``size`` (in samples), ``nodes``,
        ``actual``, ``estimated``, ``ratio``.
    """
    sample = published.coefficients("k-meansII", "eq4")
    nodes = np.array(published.NODE_GRIDS["k-meansII"], dtype=float)
    parts = []
    for size, program in ((2, "k-meansI"), (3, "k-meansIII")):
        actual = running_time("eq4", nodes, published.coefficients(program, "eq4"))
        for base, reading in LOG_READINGS.items():
            for scale_a in (False, True):
                scaled = scale_profile(sample, size, base, scale_a=scale_a)
                estimated = running_time("eq4", nodes, scaled)
                parts.append(
                    pd.DataFrame(
                        {
                            "reading": reading,
                            "scaled_a": scale_a,
                            "size": size,
                            "nodes": nodes,
                            "actual": actual,
                            "estimated": estimated,
                            "ratio": estimated / actual,
                        }
                    )
                )
    return pd.concat(parts, ignore_index=True)


def figure13_deviations() -> pd.DataFrame:
    """Summarise Figure 13: how far the estimated profiles are from the actual ones.

    Returns
    -------
    DataFrame
        ``reading``, ``scaled_a``, ``worst_factor`` (largest ratio of estimate and actual time
        or its inverse), ``mean_error`` (mean absolute error in percent), over both sizes;
        ``to_linear``, the mean error relative to that of the reading without a logarithm.
    """
    table = figure13()
    ratio = table["ratio"]
    table = table.assign(
        worst_factor=np.maximum(ratio, 1 / ratio), mean_error=100 * (ratio - 1).abs()
    )
    groups = table.groupby(["reading", "scaled_a"], sort=False)
    summary = groups.agg({"worst_factor": "max", "mean_error": "mean"}).reset_index()
    linear = summary[summary["reading"] == LOG_READINGS["omitted"]]
    base = summary["scaled_a"].map(linear.set_index("scaled_a")["mean_error"])
    return summary.assign(to_linear=summary["mean_error"] / base)


def equation6_levels() -> pd.DataFrame:
    """Summarise Figure 3 by the printed Equation 6 at the ends of e's range.

    Returns
    -------
    DataFrame
        ``e``, ``senders``, ``at_8`` and ``at_96`` (seconds with 8 and 96 receivers),
        ``growth`` (the second over the first).
    """
    table = figure3((0.0, 7.0), points=2)
    levels = table.groupby(["e", "senders"])["seconds"]
    ends = pd.DataFrame({"at_8": levels.first(), "at_96": levels.last()})
    return ends.assign(growth=ends["at_96"] / ends["at_8"]).reset_index()


def setting_checks() -> pd.DataFrame:
    """Check the arithmetic of Sections 2.2, 2.3 and 2.6 on machines and data sets.

    Returns
    -------
    DataFrame
        ``check`` and ``value``.
    """
    million = {"k-meansI": 100, "k-meansII": 50, "k-meansIII": 150, "k-meansIV": 10}
    million |= {"k-meansV": 1000, "naive Bayes": 100}
    dimensions = {"k-meansIV": 1000, "k-meansV": 10}
    gigabytes = {"k-meansII": 50, "k-meansIII": 150}
    rows: list[tuple[str, float]] = [
        ("cores per machine, 8 machines", 128 / 8),
        ("cores per machine, 96 machines", 1536 / 96),
        ("records of k-meansI over k-meansII", million["k-meansI"] / million["k-meansII"]),
        ("records of k-meansIII over k-meansI", million["k-meansIII"] / million["k-meansI"]),
        ("gigabytes of sort, aggregate and shuffle", 1e9 * 100 / 1e9),
        ("programs left for the last data set", len(published.PROGRAMS) - len(million)),
    ]
    for program, records in million.items():
        values = records * 1e6 * dimensions.get(program, 100)
        rows.append((f"bytes per value, {program}", gigabytes.get(program, 100) * 1e9 / values))
    return pd.DataFrame(rows, columns=["check", "value"])
