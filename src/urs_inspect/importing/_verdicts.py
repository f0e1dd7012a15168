"""Logs of verdicts and scores that judges gave already, from the files that publish them."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from inspect_ai.log import EvalLog, EvalMetric, EvalResults, EvalSample, EvalScore
from inspect_ai.model import ModelConfig
from inspect_ai.scorer import Score

from urs_inspect._util import InputError, choices, counted, did_you_mean
from urs_inspect.datasets._columns import Preference
from urs_inspect.datasets._rows import Fields, label_key, shown
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.importing._answers import (
    ImportedAnswer,
    ImportedFile,
    answer_sample,
    made_log,
    needed_text,
    sources_of,
)
from urs_inspect.judging._pair_reply import REPLIES, First, PairReply
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.logs._battles import scored_copy
from urs_inspect.logs._files import PACKAGE, finished_logs
from urs_inspect.logs._responses import ANSWERS_ONLY, COMPARE, NO_MODEL, text_of
from urs_inspect.logs._scores import TEXTS, number
from urs_inspect.scorers import pair_choice, pair_verdict
from urs_inspect.scorers._metrics import mean

SCORES_TASK = "imported_scores"
PAIRS_TASK = "imported_pairs"
_LETTERS = ("C", "P", "I", "N")
VERDICTS: Mapping[str, Preference] = {
    "a": "a", "1": "a", "model_a": "a", "model_1": "a", "a>b": "a", "first": "a",
    "b": "b", "2": "b", "model_b": "b", "model_2": "b", "b>a": "b", "second": "b",
    "tie": "tie", "tie (bothbad)": "tie", "a=b": "tie",
}  # fmt: skip
"""What a verdict may be, in any case -> the better answer; the name of a model is another."""
_SHOWN_FIRST: Mapping[str, First] = {"a": "a", "ab": "a", "1": "a", "b": "b", "ba": "b", "2": "b"}


@dataclass(frozen=True)
class ImportedScore:
    """What a judge gave an answer; also a person's label, which has no judge."""

    answer: ImportedAnswer
    judge: str
    value: bool | float | str

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is about."""
        return self.answer.asked, self.answer.model, self.judge


@dataclass(frozen=True)
class ImportedVerdict:
    """What a judge, or a person, said of two answers, a and b."""

    answers: tuple[ImportedAnswer, ImportedAnswer]
    first: First  # which answer was shown first
    judge: str  # of a vote the person, empty if it has no name
    verdict: Preference | None  # None where the file has none
    label: Preference | None  # that of people; None where the file has none
    reason: str
    file: str  # where it stands

    def in_order(self) -> "ImportedVerdict":
        """The same with a as the answer of the model whose name sorts first, as in a `Ballot`."""
        if self.answers[0].model < self.answers[1].model:
            return self
        return replace(
            self,
            answers=self.answers[::-1],
            first=_OTHER[self.first],
            verdict=_OTHER[self.verdict],
            label=_OTHER[self.label],
        )


_OTHER: Mapping[str | None, Any] = {"a": "b", "b": "a", "tie": "tie", None: None}


class KnownAnswers:
    """Answers in logs, by which verdicts on them are completed; those of no log know nothing."""

    def __init__(self, logs: Sequence[str], notes: list[str]) -> None:
        self._by_id: dict[str, ImportedAnswer] = {}
        self._by_question: dict[tuple[str, str], ImportedAnswer] = {}
        self._models: set[str] = set()
        for log in finished_logs(logs, notes, without=ANSWERS_ONLY) if logs else ():
            for sample in log.samples or []:
                self._add(sample, log.eval.model)

    def _add(self, sample: EvalSample, model: str) -> None:
        facts = dict(sample.metadata or {})
        text = sample.output.completion
        question = text_of(sample)
        known = ImportedAnswer(question, str(sample.id), model, text, facts=facts)
        answer_id = str(facts.get("answer_id", ""))
        if answer_id:
            self._by_id[answer_id] = known
        self._models.add(model.rpartition("/")[2])
        for name in (model.rpartition("/")[2], model):
            self._by_question[known.question_id, name] = known
            self._by_question[known.asked, name] = known

    @property
    def _of_others(self) -> str:
        """What is wrong with a model that gave none of the answers."""
        return (
            f"the logs of --answers have no answer of '{{value}}'; they are of"
            f" {choices(sorted(self._models))}. One name on both sides: import the answers with"
            " --file-name or --set model=NAME"
        )

    def of(self, fields: Fields, side: str = "") -> ImportedAnswer | None:
        """The answer that a row is about, on one `side` (`_a`, `_b`; empty where there is one).

        None, with a fault, if the row does not say, or the logs have no such answer.
        """
        answer_id = fields.name(f"answer{side}_id")
        if self._by_question and answer_id:
            known = self._by_id.get(answer_id)
        else:
            question = fields.name("question")
            question_id = fields.name("question_id")
            model = needed_text(fields, f"model{side}").strip()
            if not (question or question_id):
                fields.note("question", "empty, and there is no question_id")
            if not self._by_question:
                text = fields.written(f"answer{side}")
                asked = question or f"question {question_id}"
                return ImportedAnswer(asked, question_id, model, text)
            if model.rpartition("/")[2] not in self._models:
                fields.note(f"model{side}", self._of_others, model)
            by_text = self._by_question.get((question, model))
            known = by_text or self._by_question.get((question_id, model))
        if known is None and not fields.faults:
            fields.note("", "the logs of --answers do not have this answer")
        return known


def read_scores_file(
    file: ImportedFile,
    judges: Sequence[str],
    label: str | None,
    known: KnownAnswers,
    notes: list[str],
) -> list[ImportedScore]:
    """Read what judges gave answers, and people's labels of these as scores of the judge `label`.

    Each of `judges` has a column; without any, the file has the columns judge and score.

    Raises:
        InputError: Once, with counts: values that are no score, two scores of a judge for one
            answer, and answers that are not known.
    """
    if not judges:
        file.require("judge", "score")
    columns = judges
    if label:
        columns = [*judges, label]
    unknown = [name for name in columns if name not in file.columns]
    if unknown:
        raise InputError(
            f"{file.path}: no column '{unknown[0]}'{did_you_mean(unknown[0], file.columns)}; there"
            f" are: {choices(file.columns)}"
        )
    scores: dict[tuple[str, str, str], ImportedScore] = {}

    def build(fields: Fields) -> ImportedAnswer | None:
        given = {name: score_in(fields, name) for name in columns}
        score = None if judges else score_in(fields, "score")
        if score is not None:
            judge = needed_text(fields, "judge").strip()
            given[judge] = score
        values = {judge: value for judge, value in given.items() if value is not None}
        answer = None
        if values:
            answer = known.of(fields)
        if answer is None:
            return None
        for judge, value in values.items():
            one = ImportedScore(answer, judge, value)
            if scores.setdefault(one.key, one).value != value:
                fields.note("", "another score of the same judge for an answer")
        return answer

    without = len(file.rows) - len(file.read(build))
    if without:
        notes.append(f"{file.path}: {counted(without, 'row')} without any score, left out.")
    return list(scores.values())


def score_in(fields: Fields, column: str) -> bool | float | str | None:
    """A score as the log has it: a letter, a boolean or a number; None without one."""
    value = fields.values.get(column)
    if isinstance(value, str):
        value = value.strip()
    if value is None or value == "":
        return None
    if isinstance(value, bool) or value in _LETTERS:
        return cast(bool | str, value)
    if isinstance(value, str) and value.lower() in TEXTS:
        return bool(TEXTS[value.lower()])
    read = number(value)
    if math.isnan(read):
        return None
    if math.isinf(read):
        allowed = f"allowed: {choices(TEXTS)}, finite numbers"
        fields.note(column, f"{{value}} is no score; {allowed}", shown(value))
        return None
    return read


def score_logs(
    scores: Sequence[ImportedScore], ids: Mapping[str, str], files: Iterable[Path]
) -> dict[str, EvalLog]:
    """A finished log for each model, in which each judge is a scorer of the judge's name."""
    samples: dict[str, dict[str, EvalSample]] = defaultdict(dict)
    judges = dict.fromkeys(_scorer(one.judge) for one in scores)
    for one in scores:
        sample_id = ids[one.answer.asked]
        of_model = samples[one.answer.model]
        sample = of_model.setdefault(sample_id, answer_sample(one.answer, sample_id))
        before = sample.scores or {}
        score = Score(value=one.value)
        sample.scores = {**before, _scorer(one.judge): score}
    sources = sources_of(files)
    logs: dict[str, EvalLog] = {}
    for model, by_id in samples.items():
        answered = list(by_id.values())
        log = made_log(SCORES_TASK, model, answered, sources)
        log.results = EvalResults(
            total_samples=len(by_id),
            completed_samples=len(by_id),
            scores=[_header(judge, answered) for judge in judges],
        )
        logs[model] = log
    return logs


