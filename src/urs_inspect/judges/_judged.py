"""Answers in logs with their scores, and what it takes to have them judged again."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.util import resource

from urs_inspect._util import InputError, counted
from urs_inspect.judges._twins import language_of
from urs_inspect.judges._twins_scorer import FINALS
from urs_inspect.judging._answers import OF_PROMPT
from urs_inspect.judging._scores import last_score, number
from urs_inspect.logs._files import PACKAGE, finished_logs, nothing_left, short_name
from urs_inspect.logs._responses import ANSWERS_ONLY, NO_MODEL, ended
from urs_inspect.logs._scores import UNJUDGED, last_judgement, role_models, value_of

TWINS_TASK = PACKAGE + "judge_twins"
INTENT_JUDGE = "intent_judge"
RATING_AGREEMENT = "rating_agreement"
MODEL_GRADED = ("model_graded_qa", "model_graded_fact")
"""Scorers of inspect-ai that ask a judge."""
ALLOWED = (
    f"{INTENT_JUDGE}, {RATING_AGREEMENT}, {', '.join(MODEL_GRADED)}, or another installed scorer"
    " of single answers whose judge has the role grader"
)
"""By what answers may have been scored."""
_NO_JUDGE_OF_ANSWERS = (*UNJUDGED, "pair_verdict", "pair_choice", "human_choice")
_UNUSED = ANSWERS_ONLY - {"scores"}


@dataclass(frozen=True)
class Judging:
    """How answers were judged.

    Attributes:
        scorer: Name of the scorer, as the harness registers it.
        options: Its arguments, without those that name a judge.
    """

    scorer: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the scorer without its package."""
        return short(self.scorer)

    def __str__(self) -> str:
        known = {name: value for name, value in sorted(self.options.items()) if value is not None}
        if not known:
            return self.name
        return f"{self.name} {json.dumps(known, ensure_ascii=False, default=str)}"


@dataclass(frozen=True)
class JudgedAnswer:
    """An answer with a score, and what it takes to have it judged again.

    Attributes:
        id: Id of its sample.
        model: What answered; of `judge_rating`, the group of the response.
        text: The answer; never blank.
        language: Code of its language; empty if it is not known.
        final: The score, on the scale of its scorer.
        sample: Its sample, with what was asked, the reference answer and metadata.
        judging: How it was judged.
        log: The log; without samples.
    """

    id: str
    model: str
    text: str
    language: str
    final: float
    sample: EvalSample
    judging: Judging
    log: EvalLog


def short(scorer: str) -> str:
    """The name of a scorer without its package."""
    return scorer.rpartition("/")[2]


def read_judged_answers(logs: Iterable[str], skipped: list[str]) -> list[JudgedAnswer]:
    """Read the answers in logs that have a score and a text; first epochs only.

    Args:
        logs: Log files and directories.
        skipped: Gets a sentence on every log without answers that can be judged again.

    Raises:
        InputError: If there is no such answer, or answers were judged in several ways.
    """
    names = list(logs)
    found: list[JudgedAnswer] = []
    ways = Counter[str]()
    for log in finished_logs(names, skipped, without=_UNUSED):
        name = short_name(log.location)
        try:
            judging = _judging_of(log)
        except InputError as error:
            skipped.append(f"{name} was left out: {error}.")
            continue
        answers = _answers(log, judging)
        total = sum(sample.epoch == 1 for sample in log.samples or [])
        if len(answers) < total:
            missing = counted(total - len(answers), "answer")
            skipped.append(
                f"{name}: {missing} of {total:,} left out, without a number by {judging.name}, or"
                " without a text that can be told in its prompt."
            )
        if answers:
            ways[str(answers[0].judging)] += 1
        found += answers
    if not found:
        raise nothing_left(
            f"answers: none that can be judged again, scored by {ALLOWED},", names, skipped
        )
    if len(ways) > 1:
        named = ", ".join(f"{way} ({counted(number, 'log')})" for way, number in ways.items())
        raise InputError(f"answers: judged in several ways, name logs of one: {named}")
    return found


def _judging_of(log: EvalLog) -> Judging:
    """How the answers of a log were judged; `InputError` says why they cannot be judged again."""
    if log.eval.task == TWINS_TASK:
        raise InputError("its answers are twins of answers")
    scorers = {short(scorer.name): scorer for scorer in log.eval.scorers or []}
    options = {name: scorer.options or {} for name, scorer in scorers.items()}
    if RATING_AGREEMENT in scorers:
        return Judging(RATING_AGREEMENT, options[RATING_AGREEMENT])
    if log.eval.model == NO_MODEL:
        raise InputError("it has no answers of a model")
    if any(last_judgement(sample) is not None for sample in log.samples or []):
        given = options.get(INTENT_JUDGE, {})
        own = {name: given[name] for name in OF_PROMPT if given.get(name) is not None}
        return Judging(INTENT_JUDGE, own)
    has_grader = "grader" in role_models(log)
    for name, scorer in scorers.items():
        if name in MODEL_GRADED:
            return Judging(scorer.name, _without_judge(name, options[name]))
        is_ours = name in _NO_JUDGE_OF_ANSWERS or scorer.name.startswith(PACKAGE)
        if has_grader and not is_ours:
            return Judging(scorer.name, options[name])
    by = ", ".join(scorers) or "nothing"
    raise InputError(f"it is scored by {by}, not by a judge of single answers in the role grader")


def _without_judge(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a scorer of inspect-ai, for any judge."""
    if options.get("include_history"):
        raise InputError(f"{name} judges whole conversations there (include_history)")
    template = options.get("template")
    if template and "{answer}" not in resource(template):
        raise InputError(f"the template of {name} is not found: {template[:60]!r}")
    return {name: options[name] for name in options if name not in ("model", "model_role")}


def _answers(log: EvalLog, judging: Judging) -> list[JudgedAnswer]:
    """The answers of a log that have a text and a score."""
    header = log.model_copy(update={"samples": None})
    answers = []
    for sample in log.samples or []:
        facts = sample.metadata or {}
        model = log.eval.model
        text = sample.output.completion
        if judging.name == RATING_AGREEMENT:  # the model under test is the judge there
            model = str(facts.get("group", ""))
            text = str(facts.get("response", "")).strip()
            if str(sample.input).count(text) != 1:  # a twin takes its place
                continue
        final = _final(sample, judging.name)
        if sample.epoch > 1 or ended(sample) or not text.strip() or not math.isfinite(final):
            continue
        answer = JudgedAnswer(
            id=str(sample.id),
            model=model,
            text=text,
            language=language_of(text, str(facts.get("language") or "")),
            final=final,
            sample=sample,
            judging=judging,
            log=header,
        )
        answers.append(answer)
    return answers


def _final(sample: EvalSample, scorer: str) -> float:
    """The number that a scorer gave a sample; not finite without one."""
    score = last_score(sample, scorer)
    if score is None:
        return math.nan
    if scorer in FINALS:
        return value_of(score, FINALS[scorer])
    return number(score.value)
