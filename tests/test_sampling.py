"""Profiles scaled from a sample, in every reading of the paper's n log(n)."""

import math

import pytest

from sparkpart.sampling import LOG_READINGS, scale_profile

SAMPLE = {"a": 10.0, "b": 100.0, "c": -0.5, "d": 0.01, "e": 2.0}


@pytest.mark.parametrize(
    ("base", "d"),
    [("e", 0.08 * math.log(8)), ("2", 0.24), ("10", 0.08 * math.log10(8)), ("omitted", 0.08)],
)
def test_hand_computed_eight_times_the_sample(base, d):
    expected = {"a": 10, "b": 800, "c": -4, "d": d, "e": 2}
    assert scale_profile(SAMPLE, 8, base) == pytest.approx(expected)


def test_a_is_scaled_only_on_request():
    assert scale_profile(SAMPLE, 3, scale_a=True)["a"] == 30
    assert scale_profile(SAMPLE, 3)["a"] == 10


def test_sample_itself_is_unchanged_only_without_the_logarithm():
    """n log(n) is 0 at n = 1, so every logarithm drops the term in d: a flaw of the formula."""
    assert scale_profile(SAMPLE, 1, "omitted") == SAMPLE
    for base in ("e", "2", "10"):
        assert scale_profile(SAMPLE, 1, base) == SAMPLE | {"d": 0}


def test_arguments_are_left_alone():
    before = dict(SAMPLE)
    scale_profile(SAMPLE, 2, scale_a=True)
    assert before == SAMPLE


@pytest.mark.parametrize("size", [0.5, 0, -2, float("nan")])
def test_size_below_the_sample_is_refused(size):
    with pytest.raises(ValueError, match=f"size is {size}; a data set is at least"):
        scale_profile(SAMPLE, size)


def test_unknown_reading_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="base is '3'; the readings are e, 2, 10, omitted"):
        scale_profile(SAMPLE, 2, "3")
    assert list(LOG_READINGS) == ["e", "2", "10", "omitted"]


def test_sample_without_a_coefficient_is_refused():
    with pytest.raises(KeyError, match="e"):
        scale_profile({k: 1.0 for k in "abcd"}, 2)
