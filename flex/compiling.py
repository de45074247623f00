"""Compile the functions of a policy, and say in one line why one cannot be."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.core.errors import NumbaError

from flex.schedulers import Node, Policy, Task

__all__ = ["NODE", "TASK", "compiled_part", "jit"]

NODE = types.NamedTuple([types.int64] * (len(Node._fields) - 1) + [types.int32], Node)
TASK = types.NamedUniTuple(types.int64, len(Task._fields), Task)
"""What the simulator passes to the functions of a policy."""

RETURNS = {
    "fits": ("True or False", types.Boolean | types.Integer | types.Float),
    "score": ("a number", types.Integer | types.Float),
    "priority": ("a whole number", types.Integer),
}
ALLOWED = (
    "it may use arithmetic, comparisons, min, max, percent_free, the fields of Node and Task, and "
    "functions decorated with numba.njit"
)


def jit(function: Callable[..., object]) -> Any:  # noqa: ANN401
    """Return a function compiled, unless it is already; a division by zero gives inf or NaN."""
    return function if hasattr(function, "py_func") else njit(function, error_model="numpy")


def compiled_part(policy: Policy, name: str) -> Any:  # noqa: ANN401
    """Return a function of a policy, compiled.

    Parameters
    ----------
    policy
        The policy.
    name
        "fits", "score" or "priority".

    Raises
    ------
    ValueError
        If it cannot be compiled, or does not return what it must on every way through it.
    """
    function = jit(getattr(policy, name))
    arguments = (TASK,) if name == "priority" else (NODE, TASK)
    what = f"policy {policy.name}: {name}"
    try:
        function.compile(arguments)
    except (NumbaError, NotImplementedError, TypeError) as error:
        raise ValueError(f"{what} cannot be compiled: {_reason(error)}; {ALLOWED}") from error
    returned = function.overloads[arguments].signature.return_type
    wanted, kinds = RETURNS[name]
    if not isinstance(returned, kinds):
        raise ValueError(
            f"{what} must return {wanted} on every way through it; it returns {returned}"
        )
    return function


def _reason(error: Exception) -> str:
    """Return the line of a compiler's message that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines()]
    lines = [line for line in lines if line and not line.startswith("Failed in nopython mode")]
    first = lines[0] if lines else type(error).__name__
    return re.sub(r"\(int64[^)]*\)", "", first).rstrip(".:")
