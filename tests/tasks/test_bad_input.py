"""What cannot be run is refused by `inspect eval` with one error that says why, before any model is called."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.servers import ChatServer, says, serving
from tests.tasks.commands import refused, run_inspect
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


ARGUMENTS = [
    ("language=fr", ["language", "unknown language 'fr'", "allowed: en, zh"]),
    ("language=[en,fr]", ["language", "unknown language 'fr'", "allowed: en, zh"]),
    ("language=no", ["language", "a name", "False"]),  # which YAML reads as false
    ("language=''", ["language", "unknown language ''", "allowed: en, zh"]),
    ("intents=gossip", ["intents", "unknown intent 'gossip'", f"allowed: {INTENTS}"]),
    ("intents=leisure,gossip", ["intents", "unknown intent 'gossip'", f"allowed: {INTENTS}"]),
    ("intents=7", ["intents", "'all'", "7"]),
    ("dataset=nope", ["unknown dataset 'nope'", "allowed: urs, sample"]),
    ("dataset=cases.xlsx", ["unknown dataset 'cases.xlsx'", ".csv or .jsonl"]),
    ("dataset=absent.csv", ["no data file 'absent.csv'"]),
    ("dataset=5", ["dataset", "must be a text", "5"]),
    ("judge_language=fr", ["judge_language", "unknown language 'fr'", "allowed: en, zh"]),
    ("judge_attempts=0", ["attempts", "at least 1"]),
    ("judge_attempts=often", ["attempts", "whole number", "'often'"]),
    ("judge_temperature=hot", ["temperature", "from 0 to 2", "'hot'"]),
    ("judge_temperature=-1", ["temperature", "from 0 to 2", "-1"]),
    ("judge_cache=maybe", ["judge_cache", "true or false", "'maybe'"]),
    ("references=absent.jsonl", ["no data file 'absent.jsonl'"]),
    ("references=absent.eval", ["no log 'absent.eval'"]),
    ("references=refs.csv", ["references", "cannot read 'refs.csv'", ".jsonl"]),
    ("references=5", ["references", "must be a text", "5"]),
    ("lenient=maybe", ["lenient", "true or false", "'maybe'"]),
    ("seed=soon", ["seed", "whole number", "'soon'"]),
    ("seed=-1", ["seed", "at least 0", "-1"]),
    ("rubric=absent.yaml", ["rubric", "no file", "absent.yaml"]),
    ("rubric=5", ["rubric", "must be a text", "5"]),
    ("prompt=absent.jinja", ["prompt", "no file", "absent.jinja"]),
]


@pytest.mark.parametrize(("argument", "said"), ARGUMENTS, ids=[argument for argument, _ in ARGUMENTS])
def test_argument_is_refused_in_one_line_that_names_what_is_allowed(
    argument: str, said: list[str], server: ChatServer, tmp_path: Path, monkeypatch, capsys
):
    refusal = refused(*command(tmp_path, "dataset=sample", argument), monkeypatch=monkeypatch, capsys=capsys)

    assert refusal.status == 1
    [line] = refusal.error.strip().splitlines()
    assert line.startswith("Error: ")
    assert [part for part in said if part not in line] == []
    assert nothing_happened(server, tmp_path)


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


@pytest.mark.parametrize(("name", "content", "said"), FILES, ids=[name for name, _, _ in FILES])
def test_faulty_file_is_refused_with_file_row_and_column(
    name: str, content: str | bytes, said: list[str], server: ChatServer, tmp_path: Path, monkeypatch, capsys
):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    refusal = refused(*command(tmp_path, f"dataset={file}"), monkeypatch=monkeypatch, capsys=capsys)

    assert refusal.status == 1
    assert "Traceback" not in refusal.error
    assert [part for part in (str(file), *said) if part not in refusal.error] == []
    assert nothing_happened(server, tmp_path)


RUBRICS = [
    ("intents: {leisure: {criteria: [fun]}}", ["intents.leisure.criteria", "'fun'", "allowed: factuality"]),
    ("judges: 3", ["judges", "unknown key", "allowed: name, version"]),
    ("reference_score: 11", ["reference_score", "10"]),
    ("criteria: {thrift: {en: {name: Thrift, definition: Is it cheap}}}", ["criteria.thrift", "zh"]),
    ("intents: [leisure", ["not valid YAML"]),
]


@pytest.mark.parametrize(("text", "said"), RUBRICS, ids=[text for text, _ in RUBRICS])
def test_faulty_rubric_is_refused_with_file_and_key(
    text: str, said: list[str], server: ChatServer, tmp_path: Path, monkeypatch, capsys
):
    file = tmp_path / "mine.yaml"
    file.write_text(f"name: mine\nversion: '1'\n{text}\n", encoding="utf-8")
    refusal = refused(*command(tmp_path, "dataset=sample", f"rubric={file}"), monkeypatch=monkeypatch, capsys=capsys)

    assert refusal.status == 1
    assert "Traceback" not in refusal.error
    assert [part for part in (str(file), *said) if part not in refusal.error] == []
    assert nothing_happened(server, tmp_path)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ("Question: {{ question }}", ["answer"]),
        ("{{ answer }} {{ question }} {{ mood }}", ["mood"]),
        ("{{ answer", ["line 1"]),
        ("{% block case %}{{ question }}{{ answer }}{% endblock %}", ["instructions"]),
    ],
)
def test_faulty_frame_is_refused_with_its_name(
    frame: str, said: list[str], server: ChatServer, tmp_path: Path, monkeypatch, capsys
):
    file = tmp_path / "frame.jinja"
    file.write_text(frame, encoding="utf-8")
    refusal = refused(*command(tmp_path, "dataset=sample", f"prompt={file}"), monkeypatch=monkeypatch, capsys=capsys)

    assert refusal.status == 1
    assert "Traceback" not in refusal.error
    assert [part for part in ("frame.jinja", *said) if part not in refusal.error] == []
    assert nothing_happened(server, tmp_path)


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("dataset=nope", ["unknown dataset 'nope'", "allowed: urs, sample"]),
        ("per_kind=0", ["per_kind", "at least 1"]),
        ("judge_language=fr", ["judge_language", "unknown language 'fr'", "allowed: en, zh"]),
        ("seed=soon", ["seed", "whole number"]),
    ],
)
def test_probe_refuses_bad_arguments_too(argument, said, server: ChatServer, tmp_path: Path, monkeypatch, capsys):
    refusal = refused(
        *command(tmp_path, argument, task="urs_inspect/urs_probe"), monkeypatch=monkeypatch, capsys=capsys
    )

    assert refusal.status == 1
    assert [part for part in said if part not in refusal.error] == []
    assert nothing_happened(server, tmp_path)


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


@pytest.mark.parametrize("argument", ["language=fr", "intents=nothing", "intents=", "language=", "judge_language=fr"])
def test_slips_are_found_before_data_is_fetched(argument: str, monkeypatch):
    # With an empty cache and no network, asking for the data would fail with another message, after a while.
    cases = import_module("urs_inspect.tasks.urs_cases")
    monkeypatch.setattr(cases, "load_urs", lambda *_, **__: pytest.fail("the data was asked for"))
    name, _, value = argument.partition("=")
    with pytest.raises(InputError, match=name):
        import_module("urs_inspect.tasks.urs").urs(**{name: value or None})
