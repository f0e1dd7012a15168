"""What judging an answer gives, in every way that it can end, without a harness.

The golden file was read line by line: values, outcomes and explanations of each case.
"""

import asyncio
import json
import math
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.reports.golden_files import check_golden
from urs_inspect._util import InputError
from urs_inspect.datasets._conversations import Conversation, NotShown, Turn
from urs_inspect.judging._answers import Answer, AnswerJudging, Judge, Judged, Judgement
from urs_inspect.judging._ask import CallsStopped, Message, Reply
from urs_inspect.judging._failures import (
    CUT_OFF,
    FAILURE_MODES,
    NO_RESPONSE,
    PARTIAL_PANEL,
    SCORED_OUTCOMES,
)
from urs_inspect.judging._frames import JudgePrompt

KEY = "KEY"
"""Stands for the key of the prompt in a scripted reply."""


def record(final: object = 8, **scores: object) -> str:
    names = ("Factuality", "User Satisfaction", "Clarity", "Completeness", "Logical Coherence")
    given = {"key": KEY} | dict.fromkeys(names, 7) | scores | {"Final Score": final}
    return json.dumps({name: score for name, score in given.items() if score is not ...})


GOOD = f"### Factuality\nTrue.\n\n{record(8)}"
Step = str | Reply | Exception


@dataclass
class Script:
    """A judge that gives one reply after the other, and keeps what it was sent."""

    name: str
    steps: Sequence[Step]
    self_judged: bool = False
    by_schema: bool = False
    sent: list[Sequence[Message]] = field(default_factory=list)
    schemas: int = 0

    def judge(self, key: str) -> Judge:
        async def call(messages: Sequence[Message]) -> Reply:
            step = self.steps[min(len(self.sent), len(self.steps) - 1)]
            self.sent.append(messages)
            if isinstance(step, Exception):
                raise step
            if isinstance(step, str):
                return Reply(step.replace(KEY, key), temperature_sent=0.5)
            return replace(step, text=step.text.replace(KEY, key))

        async def by_schema(_: object, messages: Sequence[Message]) -> Reply:
            self.schemas += 1
            return replace(await call(messages), structured=True)

        return Judge(self.name, call, 0.25, self.self_judged, by_schema if self.by_schema else None)


async def together(calls: Sequence[Awaitable[Judgement]]) -> Sequence[Judgement]:
    return await asyncio.gather(*calls)


ANSWER = Answer("Factual QA", "EN", "Why is the sky blue?", "Rayleigh.", "Scattering.", "stop")


def judged(
    answer: Answer,
    *scripts: Script,
    attempts: int = 2,
    language: str | None = None,
) -> tuple[Judged, str]:
    """The result, and the key of the prompt."""
    judging = AnswerJudging(None, None, language, attempts)
    prompt = judging.prompt(answer)
    key = prompt.key if isinstance(prompt, JudgePrompt) else ""
    result = asyncio.run(
        judging.judge(answer, lambda: [script.judge(key) for script in scripts], together)
    )
    return result, key


def one(*steps: Step, **more: Any) -> Script:
    return Script("a/judge", steps, **more)


def panel(*steps: Step) -> list[Script]:
    return [Script(f"{letter}/judge", [step]) for letter, step in zip("abc", steps, strict=False)]


DOWN = ConnectionError("no route")
REFUSAL = "I'm sorry, I can't judge this."
CUT = Reply(record(9), "max_tokens")

