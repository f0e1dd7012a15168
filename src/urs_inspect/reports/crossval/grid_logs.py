"""Logs of cross-validations -> grids of judgements."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log_sample_summaries

from urs_inspect.reports.crossval.report import Conditions
from urs_inspect.reports.intent.judged_log import version_number
from urs_inspect.reports.log_files import read_log
from urs_inspect.reports.responses import ANSWERS_ONLY
from urs_inspect.reports.results import value_of
from urs_inspect.rubrics import FINAL
from urs_inspect.scorers.crossval_judge import COPY
from urs_inspect.solvers.recorded_answer import ANSWER

TASK = "urs_inspect/urs_crossval"
ERROR, MISSING = "error", "missing"
"""Outcomes: the sample failed before it was judged; no log has the judgement."""

CellKey = tuple[str, str, str]
"""Evaluator, source of the reference, tested model."""

_JUDGE = re.compile(r"crossval_judge(-?\d+)?")


@dataclass
class CellScores:
    """Judgements of one cell.

    Attributes:
        log: Name of the log.
        finals: Case -> its final scores, one an epoch, without those that failed.
        outcomes: How the judging ended, with counts.
    """

    log: str
    finals: dict[str, list[float]] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)


@dataclass
class GridTable:
    """Judgements of one or several logs that can be read together.

    Attributes:
        conditions: What the logs have in common.
        sources: Source of references -> hash of the references of the cases.
        models: Tested model -> hash of its answers to the cases.
        evaluators: The evaluators.
        folds: Case -> its fold, from 1.
        cells: The cells.
        copies: Model -> cases where its answer is word for word its reference.
        apart_because: Why it does not stand with the first grid.
        notes: What was replaced, a sentence each.
    """

    conditions: Conditions
    sources: dict[str, str]
    models: dict[str, str]
    evaluators: list[str]
    folds: dict[str, int]
    cells: dict[CellKey, CellScores]
    copies: dict[str, frozenset[str]]
    apart_because: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


def read_grid(log: EvalLog) -> GridTable:
    """Read the judgements of one log.

    Args:
        log: Header of a finished log of `urs_crossval`. If it was judged several times, the last judgement counts.

    Returns:
        Its grid.
    """
    facts, name = log.eval.metadata or {}, PurePosixPath(log.location).name
    evaluators, sources, models = list(facts["evaluators"]), dict(facts["sources"]), dict(facts["models"])
    cells = {(e, s, m): CellScores(name) for e in evaluators for s in sources for m in models}
    folds: dict[str, int] = {}
    copied: dict[str, set[str]] = {}
    for sample in read_eval_log_sample_summaries(log.location):
        about = sample.metadata or {}
        case = str(about["case"])
        folds[case] = int(about["fold"])
        if about.get(COPY):
            copied.setdefault(str(about["model"]), set()).add(case)
        cell = cells[str(about["evaluator"]), str(about["source"]), str(about["model"])]
        outcome, final = _judged(sample)
        cell.outcomes[outcome] += 1
        given = cell.finals.setdefault(case, [])
        if not math.isnan(final):
            given.append(final)
    return GridTable(
        conditions=_conditions(log),
        sources=sources,
        models=models,
        evaluators=evaluators,
        folds=folds,
        cells=cells,
        copies={model: frozenset(found) for model, found in (copied or _unmarked_copies(log)).items()},
    )


def _unmarked_copies(log: EvalLog) -> dict[str, set[str]]:
    """Copies in a log of a version that counted them but did not mark their samples."""
    copied: dict[str, set[str]] = {}
    if not (log.eval.metadata or {}).get("copies"):
        return copied
    for sample in read_log(log.location, without=ANSWERS_ONLY).samples or []:
        about = sample.metadata
        same = str(about.get(ANSWER, "")).strip() == str(sample.target)
        if about["source"] == about["model"] and ANSWER in about and same:
            copied.setdefault(str(about["model"]), set()).add(str(about["case"]))
    return copied


def join_grids(grids: Iterable[GridTable]) -> list[GridTable]:
    """Put grids together that are about the same cases, answers and references under the same conditions.

    Args:
        grids: The grids of logs, in the order in which these were made.

    Returns:
        Grids that do not compare, that of most judgements first. Of two logs with the same cell the later one counts,
        which a note says.
    """
    joined: list[GridTable] = []
    for grid in grids:
        known = next((one for one in joined if not _differences(one, grid)), None)
        if known is None:
            joined.append(grid)
        else:
            _add(known, grid)
    joined.sort(key=lambda one: -sum(len(cell.finals) for cell in one.cells.values()))
    for grid in joined[1:]:
        grid.apart_because = tuple(_differences(joined[0], grid))
    return joined


def _judged(sample: EvalSampleSummary) -> tuple[str, float]:
    """How the judging of a sample ended, and its final score."""
    if sample.error is not None:
        return ERROR, math.nan
    scores = [score for name, score in (sample.scores or {}).items() if _JUDGE.fullmatch(name)]
    if not scores:
        return "not_judged", math.nan
    return str((scores[-1].metadata or {}).get("outcome", "unknown")), value_of(scores[-1], FINAL)


def _conditions(log: EvalLog) -> Conditions:
    facts = log.eval.metadata or {}
    return Conditions(
        dataset=str(facts["dataset"]),
        dataset_sha256=str(facts["dataset_sha256"]),
        cases=int(facts["cases"]),
        cases_sha256=str(facts["cases_sha256"]),
        folds=int(facts["folds"]),
        rubric=str(facts["rubric"]),
        rubric_sha256=str(facts["rubric_sha256"]),
        prompts_sha256=str(facts["prompts_sha256"]),
        reference_score=float(facts["reference_score"]),
        task_version=version_number(str(log.eval.task_version)),
    )


def _differences(one: GridTable, other: GridTable) -> list[str]:
    """Why two grids cannot be read together, a sentence each."""
    mine, theirs = other.conditions, one.conditions
    found = []
    if mine.task_version != theirs.task_version:
        found.append(f"Another version of the task: {mine.task_version}, not {theirs.task_version}.")
    if mine.dataset_sha256 != theirs.dataset_sha256:
        found.append(f"Other data: {mine.dataset}, not {theirs.dataset}.")
    elif mine.cases_sha256 != theirs.cases_sha256:
        found.append(f"Other cases: {mine.cases} of another choice than the {theirs.cases} of the first grid.")
    if mine.folds != theirs.folds:
        found.append(f"Another number of folds: {mine.folds}, not {theirs.folds}.")
    if (mine.rubric_sha256, mine.reference_score) != (theirs.rubric_sha256, theirs.reference_score):
        found.append(f"Another rubric: {mine.rubric}, not {theirs.rubric} (or of another content).")
    if mine.prompts_sha256 != theirs.prompts_sha256:
        found.append("Judged with other prompts, or in another language.")
    found += [f"Other references by {name}." for name in _changed(one.sources, other.sources)]
    found += [f"Other answers of {name}." for name in _changed(one.models, other.models)]
    return found


def _changed(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    return [name for name, sha256 in other.items() if one.get(name, sha256) != sha256]


def _add(known: GridTable, grid: GridTable) -> None:
    for key, cell in grid.cells.items():
        if not cell.finals:
            continue
        if key in known.cells and known.cells[key].finals:
            evaluator, source, model = key
            known.notes.append(
                f"{evaluator} on {model} with references by {source}: the judgements in {cell.log} count, not those of "
                f"the earlier {known.cells[key].log}."
            )
        known.cells[key] = cell
    known.sources |= grid.sources
    known.models |= grid.models
    known.evaluators += [name for name in grid.evaluators if name not in known.evaluators]
    known.folds |= grid.folds
    for model, cases in grid.copies.items():
        known.copies[model] = known.copies.get(model, frozenset()) | cases
