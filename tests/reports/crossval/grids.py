"""Grids made by hand."""

from collections import Counter
from collections.abc import Mapping, Sequence

from urs_inspect.reports.crossval.reading import CellScores, GridTable
from urs_inspect.reports.crossval.report import Conditions
from urs_inspect.reports.intent.scores import Resampling

BOOTSTRAP = Resampling(500, 0.95, 0)


def conditions(**changed) -> Conditions:
    given = {
        "dataset": "sample",
        "dataset_sha256": "d" * 64,
        "cases": 4,
        "cases_sha256": "c" * 64,
        "folds": 2,
        "rubric": "urs 1",
        "rubric_sha256": "r" * 64,
        "prompts_sha256": "p" * 64,
        "reference_score": 8.0,
        "task_version": "1",
    }
    return Conditions(**{**given, **changed})


def grid_table(
    finals: Mapping[tuple[str, str, str], Sequence[float | None]], *, log: str = "one.eval", folds: int = 2, **changed
) -> GridTable:
    """A grid of cells, each with one final score a case; None for a judgement that failed."""
    cells = {}
    for key, given in finals.items():
        cell = CellScores(log)
        for place, final in enumerate(given):
            cell.finals[f"c{place}"] = [] if final is None else [float(final)]
            cell.outcomes["judged" if final is not None else "unscored_call_failed"] += 1
        cells[key] = cell
    cases = max(len(given) for given in finals.values())
    evaluators, sources, models = (list(dict.fromkeys(key[place] for key in finals)) for place in range(3))
    return GridTable(
        conditions=conditions(cases=cases, folds=folds, **changed),
        sources={name: f"references by {name}" for name in sources},
        models={name: f"answers by {name}" for name in models},
        evaluators=evaluators,
        folds={f"c{place}": place % folds + 1 for place in range(cases)},
        cells=cells,
        copies={},
    )


def counts(table: GridTable) -> Counter[str]:
    return sum((cell.outcomes for cell in table.cells.values()), Counter())
