"""Models beside search engines and translators (URS paper, Tables 14 and 15)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd
from inspect_ai.log import EvalLog, read_eval_log_sample_summaries

from urs_inspect._util import counted
from urs_inspect.judging._failures import NO_RESPONSE, SCORED_OUTCOMES
from urs_inspect.logs._files import finished_headers, latest_runs, nothing_left, short_name
from urs_inspect.logs._naming import model_names, model_settings
from urs_inspect.logs._scores import SIMULATED, is_simulated, role_models
from urs_inspect.reports._texts import Format, level_text, number
from urs_inspect.reports.layout._tables import (
    Report,
    ReportKind,
    Section,
    Table,
    simulation_section,
)
from urs_inspect.reports.numbers._answers import JudgedLog, read_judged_log
from urs_inspect.reports.numbers._comparison import ROUNDS, ComparedModels, compare_table
from urs_inspect.reports.numbers._comparison import Comparison as Pair
from urs_inspect.reports.numbers._conditions import BlockAnswers, blocks_of
from urs_inspect.reports.numbers._scores import ALL, ScoreTable, order_models, score_table
from urs_inspect.reports.words._comparison import best_sentence, pairs_table, reasons_apart
from urs_inspect.reports.words._published import published_section
from urs_inspect.rubrics import FINAL, LOWEST
from urs_inspect.stats._bootstrap import LEVEL, SEED, Floats, Resampling
from urs_inspect.studies._assistants import BECAUSE, FAILED, FOUND_NOTHING, WITHOUT_ANSWER
from urs_inspect.studies._assistants_task import AssistantOptions

TASK = "urs_assistants"
ASSISTANTS = ReportKind("urs-inspect assistants", 2, "urs-inspect paper assistants", "assistants")
FACTUAL = "factual"
TRANSLATION = "translation"
CHOSEN = "ids"
"""Kinds of cases: those of Table 14, those of Table 15, and others that were chosen by their
ids.
"""
SCORED = "scored"
EMPTY = "empty"
NOTHING = "found nothing"
NO_RESULT = "search or translation failed"
"""Outcomes of an answer; others are why it could not be judged."""

_NO_MODEL = ("search", "translator")  # assistants that answer in place of the model under test
_WITH_FILES = ("folder", "glossary")
_WITHOUT_ANSWER = {FOUND_NOTHING: NOTHING, FAILED: NO_RESULT}
_TITLES = {
    FACTUAL: "Factual QA (laid out as Table 14)",
    TRANSLATION: "Translation (laid out as Table 15)",
    CHOSEN: "Cases chosen by their ids",
}
_PUBLISHED = {FACTUAL: 14, TRANSLATION: 15}
_HEADINGS = {
    "service": "answered by",
    "mean": "score",
    "questions": "asked",
    "with_nothing": "nothing = 1",
}


def service_of(log: EvalLog) -> tuple[str, dict[str, str]]:
    """Who answered in a log, by name, and facts that distinguish services of one name.

    A model alone by its name; an assistant with its search engine or translator, files without
    their folders, and the model before it if that answered.
    """
    asked = AssistantOptions.model_validate(log.eval.task_args.get("assistant", "model"))
    settings = {name: str(value) for name, value in model_settings(log).items()}
    if asked.kind == "model":
        return log.eval.model, settings
    given = asked.search or asked.translator or ""
    backend, _, rest = given.partition(":")
    short = given
    if backend == "model":
        short = role_models(log).get(rest or "translator", (given,))[0]
    elif backend in _WITH_FILES:
        short = f"{backend}:{PurePath(rest).name}"
    name = f"{asked.kind} ({short})"
    if asked.kind in _NO_MODEL:
        return name, {"given": given}
    return f"{log.eval.model}, {name}", {**settings, "given": given, "pages": str(asked.pages)}


@dataclass(frozen=True)
class _Log(JudgedLog):
    """A log as `latest_runs` takes it: its settings are what distinguishes services."""

    service: str
    cases: str

    @property
    def of(self) -> str:
        """Who answered."""
        return self.service

    def replaces(self, other: JudgedLog) -> bool:
        """Whether it has answers of the same service to some of the same questions under the same
        conditions.
        """
        return isinstance(other, _Log) and self.cases == other.cases and super().replaces(other)


def read_assistants(logs: Iterable[str], skipped: list[str]) -> tuple[pd.DataFrame, bool]:
    """Read the answers of models and assistants, one row per log, question and epoch.

    The last judgement of an answer counts, and of several logs of the same service under the same
    conditions the one that was made last, unless it asked fewer than half as many questions. That
    nothing is left is an error.

    Returns:
        The table of `urs_inspect.reports.numbers._answers` with the columns model (who answered),
        cases (`factual`, `translation` or `ids`), became (how the answer ended) and because (why
        there is none; empty if there is); and whether a model or a judge is a simulation.
    """
    names = list(logs)
    read = [_read(header, skipped) for header in finished_headers(names, skipped, TASK)]
    kept = latest_runs([log for log in read if log is not None], skipped)
    if not kept:
        raise nothing_left(f"no finished log of {TASK} with scored answers", names, skipped)
    shown = model_names([(log.service, log.settings) for log in kept])
    tables = [log.table.assign(model=name) for log, name in zip(kept, shown, strict=True)]
    judges = chain.from_iterable(log.conditions.judges for log in kept)
    simulated = any(is_simulated(log.log) for log in kept)
    simulated = simulated or any(name.startswith(SIMULATED) for name in judges)
    return pd.concat(tables, ignore_index=True), simulated


def _read(header: EvalLog, skipped: list[str]) -> _Log | None:
    judged = read_judged_log(header, skipped)
    if judged is None:
        return None
    metadata = {}
    for sample in read_eval_log_sample_summaries(header.location):
        metadata[str(sample.id), sample.epoch] = sample.metadata or {}
    rows: list[Any] = judged.table.to_dict("records")
    for row in rows:
        facts = metadata[row["question"], row["epoch"]]
        row["became"] = _became(str(row["outcome"]), facts.get(WITHOUT_ANSWER))
        row["because"] = str(facts.get(BECAUSE, row["error"]))
    cases = str((header.eval.metadata or {}).get("cases", CHOSEN))
    service, settings = service_of(header)
    if settings.get("given") == "":
        skipped.append(
            f"{short_name(header.location)} was left out: a former version wrote it, without the"
            " search engine or translator among the options of its assistant."
        )
        return None
    table = pd.DataFrame(rows).assign(cases=cases)
    if table[FINAL].isna().all():
        outcomes = table["became"].value_counts()
        why = ", ".join(f"{what} {count}" for what, count in outcomes.items())
        failed = table.loc[table["became"] == NO_RESULT, "because"]
        why += "".join(f"; such as {text}" for text in failed.mode()[:1])
        skipped.append(
            f"{short_name(header.location)} of {service} was left out: none of its {len(rows)}"
            f" answers has a score ({why})."
        )
        return None
    return _Log(header, table, judged.conditions, settings, service, cases)


def _became(outcome: str, without_answer: str | None) -> str:
    """How an answer ended, as tables call it."""
    if outcome in NO_RESPONSE:
        return EMPTY
    if outcome in SCORED_OUTCOMES:
        return SCORED
    if outcome == "unscored_no_answer" and without_answer in _WITHOUT_ANSWER:
        return _WITHOUT_ANSWER[without_answer]
    return outcome.removeprefix("unscored_").replace("_", " ")


@dataclass(frozen=True)
class Comparison:
    """Models and assistants whose scores compare.

    Columns of services, the best first: service, mean and with_nothing (mean over the common
    questions, the second where an answer that a search found nothing for has the lowest score),
    questions, scored, because (commonest reason of failures), self_judged.
    """

    cases: str  # `factual` (Table 14), `translation` (Table 15) or `ids`
    block: BlockAnswers  # their answers to the questions that all were asked, with conditions
    compared: ComparedModels  # over the questions that all of them have a score for
    questions: int  # that any of them was asked
    common: int  # questions that all of them have a score for
    common_with_nothing: int  # questions that all of them have a score for, or found nothing for
    services: pd.DataFrame
    outcomes: pd.DataFrame  # number of answers by service (index) and outcome (column)
    without: tuple[str, int]  # whom to leave out so that the others have more in common; how many

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Every two of them on these questions; none without a question."""
        if self.common:
            return self.compared.comparisons[ALL]
        return ()


