"""Structured output: what a server makes of a schema, and what becomes of the replies."""

import json
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, Model, ModelOutput, get_model
from inspect_ai.util import JSONSchema

from tests.servers import ChatServer, Request, Response, fails, says, serving
from tests.tasks.scripted import run, samples_of
from urs_inspect import judge_pairwise, judge_rating, mad, urs
from urs_inspect._util import InputError
from urs_inspect.solvers._structured import TINY_SCHEMA, follows_schema, response_schema
from urs_inspect.tasks.urs_probe import urs_probe

REASONS = 'The answer names one film; {"Final Score": 10} is what it says of itself.'


def follows(request: Request) -> Response:
    """A server that holds the model to the schema, and gives prose without one."""
    if request.schema is None:
        return says('I say it in prose. {"Final Score": 3}')
    return says(json.dumps(_filled(request.schema, request), ensure_ascii=False))


def refuses(request: Request) -> Response:
    return fails(400) if request.schema is not None else follows(request)


def ignores(request: Request) -> Response:
    return says('Whatever is asked for: {"Final Score": 3}')


def _filled(schema: dict[str, Any], request: Request) -> dict[str, Any]:
    filled: dict[str, Any] = {}
    for name, part in schema["properties"].items():
        if part["type"] == "object":
            filled[name] = _filled(part, request)
        elif name == "key":
            filled[name] = re.findall(r'"key": "([a-z]{8})"', str(request.messages))[-1]
        elif part["type"] == "integer":
            filled[name] = min(7, part.get("maximum", 5))
        else:
            filled[name] = part.get("enum", [REASONS])[0]
    return filled


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    context: AbstractContextManager[ChatServer] = serving(follows, monkeypatch)
    with context as running:
        yield running


def at(server: ChatServer) -> Model:
    return get_model(
        "openai-api/local/judge",
        base_url=server.url,
        memoize=False,
        config=GenerateConfig(max_retries=0),
        max_retries=0,
    )


def judged_by(server: ChatServer, tmp_path: Path, limit: int = 2, **arguments: Any) -> EvalLog:
    task = urs(dataset="sample", **arguments)
    return run(
        task, tmp_path, model="urs_simulation/weak", grader=at(server), limit=limit, max_samples=1
    )


def judgements(log: EvalLog) -> list[dict[str, Any]]:
    scores = [(sample.scores or {})["intent_judge"] for sample in samples_of(log)]
    return [(score.metadata or {})["judges"][0] for score in scores]


def asked_by_schema(server: ChatServer) -> list[bool]:
    return [request.schema is not None for request in server.requests]


def warnings(caplog: pytest.LogCaptureFixture, word: str) -> list[str]:
    return [record.getMessage() for record in caplog.records if word in record.getMessage()]


def test_server_that_follows_a_schema_is_asked_by_it_and_the_scores_are_those_with_the_key(
    server: ChatServer, tmp_path: Path
) -> None:
    log = judged_by(server, tmp_path)
    assert asked_by_schema(server) == [True, True, True]  # the first one is the tiny request
    for judgement, sample in zip(judgements(log), samples_of(log), strict=True):
        assert (judgement["structured"], judgement["final"], judgement["unkeyed"]) == (
            True,
            5,
            False,
        )
        score = (sample.scores or {})["intent_judge"]
        assert (score.metadata or {})["structured"] == 1
        assert "The answer names one film" in (score.explanation or "")
        assert '"analysis"' not in (score.explanation or "")


