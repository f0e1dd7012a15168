"""`mad` from one end to the other: who is asked what, what is compared, and what the ranking
says.
"""

import math
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalError, EvalLog, EvalSample
from inspect_ai.model import ChatMessage, Logprob, Logprobs, ModelOutput

from tests.tasks.contests import (
    STRENGTHS,
    Field,
    answer,
    answers_of,
    choice,
    comparisons,
    compete,
    new_comparisons,
    outcomes,
    pairs,
    pool_file,
    rows,
    verdict,
)
from tests.tasks.scripted import Script, between, output, run, samples_of
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.discrepancy._allocation import Allocator
from urs_inspect.judging import JudgeFailure, JudgePrompt
from urs_inspect.logs._comparisons import read_comparisons
from urs_inspect.logs._responses import read_pool
from urs_inspect.tasks import mad, urs
from urs_inspect.tasks._competition import RunAttempt, competition_pool
from urs_inspect.tasks.mad import _asked_similarity

ALL = list(combinations(sorted(STRENGTHS), 2))
RANKED = ["mockllm/ace", "mockllm/good", "mockllm/poor"]


def ranking(log: EvalLog) -> list[str]:
    """Models by rating, the best first, as the log reports them."""
    return [name for name in rows(log) if name in RANKED]


# ## One run


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Field, EvalLog]:
    """A competition of three with two comparisons per pair."""
    folder, field = tmp_path_factory.mktemp("whole"), Field()
    log = compete(mad(str(pool_file(folder)), k=2), folder / "logs", field.roles())
    assert log.status == "success", log.error
    return field, log


def test_contestants_answer_and_a_judge_ranks_them(whole: tuple[Field, EvalLog]) -> None:
    field, log = whole
    assert {name: len(field.asked(name)) for name in STRENGTHS} == dict.fromkeys(STRENGTHS, 6)
    assert Counter(pairs(comparisons(log))) == Counter(dict.fromkeys(ALL, 2))
    assert len(field.judge.seen) == 3 * 2 * 2  # pairs, comparisons, orders
    assert ranking(log) == RANKED
    found = rows(log)
    assert list(found)[:3] == RANKED  # the headline
    assert (found["comparisons"], found["unread"], found["flips"], found["ties"]) == (6, 0, 0, 0)
    assert log.eval.metadata is not None
    assert log.eval.metadata["similarity"] == "lexical/2048"


def test_every_sample_says_what_it_holds(whole: tuple[Field, EvalLog]) -> None:
    _, log = whole
    [first, *_] = answers_of(log)
    assert first.scores == {} and set(first.store["responses"]) == set(RANKED)
    one = comparisons(log)[0]
    ballot, score = one.metadata["ballot"], choice(one)
    assert one.id == f"{ballot['instruction_id']}-{ballot['id']}"
    facts = score.metadata or {}
    assert (facts["model_a"], facts["model_b"]) == (ballot["model_a"], ballot["model_b"])
    assert score.answer == min(
        ballot["model_a"], ballot["model_b"]
    )  # ace, good, poor: by the alphabet too
    assert -1 <= one.metadata["selection"]["response_similarity"] <= 1
    assert facts["prompt_version"] and len(facts["prompt_sha256"][0]) == 64


def test_the_most_different_answers_are_compared(tmp_path: Path) -> None:
    def copies(messages: list[ChatMessage]) -> str:
        """As `ace`, but for one instruction."""
        asked = messages[-1].text
        return (
            "of strength 1: no idea whatsoever, sorry"
            if "glaciers" in asked
            else f"{answer('ace', asked)}!"
        )

    field = Field("ace", "good", good=copies)
    log = compete(mad(str(pool_file(tmp_path)), k=1), tmp_path / "logs", field.roles())
    [one] = comparisons(log)
    assert one.metadata["ballot"]["instruction_id"] == "i2"


def test_reference_scenario_and_language_reach_the_judge(tmp_path: Path) -> None:
    field = Field("ace", "good")
    file = pool_file(tmp_path, reference="The reference of it.", scenario="coding", language="zh")
    log = compete(mad(str(file), k=1, orders="ab"), tmp_path / "logs", field.roles())
    [[system, user]] = field.judge.seen
    assert "代码" in system.text and "Which response" not in system.text
    assert between(user.text, "<reference_answer>", "</reference_answer>") == "The reference of it."
    assert len(pairs(comparisons(log))) == 1
    english = Field("ace", "good")
    compete(
        mad(str(file), k=1, orders="ab", judge_language="en"), tmp_path / "logs", english.roles()
    )
    assert "代码" not in english.judge.seen[0][0].text


