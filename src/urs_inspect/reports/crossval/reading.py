"""Logs of cross-validations and of judged answers, read into grids that may be compared, and their statistics."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import PurePosixPath

import numpy as np
import pandas as pd
from inspect_ai.log import EvalLog, EvalSampleSummary, EvalSpec, read_eval_log_sample_summaries

from urs_inspect._util import InputError, counted
from urs_inspect.logs.files import finished_headers, local_path, read_log, short_name
from urs_inspect.logs.responses import ANSWERS_ONLY
from urs_inspect.logs.scores import SIMULATED, prompts_digest, value_of
from urs_inspect.reports.crossval.report import (
    ALL,
    Bias,
    Cell,
    Conditions,
    CrossvalReport,
    Gap,
    Grid,
    JudgedAnswers,
    Preference,
    Reversal,
    SettingOrder,
)
from urs_inspect.reports.intent.answers import read_answers, version_number
from urs_inspect.reports.intent.leaderboard import ROUNDS
from urs_inspect.reports.intent.scores import Resampling
from urs_inspect.rubrics import FINAL
from urs_inspect.scorers.crossval_judge import COPY
from urs_inspect.solvers.answers import ANSWER
from urs_inspect.stats import holm
from urs_inspect.stats.bootstrap import LEVEL, SEED, Estimate, Floats
from urs_inspect.stats.crossval import Order, order_of, rating_bias, self_preference
from urs_inspect.stats.means import MeanColumn, bootstrap_means, mean_estimates

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


@dataclass(frozen=True)
class Ratings:
    """Final scores as one array.

    Attributes:
        evaluators: The judges.
        sources: The settings in which they judged: sources of references.
        models: The models whose answers they judged.
        scores: Shape (cases, evaluators, sources, models); NaN where there is none. Epochs are averaged.
    """

    evaluators: tuple[str, ...]
    sources: tuple[str, ...]
    models: tuple[str, ...]
    scores: Floats


def report_grid(table: GridTable, how: Resampling) -> Grid:
    """Compute everything about one grid."""
    cases = sorted(table.folds)
    ratings = _ratings(table, cases)
    second = _without_copies(table, ratings, cases)
    orders = setting_orders(ratings, how)
    return Grid(
        conditions=table.conditions,
        apart_because=table.apart_because,
        evaluators=ratings.evaluators,
        sources=ratings.sources,
        models=ratings.models,
        cells=_cells(table, ratings, [table.folds[case] for case in cases], how),
        biases=rating_biases(second, table.conditions.reference_score, how),
        preferences=preferences(second, how),
        orders=orders,
        reversals=order_reversals(orders),
        copies={model: len(copied) for model, copied in table.copies.items()},
        notes=tuple(table.notes),
    )


def with_holm(parts: Sequence[Sequence[Preference]]) -> list[tuple[Preference, ...]]:
    """Correct the p-values of self-preference over all evaluators and sources: a report makes all these claims at once.

    Args:
        parts: The preferences of each grid, and of each set of ordinary runs.

    Returns:
        The same parts with corrected p-values.
    """
    everything = [one for part in parts for one in part]
    own, beyond = holm([one.result.p for one in everything]), holm([one.result.p_beyond for one in everything])
    corrected = iter(zip(own, beyond, strict=True))
    return [
        tuple(replace(one, p_holm=p, p_beyond_holm=q) for one, (p, q) in zip(part, corrected, strict=False))
        for part in parts
    ]


def rating_biases(ratings: Ratings, reference_score: float, how: Resampling) -> tuple[Bias, ...]:
    """Rating bias of each evaluator over the models that are both tested and a source of references."""
    both = [model for model in ratings.models if model in ratings.sources]
    if not both:
        return ()
    places = [(ratings.sources.index(model), ratings.models.index(model)) for model in both]
    found = []
    for number, evaluator in enumerate(ratings.evaluators):
        own = np.stack([ratings.scores[:, number, source, model] for source, model in places], axis=1)
        bias = rating_bias(own, reference_score, rounds=how.rounds, level=how.level, seed=how.seed)
        found.append(Bias(evaluator, bias.bias, dict(zip(both, bias.by_model, strict=True))))
    return tuple(found)


def preferences(ratings: Ratings, how: Resampling) -> tuple[Preference, ...]:
    """Self-preference of each evaluator that is also tested, by source of references and over all of them."""
    itself = [ratings.models.index(name) if name in ratings.models else None for name in ratings.evaluators]
    table = ratings.scores.transpose(0, 2, 1, 3)
    parts = [(name, [place]) for place, name in enumerate(ratings.sources)]
    parts += [(ALL, list(range(len(ratings.sources))))] if len(ratings.sources) > 1 else []
    found = []
    for judge, own in enumerate(itself):
        if own is None or len(ratings.evaluators) < 2:
            continue
        for source, places in parts:
            result = self_preference(
                table[:, places], judge, own, itself, rounds=how.rounds, level=how.level, seed=how.seed
            )
            others = tuple(name for name in ratings.evaluators if name != ratings.evaluators[judge])
            found.append(Preference(ratings.evaluators[judge], source, others, result))
    return tuple(found)


def setting_orders(ratings: Ratings, how: Resampling) -> tuple[SettingOrder, ...]:
    """The order of the models in each setting in which all have scores, with Holm's correction over all pairs."""
    orders: list[tuple[str, str, Order]] = []
    for (e, evaluator), (s, source) in product(enumerate(ratings.evaluators), enumerate(ratings.sources)):
        found = order_of(ratings.scores[:, e, s], rounds=how.rounds, level=how.level, seed=how.seed)
        if found.cases:
            orders.append((evaluator, source, found))
    corrected = iter(holm([gap.p for _, _, order in orders for gap in order.gaps]))
    return tuple(
        SettingOrder(
            evaluator,
            source,
            tuple(ratings.models[place] for place in order.places),
            order.means,
            order.share,
            order.cases,
            tuple(
                Gap(
                    ratings.models[gap.first],
                    ratings.models[gap.second],
                    gap.difference,
                    gap.p,
                    p := next(corrected),
                    p < 1 - how.level,
                )
                for gap in order.gaps
            ),
        )
        for evaluator, source, order in orders
    )