CASES: Mapping[str, tuple[Answer, list[Script]]] = {
    "one judge": (ANSWER, [one(GOOD)]),
    "criteria missing or no whole numbers": (
        ANSWER,
        [one(record(6, Clarity=..., Completeness=7.5, Factuality=9))],
    ),
    "the model judges itself, by a schema": (
        ANSWER,
        [one(GOOD, self_judged=True, by_schema=True)],
    ),
    "a second request": (ANSWER, [one("No record.", GOOD)]),
    "two requests in vain": (ANSWER, [one("No record.", record(11))]),
    "no key": (ANSWER, [one(GOOD.replace(f'"key": "{KEY}", ', ""))]),
    "cut off reply, then a good one": (ANSWER, [one(CUT, GOOD)]),
    "case too long for the judge": (ANSWER, [one(Reply("", "model_length"))]),
    "reply withheld": (ANSWER, [one(Reply(record(9), "content_filter"))]),
    "endpoint's error": (ANSWER, [one(Reply("", "stop", "Bad gateway"))]),
    "call fails": (ANSWER, [one(DOWN)]),
    "broken body, then a good reply": (
        ANSWER,
        [one(json.JSONDecodeError("no JSON", "<html>", 0), GOOD)],
    ),
    "calls stopped": (ANSWER, [one(CallsStopped("too many failures"))]),
    "answer cut off": (replace(ANSWER, stop_reason="max_tokens"), [one(GOOD)]),
    "answer cut off at the model's length": (
        replace(ANSWER, stop_reason="model_length"),
        [one(GOOD)],
    ),
    "answer cut off and no score": (replace(ANSWER, stop_reason="max_tokens"), [one(DOWN)]),
    "panel": (ANSWER, panel(record(6, Clarity=...), record(9), record(9, Factuality=10))),
    "panel of which one is the model itself": (
        ANSWER,
        [Script("a/judge", [GOOD]), Script("b/judge", [GOOD], self_judged=True)],
    ),
    "panel of which one cannot be read": (ANSWER, panel(record(6), REFUSAL, record(9))),
    "panel without a call, answer cut off": (
        replace(ANSWER, stop_reason="max_tokens"),
        panel(record(6), DOWN),
    ),
    "panel of which two leave out criteria": (
        ANSWER,
        panel(record(6), record(9, Clarity=..., Factuality=...), record(8, Clarity=...)),
    ),
    "panel without scores": (ANSWER, panel(REFUSAL, DOWN, DOWN)),
    "panel without scores, of which most refuse": (ANSWER, panel(REFUSAL, REFUSAL, DOWN)),
    "cut off reply beside an endpoint's error": (
        ANSWER,
        [one(Reply(record(9), "max_tokens", "Bad gateway"))],
    ),
    "reply withheld beside an endpoint's error": (
        ANSWER,
        [one(Reply("", "content_filter", "Blocked"))],
    ),
    "empty answer": (replace(ANSWER, text=" \n"), panel(GOOD, GOOD)),
    "empty answer at the limit": (
        replace(ANSWER, text="", stop_reason="max_tokens"),
        [one(GOOD)],
    ),
    "empty answer at the model's length": (
        replace(ANSWER, text="", stop_reason="model_length"),
        [one(GOOD)],
    ),
    "empty answer by a filter": (
        replace(ANSWER, text="", stop_reason="content_filter"),
        [one(GOOD)],
    ),
    "no answer at all": (replace(ANSWER, text=None), [one(GOOD)]),
    "no answer for a known reason": (
        replace(ANSWER, text=None, error="The sample took too long."),
        [one(GOOD)],
    ),
    "no question": (replace(ANSWER, question=None), [one(GOOD)]),
    "unknown intent": (replace(ANSWER, intent="Chat"), [one(GOOD)]),
    "unknown language": (replace(ANSWER, language="Klingon"), [one(GOOD)]),
    "other intent": (
        replace(ANSWER, intent="Leisure"),
        [one(record(5, Engagement=4, Appropriateness=9, Creativity=3))],
    ),
    "question with an image": (
        replace(
            ANSWER,
            question=Conversation((Turn("user", ("What is this?", NotShown("image"))),)),
        ),
        [one(GOOD)],
    ),
    "answer of an image alone": (
        replace(
            ANSWER, text="", parts=Conversation((Turn("assistant", (NotShown("image"),) * 2),))
        ),
        [one(GOOD)],
    ),
}


