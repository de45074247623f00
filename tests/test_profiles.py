"""Models, fits, bootstraps and comparisons: by hand, at limits, by invariants, against others."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import OptimizeWarning, curve_fit, lsq_linear, nnls

from sparkpart import MODELS, FitError, compare, fit, running_time
from sparkpart.leastsquares import bounded_lstsq

NODES = np.array([4.0, 8, 16, 24, 32, 48, 64])
SECONDS = np.array([61.0, 35.5, 21.9, 18.1, 16.6, 16.1, 17.0])
PAIRS = np.array([(s, r) for s in (8.0, 12, 16, 32, 64) for r in (8.0, 32, 64)])
TRUE = {
    "eq2": {"a": 5.0, "b": 200.0, "c": 0.3},
    "eq3": {"a": 5.0, "b": 200.0, "c": -0.1, "d": 0.004},
    "eq4": {"a": 5.0, "b": 200.0, "c": -0.1, "d": 0.004, "e": 1.75},
    "eq5": {"a": 5.0, "b": 200.0, "b2": 90.0, "c": -0.1, "d": 0.004},
    "eq6": {"a": 1.0, "b": 260.0, "cs": 0.01, "cr": -0.01, "d": 0.001, "e": 3.5},
    "ernest": {"t0": 5.0, "t1": 200.0, "t2": 1.5, "t3": 0.1},
}
POLES = ["eq4", "eq6"]
LINEAR = [m for m in MODELS if m not in POLES]
ONE_VARIABLE = [m for m in MODELS if m != "eq6"]
every_model = pytest.mark.parametrize("model", list(MODELS))
either_bounds = pytest.mark.parametrize("bounds", ["stated", "none"])


def inputs(model):
    return PAIRS if model == "eq6" else NODES


def noisy(model, seed=0, size=1.0):
    """Times of a known curve with errors."""
    x = inputs(model)
    exact = running_time(model, x, TRUE[model])
    return x, exact + size * np.random.default_rng(seed).normal(size=len(x))


@st.composite
def runs(draw, least=6):
    """Node counts, all different, and any positive times."""
    nodes = draw(st.lists(st.integers(1, 100), min_size=least, max_size=12, unique=True))
    seconds = [draw(st.integers(1, 1000)) / 4 for _ in nodes]
    return np.array(nodes, dtype=float), np.array(seconds)


def nearly(larger, seconds):
    """The value with the rounding that a sum of squares of these times may carry."""
    return larger + 1e-8 * np.square(seconds).sum()


# Models


def test_hand_computed_times():
    assert running_time("eq2", [2, 4], {"a": 1, "b": 8, "c": 3}).tolist() == [11, 15]
    assert running_time("eq3", [2], {"a": 1, "b": 8, "c": 3, "d": 0.5}).tolist() == [13]
    assert running_time("eq4", [4], {"a": 1, "b": 8, "c": 3, "d": 0.5, "e": 2}).tolist() == [25]
    assert running_time("eq5", [2], {"a": 1, "b": 8, "b2": 4, "c": 3, "d": 0.5}).tolist() == [14]
    eq6 = {"a": 1, "b": 8, "cs": 3, "cr": 5, "d": 0.5, "e": 2}
    assert running_time("eq6", [[4, 10]], eq6).tolist() == [1 + 4 + 12 + 50 + 20]
    ernest = {"t0": 1, "t1": 8, "t2": 2, "t3": 3}
    assert running_time("ernest", [2], ernest) == pytest.approx([11 + 2 * np.log(2)])


def test_equations_nest():
    eq4 = running_time("eq4", NODES, TRUE["eq4"] | {"e": 0})
    eq5 = running_time("eq5", NODES, TRUE["eq5"] | {"b2": 0})
    eq3 = running_time("eq3", NODES, TRUE["eq3"])
    np.testing.assert_allclose(eq4, eq3)
    np.testing.assert_allclose(eq5, eq3)
    eq2 = running_time("eq2", NODES, TRUE["eq2"])
    np.testing.assert_allclose(running_time("eq3", NODES, TRUE["eq2"] | {"d": 0}), eq2)


@every_model
def test_bounds_of_section_2_3_and_names(model):
    spec = MODELS[model]
    signs = {"eq2": "", "eq3": "abd", "eq4": "abd", "eq5": ("a", "b", "b2", "d"), "eq6": "abd",
             "ernest": ("t0", "t1", "t2", "t3")}  # fmt: skip
    assert spec.nonnegative == set(signs[model])
    assert list(spec.coefficients) == list(TRUE[model])
    assert spec.name == model


@pytest.mark.parametrize("nodes", [3.0, 2.0, 0.0])
def test_no_time_at_the_pole_or_below(nodes):
    with pytest.raises(FitError, match=rf"Eq. 4 has no value at {nodes:g} nodes, only above 3"):
        running_time("eq4", [8, nodes], TRUE["eq4"] | {"e": 3.0})


@pytest.mark.parametrize("model", ["eq2", "eq3", "eq5", "ernest"])
@pytest.mark.parametrize("nodes", [0, -4])
def test_no_time_without_nodes(model, nodes):
    with pytest.raises(FitError, match=f"has no value at {nodes} nodes, only above 0"):
        running_time(model, [nodes], TRUE[model])


def test_evaluation_refuses_unknown_models_and_wrong_shapes():
    with pytest.raises(FitError, match="unknown model 'eq7'; the models are eq2, eq3, eq4"):
        running_time("eq7", [8], {})
    with pytest.raises(FitError, match=r"Eq. 6 takes node counts of shape \(k, 2\), not \(7,\)"):
        running_time("eq6", NODES, TRUE["eq6"])
    with pytest.raises(FitError, match=r"Eq. 3 takes node counts of shape \(k,\), not \(15, 2\)"):
        running_time("eq3", PAIRS, TRUE["eq3"])


# Fits: known answers


def test_hand_computed_fit():
    """At n = 1, 2, 4 Eq. 2 has three points for three coefficients."""
    fitted = fit([1, 2, 4], [1 + 8 + 3, 1 + 4 + 6, 1 + 2 + 12], "eq2")
    assert fitted.coefficients == pytest.approx({"a": 1, "b": 8, "c": 3})
    assert fitted.sse == pytest.approx(0, abs=1e-20)
    assert fitted.r2 == pytest.approx(1)
    assert fitted.active == ()


def test_hand_computed_errors_of_constant_predictions():
    """Ernest's terms cannot fall, so times that rise and fall about 3 keep the mean and R^2 0."""
    fitted = fit([1, 2, 4, 8], [2, 4, 4, 2], "ernest", "stated")
    free = fit([1, 2, 4, 8], [2, 4, 4, 2], "ernest", "none")
    assert free.sse == pytest.approx(0, abs=1e-20)
    assert fitted.sse == pytest.approx(np.square(fitted.predict([1, 2, 4, 8]) - [2, 4, 4, 2]).sum())
    assert fitted.r2 == pytest.approx(1 - fitted.sse / 4)
    assert min(fitted.coefficients.values()) >= 0