def order_reversals(orders: Sequence[SettingOrder]) -> tuple[Reversal, ...]:
    """Pairs of models of which one is better in some settings and worse in others; equal means are neither."""
    gaps: dict[frozenset[str], list[Gap]] = {}
    for order in orders:
        for gap in order.gaps:
            gaps.setdefault(frozenset((gap.first, gap.second)), []).append(gap)
    found = []
    for several in gaps.values():
        unequal = [gap for gap in several if gap.difference.value > 0]
        first, second = several[0].first, several[0].second
        ahead = [gap.apart for gap in unequal if gap.first == first]
        behind = [gap.apart for gap in unequal if gap.first == second]
        if ahead and behind:
            found.append(Reversal(first, second, len(ahead), sum(ahead), len(behind), sum(behind)))
    return tuple(found)


def _ratings(table: GridTable, cases: Sequence[str]) -> Ratings:
    evaluators, sources, models = tuple(table.evaluators), tuple(table.sources), tuple(table.models)
    scores = np.full((len(cases), len(evaluators), len(sources), len(models)), np.nan)
    for (e, evaluator), (s, source), (m, model) in product(*map(enumerate, (evaluators, sources, models))):
        cell = table.cells.get((evaluator, source, model))
        for place, case in enumerate(cases if cell else ()):
            finals = cell.finals.get(case) if cell else None
            if finals:
                scores[place, e, s, m] = math.fsum(finals) / len(finals)
    best = sorted(range(len(models)), key=lambda model: _worst_last(scores[..., model]))
    return Ratings(evaluators, sources, tuple(models[place] for place in best), scores[..., best])


def _without_copies(table: GridTable, ratings: Ratings, cases: Sequence[str]) -> Ratings:
    """Ratings without those of answers that are their own references.

    Whoever judges a text against itself gives the highest score, so that such a rating says neither how far a judge is
    from the score of a reference, nor how it rates itself beside others.
    """
    scores = ratings.scores.copy()
    for model, copied in table.copies.items():
        if model in ratings.sources and model in ratings.models:
            there = [place for place, case in enumerate(cases) if case in copied]
            scores[there, :, ratings.sources.index(model), ratings.models.index(model)] = np.nan
    return replace(ratings, scores=scores)


def _worst_last(scores: Floats) -> float:
    """What to sort models by: less the mean over settings, infinite without a score; shape (cases, ...)."""
    settings = scores.reshape(len(scores), -1).T
    means = [float(column[there].mean()) for column in settings if (there := ~np.isnan(column)).any()]
    return -math.fsum(means) / len(means) if means else math.inf


def _cells(table: GridTable, ratings: Ratings, folds: Sequence[int], how: Resampling) -> tuple[Cell, ...]:
    cases = len(folds)
    flat = ratings.scores.reshape(cases, -1)
    [found] = bootstrap_means([MeanColumn(np.arange(cases), flat)], cases, rounds=how.rounds, seed=how.seed)
    keys = product(ratings.evaluators, ratings.sources, ratings.models)
    return tuple(
        _cell(key, table.cells[key], estimate, column, folds, table.conditions.folds)
        for key, estimate, column in zip(keys, mean_estimates(found, how.level), flat.T, strict=True)
        if key in table.cells
    )


