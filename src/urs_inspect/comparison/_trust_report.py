"""Scores that need no person -> the report of `urs-inspect trust`, and logs of final scores."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
from inspect_ai.log import EvalMetric, EvalScore, ProvenanceData, edit_score, write_eval_log
from inspect_ai.scorer import ScoreEdit

from urs_inspect._util import counted
from urs_inspect.comparison._samples import SampleScores
from urs_inspect.comparison._trust import PERSON, TRUSTED, Escalation, price_of
from urs_inspect.logs._files import read_log
from urs_inspect.logs._naming import whole_characters
from urs_inspect.reports._texts import money, number, share
from urs_inspect.reports.layout._tables import (
    Report,
    ReportKind,
    Section,
    Table,
    simulation_section,
)

_NAME = "urs-inspect trust"
_TABLES = ("judges", "answers", "rest")
TRUST = ReportKind(_NAME, 1, _NAME, "trust", _TABLES, (f"{TRUSTED}_*.eval",))
REST = "rest.csv"
"""Answers that are left for people."""


def report_trust(
    found: Escalation,
    judges: Mapping[str, SampleScores],
    prices: Mapping[str, float],
    left_out: Sequence[str],
    final: bool,
    budget: int | None,
    command: str,
) -> Report:
    """The report of who may give each answer its score.

    With copies of logs with the scores if these are `final`, or nothing is left for people.
    """
    rest = found.answers.loc[found.answers["by"] == "", ["sample", "model"]]
    rest = rest.set_axis(["id", "model"], axis=1).assign(rating="")
    claim = _claim(found)
    files = dict[str, str]()  # of each model those that the first judge of it scored
    for read in judges.values():
        known = set(files.values())
        files |= {file: model for file, model in read.files.items() if model not in known}
    logs = dict[str, Callable[[], bytes]]()
    for place, (file, model) in enumerate(files.items() if final or rest.empty else (), 1):
        # Logs in several folders may have one name.
        name = f"{TRUSTED}_{place}_{Path(file).stem}.eval"
        own = found.answers[found.answers["model"] == model].dropna()
        logs[name] = partial(_final_log, file, own, claim)
    notes = [claim, *found.notes, *_about(found, len(rest), prices, budget)]
    if logs:
        notes.append(
            f"With -o, {counted(len(logs), 'log')} with the final scores: {TRUSTED}_*.eval."
        )
    formats = {"taken": share, "labels": number(0), "agreed": number(0)}
    table = Table(found.judges, formats, "judges", {"taken": "takes"})
    by_answer = [Table(found.answers, name="answers", shown=()), Table(rest, name="rest", shown=())]
    sections = simulation_section(any(read.simulated for read in judges.values()))
    sections.append(Section("Judges", notes, [table, *by_answer], warnings=found.notes))
    if left_out:
        sections.append(Section("Left out", left_out))
    facts = {"headline": claim, "rest": len(rest), "command": command, "left_out": left_out}
    return Report(TRUST, "Trust or ask", sections, facts, logs)


def _claim(found: Escalation) -> str:
    """What may be taken, and how sure that is; or how many labels might show that some may be."""
    shown = found.shown
    target = f"{100 * shown.at_least:.4g}%"
    taken = found.judges["taken"].sum()
    if taken > 0:
        return (
            f"{share(taken)} of the answers need no person: people agree with at least {target} of"
            f" each judge's scores there, with {100 - 100 * shown.miss:.4g}% certainty."
        )
    if shown.tested == 0:
        more = "none of them is about an answer of which it is sure enough"
    elif shown.needed is None:
        more = "nothing suggests that more would"
    else:
        more = f"{shown.needed:,} might"
    return (
        f"None: {counted(shown.labels, 'label')} cannot show that people agree with {target} of the"
        f" scores of {found.judges['judge'].iloc[-1]}, or of those of which it is surest; {more}."
    )


def _about(
    found: Escalation, rest: int, prices: Mapping[str, float], budget: int | None
) -> Iterator[str]:
    """What a claim rests on, what it saves, and what more labels would show."""
    yield (
        f"{counted(found.shown.labels, 'label')} of {counted(len(found.answers), 'answer')}. Left"
        f" for people: {rest:,} ({REST}, with -o). What is shown holds for answers like the"
        " labelled ones, if these were drawn at random: another model, task or prompt needs labels"
        " of its own."
    )
    yield (
        "A judge counts as surer of a score the farther it is from the middle of the scale, and the"
        " nearer to the scores of the judges listed before it. The mean over orders or repeats is"
        " far from the middle only where these agree."
    )
    if budget is not None:
        chance = share(found.shown.chance(budget))
        yield f"The chance that {budget:,} labels show more is {chance}, if people agree as often."
    names = found.judges["judge"]
    if prices.keys() >= {*names, PERSON}:
        cost = price_of(found.shown.by, [prices[name] for name in names], prices[PERSON])
        by_people = money(1000 * prices[PERSON])
        yield f"1,000 new answers cost {money(1000 * cost)} in place of {by_people} by people."


def _final_log(file: str, answers: pd.DataFrame, claim: str) -> bytes:
    """A copy of a log with the final score of each sample, and who gave it."""
    log = read_log(file)
    given = answers.set_index("sample")[["value", "by"]].T.to_dict("list")
    for sample in log.samples or ():
        name = whole_characters(str(sample.id))
        if name in given:
            value, by = given[name]
            reason = "rated by people" if by == PERSON else claim
            why = ProvenanceData(author=by, reason=f"urs-inspect trust: {reason}")
            edit = ScoreEdit(value=value, metadata={"by": by}, provenance=why)
            edit_score(log, sample.id, TRUSTED, edit, recompute_metrics=False, epoch=sample.epoch)
    if log.results is not None and len(answers):
        mean = EvalMetric(name="mean", value=answers["value"].mean())
        log.results.scores.append(EvalScore(name=TRUSTED, scorer=TRUSTED, metrics={"mean": mean}))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.eval"
        write_eval_log(log, str(copy))
        return copy.read_bytes()
