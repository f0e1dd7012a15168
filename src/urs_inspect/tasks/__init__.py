"""What can be run; one benchmark a file."""

from urs_inspect.tasks.judge_pairwise import judge_pairwise
from urs_inspect.tasks.judge_rating import judge_rating
from urs_inspect.tasks.mad import mad
from urs_inspect.tasks.md_eval import md_eval
from urs_inspect.tasks.urs import urs
from urs_inspect.tasks.urs_crossval import urs_crossval
from urs_inspect.tasks.urs_probe import urs_probe
from urs_inspect.tasks.urs_references import urs_references

__all__ = [
    "judge_pairwise",
    "judge_rating",
    "mad",
    "md_eval",
    "urs",
    "urs_crossval",
    "urs_probe",
    "urs_references",
]