def _cell(
    key: tuple[str, str, str], cell: CellScores, mean: Estimate, column: Floats, folds: Sequence[int], parts: int
) -> Cell:
    by_fold = [column[np.array(folds) == fold] for fold in range(1, parts + 1)]
    means = [float(part[there].mean()) if (there := ~np.isnan(part)).any() else math.nan for part in by_fold]
    known = [value for value in means if not math.isnan(value)]
    missing = len(column) - len(cell.finals)
    return Cell(
        *key,
        mean=mean,
        folds=tuple(means),
        fold_mean=math.fsum(known) / len(known) if known else math.nan,
        fold_deviation=float(np.std(known, ddof=1)) if len(known) > 1 else math.nan,
        outcomes={**dict(sorted(cell.outcomes.items())), **({MISSING: missing} if missing else {})},
        unscored=int(np.isnan(column).sum()),
    )


@dataclass(frozen=True)
class _Block:
    """Answers whose scores compare: task and version, data, rubric, references and prompts are the same."""

    task: str
    version: str
    dataset_sha256: str
    rubric: str
    references: str
    prompts: str


@dataclass(frozen=True)
class _Log:
    """One log: what its scores compare with, the run that its answers are of, its rows, and which are copies."""

    block: _Block
    run: str
    model: str
    rows: pd.DataFrame
    copies: frozenset[tuple[str, int]]


def read_judged_answers(
    logs: Iterable[str], bootstrap: Resampling
) -> tuple[tuple[JudgedAnswers, ...], tuple[str, ...]]:
    """Read self-preference from logs of answers.

    Judges compare only over the same answers: a panel's, or those of one run that was judged again with `inspect score`
    into another log. Two runs of one model have different answers; the one with more judges counts.

    Args:
        logs: Log files, and directories of logs.
        bootstrap: How intervals are made.

    Returns:
        One entry for each set of conditions in which some judge judged its own answers and another one did so too, and
        what was left out, a sentence each.

    Raises:
        InputError: If no log has answers that `intent_judge` scored.
    """
    answers = read_answers(logs)
    blocks: dict[_Block, list[_Log]] = {}
    for file, rows in answers.table.groupby("log", sort=False):
        log = _log(str(file), rows)
        blocks.setdefault(log.block, []).append(log)
    found, left_out = [], list(answers.left_out)
    for block, several in blocks.items():
        kept, notes = _one_run_a_model(several)
        notes += [
            f"{len(log.copies)} of {len(log.rows)} answers of {log.model} are word for word its references: their "
            "judgements are excluded, because a text would be judged against itself."
            for log in kept
            if log.copies
        ]
        ratings = _judged_answers_ratings(kept)
        measured = preferences(ratings, bootstrap)
        if not measured:
            left_out.append(_why_nothing(ratings, kept))
            continue
        found.append(
            JudgedAnswers(
                dataset=str(several[0].rows["dataset"].iloc[0]),
                references=block.references,
                rubric=block.rubric,
                prompts=block.prompts,
                judges=ratings.evaluators,
                models=ratings.models,
                questions=len(ratings.scores),
                preferences=measured,
                notes=tuple(notes),
            )
        )
    return tuple(found), tuple(left_out)


def _log(file: str, rows: pd.DataFrame) -> _Log:
    first = rows.iloc[0]
    known = rows.loc[rows["prompt_sha256"] != "", ["intent", "language", "judge_language", "prompt_sha256"]]
    rubrics = rows.loc[rows["rubric"] != "", "rubric"]
    block = _Block(
        task=str(first["task"]),
        version=version_number(str(first["task_version"])),
        dataset_sha256=str(first["dataset_sha256"] or first["dataset"]),
        rubric=str(rubrics.iloc[0]) if len(rubrics) else "",
        references=str(first["references"]),
        prompts=prompts_digest("/".join(map(str, one)) for one in known.itertuples(index=False)),
    )
    spec = read_log(file, header_only=True).eval
    return _Log(block, spec.eval_id, str(first["base_model"]), rows, _copies(file, spec))


def _copies(file: str, spec: EvalSpec) -> frozenset[tuple[str, int]]:
    """Question and epoch of answers that are word for word their references, which are by the same model."""
    if not str((spec.metadata or {}).get("references", "")).startswith(f"{spec.model} ("):
        return frozenset()
    samples = read_log(file, without=ANSWERS_ONLY).samples or []
    same = [sample for sample in samples if sample.output.completion.strip() == str(sample.target).strip()]
    return frozenset((str(sample.id), sample.epoch) for sample in same)


