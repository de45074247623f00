"""The claims ledger: what the papers say, what we compute, and a verdict for each claim.

The claims stand in ``book/claims.yml``, checked against ``book/claims.schema.json``. A claim
that can be tested names an experiment, the rows and the field to look at, and the condition that
the values must meet; all of them must meet it, in every seed. ``python -m bookkit.claims``
recomputes all verdicts and fails if one differs from the expected verdict.
"""

from __future__ import annotations

import json
import operator
import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import jsonschema
import pandas as pd
import yaml

from bookkit.dependencies import ROOT
from bookkit.results import Task, cached, find, scale

CLAIMS = ROOT / "book" / "claims.yml"
SCHEMA = ROOT / "book" / "claims.schema.json"

VERDICTS = (
    "reproduced",
    "direction only",
    "differs",
    "paper inconsistent",
    "cannot be tested",
)

Claim = dict[str, Any]

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class ClaimsError(ValueError):
    """The ledger is not as it must be; the message names the claim and the field."""


def load() -> dict[str, list[Claim]]:
    """Return the ledger: the lists ``items`` (figures, tables, ...) and ``claims``.

    Raises
    ------
    ClaimsError
        If the file does not follow its schema, or two claims have one id.
    """
    ledger: dict[str, list[Claim]] = yaml.safe_load(CLAIMS.read_text(encoding="utf-8"))
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for error in jsonschema.Draft202012Validator(schema).iter_errors(ledger):
        place = list(error.absolute_path)
        name = ledger[str(place[0])][int(place[1])].get("id", place[1]) if len(place) > 1 else ""
        raise ClaimsError(f"{CLAIMS.name}: {name} {place[2:]}: {error.message}")
    names = [claim["id"] for claim in ledger["claims"]]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ClaimsError(f"{CLAIMS.name}: more than one claim has the id {sorted(twice)[0]}")
    return ledger


def _tasks(test: Claim) -> list[Task]:
    seeds = test.get("seeds", [])
    seeds = seeds[:1] if scale() == "quick" else seeds
    arguments = test.get("arguments", {})
    runs = [{**arguments, "seed": seed} for seed in seeds] or [arguments]
    return [(test["function"], tuple(sorted(run.items()))) for run in runs]


def tasks_of(ledger: dict[str, list[Claim]]) -> list[Task]:
    """Return the results that the claims need."""
    return [task for claim in ledger["claims"] if "test" in claim for task in _tasks(claim["test"])]


def values(test: Claim) -> pd.Series:
    """Return the values that a claim is about, over all its rows and seeds.

    The first level of the index, ``run``, numbers the seeds.

    Raises
    ------
    ClaimsError
        If no row is selected or the field is missing.
    """
    frames = [cached(find(name))(**dict(arguments)) for name, arguments in _tasks(test)]
    table: pd.DataFrame = pd.concat(frames, keys=range(len(frames)), names=["run"])
    for column, wanted in test.get("select", {}).items():
        table = table.loc[table[column].isin(wanted if isinstance(wanted, list) else [wanted])]
    if table.empty or test["field"] not in table:
        raise ClaimsError(f"{test['function']} has no {test['field']!r} at {test.get('select')}")
    return pd.Series(table[test["field"]])


def _reduced(found: pd.Series, reduce: str) -> pd.Series:
    """Make one value of those of each run, or of all where the runs are not told apart."""
    if "run" not in found.index.names:
        return pd.Series([getattr(found, reduce)()])
    return pd.Series([getattr(run, reduce)() for _, run in found.groupby(level="run")])


def holds(found: pd.Series, condition: Claim) -> bool:
    """Tell whether all values meet a condition.

    Parameters
    ----------
    found
        The values.
    condition
        ``op`` and ``target``, for "=" and "between" a ``tolerance``, and ``reduce``, a method
        of the series such as "sum" that makes one value of those of each run first.
    """
    if "reduce" in condition:
        found = _reduced(found, condition["reduce"])
    op, target, tolerance = condition["op"], condition["target"], condition.get("tolerance", 0)
    if op == "between":
        met = found.between(target[0] - tolerance, target[1] + tolerance)
    elif op != "=":
        met = COMPARISONS[op](found, target)
    elif isinstance(target, str | bool):
        met = found == target
    else:
        met = (found - target).abs() <= tolerance
    return bool(met.all())


