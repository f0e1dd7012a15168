"""`urs-inspect cases import` and `datasheet`, from a survey to a run."""

import csv
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Said
from tests.tasks.scripted import Script
from tests.tasks.scripted import run as run_task
from tests.telling import tells
from urs_inspect import urs
from urs_inspect.datasets._references import question_sha256
from urs_inspect.tasks.urs_references import urs_references

SURVEY = """user,service,conversation,intent,country,satisfaction,check
p1,ChatGPT,"Question: What is bitcoin?
Answer: Money.",Factual QA,GB,4,blue
p1,ChatGPT,what is bitcoin,Factual QA,GB,4,blue
p2,New Bing,"用户：你好
助手：你好！
用户：推荐一首歌",休闲娱乐,China,5,blue
p3,Claude,Hello,Leisure,CN,2,blue
p4,Claude,Who is jane@example.org?,Leisure,US,3,blue
p5,Claude,Which film?,Fun,US,3,blue
p6,Claude,Which film?,Leisure,US,3,red
p7,Claude,Which | film is <b>best</b>?,Leisure,,3,Blue
"""


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    path = tmp_path / "survey.csv"
    path.write_text(SURVEY, encoding="utf-8-sig")
    return path


def test_import(survey: Path, tmp_path: Path, said: Said, run: Run) -> None:
    out, report, labels = (tmp_path / name for name in ("cases.jsonl", "dropped.csv", "map.yaml"))
    checks = tmp_path / "checks.yaml"
    checks.write_text("attention: {check: blue}\n", encoding="utf-8")
    labels.write_text("intents: {Fun: leisure}\n", encoding="utf-8")
    options = ("-o", out, "--report", report, "--columns", checks)
    output = said("cases", "import", survey, *options)
    for words in (
        "8 rows",
        "dropped: personal data",
        "3 cases are in",
        "dropped.csv, by its line; ids count rows.",
        "Without a reference answer: 3;",
    ):
        assert words in output
    cases = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [
        tuple(case.get(key) for key in ("id", "question", "user_intent", "language", "country"))
        for case in cases
    ] == [
        ("survey_0001", "What is bitcoin?", "factual_qa", "en", "GB"),
        ("survey_0003", "推荐一首歌", "leisure", "zh", "China"),
        ("survey_0008", "Which | film is <b>best</b>?", "leisure", "en", None),
    ]
    lines = report.read_text(encoding="utf-8").splitlines()
    assert [",".join(line.split(",")[:2]) for line in lines] == [
        "line,reason",
        "4,duplicate of the same user",
        "8,no question",
        "9,personal data",
        "10,unknown intent",
        "11,attention check",
    ]
    text = run("cases", "datasheet", out, "--report", report).output
    for row in (
        "| Total | 2 | 1 | 3 |",
        "| Leisure | 1 | 1 | 2 |",
        "| Leisure | English | Which \\| film is \\<b\\>best\\</b\\>? |",
        "| ChatGPT | 1 | 0 | 1 |",
        "| GB | 1 | 0 | 1 |",
        "2 countries in all; 1 case without one.",
        "| all | 5 |",
        "3 cases, 5 rows dropped by the import: 8 rows of the survey are accounted for.",
    ):
        assert row in text
    mapped = said(
        "cases",
        "import",
        survey,
        "-o",
        tmp_path / "more.jsonl",
        "--columns",
        labels,
        "--keep-flagged",
    )
    assert "dropped: unknown intent" not in mapped and tells(mapped, "personal data")


def test_intents_of_a_rubric_of_ones_own(tmp_path: Path, said: Said, run: Run) -> None:
    run("new", "rubric", tmp_path / "support")
    own = ("--rubric", tmp_path / "support" / "rubric.yaml")
    survey = tmp_path / "survey.csv"
    survey.write_text("conversation,intent\nMy order is late.,complaint\n", encoding="utf-8")
    command = ("cases", "import", survey, "-o", tmp_path / "cases.jsonl")
    assert tells(run(*command).output, "unknown intent")
    assert "1 case is in" in said(*command, *own)
    datasheet = ("cases", "datasheet", tmp_path / "cases.jsonl")
    assert run(*datasheet).exit_code == 1
    assert "Complaints | 1 | 1 |" in said(*datasheet, *own)


