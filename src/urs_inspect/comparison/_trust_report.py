"""Scores that need no person -> the report of `urs-inspect trust`, and logs of final scores."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pandas as pd
from inspect_ai.log import EvalMetric, EvalScore, ProvenanceData, edit_score, write_eval_log
from inspect_ai.scorer import ScoreEdit

from urs_inspect._util import counted
from urs_inspect.comparison._samples import SampleScores
from urs_inspect.comparison._trust import PERSON, TRUSTED, Escalation, Promise, price_of
from urs_inspect.logs._files import read_log
from urs_inspect.logs._naming import whole_characters
from urs_inspect.reports._texts import money, number, share
from urs_inspect.reports.layout._first_screen import SIMULATED_SCREEN, FirstScreen
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


def report_trust(
    found: Escalation,
    judges: Mapping[str, SampleScores],
    promise: Promise,
    prices: Mapping[str, float],
    left_out: Sequence[str],
    *,
    final: bool,
    budget: int | None,
    command: str,
) -> Report:
    """The report of who may give each answer its score.

    With copies of logs with the scores if these are `final`, or nothing is left for people.
    """
    rest = found.answers.loc[found.answers["by"] == "", ["sample", "model"]]
    claim = _claim(found, promise)
    about = (
        f"{counted(found.labelled, 'label')} of {counted(len(found.answers), 'answer')};"
        f" {len(rest):,} are left for people, in {REST} with -o. This holds for answers like the"
        " labelled ones, if these were drawn at random: another model, task or prompt needs labels"
        " of its own."
    )
    warnings = [SIMULATED_SCREEN] if any(read.simulated for read in judges.values()) else []
    warnings += found.notes
    notes = [*_needs(found, promise, budget), *_costs(found, prices)]
    plain = number(0)
    formats = {"taken": share, "labels": plain, "agreed": plain, "low": share}
    headings = {"taken": "takes", "low": "at least"}
    table = Table(_rows(found), formats, "judges", headings, ["judge", "sign", *formats])
    sections = [
        Section("Judges", [claim, about, *warnings, *notes], [table]),
        Section("Answers", (), [Table(found.answers, name="answers", shown=())]),
    ]
    if left_out:
        sections.append(Section("Left out", left_out))
    ids = rest.set_axis(["id", "model"], axis=1)
    files = {REST: csv_text(ids.assign(rating=""))}
    finals = dict[str, Callable[[], bytes]]()
    models = set[str]()
    for read in judges.values() if final or rest.empty else ():
        new = {file: model for file, model in read.files.items() if model not in models}
        models.update(new.values())
        for file, model in new.items():
            own = found.answers[found.answers["model"] == model].dropna()
            # Logs in several folders may have one name.
            name = f"{TRUSTED}_{len(finals) + 1}_{Path(file).stem}.eval"
            finals[name] = partial(_final_log, file, own, claim)
    facts = {
        "headline": claim,
        "labelled": found.labelled,
        "rest": len(rest),
        "promise": promise,
        "command": command,
        "left_out": left_out,
    }
    screen = FirstScreen(claim, warnings, [about], table, notes)
    return Report(TRUST, "Trust or ask", sections, facts, {**files, **finals}, first=screen)


def _claim(found: Escalation, promise: Promise) -> str:
    """What may be taken, and how sure that is."""
    taken = sum(float(stage.taken.mean()) for stage in found.judges.values())
    if not taken:
        labels = counted(found.labelled, "label")
        return f"None: {labels} do not show an agreement of {share(promise.at_least)} anywhere."
    return (
        f"{share(taken)} of the answers need no person: people agree with at least"
        f" {promise.at_least:.4g} of these scores, with {share(promise.sure)} certainty."
    )


def _rows(found: Escalation) -> pd.DataFrame:
    rows = []
    for place, (judge, stage) in enumerate(found.judges.items()):
        sign = f"its own, less the gap to {place} before" if place else "its own score"
        about = {"judge": judge, "sign": sign, "taken": float(stage.taken.mean())}
        rows.append({**about, **asdict(stage.found)})
    return pd.DataFrame(rows).rename(columns={"labelled": "labels"})


def _needs(found: Escalation, promise: Promise, budget: int | None) -> Iterator[str]:
    """How many labels might show what these do not."""
    miss = (1 - promise.sure) / len(found.judges)
    for judge, stage in found.judges.items():
        seen = stage.found
        if seen.least is not None or not seen.labelled:
            continue
        more = "no number of labels is likely to" if seen.might is None else f"{seen.might:,} might"
        yield (
            f"{judge}: {counted(seen.labelled, 'label')} do not show it for any of its scores;"
            f" {more}, by the agreement seen."
        )
        if budget is not None:
            chance = chance_to_show(seen.agreed, seen.labelled, budget, promise.at_least, miss)
            yield f"{judge}: {budget:,} labels show it for all with {share(chance)} chance."


def _costs(found: Escalation, prices: Mapping[str, float]) -> Iterator[str]:
    """What new answers like these cost, if all prices are known."""
    if prices.keys() >= {*found.judges, PERSON}:
        of_judges = [prices[judge] for judge in found.judges]
        cost = 1000 * price_of(list(found.judges.values()), of_judges, prices[PERSON])
        yield (
            f"1,000 new answers of this kind cost {money(cost)} in place of"
            f" {money(1000 * prices[PERSON])} by people alone."
        )


def _final_log(file: str, answers: pd.DataFrame, claim: str) -> bytes:
    """A copy of a log with the final score of each sample, and who gave it."""
    log = read_log(file)
    given = answers.set_index("sample")[["value", "by"]].T.to_dict("list")
    for sample in log.samples or ():
        name = whole_characters(str(sample.id))
        if name in given:
            value, by = given[name]
            edit = ScoreEdit(
                value=value,
                explanation=f"by {by}",
                metadata={"by": by},
                provenance=ProvenanceData(author=by, reason=f"urs-inspect trust: {claim}"),
            )
            edit_score(log, sample.id, TRUSTED, edit, recompute_metrics=False, epoch=sample.epoch)
    if log.results is not None and len(answers):
        mean = EvalMetric(name="mean", value=answers["value"].mean())
        log.results.scores.append(EvalScore(name=TRUSTED, scorer=TRUSTED, metrics={"mean": mean}))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.eval"
        write_eval_log(log, str(copy))
        return copy.read_bytes()