def _scorer(judge: str) -> str:
    """The name of a judge as `--scorer NAME:KEY` can take it."""
    return judge.replace(":", "_")


def _header(judge: str, samples: Sequence[EvalSample]) -> EvalScore:
    given = (sample.scores or {} for sample in samples)
    values = [number(scores[judge].value) for scores in given if judge in scores]
    return EvalScore(
        name=judge,
        scorer=judge,
        scored_samples=len(values),
        unscored_samples=len(samples) - len(values),
        metrics={"mean": EvalMetric(name="mean", value=mean(values))},
    )


# --- pairs ---


def read_pairs_file(
    file: ImportedFile,
    meanings: Mapping[str, Preference | None],
    known: KnownAnswers,
    people: bool = False,
) -> list[ImportedVerdict]:
    """Read what judges said of pairs of answers; the answer named first was shown first, unless a
    column `first` says b or ba.

    `meanings` says what further verdicts mean, by `label_key`. `people` need no name.
    """
    needed = ("verdict",) if people else ("judge", "verdict")
    file.require(*needed)

    def build(fields: Fields) -> ImportedVerdict | None:
        first = known.of(fields, "_a")
        second = known.of(fields, "_b")
        if first is None or second is None:
            return None
        if first.model == second.model:
            fields.note("", "compares a model with itself")
        one = ImportedVerdict(
            answers=(first, second),
            first="a" if fields.blank("first") else fields.label("first", _SHOWN_FIRST),
            judge=fields.name("judge") if people else needed_text(fields, "judge").strip(),
            verdict=_better(fields, "verdict", meanings),
            label=_better(fields, "label", meanings),
            reason=fields.written("reason"),
            file=str(file.path),
        )
        return one.in_order()

    return file.read(build)


