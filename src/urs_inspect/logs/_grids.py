"""Logs of `urs_crossval`: one row of judgements per sample, and what the log says of itself."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log_sample_summaries
from inspect_ai.scorer import Score

from urs_inspect.judging._reply_counts import Counts, summed
from urs_inspect.judging._scores import last_score
from urs_inspect.logs._files import short_name
from urs_inspect.logs._naming import version_number
from urs_inspect.logs._scores import value_of
from urs_inspect.rubrics import FINAL
from urs_inspect.scorers._crossval_judge import COPY
from urs_inspect.scorers._metrics import CLUSTER

KEY = ["evaluator", "source", "model"]
"""What distinguishes the cells of a grid."""
_COLUMNS = ["case", CLUSTER, "fold", *KEY, "outcome", "final", "copy"]
"""Columns of judgements: `cluster` is empty for a case by itself, `final` is NaN without a score,
and `copy` is whether an answer is word for word its reference.
"""
_CONDITIONS = (
    "dataset",
    "dataset_sha256",
    "cases_sha256",
    "cases",
    "folds",
    "rubric",
    "rubric_sha256",
    "reference_score",
    "prompts_sha256",
)
Texts = tuple[str, str]
"""Texts to all cases: `answers` or `references`, and the model or source that they are by."""


@dataclass(frozen=True)
class GridLog:
    """What one log of `urs_crossval` has: one row of judgements per sample, in the columns of
    `_COLUMNS`.
    """

    name: str
    conditions: Mapping[str, Any]
    # evaluators, sources of references, tested models
    axes: tuple[Sequence[str], Sequence[str], Sequence[str]]
    hashes: Mapping[Texts, str]  # of their content
    judgements: pd.DataFrame
    reply_counts: Counts = field(default_factory=dict)  # of the evaluators' replies


def read_grid_logs(logs: Iterable[EvalLog], skipped: list[str]) -> list[GridLog]:
    """Read logs of `urs_crossval`; `skipped` gets a sentence on each that is damaged."""
    read = []
    for log in logs:
        name = short_name(log.location)
        try:
            one = read_grid_log(log)
            if one.judgements.empty:
                skipped.append(f"{name} was left out: it has no samples.")
            else:
                read.append(one)
        except Exception as error:  # a damaged file may raise anything
            reason = f"{type(error).__name__}: {error}"
            skipped.append(f"{name} was left out: it cannot be read: {reason}.")
    return read


def read_grid_log(log: EvalLog) -> GridLog:
    """Read the header and the judgements of a log.

    Of several judgements of a sample the last one counts.
    """
    facts = log.eval.metadata or {}
    rows = []
    replies: list[Mapping[str, Any] | None] = []
    for sample in read_eval_log_sample_summaries(log.location):
        about = sample.metadata or {}
        score = last_score(sample, "crossval_judge")
        if score is not None:
            replies.append(score.metadata)
        outcome, final = _judged(sample, score)
        row = {name: str(about[name]) for name in ("case", *KEY)}
        cluster = str(about.get(CLUSTER) or "").strip()
        row_facts = {CLUSTER: cluster, "fold": int(about["fold"]), "copy": bool(about.get(COPY))}
        rows.append({**row, **row_facts, "outcome": outcome, "final": final})
    conditions = {name: facts[name] for name in _CONDITIONS}
    conditions["task_version"] = version_number(str(log.eval.task_version))
    hashes = {("references", source): sha256 for source, sha256 in facts["sources"].items()}
    hashes |= {("answers", model): sha256 for model, sha256 in facts["models"].items()}
    return GridLog(
        short_name(log.location),
        conditions,
        (list(facts["evaluators"]), list(facts["sources"]), list(facts["models"])),
        hashes,
        pd.DataFrame(rows, columns=_COLUMNS),
        summed(replies),
    )


def _judged(sample: EvalSampleSummary, score: Score | None) -> tuple[str, float]:
    """How the judging of a sample ended, and its final score."""
    if sample.error is not None:
        return "error", math.nan
    if score is None:
        return "not_judged", math.nan
    about = score.metadata or {}
    outcome = str(about.get("outcome", "unknown"))
    return outcome, value_of(score, FINAL)