def verdict(claim: Claim, found: pd.Series | None) -> str:
    """Judge a claim by the values found for it; None if it has no test."""
    if found is None:
        return "cannot be tested"
    test = claim["test"]
    if holds(found, test):
        return "reproduced"
    if "direction" in test and holds(_of_direction(test, found), test["direction"]):
        return "direction only"
    return str(test.get("otherwise", "differs"))


def _of_direction(test: Claim, found: pd.Series) -> pd.Series:
    """Return the values that the weaker condition is about: of its own field, if it has one."""
    field = test["direction"].get("field")
    return values({**test, "field": field}) if field else found


def summarise(found: pd.Series | None, reduce: str | None = None) -> str:
    """Return the values for people: one number, a range, or how many are true."""
    if found is None:
        return ""
    if found.dtype == bool:
        return f"true in {found.sum()} of {len(found)}"
    if reduce:
        found = _reduced(found, reduce)
    if not pd.api.types.is_numeric_dtype(found):
        return ", ".join(map(str, found.unique()))
    low, high = _shown(found.min()), _shown(found.max())
    return low if low == high else f"{low} to {high}"


def _shown(value: float) -> str:
    """Return four significant digits, and whole numbers up to a million in full."""
    return f"{value:.0f}" if abs(value) <= 1e6 and value == round(value) else f"{value:.4g}"


@cache
def ledger(chapter: str | None = None) -> pd.DataFrame:
    """Compute the ledger, or the part of it that belongs to a chapter.

    Returns
    -------
    DataFrame
        A row for each claim: ``id``, ``paper``, ``where``, ``claim``, ``paper_value``,
        ``ours``, ``unit``, ``verdict``, ``expected``, ``kind``, ``basis`` (what ours rests on),
        ``note``, ``chapter``, ``function``.
    """
    rows = []
    for claim in load()["claims"]:
        if chapter not in (None, claim["chapter"]):
            continue
        test = claim.get("test")
        found = values(test) if test else None
        rows.append(
            {
                **{key: claim.get(key, "") for key in ("id", "paper", "where", "claim")},
                "paper_value": str(claim["value"]),
                "ours": summarise(found, test and test.get("reduce")),
                "unit": claim.get("unit", ""),
                "verdict": verdict(claim, found),
                **{key: claim.get(key, "") for key in ("expected", "kind", "basis")},
                "note": claim.get("note", "") or claim.get("missing", ""),
                "chapter": claim["chapter"],
                "function": test["function"] if test else "",
            }
        )
    return pd.DataFrame(rows)


def items() -> pd.DataFrame:
    """Return every figure, table, algorithm and theorem of the papers with its status.

    Returns
    -------
    DataFrame
        ``paper``, ``item``, ``title``, ``chapter`` ("" if not done yet), and the number of
        its claims by verdict.
    """
    verdicts = ledger()
    rows = []
    for item in load()["items"]:
        mine = verdicts[(verdicts["paper"] == item["paper"]) & _within(verdicts, item["item"])]
        counts = mine["verdict"].value_counts()
        rows.append({"chapter": "", **item, **{v: int(counts.get(v, 0)) for v in VERDICTS}})
    return pd.DataFrame(rows)


def _within(verdicts: pd.DataFrame, item: str) -> pd.Series:
    """Tell which claims name an item, such as "Figure 1", among the places they stand in."""
    return verdicts["where"].map(lambda where: item in str(where).split(", "))


def changed(verdicts: pd.DataFrame) -> Iterable[str]:
    """Yield a line for each claim whose verdict is not the expected one."""
    for row in verdicts[verdicts["verdict"] != verdicts["expected"]].itertuples():
        yield (
            f"{row.id}: {row.verdict}, expected {row.expected}; "
            f"paper {row.paper_value}, ours {row.ours} ({row.claim})"
        )


def main() -> int:
    """Print the verdicts' counts and what has changed; return the exit status."""
    verdicts = ledger()
    counts = verdicts["verdict"].value_counts()
    print(f"{len(verdicts)} claims at {scale()} scale:", end=" ")
    print(", ".join(f"{counts.get(v, 0)} {v}" for v in VERDICTS))
    lines = list(changed(verdicts))
    print("\n".join(lines), file=sys.stderr, end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
