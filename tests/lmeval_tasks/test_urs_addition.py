"""`urs_addition` in lm-eval gives the numbers that it gives in inspect-ai."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.lmeval_tasks import runs
from tests.lmeval_tasks.runs import ScriptedLM
from tests.reports.golden_files import rows_of
from tests.tasks.scripted import Script, metric_values, run
from urs_inspect._util import InputError
from urs_inspect.studies._addition_report import report_addition
from urs_inspect.studies._addition_task import urs_addition

_OPTIONS = {"addition_lengths": "2-4,12", "addition_per_length": 5}


def _reply(question: str) -> str:
    """Right up to three numbers; now and then no number, or nothing."""
    numbers = [int(number) for number in re.findall(r"\d+", question.splitlines()[0])]
    if sum(numbers) % 11 == 0:
        return ""
    if sum(numbers) % 7 == 0:
        return "I would rather not."
    return f"Let me see.\n\nAnswer: {sum(numbers) + (len(numbers) > 3)}"


def _lm(**kwargs: Any) -> ScriptedLM:
    return ScriptedLM(lambda messages: _reply(messages[-1]["content"]), **kwargs)


def test_the_numbers_are_those_of_the_task_of_inspect(tmp_path: Path):
    script = Script(lambda messages: _reply(messages[-1].text))
    log = run(urs_addition(lengths="2-4,12", per_length=5), tmp_path, model=script.model())
    expected = metric_values(log, "exact_sum")
    lengths = report_addition([log.location]).tables()["addition_lengths"]
    expected |= {f"length={row.summands} accuracy": row.accuracy for row in rows_of(lengths)}
    lm = _lm()
    found = runs.run("urs_addition", lm, _OPTIONS)["results"]["urs_addition"]

    assert [messages[-1]["content"] for messages in lm.seen] == [
        messages[-1].text for messages in script.seen
    ]
    for name, other in (
        ("accuracy", "accuracy"),
        ("accuracy_2_10", "2-10 accuracy"),
        ("accuracy_all", "all accuracy"),
        ("accuracy_length_02", "length=2 accuracy"),
        ("accuracy_length_12", "length=12 accuracy"),
        ("longest", "longest"),
        ("longest_unbroken", "longest unbroken"),
    ):
        assert found[f"{name},none"] == pytest.approx(expected[other]), name
    assert found["no_number,none"] * 20 == pytest.approx(expected["no_number"])
    assert found["no_response,none"] * 20 == pytest.approx(expected["no_response"])
    assert expected["no_number"] > 0 and expected["no_response"] > 0
    assert 0 < found["accuracy,none"] < 1
    # lm-eval's own standard error over the 15 chains of 2 to 9 numbers: sqrt(p (1 - p) / 14).
    share = found["accuracy,none"]
    assert found["accuracy_stderr,none"] == pytest.approx((share * (1 - share) / 14) ** 0.5)
    # An answer is never cut at an empty line.
    assert lm.settings[0]["until"] == []


def test_a_range_that_no_chain_reaches_has_no_accuracy_of_its_own():
    found = runs.run("urs_addition", _lm(), {**_OPTIONS, "addition_lengths": "2-3"})["results"][
        "urs_addition"
    ]
    assert "accuracy,none" in found and "accuracy_2_10,none" not in found


def test_two_processes_find_the_same():
    alone = runs.numbers(runs.run("urs_addition", _lm(), _OPTIONS), "urs_addition")
    # Chains of length 3 and 12 are at odd places only, so that one process has none of them.
    several = runs.run_in_two("urs_addition", _lm, _OPTIONS)
    assert runs.numbers(several, "urs_addition") == pytest.approx(alone)
    assert isinstance(alone["accuracy_length_12_stderr,none"], float)


def test_predict_only_keeps_answers_and_counts_nothing():
    found = runs.run("urs_addition", _lm(), _OPTIONS, predict_only=True)
    assert len(found["samples"]["urs_addition"]) == 20
    assert not any(name.startswith("accuracy") for name in found["results"]["urs_addition"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"addition_length": 3}, "unknown 'addition_length'; allowed: .*addition_lengths"),
        ({"addition_per_length": "5"}, "addition_per_length: .*integer.*got '5'"),
        ({"addition_lengths": "9-2"}, "lengths: .*numbers and ranges"),
        ({"addition_language": "fr"}, "language: unknown value 'fr'; allowed"),
    ],
)
def test_bad_options_are_said_before_anything_is_asked(options: dict[str, Any], message: str):
    lm = _lm()
    with pytest.raises(InputError, match=message):
        runs.run("urs_addition", lm, options)
    assert lm.seen == []


def test_chinese_chains_are_put_in_chinese():
    lm = _lm()
    runs.run("urs_addition", lm, {**_OPTIONS, "addition_language": "zh"}, limit=1)
    assert "请把这些数相加" in lm.seen[0][-1]["content"]
