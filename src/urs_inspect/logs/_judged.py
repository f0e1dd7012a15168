"""Answers in logs with their scores, and what it takes to have them judged again."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import ChatMessage
from inspect_ai.util import registry_create, resource

from urs_inspect._util import InputError, counted
from urs_inspect.judging._scores import last_score
from urs_inspect.judging._twins import language_of
from urs_inspect.logs._files import PACKAGE, finished_logs, nothing_left, short_name
from urs_inspect.logs._responses import ANSWERS_ONLY, NO_MODEL, ended
from urs_inspect.logs._scores import UNJUDGED, last_judgement, number, role_models, value_of
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST
from urs_inspect.scorers._rating_agreement import RATING
from urs_inspect.solvers._give_rating import URS_RUBRIC

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
OF_PROMPT = ("rubric", "prompt", "judge_language")
"""Arguments of `intent_judge`, and of a run, on which its prompts depend."""
_FILES = {INTENT_JUDGE: ("rubric", "prompt"), RATING_AGREEMENT: ("rubric",)}
"""Scorer -> those of its arguments that name a file of the judge's prompt."""
_OF_PAIRS = frozenset({"pair_verdict", "pair_choice", "human_choice"})
_UNUSED = ANSWERS_ONLY - {"scores"}
_UNIT = (0.0, 1.0)


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
        input: What was asked: a text, or messages; of `judge_rating`, the prompt of the judge.
        target: The reference answer.
        metadata: Of the sample: intent, language, and what else the log has.
        judging: How it was judged.
        log: The log; without samples.
        rubric_sha256: Hash of the rubric by which it was judged; empty if it is not known.
        prompt_sha256: Hash of the judge's prompt without the texts of the case; empty if it is not
            known.
    """

    id: str
    model: str
    text: str
    language: str
    final: float
    input: str | list[ChatMessage]
    target: str | list[str]
    metadata: dict[str, Any]
    judging: Judging
    log: EvalLog
    rubric_sha256: str
    prompt_sha256: str


def short(scorer: str) -> str:
    """The name of a scorer without its package."""
    return scorer.rpartition("/")[2]


def read_judged_answers(logs: Iterable[str], skipped: list[str]) -> list[JudgedAnswer]:
    """Read the answers in logs that have a score and a text; first epochs only.

    Args:
        logs: Log files and directories.
        skipped: Gets a sentence on every log without answers that can be judged again.

    Raises:
        InputError: If there is no such answer.
    """
    names = list(logs)
    found: list[JudgedAnswer] = []
    for log in finished_logs(names, skipped, without=_UNUSED):
        judging = _judging_of(log)
        if isinstance(judging, str):
            skipped.append(f"{short_name(log.location)} was left out: {judging}.")
            continue
        first_epoch = [sample for sample in log.samples or [] if sample.epoch == 1]
        answers = [_answer(sample, log, judging) for sample in first_epoch]
        judged = [answer for answer in answers if answer is not None]
        if len(judged) < len(answers):
            missing = counted(len(answers) - len(judged), "answer")
            skipped.append(
                f"{short_name(log.location)}: {missing} of {len(answers):,} left out, without a"
                f" text or a number by {judging.name}."
            )
        found += judged
    if not found:
        raise nothing_left(
            f"answers: none that can be judged again, scored by {ALLOWED},",
            names,
            skipped,
        )
    return found


def scale_of(answers: Iterable[JudgedAnswer]) -> tuple[float, float]:
    """Lowest and highest score of the scorer of some answers; of foreign numbers, those seen."""
    judged = list(answers)
    judging = judged[0].judging
    if judging.name == INTENT_JUDGE or judging.options.get("rubric"):
        return float(LOWEST), float(HIGHEST)
    if judging.name == RATING_AGREEMENT:
        lowest = judging.options.get("lowest", 1)
        highest = judging.options.get("highest", 5)
        return float(lowest), float(highest)
    finals = {answer.final for answer in judged}
    if finals <= {0.0, 0.5, 1.0}:
        return _UNIT
    return min(finals), max(finals)


def _judging_of(log: EvalLog) -> Judging | str:
    """How the answers of a log were judged; why they cannot be judged again."""
    if log.eval.task == TWINS_TASK:
        return "its answers are twins of answers"
    scorers = {short(scorer.name): scorer for scorer in log.eval.scorers or []}
    if RATING_AGREEMENT in scorers:
        return Judging(RATING_AGREEMENT, scorers[RATING_AGREEMENT].options or {})
    if not _OF_PAIRS.isdisjoint(scorers):
        return "its judge compares pairs, and a twin is scored alone"
    if log.eval.model == NO_MODEL:
        return "it has no answers of a model"
    if any(last_judgement(sample) is not None for sample in log.samples or []):
        options: Mapping[str, Any] = {}
        if INTENT_JUDGE in scorers:
            options = scorers[INTENT_JUDGE].options or {}
        return _by_intents(options)
    has_grader = "grader" in role_models(log)
    for name, scorer in scorers.items():
        if name in MODEL_GRADED:
            return _graded(scorer.name, scorer.options or {})
        if has_grader and name not in UNJUDGED and not scorer.name.startswith(PACKAGE):
            return _installed(scorer.name, scorer.options or {})
    return f"it is scored by {', '.join(scorers) or 'nothing'}, without a judge in the role grader"


def _by_intents(given: Mapping[str, Any]) -> Judging:
    """How `intent_judge` judged: with which rubric and prompt, where not the usual ones."""
    own = {name: given[name] for name in OF_PROMPT if given.get(name) is not None}
    return Judging(INTENT_JUDGE, own)


def _graded(scorer: str, options: Mapping[str, Any]) -> Judging | str:
    """A scorer of inspect-ai with any judge."""
    own = {name: options[name] for name in options if name not in ("model", "model_role")}
    if own.get("include_history"):
        return f"{short(scorer)} judges whole conversations there (include_history)"
    template = own.get("template")
    if template and "{answer}" not in resource(template):
        return f"the template of {short(scorer)} is not found: {template[:60]!r}"
    return _installed(scorer, own)


def _installed(scorer: str, options: Mapping[str, Any]) -> Judging | str:
    try:
        registry_create("scorer", scorer, **options)
    except Exception as error:  # a scorer may raise anything
        reason = type(error).__name__
        if str(error):
            reason = str(error).splitlines()[0]
        return f"the scorer {short(scorer)} cannot be made again: {reason}"
    return Judging(scorer, options)


def _answer(sample: EvalSample, log: EvalLog, judging: Judging) -> JudgedAnswer | None:
    facts = dict(sample.metadata or {})
    final = _final(sample, judging)
    model = log.eval.model
    text = ""
    if sample.output.choices:
        text = sample.output.completion
    if judging.name == RATING_AGREEMENT:  # the model under test is the judge there
        model = str(facts.get("group", ""))
        text = str(facts.get("response", ""))
    if not text.strip() or not math.isfinite(final) or ended(sample):
        return None
    target: str | list[str] = sample.target
    if judging.name == INTENT_JUDGE and not isinstance(target, str):
        target = "\n".join(target)
    language = str(facts.get("language") or "")
    of_prompt = facts
    if judging.name == INTENT_JUDGE:
        judged = last_judgement(sample)
        of_prompt = (judged.metadata if judged else None) or {}
    else:
        language = language_of(text, language)
    return JudgedAnswer(
        id=str(sample.id),
        model=model,
        text=text,
        language=language,
        final=final,
        input=sample.input,
        target=target,
        metadata=facts,
        judging=judging,
        log=log.model_copy(update={"samples": None}),
        rubric_sha256=_rubric_sha256(log, judging),
        prompt_sha256=str(of_prompt.get("prompt_sha256") or ""),
    )


def _rubric_sha256(log: EvalLog, judging: Judging) -> str:
    """Hash of the rubric of a run; empty if answers were scored again with other files."""
    files = _FILES.get(judging.name, ())
    if any(log.eval.task_args.get(name) != judging.options.get(name) for name in files):
        return ""
    return str((log.eval.metadata or {}).get("rubric_sha256") or "")


def _final(sample: EvalSample, judging: Judging) -> float:
    """The number that a scorer gave a sample; not finite if there is none."""
    if judging.name == INTENT_JUDGE:
        return value_of(last_judgement(sample), FINAL)
    score = last_score(sample, judging.name)
    if judging.name == RATING_AGREEMENT:
        return value_of(score, RATING)
    if score is None:
        return math.nan
    return number(score.value)


def with_files(answers: Iterable[JudgedAnswer], given: Mapping[str, str]) -> list[JudgedAnswer]:
    """The answers, with files in place of those that their logs name.

    Args:
        answers: The answers.
        given: `rubric` or `prompt`, an argument of their scorer -> the file.

    Raises:
        InputError: If the scorer takes no such file, or a log names one that is not there.
    """
    changed = []
    for answer in answers:
        judging = answer.judging
        files = _FILES.get(judging.name, ())
        for name in given:
            if name not in files:
                raise InputError(
                    f"{name}: not for these answers, whose scorer {judging.name} takes no such file"
                )
        for name in files:
            file = judging.options.get(name)
            if name not in given and _is_lost(file):
                raise InputError(
                    f"{name}: {file}, which {short_name(answer.log.location)} names, is not there;"
                    f" name it with -T {name}=FILE"
                )
        options = {**judging.options, **given}
        changed.append(replace(answer, judging=replace(judging, options=options)))
    return changed


def _is_lost(file: str | None) -> bool:
    """Whether a log names a file that is not there."""
    if not file or file == URS_RUBRIC:
        return False
    return not Path(file).expanduser().is_file()


def one_judging(answers: Iterable[JudgedAnswer]) -> Judging:
    """How all answers were judged.

    Raises:
        InputError: If they were judged in several ways.
    """
    logs: dict[str, set[str]] = {}
    for answer in answers:
        judging = answer.judging
        logs.setdefault(str(judging), set()).add(answer.log.location)
    if len(logs) > 1:
        ways = ", ".join(f"{way} ({counted(len(files), 'log')})" for way, files in logs.items())
        raise InputError(f"answers: judged in several ways, name logs of one: {ways}")
    return judging
