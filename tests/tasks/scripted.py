"""Models that answer as scripted, and tasks small enough to see through."""

import json
import math
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    StopReason,
    get_model,
)
from inspect_ai.scorer import Score
from inspect_ai.solver import Generate, Solver, TaskState, solver

from urs_inspect._satellites import SATELLITES
from urs_inspect.rubrics import load_rubric
from urs_inspect.scorers import intent_judge, judge_outcome

LEISURE = ("user_satisfaction", "engagement", "appropriateness", "creativity", "factuality")
"""Criteria of the intent that most tests use, in the order of Table 6."""

Reply = str | ModelOutput | Exception


class Script:
    """What a scripted model says, call by call, and what it was sent."""

    def __init__(
        self, reply: Reply | Sequence[Reply] | Callable[[list[ChatMessage]], Reply]
    ) -> None:
        """Take one reply for every call, one reply a call (the last one repeats), or a function of
        the messages.
        """
        self._reply = reply
        self.seen: list[list[ChatMessage]] = []
        self.configs: list[GenerateConfig] = []

    def __call__(
        self, messages: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig
    ) -> ModelOutput:
        self.seen.append(messages)
        self.configs.append(config)
        reply = self._next(messages)
        if isinstance(reply, Exception):
            raise reply
        return output(reply) if isinstance(reply, str) else reply

    def _next(self, messages: list[ChatMessage]) -> Reply:
        if callable(self._reply):
            return self._reply(messages)
        if isinstance(self._reply, (str, ModelOutput, Exception)):
            return self._reply
        return self._reply[min(len(self.seen), len(self._reply)) - 1]

    def model(self, name: str = "judge", **config: Any) -> Model:
        """The model `mockllm/<name>` that follows this script."""
        return get_model(
            f"mockllm/{name}", custom_outputs=self, memoize=False, config=GenerateConfig(**config)
        )


def output(text: str, stop_reason: StopReason = "stop", error: str | None = None) -> ModelOutput:
    """A model output with usage, since the harness downloads a tokenizer for one without."""
    made = ModelOutput.from_content("mockllm/scripted", text, stop_reason=stop_reason, error=error)
    made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return made


def record(final: int, *criteria: int, intent: str = "leisure", language: str = "en") -> str:
    """A score record as the prompt asks for it; criteria in the rubric's order."""
    rubric = load_rubric()
    names = [
        rubric.criteria[criterion][language].name for criterion in rubric.intents[intent].criteria
    ]
    scores = dict(zip(names, criteria or [final] * len(names), strict=True))
    return json.dumps({**scores, rubric.languages[language].final.name: final}, ensure_ascii=False)


@solver
def say(answer: str) -> Solver:
    """Answer every sample with the same text, without a model call."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = output(answer)
        return state

    return solve


def one_case(intent: str = "leisure", language: str = "en", **metadata: Any) -> Sample:
    return Sample(
        id="case",
        input="Which film shall I watch?",
        target="Watch Playtime.",
        metadata={"intent": intent, "intent_group": "Leisure", "language": language, **metadata},
    )


def judged(
    log_dir: Path,
    grader: Model | list[Model] | None,
    *,
    answer: str = "Watch Stalker.",
    sample: Sample | None = None,
    model: str | Model = "mockllm/answers",
    **scorer_args: Any,
) -> EvalLog:
    """Judge one answer through the harness."""
    task = Task(
        dataset=MemoryDataset([sample or one_case()]),
        solver=say(answer),
        scorer=[intent_judge(**scorer_args), judge_outcome()],
    )
    return run(task, log_dir, model=model, grader=grader)


def run(
    task: Task | list[Task], log_dir: Path, *, model: Any, grader: Any = None, **options: Any
) -> EvalLog:
    """Run one task quietly."""
    [log] = run_all(task, log_dir, model=model, grader=grader, **options)
    return log


def run_all(
    task: Task | list[Task],
    log_dir: Path,
    *,
    model: Any,
    grader: Any = None,
    roles: Any = None,
    **options: Any,
) -> list[EvalLog]:
    """Run tasks quietly, with a grader and models of other roles."""
    return eval(
        task,
        model=model,
        model_roles={**({} if grader is None else {"grader": grader}), **(roles or {})},
        display="log",  # the quickest: the others draw the table of results, "none" included
        log_dir=str(log_dir),
        log_realtime=False,
        score_display=False,
        **options,
    )


def samples_of(log: EvalLog) -> list[EvalSample]:
    assert log.samples is not None
    return log.samples


def score_of(log: EvalLog, scorer: str = "intent_judge") -> Score:
    """The score of the only sample."""
    [sample] = samples_of(log)
    assert sample.error is None and sample.scores is not None
    return sample.scores[scorer]


def value_of(log: EvalLog, scorer: str = "intent_judge") -> dict[str, float]:
    """The numbers in the value of the only sample's score, which must be a dictionary."""
    value = score_of(log, scorer).value
    assert isinstance(value, dict)
    return {key: number(given) for key, given in value.items() if not isinstance(given, str)}


def number(value: object) -> float:
    assert isinstance(value, (int, float))
    return float(value)


def metric_values(log: EvalLog, name: str) -> dict[str, float]:
    """All metrics that the log reports under a name, reduced and unreduced ones."""
    assert log.results is not None
    found: dict[str, float] = {}
    for result in log.results.scores:
        if result.name == name:
            assert not found.keys() & result.metrics.keys()
            found |= {key: metric.value for key, metric in result.metrics.items()}
    return found


def of_satellite(module: str) -> Any:
    """A module such as `judges._report`; the test is skipped if its satellite was taken away."""
    satellite = module.partition(".")[0]
    if satellite not in SATELLITES:
        pytest.skip(f"without {satellite}")
    return import_module(f"urs_inspect.{module}")


def judge_numbers(log: EvalLog) -> dict[str, float]:
    """What `urs-inspect judges` reads from a log of judged pairs or ratings, bounds and baselines
    included.
    """
    judges = of_satellite("judges._judges")
    report = of_satellite("judges._report")
    if (rating := judges.read_rating_judge(log)) is not None:
        return _named("", report.rating_details(rating))
    judge = judges.read_judge(log)
    assert judge is not None
    numbers = _named("", report.pair_details(judge))
    for baseline in judges.computed_baselines([judge]):
        name = baseline.judge.removeprefix("baseline/")
        numbers |= _named(f"baseline {name} ", report.pair_details(baseline))
    return numbers


def _named(prefix: str, details: Sequence[Any]) -> dict[str, float]:
    """Numbers by names such as `overall accuracy`, `overall accuracy low`, `dimension accuracy
    need=safety`.
    """
    levels = {"overall": "overall ", "dimensions": "dimension "}
    numbers: dict[str, float] = {}
    for one in details:
        name = f"{prefix}{levels.get(one.level, '')}{one.measure}"
        if one.by == "failure":
            name = f"{prefix}failures {one.group}"
        elif one.by != "all":
            name += f" {one.by}={one.group}"
        numbers |= {
            name: one.estimate.value,
            f"{name} low": one.estimate.low,
            f"{name} high": one.estimate.high,
        }
    return {name: value for name, value in numbers.items() if not math.isnan(value)}


def between(text: str, opening: str, closing: str) -> str:
    """What stands between two delimiters, which must each occur."""
    _, found, rest = text.partition(opening)
    assert found
    inner, found, _ = rest.partition(closing)
    assert found
    return inner.strip()