@every_model
@either_bounds
def test_exact_times_are_recovered_exactly(model, bounds):
    x = inputs(model)
    fitted = fit(x, running_time(model, x, TRUE[model]), model, bounds)
    tolerance = 1e-5 if model in POLES else 1e-8
    assert fitted.coefficients == pytest.approx(TRUE[model], rel=tolerance, abs=tolerance)
    assert fitted.sse == pytest.approx(0, abs=1e-9)
    assert fitted.r2 == pytest.approx(1)
    assert fitted.active == ()


@pytest.mark.parametrize("model", ONE_VARIABLE)
def test_as_many_node_counts_as_coefficients_leave_no_error_without_bounds(model):
    x = NODES[: len(TRUE[model])]
    fitted = fit(x, running_time(model, x, TRUE[model]), model, "none")
    np.testing.assert_allclose(fitted.predict(x), fitted.seconds, rtol=1e-6)


@every_model
@pytest.mark.parametrize("value", [0.1, 7.0, 1 / 3])
def test_constant_times_are_a_constant_with_undefined_r2(model, value):
    x = inputs(model)
    fitted = fit(x, np.full(len(x), value), model)
    np.testing.assert_allclose(fitted.predict(x), value, rtol=1e-9)
    assert np.isnan(fitted.r2)
    assert fitted.coefficients[MODELS[model].linear[0]] == pytest.approx(value)


