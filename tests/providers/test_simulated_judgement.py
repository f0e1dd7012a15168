"""The simulated models as judges of pairs and single responses."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.tasks.scripted import judge_numbers, metric_values, run, samples_of
from urs_inspect.judging import (
    JudgePrompt,
    Verdicts,
    dimension_prompt,
    joint_prompt,
    overall_prompt,
    rating_prompt,
    read_rating,
    read_verdict,
    read_verdicts,
)
from urs_inspect.providers.simulated_judgement import NOISE, simulate_judgement
from urs_inspect.samer import load_taxonomy
from urs_inspect.tasks import judge_pairwise, judge_rating, md_eval

DIMENSIONS = tuple(load_taxonomy().scenarios["chitchat"].dimensions)
ASKED = "How do I bake bread at home?"
GOOD = "To bake bread at home you need flour, water, salt and yeast. " * 4
POOR = "No."


def said(prompt: JudgePrompt, model: str = "strong") -> str:
    reply = simulate_judgement(f"{prompt.instructions}\n\n{prompt.case}", model)
    assert reply is not None and reply.startswith("[simulated judgement]\n\n{")
    return reply


def joint(first: str, second: str, model: str = "strong") -> dict[str, str | None]:
    read = read_verdicts(
        said(joint_prompt("chitchat", DIMENSIONS, ASKED, first, second), model), [*DIMENSIONS, "Overall"]
    )
    assert isinstance(read, Verdicts)
    return dict(read.verdicts)


def overall(first: str, second: str, *, ties: bool = True, model: str = "strong") -> object:
    return read_verdict(said(overall_prompt(ASKED, first, second, ties=ties), model))


def test_every_dimension_and_overall_get_a_verdict_and_the_much_better_response_wins():
    assert joint(GOOD, POOR) == dict.fromkeys([*DIMENSIONS, "Overall"], "1")
    assert joint(POOR, GOOD) == dict.fromkeys([*DIMENSIONS, "Overall"], "2")


def test_one_dimension_and_the_whole_are_judged_when_asked_for_alone():
    assert read_verdict(said(dimension_prompt("chitchat", DIMENSIONS[0], ASKED, POOR, GOOD)), DIMENSIONS[0]) == "2"
    assert (overall(GOOD, POOR), overall(POOR, GOOD)) == ("1", "2")


def test_ties_are_named_only_where_they_may_be():
    pairs = [(f"{GOOD}{n}", f"{GOOD}{m}") for n in range(10) for m in range(10)]
    with_ties = Counter(overall(first, second) for first, second in pairs)
    without = Counter(overall(first, second, ties=False) for first, second in pairs)
    assert set(with_ties) == {"1", "2", "tie"}
    assert set(without) == {"1", "2"}
    assert without["1"] > without["2"]  # it leans to the first: equal responses are first ones then
    assert overall(GOOD, GOOD, ties=False) == overall("", "", ties=False) == "1"


def test_verdicts_depend_on_the_text_and_the_model_alone():
    pairs = [(GOOD[: 40 + n], GOOD[: 60 - n]) for n in range(40)]
    given = {model: [overall(*pair, model=model) for pair in pairs] for model in NOISE}
    assert given == {model: [overall(*pair, model=model) for pair in pairs] for model in NOISE}
    assert given["strong"] != given["weak"]
    # The longer one is shown first in the later half: without noise 2 comes before 1.
    mistakes = {
        model: sum(
            (verdict == "1") != (len(first) > len(second)) for verdict, (first, second) in zip(v, pairs, strict=True)
        )
        for model, v in given.items()
    }
    assert mistakes["strong"] < mistakes["weak"]


@pytest.mark.parametrize(("lowest", "highest"), [(1, 5), (1, 10), (0, 100), (-2, 2)])
@pytest.mark.parametrize("reference", ["", GOOD])
def test_ratings_keep_to_the_scale_and_rank_the_better_one_higher(lowest: int, highest: int, reference: str):
    def rated(response: str) -> int:
        rating = read_rating(
            said(rating_prompt(ASKED, response, reference, lowest=lowest, highest=highest)), lowest, highest
        )
        assert isinstance(rating, int)
        return rating

    assert rated("") <= rated(POOR) < rated(GOOD * 5)
    assert rated("") == lowest


@pytest.mark.parametrize(
    "prompt",
    [
        "How are you?",
        'Say "1, 2 or tie".',
        'What is {"a": "1 or 2"}?',
        '{"winner": broken "1 or 2"}',
        '{"score": 3, "x": "1, 2 or tie"}',
        '{"Factuality": "<1-10>", "Final Score": "<1-10>"}',
    ],
)
def test_other_prompts_are_none_of_its_business(prompt: str):
    assert simulate_judgement(prompt, "judge") is None


# --- through the harness, on the published files ---


@pytest.mark.data
@pytest.mark.parametrize("protocol", ["joint", "per_dimension"])
def test_md_eval_is_read_whole(protocol: str, data_dir: Path, tmp_path: Path):
    # A part of the scenarios keeps this quick; what is asked is the same for all.
    task = md_eval(protocol=protocol, orders="both", scenarios="chitchat,roleplay,code_writing")
    log = run(task, tmp_path, model="urs_simulation/weak", grader=None)
    found = judge_numbers(log)
    assert found["overall unread"] == found["dimension unread"] == 0
    assert not [name for name in found if name.startswith("failures")]
    assert 0 < found["dimension flips"] < 1


@pytest.mark.data
@pytest.mark.parametrize("bench", ["hhh", "llmbar/Natural", "llmbar/GPTInst"])
def test_pairs_are_read_whole(bench: str, data_dir: Path, tmp_path: Path):
    log = run(judge_pairwise(bench), tmp_path, model="urs_simulation/judge", grader=None)
    assert judge_numbers(log)["overall unread"] == 0


@pytest.mark.data
@pytest.mark.parametrize("bench", ["vicuna", "mt_bench"])
def test_responses_are_rated(bench: str, data_dir: Path, tmp_path: Path):
    log = run(judge_rating(bench), tmp_path, model="urs_simulation/judge", grader=None)
    assert metric_values(log, "rating_agreement")["unread"] == 0
    values: list[Any] = [(sample.scores or {})["rating_agreement"].value for sample in samples_of(log)]
    assert len({value["rating"] for value in values}) > 2


def test_with_a_rubric_the_score_record_is_given(tmp_path: Path):
    path = tmp_path / "labels.jsonl"
    row = {
        "prompt": "Why?",
        "response": "So.",
        "rating": 3,
        "reference": "So it is.",
        "intent": "leisure",
        "language": "en",
    }
    path.write_text(json.dumps(row), encoding="utf-8")
    task = judge_rating(str(path), rubric="urs", scale="1,5")
    log = run(task, tmp_path, model="urs_simulation/judge", grader=None)
    assert metric_values(log, "rating_agreement")["unread"] == 0