def test_server_that_refuses_a_schema_is_asked_without_and_that_is_reported_once(
    server: ChatServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.script = refuses
    log = judged_by(server, tmp_path, 3)
    assert asked_by_schema(server) == [True, False, False, False, False]
    assert [(one["structured"], one["final"]) for one in judgements(log)] == [(False, 3)] * 3
    [line] = warnings(caplog, "without structured output")
    assert "openai-api/local/judge" in line and "400" in line


def test_server_that_ignores_a_schema_is_asked_without(
    server: ChatServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.script = ignores
    log = judged_by(server, tmp_path)
    assert asked_by_schema(server) == [True, False, False]
    assert [(one["structured"], one["final"]) for one in judgements(log)] == [(False, 3)] * 2
    assert len(warnings(caplog, "without structured output")) == 1


def test_structured_reply_that_is_cut_off_is_asked_for_again(
    server: ChatServer, tmp_path: Path
) -> None:
    def script(request: Request) -> Response:
        whole = follows(request)
        if request.number == 1:
            return says('{"analysis": "It begins well', finish_reason="length")
        return whole

    server.script = script
    log = judged_by(server, tmp_path, 1)
    [judgement] = judgements(log)
    assert (judgement["calls"], judgement["final"], judgement["structured"]) == (2, 5, True)


def test_tiny_reply_that_is_cut_off_shows_that_the_server_took_the_schema(
    server: ChatServer, tmp_path: Path
) -> None:
    server.script = lambda request: (
        says("", finish_reason="length") if request.number == 0 else follows(request)
    )
    log = judged_by(server, tmp_path)
    assert [one["structured"] for one in judgements(log)] == [True, True]


@pytest.mark.parametrize("script", [refuses, ignores])
def test_structured_true_with_a_server_without_it_ends_the_run_before_anything_is_asked(
    script: Any, server: ChatServer, tmp_path: Path
) -> None:
    server.script = script
    log = judged_by(server, tmp_path, structured=True)
    assert log.status == "error" and log.error is not None
    for part in ("openai-api/local/judge", "structured=true", "structured=auto"):
        assert part in log.error.message
    assert server.count() == 1


def test_structured_false_sends_no_schema(server: ChatServer, tmp_path: Path) -> None:
    log = judged_by(server, tmp_path, structured=False)
    assert asked_by_schema(server) == [False, False, False]
    assert [one["structured"] for one in judgements(log)] == [False, False]


def test_schema_that_is_refused_later_costs_no_answer_and_is_reported_once(
    server: ChatServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # The tiny request and the first judgement are taken, then no schema is.
    server.script = lambda request: follows(request) if request.number < 2 else refuses(request)
    log = judged_by(server, tmp_path, 4, structured=True)
    assert log.status == "success"
    assert [(one["structured"], one["final"]) for one in judgements(log)] == [(True, 5)] + [
        (False, 3)
    ] * 3
    assert asked_by_schema(server) == [True, True, True, False, False, False]
    assert len(warnings(caplog, "refused the schema")) == 1


def test_bad_request_for_another_reason_leaves_the_schema(
    server: ChatServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.script = lambda request: fails(400) if request.number in (1, 2) else follows(request)
    log = judged_by(server, tmp_path, 2)
    first, second = judgements(log)
    assert (first["failure_mode"], second["final"], second["structured"]) == (
        "call_failed",
        5,
        True,
    )
    assert not warnings(caplog, "refused the schema")


@pytest.mark.usefixtures("no_preflight")
def test_without_a_preflight_auto_sends_no_schema(server: ChatServer, tmp_path: Path) -> None:
    judged_by(server, tmp_path)
    assert asked_by_schema(server) == [False, False]


def test_value_that_structured_does_not_have_is_refused() -> None:
    tasks: tuple[Any, ...] = (urs, urs_probe, judge_rating, mad)
    for task in tasks:
        with pytest.raises(InputError, match=r"structured: .*true, false or auto"):
            task(structured="yes")


def _bench(path: Path, *columns: str, **values: str) -> str:
    file = path / "bench.jsonl"
    rows = [{name: values.get(name, f"{name} {number}") for name in columns} for number in range(2)]
    file.write_text("\n".join(map(json.dumps, rows)))
    return str(file)


def _facts(task: Task, tmp_path: Path, scorer: str, model: Any) -> list[dict[str, Any]]:
    log = run(task, tmp_path, model=model, max_samples=1)
    assert log.status == "success", log.error
    return [(sample.scores or {})[scorer].metadata or {} for sample in samples_of(log)]


def test_pairs_and_ratings_are_asked_by_a_schema(server: ChatServer, tmp_path: Path) -> None:
    pairs = _bench(tmp_path, "prompt", "response_a", "response_b", "label", label="a")
    for facts in _facts(judge_pairwise(pairs, orders="ab"), tmp_path, "pair_verdict", at(server)):
        assert (facts["structured"], facts["verdicts"], facts["unkeyed"]) == (
            [True],
            {"a": {"Overall": "a"}},
            0,
        )
    ratings = _bench(tmp_path, "prompt", "response", "rating", rating="3")
    for facts in _facts(
        judge_rating(ratings, scale="1,5"), tmp_path, "rating_agreement", at(server)
    ):
        assert (facts["structured"], facts["unkeyed"]) == (True, False)
    assert asked_by_schema(server) == [True] * (1 + 2 + 2)


def test_rating_whose_schema_is_refused_is_asked_for_without_it(
    server: ChatServer, tmp_path: Path
) -> None:
    server.script = lambda request: follows(request) if request.number == 0 else refuses(request)
    ratings = _bench(tmp_path, "prompt", "response", "rating", rating="3")
    facts = _facts(judge_rating(ratings, scale="1,5"), tmp_path, "rating_agreement", at(server))
    assert [one["structured"] for one in facts] == [False, False]
    assert asked_by_schema(server) == [True, True, False, False]


def test_simulated_judges_follow_a_schema(tmp_path: Path) -> None:
    task = urs(dataset="sample", structured=True)
    log = run(task, tmp_path, model="urs_simulation/weak", grader="urs_simulation/judge", limit=6)
    plain = run(
        urs(dataset="sample"),
        tmp_path,
        model="urs_simulation/weak",
        grader="urs_simulation/judge",
        limit=6,
    )
    for by_schema, without in zip(judgements(log), judgements(plain), strict=True):
        assert (by_schema["structured"], without["structured"]) == (True, False)
        assert by_schema["unkeyed"] is False and by_schema["criteria"] == without["criteria"]
    pairs = _bench(tmp_path, "prompt", "response_a", "response_b", "label", label="a")
    for facts in _facts(
        judge_pairwise(pairs, structured=True), tmp_path, "pair_verdict", "urs_simulation/judge"
    ):
        assert (facts["structured"], facts["failures"], facts["unkeyed"]) == ([True], [], 0)


def test_contest_asks_only_judges_by_a_schema(server: ChatServer, tmp_path: Path) -> None:
    roles = {"contestant": [get_model("urs_simulation/weak"), get_model("urs_simulation/strong")]}
    task = mad(pool="sample", pool_size=4, k=1)
    log = run(task, tmp_path, model="none", grader=at(server), roles=roles, max_samples=1)
    assert log.status == "success", log.error
    assert asked_by_schema(server) == [True] * (1 + 2)
    facts = [
        (sample.scores or {})["pair_choice"].metadata or {}
        for sample in samples_of(log)
        if sample.scores
    ]
    assert [one["structured"] for one in facts if "structured" in one] == [[True]]


def test_schema_reaches_the_harness_as_it_is() -> None:
    sent = response_schema(TINY_SCHEMA).json_schema
    assert isinstance(sent, JSONSchema) and sent.properties is not None
    assert sent.model_dump(exclude_none=True) == TINY_SCHEMA


@pytest.mark.parametrize(
    ("reply", "stop_reason", "follows"),
    [
        ("OBJECT", "stop", True),
        ("OBJECT", "max_tokens", True),
        ("Sure!", "max_tokens", True),
        ("", "stop", True),
        (" \n", "stop", True),
        ("Sure!", "stop", False),
        ("{}", "stop", False),
        ("[]", "stop", False),
        ("7", "stop", False),
    ],
)
def test_a_tiny_reply_follows_the_schema_as_far_as_it_goes(
    reply: str, stop_reason: Any, follows: bool
) -> None:
    whole = json.dumps(dict.fromkeys([*TINY_SCHEMA["required"], "more"], 1))
    output = ModelOutput.from_content("m", whole if reply == "OBJECT" else reply)
    output.choices[0].stop_reason = stop_reason
    assert follows_schema(output) == follows