@pytest.mark.parametrize(("true_e", "end"), [(-1.0, 0), (3.5, 3)])
def test_pole_at_either_end_of_its_range_is_reported_as_active(true_e, end):
    fitted = fit(NODES, running_time("eq4", NODES, TRUE["eq4"] | {"e": true_e}), "eq4")
    assert fitted.coefficients["e"] == end
    assert fitted.active[-1] == "e"
    assert fitted.e_max == 3


@pytest.mark.parametrize("model", POLES)
def test_pole_is_at_most_the_least_node_count_minus_one_or_as_asked(model):
    """Times that fall more steeply than any allowed pole."""
    x = inputs(model)
    least = x.min()
    seconds = running_time(model, x, TRUE[model] | {"e": least - 0.5})
    assert fit(x, seconds, model).coefficients["e"] == least - 1
    assert fit(x, seconds, model, e_max=0.25).coefficients["e"] == 0.25
    inside = fit(x, seconds, model, e_max=least - 0.25)
    assert inside.coefficients["e"] == pytest.approx(least - 0.5, abs=1e-6)


def test_one_node_leaves_no_room_for_the_pole():
    fitted = fit([1, 2, 4, 8, 16, 32], [90, 50, 30, 21, 17, 16], "eq4")
    assert (fitted.e_max, fitted.coefficients["e"]) == (0, 0)
    eq3 = fit([1, 2, 4, 8, 16, 32], [90, 50, 30, 21, 17, 16], "eq3")
    assert fitted.sse == pytest.approx(eq3.sse)


@every_model
def test_errors_are_those_of_the_predictions(model):
    fitted = fit(*noisy(model), model)
    sse = np.square(fitted.seconds - fitted.predict(fitted.nodes)).sum()
    assert fitted.sse == pytest.approx(sse, rel=1e-9)
    total = np.square(fitted.seconds - fitted.seconds.mean()).sum()
    assert fitted.r2 == pytest.approx(1 - sse / total)


def test_coefficients_at_bounds_are_exactly_zero_and_reported():
    """Times that rise throughout: Eq. 3 must give up b."""
    fitted = fit(NODES, 10 + 0.1 * NODES - 8 / NODES, "eq3")
    assert fitted.coefficients["b"] == 0
    assert "b" in fitted.active
    free = fit(NODES, 10 + 0.1 * NODES - 8 / NODES, "eq3", "none")
    assert free.coefficients["b"] == pytest.approx(-8)
    assert free.active == ()


# Fits: invariants


@given(runs(), st.data())
@settings(max_examples=30)
@pytest.mark.parametrize("model", ONE_VARIABLE)
def test_optimum_is_feasible_and_no_feasible_point_is_better(model, data, more):
    x, y = data
    spec = MODELS[model]
    fitted = fit(x, y, model)
    positive, free = st.floats(0, 200), st.floats(-5, 5)
    other = {k: more.draw(positive if k in spec.nonnegative else free) for k in spec.coefficients}
    if spec.pole:
        other["e"] = more.draw(st.floats(0, 1)) * fitted.e_max
        assert 0 <= fitted.coefficients["e"] <= fitted.e_max
    assert all(fitted.coefficients[k] >= 0 for k in spec.nonnegative)
    assert fitted.sse <= nearly(np.square(y - running_time(model, x, other)).sum(), y)


