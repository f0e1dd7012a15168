"""The one door: everything that inspect-ai finds by name."""

# ruff: noqa: F401
from urs_inspect.providers import urs_simulation
from urs_inspect.scorers import (
    evolved,
    human_choice,
    intent_judge,
    judge_outcome,
    pair_choice,
    pair_verdict,
    rating_agreement,
    reward_model,
    samer,
    samer_outcome,
)
from urs_inspect.scorers._annotated_pair import annotated_pair, annotation_report
from urs_inspect.scorers._case_review import case_review, case_review_report
from urs_inspect.scorers._crossval_judge import crossval_cell, crossval_judge, crossval_report
from urs_inspect.scorers._evolved import evolution_report
from urs_inspect.scorers._exact_sum import addition_report, exact_sum
from urs_inspect.scorers._human_rating import human_rating, rated_mean
from urs_inspect.scorers._metrics import group_finals, intent_report, outcome_counts
from urs_inspect.scorers._pair_choice import competition_report, ratings
from urs_inspect.scorers._pair_metrics import judge_report
from urs_inspect.scorers._rating_agreement import rating_report
from urs_inspect.scorers._reference_outcome import reference_outcome, reference_report
from urs_inspect.scorers._samer import samer_report
from urs_inspect.solvers import compare_pair, contest, evolve_instruction, give_rating, null_answer
from urs_inspect.solvers._annotate_pair import annotate_pair, second_answer
from urs_inspect.solvers._answers import recorded_answer
from urs_inspect.solvers._assistants import answer_from_pages, first_page, translation
from urs_inspect.tasks import (
    evolve,
    judge_pairwise,
    judge_rating,
    mad,
    md_eval,
    samer_annotate,
    urs,
    urs_addition,
    urs_assistants,
    urs_case_review,
    urs_crossval,
    urs_probe,
    urs_references,
)