def compare_assistants(
    answers: pd.DataFrame, resampling: Resampling
) -> tuple[list[Comparison], list[str]]:
    """Compare models and assistants; returns comparisons, those of Table 14 first, and notes on
    logs that are in none.

    Scores compare only where data, rubric, judges, references and prompts are the same, and only
    over the questions that all have a score for: a search that finds pages for easy questions alone
    would else have the better mean.
    """
    comparisons: list[Comparison] = []
    used: set[str] = set()
    for cases in _TITLES:
        rows = answers[answers["cases"] == cases]
        for block in blocks_of(rows) if len(rows) else ():
            logs = set(block.table["log"])
            used |= logs
            of_block = rows[rows["log"].isin(logs)]
            comparisons.append(_compare(cases, block, of_block, resampling))
    alone = [str(log) for log in answers["log"].unique() if log not in used]
    return comparisons, [
        f"{short_name(log)} was left out: not all others were asked its questions." for log in alone
    ]


def _compare(
    cases: str, block: BlockAnswers, answers: pd.DataFrame, resampling: Resampling
) -> Comparison:
    """Compare the services of a block over all of their answers, those to questions of their own
    included.
    """
    lowest = answers[FINAL].mask(answers["became"] == NOTHING, LOWEST)
    table = score_table(answers, block.models)
    compared = _over_common(table, resampling)
    lowest_for_nothing = score_table(answers.assign(**{FINAL: lowest}), block.models)
    nothing = _over_common(lowest_for_nothing, resampling)
    names = (compared if compared.asked else nothing).names
    scored = answers[answers[FINAL].notna()]
    failed = answers[answers["became"] == NO_RESULT]
    numbers = {
        "questions": answers.groupby("model")["question"].nunique(),
        "scored": scored.groupby("model")["question"].nunique(),
        "self_judged": scored.groupby("model")["self_judged"].sum(),
    }
    services = pd.DataFrame(numbers).reindex(names).fillna(0).astype(int)
    reasons = failed.groupby("model")["because"].agg(lambda texts: texts.mode()[0])
    services.insert(0, "mean", [compared.mean(name) for name in names])
    services.insert(1, "with_nothing", [nothing.mean(name) for name in names])
    services["because"] = reasons.reindex(names).fillna("")
    finals = table.finals[:, [block.models.index(name) for name in names]]
    return Comparison(
        cases=cases,
        block=block,
        compared=compared,
        questions=len(finals),
        common=compared.asked,
        common_with_nothing=nothing.asked,
        services=services.rename_axis("service").reset_index(),
        outcomes=pd.crosstab(answers["model"], answers["became"]).reindex(names),
        without=without(finals, names),
    )


