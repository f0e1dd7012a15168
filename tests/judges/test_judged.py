"""Which answers in logs can be judged again, and how they were judged."""

import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalError, EvalSample, EvalSampleLimit
from inspect_ai.log._log import EvalScorer
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score

from tests.reports.judged_logs import answered, judgement, write_judged
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.judges._judged import JudgedAnswer, Judging, read_judged_answers, short

TEXT = "An answer of some words, as people write them in English."
ERROR = EvalError(message="gone", traceback="", traceback_ansi="")


def scorer(name: str, **options: Any) -> EvalScorer:
    return EvalScorer(name=name, options=options)


def said(name: str, *scores: Score, text: str = TEXT, **facts: Any) -> EvalSample:
    return answered(name, *scores, output=ModelOutput.from_content("p/model", text), **facts)


def graded(name: str, value: Any, by: str = "theirs", text: str = TEXT) -> EvalSample:
    """An answer with a score of a scorer that is not ours."""
    return said(name, text=text, scores={by: Score(value=value)})


def read(*logs: str) -> tuple[list[JudgedAnswer], list[str]]:
    skipped: list[str] = []
    return read_judged_answers(logs, skipped), skipped


def refused(*logs: str) -> str:
    with pytest.raises(InputError) as caught:
        read(*logs)
    return str(caught.value)


def test_answers_that_count_have_text_and_number_and_are_of_the_first_epoch(
    tmp_path: Path,
) -> None:
    samples = [
        said("good", judgement(7.0)),
        said("again", judgement(3.0), judgement(4.0)),
        said("good", judgement(9.0), epoch=2),
        said("blank", judgement(1.0), text=" \n"),
        said("unscored", judgement(math.nan)),
        said("failed", judgement(5.0), error=ERROR),
        said("limited", judgement(5.0), limit=EvalSampleLimit(type="token", limit=9)),
        said("never judged"),
        said(
            "chinese", judgement(6.0), text="这是一个回答，用中文写成。", metadata={"language": ""}
        ),
    ]
    log = write_judged(tmp_path / "a.eval", *samples, scorers=[scorer("urs_inspect/intent_judge")])
    found, skipped = read(log)
    assert {one.id: (one.final, one.model, one.language) for one in found} == {
        "good": (7, "p/model", "en"),
        "again": (4, "p/model", "en"),
        "chinese": (6, "p/model", "zh"),
    }
    good = next(one for one in found if one.id == "good")
    assert good.text == TEXT and good.sample.input == "Ask good"
    assert good.log.samples is None
    [sentence] = skipped
    assert tells(sentence, "a.eval: 5 answers of 8 left out ... intent_judge")


def test_nothing_is_said_where_every_answer_counts(tmp_path: Path) -> None:
    log = write_judged(
        tmp_path / "a.eval", said("a", judgement(7.0)), said("a", judgement(1.0), epoch=2)
    )
    assert read(log)[1] == []


def test_only_arguments_on_which_prompts_depend_are_those_of_a_judge_of_intents(
    tmp_path: Path,
) -> None:
    options = {"rubric": "mine.yaml", "prompt": None, "judge_language": "en", "attempts": 5}
    log = write_judged(
        tmp_path / "a.eval",
        said("a", judgement(7.0)),
        scorers=[scorer("urs_inspect/intent_judge", **options), scorer("match")],
    )
    [answer], _ = read(log)
    assert answer.judging == Judging(
        "intent_judge", {"rubric": "mine.yaml", "judge_language": "en"}
    )
    assert str(answer.judging) == 'intent_judge {"judge_language": "en", "rubric": "mine.yaml"}'
    assert str(Judging("p/own", {"a": None})) == "own"
    assert Judging("p/own").name == short("p/own") == "own"


def test_a_judge_of_the_harness_is_read_without_its_model_and_another_by_its_role(
    tmp_path: Path,
) -> None:
    options = {"model": "p/old", "model_role": "grader", "template": None, "partial_credit": True}
    qa = write_judged(
        tmp_path / "qa.eval",
        *(graded(str(number), value, "model_graded_qa") for number, value in enumerate("CPI")),
        scorers=[scorer("match"), scorer("inspect_ai/model_graded_qa", **options)],
        roles={},
    )
    found, _ = read(qa)
    assert [one.final for one in found] == [1, 0.5, 0]
    assert found[0].judging == Judging(
        "inspect_ai/model_graded_qa", {"template": None, "partial_credit": True}
    )
    own = write_judged(
        tmp_path / "own.eval",
        graded("a", 0.25, "style"),
        graded("b", {"x": 1}, "style"),
        graded("c", "many", "style"),
        scorers=[scorer("f1"), scorer("urs_inspect/other"), scorer("p/style", strict=True)],
    )
    found, skipped = read(own)
    assert [(one.id, one.final, one.judging) for one in found] == [
        ("a", 0.25, Judging("p/style", {"strict": True}))
    ]
    assert tells(skipped[0], "own.eval: 2 answers of 3 ... style")


