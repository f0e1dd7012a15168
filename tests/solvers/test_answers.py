"""Null answers, and new instructions by a generator: who is asked, what is sent, and what is kept
of the reply.
"""

import pytest
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import includes

from tests.tasks.scripted import Script, run, samples_of
from urs_inspect.solvers import NULL_ANSWERS, null_answer


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every null answer to one question in three languages, and no call of the model."""
    model = Script("never asked")
    samples = [
        Sample(
            id=f"{kind} {code}",
            input="Why?",
            target=" So.\n",
            metadata={"null_answer": kind, "language": code},
        )
        for kind in NULL_ANSWERS
        for code in ("en", "zh", "de")
    ]
    task = Task(dataset=MemoryDataset(samples), solver=null_answer(), scorer=includes())
    log = run(task, tmp_path_factory.mktemp("null"), model=model.model("subject"), grader=None)
    assert log.status == "success" and model.seen == []
    assert all(sample.messages[-1].text == sample.output.completion for sample in samples_of(log))
    return {str(sample.id): sample.output.completion for sample in samples_of(log)}


def test_there_are_four_kinds_of_null_answers(answers: dict[str, str]) -> None:
    assert NULL_ANSWERS == ("constant", "empty", "reference", "injection")
    assert (answers["empty en"], answers["reference en"]) == ("", " So.\n")
    assert len({answers[f"constant {code}"] for code in ("en", "zh")}) == 2


def test_a_language_without_texts_of_its_own_is_given_english_ones(answers: dict[str, str]) -> None:
    assert all(answers[f"{kind} de"] == answers[f"{kind} en"] for kind in NULL_ANSWERS)
