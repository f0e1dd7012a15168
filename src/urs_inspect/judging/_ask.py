"""Calls of a judge, and what is done when they fail.

What cannot be read is asked for again; a circuit breaker opens after many failures.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from urs_inspect.judging._failures import (
    ASK_AGAIN,
    MAX_DETAIL,
    FailureMode,
    JudgeFailure,
    describe_error,
)
from urs_inspect.judging._frames import JudgePrompt
from urs_inspect.judging._keys import KEY, MAX_READ, Read, Reader, read_keyed

_STOPPED: Mapping[str, tuple[FailureMode, str]] = {
    "model_length": ("context_overflow", "The case does not fit into the judge's context."),
    "content_filter": ("content_filter", "The judge's provider withheld the reply."),
    "max_tokens": ("truncated", "The reply was cut off at the token limit."),
}
TINY_REQUEST = "Reply with the word: ready"
"""What a model is sent to learn whether it can be reached at all."""
UNKNOWN: Literal["unknown"] = "unknown"
Temperature = float | None | Literal["unknown"]
"""A temperature as it was sent: None where the request named none, `unknown` where the request is
not known.
"""


@dataclass(frozen=True)
class Message:
    """A message to a judge.

    Attributes:
        role: Who says it: `system`, `user` or `assistant`.
        text: What is said.
    """

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True)
class Reply:
    """The reply to a call.

    Attributes:
        text: The reply.
        stop_reason: Why it ended: `stop`, `max_tokens`, `model_length` (does not fit into the
            context), `content_filter`, or any other word, which means nothing here.
        error: The endpoint's error in place of a reply; empty if none.
        temperature_sent: The sampling temperature in the request.
        structured: Whether the request had a schema of the reply.
    """

    text: str
    stop_reason: str = "stop"
    error: str = ""
    temperature_sent: Temperature = UNKNOWN
    structured: bool = False


Call = Callable[[Sequence[Message]], Awaitable[Reply]]
"""Sends messages to a judge. May raise anything; it retries failed calls itself."""


class CallsStopped(Exception):  # noqa: N818 - no error of the call, which was not made
    """Raised by a `Call` in place of calling a judge that is no longer called; gives the reason."""


ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Asked(Generic[ResultT]):
    """Result of asking one judge about one case."""

    read: Read[ResultT]  # from the last reply
    reply: str  # the last one
    calls: int
    temperature_sent: Temperature  # in the last request
    structured: bool  # whether the last request had a schema of the reply
    asked_again: bool  # because a reply could not be read, or lacked the key


async def ask(
    call: Call,
    prompt: JudgePrompt,
    read: Reader[ResultT],
    again: str,
    *,
    attempts: int,
) -> Asked[ResultT]:
    """Ask a judge, up to `attempts` times while its reply cannot be read.

    Later requests are `again`, with the reason for `{reason}`. Never raises for what a judge or its
    endpoint does.
    """
    messages = messages_of(prompt)
    last: Read[ResultT] = Read(JudgeFailure("call_failed", "The judge was not asked."), False)
    sent: Temperature = UNKNOWN
    structured = False
    text = ""
    calls = 0
    was_refused = False
    while calls < attempts:
        calls += 1
        try:
            reply = await call(messages)
        except CallsStopped as reason:
            calls -= 1
            last = Read(JudgeFailure("call_failed", str(reason)), False)
        except Exception as error:  # whatever an endpoint does, the answers of the run are kept
            text = ""
            last = Read(JudgeFailure("call_failed", describe_error(error)), False)
            # A broken body may pass, but clients do not retry it.
            if isinstance(error, json.JSONDecodeError):
                continue
        else:
            text = reply.text
            sent = reply.temperature_sent
            structured = reply.structured
            cut_off = stopped(reply.stop_reason, reply.error)
            if cut_off is None:
                last = read_keyed(text, prompt.key, read, needs_key=prompt.needs_key)
            else:
                last = Read(cut_off, False)
        failure = last.result
        if not isinstance(failure, JudgeFailure) or failure.mode not in ASK_AGAIN:
            break
        was_refused = True
        messages = messages_again(prompt, text, failure, again)
    return Asked(last, text, calls, sent, structured, was_refused and calls > 1)


def stopped(stop_reason: str, error: str = "") -> JudgeFailure | None:
    """Why a reply must not be read, if it must not: it was cut off, withheld, or never came."""
    # The stop reason comes first: a record in a reply that was cut off may not be the judge's last
    # word.
    if stop_reason in _STOPPED:
        return JudgeFailure(*_STOPPED[stop_reason])
    if error:
        return JudgeFailure("call_failed", error[:MAX_DETAIL])
    return None


def messages_of(prompt: JudgePrompt) -> list[Message]:
    """What is sent to a judge: the static part, if there is one, and the case."""
    messages = []
    if prompt.instructions:
        messages.append(Message("system", prompt.instructions))
    messages.append(Message("user", prompt.case))
    return messages


_KEY_AGAIN: Mapping[str, str] = {
    "en": (
        "Your reply could not be used: {reason} Judge the same case again, and end with the JSON"
        " object, which has the key as its first entry."
    ),
    "zh": "你的回复无法使用：{reason} 请重新评判同一个案例，并以 JSON 对象结尾，其第一项是 key。",
}
"""What a judge of pairs or ratings is sent where it is not certain which record is its own."""
_REASONS: Mapping[str, Mapping[FailureMode, str]] = {
    "zh": {
        "unparseable": "回复中没有可用的 JSON 对象。",
        "missing_final": "JSON 对象中没有综合得分。",
        "not_a_number": "有一项分数不是数字。",
        "not_an_integer": "有一项分数不是整数。",
        "out_of_range": "有一项分数超出了范围。",
        "conflicting_scores": "回复中有互相矛盾的分数。",
        "conflicting_verdicts": "回复中有互相矛盾的结论。",
        "wrong_key": "JSON 对象中的 key 不正确。",
        "no_key": "JSON 对象中没有 key。",
        "refusal": "回复拒绝了评判。",
        "empty_reply": "回复为空。",
        "truncated": "回复因长度限制被截断。",
    }
}
"""Reasons in other languages than that of the details in the log, so that a request is in one
language.
"""


def messages_again(
    prompt: JudgePrompt, reply: str, failure: JudgeFailure, again: str = ""
) -> list[Message]:
    """What is sent to a judge whose reply could not be used.

    `again`, with the reason for `{reason}`, and the key.

    The reason is in the language of the prompt, where that is English or Chinese, else in English.
    """
    again = again or _KEY_AGAIN.get(prompt.language, _KEY_AGAIN["en"])
    reasons = _REASONS.get(prompt.language, {})
    reason = reasons.get(failure.mode, failure.detail)
    request = again.replace("{reason}", reason)
    if prompt.key:
        request += f'\n"{KEY}": "{prompt.key}"'
    messages = messages_of(prompt)
    is_useless = failure.mode in ("truncated", "empty_reply") or not reply.strip()
    if is_useless or len(reply) > MAX_READ:
        case = messages.pop()
        messages.append(Message("user", f"{case.text}\n\n{request}"))
        return messages
    messages.append(Message("assistant", reply))
    messages.append(Message("user", request))
    return messages


GIVE_UP = 20
"""Failures in a row after which a judge is no longer called."""


class CircuitBreaker:
    """Lets calls of a judge through until `give_up` of them fail in a row (0 for no limit).

    Attributes:
        stopped: Why the judge is no longer called; empty while it is.
    """

    def __init__(self, give_up: int = GIVE_UP) -> None:
        self._give_up = give_up
        self._failed = 0
        self.stopped = ""

    def note(self, failed: bool, why: str) -> None:
        """Take note of a call, or of all calls about one answer.

        Whether no reply came, and what went wrong.
        """
        self._failed = self._failed + 1 if failed else 0
        if self._give_up and self._failed >= self._give_up and not self.stopped:
            self.stopped = (
                f"Judging was stopped: the judge failed {self._failed} times in a row; last: {why}"
            )
