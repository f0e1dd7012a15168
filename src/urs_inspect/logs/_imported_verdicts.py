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

from urs_inspect._util import InputError, choices, counted
from urs_inspect.datasets._rows import Row, refuse, shown
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.judging._pair_reply import REPLIES, First, PairReply
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.logs._battles import scored_copy
from urs_inspect.logs._files import PACKAGE, finished_logs
from urs_inspect.logs._imported import (
    Faults,
    ImportedAnswer,
    ImportedFile,
    answer_sample,
    made_log,
    sample_ids,
    sources_of,
    text_in,
    texts_in,
)
from urs_inspect.logs._responses import ANSWERS_ONLY, COMPARE, NO_MODEL, text_of
from urs_inspect.logs._scores import TEXTS, number
from urs_inspect.scorers import pair_choice, pair_verdict

SCORES_TASK = "imported_scores"
PAIRS_TASK = "imported_pairs"
_LETTERS = ("C", "P", "I", "N")
_BETTER: Mapping[str, str] = {
    **dict.fromkeys(("a", "1", "model_a", "model_1", "a>b", "first"), "first"),
    **dict.fromkeys(("b", "2", "model_b", "model_2", "b>a", "second"), "second"),
    **dict.fromkeys(("tie", "tie (bothbad)", "a=b"), "tie"),
}
"""What a verdict may be, in any case -> what it means; the name of a model is another."""
MEANINGS = ("first", "second", "tie", "none")
"""What `--verdicts` may say that a verdict means."""
_FIRST_SHOWN = {"": True, "a": True, "ab": True, "1": True, "b": False, "ba": False, "2": False}
_UNREAD = "?"


