"""The bounded least squares agree with hand calculation, SciPy and brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import lsq_linear, nnls

from sparkpart.leastsquares import bounded_lstsq, pole_lstsq

NONE, FIRST, BOTH = np.array([False, False]), np.array([True, False]), np.array([True, True])


def one(design, target, nonnegative):
    coefficients, sse = bounded_lstsq(design, np.asarray(target)[:, None], nonnegative)
    return coefficients[:, 0], sse[0]


def scipy_sse(design, target, nonnegative):
    """SSE of SciPy's active-set method, on columns of unit length."""
    lower = np.where(nonnegative, 0.0, -np.inf)
    scaled = design / np.linalg.norm(design, axis=0)
    found = lsq_linear(scaled, target, (lower, np.inf), method="bvls", tol=1e-14, max_iter=500)
    return 2 * found.cost


def test_hand_computed_bound_moves_only_the_bounded_coefficient():
    coefficients, sse = one(np.eye(2), [-1.0, 2.0], FIRST)
    assert coefficients.tolist() == [0, 2]
    assert sse == pytest.approx(1)


def test_falling_line_with_a_slope_that_must_not_fall_is_the_mean():
    """Through (1, 3), (2, 2), (3, 1) the free slope is -1; held at 0 it leaves the mean, 2."""
    design = np.array([[1.0, 1], [2, 1], [3, 1]])
    free, free_sse = one(design, [3.0, 2, 1], NONE)
    held, held_sse = one(design, [3.0, 2, 1], FIRST)
    assert free == pytest.approx([-1, 4])
    assert free_sse == pytest.approx(0, abs=1e-25)
    assert held[0] == 0
    assert held[1] == pytest.approx(2)
    assert held_sse == pytest.approx(2)


def test_all_coefficients_bounded_and_all_targets_negative_gives_zeros():
    coefficients, sse = one(np.eye(3, 2) + 1, [-1.0, -2, -2], BOTH)
    assert coefficients.tolist() == [0, 0]
    assert sse == pytest.approx(9)


def test_as_many_points_as_coefficients_are_met_exactly():
    design = np.array([[1.0, 1, 1], [1, 2, 4], [1, 3, 9]])
    coefficients, sse = one(design, design @ [5.0, 2, 0.5], np.array([True, True, True]))
    assert coefficients == pytest.approx([5, 2, 0.5])
    assert sse == pytest.approx(0, abs=1e-20)


def test_without_bounds_it_is_ordinary_least_squares():
    rng = np.random.default_rng(1)
    design, targets = rng.normal(size=(9, 4)), rng.normal(size=(9, 50))
    coefficients, sse = bounded_lstsq(design, targets, np.zeros(4, dtype=bool))
    expected, squares, *_ = np.linalg.lstsq(design, targets)
    np.testing.assert_allclose(coefficients, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sse, squares, rtol=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_as_good_as_scipy_on_random_problems_with_mixed_bounds(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 6))
    design, target = rng.normal(size=(k + 5, k)), rng.normal(size=k + 5)
    nonnegative = rng.random(k) < 0.6
    coefficients, sse = one(design, target, nonnegative)
    assert (coefficients[nonnegative] >= 0).all()
    assert sse == pytest.approx(scipy_sse(design, target, nonnegative), rel=1e-9)
    assert sse == pytest.approx(np.square(target - design @ coefficients).sum(), rel=1e-9)


def test_as_good_as_nnls_when_all_are_bounded():
    rng = np.random.default_rng(3)
    design, targets = rng.uniform(size=(8, 4)), rng.normal(size=(8, 30))
    coefficients, sse = bounded_lstsq(design, targets, np.ones(4, dtype=bool))
    for j, target in enumerate(targets.T):
        expected, norm = nnls(design, target)
        np.testing.assert_allclose(coefficients[:, j], expected, atol=1e-9)
        assert sse[j] == pytest.approx(norm**2, rel=1e-9)


@settings(max_examples=60)
@given(
    target=arrays(float, 6, elements=st.floats(-100, 100)),
    point=arrays(float, 3, elements=st.floats(0, 50)),
    free=st.floats(-50, 50),
)
def test_no_feasible_point_is_better(target, point, free):
    x = np.array([1.0, 2, 3, 5, 8, 13])
    design = np.stack([np.ones(6), 1 / x, x, x**2], axis=1)
    nonnegative = np.array([True, True, False, True])
    coefficients, sse = one(design, target, nonnegative)
    assert (coefficients[nonnegative] >= 0).all()
    other = np.array([point[0], point[1], free, point[2]])
    assert sse <= np.square(target - design @ other).sum() + 1e-9


