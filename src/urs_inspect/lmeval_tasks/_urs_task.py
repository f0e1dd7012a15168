"""URS as a data set and a task class of lm-eval.

It judges all answers at once, after they are generated.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import starmap
from logging import getLogger
from typing import Any

from tqdm import tqdm

from datasets import Dataset
from urs_inspect._util import InputError
from urs_inspect.datasets import Vocabulary, in_proportion, load_urs, select
from urs_inspect.datasets._references import named
from urs_inspect.judging import Answer
from urs_inspect.judging._reply_counts import REPLY_COUNTS, summed, unkeyed_warning
from urs_inspect.lmeval_tasks._clients import ReplyCache
from urs_inspect.lmeval_tasks._judging import (
    JUDGEMENT,
    Progress,
    Record,
    call_failed,
    judge_answers,
    samer_evaluator,
    try_judge,
)
from urs_inspect.lmeval_tasks._measured_task import Measure, MeasuredTask
from urs_inspect.lmeval_tasks._settings import JudgeSettings, judge_key, read_settings
from urs_inspect.rubrics import FINAL, Rubric, load_rubric

logger = getLogger(__name__)

_SEED = 0


def load_cases(language: str | None = None, **metadata: Any) -> dict[str, Dataset]:
    """The split `test`: cases in the order of the task of inspect-ai.

    So the same `--limit` takes the same cases.

    `language` is one of the rubric's, None for all; of the task's metadata, `urs_dataset` and
    `judge_rubric` are used.
    """
    settings = read_settings(metadata)
    rubric = load_rubric(settings.judge_rubric, settings.judge_prompt)
    data = load_urs(settings.urs_dataset, Vocabulary(rubric.intent_id, rubric.language_code))
    languages = None if language is None else [rubric.language_code(language)]
    cases = in_proportion(select(data.cases, languages=languages, intents=None), _SEED)
    if talks := [case.id for case in cases if case.conversation is not None]:
        raise InputError(
            f"urs_dataset: {data.name}: lm-eval asks one text, and of these cases {named(talks)}"
            " are conversations; `inspect eval urs_inspect/urs` asks them message by message"
        )
    if any(case.cluster for case in cases):
        logger.warning(
            f"{data.name} names the users of its questions: the standard errors of lm-eval take"
            " each question as independent. `inspect eval urs_inspect/urs` takes the questions of"
            " one user together."
        )

    rows = [
        {
            "id": case.id,
            "question": case.question.strip(),
            "reference": case.reference.strip(),
            "intent": case.intent,
            "intent_group": rubric.intents[case.intent].group,
            "language": case.language,
            "dataset_sha256": data.sha256,
        }
        for case in cases
    ]
    return {"test": Dataset.from_list(rows)}


_MOST_OF_A_REASON = 300  # characters
_NAMES = {"model": ("urs", FINAL, "crit"), "samer": ("samer", "overall", "dim")}
"""Judge -> how metrics begin, the score of the answer as a whole, and what the others are."""
_SHARES = ("judge_failed", "no_response")


def answer_of(doc: Mapping[str, Any], text: str) -> Answer:
    """An answer to a case of `load_cases`."""
    return Answer(
        intent=doc["intent"],
        language=doc["language"],
        question=doc["question"],
        reference=doc["reference"],
        text=text,
    )


def preflight(settings: JudgeSettings) -> None:
    """Raise `InputError` if the judge is unavailable, before anything is generated."""
    if settings.judge == "samer":
        samer_evaluator(settings).check()
        return
    judge_key(settings)
    ReplyCache(settings.cache_file).close()
    if settings.judge_preflight and (why := try_judge(settings)):
        raise InputError(
            f"the judge {settings.judge_name} is unavailable: {why.rstrip('.')}. It was asked for"
            " one short reply, with the settings of all calls, before anything else was begun"
            " (judge_preflight: false skips that)"
        )


class UrsTask(MeasuredTask):
    """Questions that real users reported, judged by the criteria of each user's intent.

    URS paper, section 4.
    """

    VERSION = 1.3

    def __init__(self, config: dict[str, Any] | None = None, **kwargs: Any) -> None:
        self._settings = read_settings((config or {}).get("metadata"))
        _ = self._settings.judging  # which says at once what cannot be used
        self._records: dict[tuple[str, str], Record] = {}  # by id of the case and answer
        super().__init__(config=config, **kwargs)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The metrics of all cases."""
        return measures_of(self._settings)

    def build_all_requests(self, *, rank: int = 0, **kwargs: Any) -> None:
        """Prepare the requests, once the judge is known to be available."""
        if rank == 0 and not self.predict_only:
            preflight(self._settings)
        super().build_all_requests(rank=rank, **kwargs)

    def apply_filters(self) -> Any:
        """Judge the answers of this process, all at once; the answers stay as they are."""
        super().apply_filters()
        if self.predict_only:
            return self._instances
        for key in self._instances[0].filtered_resps if self._instances else ():
            answers = [
                answer_of(instance.doc, instance.filtered_resps[key])
                for instance in self._instances
            ]
            with tqdm(total=len(answers), desc=f"Judging {self.config.task}") as bar:
                records = self._judged(answers, bar.update)
            for instance, record in zip(self._instances, records, strict=True):
                self._records[instance.doc["id"], instance.filtered_resps[key]] = record
            self._report_failures(records)
        return self._instances

    def process_results(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """The metrics of one answer.

        Its judgement goes into the document, which the sample keeps.
        """
        if not self.predict_only:
            # lm-eval takes every other value that is returned here for a number.
            doc[JUDGEMENT] = self._records[doc["id"], results[0]].model_dump()
        return super().process_results(doc, results)

    def values(self, doc: Mapping[str, Any], results: Sequence[str]) -> Mapping[str, Any]:
        """The metrics of one answer."""
        return metrics_of(doc, self._records[doc["id"], results[0]], self._settings)

    def _judged(self, answers: Sequence[Answer], progress: Progress) -> list[Record]:
        try:
            return judge_answers(answers, self._settings, progress)
        except Exception as error:  # lm-eval has saved nothing yet: all answers would be lost
            logger.exception("The answers could not be judged")
            name = self._settings.judge_name
            why = f"{type(error).__name__}: {error}"
            return [call_failed(answer.text or "", name, why) for answer in answers]

    def _report_failures(self, records: Sequence[Record]) -> None:
        if warning := about_replies(records):
            logger.warning(warning)
        if summary := failures(records):
            logger.error(
                f"{summary} If samples are saved (--log_samples --output_path), judge them later,"
                " generating nothing: urs-lm-eval rejudge --failed-only <samples file> --metadata"
                " <as here>"
            )


def failures(records: Sequence[Record]) -> str:
    """A summary of the answers without a score, in one line; empty if there are none."""
    failed = [record for record in records if record.scores is None]
    if not failed:
        return ""
    left = sum(record.not_asked for record in failed)
    asked = ""
    if left:
        asked = f" (the judge was not asked for {left} of them)"
    # Of those that were left out the reason tells more: that judging ended, and why.
    example = next((record for record in failed if record.not_asked), failed[0])
    why = example.why[:_MOST_OF_A_REASON].rstrip(".")
    empty = sum(record.is_empty for record in records)
    rest = ""
    if empty:
        rest = f"; of the others {empty} are empty, with the lowest score"
    return (
        f"{len(failed)} of {len(records)} answers have no score{asked}, so that no mean is about"
        f" them{rest}: {why}."
    )


def measures_of(settings: JudgeSettings) -> tuple[Measure, ...]:
    """All metrics, of which an answer has those of its own intent and language."""
    rubric = settings.judging.rubric
    start, head, kind = _NAMES[settings.judge]
    # Whether an answer could be scored, only its judging tells.
    measures = [Measure(f"{start}_{head}", sure=False)]
    for language in rubric.languages:
        about = _has("language", language)
        measures.append(Measure(f"{start}_{language}", about=about, sure=False))
    for group in dict.fromkeys(intent.group for intent in rubric.intents.values()):
        about = _has("intent_group", group)
        measures.append(Measure(f"{start}_intent_{_short(group)}", about=about, sure=False))
    if settings.judge == "samer":
        for name in samer_evaluator(settings).dimensions:
            measures.append(Measure(f"{start}_{kind}_{_short(name)}", sure=False))
    else:
        for key in rubric.criteria:
            about = _judged_by(key, rubric)
            measures.append(Measure(f"{start}_{kind}_{_short(key)}", about=about, sure=False))
    shares = [*_SHARES, *_reply_shares(settings)]
    measures += [Measure(f"{start}_{name}", higher_is_better=False) for name in shares]
    return tuple(measures)


def metrics_of(doc: Mapping[str, Any], record: Record, settings: JudgeSettings) -> dict[str, float]:
    """The metrics of one answer.

    Scores are from 1 to 10, or from 0 to 1 for SaMer; an answer that could not be scored lacks
    them. Shares of all answers get 0 or 1.
    """
    start, head, kind = _NAMES[settings.judge]
    metrics: dict[str, float] = {}
    for key, value in (record.scores or {}).items():
        if key == head:
            for part in (head, doc["language"], f"intent_{_short(doc['intent_group'])}"):
                metrics[f"{start}_{part}"] = float(value)
        else:
            metrics[f"{start}_{kind}_{_short(key)}"] = float(value)
    holds_of_shares = (record.scores is None, record.is_empty)
    for name, holds in zip(_SHARES, holds_of_shares, strict=True):
        metrics[f"{start}_{name}"] = float(holds)
    for share, name in _reply_shares(settings).items():
        metrics[f"{start}_{share}"] = float(bool(record.facts.get(name)))
    return metrics


def _reply_shares(settings: JudgeSettings) -> dict[str, str]:
    """Shares of a judge's replies -> what is counted; nothing for SaMer, which gives none."""
    counted = REPLY_COUNTS if settings.judge == "model" else ()
    return {f"judge_{name}": name for name in counted}


def about_replies(records: Sequence[Record]) -> str:
    """The warning about a judge that leaves out the key too often, in one line; else empty."""
    counts = summed(record.facts for record in records)
    return " ".join(filter(None, starmap(unkeyed_warning, counts.items())))


def _has(name: str, value: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda doc: bool(doc[name] == value)


def _judged_by(criterion: str, rubric: Rubric) -> Callable[[Mapping[str, Any]], bool]:
    return lambda doc: criterion in rubric.intents[doc["intent"]].criteria


def _short(key: str) -> str:
    return key.lower().replace(" ", "_")
