"""The style of all figures: one palette with a fixed colour for each method."""

from __future__ import annotations

import matplotlib as mpl
import seaborn as sns

# Colour-blind-safe (seaborn's "colorblind"), and apart in lightness where lines share a panel.
MODEL_COLOURS = {
    "eq2": "#949494",
    "eq3": "#56B4E9",
    "eq4": "#0173B2",
    "eq5": "#DE8F05",
    "ernest": "#CC78BC",
}
MODEL_DASHES = {"eq2": (1, 1), "eq3": (5, 2), "eq4": "", "eq5": (4, 1.5), "ernest": (3, 1, 1, 1)}
SENDER_COLOURS = dict(
    zip((8, 16, 32, 56, 64, 96), sns.color_palette("viridis", 6).as_hex(), strict=True)
)
# The methods of the Flex paper, and the policies beyond it.
METHOD_COLOURS = {
    "FirstFit": "#949494",
    "LeastFit": "#0173B2",
    "Oversub": "#D55E00",
    "FlexF": "#029E73",
    "FlexL": "#CC78BC",
    "BestFit": "#CA9161",
    "Oracle": "#222222",
}
METHOD_DASHES = {
    "FirstFit": (1, 1),
    "LeastFit": (5, 2),
    "Oversub": (4, 1.5, 1, 1.5),
    "FlexF": "",
    "FlexL": (2, 1),
    "BestFit": (3, 1, 1, 1),
    "Oracle": (1, 2),
}
METHOD_MARKERS = {"LeastFit": "s", "Oversub": "X", "FlexF": "o", "FlexL": "D"}
# The techniques of the Spark paper, and the optimum.
TECHNIQUE_COLOURS = {
    "G-local": "#56B4E9",
    "G-ext": "#DE8F05",
    "G-full": "#029E73",
    "ILS": "#CC78BC",
    "optimum": "#222222",
    "initial": "#949494",
}
TECHNIQUE_MARKERS = {
    "G-local": "s",
    "G-ext": "^",
    "G-full": "o",
    "ILS": "D",
    "optimum": "*",
    "initial": "P",
}
INK, QUIET = "#222222", "#949494"


def use() -> None:
    """Set the style for the figures of a notebook: vector images on opaque white."""
    sns.set_theme(context="notebook", style="whitegrid", palette=list(MODEL_COLOURS.values()))
    mpl.rcParams.update(
        {
            "figure.figsize": (7.5, 4.2),
            "figure.facecolor": "white",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 11,
            "axes.labelsize": 11,
            "xtick.labelsize": 10,
            "ytick.labelsize": 10,
            "legend.fontsize": 10,
            "legend.frameon": False,
            "lines.linewidth": 1.8,
            "grid.color": "#E3E3E3",
            "svg.hashsalt": "two-papers",
        }
    )
    _use_svg()


def _use_svg() -> None:
    """Show figures as SVG where a notebook runs."""
    try:
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        return
    set_matplotlib_formats("svg", metadata={"Date": None})  # type: ignore[no-untyped-call]