X = np.array([4.0, 6, 8, 12, 16, 24, 32])
ONES = np.ones((7, 1))


def pole(target, base=ONES, nonnegative=(True,), *, b_bounded=True, limit=3.0):
    theta, e, sse = pole_lstsq(
        base, X, np.asarray(target)[:, None], np.array(nonnegative),
        pole_nonnegative=b_bounded, pole_max=limit,
    )  # fmt: skip
    return theta[:, 0], e[0], sse[0]


@pytest.mark.parametrize("true_e", [0.0, 0.37, 1.5, 2.999, 3.0])
def test_exact_curves_give_back_the_pole_anywhere_in_its_range(true_e):
    theta, e, sse = pole(2 + 30 / (X - true_e))
    assert e == pytest.approx(true_e, abs=1e-6)
    assert theta == pytest.approx([2, 30], rel=1e-5)
    assert sse == pytest.approx(0, abs=1e-10)


def test_pole_beyond_its_range_stops_at_the_end():
    _, e, sse = pole(2 + 30 / (X - 3.5))
    assert e == 3
    assert sse > 1e-3


def test_pole_with_no_room_is_the_linear_problem():
    target = 5 + 20 / X + np.sin(X)
    theta, e, sse = pole(target, limit=0.0)
    linear, expected = one(np.stack([ONES[:, 0], 1 / X], axis=1), target, BOTH)
    assert e == 0
    assert theta == pytest.approx(linear)
    assert sse == pytest.approx(expected)


def test_rising_times_hold_a_bounded_pole_term_at_zero_and_give_a_free_one_a_negative_sign():
    target = 10 - 8 / (X - 1.0)
    bounded, e, sse = pole(target)
    assert bounded[1] == 0
    assert e == 0
    assert sse == pytest.approx(np.square(target - target.mean()).sum())
    free, e, _ = pole(target, b_bounded=False)
    assert e == pytest.approx(1, abs=1e-5)
    assert free == pytest.approx([10, -8], rel=1e-5)


def test_many_targets_at_once_are_the_same_problems_one_by_one():
    rng = np.random.default_rng(5)
    base = np.stack([np.ones(7), X], axis=1)
    targets = 20 + 100 / (X[:, None] - rng.uniform(0, 3, 25)) + rng.normal(size=(7, 25))
    signs = np.array([True, False])
    theta, e, sse = pole_lstsq(base, X, targets, signs, pole_nonnegative=True, pole_max=3.0)
    for j in range(25):
        alone, e_alone, sse_alone = pole(targets[:, j], base, signs)
        assert sse[j] == pytest.approx(sse_alone, rel=1e-9)
        assert e[j] == pytest.approx(e_alone, abs=1e-5)
        assert theta[:, j] == pytest.approx(alone, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_dense_grid_of_the_pole_with_scipy_finds_nothing_better(seed, bounded):
    rng = np.random.default_rng(seed)
    base = np.stack([np.ones(7), X, X**2], axis=1)
    signs = np.array([bounded, False, bounded])
    target = rng.uniform(5, 60, 7) if seed % 2 else 9 + 90 / (X - 2.2) + rng.normal(size=7)
    theta, e, sse = pole(target, base, signs, b_bounded=bounded)
    all_signs = np.append(signs, bounded)
    assert 0 <= e <= 3
    assert (theta[all_signs] >= 0).all()
    grid = [
        scipy_sse(np.column_stack([base, 1 / (X - g)]), target, all_signs)
        for g in np.linspace(0, 3, 151)
    ]
    assert sse <= min(grid) * (1 + 1e-6)
    assert sse == pytest.approx(min(grid), rel=0.02)


def test_of_two_local_minima_in_the_pole_the_lower_is_found():
    """These times have one minimum at e = 0 and a lower one near 13.4."""
    x = np.array([16.0, 18, 20, 24, 32, 48, 64, 80])
    y = np.round(np.random.default_rng(152).uniform(5, 60, 8), 1)
    base, free = np.stack([np.ones(8), x, x**2], axis=1), np.zeros(4, dtype=bool)
    grid = np.linspace(0, 15, 301)
    errors = [scipy_sse(np.column_stack([base, 1 / (x - e)]), y, free) for e in grid]
    _, e, sse = pole_lstsq(base, x, y[:, None], free[:3], pole_nonnegative=False, pole_max=15.0)
    assert errors[0] < errors[10]
    assert e[0] == pytest.approx(grid[np.argmin(errors)], abs=0.05)
    assert sse[0] <= min(errors) < 0.995 * errors[0]
