"""Logs of `urs_assistants` -> one table of answers."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd
from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log_sample_summaries

from urs_inspect.assistants import asks_for_translation
from urs_inspect.errors import InputError
from urs_inspect.judging import NO_RESPONSE
from urs_inspect.reports.assistants.services import Service, distinct_services, service_of
from urs_inspect.reports.intent.answer_rows import ERROR, Row, whole_characters
from urs_inspect.reports.intent.judged_log import JudgedLog, read_judged_log
from urs_inspect.reports.log_files import finished_headers, latest_runs, short_name
from urs_inspect.reports.results import SIMULATED
from urs_inspect.rubrics import FINAL
from urs_inspect.solvers.assistants import BECAUSE, FAILED, FOUND_NOTHING, WITHOUT_ANSWER

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