def _over_common(table: ScoreTable, resampling: Resampling) -> ComparedModels:
    """Models compared over the questions that all have a score for."""
    questions = np.flatnonzero(~np.isnan(table.finals).any(axis=1))
    common = table.of(questions, range(len(table.models)))
    columns = {ALL: np.arange(len(questions))}
    return compare_table(order_models(common), columns, [ALL], resampling)


def without(finals: Floats, names: Sequence[str]) -> tuple[str, int]:
    """The one without which the others have most questions in common, and how many; empty and 0 if
    they have no more without it.
    """
    there = ~np.isnan(finals)
    left = ""
    most = int(there.all(axis=1).sum())
    for place, name in enumerate(names):
        common = int(np.delete(there, place, axis=1).all(axis=1).sum())
        if len(names) > 2 and common > most:
            left = name
            most = common
    return left, most if left else 0


def report_assistants(
    logs: Iterable[str],
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
    command: str = "",
) -> Report:
    """Report how models, search engines and translators compare (URS paper, Tables 14 and 15).

    Args:
        logs: Log files and directories of logs of `urs_assistants`.
        rounds: Rounds of the bootstrap over questions.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of the bootstrap.
        command: The command that makes the report.

    Returns:
        The report, with the tables `assistants` and `assistants_differences`; published tables
        follow the last comparison of their cases.

    Raises:
        InputError: If a name does not exist or nothing is left; the message reports what was
            skipped.
    """
    skipped = list[str]()
    answers, simulated = read_assistants(logs, skipped)
    comparisons, alone = compare_assistants(answers, Resampling(rounds, level, seed))
    skipped += alone
    sections = simulation_section(simulated)
    for cases, title in _TITLES.items():
        same = [one for one in enumerate(comparisons, start=1) if one[1].cases == cases]
        for place, (key, found) in enumerate(same, start=1):
            number_of = ""
            if len(same) > 1:
                number_of = f", {place} of {len(same)}"
            sections += _sections(found, key, title + number_of)
        if same and cases in _PUBLISHED:
            sections.append(published_section(_PUBLISHED[cases], judged=True))
    if skipped:
        sections.append(Section("Skipped", skipped))
    method = (
        (
            "Scored: questions with a score, of those asked. Difference: the first less the second,"
            " question by question."
        ),
        (
            f"Intervals: {level_text(level)}, bootstrap over questions, {rounds:,} rounds (seed"
            f" {seed}); epochs of a question are averaged first."
        ),
        (
            "A difference is significant where the p-value of its paired test is below"
            f" {1 - level:.2g} after Holm's correction; that one is not does not mean that they are"
            " equal."
        ),
    )
    sections.append(Section("Method", method))
    facts = {
        "comparisons": list(map(_facts, comparisons)),
        "simulated": simulated,
        "skipped": skipped,
        "command": command,
        "level": level,
        "rounds": rounds,
        "seed": seed,
    }
    return Report(ASSISTANTS, "Models and assistants", sections, facts)


def _facts(found: Comparison) -> dict[str, Any]:
    """A comparison in the JSON file."""
    names = ("cases", "questions", "common", "common_with_nothing")
    return {
        **{name: getattr(found, name) for name in names},
        "conditions": asdict(found.block.conditions),
        "differs_from_first": reasons_apart(found.block.differs_from_first),
        "without": [found.without[0]] if found.without[0] else [],
        "common_without": found.without[1] or None,
        "self_judged": found.services.set_index("service")["self_judged"].to_dict(),
    }


