"""Equation 1 and its map to Equation 2, in the printed form and in Gunther's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkpart import running_time, usl
from sparkpart.usl import USL, from_linear, speedup, to_linear

FORMS = ["printed", "gunther"]
LAWS = st.builds(
    USL, t1=st.floats(0.1, 1e4), sigma=st.floats(-0.5, 0.9), kappa=st.floats(-0.01, 0.1)
)
form = pytest.mark.parametrize("form", FORMS)


def test_hand_computed_map_of_the_printed_form():
    """T(n) = T1 (1/n + sigma + kappa (n - 1)): a = T1 (sigma - kappa), b = T1, c = T1 kappa."""
    assert to_linear(USL(100, 0.05, 0.01)) == pytest.approx({"a": 4, "b": 100, "c": 1})


def test_hand_computed_map_of_gunthers_form():
    """The sigma (n - 1) of Gunther's form takes sigma T1 from b."""
    assert to_linear(USL(100, 0.05, 0.01), "gunther") == pytest.approx({"a": 4, "b": 95, "c": 1})


@form
@given(law=LAWS)
def test_round_trip_gives_the_law_back(form, law):
    back = from_linear(**to_linear(law, form), form=form)
    np.testing.assert_allclose(back, law, rtol=1e-9, atol=1e-12)


@form
@given(law=LAWS)
def test_times_by_the_law_are_those_of_equation_2(form, law):
    nodes = np.array([1.0, 2, 7, 8, 40, 96])
    by_eq2 = running_time("eq2", nodes, to_linear(law, form))
    inverse = 1 / speedup(nodes, law, form)
    np.testing.assert_allclose(by_eq2, law.t1 * inverse, rtol=1e-9, atol=1e-9 * law.t1)


def test_printed_form_is_not_1_at_one_node_but_gunthers_is():
    law = USL(100, 0.25, 0.01)
    assert speedup(1, law, "gunther") == 1
    assert speedup(1, law, "printed") == pytest.approx(1 / 1.25)


@form
def test_without_contention_and_incoherency_the_speedup_is_linear(form):
    assert speedup([1, 8, 96], USL(5, 0, 0), form).tolist() == [1, 8, 96]


@pytest.mark.parametrize(
    ("form", "coefficients"),
    [("printed", (1, 0, 1)), ("printed", (1, -9, 1)), ("gunther", (1, -3, 1)),
     ("gunther", (1, 1, -2)), ("printed", (1, float("nan"), 1))],
)  # fmt: skip
def test_time_scale_that_is_not_positive_is_refused(form, coefficients):
    with pytest.raises(ValueError, match="needs it positive"):
        from_linear(*coefficients, form=form)


def test_negative_b_is_allowed_in_gunthers_form_when_the_time_at_one_node_is_positive():
    assert usl.from_linear(10, -1, 1, "gunther") == pytest.approx(USL(10, 1.1, 0.1))


@pytest.mark.parametrize(
    "call",
    [lambda: from_linear(1, 2, 3, form="x"), lambda: to_linear(USL(1, 0, 0), "x"),
     lambda: speedup(4, USL(1, 0, 0), "x")],
)  # fmt: skip
def test_unknown_form_is_refused(call):
    with pytest.raises(ValueError, match="form is 'x'; the forms are printed, gunther"):
        call()