def rated(name: str, rating: float, response: str, prompt: str) -> EvalSample:
    facts = {"response": response, "group": "people", "language": "en"}
    score = Score(value={"rating": rating})
    return answered(name, input=prompt, metadata=facts, scores={"rating_agreement": score})


def test_a_rated_response_is_the_one_that_is_once_in_its_prompt(tmp_path: Path) -> None:
    log = write_judged(
        tmp_path / "a.eval",
        rated("once", 4, f" {TEXT} ", f"Rate this: {TEXT}"),
        rated("twice", 4, TEXT, f"Rate this: {TEXT} And: {TEXT}"),
        rated("never", 4, TEXT, "Rate this."),
        rated("unread", math.nan, TEXT, f"Rate this: {TEXT}"),
        model="none/none",
        scorers=[scorer("urs_inspect/rating_agreement", highest=7)],
    )
    found, skipped = read(log)
    assert [(one.id, one.model, one.text, one.final) for one in found] == [
        ("once", "people", TEXT, 4)
    ]
    assert found[0].judging == Judging("rating_agreement", {"highest": 7})
    assert tells(skipped[0], "a.eval: 3 answers of 4")


@pytest.mark.parametrize(
    ("facts", "telling"),
    [
        ({"task": "urs_inspect/judge_twins"}, "a.eval ... twins of answers"),
        ({"model": "none/none"}, "a.eval ... no answers of a model"),
        ({"scorers": [scorer("match"), scorer("f1")]}, "a.eval ... match, f1, not by a judge"),
        ({"scorers": []}, "a.eval ... nothing, not by a judge"),
        (
            {"scorers": [scorer("urs_inspect/pair_verdict")]},
            "a.eval ... pair_verdict, not by a judge",
        ),
        ({"scorers": [scorer("pair_choice")]}, "a.eval ... pair_choice, not by a judge"),
        ({"scorers": [scorer("p/style")], "roles": {}}, "a.eval ... style, not by a judge"),
        (
            {"scorers": [scorer("model_graded_qa", include_history=True)]},
            "a.eval ... model_graded_qa ... include_history",
        ),
        (
            {"scorers": [scorer("model_graded_fact", template="nowhere.txt")]},
            "a.eval ... model_graded_fact ... 'nowhere.txt'",
        ),
    ],
)
def test_logs_that_cannot_be_judged_again_say_why(
    facts: dict[str, Any], telling: str, tmp_path: Path
) -> None:
    log = write_judged(tmp_path / "a.eval", graded("a", 1, "style"), **facts)
    first, *others = refused(log).splitlines()
    assert tells(first, f"none that can be judged again ... {log}")
    [reason] = others
    assert tells(reason, telling)


def test_a_template_with_its_place_for_the_answer_is_one(tmp_path: Path) -> None:
    log = write_judged(
        tmp_path / "a.eval",
        graded("a", "C", "model_graded_qa"),
        scorers=[scorer("model_graded_qa", template="Grade this: {answer}")],
    )
    assert len(read(log)[0]) == 1


def test_answers_of_several_judgings_are_not_mixed_and_those_of_one_are(tmp_path: Path) -> None:
    def log(name: str, value: float, **options: Any) -> str:
        scorers = [scorer("urs_inspect/intent_judge", **options)]
        sample = said(name, judgement(value))
        return write_judged(tmp_path / f"{name}.eval", sample, scorers=scorers, eval_id=name)

    one, other = log("a", 1.0), log("b", 2.0)
    chinese = log("c", 3.0, judge_language="zh")
    empty = log("d", math.nan, judge_language="fr")
    assert [answer.final for answer in read(one, other, empty)[0]] == [1, 2]
    message = refused(one, other, chinese)
    assert tells(message, "several ways ... intent_judge (2 logs), intent_judge {")
    assert tells(message, 'intent_judge {"judge_language": "zh"} (1 log)')
