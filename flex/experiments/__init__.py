"""Every figure, algorithm and theorem of Le and Liu as a data frame.

Each function is pure: it depends on its arguments and the package alone, and returns a tidy
frame. ``scale`` is "paper" (714,030 tasks, 4000 nodes, 24 hours) or "quick" (a hundredth of the
tasks and nodes); random days take seeds.
"""

from flex.experiments.balancing import (
    beyond_the_theorems,
    comparisons,
    order_disagreement,
    ratios,
    step_table,
    worst_cases,
)
from flex.experiments.choices import ablation, own_policies, rule_choices, workload_choices
from flex.experiments.cluster import (
    author_points,
    figure6,
    figure7_cdf,
    figure7_violations,
    figure8,
    figure9,
    figure9_order,
    figure10,
    figure11,
)
from flex.experiments.day import day_load, day_marginals
from flex.experiments.findings import (
    figure_errors,
    headlines,
    overflow_effect,
    recovery,
    request_variation,
    sensitivity,
)
from flex.experiments.real_day import (
    figure1,
    figure2,
    figure3,
    figure4,
    figure5_classes,
    figure5_tasks,
    trace_findings,
)
from flex.experiments.steps import (
    author_match,
    author_node,
    overflow_by_request,
    penalty_paths,
    six_nodes,
)

__all__ = [
    "ablation",
    "author_match",
    "author_node",
    "author_points",
    "beyond_the_theorems",
    "comparisons",
    "day_load",
    "day_marginals",
    "figure1",
    "figure2",
    "figure3",
    "figure4",
    "figure5_classes",
    "figure5_tasks",
    "figure6",
    "figure7_cdf",
    "figure7_violations",
    "figure8",
    "figure9",
    "figure9_order",
    "figure10",
    "figure11",
    "figure_errors",
    "headlines",
    "order_disagreement",
    "overflow_by_request",
    "overflow_effect",
    "own_policies",
    "penalty_paths",
    "ratios",
    "recovery",
    "request_variation",
    "rule_choices",
    "sensitivity",
    "six_nodes",
    "step_table",
    "trace_findings",
    "workload_choices",
    "worst_cases",
]