@dataclass(frozen=True)
class ImportedScore:
    """What a judge gave an answer; also a person's label, which has no judge."""

    answer: ImportedAnswer
    judge: str
    value: bool | float | str

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is about."""
        return self.answer.question.strip(), self.answer.model, self.judge


@dataclass(frozen=True)
class ImportedVerdict:
    """What a judge said of two answers, the first of which was shown first."""

    answers: tuple[ImportedAnswer, ImportedAnswer]
    judge: str
    verdict: str  # first, second, tie; none where the file has none
    label: str  # the same of people; empty where the file has none
    reason: str


class KnownAnswers:
    """Answers in logs, by which verdicts on them are completed; those of no log know nothing."""

    def __init__(self, logs: Sequence[str], notes: list[str]) -> None:
        self._by_id: dict[str, ImportedAnswer] = {}
        self._by_question: dict[tuple[str, str], ImportedAnswer] = {}
        for log in finished_logs(logs, notes, without=ANSWERS_ONLY) if logs else ():
            for sample in log.samples or []:
                self._add(sample, log.eval.model)

    def _add(self, sample: EvalSample, model: str) -> None:
        question = text_of(sample)
        text = sample.output.completion
        facts = dict(sample.metadata or {})
        known = ImportedAnswer(question, str(sample.id), model, text, "", facts)
        if answer_id := str(facts.get("answer_id", "")):
            self._by_id[answer_id] = known
        for name in (model.rpartition("/")[2], model):
            self._by_question[str(sample.id), name] = known
            self._by_question[question.strip(), name] = known

    def of(self, row: Row, side: str, faults: Faults) -> ImportedAnswer | None:
        """The answer that a row is about, on one `side` (`_a`, `_b`; empty where there is one).

        None, with a fault, if the row does not say, or the logs have no such answer.
        """
        answer_id = text_in(row, f"answer{side}_id") or ""
        question = (text_in(row, "question") or "").strip()
        question_id = text_in(row, "question_id") or ""
        if self._by_question and answer_id:
            found = self._by_id.get(answer_id)
        else:
            texts = texts_in(row, faults, [f"model{side}"])
            if texts is None:
                return None
            model = texts[f"model{side}"].strip()
            if not self._by_question:
                if not (question or question_id):
                    faults.add("without a question or its id", row.place)
                    return None
                text = text_in(row, f"answer{side}") or ""
                asked = question or f"question {question_id}"
                return ImportedAnswer(asked, question_id, model, text, "", {})
            keys = [(question, model), (question_id, model)]
            found = next(filter(None, map(self._by_question.get, keys)), None)
        if found is None:
            faults.add("about an answer that the logs of --answers do not have", row.place)
        return found


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
    wanted = [*judges, label] if label else judges
    if unknown := [name for name in wanted if name not in file.columns]:
        raise InputError(
            f"{file.path}: no column '{unknown[0]}'; there are: {choices(file.columns)}"
        )
    faults = Faults(file.path)
    read: dict[tuple[str, str, str], ImportedScore] = {}
    without = 0
    for row in file.rows:
        given = {name: row.values.get(name) for name in wanted}
        if not judges:
            given[text_in(row, "judge") or ""] = row.values.get("score")
        values = {name: _score(value, row, faults) for name, value in given.items()}
        kept = {name: value for name, value in values.items() if value is not None}
        without += not kept
        answer = known.of(row, "", faults) if kept else None
        for name, value in kept.items() if answer else ():
            one = ImportedScore(cast(ImportedAnswer, answer), name, value)
            if read.setdefault(one.key, one).value != value:
                faults.add("with another score of the same judge for an answer", row.place)
    refuse(faults.sentences())
    if without:
        notes.append(f"{file.path}: {counted(without, 'row')} without any score, left out.")
    return list(read.values())


def _score(value: Any, row: Row, faults: Faults) -> bool | float | str | None:
    """A score as the log has it: a letter, a boolean or a number; None without one."""
    if isinstance(value, str):
        value = value.strip()
    if value is None or value == "" or value != value:
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
        faults.add(f"with a score that is none, as {shown(value)} ({allowed})", row.place)
        return None
    return read


def ids_of(answers: Iterable[ImportedAnswer], notes: list[str]) -> dict[str, str]:
    """Ids of samples by question."""
    return sample_ids(((one.question, one.question_id) for one in answers), notes)


def score_logs(
    scores: Sequence[ImportedScore], ids: Mapping[str, str], files: Iterable[Path]
) -> dict[str, EvalLog]:
    """A finished log for each model, in which each judge is a scorer of the judge's name."""
    samples: dict[str, dict[str, EvalSample]] = defaultdict(dict)
    judges = dict.fromkeys(_scorer(one.judge) for one in scores)
    for one in scores:
        sample_id = ids[one.answer.question.strip()]
        of_model = samples[one.answer.model]
        sample = of_model.setdefault(sample_id, answer_sample(one.answer, sample_id))
        sample.scores = {**(sample.scores or {}), _scorer(one.judge): Score(value=one.value)}
    sources = sources_of(files)
    logs: dict[str, EvalLog] = {}
    for model, by_id in samples.items():
        log = made_log(SCORES_TASK, model, list(by_id.values()), sources)
        log.results = EvalResults(
            total_samples=len(by_id),
            completed_samples=len(by_id),
            scores=[_mean(judge, list(by_id.values())) for judge in judges],
        )
        logs[model] = log
    return logs


def _scorer(judge: str) -> str:
    """The name of a judge as `--scorer NAME:KEY` can take it."""
    return judge.replace(":", "_")


def _mean(judge: str, samples: Sequence[EvalSample]) -> EvalScore:
    given = (sample.scores or {} for sample in samples)
    values = [number(scores[judge].value) for scores in given if judge in scores]
    mean = math.fsum(values) / len(values) if values else math.nan
    return EvalScore(
        name=judge,
        scorer=judge,
        scored_samples=len(values),
        unscored_samples=len(samples) - len(values),
        metrics={"mean": EvalMetric(name="mean", value=mean)},
    )


# --- pairs ---


