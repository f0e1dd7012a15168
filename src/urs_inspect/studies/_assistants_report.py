"""Models beside search engines and translators (URS paper, Tables 14 and 15)."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd
from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log_sample_summaries

from urs_inspect._util import counted
from urs_inspect.judging._failures import NO_RESPONSE
from urs_inspect.logs._files import finished_headers, latest_runs, nothing_left, short_name
from urs_inspect.logs._naming import model_names, model_settings
from urs_inspect.logs._scores import SIMULATED, role_models
from urs_inspect.reports._texts import Format, level_text, number
from urs_inspect.reports.layout._tables import (
    Report,
    ReportKind,
    Section,
    Table,
    simulation_section,
)
from urs_inspect.reports.numbers._answers import ERROR, JudgedLog, read_judged_log
from urs_inspect.reports.numbers._comparison import ROUNDS, ComparedModels, compare_table
from urs_inspect.reports.numbers._comparison import Comparison as Pair
from urs_inspect.reports.numbers._conditions import BlockAnswers, blocks_of
from urs_inspect.reports.numbers._scores import ALL, ScoreTable, order_models, score_table
from urs_inspect.reports.words._comparison import best_sentence, pairs_table
from urs_inspect.reports.words._notes import reasons_apart
from urs_inspect.reports.words._published import published_section
from urs_inspect.rubrics import FINAL, LOWEST
from urs_inspect.stats._bootstrap import LEVEL, SEED, Floats, Resampling
from urs_inspect.studies._assistants import BECAUSE, FAILED, FOUND_NOTHING, WITHOUT_ANSWER
from urs_inspect.studies._backends import asks_for_translation

TASK = "urs_assistants"
_TABLES = ("assistants", "assistants_differences")
ASSISTANTS = ReportKind(
    "urs-inspect assistants", 2, "urs-inspect paper assistants", "assistants", _TABLES
)
FACTUAL = "factual"
TRANSLATION = "translation"
CHOSEN = "chosen"
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
_TITLES = {
    FACTUAL: "Factual QA (laid out as Table 14)",
    TRANSLATION: "Translation (laid out as Table 15)",
    CHOSEN: "Cases chosen by their ids",
}
_PUBLISHED = {
    FACTUAL: 14,
    TRANSLATION: 15,
}


def service_of(log: EvalLog) -> tuple[str, Mapping[str, str]]:
    """Who answered in a log, by name, and facts that distinguish services of one name.

    A model alone by its name; an assistant with its search engine or translator, files without
    their folders, and the model before it if that answered.
    """
    given_assistant = log.eval.task_args.get("assistant", "model")
    if isinstance(given_assistant, Mapping):
        options = given_assistant
    else:  # logs of earlier versions have an argument for each option
        options = {**log.eval.task_args, "kind": given_assistant}
    assistant = str(options.get("kind", "model"))
    settings = {name: str(value) for name, value in model_settings(log).items()}
    if assistant == "model":
        return log.eval.model, settings
    key = "translator" if assistant == "translator" else "search"
    given = str(options.get(key, ""))
    backend, _, rest = given.partition(":")
    short = given
    if backend == "model":
        models = role_models(log).get(rest or "translator")
        short = models[0] if models else given
    elif backend in _WITH_FILES and PurePath(rest).name:
        short = f"{backend}:{PurePath(rest).name}"
    name = f"{assistant} ({short})"
    if assistant in _NO_MODEL:
        return name, {
            key: given,
        }
    return f"{log.eval.model}, {name}", {
        **settings,
        key: given,
        "pages": str(options.get("pages", "")),
    }


@dataclass(frozen=True)
class AssistantAnswers:
    """Answers of models and assistants: one row per log, question and epoch.

    Columns are log, model (who answered), cases (`factual`, `translation` or `chosen`), became (how
    the answer ended), because (why there is none; empty if there is), and of the table of
    `urs_inspect.reports.numbers._answers` the conditions under which answers were judged.
    """

    table: pd.DataFrame
    simulated: bool  # whether a model or a judge is a simulation
    skipped: tuple[str, ...]  # what was skipped and why, a sentence each, with counts


@dataclass(frozen=True)
class _Log(JudgedLog):
    """A log as `latest_runs` takes it."""

    service: tuple[str, Mapping[str, str]]
    cases: str

    @property
    def of(self) -> str:
        """Who answered."""
        return self.service[0]

    def replaces(self, other: JudgedLog) -> bool:
        """Whether it has answers of the same service to some of the same questions under the same
        conditions.
        """
        return (
            isinstance(other, _Log)
            and (self.service, self.cases) == (other.service, other.cases)
            and super().replaces(other)
        )


def read_assistants(logs: Iterable[str]) -> AssistantAnswers:
    """Read the answers of models and assistants.

    The last judgement of an answer counts, and of several logs of the same service under the same
    conditions the one that was made last, unless it asked fewer than half as many questions. That
    nothing is left is an error.
    """
    names = list(logs)
    skipped = list[str]()
    headers = finished_headers(names, skipped, TASK)
    kept = latest_runs(
        [log for header in headers if (log := _read(header, skipped)) is not None], skipped
    )
    if not kept:
        raise nothing_left(f"no finished log of {TASK} with scored answers", names, skipped)
    shown = model_names([log.service for log in kept])
    models: set[str] = set()
    for log in kept:
        models.update((log.log.eval.model, *log.conditions.judges))
        models.update(*role_models(log.log).values())
    tables = [log.table.assign(model=name) for log, name in zip(kept, shown, strict=True)]
    simulated = any(name.startswith(SIMULATED) for name in models)
    return AssistantAnswers(pd.concat(tables, ignore_index=True), simulated, tuple(skipped))


def _read(header: EvalLog, skipped: list[str]) -> _Log | None:
    judged = read_judged_log(header, skipped)
    if judged is None:
        return None
    summaries = {
        (str(one.id), one.epoch): one for one in read_eval_log_sample_summaries(header.location)
    }
    rows: list[Any] = judged.table.to_dict("records")
    for row in rows:
        sample = summaries[row["question"], row["epoch"]]
        row["became"] = _became(str(row["outcome"]), math.isnan(row[FINAL]), sample)
        row["because"] = str((sample.metadata or {}).get(BECAUSE, row["error"]))
    if all(math.isnan(row[FINAL]) for row in rows):
        counts = Counter(row["became"] for row in rows).most_common()
        reasons = Counter(
            row["because"] for row in rows if row["because"] and row["became"] != NOTHING
        )
        why = ", ".join(f"{what} {count}" for what, count in counts)
        why += "".join(f"; such as {text}" for text, _ in reasons.most_common(1))
        skipped.append(
            f"{short_name(header.location)} of {service_of(header)[0]} was left out: none of its"
            f" {len(rows)} answers has a score ({why})."
        )
        return None
    cases = _cases(header, list(summaries.values()))
    table = pd.DataFrame(rows).assign(cases=cases)
    return _Log(
        **{
            **vars(judged),
            "table": table,
        },
        service=service_of(header),
        cases=cases,
    )


def _became(outcome: str, unscored: bool, sample: EvalSampleSummary) -> str:
    if outcome == ERROR or not unscored:
        if outcome == ERROR:
            return "error"
        if outcome in NO_RESPONSE:
            return EMPTY
        return SCORED
    how = (sample.metadata or {}).get(WITHOUT_ANSWER)
    if outcome == "unscored_no_answer" and how in (FOUND_NOTHING, FAILED):
        return NOTHING if how == FOUND_NOTHING else NO_RESULT
    return outcome.removeprefix("unscored_").replace("_", " ")


def _cases(log: EvalLog, samples: Sequence[EvalSampleSummary]) -> str:
    named = str((log.eval.metadata or {}).get("cases", ""))
    if named in (FACTUAL, TRANSLATION):
        return named
    intents = {str((sample.metadata or {}).get("intent")) for sample in samples}
    if intents == {"factual_qa"}:
        return FACTUAL
    texts = (
        (
            sample.input
            if isinstance(sample.input, str)
            else "\n".join(message.text for message in sample.input)
        )
        for sample in samples
    )
    if intents == {"text_assistant"} and all(map(asks_for_translation, texts)):
        return TRANSLATION
    return CHOSEN


@dataclass(frozen=True)
class Comparison:
    """Models and assistants whose scores compare.

    Columns of services, the best first: service, mean and with_nothing (mean over the common
    questions, the second where an answer that a search found nothing for has the lowest score),
    questions, scored, became (counts by outcome), because (commonest reason of failures),
    self_judged.
    """

    cases: str  # `factual` (Table 14), `translation` (Table 15) or `chosen`
    block: BlockAnswers  # their answers to the questions that all were asked, with conditions
    compared: ComparedModels  # over the questions that all of them have a score for
    questions: int  # that any of them was asked
    common: int  # questions that all of them have a score for
    common_with_nothing: int  # questions that all of them have a score for, or found nothing for
    services: pd.DataFrame
    # The fewest to leave out so that the others have more questions in common, and how many; ((),
    # 0) if none.
    without: tuple[tuple[str, ...], int]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Every two of them on these questions; none without a question."""
        return self.compared.comparisons[ALL] if self.common else ()


