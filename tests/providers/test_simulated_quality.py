"""Simulated models of known quality: what is known about them must hold."""

import asyncio
import random
from pathlib import Path
from statistics import NormalDist, fmean, stdev

import numpy as np
import pytest
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, get_model

from tests.tasks.scripted import number, run, samples_of
from urs_inspect import urs
from urs_inspect.errors import InputError
from urs_inspect.judging import (
    JudgePrompt,
    PromptBuilder,
    ScoreRecord,
    overall_prompt,
    rating_prompt,
    read_rating,
    read_reply,
    read_verdict,
)
from urs_inspect.providers.simulated_judgement import simulate_judgement
from urs_inspect.providers.simulated_quality import (
    QualityModel,
    expected_final,
    final_of,
    level_for,
    question_effect,
    read_quality,
)
from urs_inspect.providers.simulation import simulate_judge
from urs_inspect.rubrics import Rubric

QUESTIONS = [f"Question {i}?" for i in range(3000)]
GOOD, FAIR = QualityModel("quality-8", 8.0), QualityModel("quality-6", 6.0)


def labelled(level: float, model: str = "quality-6") -> str:
    return f"[simulated answer by {model}, level {level:.4f}] This sentence fills."


def level_in(answer: str) -> float:
    level = level_for("judge", answer)
    assert level is not None
    return level


# --- names ---


@pytest.mark.parametrize(
    ("name", "quality", "lenient", "partial"),
    [
        ("quality-7.2", 7.2, 0, 0),
        ("quality-10", 10, 0, 0),
        ("quality-1.0", 1, 0, 0),
        ("quality-7.2-lenient-0.5", 7.2, 0.5, 0),
        ("quality-7.2-partial-1", 7.2, 0, 1),
        ("quality-7-lenient-0.5-partial-1.25", 7, 0.5, 1.25),
    ],
)
def test_a_name_says_quality_leniency_and_partiality(name: str, quality: float, lenient: float, partial: float):
    assert read_quality(name) == QualityModel(name, quality, lenient, partial)


@pytest.mark.parametrize(
    "name",
    [
        "quality",
        "quality-",
        "quality-x",
        "quality-0.9",
        "quality-10.1",
        "quality--7",
        "quality-7,2",
        "quality-7.",
        "quality-.5",
        "quality-1e1",
        "quality-nan",
        "quality-7-partial-1-lenient-0.5",
        "quality-7-lenient",
        "quality-7-lenient-9.5",
        "quality-7-partial--1",
        "quality-7-lenient-1-lenient-1",
        "quality-7 ",
        "quality-٧",
        "Quality-7",
    ],
)
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
    answer = GOOD.answer("Why?")
    assert answer.startswith("[simulated answer by quality-8, level ")
    assert answer == GOOD.answer(" Why?\n") == QualityModel("quality-8", 8.0).answer("Why?", 1, None)
    assert len({GOOD.answer("Why?", epoch, seed) for epoch in (1, 2) for seed in (None, 0, 1)}) == 6


def test_levels_are_quality_plus_a_shared_effect_plus_noise_each_of_standard_deviation_one():
    good = np.array([level_in(GOOD.answer(question)) for question in QUESTIONS])
    fair = np.array([level_in(FAIR.answer(question)) for question in QUESTIONS])
    effects = np.array([question_effect(question) for question in QUESTIONS])
    # Standard errors over 3,000 questions: of a mean 0.026, of the standard deviations 0.013 and 0.018.
    assert [good.mean(), fair.mean(), effects.mean()] == pytest.approx([8, 6, 0], abs=0.08)
    assert [effects.std(), (good - 8 - effects).std(), (fair - 6 - effects).std()] == pytest.approx([1] * 3, abs=0.04)
    assert good.std() == pytest.approx(2**0.5, abs=0.055)
    assert np.corrcoef([effects, good - 8 - effects, fair - 6 - effects])[np.triu_indices(3, 1)] == pytest.approx(
        [0] * 3, abs=0.06
    )


def test_length_varies_and_has_nothing_to_do_with_the_level():
    answers = [GOOD.answer(question) for question in QUESTIONS]
    lengths = [len(answer) for answer in answers]
    assert min(lengths) < 150 and max(lengths) > 1000
    levels = [level_in(answer) for answer in answers]
    assert np.corrcoef(levels, lengths)[0, 1] == pytest.approx(0, abs=0.06)


# --- what is expected ---


def test_expected_final_by_hand():
    # All levels within 0.01 of 7.2: 7. Around 7.5 half of them 8, half 7. Far outside of the scale: its ends.
    assert expected_final(7.2, 0.01) == pytest.approx(7)
    assert expected_final(7.5, 0.01) == pytest.approx(7.5)
    assert (expected_final(30), expected_final(-30)) == pytest.approx((10, 1))
    assert expected_final(5.5) == pytest.approx(5.5)  # in the middle of the scale the ends cut off as much


