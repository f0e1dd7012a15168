"""A grader whose endpoint fails: nothing is lost, nothing is made up, and the run ends well."""

import json
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import GenerateConfig, Model, get_model
from tenacity import wait_none

from tests.servers import (
    CUT_OFF,
    DROPS,
    GARBAGE,
    HANGS,
    NO_CHOICES,
    ChatServer,
    Request,
    Response,
    fails,
    says,
    serving,
)
from tests.tasks.scripted import Script, between, metric_values, run, samples_of
from urs_inspect import urs
from urs_inspect.scorers import intent_judge, judge_outcome

CASES = 5
FINAL_7 = json.dumps({"Final Score": 7})


class Faulty:
    """A judge that fails when it is first asked about some cases, and always if their number is
    None.
    """

    def __init__(self, fault: Response, cases: int | None) -> None:
        self.fault, self.cases = fault, cases
        self.failed: set[str] = set()
        self.lock = threading.Lock()

    def __call__(self, request: Request) -> Response:
        if self.cases is None:
            return self.fault
        case = between(request.messages[1]["content"], "<question>", "</question>")
        with self.lock:
            if case in self.failed or len(self.failed) == self.cases:
                return says(FINAL_7)
            self.failed.add(case)
            return self.fault


def grader(server: ChatServer, **config: int) -> Model:
    """The judge on the server, with the waits between the harness's tries taken out."""
    config = {"max_retries": 4, "attempt_timeout": 30, **config}
    model = get_model(
        "openai-api/local/judge",
        base_url=server.url,
        memoize=False,
        config=GenerateConfig(**config),
        max_retries=0,  # of the client library, which waits by itself
    )
    model.api.retry_wait = wait_none  # type: ignore[method-assign]
    return model


@pytest.fixture
def serve(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[Response, int | None], ChatServer]]:
    """Start servers that live as long as the test."""
    with ExitStack() as open_servers:
        yield lambda fault, cases: open_servers.enter_context(
            serving(Faulty(fault, cases), monkeypatch)
        )


def judge_samples(tmp_path: Path, judge: Model) -> EvalLog:
    return run(
        urs(dataset="sample"),
        tmp_path,
        model="urs_simulation/weak",
        grader=judge,
        limit=CASES,
    )


def final_of(sample: EvalSample) -> object:
    assert sample.scores is not None
    value = sample.scores["intent_judge"].value
    return value["final"] if isinstance(value, dict) else value


FAULTS: list[
    tuple[Response, int, str]
] = [  # with the requests a case when they last, and what is said of them
    (fails(429), 2, "RateLimitError: Error code: 429 - scripted 429"),
    (fails(500), 2, "InternalServerError: Error code: 500 - scripted 500"),
    (fails(503), 2, "Error code: 503"),
    (fails(400), 1, "Error code: 400 - scripted 400"),
    (fails(401), 1, "AuthenticationError: Error code: 401 - scripted 401"),
    (DROPS, 2, "APIConnectionError"),
    (CUT_OFF, 2, "APIConnectionError"),
    (GARBAGE, 2, "JSONDecodeError"),
    (HANGS, 2, "attempt_timeout '1' exceeded"),
]
TWICE = [fault for fault, requests, _ in FAULTS if requests == 2]  # by the harness or by us


@pytest.mark.usefixtures("no_preflight")
@pytest.mark.parametrize("fault", [*TWICE, NO_CHOICES])
def test_faults_that_pass_leave_every_case_scored(fault: Response, serve, tmp_path: Path):
    server = serve(fault, 3)
    log = judge_samples(tmp_path, grader(server, attempt_timeout=1 if fault is HANGS else 30))

    assert log.status == "success"
    assert [final_of(sample) for sample in samples_of(log)] == [7] * CASES
    assert metric_values(log, "judge_outcome")["judged"] == CASES
    assert server.count() == CASES + 3


@pytest.mark.usefixtures("no_preflight")
@pytest.mark.parametrize(("fault", "requests", "detail"), FAULTS)
def test_faults_that_last_leave_every_case_unscored_and_its_answer_kept(
    fault: Response, requests: int, detail: str, serve, tmp_path: Path
):
    server = serve(fault, None)
    log = judge_samples(
        tmp_path, grader(server, max_retries=1, attempt_timeout=1 if fault is HANGS else 30)
    )

    assert log.status == "success"
    assert metric_values(log, "judge_outcome") == {"unscored_call_failed": CASES}
    assert server.count() == requests * CASES
    assert log.results is not None and log.results.headline is not None
    assert math.isnan(metric_values(log, "intent_judge")["final"])
    for sample in samples_of(log):
        assert sample.error is None
        assert sample.output.completion.startswith("[simulated answer]")
        assert sample.scores is not None
        failed = sample.scores["intent_judge"]
        assert (failed.reason, failed.answer) == ("grader_failed", sample.output.completion)
        assert (failed.metadata or {})["failure_mode"] == "call_failed"
        assert detail in (failed.metadata or {})["judges"][0]["failure_detail"]
        assert detail in (failed.explanation or "")


@pytest.mark.usefixtures("no_preflight")
def test_run_whose_grader_was_dead_is_completed_by_scoring_its_log(serve, tmp_path: Path):
    dead = judge_samples(tmp_path, grader(serve(fails(500), None), max_retries=0))
    good = Script(FINAL_7)
    scorers, roles = [intent_judge(), judge_outcome()], {"grader": good.model()}
    log = score(dead, scorers, model_roles=roles, action="overwrite", display="log")

    assert len(good.seen) == CASES
    assert [final_of(sample) for sample in samples_of(log)] == [7] * CASES
    assert metric_values(log, "judge_outcome")["judged"] == CASES
    answers = {sample.id: sample.output.completion for sample in samples_of(dead)}
    assert {sample.id: sample.output.completion for sample in samples_of(log)} == answers


@pytest.mark.usefixtures("no_preflight")
def test_dead_judge_of_a_panel_leaves_the_score_to_the_other(serve, tmp_path: Path):
    panel = [grader(serve(fails(500), None), max_retries=0), Script(FINAL_7).model("alive")]
    log = run(
        urs(dataset="sample"),
        tmp_path,
        model="urs_simulation/weak",
        grader=panel,
        limit=CASES,
    )

    assert [final_of(sample) for sample in samples_of(log)] == [7] * CASES
    assert metric_values(log, "judge_outcome") == {"partial_panel": CASES, "unkeyed": CASES}


@pytest.mark.usefixtures("no_preflight")
def test_dead_model_under_test_does_not_look_like_a_dead_judge(serve, tmp_path: Path):
    # The model's own failure is an error of the sample, to be retried with `inspect eval-retry`; no
    # score is made up.
    model = grader(serve(fails(500), None), max_retries=0)
    task = urs(dataset="sample")
    log = run(
        task, tmp_path, model=model, grader=Script(FINAL_7).model(), limit=2, fail_on_error=False
    )

    assert all(sample.error is not None and not sample.scores for sample in samples_of(log))
