"""Scores that need no person -> the report of `urs-inspect trust`, and logs of final scores."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
from inspect_ai.log import (
    EvalMetric,
    EvalScore,
    ProvenanceData,
    edit_score,
    write_eval_log,
)
from inspect_ai.scorer import ScoreEdit

from urs_inspect._util import counted
from urs_inspect.comparison._trust import PERSON, TRUSTED, Escalation, Stage
from urs_inspect.logs._files import log_files, read_log, short_name
from urs_inspect.logs._naming import whole_characters
from urs_inspect.reports._texts import listed, money, number, share
from urs_inspect.reports.layout._first_screen import FirstScreen
from urs_inspect.reports.layout._tables import Report, ReportKind, Section, Table, csv_text

REST = "rest.csv"
TRUST = ReportKind(
    "urs-inspect trust",
    1,
    "urs-inspect trust",
    "trust",
    ("judges", "answers"),
    (REST, "trusted_*.eval"),
)
_PERCENT = number(0, percent=True)
_LIKE = (
    "It holds for answers like the labelled ones, if these were drawn at random; a new model, task"
    " or prompt needs new labels."
)


def report_trust(
    found: Escalation,
    prices: Mapping[str, float],
    logs: Sequence[str],
    left_out: Sequence[str],
    budget: int | None,
    command: str,
) -> Report:
    """The report of who may give each answer its score."""
    stages = list(zip(found.judges, found.stages, strict=True))
    rows = []
    for name, stage in stages:
        seen = stage.found
        rows.append(
            {
                "judge": name,
                "taken": found.share(stage),
                "of": stage.reached,
                "labels": seen.labelled,
                "agreed": seen.agreed,
                "low": seen.low,
                "least_sign": seen.least,
                "labels_that_might_show_it": seen.might,
            }
        )
    shown = Table(
        pd.DataFrame(rows),
        {"taken": share, "of": number(0), "labels": number(0), "agreed": number(0), "low": _PERCENT},
        name="judges",
        headings={
            "judge": "Judge", "taken": "Taken", "of": "Of answers", "labels": "Labels",
            "agreed": "Agree", "low": "At least",
        },
        shown=("judge", "taken", "of", "labels", "agreed", "low"),
    )  # fmt: skip
    rest = found.rest
    notes = [*_needs(found, stages, budget), *_costs(found, prices)]
    screen = FirstScreen(
        _claim(found),
        basis=[
            f"{counted(found.labelled, 'label')} of {counted(len(found.answers), 'answer')};"
            f" {counted(len(rest), 'answer')} left for people. {_LIKE}",
            *found.notes,
        ],
        table=shown,
        findings=notes,
        commands=[("Rate the rest", f"urs-inspect annotate --rate {' '.join(logs)} --only {REST}")]
        if len(rest)
        else [],
    )
    sections = [
        Section("Judges", [_claim(found), _LIKE, *found.notes, *notes], [shown]),
        Section("Answers", (), [Table(found.answers, name="answers", shown=())]),
    ]
    if left_out:
        sections.append(Section("Left out", left_out))
    files = {REST: csv_text(rest[["sample", "model"]].rename(columns={"sample": "id"}))}
    facts = {
        "headline": _claim(found),
        "taken": 0.0 + sum(found.share(stage) for _, stage in stages),
        "labelled": found.labelled,
        "rest": len(rest),
        "at_least": found.promise.at_least,
        "sure": found.promise.sure,
        "command": command,
        "left_out": left_out,
    }
    finals = {} if len(rest) else _final_logs(found, logs)
    return Report(TRUST, "Trust or ask", sections, facts, {**files, **finals}, first=screen)


def _claim(found: Escalation) -> str:
    """What may be taken, and how sure that is."""
    taken = sum(found.share(stage) for stage in found.stages)
    promised = f"{found.promise.at_least:.4g}"
    if taken:
        return (
            f"{share(taken)} of the answers need no person: people agree with at least"
            f" {promised} of these scores, with {found.promise.sure:.0%} certainty."
        )
    return (
        f"None: {counted(found.labelled, 'label')} do not show an agreement of {promised} anywhere."
    )