def compare_assistants(
    answers: AssistantAnswers, *, rounds: int = ROUNDS, level: float = LEVEL, seed: int = SEED
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
        rows = answers.table[answers.table["cases"] == cases]
        for block in blocks_of(rows) if len(rows) else ():
            logs = set(block.table["log"])
            used |= logs
            comparisons.append(
                _compare(
                    cases, block, rows[rows["log"].isin(logs)], Resampling(rounds, level, seed)
                )
            )
    alone = [str(log) for log in answers.table["log"].unique() if log not in used]
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
    nothing = _over_common(
        score_table(
            answers.assign(
                **{
                    FINAL: lowest,
                }
            ),
            block.models,
        ),
        resampling,
    )
    names = (compared if compared.asked else nothing).names
    rows = []
    for name in names:
        own = answers[answers["model"] == name]
        scored = own[own[FINAL].notna()]
        reasons = Counter(own.loc[own["became"] == NO_RESULT, "because"])
        rows.append(
            {
                "service": name,
                "mean": compared.mean(name),
                "with_nothing": nothing.mean(name),
                "questions": int(own["question"].nunique()),
                "scored": int(scored["question"].nunique()),
                "became": {
                    str(what): int(count) for what, count in own["became"].value_counts().items()
                },
                "because": min(reasons, key=lambda reason: (-reasons[reason], reason), default=""),
                "self_judged": int(scored["self_judged"].sum()),
            }
        )
    finals = table.finals[:, [block.models.index(name) for name in names]]
    counts = len(finals), compared.asked, nothing.asked
    return Comparison(cases, block, compared, *counts, pd.DataFrame(rows), without(finals, names))


def _over_common(table: ScoreTable, resampling: Resampling) -> ComparedModels:
    """Models compared over the questions that all have a score for."""
    common = table.of(np.flatnonzero(~np.isnan(table.finals).any(axis=1)), range(len(table.models)))
    return compare_table(
        order_models(common),
        {
            ALL: np.arange(len(common.finals)),
        },
        [ALL],
        resampling,
    )


def without(finals: Floats, names: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """The fewest to leave out, one after the other, so that the others have more questions in
    common, and how many.
    """
    left: list[int] = []
    kept = list(range(len(names)))
    there = ~np.isnan(finals)
    common = start = int(there.all(axis=1).sum())
    while len(kept) > 2 and common == start:
        gains = {
            one: int(there[:, [other for other in kept if other != one]].all(axis=1).sum())
            for one in kept
        }
        # Where it makes no difference yet, the one with the fewest scores goes first.
        worst = max(kept, key=lambda one: (gains[one], -there[:, one].sum()))
        kept.remove(worst)
        left.append(worst)
        common = gains[worst]
    if common > start:
        return (tuple(names[one] for one in left), common)
    return ((), 0)


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
    answers = read_assistants(logs)
    comparisons, alone = compare_assistants(answers, rounds=rounds, level=level, seed=seed)
    skipped = [*answers.skipped, *alone]
    sections = simulation_section(answers.simulated)
    for cases, title in _TITLES.items():
        same = [one for one in enumerate(comparisons, start=1) if one[1].cases == cases]
        for place, (key, found) in enumerate(same, start=1):
            sections += _sections(
                found, key, title if len(same) == 1 else f"{title}, {place} of {len(same)}"
            )
        if same and cases in _PUBLISHED:
            sections.append(published_section(_PUBLISHED[cases], judged=True))
    sections += [Section("Skipped", skipped)] if skipped else []
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
    names = ("cases", "questions", "common", "common_with_nothing")
    facts = [
        {
            **{name: getattr(one, name) for name in names},
            "conditions": asdict(one.block.conditions),
            "differs_from_first": reasons_apart(one.block.differs_from_first),
            "without": one.without[0],
            "common_without": one.without[1] or None,
            "self_judged": dict(
                zip(one.services["service"], one.services["self_judged"], strict=True)
            ),
        }
        for one in comparisons
    ]
    about = {
        "simulated": answers.simulated,
        "skipped": skipped,
        "command": command,
    }
    about |= {
        "level": level,
        "rounds": rounds,
        "seed": seed,
    }
    sections.append(Section("Method", method))
    return Report(
        ASSISTANTS,
        "Models and assistants",
        sections,
        {
            "comparisons": facts,
            **about,
        },
    )


def _sections(found: Comparison, key: int, title: str) -> list[Section]:
    there = set(chain.from_iterable(found.services["became"]))
    scores = (_scores_table(found.services, there), _scores_file(found, key))
    outcomes = (_outcomes_table(found.services, there), _differences_file(found, key))
    sections = [
        Section(title, _about_comparison(found), scores),
        Section("Outcomes of the answers", _about_answers(found, there), outcomes, 3),
    ]
    if found.pairs:
        named = [("", pair) for pair in found.pairs]
        pairs = pairs_table(found.compared, named, number(2, sign=True))
        sections.append(Section("Differences on the common questions", tables=(pairs,), level=3))
    return sections


def _about_comparison(found: Comparison) -> list[str]:
    """Under which conditions answers were judged, and which is best."""
    facts = found.block.conditions
    judges = ", ".join(facts.judges) or "none"
    lines = []
    for reason in reasons_apart(found.block.differs_from_first):
        lines.append(f"Not compared with the first table of these cases: {reason}")
    about_data = f"Data: {facts.data}. Rubric: {facts.rubric}. Prompts: {facts.prompts}."
    if facts.references:
        about_data += f" References: {facts.references}."
    lines += [f"Judge: {judges}.", about_data, *_in_common(found)]
    if found.pairs:
        lines.append(best_sentence(found.compared, ALL))
    return lines


def _scores_table(services: pd.DataFrame, there: Collection[str]) -> Table:
    """The mean score of each service; `there` are the outcomes of their answers."""
    data = pd.DataFrame({"answered by": services["service"], "score": services["mean"]})
    pairs = zip(services["scored"], services["questions"], strict=True)
    data["scored"] = [f"{scored} of {questions}" for scored, questions in pairs]
    formats: dict[str, Format] = {"score": number(2), "scored": str}
    if NOTHING in there:
        data["nothing = 1"] = services["with_nothing"]
        formats["nothing = 1"] = number(2)
    return Table(data, formats)


def _outcomes_table(services: pd.DataFrame, there: Collection[str]) -> Table:
    """How many answers of each service had each outcome."""
    became = list(services["became"])
    kinds = [what for what in (EMPTY, NOTHING, NO_RESULT) if what in there]
    kinds.insert(0, SCORED)
    kinds += sorted(set(there) - set(kinds))
    answers = [sum(counts.values()) for counts in became]
    data = pd.DataFrame({"answered by": services["service"], "answers": answers})
    for what in kinds:
        data[what] = [counts.get(what, 0) for counts in became]
    return Table(data, dict.fromkeys(["answers", *kinds], str))


def _scores_file(found: Comparison, key: int) -> Table:
    """The table `assistants`."""
    words = []
    for counts in found.services["became"]:
        words.append(", ".join(f"{what} {count}" for what, count in counts.items()))
    numbers = found.services.assign(became=words).drop(columns="self_judged")
    return _file(found, key, "assistants", numbers, "mean")


def _differences_file(found: Comparison, key: int) -> Table:
    """The table `assistants_differences`."""
    tested = [
        (pair.first, pair.second, pair.difference, pair.p, pair.p_holm, pair.significant)
        for pair in found.pairs
    ]
    columns = ["first", "second", "difference", "p", "p_holm", "apart"]
    differences = pd.DataFrame(tested, columns=columns)
    return _file(found, key, "assistants_differences", differences, "difference")


def _file(found: Comparison, key: int, name: str, data: pd.DataFrame, main: str) -> Table:
    """A table that is only written, with the comparison that it belongs to."""
    same: dict[str, Any] = {
        "comparison": key,
        "cases": found.cases,
        "judge": ", ".join(found.block.conditions.judges),
    }
    return Table(data.assign(**same)[[*same, *data]], name=name, shown=(), main=main)


def _in_common(found: Comparison) -> list[str]:
    """How many questions the means are over, and what would make them more."""
    services = len(found.services)
    asked = counted(found.questions, "question")
    if services == 1:
        return [f"One alone, over {found.common} of {asked}; nothing to compare it with."]
    names = " and ".join(found.without[0])
    gained = found.without[1]
    if not found.common:
        advice = (
            f"Leave out the logs of {names}: the others share {counted(gained, 'question')}."
            if names
            else "Nothing can be compared by leaving some out."
        )
        return [
            f"No question of {asked} has a score from all {services}, so there are no means."
            f" {advice}"
        ]
    notes = [
        f"Means are over the {counted(found.common, 'question')} of {found.questions} that all"
        f" {services} have a score for."
    ]
    if names:
        notes.append(f"Without {names}, the others would share {gained}.")
    if any(math.isnan(mean.low) for mean in found.services["mean"]):
        notes.append("Over so few questions there is no interval.")
    return notes


def _about_answers(found: Comparison, there: Collection[str]) -> list[str]:
    rows: list[Any] = list(found.services.itertuples())
    notes = ["Empty answers have the lowest score, 1, without a judge."] if EMPTY in there else []
    if NOTHING in there:
        notes.append(
            "A search that finds no page has no score, and its question is excluded for all. In"
            " the column 'nothing = 1' it has the lowest score, as an empty answer has, over the"
            f" {counted(found.common_with_nothing, 'question')} that are then common."
        )
    notes += [
        f"{row.service} judged {counted(row.self_judged, 'answer')} of its own."
        for row in rows
        if row.self_judged
    ]
    for row in rows:
        if row.because:
            times = row.became[NO_RESULT]
            often = ", most often" if times > 1 else ""
            notes.append(f"{row.service} failed {counted(times, 'time')}{often}: {row.because}")
    return notes
