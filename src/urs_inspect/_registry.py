"""The one door: everything that inspect-ai finds by name."""

# ruff: noqa: F401
from importlib import import_module

from urs_inspect._satellites import satellites
from urs_inspect.providers import urs_simulation
from urs_inspect.scorers import (
    human_choice,
    intent_judge,
    judge_outcome,
    pair_choice,
    pair_verdict,
    rating_agreement,
)
from urs_inspect.scorers._crossval_judge import crossval_cell, crossval_judge, crossval_report
from urs_inspect.scorers._metrics import group_finals, intent_report, outcome_counts
from urs_inspect.scorers._pair_choice import competition_report, ratings
from urs_inspect.scorers._pair_metrics import judge_report
from urs_inspect.scorers._rating_agreement import rating_report
from urs_inspect.scorers._reference_outcome import reference_outcome, reference_report
from urs_inspect.solvers import compare_pair, contest, give_rating, null_answer
from urs_inspect.solvers._answers import recorded_answer
from urs_inspect.tasks import (
    judge_pairwise,
    judge_rating,
    mad,
    md_eval,
    urs,
    urs_crossval,
    urs_probe,
    urs_references,
)

for _satellite in satellites():
    for _module in _satellite.registers:
        import_module(f"urs_inspect.{_module}")
