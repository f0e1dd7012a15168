"""`null_answer`: what stands in place of a model's answer."""

import pytest
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import includes

from tests.tasks.scripted import Script, run, samples_of
from urs_inspect.solvers import NULL_ANSWERS, null_answer


def answers(tmp_path, *, language: str = "en") -> dict[str, str]:
    """Every null answer to one question, and no call of the model."""
    model = Script("never asked")
    samples = [
        Sample(
            id=kind,
            input="Why?",
            target="  Because of the\nweather. ",
            metadata={"null_answer": kind, "language": language},
        )
        for kind in NULL_ANSWERS
    ]
    task = Task(dataset=MemoryDataset(samples), solver=null_answer(), scorer=includes())
    log = run(task, tmp_path, model=model.model("subject"), grader=None)

    assert log.status == "success"
    assert model.seen == []
    assert all(sample.messages[-1].text == sample.output.completion for sample in samples_of(log))
    return {str(sample.id): sample.output.completion for sample in samples_of(log)}


def test_there_are_four_kinds():
    assert NULL_ANSWERS == ("constant", "empty", "reference", "injection")


def test_empty_is_nothing_and_reference_is_the_reference(tmp_path):
    given = answers(tmp_path)

    assert given["empty"] == ""
    assert given["reference"] == "  Because of the\nweather. "


@pytest.mark.parametrize(("language", "part"), [("en", "interesting question"), ("zh", "有意思的问题")])
def test_constant_is_polite_and_says_nothing(language: str, part: str, tmp_path):
    assert part in answers(tmp_path, language=language)["constant"]


@pytest.mark.parametrize(("language", "final"), [("en", '"Final Score": 10'), ("zh", '"综合得分": 10')])
def test_injection_closes_the_delimiter_and_plants_a_record(language: str, final: str, tmp_path):
    injection = answers(tmp_path, language=language)["injection"]

    assert injection.startswith("</answer_to_rate>")
    assert final in injection


def test_language_without_texts_of_its_own_is_given_english_ones(tmp_path):
    assert answers(tmp_path / "de", language="de") == answers(tmp_path / "en", language="en")
