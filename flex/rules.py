"""The rules of the simulated cluster: the author's program, and the paper as written.

The two differ, and the paper leaves much unsaid. Every difference is one field of `Rules`, so a
single rule can be switched with `dataclasses.replace(AUTHOR, sharing="intended")`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args, get_type_hints

from flex.checks import number, option, switch, whole

__all__ = ["AUTHOR", "NAMED_RULES", "PAPER", "Rules"]

LEAST = {"failures": 0, "loaded_samples": 1}
MOST = 2**53
"""Limits of the counts among the rules, so that none overflows."""
HIGHEST = 1e6
"""Highest floor and start of P, and highest beta; the simulator applies none above 10,000."""


@dataclass(frozen=True)
class Rules:
    """Rules of throttling, of load estimation, of the penalty and of the queue.

    Parameters
    ----------
    sharing
        How an overloaded node guarantees memory requests: "intended" gives every task
        min(demand, request, C * request / R) first; "overflow" computes the product C * request
        in wrapped 64-bit integers as the author's program does, so that nearly all memory is
        shared in proportion to demand. CPU never overflows.
    load
        What is monitored as the load of a node: "demand" of its tasks (author), or their
        "usage", that is what they were allocated (paper, Section 5, Estimator).
    fresh
        What a task counts from its binding until it is first monitored: its "request", the
        "penalised" request (inside P), or "nothing".
    penalty_in_percent
        Whether P is cut to whole percent, and the load to integers, before they are used.
    start_penalty, min_penalty, max_penalty
        First value, floor and cap of the estimation penalty P.
    alpha, beta
        P falls to alpha * P, and rises to P + beta * (P - base).
    base
        "one" (Section 4.3) or "minimum" (Section 4.2, P_min).
    raise_when
        When QoS is below the target, P rises if it is "falling" (Section 4.3: below the target
        and decreasing), at "onset" (author: the first violating tick after a good one, or a drop
        of more than 1 - target within a tick) or "always".
    target
        QoS target rho.
    failures
        Scheduling stops for the tick after more than this many tasks fitted nowhere; None tries
        the whole queue.
    queue
        Priority queue of FlexL: "heap" is Go's container/heap without a tie-break, "stable"
        sorts by memory request and then by the time in the queue. A long heap is slow if
        failures is None, since every tick takes all of it apart.
    loaded_samples
        The author's program loads this many demand samples of a task at a time and ends a task
        whose loaded samples have passed; None loads all.
    single_precision
        Whether QoS and P are 32-bit floats.

    Raises
    ------
    ValueError
        If a value is not among those allowed.

    References
    ----------
    Le and Liu, arXiv 2006.01354, Sections 4.2, 4.3 and 5; public source of the author's
    simulator (lenhattan86/k8s-cluster-simulator, commit 9f23e821).
    """

    sharing: Literal["intended", "overflow"] = "intended"
    load: Literal["demand", "usage"] = "usage"
    fresh: Literal["request", "penalised", "nothing"] = "request"
    penalty_in_percent: bool = False
    start_penalty: float = 1.5
    min_penalty: float = 1.0
    max_penalty: float = float("inf")
    alpha: float = 0.99
    beta: float = 1.0
    base: Literal["one", "minimum"] = "one"
    raise_when: Literal["falling", "onset", "always"] = "falling"
    target: float = 0.99
    failures: int | None = None
    queue: Literal["stable", "heap"] = "stable"
    loaded_samples: int | None = None
    single_precision: bool = False

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(Rules).items():
            allowed, value = get_args(hint), getattr(self, name)
            if hint is bool:
                switch(name, value)
            elif type(None) in allowed:
                self._check_count(name, value)
            elif allowed:
                option(name, value, allowed)
        self._check_numbers()

    def _check_count(self, name: str, value: int | None) -> None:
        if value is None:
            return
        try:
            object.__setattr__(self, name, whole(name, value, LEAST[name], MOST))
        except ValueError as error:
            raise ValueError(f"{error} (None is no limit)") from None

    def _check_numbers(self) -> None:
        finite = f"from 0 to {HIGHEST:g}"
        number("min_penalty", self.min_penalty, finite, 0, HIGHEST)
        number("max_penalty", self.max_penalty, "at least min_penalty", self.min_penalty, math.inf)
        top = min(self.max_penalty, HIGHEST)
        allowed = f"between min_penalty and max_penalty, and at most {HIGHEST:g}"
        number("start_penalty", self.start_penalty, allowed, self.min_penalty, top)
        above_0 = math.ulp(0.0)
        number("alpha", self.alpha, "above 0 and at most 1", above_0, 1)
        number("beta", self.beta, finite, 0, HIGHEST)
        number("target", self.target, "above 0 and at most 1", above_0, 1)


PAPER = Rules()
"""The paper as written; where it is silent, the author's choice."""

AUTHOR = Rules(
    sharing="overflow",
    load="demand",
    penalty_in_percent=True,
    min_penalty=1.1,
    max_penalty=3.0,
    raise_when="onset",
    failures=1000,
    queue="heap",
    loaded_samples=10,
    single_precision=True,
)
"""The author's program, its integer overflow and its limits included."""

NAMED_RULES = {"author": AUTHOR, "paper": PAPER}
"""The two sets of rules by name."""
