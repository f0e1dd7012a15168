"""Logs of `urs_addition` -> the answers of each model to chains."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log_sample_summaries
from inspect_ai.scorer import Score

from urs_inspect.errors import InputError
from urs_inspect.rating.chain_lengths import Trial
from urs_inspect.reports.intent.answer_rows import ERROR, NOT_JUDGED, whole_characters
from urs_inspect.reports.intent.judged_log import version_number
from urs_inspect.reports.intent.run_commands import model_settings
from urs_inspect.reports.log_files import finished_headers, latest_runs, short_name
from urs_inspect.reports.naming import distinct_names
from urs_inspect.scorers.addition_metrics import RIGHT, SUMMANDS

TASK = "urs_addition"
_SCORER = re.compile(r"exact_sum(-?\d+)?")


@dataclass(frozen=True)
class ChainConditions:
    """What must be equal for two models to stand in one table.

    Attributes:
        task_version: The part of the task's version that changes when scores do.
        language: Language of the question.
        prompt_version: Name and version of the question.
        prompt_sha256: Hash of its text.
        chains: Number of different chains.
        chains_sha256: Hash of them.
    """

    task_version: str
    language: str
    prompt_version: str
    prompt_sha256: str
    chains: int
    chains_sha256: str


@dataclass(frozen=True)
class AdditionRun:
    """One log.

    Attributes:
        file: Where it is.
        model: The model.
        settings: Its settings that may change its answers, name -> value.
        conditions: Under what it answered.
        trials: Its scored answers.
        outcomes: How all answers ended, with counts: `right`, `wrong`, `no_number`, `no_response`, and what left one
            unscored.
        epochs: How often each chain was asked.
        run_id: What all files of its run have in common; empty if that is not known.
    """

    file: str
    model: str
    settings: dict[str, str]
    conditions: ChainConditions
    trials: tuple[Trial, ...]
    outcomes: dict[str, int]
    epochs: int
    run_id: str

    @property
    def of(self) -> str:
        """Its model."""
        return self.model

    @property
    def questions(self) -> frozenset[str]:
        """Ids of its chains."""
        return frozenset(trial.chain for trial in self.trials)

    def replaces(self, other: "AdditionRun") -> bool:
        """Whether it has answers of the same model with the same settings to the same chains."""
        return (self.model, self.settings, self.conditions) == (other.model, other.settings, other.conditions)


def read_runs(logs: Iterable[str], left_out: list[str]) -> list[AdditionRun]:
    """Read logs of additions.

    The last score of an answer counts, and of several logs of one model with the same settings under the same
    conditions the one that was made last.

    Args:
        logs: Log files and directories.
        left_out: Gets a sentence about what is left out, with counts.

    Returns:
        The runs, named so that two of one model with other settings can be told apart.

    Raises:
        InputError: If a name does not exist or nothing is left; the message says what was left out.
    """
    names = list(logs)
    runs = [run for log in finished_headers(names, left_out, TASK) if (run := _read(log, left_out)) is not None]
    kept = latest_runs(runs, left_out)
    if not kept:
        what = f"no finished log of {TASK} with scored answers in: {', '.join(names)}"
        raise InputError("\n".join([what, *left_out]))
    return kept


def names_of(runs: Sequence[AdditionRun]) -> list[str]:
    """Names of the models of some runs, with the settings in which the runs of one model differ."""
    return distinct_names([(whole_characters(run.model), run.settings) for run in runs])


def _read(log: EvalLog, left_out: list[str]) -> AdditionRun | None:
    name = short_name(log.location)
    try:
        samples = read_eval_log_sample_summaries(log.location)
    except Exception as error:  # whatever a damaged file does to its reader
        left_out.append(f"{name} was left out: its samples cannot be read: {type(error).__name__}: {error}.")
        return None
    ended = [_ended(sample) for sample in samples]
    trials = tuple(trial for _, trial in ended if trial is not None)
    outcomes = Counter(outcome for outcome, _ in ended)
    if not trials:
        why = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common())
        left_out.append(
            f"{name} of {log.eval.model} was left out: none of its {len(samples)} answers is scored ({why})."
        )
        return None
    settings = {key: str(value) for key, value in model_settings(log).items()}
    return AdditionRun(
        file=log.location,
        model=log.eval.model,
        settings=settings,
        conditions=_conditions(log, samples),
        trials=trials,
        outcomes=dict(outcomes),
        epochs=log.eval.config.epochs or 1,
        run_id=log.eval.eval_id,
    )


def _ended(sample: EvalSampleSummary) -> tuple[str, Trial | None]:
    """How an answer ended, and whether it was right if that counts."""
    if sample.error is not None:
        return ERROR, None
    scores = [score for name, score in (sample.scores or {}).items() if _SCORER.fullmatch(name)]
    if not scores:
        return NOT_JUDGED, None
    outcome = str((scores[-1].metadata or {}).get("outcome", "unknown"))
    return outcome, _trial(sample, scores[-1])


def _trial(sample: EvalSampleSummary, score: Score) -> Trial | None:
    value = score.value
    if not isinstance(value, dict):
        return None
    right, summands = value.get(RIGHT), value.get(SUMMANDS)
    if not isinstance(right, (int, float)) or not isinstance(summands, (int, float)):
        return None
    return Trial(str(sample.id), int(summands), bool(right))


def _conditions(log: EvalLog, samples: Sequence[EvalSampleSummary]) -> ChainConditions:
    facts = log.eval.metadata or {}
    # With the same number of summands and the same sum, a chain of this id is the same but for a rare chance.
    chains = sorted({f"{sample.id} {sample.target}" for sample in samples})
    languages = {str((sample.metadata or {}).get("language", "")) for sample in samples}
    return ChainConditions(
        task_version=version_number(str(log.eval.task_version)),
        language=", ".join(sorted(languages)),
        prompt_version=str(facts.get("prompt_version", "")),
        prompt_sha256=str(facts.get("prompt_sha256", "")),
        chains=len(chains),
        chains_sha256=hashlib.sha256("\n".join(chains).encode()).hexdigest(),
    )
