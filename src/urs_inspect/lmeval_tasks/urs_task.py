"""URS as a task class of lm-eval: judges all answers at once, after they are generated."""

from collections.abc import Mapping, Sequence
from logging import getLogger
from typing import Any

from tqdm import tqdm

from urs_inspect._util import InputError
from urs_inspect.judging import Answer
from urs_inspect.lmeval_tasks.clients import ReplyCache
from urs_inspect.lmeval_tasks.measured_task import MeasuredTask
from urs_inspect.lmeval_tasks.metrics import measures_of, metrics_of
from urs_inspect.lmeval_tasks.model_judging import Progress, judge_all, judge_all_with_samer, judging_of, try_judge
from urs_inspect.lmeval_tasks.record import Record, call_failed, read_record
from urs_inspect.lmeval_tasks.settings import JudgeSettings, judge_key, read_settings
from urs_inspect.samer.engines.shared import EngineChoice, check_engine

logger = getLogger(__name__)

_MOST_OF_A_REASON = 300


def answer_of(doc: Mapping[str, Any], text: str) -> Answer:
    """An answer to a case of `urs_data.load_cases`."""
    return Answer(
        intent=doc["intent"], language=doc["language"], question=doc["question"], reference=doc["reference"], text=text
    )


def judge_answers(answers: Sequence[Answer], settings: JudgeSettings, progress: Progress) -> list[Record]:
    """Judge answers with whoever the settings name.

    Raises:
        InputError: If it cannot be had.
    """
    if settings.judge == "samer":
        return judge_all_with_samer(answers, settings, progress)
    return judge_all(answers, settings, judging_of(settings), progress)


def preflight(settings: JudgeSettings) -> None:
    """Find out whether the judge can be had, before anything is generated.

    Raises:
        InputError: If it cannot.
    """
    judging_of(settings)
    if settings.judge == "samer":
        check_engine(EngineChoice(str(settings.samer), settings.samer_engine, folder=settings.samer_folder))
        return
    judge_key(settings)
    ReplyCache(settings.cache_file).close()
    if settings.judge_preflight and (why := try_judge(settings)):
        raise InputError(
            f"the judge {settings.judge_name} cannot be had: {why.rstrip('.')}. It was asked for one short reply, with "
            "the settings of all calls, before anything else was begun (judge_preflight: false does without that)"
        )


class UrsTask(MeasuredTask):
    """Questions that real users reported, judged by the criteria of each user's intent (URS paper, section 4).

    Args:
        config: The task's file.
    """

    VERSION = 1.2

    def __init__(self, config: dict[str, Any] | None = None, **kwargs: Any) -> None:
        self._settings = read_settings((config or {}).get("metadata"))
        self.measures = measures_of(judging_of(self._settings).rubric, self._settings)
        super().__init__(config=config, **kwargs)

    def build_all_requests(self, *, rank: int = 0, **kwargs: Any) -> None:
        """Prepare what the model is asked; without a judge that can be had nothing is."""
        if rank == 0 and not self.predict_only:
            preflight(self._settings)
        super().build_all_requests(rank=rank, **kwargs)

    def apply_filters(self) -> Any:
        """Judge the answers of this process, all at once."""
        super().apply_filters()
        if self.predict_only:
            return self._instances
        for key in self._instances[0].filtered_resps if self._instances else ():
            answers = [answer_of(one.doc, one.filtered_resps[key]) for one in self._instances]
            with tqdm(total=len(answers), desc=f"Judging {self.config.task}") as bar:
                records = self._judged(answers, bar.update)
            for instance, record in zip(self._instances, records, strict=True):
                instance.filtered_resps[key] = record.to_json()
            self._say_failed(records)
        return self._instances

    def values(self, doc: Mapping[str, Any], results: Sequence[str]) -> Mapping[str, Any]:
        """The metrics of one answer."""
        record = read_record(results[0])
        if record is None:
            raise ValueError("the record of a judged answer was changed after judging")
        return metrics_of(doc, record, self._settings)

    def _judged(self, answers: Sequence[Answer], progress: Progress) -> list[Record]:
        try:
            return judge_answers(answers, self._settings, progress)
        except Exception as error:  # lm-eval has saved nothing yet: all answers would be lost
            logger.exception("The answers could not be judged")
            text = f"{type(error).__name__}: {error}"
            return [call_failed(answer.text or "", self._settings.judge_name, text) for answer in answers]

    def _say_failed(self, records: Sequence[Record]) -> None:
        if said := failures(records):
            logger.error(
                f"{said} If samples are saved (--log_samples --output_path), judge them later, generating nothing: "
                "urs-lm-eval rejudge --failed-only <samples file> --metadata <as here>"
            )


def failures(records: Sequence[Record]) -> str:
    """What to say of answers without a score, in one line; empty if there are none."""
    failed = [record for record in records if record.scores is None]
    if not failed:
        return ""
    left = sum(record.not_asked for record in failed)
    asked = f" (the judge was not asked for {left} of them)" if left else ""
    # Of those that were left out the reason tells more: that judging ended, and why.
    why = next((record for record in failed if record.not_asked), failed[0]).why[:_MOST_OF_A_REASON].rstrip(".")
    empty = sum(record.is_empty for record in records)
    rest = f"; of the others {empty} are empty, with the lowest score" if empty else ""
    return f"{len(failed)} of {len(records)} answers have no score{asked}, so that no mean is about them{rest}: {why}."