@pytest.mark.parametrize(("small", "large"), [("eq2", "eq3"), ("eq3", "eq4"), ("eq3", "eq5")])
@settings(max_examples=35)
@given(runs())
def test_one_more_coefficient_never_raises_the_error(small, large, data):
    """With the stated bounds this holds from Eq. 3 on, since Eq. 2 itself has none."""
    x, y = data
    assert fit(x, y, large, "none").sse <= nearly(fit(x, y, small, "none").sse, y)
    lesser = fit(x, y, small)
    if min(lesser.coefficients["a"], lesser.coefficients["b"]) >= 0:
        assert fit(x, y, large).sse <= nearly(lesser.sse, y)


@pytest.mark.parametrize("model", [*LINEAR, "eq4"])
@settings(max_examples=30)
@given(runs())
def test_bounds_never_lower_the_error(model, data):
    x, y = data
    assert fit(x, y, model, "none").sse <= nearly(fit(x, y, model, "stated").sse, y)


@every_model
@either_bounds
def test_order_of_the_rows_does_not_matter(model, bounds):
    x, y = noisy(model)
    order = np.random.default_rng(1).permutation(len(y))
    first, second = fit(x, y, model, bounds), fit(x[order], y[order], model, bounds)
    assert second.sse == pytest.approx(first.sse, rel=1e-9)
    np.testing.assert_allclose(second.predict(x), first.predict(x), rtol=1e-6)


@every_model
@either_bounds
def test_every_run_twice_doubles_the_error_and_nothing_else(model, bounds):
    x, y = noisy(model)
    once, twice = fit(x, y, model, bounds), fit(np.concatenate([x, x]), [*y, *y], model, bounds)
    assert twice.sse == pytest.approx(2 * once.sse, rel=1e-9)
    assert twice.r2 == pytest.approx(once.r2)
    np.testing.assert_allclose(twice.predict(x), once.predict(x), rtol=1e-6)


@pytest.mark.parametrize("model", ONE_VARIABLE)
def test_equal_numbers_of_repeats_fit_like_their_means(model):
    """The spread of the repeats adds to the error, wherever they stand in the file."""
    spread = np.random.default_rng(2).normal(size=(3, len(NODES)))
    repeats = SECONDS + spread - spread.mean(axis=0)
    means = fit(NODES, SECONDS, model)
    together = fit(np.tile(NODES, 3), repeats.ravel(), model)
    apart = fit(np.repeat(NODES, 3), repeats.T.ravel(), model)
    for fitted in (together, apart):
        within = np.square(repeats - SECONDS).sum()
        assert fitted.sse == pytest.approx(3 * means.sse + within, rel=1e-9)
        np.testing.assert_allclose(fitted.predict(NODES), means.predict(NODES), rtol=1e-6)


@every_model
@either_bounds
@pytest.mark.parametrize("factor", [1e-3, 7.0, 3600.0])
def test_other_units_scale_the_coefficients_and_the_error(model, bounds, factor):
    x, y = noisy(model)
    first, second = fit(x, y, model, bounds), fit(x, factor * y, model, bounds)
    assert second.sse == pytest.approx(factor**2 * first.sse, rel=1e-8)
    assert second.r2 == pytest.approx(first.r2)
    for name, value in first.coefficients.items():
        expected = value if name == "e" else factor * value
        assert second.coefficients[name] == pytest.approx(expected, rel=1e-4, abs=1e-7 * factor)


@every_model
def test_same_data_same_bits(model):
    x, y = noisy(model)
    assert fit(x, y, model).coefficients == fit(x.tolist(), y.tolist(), model).coefficients


# Fits: independent implementations


