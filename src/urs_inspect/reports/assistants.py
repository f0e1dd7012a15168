"""Models beside search engines and translators (URS paper, Tables 14 and 15)."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

import numpy as np
import pandas as pd
from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log_sample_summaries

from urs_inspect._util import InputError, counted
from urs_inspect.assistants import asks_for_translation
from urs_inspect.judging import NO_RESPONSE
from urs_inspect.logs.files import finished_headers, latest_runs, short_name
from urs_inspect.logs.naming import distinct_names
from urs_inspect.logs.scores import SIMULATED
from urs_inspect.reports.intent.answers import ERROR, JudgedLog, Row, model_settings, read_judged_log, whole_characters
from urs_inspect.reports.intent.blocks import BlockAnswers, Conditions, blocks_of
from urs_inspect.reports.intent.leaderboard import ROUNDS
from urs_inspect.reports.intent.page.tables import (
    NONE,
    interval_text,
    level_text,
    mean_text,
    p_text,
    signed_interval,
    signed_text,
)
from urs_inspect.reports.intent.scores import Resampling, score_table
from urs_inspect.reports.output import (
    ReportKind,
    Section,
    TextTable,
    csv_text,
    report_json,
    sections_markdown,
    write_directory,
)
from urs_inspect.reports.published import published_section
from urs_inspect.rubrics import FINAL, LOWEST
from urs_inspect.solvers.assistants import BECAUSE, FAILED, FOUND_NOTHING, WITHOUT_ANSWER
from urs_inspect.stats import Estimate, MeanColumn, bootstrap_means, compare_means, mean_estimates
from urs_inspect.stats.bootstrap import LEVEL, SEED, Floats

_NO_MODEL = ("search", "translator")
"""Assistants that answer in place of the model under test."""
_WITH_FILES = ("folder", "glossary")
_ROLE = "translator"


@dataclass(frozen=True)
class Service:
    """Who answered.

    Attributes:
        name: The model, the assistant, or both.
        facts: What may tell it from another one of the same name, name -> value.
    """

    name: str
    facts: dict[str, str]


def service_of(log: EvalLog) -> Service:
    """Who answered in a log.

    Args:
        log: Its header.

    Returns:
        A model alone by its name; an assistant with its search engine or translator, files without their folders, and
        the model before it if that answered.
    """
    arguments = log.eval.task_args
    assistant = str(arguments.get("assistant", "model"))
    settings = {name: str(value) for name, value in model_settings(log).items()}
    if assistant == "model":
        return Service(log.eval.model, settings)
    key = "translator" if assistant == "translator" else "search"
    given = str(arguments.get(key, ""))
    name = f"{assistant} ({_short(given, log)})"
    if assistant in _NO_MODEL:
        return Service(name, {key: given})
    return Service(f"{log.eval.model}, {name}", {**settings, key: given, "pages": str(arguments.get("pages", ""))})


def distinct_services(services: Sequence[Service]) -> list[str]:
    """Names that are equal only for equal services."""
    several = list({(one.name, tuple(sorted(one.facts.items()))): one for one in services}.values())
    names = distinct_names([(one.name, one.facts) for one in several])
    return [names[several.index(one)] for one in services]


def _short(given: str, log: EvalLog) -> str:
    backend, _, rest = given.partition(":")
    if backend == "model":
        return _translating(rest or _ROLE, log) or given
    return f"{backend}:{PurePath(rest).name}" if backend in _WITH_FILES and PurePath(rest).name else given


def _translating(role: str, log: EvalLog) -> str:
    found = (log.eval.model_roles or {}).get(role)
    several = found if isinstance(found, list) else [found] if found else []
    return several[0].model if several else ""


TASK = "urs_assistants"
FACTUAL, TRANSLATION, CHOSEN = "factual", "translation", "chosen"
"""Kinds of cases: those of Table 14, those of Table 15, and others that were chosen by their ids."""
SCORED, EMPTY, NOTHING, NO_RESULT = "scored", "empty", "found nothing", "search or translation failed"
"""What became of an answer; others say why it could not be judged."""


@dataclass(frozen=True)
class AssistantAnswers:
    """Answers of models and assistants.

    Attributes:
        table: One row for each log, question and epoch: log, model (who answered), cases (`factual`, `translation` or
            `chosen`), became (what became of the answer), because (why there is none; empty if there is), and of the
            table of `urs_inspect.reports.intent.answers` what says under which conditions answers were judged.
        simulated: Whether a model or a judge is a simulation.
        left_out: What was left out and why, a sentence each, with counts.
    """

    table: pd.DataFrame
    simulated: bool
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class _Log:
    judged: JudgedLog
    service: Service
    cases: str

    @property
    def file(self) -> str:
        return self.judged.file

    @property
    def run_id(self) -> str:
        return self.judged.run_id

    @property
    def of(self) -> str:
        return self.service.name

    @property
    def questions(self) -> frozenset[str]:
        return self.judged.questions

    def replaces(self, other: "_Log") -> bool:
        """Whether it asked the same service some of the same questions under the same conditions."""
        return (self.service, self.cases) == (other.service, other.cases) and self.judged.replaces(other.judged)


def read_assistants(logs: Iterable[str]) -> AssistantAnswers:
    """Read the answers of models and assistants.

    The last judgement of an answer counts, and of several logs of the same service under the same conditions the one
    that was made last, unless it asked fewer than half as many questions.

    Args:
        logs: Log files and directories.

    Raises:
        InputError: If a name does not exist or nothing is left; the message says what was left out.
    """
    names, left_out = list(logs), list[str]()
    headers = finished_headers(names, left_out, TASK)
    kept = latest_runs([log for header in headers if (log := _read(header, left_out)) is not None], left_out)
    if not kept:
        what = f"no finished log of {TASK} with scored answers in: {', '.join(names)}"
        raise InputError("\n".join([what, *left_out]))
    shown = [whole_characters(name) for name in distinct_services([log.service for log in kept])]
    models = {log.judged.log.eval.model for log in kept} | {name for log in kept for name in log.judged.judges}
    models |= {name for log in kept for name in _roles(log.judged.log)}
    return AssistantAnswers(
        table=pd.concat([_frame(*pair) for pair in zip(kept, shown, strict=True)], ignore_index=True),
        simulated=any(name.startswith(SIMULATED) for name in models),
        left_out=tuple(left_out),
    )


def _read(header: EvalLog, left_out: list[str]) -> _Log | None:
    judged = read_judged_log(header, left_out)
    if judged is None:
        return None
    summaries = {(str(one.id), one.epoch): one for one in read_eval_log_sample_summaries(header.location)}
    for row in judged.rows:
        sample = summaries[row["question"], row["epoch"]]
        row["became"], row["because"] = _became(row, sample), str((sample.metadata or {}).get(BECAUSE, row["error"]))
    if all(math.isnan(row[FINAL]) for row in judged.rows):
        left_out.append(
            f"{short_name(header.location)} of {service_of(header).name} was left out: none of its {len(judged.rows)} "
            f"answers has a score ({_why(judged.rows)})."
        )
        return None
    return _Log(judged, service_of(header), _cases(header, list(summaries.values())))


def _why(rows: Sequence[Row]) -> str:
    """What became of answers, with counts, and the commonest reason if there is one."""
    counts = Counter(row["became"] for row in rows).most_common()
    reasons = Counter(row["because"] for row in rows if row["because"] and row["became"] != NOTHING).most_common(1)
    return ", ".join(f"{what} {count}" for what, count in counts) + "".join(f"; such as {text}" for text, _ in reasons)


def _became(row: Row, sample: EvalSampleSummary) -> str:
    outcome = str(row["outcome"])
    if outcome == ERROR or not math.isnan(row[FINAL]):
        return "error" if outcome == ERROR else EMPTY if outcome in NO_RESPONSE else SCORED
    how = (sample.metadata or {}).get(WITHOUT_ANSWER)
    if outcome == "unscored_no_answer" and how in (FOUND_NOTHING, FAILED):
        return NOTHING if how == FOUND_NOTHING else NO_RESULT
    return outcome.removeprefix("unscored_").replace("_", " ")


def _cases(log: EvalLog, samples: Sequence[EvalSampleSummary]) -> str:
    said = str((log.eval.metadata or {}).get("cases", ""))
    if said in (FACTUAL, TRANSLATION):
        return said
    intents = {str((one.metadata or {}).get("intent")) for one in samples}
    if intents == {"factual_qa"}:
        return FACTUAL
    if intents == {"text_assistant"} and all(asks_for_translation(_question(one)) for one in samples):
        return TRANSLATION
    return CHOSEN


def _question(sample: EvalSampleSummary) -> str:
    return sample.input if isinstance(sample.input, str) else "\n".join(message.text for message in sample.input)


def _roles(log: EvalLog) -> list[str]:
    roles = (log.eval.model_roles or {}).values()
    return [one.model for found in roles for one in (found if isinstance(found, list) else [found])]


def _frame(log: _Log, service: str) -> pd.DataFrame:
    spec = log.judged.log.eval
    facts = spec.metadata or {}
    same = {
        "log": log.judged.file,
        "model": service,
        "cases": log.cases,
        "task": spec.task,
        "dataset": str(facts.get("dataset", spec.dataset.name or "")),
        "dataset_sha256": str(facts.get("dataset_sha256", "")),
        "references": log.judged.references,
        "task_version": str(spec.task_version),
    }
    return pd.DataFrame(log.judged.rows).assign(**{name: whole_characters(value) for name, value in same.items()})


@dataclass(frozen=True)
class ServiceScore:
    """One model or assistant.

    Attributes:
        service: Who answered.
        mean: Mean final score over the common questions, 1 to 10, with its interval.
        with_nothing: The same where an answer that a search found nothing for has the lowest score, over the questions
            that are then common.
        questions: Questions that it was asked.
        scored: Questions of these with a score.
        became: What became of its answers, with counts; several of a question if it was asked in several epochs.
        self_judged: Scored answers that the model judged itself.
        because: Commonest reason why a search or translation failed; empty if none did.
    """

    service: str
    mean: Estimate
    with_nothing: Estimate
    questions: int
    scored: int
    became: dict[str, int]
    self_judged: int
    because: str


@dataclass(frozen=True)
class ServiceDifference:
    """Two of them on the common questions.

    Attributes:
        first: The one with the higher mean.
        second: The other.
        difference: Mean of first less second, with its interval.
        p: Two-sided bootstrap p-value, 0 to 1; NaN with fewer than two questions.
        p_holm: The same after Holm's correction over all pairs of the comparison.
        apart: Whether the two can be told apart.
    """

    first: str
    second: str
    difference: Estimate
    p: float
    p_holm: float
    apart: bool


@dataclass(frozen=True)
class WithoutSome:
    """What leaving some of them out would change.

    Attributes:
        services: Those to leave out.
        common: Questions that the others have in common.
    """

    services: tuple[str, ...]
    common: int


@dataclass(frozen=True)
class Comparison:
    """Models and assistants whose scores compare.

    Attributes:
        cases: `factual` (Table 14), `translation` (Table 15) or `chosen`.
        conditions: What they have in common.
        apart_because: Why they do not stand with the first ones of the same cases, a sentence a reason.
        questions: Questions that any of them was asked.
        common: Questions that all of them have a score for.
        common_with_nothing: Questions that all of them have a score for, or found nothing for.
        services: They, the best first.
        differences: All pairs.
        without: The fewest to leave out so that the others have more questions in common; None if nothing is to gain.
    """

    cases: str
    conditions: Conditions
    apart_because: tuple[str, ...]
    questions: int
    common: int
    common_with_nothing: int
    services: tuple[ServiceScore, ...]
    differences: tuple[ServiceDifference, ...]
    without: WithoutSome | None


@dataclass(frozen=True)
class AssistantReport:
    """What logs say about models and assistants.

    Attributes:
        comparisons: Those of Table 14 first.
        simulated: Whether a model or a judge is a simulation.
        left_out: What was left out and why, a sentence each.
        level: Confidence level of the intervals.
        rounds: Rounds of the bootstrap over questions.
        seed: Its seed.
        command: The command that makes the report.
    """

    comparisons: tuple[Comparison, ...]
    simulated: bool
    left_out: tuple[str, ...]
    level: float
    rounds: int
    seed: int
    command: str


def compare_assistants(
    answers: AssistantAnswers, *, rounds: int = ROUNDS, level: float = LEVEL, seed: int = SEED, command: str = ""
) -> AssistantReport:
    """Compare models and assistants (URS paper, Tables 14 and 15).

    Scores compare only where data, rubric, judges, references and prompts are the same, and only over the questions
    that all have a score for: a search that finds pages for easy questions alone would else have the better mean.

    Args:
        answers: Their answers.
        rounds: Rounds of the bootstrap over questions.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of the bootstrap.
        command: The command that makes the report.
    """
    bootstrap = Resampling(rounds, level, seed)
    comparisons: list[Comparison] = []
    used: set[str] = set()
    for cases in (FACTUAL, TRANSLATION, CHOSEN):
        rows = answers.table[answers.table["cases"] == cases]
        for block in blocks_of(rows) if len(rows) else ():
            logs = set(block.table["log"])
            used |= logs
            comparisons.append(_comparison(cases, block, rows[rows["log"].isin(logs)], bootstrap))
    parts = [str(log) for log in answers.table["log"].unique() if log not in used]
    alone = [f"{short_name(log)} was left out: not all others were asked its questions." for log in parts]
    left_out = (*answers.left_out, *alone)
    return AssistantReport(tuple(comparisons), answers.simulated, left_out, level, rounds, seed, command)


def _comparison(cases: str, block: BlockAnswers, answers: pd.DataFrame, bootstrap: Resampling) -> Comparison:
    """Compare the services of a block over all of their answers, those to questions of their own included."""
    finals = score_table(answers, block.models).finals
    nothing = answers["became"] == NOTHING
    filled = score_table(answers.assign(**{FINAL: answers[FINAL].mask(nothing, LOWEST)}), block.models).finals
    common, common_with_nothing = _common(finals), _common(filled)
    means, with_nothing = _means(common, bootstrap), _means(common_with_nothing, bootstrap)
    # Equal means stand in the order of the names, so that the order of logs changes nothing.
    order = sorted(
        range(len(block.models)), key=lambda one: (-_known(means[one], with_nothing[one]), block.models[one])
    )
    names = tuple(block.models[one] for one in order)
    return Comparison(
        cases=cases,
        conditions=block.conditions,
        apart_because=block.differs_from_first,
        questions=len(finals),
        common=len(common),
        common_with_nothing=len(common_with_nothing),
        services=tuple(
            _service(name, answers[answers["model"] == name], means[one], with_nothing[one])
            for one, name in zip(order, names, strict=True)
        ),
        differences=_differences(common[:, order], names, bootstrap),
        without=_without(finals[:, order], names),
    )


def _common(finals: Floats) -> Floats:
    """The questions that all have a score for."""
    return finals[~np.isnan(finals).any(axis=1)]


def _means(finals: Floats, bootstrap: Resampling) -> tuple[Estimate, ...]:
    column = MeanColumn(np.arange(len(finals)), finals)
    [found] = bootstrap_means([column], len(finals), rounds=bootstrap.rounds, seed=bootstrap.seed)
    return mean_estimates(found, bootstrap.level)


def _known(mean: Estimate, with_nothing: Estimate) -> float:
    return next((value for value in (mean.value, with_nothing.value) if not np.isnan(value)), 0.0)


def _service(name: str, answers: pd.DataFrame, mean: Estimate, with_nothing: Estimate) -> ServiceScore:
    reasons = Counter(answers.loc[answers["became"] == NO_RESULT, "because"])
    return ServiceScore(
        service=name,
        mean=mean,
        with_nothing=with_nothing,
        questions=int(answers["question"].nunique()),
        scored=int(answers.loc[answers[FINAL].notna(), "question"].nunique()),
        became={str(what): int(count) for what, count in answers["became"].value_counts().items()},
        self_judged=int(answers.loc[answers[FINAL].notna(), "self_judged"].sum()),
        because=str(min(reasons, key=lambda reason: (-reasons[reason], reason))) if reasons else "",
    )


def _differences(finals: Floats, names: Sequence[str], bootstrap: Resampling) -> tuple[ServiceDifference, ...]:
    if not len(finals):
        return ()
    found = compare_means(finals, rounds=bootstrap.rounds, level=bootstrap.level, seed=bootstrap.seed)
    return tuple(
        ServiceDifference(names[one.first], names[one.second], one.difference, one.p, one.p_holm, one.significant)
        for one in found
    )


def _without(finals: Floats, names: Sequence[str]) -> WithoutSome | None:
    """The fewest to leave out, one after the other, so that the others have more questions in common."""
    left: list[int] = []
    kept = list(range(len(names)))
    common = start = len(_common(finals))
    scored = np.count_nonzero(~np.isnan(finals), axis=0)
    while len(kept) > 2 and common == start:
        gains = {one: len(_common(finals[:, [other for other in kept if other != one]])) for one in kept}
        # Where it makes no difference yet, the one with the fewest scores goes first.
        worst = max(kept, key=lambda one: (gains[one], -scored[one]))
        kept.remove(worst)
        left.append(worst)
        common = gains[worst]
    return WithoutSome(tuple(names[one] for one in left), common) if common > start else None


SIMULATION = "SIMULATION: models whose names begin with `urs_simulation/` are simulated; their scores mean nothing."

_TITLES = {
    FACTUAL: "Factual QA (laid out as Table 14)",
    TRANSLATION: "Translation (laid out as Table 15)",
    CHOSEN: "Cases chosen by their ids",
}
_PUBLISHED = {FACTUAL: 14, TRANSLATION: 15}
_ROUNDING = 1e-9
_FIRST = (SCORED, EMPTY, NOTHING, NO_RESULT)


def sections_of(report: AssistantReport) -> list[Section]:
    """The sections of a report in their order; published tables follow the last comparison of their cases."""
    found: list[Section] = []
    for cases, title in _TITLES.items():
        several = [one for one in report.comparisons if one.cases == cases]
        for number, one in enumerate(several, start=1):
            found += _sections_comparison(one, title if len(several) == 1 else f"{title}, {number} of {len(several)}")
        if several and cases in _PUBLISHED:
            found.append(published_section(_PUBLISHED[cases], judged=True))
    if report.left_out:
        found.append(Section("Left out", 2, report.left_out))
    found.append(Section("Method", 2, tuple(_method(report))))
    return found


def _sections_comparison(found: Comparison, title: str) -> list[Section]:
    apart = [f"Apart from the first table of these cases: {reason}" for reason in found.apart_because]
    lines = (*apart, *_conditions(found), *_in_common(found), *_leader(found))
    return [
        Section(title, 2, lines, (_scores(found),)),
        Section("What became of the answers", 3, tuple(_about_answers(found)), (_sections_became(found),)),
        *(
            [Section("Differences on the common questions", 3, (), (_sections_differences(found),))]
            if found.differences
            else []
        ),
    ]


def _conditions(found: Comparison) -> list[str]:
    facts = found.conditions
    sha256 = f" (sha256 {facts.dataset_sha256[:8]})" if facts.dataset_sha256 else ""
    references = f" References: {facts.references}." if facts.references else ""
    return [
        f"Judge: {', '.join(facts.judges) or 'none'}.",
        f"Data: {facts.dataset}{sha256}. Rubric: {facts.rubric}. Prompts: {facts.prompts}.{references}",
    ]


def _in_common(found: Comparison) -> list[str]:
    """How many questions the means are over, and what would make them more."""
    several = len(found.services)
    asked = counted(found.questions, "question")
    if several == 1:
        return [f"One alone, over {found.common} of {asked}; nothing to compare it with."]
    names = " and ".join(found.without.services) if found.without else ""
    if not found.common:
        advice = (
            f"Leave out the logs of {names}: the others share {counted(found.without.common, 'question')}."
            if found.without
            else "Nothing can be compared by leaving some out."
        )
        return [f"No question of {asked} has a score from all {several}, so that there are no means. {advice}"]
    said = [
        f"Means are over the {counted(found.common, 'question')} of {found.questions} that all {several} have a score "
        "for."
    ]
    if found.without:
        said.append(f"Without {names}, the others would share {found.without.common}.")
    if any(math.isnan(one.mean.low) for one in found.services):
        said.append("Over so few questions there is no interval.")
    return said


def _leader(found: Comparison) -> list[str]:
    """Whether the best is the best."""
    if not found.differences:
        return []
    best = found.services[0].service
    pairs = [one for one in found.differences if one.first == best]
    close = [one.second for one in pairs if not one.apart]
    if not close:
        return [f"{best} is ahead of all others."]
    rest = len(pairs) - len(close)
    others = f" It is ahead of the {'other one' if rest == 1 else f'other {rest}'}." if rest else ""
    same = [one.second for one in pairs if abs(one.difference.value) < _ROUNDING]
    mean = f"the highest mean, the same as {' and '.join(same)}," if same else "the highest mean,"
    return [f"{best} has {mean} but cannot be told apart from {' and '.join(close)}.{others}"]


def _scores(found: Comparison) -> TextTable:
    nothing = _any_nothing(found)
    headings = ("no.", "answered by", "score", "interval", "scored")
    rows = tuple(
        (
            str(place),
            one.service,
            mean_text(one.mean.value),
            interval_text(one.mean.low, one.mean.high) or NONE,
            f"{one.scored} of {one.questions}",
            *([mean_text(one.with_nothing.value)] if nothing else []),
        )
        for place, one in enumerate(found.services, start=1)
    )
    return TextTable((*headings, *(["nothing = 1"] if nothing else [])), rows, 2)


def _any_nothing(found: Comparison) -> bool:
    return any(NOTHING in one.became for one in found.services)


def _sections_became(found: Comparison) -> TextTable:
    there = {what for one in found.services for what in one.became}
    kinds = [what for what in _FIRST if what in there or what == SCORED]
    kinds += sorted(there - set(kinds))
    rows = tuple(
        (one.service, str(sum(one.became.values())), *[str(one.became.get(what, 0)) for what in kinds])
        for one in found.services
    )
    return TextTable(("answered by", "answers", *kinds), rows, 1)


def _about_answers(found: Comparison) -> list[str]:
    said = []
    if any(EMPTY in one.became for one in found.services):
        said.append("Empty answers have the lowest score, 1, without a judge.")
    if _any_nothing(found):
        said.append(
            "A search that finds no page has no score, and its question counts for nobody. In the column 'nothing = 1' "
            "it has the lowest score, as an empty answer has, over the "
            f"{counted(found.common_with_nothing, 'question')} that are then common."
        )
    said += [
        f"{one.service} judged {counted(one.self_judged, 'answer')} of its own."
        for one in found.services
        if one.self_judged
    ]
    return said + [_failed(one) for one in found.services if one.because]


def _failed(one: ServiceScore) -> str:
    times = one.became[NO_RESULT]
    often = ", most often" if times > 1 else ""
    return f"{one.service} failed {counted(times, 'time')}{often}: {one.because}"


def _sections_differences(found: Comparison) -> TextTable:
    # Places stand for names, two of which in every row would leave no room for numbers.
    place = {one.service: number for number, one in enumerate(found.services, start=1)}
    rows = tuple(
        (
            f"{place[one.first]} and {place[one.second]}",
            f"{place[one.first]} is ahead" if one.apart else "cannot tell apart",
            signed_text(one.difference.value),
            signed_interval(one.difference) or NONE,
            p_text(one.p),
            p_text(one.p_holm),
        )
        for one in found.differences
    )
    return TextTable(("no.", "in words", "difference", "interval", "p", "p (Holm)"), rows, 2)


def _method(report: AssistantReport) -> list[str]:
    return [
        "Scored: questions with a score, of those asked. Difference: the first less the second, question by question.",
        f"Intervals: {level_text(report.level)}, bootstrap over questions, {report.rounds:,} rounds (seed "
        f"{report.seed}); epochs of a question are averaged first.",
        f"One is ahead of another where the p-value of the paired bootstrap is below {1 - report.level:.2g} after "
        "Holm's correction; else they cannot be told apart, which does not say that they are equal.",
    ]


ASSISTANTS = ReportKind(
    "urs-inspect assistants",
    1,
    "urs-inspect assistants",
    "assistants.json",
    ("assistants.csv", "assistants_differences.csv", "assistants.md"),
)
"""How these reports are told from other files."""

_BOUNDS = ("low", "high", "n")
_KEY = ("comparison", "cases", "judge")


def write_files(report: AssistantReport, directory: Path) -> tuple[Path, ...]:
    """Write the report; an earlier one is replaced.

    Raises:
        InputError: As from `write_directory`.
    """
    nothing = ("with_nothing", *[f"with_nothing_{name}" for name in _BOUNDS])
    scores = (*_KEY, "service", "mean", *_BOUNDS, *nothing, "questions", "scored", "became", "because")
    differences = (*_KEY, "first", "second", "difference", *_BOUNDS, "p", "p_holm", "apart")
    warning = [Section("Simulation", 2, (SIMULATION,))] if report.simulated else []
    contents = {
        "assistants.csv": csv_text(scores, _files_scores(report)),
        "assistants_differences.csv": csv_text(differences, _files_differences(report)),
        "assistants.md": sections_markdown("Models and assistants", [*warning, *sections_of(report)]),
        ASSISTANTS.json: report_json(ASSISTANTS, report),
    }
    return write_directory(directory, contents, ASSISTANTS)


_Rows = Iterator[tuple[object, ...]]


def _files_scores(report: AssistantReport) -> _Rows:
    for number, found in enumerate(report.comparisons, start=1):
        for one in found.services:
            became = ", ".join(f"{what} {count}" for what, count in one.became.items())
            yield (
                *(number, found.cases, ", ".join(found.conditions.judges), one.service),
                *(one.mean.value, one.mean.low, one.mean.high, one.mean.n),
                *(one.with_nothing.value, one.with_nothing.low, one.with_nothing.high, one.with_nothing.n),
                *(one.questions, one.scored, became, one.because),
            )


def _files_differences(report: AssistantReport) -> _Rows:
    for number, found in enumerate(report.comparisons, start=1):
        for one in found.differences:
            yield (
                *(number, found.cases, ", ".join(found.conditions.judges), one.first, one.second),
                *(one.difference.value, one.difference.low, one.difference.high, one.difference.n),
                *(one.p, one.p_holm, str(one.apart).lower()),
            )
