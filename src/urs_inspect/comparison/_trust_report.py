"""Scores that need no person -> the report of `urs-inspect trust`, and logs of final scores."""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pandas as pd
from inspect_ai.log import EvalMetric, EvalScore, ProvenanceData, edit_score, write_eval_log
from inspect_ai.scorer import ScoreEdit

from urs_inspect._util import counted
from urs_inspect.comparison._report import with_notices
from urs_inspect.comparison._trust import PERSON, TRUSTED, Escalation, price_of
from urs_inspect.logs._files import read_log
from urs_inspect.logs._naming import whole_characters
from urs_inspect.reports import Report, ReportKind, Section, Table, number
from urs_inspect.reports._texts import level_text, money, share

_NAME = "urs-inspect trust"
_LOGS = f"{TRUSTED}_*.eval"
TRUST = ReportKind(_NAME, 1, _NAME, "trust", more=(_LOGS,))
REST = "rest.csv"
"""Answers that are left for people."""


def report_trust(found: Escalation, budget: int | None, command: str) -> Report:
    """The report of who may give each answer its score, with copies of logs with final scores."""
    rest = found.answers.loc[found.answers["by"] == "", ["sample", "model"]]
    rest = rest.set_axis(["id", "model"], axis=1).assign(rating="")
    claim = _claim(found)
    logs = _final_logs(found, claim)
    notes = [claim, *_about(found, len(rest), len(logs), budget)]
    formats = {"taken": share, "labels": number(0), "agreed": number(0)}
    tables = [
        Table(found.judges, formats, "judges", {"taken": "takes"}),
        Table(found.answers, name="answers", shown=()),
        Table(rest, name="rest", shown=()),
    ]
    simulated = any(read.simulated for read in found.scores.values())
    sections = with_notices([Section("Judges", notes, tables)], simulated, found.left_out)
    facts = {"headline": claim, "rest": len(rest), "command": command, "left_out": found.left_out}
    return Report(TRUST, "Trust or ask", sections, facts, logs)


def _claim(found: Escalation) -> str:
    """What may be taken, and how sure that is; or how many labels might show that some may be."""
    shown = found.shown
    target = level_text(shown.at_least)
    taken = found.judges["taken"].sum()
    if taken > 0:
        return (
            f"{share(taken)} of the answers need no person: people agree with at least {target} of"
            f" each judge's scores there, with {level_text(1 - shown.miss)} certainty."
        )
    more = "they do not suggest that more would"
    if shown.needed is not None:
        more = f"{shown.needed:,} labels might"
    return (
        f"None: {counted(shown.labels, 'label')} do not show that people agree with {target} of the"
        f" scores of which {found.judges['judge'].iloc[-1]} is surest; {more}."
    )


def _about(found: Escalation, rest: int, logs: int, budget: int | None) -> Iterator[str]:
    """What a claim rests on, what it saves, and what more labels would show."""
    yield (
        f"{counted(found.shown.labels, 'label')} of {counted(len(found.answers), 'answer')}. -o"
        f" writes {counted(rest, 'answer')} left for people ({REST}), and {counted(logs, 'log')}"
        f" with final scores ({_LOGS}). The claim holds for answers like the labelled ones, drawn"
        " at random: another model, task or prompt needs labels of its own."
    )
    yield (
        "A judge is surest of scores far from the middle of the scale and near those of the judges"
        " listed before it. A mean over orders or repeats is far from it only where they agree."
    )
    if budget is not None:
        chance = share(float(found.shown.chance(budget)))
        yield f"The chance that {budget:,} labels show more is {chance}, if people agree as often."
    prices = found.prices
    if prices.keys() >= {*found.scores, PERSON}:
        by_judge = [prices[judge] for judge in found.scores]
        cost = money(1000 * price_of(found.shown.by, by_judge, prices[PERSON]))
        yield f"1,000 new answers cost {cost} in place of {money(1000 * prices[PERSON])} by people."


def _final_logs(found: Escalation, claim: str) -> dict[str, Callable[[], bytes]]:
    """Copies of logs with the final scores, if these are known: name -> what makes the file."""
    files = dict[str, str]()  # of each model those that the first judge of it scored
    for read in found.scores.values() if found.final else ():
        known = set(files.values())
        files |= {file: model for file, model in read.files.items() if model not in known}
    logs = dict[str, Callable[[], bytes]]()
    for place, (file, model) in enumerate(files.items(), 1):
        # Logs in several folders may have one name.
        name = f"{TRUSTED}_{place}_{Path(file).stem}.eval"
        own = found.answers[found.answers["model"] == model].dropna()
        logs[name] = partial(_final_log, file, own, claim)
    return logs


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