def test_a_failing_judge_ends_nothing(tmp_path: Path) -> None:
    field = Field("ace", "good")
    field.judge = Script(RuntimeError("the endpoint is gone"))
    log = compete(mad(str(pool_file(tmp_path)), k=2), tmp_path / "logs", field.roles())
    assert log.status == "success"
    assert all(math.isnan(value) for value in outcomes(log).values())
    assert rows(log) == {
        "comparisons": 0,
        "unread": 2,
        "awaiting votes": 0,
        "failures call_failed": 4,
    }


def test_replies_without_the_key_are_counted_and_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    field = Field("ace", "good")
    log = compete(mad(str(pool_file(tmp_path)), k=2), tmp_path / "logs", field.roles())
    assert rows(log)["unkeyed"] == len(field.judge.seen) == 4
    assert [line.message for line in caplog.records if tells(line.message, "out the key")]


def test_a_panel_s_majority_counts(tmp_path: Path) -> None:
    field = Field("ace", "good")
    wrong = Script(
        lambda messages: verdict(
            "2" if "9" in between(messages[-1].text, "<response_1>", "</response_1>") else "1"
        )
    )
    panel = [
        field.judge.model("one"),
        Script(verdict("broken")).model("silent"),
        wrong.model("wrong"),
    ]
    log = compete(mad(str(pool_file(tmp_path)), k=1), tmp_path / "logs", field.roles(grader=panel))
    [one] = comparisons(log)
    assert (choice(one).metadata or {})["judges"] == [
        "mockllm/one",
        "mockllm/silent",
        "mockllm/wrong",
    ]
    assert list(outcomes(log).values()) == [0.5]  # one against one; the third could not be read
    panel[1] = field.judge.model("silent")
    log = compete(mad(str(pool_file(tmp_path)), k=1), tmp_path / "logs", field.roles(grader=panel))
    assert list(outcomes(log).values()) == [1.0]


# ## What contestants fail to say


def test_a_failing_contestant_loses_only_its_own_answers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fails_twice(messages: list[ChatMessage]) -> str | Exception:
        asked = messages[-1].text
        return (
            RuntimeError("overloaded")
            if "harbours" in asked or "violins" in asked
            else answer("good", asked)
        )

    for good, compared, missing in (
        (fails_twice, {("ace", "good"): 4, ("ace", "poor"): 6, ("good", "poor"): 4}, 2),
        (lambda messages: RuntimeError("gone"), {("ace", "poor"): 6}, 6),
    ):
        log = compete(
            mad(str(pool_file(tmp_path)), k=6), tmp_path / "logs", Field(good=good).roles()
        )
        assert log.status == "success"
        assert Counter(pairs(comparisons(log))) == compared
        assert rows(log)["mockllm/good missing answers"] == missing
    assert tells(caplog.text, "mockllm/good: 2 missing of 6")
    assert tells(caplog.text, "mockllm/ace and mockllm/good ... 4 instructions ... k=6")


def test_empty_and_equal_answers_are_not_compared(tmp_path: Path) -> None:
    def empty(messages: list[ChatMessage]) -> str:
        asked = messages[-1].text
        return (
            " "
            if "harbours" in asked
            else answer("ace", asked)
            if "chess" in asked
            else answer("good", asked)
        )

    log = compete(
        mad(str(pool_file(tmp_path, 8)), k=8),
        tmp_path / "logs",
        Field("ace", "good", good=empty).roles(),
    )
    ids = {sample.metadata["ballot"]["instruction_id"] for sample in comparisons(log)}
    assert ids == {"i1", "i2", "i3", "i4", "i5", "i7"}  # harbours is the first, chess the seventh
    assert rows(log)["mockllm/good empty answers"] == 1


def test_answers_that_are_all_equal_cannot_be_compared(tmp_path: Path) -> None:
    same = Field("ace", "good", good=lambda messages: answer("ace", messages[-1].text))
    log = compete(mad(str(pool_file(tmp_path)), k=2), tmp_path / "logs", same.roles())
    assert log.status == "error"
    assert log.error is not None
    said = "mockllm/ace and mockllm/good: 0 (6 answered"
    assert tells(log.error.message, said)
    assert not same.judge.seen