def _one_run_a_model(logs: Sequence[_Log]) -> tuple[list[_Log], list[str]]:
    """The logs of one run of each model: that which the most judges have judged, the last of equal ones."""
    runs: dict[str, dict[str, list[_Log]]] = {}
    for log in logs:
        runs.setdefault(log.model, {}).setdefault(log.run, []).append(log)
    kept: list[_Log] = []
    notes = []
    for model, by_run in runs.items():
        best = max(reversed(by_run), key=lambda run: len({judge for judge, *_ in _judgements(by_run[run])}))
        kept += by_run[best]
        for run, others in by_run.items():
            if run != best:
                names = ", ".join(short_name(str(log.rows["log"].iloc[0])) for log in others)
                notes.append(f"{names} of {model}: other answers than those that more judges have judged; left out.")
    return kept, notes


def _judgements(logs: Iterable[_Log]) -> Iterator[tuple[str, str, str, float]]:
    """Judge, model, question and final score, one an epoch."""
    for log in logs:
        columns = (log.rows["question"], log.rows["epoch"], log.rows["judge_finals"])
        for question, epoch, finals in zip(*columns, strict=True):
            for judge, final in finals.items() if (str(question), int(epoch)) not in log.copies else ():
                yield str(judge), log.model, str(question), float(final)


def _judged_answers_ratings(logs: Sequence[_Log]) -> Ratings:
    table = pd.DataFrame(_judgements(logs), columns=["judge", "model", "question", "final"])
    means = table.groupby(["question", "judge", "model"], sort=False)["final"].mean()
    judges, models = tuple(dict.fromkeys(table["judge"])), tuple(dict.fromkeys(log.model for log in logs))
    questions = sorted(set(table["question"]))
    full = pd.MultiIndex.from_product([questions, judges, models])
    values = means.reindex(full).to_numpy(dtype=np.float64)
    return Ratings(judges, ("",), models, values.reshape(len(questions), len(judges), 1, len(models)))


def _why_nothing(ratings: Ratings, logs: Sequence[_Log]) -> str:
    judges, models = ", ".join(ratings.evaluators) or "nobody", ", ".join(ratings.models)
    if len(ratings.evaluators) < 2:
        why = "there is no other judge of the same answers to compare with"
    else:
        why = "no judge is among the models"
    return f"No self-preference from {counted(len(logs), 'log')} of {models}, judged by {judges}: {why}."


def read_crossval(
    logs: Iterable[str], *, rounds: int = ROUNDS, level: float = LEVEL, seed: int = SEED, command: str = ""
) -> CrossvalReport:
    """Read logs of `urs_crossval`, and logs of `urs` whose answers several judges have judged.

    Args:
        logs: Log files, and directories of logs.
        rounds: Rounds of the bootstrap over cases.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of the bootstrap.
        command: The command that makes the report.

    Returns:
        The report.

    Raises:
        InputError: If a name does not exist, or nothing is left to report; the message says what was left out.
    """
    names, bootstrap = list(logs), Resampling(rounds, level, seed)
    left_out: list[str] = []
    headers = finished_headers(names, left_out)
    others = [local_path(log.location) for log in headers if log.eval.task != TASK]
    tables = join_grids(_grids([log for log in headers if log.eval.task == TASK], left_out))
    judged = _reading_judged(others, bootstrap, left_out)
    if not tables and not judged:
        what = "no finished log of urs_crossval, nor answers that several judges have judged, in"
        raise InputError("\n".join([f"{what}: {', '.join(names)}", *left_out]))
    models = {name for one in tables for name in (*one.evaluators, *one.models, *one.sources)}
    models |= {name for one in judged for name in (*one.judges, *one.models)}
    grids = [report_grid(table, bootstrap) for table in tables]
    corrected = with_holm([*(one.preferences for one in grids), *(one.preferences for one in judged)])
    return CrossvalReport(
        grids=tuple(replace(one, preferences=part) for one, part in zip(grids, corrected, strict=False)),
        judged=tuple(replace(one, preferences=part) for one, part in zip(judged, corrected[len(grids) :], strict=True)),
        logs=tuple(short_name(log.location) for log in headers),
        left_out=tuple(left_out),
        simulated=any(name.startswith(SIMULATED) for name in models),
        level=level,
        rounds=rounds,
        seed=seed,
        command=command,
    )


def _grids(logs: list[EvalLog], left_out: list[str]) -> list[GridTable]:
    found = []
    for log in logs:
        try:
            found.append(read_grid(log))
        except Exception as error:  # whatever a damaged file does to its reader
            reason = f"{type(error).__name__}: {error}"
            left_out.append(f"{short_name(log.location)} was left out: its judgements cannot be read: {reason}.")
    return found


def _reading_judged(files: list[str], bootstrap: Resampling, left_out: list[str]) -> tuple[JudgedAnswers, ...]:
    if not files:
        return ()
    try:
        judged, more = read_judged_answers(files, bootstrap)
    except InputError as error:  # logs of other tasks may lie in the same folder
        left_out += error.message.splitlines()
        return ()
    left_out += more
    return judged
