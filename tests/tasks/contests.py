"""Competitions small enough to see through: contestants of known strength, and judges that see
it.
"""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from inspect_ai import Task
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import ChatMessage, Model
from inspect_ai.scorer import Score

from tests.tasks.scripted import Reply, Script, between, run, samples_of
from urs_inspect.cli import main

STRENGTHS = {"ace": 9, "good": 6, "poor": 2}
"""Contestants, and how good their answers are."""

TOPICS = (
    "harbours",
    "violins",
    "glaciers",
    "beekeeping",
    "tax law",
    "sourdough",
    "chess",
    "volcanoes",
)


def pool_file(tmp_path: Path, size: int = 6, **columns: Any) -> Path:
    """A pool of `size` instructions, `one`, `two`, ..., all with the same further columns."""
    file = tmp_path / "pool.jsonl"
    rows = [
        {"id": f"i{n}", "instruction": f"Write about {topic(n)}.", **columns} for n in range(size)
    ]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return file


def topic(number: int) -> str:
    return f"{TOPICS[number % len(TOPICS)]} {number}"


def answer(name: str, asked: str) -> str:
    """What a contestant says: of its strength, and of a length and wording of its own."""
    strength = STRENGTHS[name]
    return (
        f"{name} of strength {strength} says {' '.join(f'{name}{n}' for n in range(strength))} on"
        f" {asked}"
    )


class Field:
    """Contestants and a judge, with what they were asked."""

    def __init__(
        self, *names: str, **replies: Reply | Callable[[list[ChatMessage]], Reply]
    ) -> None:
        """Take the names of contestants, and other replies for some of them."""
        names = names or tuple(STRENGTHS)
        self.contestants = {name: Script(replies.get(name) or self._says(name)) for name in names}
        self.judge = Script(stronger)

    @staticmethod
    def _says(name: str) -> Callable[[list[ChatMessage]], Reply]:
        return lambda messages: answer(name, messages[-1].text)

    def roles(self, **others: Model | list[Model]) -> dict[str, Any]:
        """The roles; those given here replace or add some."""
        models = [script.model(name) for name, script in self.contestants.items()]
        return {"contestant": models, "grader": self.judge.model(), **others}

    def asked(self, name: str) -> list[str]:
        return [messages[-1].text for messages in self.contestants[name].seen]


def stronger(messages: list[ChatMessage]) -> str:
    """The verdict of a judge that sees the strength of an answer."""
    first, second = (
        strength(between(messages[-1].text, f"<response_{n}>", f"</response_{n}>")) for n in (1, 2)
    )
    return verdict("tie" if first == second else "1" if first > second else "2")


def strength(text: str) -> int:
    found = re.search(r"of strength (\d+)", text)
    assert found, text
    return int(found[1])


def verdict(winner: str) -> str:
    return json.dumps({"comparison": "As their strength says.", "winner": winner})


def compete(task: Task, log_dir: Path, roles: dict[str, Any] | None, **options: Any) -> EvalLog:
    """Run a competition."""
    return run(task, log_dir, model="none", roles=roles, **options)


def answers_of(log: EvalLog) -> list[EvalSample]:
    return [sample for sample in samples_of(log) if sample.metadata["phase"] == "answer"]


def comparisons(log: EvalLog) -> list[EvalSample]:
    return [sample for sample in samples_of(log) if sample.metadata["phase"] == "compare"]


def new_comparisons(log: EvalLog) -> list[EvalSample]:
    return [sample for sample in comparisons(log) if "previous" not in sample.metadata]


def choice(sample: EvalSample, name: str = "pair_choice") -> Score:
    assert sample.scores is not None
    return sample.scores[name]


def pairs(samples: Sequence[EvalSample]) -> list[tuple[str, str]]:
    """The two models of each comparison, without the provider."""
    found = [sample.metadata["ballot"] for sample in samples]
    return [
        tuple(one[key].removeprefix("mockllm/") for key in ("model_a", "model_b")) for one in found
    ]


def outcomes(log: EvalLog) -> dict[str, float]:
    """Outcome of each comparison, by the id of its ballot."""
    found = {}
    for sample in comparisons(log):
        value = choice(sample).value
        assert isinstance(value, dict)
        found[sample.metadata["ballot"]["id"]] = float(value["outcome"])
    return found


def rows(log: EvalLog, name: str = "pair_choice") -> dict[str, float]:
    """Everything that is reported about a competition, in its order."""
    assert log.results is not None
    [result] = [one for one in log.results.scores if one.name == name]
    return {key: metric.value for key, metric in result.metrics.items()}


def path_of(log: EvalLog) -> Path:
    """Where the log of a run that ended well lies."""
    assert log.status == "success", log.error
    return Path(log.location.removeprefix("file://"))


def command(*arguments: object) -> Result:
    """Run `urs-inspect <arguments>` within this process."""
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, [str(argument) for argument in arguments])