def read_pairs_file(
    file: ImportedFile, meanings: Mapping[str, str], known: KnownAnswers
) -> list[ImportedVerdict]:
    """Read what judges said of pairs of answers; the answer named first was shown first, unless a
    column `first` says b or ba.

    `meanings` says what further verdicts mean, one of `MEANINGS`.
    """
    file.require("judge", "verdict")
    faults = Faults(file.path)
    verdicts = []
    for row in file.rows:
        pair = [known.of(row, side, faults) for side in ("_a", "_b")]
        said = [_better(row, what, meanings, faults) for what in ("verdict", "label")]
        shown_first = _FIRST_SHOWN.get((text_in(row, "first") or "").strip().lower())
        if shown_first is None:
            faults.add(f"with another `first` than {choices(list(_FIRST_SHOWN)[1:])}", row.place)
        elif pair[0] and pair[1]:
            if pair[0].model == pair[1].model:
                faults.add("that compare a model with itself", row.place)
            one = ImportedVerdict(
                answers=(pair[0], pair[1]),
                judge=(text_in(row, "judge") or "").strip(),
                verdict=said[0],
                label="" if said[1] == "none" else said[1],
                reason=text_in(row, "reason") or "",
            )
            verdicts.append(one if shown_first else _swapped(one))
    refuse(faults.sentences())
    return verdicts


_OTHER = {"first": "second", "second": "first"}


def _swapped(one: ImportedVerdict) -> ImportedVerdict:
    """A verdict on the same answers in the other order."""
    verdict, label = (_OTHER.get(said, said) for said in (one.verdict, one.label))
    return replace(one, answers=one.answers[::-1], verdict=verdict, label=label)


def _better(row: Row, what: str, meanings: Mapping[str, str], faults: Faults) -> str:
    value = row.values.get(what)
    text = f"{value:g}" if isinstance(value, float) else str("" if value is None else value).strip()
    if text in meanings:
        return meanings[text]
    if not text:
        return "none"
    named = {text_in(row, f"model_{side}"): side for side in ("b", "a")}
    found = _BETTER.get(named.get(text, text.lower()))
    if found is None:
        allowed = f"allowed: {choices(_BETTER)}, the name of a model; --verdicts says what others"
        faults.add(f"with an unknown {what}, as {shown(value)} ({allowed} mean)", row.place)
    return found or "none"


def pair_logs(
    verdicts: Sequence[ImportedVerdict], ids: Mapping[str, str], files: Iterable[Path]
) -> dict[str, EvalLog]:
    """A finished log of `mad` for each judge, with both orders of a pair in one sample.

    Where the files have labels also a log of labelled pairs, as `judge_pairwise` makes them.

    Raises:
        InputError: If a judge said two things of the same pair in the same order, or a pair has two
            labels.
    """
    by_judge: dict[str, dict[str, list[tuple[Ballot, ImportedVerdict]]]] = {}
    for one in verdicts:
        ballot = _ballot(one, ids)
        by_judge.setdefault(one.judge, {}).setdefault(ballot.id, []).append((ballot, one))
    sources = sources_of(files)
    _refuse_contradictions(verdicts, ids)
    logs: dict[str, EvalLog] = {}
    for judge, pairs in by_judge.items():
        replies = {name: _replies(given) for name, given in pairs.items()}
        twice = [name for name, given in replies.items() if len(given) > len(_orders(given))]
        if twice:
            of = pairs[twice[0]][0][0]
            raise InputError(
                f"{counted(len(twice), 'pair')} with two verdicts of {judge} in the same order, as"
                f" {of.model_a} and {of.model_b} on question '{of.instruction_id}'"
            )
        samples = [_compared(pairs[name][0][0], given) for name, given in replies.items()]
        log = made_log(
            f"{PACKAGE}mad",
            NO_MODEL,
            samples,
            sources,
            model_roles={"grader": ModelConfig(model=judge)},
        )
        logs[judge] = scored_copy(log, pair_choice(), "pair_choice")
        labelled = []
        for name, given in replies.items():
            with_label = [pair for pair in pairs[name] if pair[1].label]
            if with_label:
                labelled.append(_labelled(*with_label[0], given))
        if labelled:
            orders = {
                "orders": "both" if any(len(_orders(g)) > 1 for g in replies.values()) else "ab"
            }
            log = made_log(PAIRS_TASK, judge, labelled, sources, task_args=orders)
            logs[f"{judge} with labels"] = scored_copy(log, pair_verdict(), "pair_verdict")
    return logs


