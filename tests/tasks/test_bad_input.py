"""What cannot be run is refused by `inspect eval` with one error that says why, before any model is called."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import ChatServer, says, serving
from tests.tasks.commands import refused, run_inspect
from urs_inspect import urs
from urs_inspect._util import InputError

HEADER = "question,reference_ans,user_intent,language"
GOOD = "Why is the sky blue?,Rayleigh scattering.,Factual_QA,EN"
INTENTS = "factual_qa, solve_professional_problem, text_assistant, api, ask_for_advice, seek_creativity, leisure"


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    """The model under test and the judge, which must not be called here."""
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        serving(lambda request: says("An answer."), monkeypatch) as server,
    ):
        yield server


def command(tmp_path: Path, *arguments: str, task: str = "urs_inspect/urs") -> list[str]:
    models = ["--model", "openai-api/local/never-asked", "--model-role", "grader=openai-api/local/never-asked-to-judge"]
    options = ["--log-dir", str(tmp_path / "logs"), "--display", "log", "--max-retries", "0"]
    return ["eval", task, *models, *options, *(part for argument in arguments for part in ("-T", argument))]


def nothing_happened(server: ChatServer, tmp_path: Path) -> bool:
    return server.count() == 0 and not list((tmp_path / "logs").glob("*"))


FILES = [
    ("missing.csv", "question,user_intent,language\nWhy?,Leisure,EN", ["line 1", "column 'reference_ans'"]),
    ("empty.csv", f"{HEADER}\n{GOOD}\n  ,Because.,Leisure,EN", ["line 3", "column 'question'", "empty"]),
    ("intent.csv", f"{HEADER}\nWhy?,Because.,Gossip,EN", ["line 2", "column 'user_intent'", "'Gossip'", INTENTS]),
    ("language.csv", f"{HEADER}\nWhy?,Because.,Leisure,FR", ["line 2", "column 'language'", "'FR'", "en, zh"]),
    ("twice.csv", f"id,{HEADER}\na,{GOOD}\na,{GOOD}", ["line 3", "column 'id'", "'a'", "line 2"]),
    ("bytes.csv", f"{HEADER}\n{GOOD}\n".encode() + b"Wh\xff?,Because.,Leisure,EN", ["line 3", "UTF-8"]),
    ("missing.jsonl", '{"question": "Why?", "user_intent": "Leisure", "language": "EN"}', ["line 1", "reference_ans"]),
    ("broken.jsonl", '\n{"question": "Why?"', ["line 2", "not JSON"]),
]


def refused_by_urs(**arguments: Any) -> str:
    with pytest.raises(InputError) as caught:
        urs(**{"dataset": "sample", **arguments})
    return str(caught.value)


@pytest.mark.parametrize(("name", "content", "said"), FILES, ids=[name for name, _, _ in FILES])
def test_faulty_file_is_refused_with_file_row_and_column(
    name: str, content: str | bytes, said: list[str], tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    message = refused_by_urs(dataset=str(file))
    assert [part for part in (str(file), *said) if part not in message] == []


RUBRICS = [
    ("intents: {leisure: {criteria: [fun]}}", ["intents.leisure.criteria", "'fun'", "allowed: factuality"]),
    ("judges: 3", ["judges", "unknown key", "allowed: name, version"]),
    ("reference_score: 11", ["reference_score", "10"]),
    ("criteria: {thrift: {en: {name: Thrift, definition: Is it cheap}}}", ["criteria.thrift", "zh"]),
    ("intents: [leisure", ["not valid YAML"]),
]


@pytest.mark.parametrize(("text", "said"), RUBRICS, ids=[text for text, _ in RUBRICS])
def test_faulty_rubric_is_refused_with_file_and_key(text: str, said: list[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"name: mine\nversion: '1'\n{text}\n", encoding="utf-8")
    message = refused_by_urs(rubric=str(file))
    assert [part for part in (str(file), *said) if part not in message] == []


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ("Question: {{ question }}", "answer"),
        ("{{ answer }} {{ question }} {{ mood }}", "mood"),
        ("{{ answer", "line 1"),
        ("{% block case %}{{ question }}{{ answer }}{% endblock %}", "instructions"),
    ],
)
def test_faulty_frame_is_refused_with_its_name(frame: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "frame.jinja"
    file.write_text(frame, encoding="utf-8")
    message = refused_by_urs(prompt=str(file))
    assert "frame.jinja" in message and said in message


def test_published_data_that_is_nowhere_is_one_error_with_every_way_out(
    server: ChatServer, tmp_path: Path, monkeypatch, capsys
):
    def no_network(*args: object, **kwargs: object) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr("inspect_ai.util.download", no_network)
    refusal = refused(*command(tmp_path), monkeypatch=monkeypatch, capsys=capsys)

    assert refusal.status == 1
    assert "Traceback" not in refusal.error
    ways = ["https://raw.githubusercontent.com/Alice1998/URS/", "6041bb3b", "URS_INSPECT_DATA_DIR", "-T dataset=sample"]
    assert [way for way in ways if way not in refusal.error] == []
    assert nothing_happened(server, tmp_path)


def test_child_process_exits_with_the_error_too(server: ChatServer, tmp_path: Path):
    done = run_inspect(*command(tmp_path, "dataset=sample", "language=fr"), tmp_path=tmp_path)

    assert done.returncode == 1
    assert done.stderr.strip() == "Error: language: unknown language 'fr'; allowed: en, zh (or 'all')"
    assert done.stdout.strip() == ""
    assert nothing_happened(server, tmp_path)
