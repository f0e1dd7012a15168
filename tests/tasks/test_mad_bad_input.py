"""What cannot be a competition is refused by `inspect eval` in one line, before anybody is
asked.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.reports.mad_logs import answered, judged, write_answer_log, write_log
from tests.servers import ChatServer, says, serving
from tests.tasks.commands import refused, succeed
from tests.tasks.contests import Field, compete, pool_file
from tests.telling import tells
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.discrepancy._lexical import LexicalSimilarity
from urs_inspect.tasks import mad

_CONTESTANTS = "contestant=[openai-api/local/one, openai-api/local/two]"
_GRADER = "grader=openai-api/local/judge"


def command(
    tmp_path: Path, *arguments: str, roles: tuple[str, ...] = (_CONTESTANTS, _GRADER)
) -> list[str]:
    options = [
        "--log-dir",
        str(tmp_path / "logs"),
        "--display",
        "log",
        "--max-retries",
        "0",
        "--model",
        "none",
    ]
    given = [part for role in roles for part in ("--model-role", role)]
    return [
        "eval",
        "urs_inspect/mad",
        *options,
        *given,
        *(part for one in arguments for part in ("-T", one)),
    ]


def answer_log(
    path: Path,
    model: str,
    answers: dict[str, str],
    *,
    data: str = "mine",
    sha256: str = "0" * 64,
    status: str = "success",
    ask: str = "Write about",
) -> Path:
    """A log of a task with one answer a sample."""
    samples = [
        answered(name, text, input=f"{ask} {name}.", target="") for name, text in answers.items()
    ]
    return write_answer_log(path, model, *samples, data=data, sha256=sha256, status=status)


def answers(model: str, size: int = 4) -> dict[str, str]:
    return {f"i{n}": f"{model} says {n}" for n in range(size)}


def refuse(
    tmp_path: Path, server: ChatServer, monkeypatch, capsys, *arguments: str, **options
) -> str:
    """The message that says why; nothing else happens."""
    refusal = refused(
        *command(tmp_path, *arguments, **options), monkeypatch=monkeypatch, capsys=capsys
    )
    assert refusal.status == 1
    assert "Traceback" not in refusal.error
    assert server.count() == 0
    assert not list((tmp_path / "logs").glob("*"))
    assert sum(line.startswith("Error: ") for line in refusal.error.splitlines()) == 1
    return refusal.error[refusal.error.index("Error: ") :].strip()


ROLES = [
    ((_GRADER,), "no model has the role 'contestant'"),
    ((), "no model has the role 'contestant'"),
    (
        ("contestant=openai-api/local/one", _GRADER),
        "contestants: at least 2 are needed, got openai-api/local/one",
    ),
    ((_CONTESTANTS,), "no model has the role 'grader'"),
    (
        ("contestant=[openai-api/local/one, openai-api/local/one]", _GRADER),
        "openai-api/local/one is named twice",
    ),
]


@pytest.mark.parametrize(("roles", "said"), ROLES)
def test_roles_are_refused_before_anything_is_spent(
    roles, said: str, server, tmp_path, monkeypatch, capsys
) -> None:
    assert said in refuse(tmp_path, server, monkeypatch, capsys, "pool=sample", "k=2", roles=roles)


@pytest.mark.satellites
def test_a_similarity_that_is_not_installed(server, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "model2vec", None)
    said = refuse(tmp_path, server, monkeypatch, capsys, "pool=sample", "similarity=model2vec/some")
    assert "needs" in said and "model2vec" in said


# ## Logs as a pool

A, B, C = ({"model": name, "answers": answers(name)} for name in "abc")
UNFINISHED = [{**B, "status": status} for status in ("error", "cancelled", "started")]
KL = (
    "selection: 'kl' needs the log probabilities of tokens, and a gave none; allowed for it: mad,"
    " random"
)
LOGS: list[tuple[list[dict[str, Any]], str, str]] = [
    ([], "", "responses: no finished log with answers in: "),
    ([*UNFINISHED, A], "k=2", "contestants: at least 2 are needed, got a"),
    ([A, {**B, "data": "other"}], "", "logs of different data cannot be compared: "),
    ([A, {**B, "data": "other"}], "", "in/0.eval has 'mine' (sha256 000000000000), "),
    ([A, {**B, "data": "other"}], "", "in/1.eval has 'other' (sha256 000000000000)"),
    ([A, {**B, "sha256": "1" * 64}], "", "(sha256 111111111111)"),
    ([A, {**B, "ask": "Sing about"}], "", "sample 'i0' has another text in "),
    (
        [A, {**B, "answers": {**answers("b", 2), "i2": "  ", "i3": "a says 3"}}],
        "k=3",
        (
            "k=3 is more than the pool 'mine' of 4 instructions can give to a and b: 2 (1 empty of"
            " b, 1 answered"
        ),
    ),
    (
        [A, {**B, "answers": answers("b", 1)}],
        'k=3 selection={"min_words":1}',
        "a and b: 1 (3 missing of b). Lower k, or take a larger pool, or relax min_words",
    ),
    ([A, B], "k=1 selection=kl", KL),
    (
        [A, B],
        'k=3 selection={"shortlist":2} similarity=llm',
        "shortlist: must be at least k=3, got 2",
    ),
    (
        [A, B],
        "k=2 previous=earlier.eval",
        "previous: no new contestant; the earlier run has compared a, b",
    ),
    (
        [A, B, C],
        "k=2 previous=earlier.eval",
        "previous: instruction 'i0' has another text there than in the pool 'mine'",
    ),
    ([A, B], "previous=in/0.eval", "previous: no comparison in "),
]


@pytest.mark.parametrize(("logs", "arguments", "said"), LOGS, ids=[said for _, _, said in LOGS])
def test_logs_that_are_no_pool_are_refused(
    logs: list[dict[str, Any]], arguments: str, said: str, server, tmp_path, monkeypatch, capsys
) -> None:
    (tmp_path / "in").mkdir()
    for number, facts in enumerate(logs):
        answer_log(tmp_path / "in" / f"{number}.eval", **facts)
    write_log(
        tmp_path / "earlier.eval", judged(Ballot.between("i0", "Why?", {"a": "x", "b": "y"}), 1.0)
    )
    monkeypatch.chdir(tmp_path)
    roles = (_GRADER, "similarity=openai-api/local/s")
    assert said in refuse(
        tmp_path, server, monkeypatch, capsys, "responses=in", *arguments.split(), roles=roles
    )


def test_a_file_that_is_no_log(server, tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "2026-01-01T00-00-00_urs_x.eval").write_bytes(b"no zip")
    said = refuse(tmp_path, server, monkeypatch, capsys, f"responses={tmp_path}", roles=(_GRADER,))
    assert tells(said, "read the log")


def test_a_contestant_that_has_answered_in_the_logs(server, tmp_path, monkeypatch, capsys) -> None:
    answer_log(tmp_path / "in" / "a.eval", "openai-api/local/one", answers("a"))
    said = refuse(tmp_path, server, monkeypatch, capsys, f"responses={tmp_path / 'in'}", "k=2")
    assert tells(said, "openai-api/local/one ... already")


# ## Where roles are known only during the run


def test_a_script_s_task_stops_before_anybody_is_asked(tmp_path: Path) -> None:
    field = Field()
    roles = {"contestant": field.roles()["contestant"]}
    answer_log(tmp_path / "in" / "a.eval", "a", answers("a"))
    answer_log(tmp_path / "in" / "b.eval", "b", answers("a"))
    own, of_logs = mad(str(pool_file(tmp_path)), k=2), mad(responses=str(tmp_path / "in"), k=2)
    for task, given, said in (
        (own, roles, "no model has the role 'grader'"),
        (of_logs, None, "no model has the role 'grader'"),
        (of_logs, {"grader": field.judge.model()}, "k=2 is more than the pool 'mine'"),
    ):
        log = compete(task, tmp_path / "logs", given)
        assert log.error is not None and said in log.error.message
    assert not field.asked("ace") and not field.judge.seen


# ## What only the running task can find


def test_answers_that_are_all_equal_end_the_run_with_the_line(tmp_path: Path, monkeypatch) -> None:
    arguments = command(tmp_path, f"pool={pool_file(tmp_path)}", "k=2")
    with serving(lambda request: says("An answer."), monkeypatch):
        # The harness ends with 0 after every task that failed.
        said = succeed(*arguments, "--display", "rich", tmp_path=tmp_path)
    assert tells(said, "InputError: no pair")
    assert "Traceback" not in said
    assert "competition.py" not in said
    assert "Task interrupted (6 of " in said


def test_an_error_that_is_not_the_user_s_keeps_its_traceback(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(LexicalSimilarity, "encode", lambda self, texts: 1 / 0)
    log = compete(mad(str(pool_file(tmp_path)), k=2), tmp_path / "logs", Field().roles())
    assert log.error is not None
    assert "ZeroDivisionError" in log.error.traceback
    assert "matchmaking.py" in log.error.traceback


def test_vectors_that_are_not_finite_are_named_without_causes(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(
        LexicalSimilarity,
        "encode",
        lambda self, texts: np.full((len(texts), 3), np.nan, np.float32),
    )
    log = compete(mad(str(pool_file(tmp_path)), k=2), tmp_path / "logs", Field().roles())
    assert log.error is not None
    assert tells(log.error.message, "not finite, ... text 0")
    assert "matchmaking.py" not in log.error.traceback
    # What `inspect view` shows, drawn by rich: the type and the line.
    assert "competition.py" not in log.error.traceback_ansi


def test_options_without_effect_are_said(tmp_path: Path, caplog) -> None:
    mad(str(pool_file(tmp_path)), k=2, allocation={"confidence": 0.8})
    assert "confidence: without effect with allocation=uniform" in caplog.text
    caplog.clear()
    mad(str(pool_file(tmp_path)), k=2)
    mad(
        str(pool_file(tmp_path)),
        k=2,
        allocation={"rule": "adaptive", "confidence": 0.8, "batch": 4},
    )
    assert "without effect" not in caplog.text
