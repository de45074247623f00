"""Every figure and table of Sections 2 and 5 of Gounaris et al. (TPDS 2017) as a data frame.

Each function is pure: it depends on its arguments and the package alone, and returns a tidy
frame. Times are in seconds. Random searches take a seed.
"""

from sparkpart.experiments.figures import (
    equation6_levels,
    figure1,
    figure2,
    figure3,
    figure4,
    figure13,
    figure13_deviations,
    observations,
    setting_checks,
)
from sparkpart.experiments.real import real_runs, real_runs_curves, real_runs_gains
from sparkpart.experiments.tables import (
    attainable_times,
    bounds_kept,
    cell_scan,
    doubtful_cells,
    equation3_signs,
    free_signs,
    model_gains,
    node_grids,
    r2_gaps,
    reconstructed_times,
    table1,
    table2,
    usl_coefficients,
)

__all__ = [
    "attainable_times",
    "bounds_kept",
    "cell_scan",
    "doubtful_cells",
    "equation3_signs",
    "equation6_levels",
    "figure1",
    "figure2",
    "figure3",
    "figure4",
    "figure13",
    "figure13_deviations",
    "free_signs",
    "model_gains",
    "node_grids",
    "observations",
    "r2_gaps",
    "real_runs",
    "real_runs_curves",
    "real_runs_gains",
    "reconstructed_times",
    "setting_checks",
    "table1",
    "table2",
    "usl_coefficients",
]
