"""Answers of models, search engines and translators -> means and differences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd
from inspect_ai.log import EvalLog, read_eval_log_sample_summaries

from urs_inspect.judging._failures import NO_RESPONSE, SCORED_OUTCOMES
from urs_inspect.logs._files import finished_headers, latest_runs, nothing_left, short_name
from urs_inspect.logs._naming import model_names, model_settings
from urs_inspect.logs._scores import SIMULATED, is_simulated, role_models
from urs_inspect.reports.numbers._answers import JudgedLog, read_judged_log
from urs_inspect.reports.numbers._comparison import ComparedModels, compare_table
from urs_inspect.reports.numbers._comparison import Comparison as Pair
from urs_inspect.reports.numbers._conditions import BlockAnswers, blocks_of
from urs_inspect.reports.numbers._scores import ALL, ScoreTable, order_models, score_table
from urs_inspect.rubrics import FINAL, LOWEST
from urs_inspect.stats._bootstrap import Floats, Resampling
from urs_inspect.studies._assistants import BECAUSE, FAILED, FOUND_NOTHING, WITHOUT_ANSWER
from urs_inspect.studies._assistants_task import AssistantOptions

TASK = "urs_assistants"
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
_ORDER = (FACTUAL, TRANSLATION, CHOSEN)


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
    """Compare models and assistants; returns comparisons, those of Table 14 first, and the logs
    that are in none, since not all others were asked their questions.

    Scores compare only where data, rubric, judges, references and prompts are the same, and only
    over the questions that all have a score for: a search that finds pages for easy questions alone
    would else have the better mean.
    """
    comparisons: list[Comparison] = []
    used: set[str] = set()
    for cases in _ORDER:
        rows = answers[answers["cases"] == cases]
        for block in blocks_of(rows) if len(rows) else ():
            logs = set(block.table["log"])
            used |= logs
            of_block = rows[rows["log"].isin(logs)]
            comparisons.append(_compare(cases, block, of_block, resampling))
    alone = [str(log) for log in answers["log"].unique() if log not in used]
    return comparisons, alone


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