# ## Selection


@pytest.mark.parametrize("selection", ["cross_entropy", "kl"])
def test_a_baseline_by_log_probabilities(
    selection: Literal["cross_entropy", "kl"], tmp_path: Path
) -> None:
    def unsure(name: str, about: str) -> Script:
        def reply(messages: list[ChatMessage]) -> ModelOutput:
            made = output(answer(name, messages[-1].text))
            tokens = [
                Logprob(token=word, logprob=-5.0 if about in messages[-1].text else -0.1)
                for word in "abc"
            ]
            made.choices[0].logprobs = Logprobs(content=tokens)
            return made

        return Script(reply)

    field = Field("ace", "good")
    field.contestants = {"ace": unsure("ace", "nothing at all"), "good": unsure("good", "chess")}
    task = mad(str(pool_file(tmp_path, 8)), k=1, selection=selection)
    log = compete(task, tmp_path / "logs", field.roles())
    assert log.status == "success", log.error
    # The two differ in confidence only there, whatever their words: the highest divergence of all.
    assert [sample.metadata["ballot"]["instruction_id"] for sample in comparisons(log)] == ["i6"]
    assert all(config.logprobs for config in field.contestants["ace"].configs)
    again = Field("ace", "good")
    second = mad(responses=str(tmp_path / "logs"), k=1, selection=selection)
    log = compete(second, tmp_path / "more", {"grader": again.judge.model()})
    assert [sample.metadata["ballot"]["instruction_id"] for sample in comparisons(log)] == ["i6"]


def test_a_baseline_without_log_probabilities_is_refused(tmp_path: Path) -> None:
    log = compete(
        mad(str(pool_file(tmp_path)), k=1, selection="kl"),
        tmp_path / "logs",
        Field("ace", "good").roles(),
    )
    assert log.error is not None
    assert tells(log.error.message, "selection: 'kl' ... mockllm/ace")


def test_random_selection_goes_by_the_seed(tmp_path: Path) -> None:
    chosen = {}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        task = mad(str(pool_file(tmp_path, 8)), k=3, selection="random", seed=seed)
        log = compete(task, tmp_path / name, Field("ace", "good").roles())
        chosen[name] = {sample.metadata["ballot"]["instruction_id"] for sample in comparisons(log)}
    assert chosen["a"] == chosen["b"] != chosen["c"]


def test_a_model_can_be_asked_how_similar_answers_are(tmp_path: Path) -> None:
    def says(messages: list[ChatMessage]) -> str:
        return (
            '{"comparison": "…", "similarity": 0.05}'
            if "tax law" in messages[-1].text
            else "no number"
        )

    similar = Script(says)
    field = Field("ace", "good")
    task = mad(str(pool_file(tmp_path, 8)), k=1, similarity="llm", selection={"shortlist": 8})
    log = compete(task, tmp_path / "logs", field.roles(similarity=similar.model("similar")))
    assert log.status == "success", log.error
    [one] = comparisons(log)
    assert (
        one.metadata["ballot"]["instruction_id"] == "i4"
    )  # tax law; all others have no similarity
    assert len(similar.seen) == 7 * 2 + 1  # an unread one is asked for twice


def test_a_shortlist_below_k_is_no_error_where_nobody_is_asked_how_similar_answers_are(
    tmp_path: Path,
) -> None:
    field = Field("ace", "good")
    task = mad(str(pool_file(tmp_path, 8)), k=3, selection={"shortlist": 2})
    log = compete(task, tmp_path / "logs", field.roles())
    assert log.status == "success", log.error
    assert len(comparisons(log)) == 3


