"""One log of judged answers: its rows, and the conditions under which they came about."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary, read_eval_log_sample_summaries

from urs_inspect.errors import InputError
from urs_inspect.reports.intent.answer_rows import Row, answer_row, needs_whole
from urs_inspect.reports.intent.run_commands import model_settings
from urs_inspect.reports.log_files import read_log, short_name
from urs_inspect.reports.results import judgements

TASK = "urs"
"""The task whose logs these are."""
_UNUSED = {"events", "messages", "store", "error_retries"}
_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True)
class JudgedLog:
    """A log of judged answers.

    Attributes:
        log: Its header.
        rows: A row for each sample, as from `answer_row`.
        judges: The judges whose scores count.
        prompts: Intent and language of cases -> judge language and hash of the prompt, joined by "/".
        settings: Settings of the model that may change its answers, name -> value.
        references: Where the reference answers come from; empty for those of the data.
        questions: Ids of the questions.
    """

    log: EvalLog
    rows: list[Row]
    judges: tuple[str, ...]
    prompts: Mapping[tuple[str, str], str]
    settings: dict[str, str]
    references: str
    questions: frozenset[str]

    @property
    def file(self) -> str:
        """Where it is."""
        return self.log.location

    @property
    def run_id(self) -> str:
        """What all files of its run have in common; empty if that is not known."""
        return self.log.eval.eval_id or ""

    @property
    def of(self) -> str:
        """Its model."""
        return self.log.eval.model

    def replaces(self, other: "JudgedLog") -> bool:
        """Whether it has answers of the same model to some of the same questions under the same conditions."""
        return (
            self._conditions == other._conditions
            and not self.questions.isdisjoint(other.questions)
            and all(self.prompts.get(kind, prompt) == prompt for kind, prompt in other.prompts.items())
        )

    @property
    def _conditions(self) -> tuple[object, ...]:
        spec = self.log.eval
        facts = spec.metadata or {}
        return (
            (spec.model, self.settings, spec.task, version_number(str(spec.task_version))),
            facts.get("dataset_sha256") or facts.get("dataset", spec.dataset.name),
            facts.get("rubric"),
            (self.references, sorted(self.judges)),
        )


def read_judged_log(log: EvalLog, left_out: list[str]) -> JudgedLog | None:
    """Read the answers of a log.

    Args:
        log: Header of a finished log.
        left_out: Gets a sentence about what is left out, with counts.

    Returns:
        The answers; None if the log has none that `intent_judge` scored.
    """
    name, spec = short_name(log.location), log.eval
    try:
        summaries = read_eval_log_sample_summaries(log.location)
    except Exception as error:  # whatever a damaged file does to its reader
        left_out.append(f"{name} was left out: its samples cannot be read: {type(error).__name__}: {error}.")
        return None
    if not any(map(judgements, summaries)):
        left_out.append(f"{name} was left out: none of its {len(summaries)} samples was scored by intent_judge.")
        return None
    whole = _whole_samples(log, summaries)
    rows = [answer_row(one, log, whole.get((str(one.id), one.epoch))) for one in summaries]
    judges = _commonest(row["judges"] for row in rows if row["judges"])
    kept = _of_judges(rows, judges or "", name, left_out)
    prompts = _prompts(kept)
    kept = _of_prompts(kept, prompts, name, left_out)
    return JudgedLog(
        log=log,
        rows=kept,
        judges=tuple(next((row["judge_finals"] for row in kept if row["judges"]), {})),
        prompts=prompts,
        settings=_settings(log),
        references=_references(spec.metadata or {}),
        questions=frozenset(row["question"] for row in kept),
    )


def version_number(version: str) -> str:
    """The part of a task's version that changes when scores do: `1` of `1-A`."""
    return version.partition("-")[0]


def _whole_samples(log: EvalLog, summaries: Iterable[EvalSampleSummary]) -> dict[tuple[str, int], EvalSample]:
    """Samples as a whole, if a summary lacks something that is needed."""
    if not any(needs_whole(one, log) for one in summaries):
        return {}
    try:
        samples = read_log(log.location, without=_UNUSED).samples or []
    except InputError:  # what the summaries say is better than nothing
        return {}
    return {(str(one.id), one.epoch): one for one in samples}


def _of_judges(rows: list[Row], judges: str, name: str, left_out: list[str]) -> list[Row]:
    kept = [row for row in rows if row["judges"] in ("", judges)]
    if len(kept) < len(rows):
        others = ", ".join(sorted({row["judges"] for row in rows} - {"", judges}))
        left_out.append(
            f"{len(rows) - len(kept)} of {len(rows)} answers of {name} were left out: they were judged by {others}, "
            f"the others by {judges}."
        )
    return kept


def _prompts(rows: Iterable[Row]) -> dict[tuple[str, str], str]:
    seen: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        if row["prompt_sha256"]:
            seen.setdefault((row["intent"], row["language"]), Counter())[_prompt(row)] += 1
    return {kind: counts.most_common(1)[0][0] for kind, counts in seen.items()}


def _of_prompts(rows: list[Row], prompts: Mapping[tuple[str, str], str], name: str, left_out: list[str]) -> list[Row]:
    kept = [row for row in rows if not row["prompt_sha256"] or prompts[row["intent"], row["language"]] == _prompt(row)]
    if len(kept) < len(rows):
        left_out.append(
            f"{len(rows) - len(kept)} of {len(rows)} answers of {name} were left out: they were judged with another "
            "prompt than the others of their intent and language."
        )
    return kept


def _prompt(row: Row) -> str:
    return f"{row['judge_language']}/{row['prompt_sha256']}"


def _commonest(values: Iterable[_Key]) -> _Key | None:
    counted = Counter(values).most_common(1)
    return counted[0][0] if counted else None


def _settings(log: EvalLog) -> dict[str, str]:
    found = {**model_settings(log)}
    if log.eval.solver:
        found["solver"] = log.eval.solver
    return {name: str(value) for name, value in found.items()}


def _references(metadata: Mapping[str, Any]) -> str:
    """Name and first digits of the hash of the references, as the log's metadata name them."""
    given = metadata.get("references") or ""
    if not isinstance(given, Mapping):
        return str(given)
    name = given.get("source") or given.get("name") or ""
    return f"{name} {str(given.get('sha256', ''))[:8]}".strip()
