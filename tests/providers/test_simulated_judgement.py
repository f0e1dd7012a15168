"""Tests of `urs_inspect.providers._simulated_judgement`."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import pytest
from inspect_ai import Task
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, get_model

from tests.judging.replies import INTENTS
from tests.tasks.scripted import judge_numbers, metric_values, number, run, samples_of
from urs_inspect import urs
from urs_inspect._util import InputError
from urs_inspect.judging import (
    JudgePrompt,
    PromptBuilder,
    ScoreRecord,
    read_rating,
    read_reply,
    read_verdict,
    read_verdicts,
)
from urs_inspect.judging._prompts import (
    Protocol,
    dimension_prompt,
    joint_prompt,
    overall_prompt,
    rating_prompt,
)
from urs_inspect.judging._verdicts import Verdicts
from urs_inspect.providers._simulated_judgement import (
    NOISE,
    QualityModel,
    expected_final,
    final_of,
    level_for,
    question_effect,
    read_quality,
    simulate_judgement,
)
from urs_inspect.providers._simulation import simulate_judge
from urs_inspect.rubrics._taxonomy import load_taxonomy
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
        said(joint_prompt("chitchat", DIMENSIONS, ASKED, first, second), model),
        [*DIMENSIONS, "Overall"],
    )
    assert isinstance(read, Verdicts)
    return dict(read.verdicts)


def overall(first: str, second: str, *, ties: bool = True, model: str = "strong") -> object:
    return read_verdict(said(overall_prompt(ASKED, first, second, ties=ties), model))


def test_every_dimension_and_overall_get_a_verdict_and_the_much_better_response_wins():
    assert joint(GOOD, POOR) == dict.fromkeys([*DIMENSIONS, "Overall"], "1")
    assert joint(POOR, GOOD) == dict.fromkeys([*DIMENSIONS, "Overall"], "2")


def test_one_dimension_and_the_whole_are_judged_when_asked_for_alone():
    assert (
        read_verdict(
            said(dimension_prompt("chitchat", DIMENSIONS[0], ASKED, POOR, GOOD)), DIMENSIONS[0]
        )
        == "2"
    )
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
            (verdict == "1") != (len(first) > len(second))
            for verdict, (first, second) in zip(v, pairs, strict=True)
        )
        for model, v in given.items()
    }
    assert mistakes["strong"] < mistakes["weak"]


@pytest.mark.parametrize(("lowest", "highest"), [(1, 5), (1, 10), (0, 100), (-2, 2)])
@pytest.mark.parametrize("reference", ["", GOOD])
def test_ratings_keep_to_the_scale_and_rank_the_better_one_higher(
    lowest: int, highest: int, reference: str
):
    def rated(response: str) -> int:
        rating = read_rating(
            said(rating_prompt(ASKED, response, reference, lowest=lowest, highest=highest)),
            lowest,
            highest,
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
def test_md_eval_is_read_whole(protocol: Protocol, data_dir: Path, tmp_path: Path):
    # Few pairs keep this quick; what is asked is the same for all.
    task = md_eval(protocol=protocol, orders="both", scenarios="chitchat,roleplay,code_writing")
    found = judge_numbers(run(task, tmp_path, model="urs_simulation/weak", grader=None, limit=12))
    assert found["overall unread"] == found["dimension unread"] == 0
    assert not [name for name in found if name.startswith("failures")]
    assert 0 < found["dimension flips"] < 1


@pytest.mark.data
@pytest.mark.parametrize(
    "task",
    [lambda: judge_pairwise("llmbar/Natural"), lambda: judge_rating("vicuna")],
    ids=["pairs", "ratings"],
)
def test_published_benches_are_read_whole(task: Callable[[], Task], data_dir: Path, tmp_path: Path):
    log = run(task(), tmp_path, model="urs_simulation/judge", grader=None, limit=40)
    found = judge_numbers(log)
    assert found.get("unread", found.get("overall unread")) == 0
    assert (
        len(
            {
                (score.answer)
                for sample in samples_of(log)
                for score in (sample.scores or {}).values()
            }
        )
        > 1
    )


def test_with_a_rubric_the_score_record_is_given(tmp_path: Path):
    path = tmp_path / "labels.jsonl"
    row = {"prompt": "Why?", "response": "So.", "rating": 3, "reference": "So it is."}
    path.write_text(json.dumps({**row, "intent": "leisure", "language": "en"}), encoding="utf-8")
    task = judge_rating(str(path), rubric="urs", scale="1,5")
    log = run(task, tmp_path, model="urs_simulation/judge", grader=None)
    assert metric_values(log, "rating_agreement")["unread"] == 0


QUESTIONS = [f"Question {i}?" for i in range(3000)]
EIGHT, SIX = QualityModel("quality-8", 8.0), QualityModel("quality-6", 6.0)


def labelled(level: float, model: str = "quality-6") -> str:
    return f"[simulated answer by {model}, level {level:.4f}] This sentence fills."


def level_in(answer: str) -> float:
    level = level_for("judge", answer)
    assert level is not None
    return level


# --- names ---


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("quality-7.2", (7.2, 0, 0)),
        ("quality-10", (10, 0, 0)),
        ("quality-1.0", (1, 0, 0)),
        ("quality-7.2-partial-1", (7.2, 0, 1)),
        ("quality-7-lenient-0.5-partial-1.25", (7, 0.5, 1.25)),
    ],
)
def test_a_name_says_quality_leniency_and_partiality(
    name: str, numbers: tuple[float, float, float]
):
    assert read_quality(name) == QualityModel(name, *numbers)


OTHER_NAMES = (
    "quality", "quality-", "quality-x", "quality-0.9", "quality-10.1", "quality--7", "quality-7,2", "quality-7.",
    "quality-.5", "quality-1e1", "quality-nan", "quality-7-partial-1-lenient-0.5", "quality-7-lenient",
    "quality-7-lenient-9.5", "quality-7-partial--1", "quality-7-lenient-1-lenient-1", "quality-7 ", "quality-٧",
    "Quality-7",
)  # fmt: skip


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_another_name_is_refused_with_what_is_allowed(name: str):
    assert read_quality(name) is None
    with pytest.raises(
        InputError,
        match=r"unknown simulated model '.*'; allowed: strong, weak, judge, "
        r"quality-<1 to 10>\[-lenient-<0 to 9>\]\[-partial-<0 to 9>\]",
    ):
        get_model(f"urs_simulation/{name}", memoize=False)


# --- answers ---


def test_an_answer_is_labelled_with_model_and_level_and_is_the_same_every_time():
    answer = EIGHT.answer("Why?")
    assert answer.startswith("[simulated answer by quality-8, level ")
    assert (
        answer == EIGHT.answer(" Why?\n") == QualityModel("quality-8", 8.0).answer("Why?", 1, None)
    )
    assert (
        len({EIGHT.answer("Why?", epoch, seed) for epoch in (1, 2) for seed in (None, 0, 1)}) == 6
    )


def test_levels_are_quality_plus_a_shared_effect_plus_noise_each_of_standard_deviation_one():
    good = np.array([level_in(EIGHT.answer(question)) for question in QUESTIONS])
    fair = np.array([level_in(SIX.answer(question)) for question in QUESTIONS])
    effects = np.array([question_effect(question) for question in QUESTIONS])
    # Standard errors over 3,000 questions: of a mean 0.026, of the standard deviations 0.013 and
    # 0.018.
    assert [good.mean(), fair.mean(), effects.mean()] == pytest.approx([8, 6, 0], abs=0.08)
    assert [effects.std(), (good - 8 - effects).std(), (fair - 6 - effects).std()] == pytest.approx(
        [1] * 3, abs=0.04
    )
    assert good.std() == pytest.approx(2**0.5, abs=0.055)
    assert np.corrcoef([effects, good - 8 - effects, fair - 6 - effects])[
        np.triu_indices(3, 1)
    ] == pytest.approx([0] * 3, abs=0.06)


def test_length_varies_and_has_nothing_to_do_with_the_level():
    answers = [EIGHT.answer(question) for question in QUESTIONS]
    lengths = [len(answer) for answer in answers]
    assert min(lengths) < 150 and max(lengths) > 1000
    levels = [level_in(answer) for answer in answers]
    assert np.corrcoef(levels, lengths)[0, 1] == pytest.approx(0, abs=0.06)


# --- what is expected ---


def test_expected_final_by_hand():
    # All levels within 0.01 of 7.2: 7. Around 7.5 half of them 8, half 7. Far outside of the scale:
    # its ends.
    assert expected_final(7.2, 0.01) == pytest.approx(7)
    assert expected_final(7.5, 0.01) == pytest.approx(7.5)
    assert (expected_final(30), expected_final(-30)) == pytest.approx((10, 1))
    assert expected_final(5.5) == pytest.approx(
        5.5
    )  # in the middle of the scale the ends cut off as much


@pytest.mark.parametrize("quality", [1.3, 5.0, 7.2, 9.6])
def test_expected_final_is_the_mean_of_what_is_given(quality: float):
    generator = random.Random(0)
    drawn = [final_of(generator.gauss(quality, 2**0.5)) for _ in range(100_000)]
    assert expected_final(quality) == pytest.approx(
        fmean(drawn), abs=5 * stdev(drawn) / 100_000**0.5
    )


# --- judging ---


@pytest.mark.parametrize(
    ("judge", "answer", "reference", "level"),
    [
        ("judge", labelled(6.4), "Plain.", 6.4),
        ("judge", labelled(-0.25), "", -0.25),
        ("strong", f"\n {labelled(6.4)}", "Plain.", 6.4),
        ("quality-6", labelled(6.4), "Plain.", 6.4),
        ("quality-6-lenient-0.5", labelled(6.4), "Plain.", 6.9),
        ("quality-6-partial-1", labelled(6.4), "Plain.", 6.4),  # quality-6 is another model
        ("quality-6-partial-1", labelled(6.4, "quality-6-partial-1"), "Plain.", 7.4),
        (
            "quality-6-lenient-0.5-partial-1",
            labelled(6.4, "quality-6-lenient-0.5-partial-1"),
            "Plain.",
            7.9,
        ),
        ("judge", labelled(6.4), labelled(7.0, "quality-7"), 7.4),  # 8 + 6.4 - 7.0
        ("judge", labelled(7.0), labelled(7.0), 8.0),  # the reference itself
        (
            "quality-6-partial-1",
            labelled(6.0),
            labelled(5.0, "quality-6-partial-1"),
            9.0,
        ),  # only own answers gain
        ("judge", "Plain.", labelled(7.0), None),
        ("judge", f"It said: {labelled(7.0)}", "", None),
        ("judge", "[simulated answer] Plain.", "", None),
        ("judge", "", "", None),
    ],
)
def test_level_that_a_judge_sees(judge: str, answer: str, reference: str, level: float | None):
    assert level_for(judge, answer, reference) == (None if level is None else pytest.approx(level))


def test_final_is_rounded_and_cut_to_the_scale():
    assert [final_of(level) for level in (-3, 0.9, 6.4, 6.6, 10.4, 12.7)] == [1, 1, 6, 7, 10, 10]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("intent", INTENTS)
def test_scores_are_given_in_the_form_that_the_prompt_asks_for(
    language: str, intent: str, prompts: PromptBuilder
):
    rubric = prompts.rubric
    criteria = rubric.intents[intent].criteria
    names = [
        *(rubric.criteria[key][language].name for key in criteria),
        rubric.languages[language].final.name,
    ]

    def judge(answer: str, reference: str, model: str = "judge") -> int:
        prompt = prompts.build(intent, language, question="q", reference=reference, answer=answer)
        read = read_reply(
            simulate_judge(f"{prompt.instructions}\n\n{prompt.case}", names, model),
            rubric,
            criteria,
        )
        assert isinstance(read, ScoreRecord)
        assert {abs((score or -9) - read.final) for score in read.criteria.values()} <= {0, 1}
        return read.final

    assert judge(labelled(6.4), "Plain.") == 6
    assert judge(labelled(6.4), "Plain.", "quality-9-lenient-0.5") == 7
    assert judge(labelled(4.4), labelled(7.0)) == 5
    assert judge("Plain.", "Plain.", "quality-9-lenient-0.5") == 9  # as any simulated judge
    # Without a level, by shared pairs of neighbouring characters: none, 3 of 7 (1 + 8 * 3 / 7 =
    # 4.4), all.
    assert [judge(answer, "abcdefgh") for answer in ("xyz", "abcd", "abcdefgh")] == [1, 4, 9]


def test_pairs_and_ratings_go_by_the_level_and_not_the_length():
    high, low = labelled(8.5), labelled(3.0) + " More." * 200
    for model in ("strong", "quality-7", "quality-7-partial-1"):
        assert [overall(*pair, model=model) for pair in ((high, low), (low, high))] == ["1", "2"]
        ratings = [
            read_rating(said(rating_prompt("Why?", text, "", lowest=1, highest=5), model), 1, 5)
            for text in (high, low)
        ]
        assert isinstance(ratings[0], int) and isinstance(ratings[1], int)
        assert ratings[0] > ratings[1]


# --- through the harness ---


def simulated(tmp_path: Path, model: str, grader: str = "judge", **options: int) -> EvalLog:
    models = {"model": f"urs_simulation/{model}", "grader": f"urs_simulation/{grader}"}
    return run(urs(dataset="sample"), tmp_path / model, **models, **options)


def scored(log: EvalLog) -> list[tuple[float, str]]:
    found = []
    for sample in samples_of(log):
        value = (sample.scores or {})["intent_judge"].value
        assert isinstance(value, dict)
        found.append((number(value["final"]), sample.output.completion))
    return found


def test_final_scores_of_a_run_are_the_levels_that_the_answers_bear(tmp_path: Path):
    log = simulated(tmp_path, "quality-7.2", limit=20)
    assert len(scored(log)) == 20
    for final, answer in scored(log):
        assert answer.startswith("[simulated answer by quality-7.2, level ")
        assert final == final_of(level_in(answer))


def test_repetitions_and_seeds_give_other_answers_the_first_of_them_the_same(tmp_path: Path):
    twice = simulated(tmp_path, "quality-7.2", epochs=2, limit=5)
    answers = {
        (str(sample.id), sample.epoch): sample.output.completion for sample in samples_of(twice)
    }
    assert len(set(answers.values())) == 10
    for (question, epoch), answer in answers.items():
        [asked] = [s.input for s in samples_of(twice) if (str(s.id), s.epoch) == (question, epoch)]
        assert answer == QualityModel("quality-7.2", 7.2).answer(str(asked), epoch)


def test_seed_of_a_call_is_part_of_the_answer():
    model = get_model("urs_simulation/quality-7.2", memoize=False)

    async def ask(seed: int | None) -> str:
        return (await model.generate("Why?", config=GenerateConfig(seed=seed))).completion

    given = [asyncio.run(ask(seed)) for seed in (None, 1, 1)]
    assert given[0] != given[1] == given[2]
    assert given[1] == QualityModel("quality-7.2", 7.2).answer("Why?", 1, 1)


def test_a_partial_judge_adds_to_its_own_answers_only(tmp_path: Path):
    def differences(model: str) -> set[float]:
        log = simulated(tmp_path, model, grader="quality-6-partial-2", limit=20)
        return {final - final_of(level_in(answer)) for final, answer in scored(log) if final < 10}

    assert differences("quality-6") == {0}
    assert differences("quality-6-partial-2") == {2}
