"""Checks of arguments: a fault is one ValueError that names it, says what is allowed and given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["number", "option", "shown", "switch", "whole"]


def whole(name: str, value: Any, low: int, high: int | None = None) -> int:  # noqa: ANN401
    """Return a whole number from low to high.

    Parameters
    ----------
    name
        Name of the argument, for the message.
    value
        What was given; 4.0 is whole, True and "4" are not numbers.
    low, high
        Least and most allowed; None is no limit.

    Raises
    ------
    ValueError
        If the value is anything else.
    """
    good = _is_number(value) and value % 1 == 0 and low <= value
    if not good or (high is not None and value > high):
        limits = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be a whole number {limits}; got {shown(value)}")
    return int(value)


def number(name: str, value: Any, allowed: str, low: float, high: float) -> float:  # noqa: ANN401
    """Return a number from low to high, ends included; NaN never is.

    Parameters
    ----------
    name, allowed
        Name of the argument and what is allowed, for the message.
    value
        What was given.
    low, high
        Least and most allowed.

    Raises
    ------
    ValueError
        If the value is anything else.
    """
    if not _is_number(value) or not low <= value <= high:
        raise ValueError(f"{name} must be {allowed}; got {shown(value)}")
    return float(value)


def switch(name: str, value: Any) -> bool:  # noqa: ANN401
    """Return True or False, and refuse whatever else could be taken for one of them.

    Raises
    ------
    ValueError
        If the value is anything else.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {shown(value)}")
    return bool(value)


def option(name: str, value: Any, allowed: Sequence[str]) -> str:  # noqa: ANN401
    """Return one of the allowed words.

    Raises
    ------
    ValueError
        If the value is anything else.
    """
    if not isinstance(value, str) or value not in allowed:
        choices = ", ".join(repr(word) for word in allowed)
        raise ValueError(f"{name} must be one of {choices}; got {shown(value)}")
    return value


def _is_number(value: object) -> bool:
    kinds = int | float | np.integer | np.floating
    return isinstance(value, kinds) and not isinstance(value, bool)


def shown(value: object) -> str:
    """Return a value for a message: numbers plainly, and nothing long."""
    text = str(value) if _is_number(value) else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