QUESTIONS = (
    "Who painted the ceiling of a chapel in Rome?",
    "How long does rice have to boil?",
    "Why is the sky blue at noon?",
    "Name three rivers of Siberia.",
    "Translate good evening into Welsh.",
    "Which bird lays green eggs?",
    "Write a poem on rust.",
    "Explain compound interest briefly.",
    "Can cats see in total darkness?",
    "Plan my weekend near Oslo.",
    "What does a beekeeper wear?",
)


def imported(
    tmp_path: Path, said: Said, labels: list[str], *options: object
) -> tuple[str, list[str]]:
    """What the command prints about questions with these labels, and the intents of the cases."""
    survey, out = tmp_path / "survey.csv", tmp_path / "cases.jsonl"
    out.unlink(missing_ok=True)
    lines = [f"{question},{label}" for question, label in zip(QUESTIONS, labels, strict=False)]
    survey.write_text("conversation,intent\n" + "\n".join(lines), encoding="utf-8")
    output = said("cases", "import", survey, "-o", out, *options)
    return output, [
        json.loads(line)["user_intent"] for line in out.read_text(encoding="utf-8").splitlines()
    ]


LABELS = {
    "Solve Problem": (
        "ambiguous intent",
        "'Solve Problem' could be api or solve_professional_problem; name one",
    ),
    "solve-problem": (
        "ambiguous intent",
        "'solve-problem' could be api or solve_professional_problem",
    ),
    "Solve Problems": ("unknown intent", "(did you mean api or solve_professional_problem?)"),
    "Factual": ("unknown intent", "unknown intent 'Factual'; allowed: factual_qa, "),
    "Leisur": ("unknown intent", "leisure (did you mean leisure?)"),
    "休闲": ("unknown intent", "(did you mean leisure?)"),
    "Sport": ("unknown intent", "seek_creativity, leisure\n"),
}


@pytest.mark.parametrize("label", LABELS)
def test_labels_that_mean_nothing_or_too_much(label: str, tmp_path: Path, said: Said) -> None:
    report = tmp_path / "report.csv"
    output, intents = imported(tmp_path, said, ["Leisure", label], "--report", report)
    reason, words = LABELS[label]
    assert f"dropped: {reason}" in output and intents == ["leisure"]
    assert tells(output, "--columns FILE.yaml")
    [row] = csv.DictReader(report.open(encoding="utf-8"))
    assert row["reason"] == reason
    assert words in row["detail"] + "\n"
    said("cases", "datasheet", tmp_path / "cases.jsonl", "--report", report)


def test_labels_are_counted(tmp_path: Path, said: Said) -> None:
    labels = ["Sport"] * 3 + ["Solve Problem"] * 2 + [f"label {n}" for n in range(5)]
    output, _ = imported(tmp_path, said, [*labels, "API"])
    assert "3 rows: unknown intent 'Sport'; allowed: " in output
    assert tells(output, "2 rows: 'Solve Problem' ... api or solve_professional_problem")
    assert "2 more labels; --columns" in output


def test_misspelt_labels_are_corrected_only_if_asked_and_counted(
    tmp_path: Path, said: Said
) -> None:
    labels = ["Leisure", "Leisur", "Leisur", "Factual QAs", "Sport", "Solve Problems"]
    output, intents = imported(tmp_path, said, labels, "--fix-spelling")
    assert intents == ["leisure", "leisure", "leisure", "factual_qa"]
    assert tells(output, "2 rows: intent 'Leisur' ... leisure")
    assert tells(output, "1 row: intent 'Factual QAs' ... factual_qa")
    assert "1 row: unknown intent 'Sport'" in output
    assert "'Solve Problems' taken for" not in output
    output, intents = imported(tmp_path, said, labels)
    assert intents == ["leisure"]
    assert "--fix-spelling" in output


def test_solve_problem_can_be_given_a_meaning(tmp_path: Path, said: Said, refused: Said) -> None:
    columns = tmp_path / "labels.yaml"
    labels = ["Solve Problem", "solve problem"]
    for meaning in ("api", "solve_professional_problem"):
        columns.write_text(f"intents: {{Solve Problem: {meaning}}}\n", encoding="utf-8")
        output, intents = imported(tmp_path, said, labels, "--columns", columns)
        assert intents == [meaning, meaning]
        assert "ambiguous" not in output
    columns.write_text("intents: {Solve Problem: nothing}\n", encoding="utf-8")
    survey, out = tmp_path / "survey.csv", tmp_path / "x.jsonl"
    error = refused("cases", "import", survey, "-o", out, "--columns", columns)
    assert tells(error, "intent 'nothing'; allowed: ... api")