@pytest.mark.parametrize("model", LINEAR)
@either_bounds
def test_linear_models_are_as_good_as_scipys_bounded_least_squares(model, bounds):
    rng = np.random.default_rng(4)
    spec = MODELS[model]
    for _ in range(40):
        x = np.sort(rng.choice(np.arange(1, 97), 8, replace=False)).astype(float)
        y = rng.uniform(1, 100, 8)
        bounded = [bounds == "stated" and k in spec.nonnegative for k in spec.linear]
        design = spec.design(x[:, None])
        scale = np.linalg.norm(design, axis=0)
        lower = np.where(bounded, 0.0, -np.inf)
        other = lsq_linear(
            design / scale, y, (lower, np.inf), method="bvls", tol=1e-14, max_iter=500
        )
        assert fit(x, y, model, bounds).sse == pytest.approx(2 * other.cost, rel=1e-7)


def test_ernest_is_nonnegative_least_squares():
    x, y = noisy("ernest", size=8)
    coefficients, norm = nnls(MODELS["ernest"].design(x[:, None]), y)
    fitted = fit(x, y, "ernest")
    assert list(fitted.coefficients.values()) == pytest.approx(coefficients.tolist(), abs=1e-9)
    assert fitted.sse == pytest.approx(norm**2)


@pytest.mark.parametrize("model", POLES)
@either_bounds
@pytest.mark.parametrize("seed", range(3))
def test_multistart_of_curve_fit_never_finds_less_error(model, bounds, seed):
    spec, rng = MODELS[model], np.random.default_rng(seed)
    x, y = noisy(model, seed, size=4)
    y = np.maximum(y, 1)
    fitted = fit(x, y, model, bounds)
    signed = spec.nonnegative if bounds == "stated" else ()
    low = [0.0 if k in signed or k == "e" else -np.inf for k in spec.coefficients]
    high = [fitted.e_max if k == "e" else np.inf for k in spec.coefficients]

    def curve(nodes, *values):
        return running_time(model, nodes, dict(zip(spec.coefficients, values, strict=True)))

    sse = []
    for _ in range(8):
        near = [TRUE[model][k] * rng.uniform(0.2, 3) for k in spec.coefficients]
        start = np.clip(near, low, high)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OptimizeWarning)
            found, _ = curve_fit(curve, x, y, start, bounds=(low, high), max_nfev=3000)
        sse.append(np.square(y - curve(x, *found)).sum())
    assert fitted.sse <= min(sse) * (1 + 1e-6)


# Leave-one-out and bootstrap


@every_model
@either_bounds
def test_leave_one_out_is_a_plain_loop_of_fits(model, bounds):
    """Repeats of a node count are left out together."""
    x, y = noisy(model)
    x, y = np.concatenate([x, x[2:4]]), np.append(y, y[2:4] + 1)
    fitted = fit(x, y, model, bounds)
    predicted = []
    for point in x:
        rest = (x != point) if x.ndim == 1 else (x != point).any(axis=1)
        other = fit(x[rest], y[rest], model, bounds, e_max=fitted.e_max)
        predicted.append(other.predict([point])[0])
    table = fitted.leave_one_out
    np.testing.assert_allclose(table["predicted"], predicted, rtol=1e-6)
    np.testing.assert_array_equal(table["seconds"], y)
    expected = np.sqrt(np.mean(np.square(np.array(predicted) - y)))
    assert fitted.loo_rmse == pytest.approx(expected, rel=1e-6)
    names = ["nodes", "receivers"][: 1 if x.ndim == 1 else 2]
    np.testing.assert_array_equal(table[names].to_numpy().squeeze(), x)


def test_leave_one_out_is_undefined_when_the_rest_does_not_determine_the_model():
    fitted = fit([4, 8, 16, 16], [9, 6, 5, 5.5], "eq2")
    assert fitted.leave_one_out["predicted"].isna().all()
    assert np.isnan(fitted.loo_rmse)