def _sections(found: Comparison, key: int, title: str) -> list[Section]:
    same = {
        "comparison": key,
        "cases": found.cases,
        "judge": ", ".join(found.block.conditions.judges),
    }
    tested = [
        (pair.first, pair.second, pair.difference, pair.p, pair.p_holm, pair.significant)
        for pair in found.pairs
    ]
    columns = ["first", "second", "difference", "p", "p_holm", "apart"]
    differences = _with(same, pd.DataFrame(tested, columns=columns))
    outcomes = (
        _outcomes_table(found.outcomes),
        Table(differences, name="assistants_differences", shown=(), main="difference"),
    )
    sections = [
        Section(title, _about_comparison(found), (_scores_table(found, same),)),
        Section("Outcomes of the answers", _about_answers(found), outcomes, 3),
    ]
    if found.pairs:
        named = [("", pair) for pair in found.pairs]
        pairs = pairs_table(found.compared, named, number(2, sign=True))
        sections.append(Section("Differences on the common questions", tables=(pairs,), level=3))
    return sections


def _with(same: Mapping[str, Any], data: pd.DataFrame) -> pd.DataFrame:
    """A table with columns before it that are the same in all rows."""
    return data.assign(**same)[[*same, *data]]


def _scores_table(found: Comparison, same: Mapping[str, Any]) -> Table:
    """The table `assistants`, and the mean score of each service."""
    became = []
    for _, counts in found.outcomes.iterrows():
        there = counts[counts > 0].sort_values(ascending=False, kind="stable")
        became.append(", ".join(f"{what} {count}" for what, count in there.items()))
    data = _with(same, found.services.drop(columns="self_judged"))
    data.insert(len(data.columns) - 1, "became", became)
    formats: dict[str, Format] = {"mean": number(2), "questions": str, "scored": str}
    if NOTHING in found.outcomes:
        formats["with_nothing"] = number(2)
    return Table(
        data,
        formats,
        name="assistants",
        headings=_HEADINGS,
        shown=("service", *formats),
        main="mean",
    )


def _outcomes_table(outcomes: pd.DataFrame) -> Table:
    """How many answers of each service had each outcome."""
    first = [what for what in (SCORED, EMPTY, NOTHING, NO_RESULT) if what in outcomes]
    data = outcomes[[*first, *outcomes.columns.difference(first)]]
    data.insert(0, "answers", data.sum(axis=1))
    table = data.rename_axis("answered by").reset_index()
    return Table(table, dict.fromkeys(map(str, data), str))


def _about_comparison(found: Comparison) -> list[str]:
    """Under which conditions answers were judged, which is best, and over how many questions."""
    facts = found.block.conditions
    lines = []
    for reason in reasons_apart(found.block.differs_from_first):
        lines.append(f"Not compared with the first table of these cases: {reason}")
    about_data = f"Data: {facts.data}. Rubric: {facts.rubric}. Prompts: {facts.prompts}."
    if facts.references:
        about_data += f" References: {facts.references}."
    lines += [f"Judge: {', '.join(facts.judges) or 'none'}.", about_data]
    asked = counted(found.questions, "question")
    services = counted(len(found.services), "service")
    if found.common:
        common = f"Questions with a score of every service: {found.common} of {found.questions}"
        lines.append(f"{common}; means are over these alone.")
    else:
        lines.append(f"None of {asked} has a score of all {services}, so there are no means.")
    left, gained = found.without
    if left:
        shared = counted(gained, "question")
        lines.append(f"Without the logs of {left}, the others share {shared}.")
    if found.pairs:
        if any(math.isnan(mean.low) for mean in found.services["mean"]):
            lines.append("Over so few questions there is no interval.")
        lines.append(best_sentence(found.compared, ALL))
    return lines


def _about_answers(found: Comparison) -> list[str]:
    notes = []
    if EMPTY in found.outcomes:
        notes.append("Empty answers have the lowest score, 1, without a judge.")
    if NOTHING in found.outcomes:
        notes.append(
            "A search that finds no page has no score, and its question is excluded for all. In"
            " the column 'nothing = 1' it has the lowest score, as an empty answer has, over the"
            f" {counted(found.common_with_nothing, 'question')} that are then common."
        )
    for service, own in zip(found.services["service"], found.services["self_judged"], strict=True):
        if own:
            notes.append(f"{service} judged {counted(own, 'answer')} of its own.")
    for service, reason in zip(found.services["service"], found.services["because"], strict=True):
        if reason:
            times = counted(int(found.outcomes.loc[service, NO_RESULT]), "time")
            notes.append(f"{service} failed {times}; the commonest reason is: {reason}")
    return notes
