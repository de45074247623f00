"""The plot shows every model, the times and one band."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from sparkpart import compare
from sparkpart.plots import profile_plot

FITS = compare([4, 8, 16, 24, 32, 48], [61.0, 35.5, 21.9, 18.1, 16.6, 16.1], ("eq2", "eq3"))


def draw(**options):
    ax = Figure().subplots()
    profile_plot(ax, FITS, **options)
    return ax


def test_a_line_for_each_model_through_its_predictions():
    ax = draw()
    assert [line.get_label() for line in ax.lines] == ["Eq. 1, 2", "Eq. 3"]
    for line, fitted in zip(ax.lines, FITS.values(), strict=True):
        np.testing.assert_allclose(line.get_ydata(), fitted.predict(line.get_xdata()))
    (points,) = ax.collections
    assert points.get_offsets().tolist() == [
        [4, 61], [8, 35.5], [16, 21.9], [24, 18.1], [32, 16.6], [48, 16.1],
    ]  # fmt: skip


def test_band_is_that_of_the_bootstrap_and_named():
    ax = draw(band="eq3", resamples=30, seed=2, level=0.5)
    band, _ = ax.collections
    assert band.get_label() == "50% band, Eq. 3"
    edge = FITS["eq3"].bootstrap(30, seed=2).band([4, 48], 0.5)
    low, high = band.get_datalim(ax.transData).intervaly
    assert high == pytest.approx(edge["high"].iloc[0])
    assert low <= edge["low"].iloc[1]


def test_colours_and_axes():
    ax = draw(colours={"eq2": "#112233", "eq3": "#445566"})
    assert [to_hex(line.get_color()) for line in ax.lines] == ["#112233", "#445566"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("nodes", "running time (s)")
    assert ax.get_ylim()[0] == 0