def test_range_of_the_pole_stays_when_the_least_node_count_is_left_out():
    """Times that want e = 3.5: without 4 nodes, the rest would allow it, but the fit does not."""
    fitted = fit(NODES, running_time("eq4", NODES, TRUE["eq4"] | {"e": 3.5}), "eq4")
    held = fit(NODES[1:], fitted.seconds[1:], "eq4", e_max=3)
    assert held.coefficients["e"] == 3
    assert fit(NODES[1:], fitted.seconds[1:], "eq4").coefficients["e"] == pytest.approx(3.5)
    assert fitted.leave_one_out["predicted"][0] == pytest.approx(held.predict([4])[0])


def test_exact_times_are_predicted_exactly_when_left_out():
    fitted = fit(NODES, running_time("eq3", NODES, TRUE["eq3"]), "eq3")
    assert fitted.loo_rmse == pytest.approx(0, abs=1e-9)


@every_model
def test_bootstrap_is_a_plain_loop_of_fits(model):
    x, y = noisy(model, size=0.5)
    fitted = fit(x, y, model)
    k, p = len(y), len(fitted.coefficients)
    residuals = y - fitted.predict(x)
    residuals = (residuals - residuals.mean()) * np.sqrt(k / (k - p))
    draws = np.random.default_rng(11).choice(residuals, size=(k, 20))
    resampled = fitted.bootstrap(20, seed=11).coefficients
    assert list(resampled) == list(fitted.coefficients)
    for j in range(20):
        again = fit(x, fitted.predict(x) + draws[:, j], model, e_max=fitted.e_max)
        curve = running_time(model, x, resampled.iloc[j])
        np.testing.assert_allclose(curve, again.predict(x), rtol=1e-6)
        assert resampled.iloc[j].to_dict() == pytest.approx(again.coefficients, rel=1e-3, abs=1e-4)


def test_bootstrap_centres_the_residuals_of_a_fit_without_its_constant():
    """The times want a < 0; with a = 0 the residuals do not add up to zero."""
    x = np.array([2.0, 4, 8, 16, 32])
    fitted = fit(x, [20, 7.5, 1.5, 0.4, 2.5], "eq3")
    residuals = fitted.seconds - fitted.predict(x)
    assert fitted.coefficients["a"] == 0
    assert abs(residuals.mean()) > 0.1
    rng = np.random.default_rng(0)
    draws = rng.choice((residuals - residuals.mean()) * np.sqrt(5), size=(5, 30))
    expected, _ = bounded_lstsq(
        MODELS["eq3"].design(x[:, None]), fitted.predict(x)[:, None] + draws,
        np.array([True, True, False, True]),
    )  # fmt: skip
    resampled = fitted.bootstrap(30, seed=0).coefficients
    np.testing.assert_allclose(resampled, expected.T, rtol=1e-9, atol=1e-12)


@every_model
def test_bootstrap_with_the_same_seed_has_the_same_bits(model):
    fitted = fit(*noisy(model), model)
    first, second = (fitted.bootstrap(50, seed=3).coefficients for _ in range(2))
    assert first.equals(second)
    assert not first.equals(fitted.bootstrap(50, seed=4).coefficients)


def test_bootstrap_of_as_many_points_as_coefficients_does_not_spread():
    fitted = fit([1, 2, 4], [12, 11, 15], "eq2")
    assert fitted.bootstrap(9, seed=0).coefficients.std().max() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_and_bands_are_percentiles_over_the_resamples(level):
    resampled = fit(NODES, SECONDS, "eq4").bootstrap(40, seed=5)
    tails = [(1 - level) / 2, (1 + level) / 2]
    expected = np.quantile(resampled.coefficients["b"], tails)
    assert resampled.interval(level).loc["b"].tolist() == pytest.approx(expected.tolist())
    curves = [running_time("eq4", [10, 60], c) for _, c in resampled.coefficients.iterrows()]
    band = resampled.band([10, 60], level)
    np.testing.assert_allclose(band[["low", "high"]].T, np.quantile(curves, tails, axis=0))
    assert band["nodes"].tolist() == [10, 60]


