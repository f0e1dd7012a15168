"""Scores that need no person -> the report of `urs-inspect trust`, and logs of final scores."""

import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
from inspect_ai.log import EvalMetric, EvalScore, ProvenanceData, edit_score, write_eval_log
from inspect_ai.scorer import ScoreEdit

from urs_inspect._util import counted
from urs_inspect.comparison._trust import PERSON, TRUSTED, Escalation, price_of
from urs_inspect.logs._files import log_files, read_log, short_name
from urs_inspect.logs._naming import whole_characters
from urs_inspect.reports._texts import money, number, share
from urs_inspect.reports.layout._first_screen import FirstScreen
from urs_inspect.reports.layout._tables import Report, ReportKind, Section, Table, csv_text
from urs_inspect.stats._trust import chance_to_show

REST = "rest.csv"
TRUST = ReportKind(
    "urs-inspect trust",
    1,
    "urs-inspect trust",
    "trust",
    ("judges", "answers"),
    (REST, f"{TRUSTED}_*.eval"),
)
_LIKE = (
    "This holds for answers like the labelled ones, if these were drawn at random: another model,"
    " task or prompt needs labels of its own."
)
_HEADINGS = {
    "judge": "Judge",
    "taken": "Takes",
    "reached": "Of",
    "labels": "Labels there",
    "agreed": "Agree",
    "low": "At least",
    "sign": "Sign",
}


def report_trust(
    found: Escalation,
    prices: Mapping[str, float],
    logs: Sequence[str],
    left_out: Sequence[str],
    budget: int | None,
    command: str,
) -> Report:
    """The report of who may give each answer its score; with final logs once nobody is to ask."""
    rest = found.rest
    claim = _claim(found)
    about = (
        f"{counted(found.labelled, 'label')} of {counted(len(found.answers), 'answer')};"
        f" {len(rest):,} are left for people, in {REST} with -o. {_LIKE}"
    )
    notes = [*_needs(found, budget), *_costs(found, prices)]
    plain = number(0)
    formats = {"taken": share, "reached": plain, "labels": plain, "agreed": plain, "low": share}
    table = Table(_rows(found), formats, "judges", _HEADINGS, tuple(_HEADINGS))
    sections = [
        Section("Judges", [claim, about, *found.notes, *notes], [table]),
        Section("Answers", (), [Table(found.answers, name="answers", shown=())]),
    ]
    if left_out:
        sections.append(Section("Left out", left_out))
    ids = rest[["sample", "model"]].set_axis(["id", "model"], axis=1)
    files = {REST: csv_text(ids.assign(rating=""))}
    finals = {}
    if found.final:
        for file in log_files(logs):
            if short_name(file) in found.logs:
                finals[f"{TRUSTED}_{Path(file).stem}.eval"] = partial(_final_log, found, file)
    facts = {
        "headline": claim,
        "labelled": found.labelled,
        "rest": len(rest),
        "promise": found.promise,
        "command": command,
        "left_out": left_out,
    }
    screen = FirstScreen(claim, found.notes, [about], table, notes)
    return Report(TRUST, "Trust or ask", sections, facts, {**files, **finals}, first=screen)


def _claim(found: Escalation) -> str:
    """What may be taken, and how sure that is."""
    promise = found.promise
    taken = sum(float(stage.taken.mean()) for stage in found.stages)
    if not taken:
        labels = counted(found.labelled, "label")
        return f"None: {labels} do not show an agreement of {share(promise.at_least)} anywhere."
    return (
        f"{share(taken)} of the answers need no person: people agree with at least"
        f" {promise.at_least:.4g} of these scores, with {share(promise.sure)} certainty."
    )


def _rows(found: Escalation) -> pd.DataFrame:
    rows = []
    for place, (judge, stage) in enumerate(zip(found.judges, found.stages, strict=True)):
        seen = stage.found
        rows.append(
            {
                "judge": judge,
                "taken": float(stage.taken.mean()),
                "reached": stage.reached,
                "labels": seen.labelled,
                "agreed": seen.agreed,
                "low": seen.low,
                "sign": f"its own, less the gap to {place} before" if place else "its own score",
                "least": seen.least,
                "might": seen.might,
            }
        )
    return pd.DataFrame(rows)


def _needs(found: Escalation, budget: int | None) -> list[str]:
    """How many labels might show what these do not."""
    notes = []
    miss = (1 - found.promise.sure) / len(found.judges)
    for judge, stage in zip(found.judges, found.stages, strict=True):
        seen = stage.found
        if seen.least is not None or not stage.reached:
            continue
        more = "no number of labels is likely to" if seen.might is None else f"{seen.might:,} might"
        notes.append(
            f"{judge}: {counted(seen.labelled, 'label')} do not show it for any of its scores;"
            f" {more}, by the agreement seen."
        )
        if budget is not None:
            size = (seen.agreed, seen.labelled, budget)
            chance = chance_to_show(*size, found.promise.at_least, miss)
            notes.append(f"{judge}: {budget:,} labels show it for all with {share(chance)} chance.")
    return notes


def _costs(found: Escalation, prices: Mapping[str, float]) -> list[str]:
    """What new answers like these cost, if all prices are known."""
    if not prices.keys() >= {*found.judges, PERSON}:
        return []
    of_judges = [prices[judge] for judge in found.judges]
    cost = 1000 * price_of(found.stages, of_judges, prices[PERSON])
    return [
        f"1,000 new answers of this kind cost {money(cost)} in place of"
        f" {money(1000 * prices[PERSON])} by people alone."
    ]


def _final_log(found: Escalation, file: str) -> bytes:
    """A copy of a log with the final score of each sample, and who gave it."""
    log = read_log(file)
    model = found.logs[short_name(file)]
    own = found.answers[found.answers["model"] == model].dropna()
    given = dict(zip(own["sample"], zip(own["value"], own["by"], strict=True), strict=True))
    finals = []
    for sample in log.samples or ():
        name = whole_characters(str(sample.id))
        if name not in given:
            continue
        value, by = given[name]
        finals.append(float(value))
        edit = ScoreEdit(
            value=finals[-1],
            explanation=f"by {by}",
            metadata={"by": by},
            provenance=ProvenanceData(author=by, reason=f"urs-inspect trust: {_claim(found)}"),
        )
        edit_score(log, sample.id, TRUSTED, edit, recompute_metrics=False, epoch=sample.epoch)
    if log.results is not None and finals:
        mean = EvalMetric(name="mean", value=sum(finals) / len(finals))
        log.results.scores.append(EvalScore(name=TRUSTED, scorer=TRUSTED, metrics={"mean": mean}))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.eval"
        write_eval_log(log, str(copy))
        return copy.read_bytes()
