"""`urs-inspect check`: every kind of file is recognised, what is broken in one is named."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.telling import tells
from urs_inspect.checking._recognition import kinds

TABLES = {
    "prices.yaml": (
        "prices",
        "m: {input: 1, output: 2, input_cache_write: 0, input_cache_read: 0}",
    ),
    "mix.yaml": ("traffic", "intents: {leisure: 0.5, factual_qa: 0.5}\ncountries: {GB: 1}"),
    "columns.yaml": ("survey_columns", "columns: {conversation: Chat}\nintents: {Fun: leisure}"),
    "references.csv": (
        "references",
        f"id,question_sha256,reference,source_model\nq,{'0' * 64},yes,m",
    ),
    "human.csv": ("human_ratings", "id,rating,rater\nq1,7,ann\nq2,8,bob"),
    "votes.csv": ("votes", "model_a,model_b,winner\nx,y,x"),
    "votes.json": ("votes", '[{"model_a": "x", "model_b": "y", "winner": "x"}]'),
    "ann.jsonl": (
        "ballot_votes",
        '{"ballot": "b", "annotator": "ann", "choice": "a", "left": "a"}',
    ),
    "ballots.jsonl": (
        "ballots",
        json.dumps(
            dict(zip(kinds()["ballots"][0].split(), "ixyuv", strict=True), instruction="Hi")
        ),
    ),
    "survey.csv": ("survey", "conversation,intent\nUser: how old is the city of Rome?,Leisure"),
    "satisfaction.csv": ("satisfaction", "intent,satisfaction\nleisure,4"),
    "board.csv": ("leaderboard", "model,rank\nx,1\ny,2"),
    "pool.csv": ("pool", "instruction\nSay hi"),
}


@pytest.mark.satellites
def test_every_kind_of_file_is_recognised_and_read(run: Run, start: Path) -> None:
    for name, (_, text) in TABLES.items():
        (start / name).write_text(text, "utf-8")
    result = run("check", "--json", *TABLES)
    assert {each["file"]: (each["kind"], each["errors"]) for each in json.loads(result.output)} == {
        name: (kind, []) for name, (kind, _) in TABLES.items()
    }
    started = {"rubric", "prompt", "cases", "pairs", "ratings"}
    assert {kind for kind, _ in TABLES.values()} | started == set(kinds())


@pytest.mark.parametrize(
    ("file", "old", "new", "error"),
    [
        ("rubric/rubric.yaml", "name: support-desk", "nom: x", "name: missing"),
        ("rubric/rubric.yaml", "[1, 3]", "[2, 3]", "bands must cover 1 to 10"),
        ("rubric/frame.en.jinja", "{{ answer }}", "", "does not use {{ answer }}"),
        (
            "rubric/cases.csv",
            ",complaint,",
            ",complain,",
            "lines 2, 3: column 'user_intent': unknown intent 'complain'",
        ),
        ("rubric/cases.csv", "user_intent", "user_intnt", "column 'user_intent' is missing"),
        (
            "pairs/pairs.jsonl",
            '"label": "a"',
            '"label": "c"',
            "lines 1, ... column 'label': unknown label",
        ),
        ("pairs/pairs.jsonl", '"prompt": ', '"prompt" ', "not JSON"),
        (
            "pairs/ratings.csv",
            ",5,",
            ",50,",
            "line 2: column 'rating': ... 1 to 10",
        ),
    ],
)
def test_what_is_broken_is_named(
    file: str, old: str, new: str, error: str, run: Run, start: Path
) -> None:
    path = start / file
    assert old in path.read_text("utf-8")
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    result = run(
        "check", *(str(each.relative_to(start)) for each in sorted((start / file).parent.iterdir()))
    )
    assert result.exit_code == 1
    assert [
        line
        for line in result.output.splitlines()
        if line.startswith(f"{file}: ") and tells(line, error)
    ]


def test_each_fault_is_named_once_and_advice_is_no_error(run: Run, start: Path) -> None:
    rows = "Hello?,Hi,smalltalk,en\n,No question,leisure,en\nWhat?,,factual_qa,fr\n"
    (start / "bad.csv").write_text("question,reference,intent,language\n" + rows)
    result = run("check", "bad.csv")
    errors = [line for line in result.output.splitlines() if "error:" in line]
    assert result.exit_code == 1 and len(errors) == 3
    assert result.output.count("smalltalk") == 1
    unanswered = "question,reference,intent,language\nWhat?,,factual_qa,en\nHow?,So,factual_qa,en\n"
    (start / "unanswered.csv").write_text(unanswered)
    result = run("check", "unanswered.csv")
    assert result.exit_code == 0
    assert tells(result.output, "ok: ... without reference 1 ... run refuses ... -T references=")
    (start / "human.csv").write_text(TABLES["human.csv"][1])
    assert tells(run("check", "human.csv").output, "1 to 10 ... --scale")


def test_a_directory_that_new_wrote_is_checked_file_by_file(run: Run, start: Path) -> None:
    for kind in ("rubric", "cases", "pairs"):
        result = run("check", kind)
        assert result.exit_code == 0, result.output
        assert result.output.count(", ok: ") == len(list((start / kind).iterdir()))
    (start / "empty").mkdir()
    assert tells(run("check", "empty").output, "no file")


JUDGED = [
    (
        "question response_A response_B label",
        "A>B",
        "pairs",
        '{prompt: question, response_a: response_A, response_b: response_B, labels: {"A>B": a}}',
    ),
    (
        "input output_1 output_2 label",
        "1",
        "pairs",
        "{prompt: input, response_a: output_1, response_b: output_2}",
    ),
    (
        "instruction input output_1 output_2 preference",
        "1.9",
        "pairs",
        "{prompt: [instruction, input], response_a: output_1, response_b: output_2, label:"
        ' preference, labels: {"<1.5": a, 1.5: tie, ">1.5": b}}',
    ),
    ("prompt response_a response_b votes", "1", "pairs", '{label: "?"}'),
    ("instruction response1 response2 annotator1", "1", "pairs", "label: annotator1}"),
    (
        "prompt response_a response_b annotator1 annotator2",
        "1",
        "pairs",
        "[annotator1, annotator2]",
    ),
    (
        "question reference response human_score",
        "2",
        "ratings",
        "{prompt: question, rating: human_score}' -T scale=",
    ),
]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json"])
@pytest.mark.parametrize(("columns", "last", "kind", "advice"), JUDGED)
def test_pairs_ratings_and_answers_under_other_names_are_named_with_columns_to_give(
    columns: str, last: str, kind: str, advice: str, ending: str, run: Run, tmp_path: Path
) -> None:
    names = columns.split()
    row = dict(zip(names, [*("text" for _ in names[1:]), last], strict=True))
    row |= {name: last for name in names if name.startswith("annotator")}
    path = tmp_path / f"own.{ending}"
    text = {"json": json.dumps([row]), "jsonl": json.dumps(row)}
    path.write_text(text.get(ending, f"{','.join(row)}\n{','.join(row.values())}\n"), "utf-8")
    result = run("check", path)
    assert result.exit_code == 1
    assert f"{path}: {kind}, error: " in result.output
    assert advice in result.output
    is_read = f"{path}: {kind}, with these columns: entries 1" in result.output
    assert is_read == ("?" not in advice)


def test_an_unknown_file_is_an_error_that_lists_the_kinds_and_a_kind_can_be_named(
    run: Run, start: Path
) -> None:
    (start / "some.csv").write_text("a,b\n1,2\n")
    result = run("check", "some.csv")
    assert result.exit_code == 1
    assert all(kind in result.output for kind in kinds())
    assert "column 'prompt' is missing" in run("check", "--kind", "pairs", "some.csv").output
    unknown = run("check", "--kind", "nothing", "some.csv")
    assert unknown.exit_code == 2
    assert all(f"'{kind}'" in unknown.output for kind in kinds())


def test_the_command_imports_no_other_satellite_before_it_runs() -> None:
    code = (
        "import sys, urs_inspect.checking._commands;"
        " print([name for name in sys.modules if name.startswith('urs_inspect.survey._')"
        " and not name.endswith('_satellite')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