def test_band_of_equation_6_names_senders_and_receivers():
    band = fit(*noisy("eq6"), "eq6").bootstrap(5, seed=0).band([[8, 16], [64, 8]])
    assert list(band) == ["nodes", "receivers", "low", "high"]
    assert band[["nodes", "receivers"]].to_numpy().tolist() == [[8, 16], [64, 8]]
    assert (band["low"] <= band["high"]).all()


@pytest.mark.parametrize("resamples", [0, -1])
@pytest.mark.parametrize("model", ["eq3", "eq4"])
def test_bootstrap_without_resamples_is_refused(model, resamples):
    with pytest.raises(FitError, match=f"resamples is {resamples}; at least 1 is needed"):
        fit(NODES, SECONDS, model).bootstrap(resamples, seed=0)


# Comparison of models


def test_comparison_puts_the_least_error_at_left_out_counts_first():
    fits = compare(NODES, SECONDS)
    errors = [fitted.loo_rmse for fitted in fits.values()]
    assert errors == sorted(errors)
    assert set(fits) == set(ONE_VARIABLE)
    assert fits["eq3"].coefficients == fit(NODES, SECONDS, "eq3").coefficients


def test_comparison_finds_the_model_that_made_the_times():
    fits = compare(NODES, running_time("eq5", NODES, TRUE["eq5"]), bounds="none")
    assert next(iter(fits)) == "eq5"


def test_comparison_leaves_out_what_the_data_do_not_determine_and_puts_the_untested_last():
    fits = compare(NODES[:4], SECONDS[:4], ("eq5", "eq3", "eq2"))
    assert list(fits) == ["eq2", "eq3"]
    assert np.isnan(fits["eq3"].loo_rmse)


@pytest.mark.parametrize("nodes", [[8, 8, 8], []])
def test_comparison_without_any_model_that_fits_says_why(nodes):
    with pytest.raises(FitError, match=r"Eq. 1, 2 has 3 coefficients; \d distinct node counts"):
        compare(nodes, [3.0] * len(nodes))


# Errors


BAD = [0, -3, np.nan, np.inf, -np.inf, 1e300, 1e-300]


@every_model
@pytest.mark.parametrize("value", BAD)
def test_bad_time_is_refused_with_its_row_and_value(model, value):
    x, y = noisy(model)
    y[2] = value
    with pytest.raises(FitError, match=r"running time at row 2 is .*; it must be > 0") as error:
        fit(x, y, model)
    assert str(np.float64(value)) in str(error.value)


@every_model
@pytest.mark.parametrize("value", BAD)
def test_bad_node_count_is_refused_with_its_row_and_value(model, value):
    x, y = noisy(model)
    x = x.copy()
    x[3] = value
    with pytest.raises(FitError, match=r"node count at row 3 is .*; it must be > 0") as error:
        fit(x, y, model)
    assert str(np.float64(value)) in str(error.value)


@pytest.mark.parametrize("value", BAD)
def test_comparison_refuses_bad_node_counts_and_times(value):
    for name, data in (("node count", (NODES.copy(), SECONDS)),
                       ("running time", (NODES, SECONDS.copy()))):  # fmt: skip
        data[0 if name == "node count" else 1][1] = value
        with pytest.raises(FitError, match=f"{name} at row 1"):
            compare(*data)


@every_model
def test_too_few_distinct_node_counts_are_refused_even_with_repeats(model):
    x, y = noisy(model)
    few = len(TRUE[model]) - 1
    repeated, times = np.concatenate([x[:few]] * 4), np.tile(y[:few], 4)
    with pytest.raises(FitError, match=f"{few} distinct node counts do not determine them"):
        fit(repeated, times, model)


def test_equation_6_with_one_number_of_senders_is_refused():
    x = [(8, r) for r in range(8, 80, 8)]
    with pytest.raises(FitError, match="9 distinct node counts do not determine them"):
        fit(x, np.arange(1, 10), "eq6")