def _better(
    fields: Fields, column: str, meanings: Mapping[str, Preference | None]
) -> Preference | None:
    """The better answer, by what the file writes; None where it is blank or means none."""
    if fields.blank(column):
        return None
    value = fields.values[column]
    key = label_key(value)
    if key in meanings:
        return meanings[key]
    model_b = fields.name("model_b")
    model_a = fields.name("model_a")
    models: Mapping[str, Preference] = {model_b: "b", model_a: "a"}
    better = models.get(str(value).strip()) or VERDICTS.get(key)
    if better is None:
        allowed = f"allowed: {choices(VERDICTS)}, the name of a model"
        more = "--columns '{verdicts: {...}}' says what others mean"
        fields.note(column, f"unknown {column} {{value}}; {allowed}; {more}", shown(value))
    return better


Pairs = Mapping[str, tuple[Ballot, list[ImportedVerdict]]]
"""Id of a pair -> the pair, and what was said of it."""


def pair_logs(
    verdicts: Sequence[ImportedVerdict], ids: Mapping[str, str], files: Iterable[Path]
) -> dict[str, EvalLog]:
    """A finished log of `mad` for each judge, with both orders of a pair in one sample.

    Where the files have labels also a log of labelled pairs, as `judge_pairwise` makes them.

    Raises:
        InputError: If a judge said two things of the same pair in the same order, or a pair has two
            labels.
    """
    _refuse_two_labels(pairs_of(verdicts, ids))
    sources = sources_of(files)
    by_judge: dict[str, list[ImportedVerdict]] = defaultdict(list)
    for one in verdicts:
        by_judge[one.judge].append(one)
    logs: dict[str, EvalLog] = {}
    for judge, given in by_judge.items():
        pairs = pairs_of(given, ids)
        samples = {}
        for name, pair in pairs.items():
            ballot, said = pair
            samples[name] = compared(ballot, said)
        _refuse_two_verdicts(judge, pairs, samples)
        roles = {"grader": ModelConfig(model=judge)}
        log = made_log(
            f"{PACKAGE}mad", NO_MODEL, list(samples.values()), sources, model_roles=roles
        )
        logs[judge] = scored_copy(log, pair_choice(), "pair_choice")
        labelled = _labelled(pairs, samples)
        if labelled:
            orders = "ab"
            if any(len(_orders(sample)) > 1 for sample in samples.values()):
                orders = "both"
            arguments = {"orders": orders}
            log = made_log(PAIRS_TASK, judge, labelled, sources, task_args=arguments)
            logs[f"{judge} with labels"] = scored_copy(log, pair_verdict(), "pair_verdict")
    return logs