def test_one_case_is_one_case(tmp_path: Path, said: Said) -> None:
    survey = tmp_path / "survey.csv"
    survey.write_text(
        "conversation,intent,country,service\nWhich film?,Leisure,CN,X\n", encoding="utf-8"
    )
    output = said("cases", "import", survey, "-o", tmp_path / "x.jsonl")
    output += said("cases", "datasheet", tmp_path / "x.jsonl")
    for words in (
        "1 row of",
        "1 case is in",
        "1 case; sha256",
        "1 service in all",
        "1 country in all; 0 cases without one",
    ):
        assert words in output
    for words in ("1 cases", "1 rows", "1 services", "1 countries"):
        assert words not in output


def test_own_cases_get_references_and_are_run(survey: Path, tmp_path: Path, run: Run) -> None:
    out, refs = tmp_path / "cases.jsonl", tmp_path / "refs.jsonl"
    assert run("cases", "import", survey, "-o", out).exit_code == 0
    task = urs_references(dataset=str(out))
    asked = run_task(task, tmp_path / "refs", model=Script("A reference.").model("J"), grader=None)
    assert run("references", asked.location, "-o", refs).exit_code == 0
    first = json.loads(refs.read_text(encoding="utf-8").splitlines()[0])
    assert first["question_sha256"] in {
        question_sha256(str(sample.input)) for sample in task.dataset
    }
    judged = run_task(
        urs(dataset=str(out), references=str(refs)),
        tmp_path / "urs",
        model=Script("An answer.").model("A"),
        grader=Script('{"Final Score": 5}').model(),
    )
    assert judged.status == "success" and judged.results is not None
    assert {sample.target for sample in judged.samples or []} == {"A reference."}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("-o x.csv", "output: ... .jsonl file"),
        ("-o none/x.jsonl", "output: no folder"),
        ("-o x.jsonl --report r.txt", "report: ... .csv file"),
        ("-o x.jsonl --columns list.yaml", "attention: must be a mapping"),
        ("-o x.jsonl --columns number.yaml", "attention: must be a mapping ... texts"),
        ("-o x.jsonl --columns nothing.yaml", "column 'nothing' is missing"),
        ("-o x.jsonl --columns none.yaml", "columns: no file 'none.yaml'"),
    ],
)
def test_bad_arguments(
    survey: Path, run: Run, monkeypatch: pytest.MonkeyPatch, arguments: str, words: str
) -> None:
    monkeypatch.chdir(survey.parent)
    checks = {"list": "[check]", "number": "{check: 4}", "nothing": "{nothing: 'yes'}"}
    for name, check in checks.items():
        Path(f"{name}.yaml").write_text(f"attention: {check}\n", encoding="utf-8")
    done = run("cases", "import", survey, *arguments.split())
    assert done.exit_code != 0 and tells(done.output, words)
    assert not (survey.parent / "x.jsonl").exists()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("s.csv", "conversation,intent\n", "s.csv: no rows\n"),
        ("s.jsonl", "\n", "s.jsonl: no rows\n"),
        (
            "s.csv",
            "conversation,intent\nhello,Leisure\n",
            "no row ... --report FILE.csv",
        ),
    ],
)
def test_when_nothing_is_left(run: Run, tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = run("cases", "import", tmp_path / name, "-o", tmp_path / "x.jsonl")
    assert done.exit_code == 1 and tells(done.output, words)
    assert not (tmp_path / "x.jsonl").exists()


@pytest.mark.data
def test_the_datasheet_of_the_published_data_has_the_numbers_of_table_2(
    data_dir: Path, run: Run
) -> None:
    text = run("cases", "datasheet", "urs").output
    for row in (
        "| Total | 1014 | 832 | 1846 |",
        "| Factual QA | 374 | 199 | 573 |",
        "| Solve Problem | 180 | 348 | 528 |",
        "| Text Assistant | 81 | 43 | 124 |",
        "| Ask for Advice | 175 | 94 | 269 |",
        "| Seek Creativity | 121 | 72 | 193 |",
        "| Leisure | 83 | 76 | 159 |",
    ):
        assert row in text
    assert tells(text, "do not say ... service")