@pytest.mark.parametrize("model", [*LINEAR, "eq4"])
def test_wrong_shapes_are_refused(model):
    with pytest.raises(FitError, match=r"7 node counts but running times of shape \(6,\)"):
        fit(NODES, SECONDS[:6], model)
    with pytest.raises(FitError, match=r"of shape \(k,\), not \(7, 2\)"):
        fit(np.stack([NODES, NODES], axis=1), SECONDS, model)
    with pytest.raises(FitError, match=r"of shape \(k,\), not \(\)"):
        fit(8, 3.0, model)


def test_equation_6_needs_pairs():
    for wrong in (NODES, np.ones((4, 3)), np.ones((2, 2, 2))):
        with pytest.raises(FitError, match=r"Eq. 6 takes node counts of shape \(k, 2\)"):
            fit(wrong, np.ones(len(wrong)), "eq6")


@pytest.mark.parametrize("e_max", [-0.1, 4, 4.5, np.nan, np.inf])
def test_range_of_the_pole_must_stay_below_the_least_node_count(e_max):
    with pytest.raises(FitError, match=rf"e_max is {e_max:g}; it must lie in \[0, 4\)"):
        fit(NODES, SECONDS, "eq4", e_max=e_max)


def test_unknown_model_is_refused_with_the_known_ones():
    for call in (fit, lambda x, y, m: compare(x, y, (m,))):
        with pytest.raises(
            FitError, match=f"unknown model 'eq9'; the models are {', '.join(MODELS)}"
        ):
            call(NODES, SECONDS, "eq9")


def test_unknown_bounds_are_refused_with_the_known_ones():
    for call in (
        lambda b: fit(NODES, SECONDS, "eq3", b),
        lambda b: compare(NODES, SECONDS, bounds=b),
    ):
        with pytest.raises(FitError, match="bounds are 'stated' or 'none', not 'tight'"):
            call("tight")


COUNTS, TIMES = [4, 8, 16, 24, 32, 48], [61.0, 35.5, 21.9, 18.1, 16.6, 16.1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fit(COUNTS, TIMES, "eq3").predict([8, np.nan]), "node count at row 1 is nan"),
        (lambda: running_time("eq2", [8], {"a": 1, "b": 1}), "Eq. 1, 2 needs coefficient 'c'"),
        (lambda: fit(["a"] * 6, TIMES, "eq3"), "node counts must be numbers"),
        (lambda: fit(COUNTS, ["1"] * 6, "eq3"), "running times must be numbers"),
        (lambda: compare(["a"] * 6, TIMES), "node counts must be numbers"),
        (lambda: compare(COUNTS, TIMES, ()), "no model is given"),
        (lambda: fit(COUNTS, TIMES, "eq3").bootstrap(5, seed=-1), "seed is -1"),
        (lambda: fit(COUNTS, TIMES, "eq3").bootstrap(5, seed=0).interval(1.5), "level is 1.5"),
        (lambda: fit(COUNTS, TIMES, "eq3").bootstrap(5, seed=0).band([8], 0), "level is 0"),
    ],
)
def test_wrong_arguments_are_refused_with_the_reason(call, message):
    with pytest.raises(FitError) as error:
        call()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_receivers_must_be_positive():
    eq6 = {"a": 0, "b": 1, "cs": 0, "cr": 1, "d": 0, "e": 0}
    with pytest.raises(FitError, match="receiver count at row 0 is -5"):
        running_time("eq6", [[8, -5]], eq6)


def test_changing_the_data_after_a_fit_does_not_change_the_fit():
    nodes, seconds = np.array(COUNTS, dtype=float), np.array(TIMES)
    fitted = fit(nodes, seconds, "eq3")
    nodes[:], seconds[:] = 1, 1
    assert fitted.seconds.tolist() == TIMES
    assert fitted.nodes[:, 0].tolist() == COUNTS