def pairs_of(verdicts: Iterable[ImportedVerdict], ids: Mapping[str, str]) -> Pairs:
    """What was said of each pair; `ids` are those of samples, by question."""
    pairs: dict[str, tuple[Ballot, list[ImportedVerdict]]] = {}
    for one in verdicts:
        first = one.answers[0]
        texts = {answer.model: answer.text for answer in one.answers}
        ballot = Ballot.between(ids[first.asked], first.question, texts)
        _, said = pairs.setdefault(ballot.id, (ballot, []))
        said.append(one)
    return pairs


def _refuse_two_labels(pairs: Pairs) -> None:
    """Refuse pairs that have different labels in different rows."""
    twice = []
    for ballot, given in pairs.values():
        labels = {one.label for one in given} - {None}
        if len(labels) > 1:
            twice.append(ballot)
    if twice:
        raise InputError(
            f"{counted(len(twice), 'pair')} with two labels, such as {named(twice[0])}; they are"
            f" in {_files(pairs, (ballot.id for ballot in twice))}; allowed: one label of a pair,"
            " in all of its rows"
        )


def _refuse_two_verdicts(judge: str, pairs: Pairs, samples: Mapping[str, EvalSample]) -> None:
    """Refuse pairs of which a judge said different things in the same order."""
    twice = [
        name
        for name, sample in samples.items()
        if len(sample.store[REPLIES]) > len(_orders(sample))
    ]
    if twice:
        raise InputError(
            f"{counted(len(twice), 'pair')} with two verdicts of {judge} in the same order, such as"
            f" {named(pairs[twice[0]][0])}; they are in {_files(pairs, twice)}; allowed: one in"
            " each order, in all of FILES; votes of people, several on a pair, need --people"
        )


def _files(pairs: Pairs, chosen: Iterable[str]) -> str:
    """The files that say something of some pairs."""
    names = set[str]()
    for name in chosen:
        _, said = pairs[name]
        names.update(one.file for one in said)
    return choices(sorted(names))


def named(ballot: Ballot) -> str:
    """A pair as messages call it."""
    return f"{ballot.model_a} and {ballot.model_b} on question '{ballot.instruction_id}'"


def in_one_order(log: EvalLog) -> int:
    """How many pairs of a log of `pair_logs` a judge saw in one order only."""
    if log.eval.task == PAIRS_TASK:  # they are in the log of `mad` as well
        return 0
    return sum(len(_orders(sample)) == 1 for sample in log.samples or [])


def _orders(sample: EvalSample) -> set[str]:
    return {reply["first"] for reply in sample.store[REPLIES]}


def compared(ballot: Ballot, given: Iterable[ImportedVerdict]) -> EvalSample:
    """A sample of `mad` with the verdicts on a pair, equal ones once."""
    replies: list[dict[str, Any]] = []
    for one in given:
        reply = PairReply(
            one.first, (OVERALL,), one.reason, failure="no_answer", error="No verdict."
        )
        if one.verdict is not None:
            verdicts: dict[str, str] = {OVERALL: one.verdict}
            reply = PairReply(one.first, (OVERALL,), one.reason, verdicts=verdicts)
        record = {"judge": one.judge, **asdict(reply)}
        if record not in replies:
            replies.append(record)
    return EvalSample(
        id=ballot.id,
        epoch=1,
        input=ballot.instruction,
        target="",
        metadata={"phase": COMPARE, "ballot": ballot.to_dict()},
        store={REPLIES: replies},
    )


def _labelled(pairs: Pairs, samples: Mapping[str, EvalSample]) -> list[EvalSample]:
    """The samples of pairs with a label, as `judge_pairwise` makes them."""
    labelled: list[EvalSample] = []
    for name, (ballot, given) in pairs.items():
        one = next((one for one in given if one.label), None)
        if one is None:
            continue
        metadata: dict[str, Any] = {
            "group": str(one.answers[0].facts.get("group", "")),
            "prompt": ballot.instruction,
            "response_a": ballot.response_a,
            "response_b": ballot.response_b,
            "label": one.label,
            "dimensions": {},
        }
        labelled.append(
            samples[name].model_copy(update={"target": one.label, "metadata": metadata})
        )
    return labelled