def shown(name: str, result: Judged, key: str, scripts: Sequence[Script]) -> str:
    """The result as text; what depends on the wording of prompts is left out."""
    metadata = dict(result.metadata)
    for wording in ("prompt_sha256", "prompt_version"):
        metadata.pop(wording, None)
    value = None
    if result.value is not None:
        value = {name: score for name, score in result.value.items() if not math.isnan(score)}
    facts = {"value": value, "reason": result.reason}
    for fact, given in metadata.items():
        if fact == "judges":
            facts |= {f"judges {number}": judge for number, judge in enumerate(given, start=1)}
        else:
            facts[fact] = given
    written = [f"{fact}: {json.dumps(given, ensure_ascii=False)}" for fact, given in facts.items()]
    calls = ", ".join(f"{script.name} {len(script.sent)}" for script in scripts)
    lines = [
        f"# {name}",
        f"Calls: {calls}; with a schema {sum(script.schemas for script in scripts)}",
        "```\n" + "\n".join(written) + "\n```",
        result.explanation,
    ]
    text = "\n\n".join(lines)
    return text.replace(key, KEY) if key else text


def test_every_end_of_judging() -> None:
    parts = []
    for name, (answer, scripts) in CASES.items():
        result, key = judged(answer, *scripts)
        parts.append(shown(name, result, key, scripts))
        outcome = result.metadata["outcome"]
        assert (outcome in SCORED_OUTCOMES) == (result.value is not None)
        assert outcome.removeprefix("unscored_") in (*SCORED_OUTCOMES, *FAILURE_MODES)
        is_short = answer.stop_reason in ("max_tokens", "model_length")
        is_scored_by_all = result.value is not None and outcome != PARTIAL_PANEL
        assert (outcome in CUT_OFF) == (is_short and is_scored_by_all)
        assert (outcome in NO_RESPONSE) == (result.reason == "no_response")
    check_golden("judged_answers", "\n\n".join(parts) + "\n")


def test_every_score_of_the_rubric_has_a_key() -> None:
    for answer, scripts in (CASES["one judge"], CASES["empty answer"]):
        result, _ = judged(answer, *scripts)
        assert result.value is not None
        assert list(result.value) == list(AnswerJudging(None, None, None, 1).rubric.score_keys)


@pytest.mark.parametrize(("given", "asked"), [(None, "en"), ("zh", "zh"), ("CN", "zh")])
def test_the_judge_is_asked_in_the_language_that_was_named(given: str | None, asked: str) -> None:
    script = one(GOOD)
    result, _ = judged(ANSWER, script, language=given)
    assert result.metadata["judge_language"] == asked
    assert ("你" in script.sent[0][0].text) == (asked == "zh")


@pytest.mark.parametrize("attempts", [1, 2, 4])
def test_a_judge_is_asked_as_often_as_was_said(attempts: int) -> None:
    script = one("No record.")
    result, _ = judged(ANSWER, script, attempts=attempts)
    assert len(script.sent) == attempts
    [facts] = result.metadata["judges"]
    assert facts["calls"] == attempts
    assert facts["asked_again"] == (attempts > 1)


@pytest.mark.parametrize("attempts", [0, -1, True, "2", 1.5])
def test_a_number_of_attempts_that_is_none_is_refused(attempts: Any) -> None:
    with pytest.raises(InputError, match=str(attempts)):
        AnswerJudging(None, None, None, attempts)


@pytest.mark.parametrize(
    ("step", "is_shown"),
    [
        ("No record.", True),
        (record(11), True),
        (" \n", False),
        (CUT, False),
        ("{" + "x" * 200_000, False),
    ],
)
def test_a_second_request_follows_the_reply_unless_that_is_useless(
    step: Step, is_shown: bool
) -> None:
    script = one(step, GOOD)
    result, key = judged(ANSWER, script)
    assert result.value is not None
    first, second = script.sent
    roles = [message.role for message in second]
    case = first[-1].text
    if is_shown:
        assert roles == ["system", "user", "assistant", "user"]
        assert [message.text for message in second[:2]] == [message.text for message in first]
        assert isinstance(step, str)
        assert second[2].text == step.replace(KEY, key)
    else:
        assert roles == ["system", "user"]
        assert second[1].text.startswith(case)
        assert second[1].text != case
    assert second[-1].text.endswith(f'"key": "{key}"')
