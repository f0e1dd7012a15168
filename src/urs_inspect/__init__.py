"""User-centred benchmarks and judges you can check, for inspect-ai.

Importing this package imports no harness; its tasks are loaded when they are first used.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urs_inspect.reports._from_logs import report_crossval
    from urs_inspect.reports.layout._tables import Report
    from urs_inspect.reports.numbers._answers import read_answers
    from urs_inspect.reports.numbers._leaderboard import make_leaderboard
    from urs_inspect.reports.words._leaderboard import report_leaderboard
    from urs_inspect.rubrics import load_rubric
    from urs_inspect.scorers import intent_judge
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

__version__ = version("urs-inspect")
_ELSEWHERE = {
    "read_answers": "urs_inspect.reports.numbers._answers",
    "report_crossval": "urs_inspect.reports._from_logs",
    "make_leaderboard": "urs_inspect.reports.numbers._leaderboard",
    "report_leaderboard": "urs_inspect.reports.words._leaderboard",
    "Report": "urs_inspect.reports.layout._tables",
    "load_rubric": "urs_inspect.rubrics",
    "intent_judge": "urs_inspect.scorers",
}
"""Names that are not of `tasks`, and their modules."""
__all__ = [
    "Report",
    "__version__",
    "intent_judge",
    "judge_pairwise",
    "judge_rating",
    "load_rubric",
    "mad",
    "make_leaderboard",
    "md_eval",
    "read_answers",
    "report_crossval",
    "report_leaderboard",
    "urs",
    "urs_crossval",
    "urs_probe",
    "urs_references",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(_ELSEWHERE.get(name, "urs_inspect.tasks")), name)
    from urs_inspect._satellites import at, satellites

    for satellite in satellites():
        added = {**satellite.tasks, **satellite.names}
        if name in added:
            return at(added[name])
    raise AttributeError(f"module 'urs_inspect' has no attribute '{name}'")