# ## Two steps


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of `urs` by two models over six sample cases."""
    tmp_path = tmp_path_factory.mktemp("urs")
    for name in ("ace", "good"):
        model = Script(lambda messages, name=name: answer(name, messages[-1].text)).model(name)  # type: ignore[misc]
        log = run(
            urs(dataset="sample"),
            tmp_path / "urs",
            model=model,
            grader="urs_simulation/judge",
            limit=6,
        )
        assert log.status == "success"
    return tmp_path / "urs"


def test_logs_of_another_task_are_a_pool(logs: Path, tmp_path: Path) -> None:
    judge = Field().judge
    log = compete(mad(responses=str(logs), k=3), tmp_path / "logs", {"grader": judge.model()})
    assert log.status == "success", log.error
    assert len(comparisons(log)) == len(samples_of(log)) == 3
    assert ranking(log) == RANKED[:2]
    ballot = comparisons(log)[0].metadata["ballot"]
    assert ballot["reference"] and ballot["language"] in ("en", "zh")
    assert log.eval.metadata is not None
    assert log.eval.metadata["answered_in_logs"] == RANKED[:2]
    assert log.eval.metadata["dataset"] == "sample"


def test_a_new_model_joins_the_models_of_the_logs(logs: Path, tmp_path: Path) -> None:
    before = compete(
        mad(responses=str(logs), k=2), tmp_path / "before", {"grader": Field().judge.model()}
    )
    field = Field("poor")
    task = mad(responses=str(logs), previous=before.location, k=2)
    log = compete(task, tmp_path / "after", field.roles())

    assert log.status == "success", log.error
    assert len(field.asked("poor")) == 6
    # Algorithm 2: N*k new comparisons with N = 2 earlier models, and nothing else is asked.
    assert Counter(pairs(new_comparisons(log))) == {("ace", "poor"): 2, ("good", "poor"): 2}
    assert len(field.judge.seen) == 2 * 2 * 2
    old = outcomes(before)
    assert {ballot: outcome for ballot, outcome in outcomes(log).items() if ballot in old} == old
    assert ranking(log) == RANKED
    assert rows(log)["comparisons"] == 6
    # A third step may build upon this one.
    assert len(read_comparisons(log.location)) == 6


def test_after_a_model_joined_the_logs_of_both_runs_are_asked_for(
    logs: Path, tmp_path: Path
) -> None:
    before = compete(
        mad(responses=str(logs), k=2), tmp_path / "before", {"grader": Field().judge.model()}
    )
    joining = mad(responses=str(logs), previous=before.location, k=2)
    joined = compete(joining, tmp_path / "after", Field("poor").roles()).location
    fine: dict[str, Any] = {
        "target": {"model": "mockllm/good", "coarse": joined},
        "k": 2,
        "judge": "human",
    }
    refused = compete(mad(responses=joined, **fine), tmp_path / "refused", None)
    assert refused.error is not None
    assert "no answers of mockllm/ace, mockllm/good" in refused.error.message
    assert f"[{joined}, {logs}]" in refused.error.message
    log = compete(mad(responses=[str(logs), joined], **fine), tmp_path / "fine", None)
    assert log.status == "success", log.error
    assert len(pairs(comparisons(log))) == 6


def test_copies_of_earlier_comparisons_wait_for_people_as_before(
    logs: Path, tmp_path: Path
) -> None:
    before = compete(mad(responses=str(logs), k=2, judge="human"), tmp_path / "before", None)
    assert rows(before) == {"comparisons": 0, "unread": 0, "awaiting votes": 2}
    roles = {"contestant": Field("poor").roles()["contestant"]}
    task = mad(responses=str(logs), previous=before.location, k=2, judge="human")
    log = compete(task, tmp_path / "after", roles)
    assert log.status == "success", log.error
    assert rows(log) == {"comparisons": 0, "unread": 0, "awaiting votes": 6}


def test_only_models_near_the_target_are_compared_again(
    whole: tuple[Field, EvalLog], tmp_path: Path
) -> None:
    _, coarse = whole
    task = mad(
        responses=coarse.location,
        target={"model": "mockllm/ace", "coarse": coarse.location, "width": 1},
        k=2,
        judge="human",
    )
    log = compete(task, tmp_path / "fine", None)
    assert Counter(pairs(comparisons(log))) == {("ace", "good"): 2}
    with pytest.raises(InputError, match="target 'nobody' is not in the ranking"):
        mad(responses=coarse.location, target={"model": "nobody", "coarse": coarse.location})


# ## Allocation


def test_adaptive_allocation_keeps_to_its_budget_and_stops_when_neighbours_are_separated(
    tmp_path: Path,
) -> None:
    found = {}
    for name in ("one", "two"):
        field = Field()
        field.judge = Script(verdict("tie"))
        task = mad(
            str(pool_file(tmp_path, 8)),
            allocation={"rule": "adaptive", "budget": 11, "batch": 4},
            orders="ab",
        )
        log = compete(task, tmp_path / name, field.roles())
        assert log.status == "success", log.error
        found[name] = sorted(str(sample.id) for sample in comparisons(log))
    assert len(found["one"]) == len(set(found["one"])) == 11
    assert found["one"] == found["two"]

    number = {}
    for confidence in (0.8, 0.9999):
        task = mad(
            str(pool_file(tmp_path, 30)),
            allocation={"rule": "adaptive", "budget": 90, "batch": 3, "confidence": confidence},
            orders="ab",
        )
        log = compete(task, tmp_path / f"sure of {confidence}", Field().roles())
        number[confidence] = len(comparisons(log))
        assert number[confidence] % 3 == 0
        assert ranking(log) == RANKED
    assert 3 <= number[0.8] < 40
    assert number[0.8] < number[0.9999] <= 90


def test_earlier_comparisons_count_once_for_the_allocation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = compete(
        mad(str(pool_file(tmp_path)), k=2), tmp_path / "first", Field("ace", "good").roles()
    )
    seen: list[int] = []
    ask = Allocator.ask

    def noted(self, battles=None, *given, **options):
        seen.append(0 if battles is None else len(battles.outcome))
        return ask(self, battles, *given, **options)

    monkeypatch.setattr(Allocator, "ask", noted)
    task = mad(
        responses=first.location,
        previous=first.location,
        allocation={"rule": "adaptive", "budget": 4, "batch": 2},
    )
    log = compete(task, tmp_path / "second", Field("poor").roles())
    assert log.status == "success", log.error
    assert seen == [2, 4, 6]


# ## Epochs and attempts


def test_a_second_epoch_judges_again_but_asks_contestants_once(tmp_path: Path) -> None:
    field = Field("ace", "good")
    log = compete(mad(str(pool_file(tmp_path)), k=2), tmp_path / "logs", field.roles(), epochs=2)
    assert log.status == "success", log.error
    assert len(field.asked("ace")) == len(field.asked("good")) == 6
    assert len(field.judge.seen) == 2 * 2 * 2
    assert rows(log)["comparisons"] == 4
    assert read_pool([log.location]).responses["mockllm/ace"]["i0"] == answer(
        "ace", "Write about harbours 0."
    )


ERROR = EvalError(message="gone", traceback="", traceback_ansi="")


def ended(name: str, epoch: int = 1, error: EvalError | None = None) -> EvalSample:
    return EvalSample(id=name, epoch=epoch, input="?", target="", error=error)


def test_the_course_of_one_attempt_is_no_new_one() -> None:
    attempt = RunAttempt()
    assert not attempt.past
    attempt.issue([Sample(id="a", input="?"), Sample(id="b", input="?"), Sample(id="c", input="?")])
    for sample in (ended("a"), ended("a", epoch=2), ended("b", error=ERROR)):
        assert not attempt.repeats(sample)
        attempt.ended(sample)
    attempt.abandoned(Sample(id="c", input="?"))
    assert not attempt.past
    assert not attempt.repeats(ended("b"))  # run again by hand
    assert attempt.repeats(ended("a"))  # what ended well and ends again is of a new attempt


def test_being_asked_while_something_is_under_way_or_all_was_given_is_a_new_attempt() -> None:
    attempt = RunAttempt()
    attempt.issue([Sample(id="a", input="?")])
    assert attempt.past
    over = RunAttempt()
    over.issue([])
    assert over.past


@pytest.mark.parametrize(
    ("replies", "result", "calls"),
    [
        (["no", '{"score": 0.4}'], 0.4, 2),
        (["no", "no"], math.nan, 2),
        # Asking again cannot help.
        (
            [JudgeFailure("content_filter", "The provider refused.")],
            math.nan,
            1,
        ),
    ],
)
def test_an_unreadable_similarity_is_asked_for_again(
    replies: list[str | JudgeFailure], result: float, calls: int
) -> None:
    seen: list[JudgePrompt] = []

    async def ask(prompt: JudgePrompt) -> str | JudgeFailure:
        seen.append(prompt)
        return replies[len(seen) - 1]

    similarity = anyio.run(_asked_similarity(ask), "a", "b")
    assert similarity == pytest.approx(result, nan_ok=True)
    assert len(seen) == calls and len({prompt.case for prompt in seen}) == 1


def test_the_pool_of_urs_knows_the_intents_of_its_questions() -> None:
    intents = {item.intent for item in competition_pool("sample", None, None, 0).instructions}
    assert {"leisure", "factual_qa"} <= intents
    assert "" not in intents
