"""The synthetic day: exact counts, repeatable bits, and marginals near those of the trace."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flex.data.derive import derive
from flex.experiments.day import SCALES, day_load, day_marginals, variation_statistics
from flex.synthetic import TASKS, Day, Variation, day_jobs, synthesize
from flex.synthetic_demand import in_bytes, in_mcpu, table
from flex.workload import CPU_CAPACITY, MEMORY_CAPACITY

ARRAYS = (
    "arrival", "job", "cpu_request", "memory_request", "series", "offset", "sample_end",
    "cpu_demand", "memory_demand",
)  # fmt: skip
CALM = Variation((0, 0, 0), (0, 0, 0), 1, (1, 0, 0), 0.5, 0.5)


@pytest.fixture(scope="module")
def full():
    return synthesize()


@pytest.fixture(scope="module")
def quick():
    return synthesize(7_140)


@pytest.fixture(scope="module")
def marginals():
    return day_marginals("paper").set_index(["statistic", "group"])


def test_full_day_has_the_tasks_of_the_paper_and_few_samples(full):
    assert len(full) == TASKS == 714_030
    assert full.offset[-1] < 5_000_000
    assert (full.arrival == 600).sum() >= 132_982


def test_same_seed_gives_the_same_bits_and_another_seed_others(quick):
    again, other = synthesize(7_140), synthesize(7_140, seed=1)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(quick, name), getattr(again, name))
    assert not np.array_equal(quick.arrival, other.arrival)
    assert quick.cpu_demand[:100].tolist() != other.cpu_demand[:100].tolist()


def test_jobs_of_the_day_are_those_of_the_workload(quick):
    jobs = day_jobs(7_140)
    np.testing.assert_array_equal(np.bincount(quick.job), jobs["tasks"])
    np.testing.assert_array_equal(jobs["arrival"].to_numpy()[quick.job], quick.arrival)
    cpu = in_mcpu(jobs["cpu"].to_numpy())[quick.job]
    np.testing.assert_array_equal(cpu, quick.cpu_request)
    assert (jobs.loc[jobs["running"], "arrival"] == 600).all()
    assert set(jobs["tier"]) == {"free", "batch", "production"}


def test_requests_are_on_the_grid_of_the_trace(quick):
    for resource, convert in (("cpu", in_mcpu), ("memory", in_bytes)):
        tables = [table(name)[resource].to_numpy() for name in ("running_jobs", "new_jobs")]
        real = convert(np.concatenate(tables))
        assert np.isin(getattr(quick, f"{resource}_request"), real).all()


def test_conversion_is_the_authors():
    """A request of 1/16 machine, and one whose product is no whole number."""
    assert in_mcpu(np.array([0.0625, 0.006248])).tolist() == [4000, 399]
    assert in_bytes(np.array([0.0159, 1.0])).tolist() == [2084 * 2**20, MEMORY_CAPACITY]


def test_tasks_of_a_job_share_at_most_twelve_series(quick):
    pairs = np.unique(np.stack([quick.job, quick.series]), axis=1)
    expected = np.minimum(np.bincount(quick.job), 12)
    np.testing.assert_array_equal(np.bincount(pairs[0]), expected)


def test_without_variation_demand_is_constant_and_equal_within_a_job():
    day = Day(cpu=CALM, memory=CALM, within_cpu=0, within_memory=0, shared=3)
    workload = synthesize(300, seed=3, day=day)
    for job in np.unique(workload.job):
        rows = np.unique(workload.series[workload.job == job])
        samples = [
            workload.memory_demand[workload.offset[r] : workload.offset[r + 1]] for r in rows
        ]
        assert np.ptp(np.concatenate(samples)) == 0


def test_task_shares_of_a_miniature_are_those_of_the_full_day():
    """A hundredth of the tasks of every large job, and the requests of the whole."""
    jobs, few = day_jobs(), day_jobs(7_140)
    assert few["tasks"].max() == pytest.approx(jobs["tasks"].max() / 100, abs=1)
    for frame_column in ("cpu", "memory"):
        mean = np.average(jobs[frame_column], weights=jobs["tasks"])
        assert np.average(few[frame_column], weights=few["tasks"]) == pytest.approx(mean, rel=0.03)


@given(
    n_tasks=st.integers(1, 400),
    hours=st.floats(0.5, 24),
    seed=st.integers(0, 2**32),
    shared=st.integers(1, 20),
)
def test_invariants(n_tasks, hours, seed, shared):
    workload = synthesize(n_tasks, hours, seed, day=Day(shared=shared))
    end = int(hours * 3600)
    assert len(workload) == n_tasks
    assert (np.diff(workload.arrival) >= 0).all()
    assert workload.arrival.min() >= 600
    assert (workload.arrival % 60 == 0).all()
    assert (workload.arrival + workload.duration <= end).all()
    assert (workload.duration >= 1).all()
    assert workload.cpu_demand.max() <= CPU_CAPACITY
    assert workload.memory_demand.max() <= MEMORY_CAPACITY
    assert (workload.memory_demand % 2**20 == 0).all()
    assert (np.diff(workload.sample_end, prepend=0) <= 300).all()
    assert np.isin(np.arange(len(workload.offset) - 1), workload.series).all()
    workload.require_fits()


@pytest.mark.parametrize("n_tasks", [0, -1, 2.5, math.nan, math.inf])
def test_number_of_tasks_must_be_whole_and_positive(n_tasks):
    with pytest.raises(ValueError, match=f"n_tasks must be a whole number .* got {n_tasks}"):
        synthesize(n_tasks)


@pytest.mark.parametrize("hours", [0.4, 25, math.nan])
def test_hours_must_lie_in_the_day(hours):
    with pytest.raises(ValueError, match=f"hours must be from 0.5 to 24; got {hours}"):
        synthesize(10, hours)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"turnover": 1.5}, "turnover must be from 0 to 1; got 1.5"),
        ({"burst": 0.5}, "burst must be from 1 to 1e.06; got 0.5"),
        ({"shared": 0}, "shared must be a whole number from 1 to 1000000; got 0"),
        ({"shared": 2.5}, "shared must be a whole number from 1 to 1000000; got 2.5"),
        ({"burst": "3"}, "burst must be from 1 to 1e.06; got '3'"),
        ({"cpu": 0.5}, "cpu must be a Variation; got 0.5"),
        ({"ratio_cv": math.nan}, "ratio_cv must be from 1e-06 to 1e.06; got nan"),
    ],
)
def test_parameters_out_of_range_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Day(**change)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", None])
def test_seed_must_be_a_whole_number(seed):
    with pytest.raises(ValueError, match=f"seed must be a whole number .* got {seed!r}"):
        synthesize(10, seed=seed)


def test_day_must_be_one():
    with pytest.raises(ValueError, match="day must be a Day; got 3"):
        synthesize(10, day=3)


def test_variation_out_of_range_is_refused():
    with pytest.raises(ValueError, match="spread must be three numbers; got 1"):
        dataclasses.replace(CALM, spread=1)
    with pytest.raises(ValueError, match=r"shares must add up to 1; got \(1, 1, 0\)"):
        dataclasses.replace(CALM, shares=(1, 1, 0))
    with pytest.raises(ValueError, match="median must be from 0 to 10; got -1"):
        dataclasses.replace(CALM, median=(0, -1, 0))
    with pytest.raises(ValueError, match="slow must be from 0 to 1; got 2"):
        dataclasses.replace(CALM, slow=2)


def test_running_population_is_the_real_one_at_full_scale(marginals):
    """All of it is drawn, so every marginal of jobs and requests is met."""
    rows = marginals[[group.startswith("running") for _, group in marginals.index]]
    rows = rows[~rows.index.isin([("alive after 83 min", t) for _, t in rows.index])]
    assert len(rows) == 16
    np.testing.assert_allclose(rows["mean"], rows["real"], rtol=0.01)


@pytest.mark.parametrize(
    ("statistic", "rel"),
    [
        # Totals are scaled to these; integers and the capacity of a node cost little.
        ("cpu usage/request", 0.02),
        ("memory usage/request", 0.02),
        # Drawn, then mixed with large jobs, whose tasks last longer: class 0 is off by half.
        ("duration of jobs, 50% quantile", 0.5),
        ("duration of tasks, 50% quantile", 0.1),
        ("alive after 83 min", 0.03),
        ("jobs an hour, mean", 0.01),
        ("dispersion of jobs a minute", 0.25),
        ("log correlation of requests", 0.2),
        ("autocorrelation, 5 min", 0.1),
        ("correlation of changes within jobs", 0.2),
        ("std/mean over time, 50% quantile", 0.3),
    ],
)
def test_marginals_are_near_the_real_ones(marginals, statistic, rel):
    rows = marginals.loc[statistic]
    rows = rows[~rows.index.str.contains("free and batch (?:cpu|memory)|machine")]
    assert len(rows)
    np.testing.assert_allclose(rows["mean"], rows["real"], rtol=rel)


def test_marginals_have_a_role_and_a_source_and_nothing_is_missing(marginals):
    assert set(marginals["role"]) == {"input", "fitted", "check"}
    assert marginals.notna().all(axis=None)
    assert (marginals["low"] <= marginals["high"]).all()


def test_machines_vary_over_time_like_real_ones(marginals):
    """The free choice for free and batch tasks rests on this comparison."""
    row = marginals.loc[("root mean square over time/mean", "machine cpu")]
    assert row["low"] * 0.8 < row["real"] < row["high"] * 1.25


@pytest.mark.parametrize("scale", SCALES)
def test_offered_load_follows_the_real_cell_through_the_day(scale):
    """Requests stay level within 15 % of the real hours and usage within 5 % of the real day."""
    load = day_load(scale, seeds=(0, 1))
    assert len(load) == 2 * 24 * 4
    assert load["ratio"].between(0.75, 1.35).all()
    requests = load[load["quantity"].str.endswith("request")]
    assert requests["ratio"].between(0.85, 1.1).all()
    means = load.groupby(["seed", "quantity"])[["synthetic", "real"]].mean()
    np.testing.assert_allclose(means["synthetic"], means["real"], rtol=0.07)


def test_cell_uses_less_than_it_requests_in_every_hour():
    load = day_load("quick", seeds=(0,)).pivot_table("synthetic", "hour", "quantity")
    for resource in ("cpu", "memory"):
        assert (load[f"{resource}_usage"] < load[f"{resource}_request"]).all()


def test_tables_are_those_of_the_raw_samples(samples):
    facts = samples.parent / "facts" / "google2011"
    if not facts.is_dir():
        pytest.skip(f"{facts} is absent")
    for name, derived in derive(samples / "google2011", facts).items():
        pd.testing.assert_frame_equal(
            derived.reset_index(drop=True), table(name), check_dtype=False, obj=name
        )


def test_unknown_scale_is_refused():
    with pytest.raises(ValueError, match="scale must be one of paper, quick; got 'large'"):
        day_load("large")


def test_variation_of_hand_made_usage():
    """Two jobs: three tasks that move together, and three alternating out of step."""
    wave = 2 + np.sin(np.arange(120) / 10)
    usage = np.stack([wave, 2 * wave, 3 * wave])
    found = variation_statistics(usage, np.zeros(3, int), "x")
    assert found["correlation within jobs", "x"] == pytest.approx(1)
    assert found["correlation of changes within jobs", "x"] == pytest.approx(1)
    expected = wave.std() / wave.mean()
    assert found["std/mean over time, 50% quantile", "x"] == pytest.approx(expected)
    assert found["autocorrelation, 5 min", "x"] > 0.98