def _refuse_contradictions(verdicts: Sequence[ImportedVerdict], ids: Mapping[str, str]) -> None:
    """Refuse pairs that have different labels in different rows."""
    labels: dict[str, set[str]] = defaultdict(set)
    for one in verdicts:
        if one.label:
            ballot = _ballot(one, ids)
            labels[ballot.id].add(_on_sides(one.label, _shown_first(one, ballot)))
    twice = [name for name, given in labels.items() if len(given) > 1]
    if twice:
        raise InputError(
            f"{counted(len(twice), 'pair')} with two labels, such as pair {twice[0]}; allowed: one"
            " label of a pair, in all of its rows"
        )


def in_one_order(log: EvalLog) -> int:
    """How many pairs of a log of `pair_logs` a judge saw in one order only."""
    if log.eval.task == PAIRS_TASK:  # they are in the log of `mad` as well
        return 0
    return sum(len(sample.store[REPLIES]) == 1 for sample in log.samples or [])


def _ballot(one: ImportedVerdict, ids: Mapping[str, str]) -> Ballot:
    first = one.answers[0]
    texts = {answer.model: answer.text for answer in one.answers}
    return Ballot.between(ids[first.question.strip()], first.question, texts)


def _replies(given: Sequence[tuple[Ballot, ImportedVerdict]]) -> list[dict[str, Any]]:
    """The verdicts on a pair as a sample of `mad` keeps them, equal ones once."""
    replies: list[dict[str, Any]] = []
    for ballot, one in given:
        first = _shown_first(one, ballot)
        reply = PairReply(first, (OVERALL,), one.reason, failure="no_answer", error="No verdict.")
        if (said := _on_sides(one.verdict, first)) != "none":
            reply = PairReply(first, (OVERALL,), one.reason, verdicts={OVERALL: said})
        if (record := {"judge": one.judge, **asdict(reply)}) not in replies:
            replies.append(record)
    return replies


def _shown_first(one: ImportedVerdict, ballot: Ballot) -> First:
    return "a" if one.answers[0].model == ballot.model_a else "b"


def _on_sides(said: str, first: First) -> str:
    """What was said of the first and second answer, of the sides a and b of a ballot."""
    if said == "first":
        return first
    if said == "second":
        return "b" if first == "a" else "a"
    return said


def _orders(replies: Iterable[Mapping[str, Any]]) -> set[str]:
    return {reply["first"] for reply in replies}


def _compared(ballot: Ballot, replies: list[dict[str, Any]]) -> EvalSample:
    return EvalSample(
        id=ballot.id,
        epoch=1,
        input=ballot.instruction,
        target="",
        metadata={"phase": COMPARE, "ballot": ballot.to_dict()},
        store={REPLIES: replies},
    )


def _labelled(ballot: Ballot, one: ImportedVerdict, replies: list[dict[str, Any]]) -> EvalSample:
    label = _on_sides(one.label, _shown_first(one, ballot))
    metadata = {
        "group": str(one.answers[0].facts.get("group", "")),
        "prompt": ballot.instruction,
        "response_a": ballot.response_a,
        "response_b": ballot.response_b,
        "label": label,
        "dimensions": {},
    }
    compared = _compared(ballot, replies)
    return compared.model_copy(update={"target": label, "metadata": metadata})
