"""Profiles estimated from a sample of the data (Section 5 of the paper).

The profile of a data set n times as large as the sample is taken to be Equation 4 with b, c
and d of the sample multiplied by n, n and n log(n). The paper states neither the base of the
logarithm nor what happens to a and e.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

__all__ = ["LOG_READINGS", "scale_profile"]

LogBase = Literal["e", "2", "10", "omitted"]

LOG_READINGS: Mapping[LogBase, str] = {
    "e": "n ln n",
    "2": "n log2 n",
    "10": "n log10 n",
    "omitted": "n (no logarithm)",
}


def _log(size: float, base: LogBase) -> float:
    if base == "omitted":
        return 1.0
    return {"e": math.log, "2": math.log2, "10": math.log10}[base](size)


def scale_profile(
    coefficients: Mapping[str, float], size: float, base: LogBase = "e", *, scale_a: bool = False
) -> dict[str, float]:
    """Estimate Equation 4 of a larger data set from that of a sample.

    Parameters
    ----------
    coefficients
        a, b, c, d and e of the sample.
    size
        Size of the data set in units of the sample, at least 1.
    base
        Reading of the logarithm, a key of `LOG_READINGS`.
    scale_a
        Multiply a by the size as well; the paper does not say so.

    Raises
    ------
    ValueError
        If the size is below 1 or the reading is unknown.
    """
    if not size >= 1:
        raise ValueError(f"size is {size}; a data set is at least as large as its sample, 1")
    if base not in LOG_READINGS:
        raise ValueError(f"base is {base!r}; the readings are {', '.join(LOG_READINGS)}")
    a, b, c, d, e = (coefficients[k] for k in "abcde")
    factor = size if scale_a else 1.0
    return {"a": a * factor, "b": b * size, "c": c * size, "d": d * size * _log(size, base), "e": e}