@pytest.mark.parametrize("quality", [1.3, 5.0, 7.2, 9.6])
def test_expected_final_is_the_mean_of_what_is_given(quality: float):
    generator = random.Random(0)
    drawn = [final_of(generator.gauss(quality, 2**0.5)) for _ in range(100_000)]
    assert expected_final(quality) == pytest.approx(fmean(drawn), abs=5 * stdev(drawn) / 100_000**0.5)


def test_expected_final_over_questions_is_that_of_each_question_averaged():
    effects = NormalDist()
    steps = [effects.inv_cdf((i + 0.5) / 2000) for i in range(2000)]
    assert fmean(expected_final(8.4 + effect, 1.0) for effect in steps) == pytest.approx(expected_final(8.4), abs=1e-3)


def test_expected_final_grows_with_quality():
    means = [expected_final(quality / 4) for quality in range(4, 41)]
    assert means == sorted(means) and len(set(means)) == len(means)


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
        ("quality-6-lenient-0.5-partial-1", labelled(6.4, "quality-6-lenient-0.5-partial-1"), "Plain.", 7.9),
        ("judge", labelled(6.4), labelled(7.0, "quality-7"), 7.4),  # 8 + 6.4 - 7.0
        ("judge", labelled(7.0), labelled(7.0), 8.0),  # the reference itself
        ("quality-6-partial-1", labelled(6.0), labelled(5.0, "quality-6-partial-1"), 9.0),  # only own answers gain
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
@pytest.mark.parametrize("intent", ["leisure", "factual_qa", "api"])
def test_judges_give_the_level_back_through_the_real_prompt(
    language: str, intent: str, prompts: PromptBuilder, rubric: Rubric
):
    names = [*(rubric.criteria[key][language].name for key in rubric.intents[intent].criteria)]
    names.append(rubric.languages[language].final.name)

    def judge(answer: str, reference: str, model: str) -> ScoreRecord:
        prompt = prompts.build(intent, language, question="q", reference=reference, answer=answer)
        reply = simulate_judge(f"{prompt.instructions}\n\n{prompt.case}", names, model)
        read = read_reply(reply, rubric, rubric.intents[intent].criteria)
        assert isinstance(read, ScoreRecord)
        return read

    plain = judge(labelled(6.4), "Plain.", "judge")
    assert plain.final == 6
    assert {abs((score or 0) - 6) for score in plain.criteria.values()} <= {0, 1}
    assert judge(labelled(6.4), "Plain.", "quality-9-lenient-0.5").final == 7
    assert judge(labelled(4.4), labelled(7.0), "judge").final == 5
    assert judge("Plain.", "Plain.", "quality-9-lenient-0.5").final == 9  # as any simulated judge


def test_pairs_and_ratings_go_by_the_level_and_not_the_length():
    high, low = labelled(8.5), labelled(3.0) + " More." * 200

    def sent(prompt: JudgePrompt, model: str) -> str:
        reply = simulate_judgement(f"{prompt.instructions}\n\n{prompt.case}", model)
        assert reply is not None
        return reply

    for model in ("strong", "quality-7", "quality-7-partial-1"):
        assert read_verdict(sent(overall_prompt("Why?", high, low, ties=True), model)) == "1"
        assert read_verdict(sent(overall_prompt("Why?", low, high, ties=True), model)) == "2"
        ratings = [
            read_rating(sent(rating_prompt("Why?", text, "", lowest=1, highest=5), model), 1, 5) for text in (high, low)
        ]
        assert isinstance(ratings[0], int) and isinstance(ratings[1], int)
        assert ratings[0] > ratings[1]


# --- through the harness ---


def simulated(tmp_path: Path, model: str, grader: str = "judge", **options: int) -> EvalLog:
    return run(
        urs(dataset="sample"),
        tmp_path / model,
        model=f"urs_simulation/{model}",
        grader=f"urs_simulation/{grader}",
        **options,
    )


def scored(log: EvalLog) -> list[tuple[float, str]]:
    found = []
    for sample in samples_of(log):
        value = (sample.scores or {})["intent_judge"].value
        assert isinstance(value, dict)
        found.append((number(value["final"]), sample.output.completion))
    return found


def test_final_scores_of_a_run_are_the_levels_that_the_answers_bear(tmp_path: Path):
    log = simulated(tmp_path, "quality-7.2")
    assert len(scored(log)) == 42
    for final, answer in scored(log):
        assert answer.startswith("[simulated answer by quality-7.2, level ")
        assert final == final_of(level_in(answer))


def test_repetitions_and_seeds_give_other_answers_the_first_of_them_the_same(tmp_path: Path):
    twice = simulated(tmp_path, "quality-7.2", epochs=2, limit=5)
    answers = {(str(sample.id), sample.epoch): sample.output.completion for sample in samples_of(twice)}
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
        log = simulated(tmp_path, model, grader="quality-6-partial-2")
        return {final - final_of(level_in(answer)) for final, answer in scored(log) if final < 10}

    assert differences("quality-6") == {0}
    assert differences("quality-6-partial-2") == {2}
