"""A survey becomes cases; every row that does not is listed with its line, its column and what is
allowed.
"""

import json
from pathlib import Path

import pytest

from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.datasets import UrsCase, Vocabulary, read_cases
from urs_inspect.rubrics import load_rubric
from urs_inspect.survey._case_file import Survey, dropped_csv, read_reports, write_cases
from urs_inspect.survey._survey import ColumnMap, read_mapping, read_survey

GOOD = {
    "conversation": "Question: Why is the sky blue?\nAnswer: Scattering.",
    "intent": "Factual_QA",
}
INTENTS = (
    "factual_qa, solve_professional_problem, text_assistant, api, ask_for_advice, seek_creativity,"
    " leisure"
)


RUBRIC = load_rubric()
VOCABULARY = Vocabulary(RUBRIC.intent_id, RUBRIC.language_code)


@pytest.fixture
def survey(tmp_path: Path):
    def read(
        *rows: dict[str, object] | str, columns: ColumnMap | None = None, keep: bool = False
    ) -> Survey:
        path = tmp_path / "survey.jsonl"
        lines = [row if isinstance(row, str) else json.dumps({**GOOD, **row}) for row in rows]
        path.write_text("\n".join(lines), encoding="utf-8")
        return read_survey(path, RUBRIC, columns, keep_flagged=keep)

    return read


def test_a_good_row(survey) -> None:
    found = survey(
        {
            "user": "p1",
            "service": " New  Bing",
            "country": "DE",
            "satisfaction": 4,
            "reference_ans": "R",
        }
    )
    [case] = found.cases
    assert (case.id, case.question, case.reference) == ("survey_0001", "Why is the sky blue?", "R")
    assert (case.intent, case.language, case.country) == ("factual_qa", "en", "DE")
    assert (case.service, case.satisfaction, case.flags) == ("New  Bing", "4", ())
    assert (found.rows, found.dropped, found.counts) == (1, (), {})


@pytest.mark.parametrize(
    ("row", "reason", "column", "detail"),
    [
        ({"conversation": None}, "format", "conversation", "missing"),
        ({"conversation": " "}, "format", "conversation", "empty"),
        ({"conversation": 3}, "format", "conversation", 'list of messages'),
        ({"conversation": [{"role": "x"}]}, "format", "conversation", "message 1: unknown role \"x\"; allowed: user"),
        ({"conversation": "a\ud800b"}, "format", "conversation", "half a character"),
        ({"conversation": [{"role": "user", "content": "a\ud800b"}]}, "format", "conversation", "half a character"),
        ({"service": ["x"]}, "format", "service", "must be text"),
        ({"conversation": "hello!"}, "no question", "conversation", "only a greeting"),
        ({"conversation": "https://chat.example.org/share/1"}, "no question", "conversation", "only a link"),
        ({"intent": "Fun"}, "unknown intent", "intent", f"unknown intent 'Fun'; allowed: {INTENTS}"),
        ({"intent": ""}, "unknown intent", "intent", "empty"),
        ({"intent": None}, "unknown intent", "intent", "empty"),
        ({"language": "fr"}, "unknown language", "language", "language 'fr'; allowed: en, zh"),
        ({"conversation": "空はなぜ青いのですか"}, "unknown language", "", "column 'language'"),
        ({"conversation": "Who is a@example.org?"}, "personal data", "conversation", "e-mail; --keep-flagged"),
        ({"service": "a@example.org"}, "personal data", "service", "e-mail"),
        ("not json", "format", "", "not JSON"),
        ("[1]", "format", "", "not a JSON object"),
    ],
)  # fmt: skip
def test_faulty_rows(
    survey, row: dict[str, object] | str, reason: str, column: str, detail: str
) -> None:
    found = survey(row)
    [dropped] = found.dropped
    assert (found.cases, dropped.row, dropped.reason, dropped.column) == ((), 1, reason, column)
    assert tells(dropped.detail, detail)


def test_nothing_personal_is_shown(survey) -> None:
    found = survey(
        {
            "conversation": "Mail a@example.org about the weather in June",
            "intent": "x b@example.org",
        },
        {"conversation": "Mail a@example.org about the weather in June"},
    )
    assert [one.reason for one in found.dropped] == ["unknown intent", "personal data"]
    assert found.dropped[0].excerpt == "Mail [e-mail] about the weather in June"
    assert "unknown intent 'x [e-mail]'" in found.dropped[0].detail
    assert found.dropped[1].excerpt == ""
    assert "example.org" not in dropped_csv(found)


def test_flagged_rows_can_be_kept(survey) -> None:
    [case] = survey({"conversation": "Who is a@example.org?"}, keep=True).cases
    assert (case.question, case.flags) == ("Who is a@example.org?", ("e-mail",))


def test_who_the_user_is_goes_nowhere(survey, tmp_path: Path) -> None:
    found = survey({"user": "a@example.org"}, {"user": "a@example.org"})
    write_cases(tmp_path / "out.jsonl", found.cases)
    assert [one.reason for one in found.dropped] == ["duplicate of the same user"]
    assert "a@example.org" not in (tmp_path / "out.jsonl").read_text(
        encoding="utf-8"
    ) + dropped_csv(found)


def test_duplicates_of_a_user_and_across_users(survey) -> None:
    long = "what is the best order to watch all of the films"
    found = survey(
        {"user": "p1", "conversation": long},
        {"user": "p1", "conversation": long.upper() + "?"},
        {"user": "p1", "conversation": "so " + long},
        {"user": "p2", "conversation": long},
        {"conversation": long},
        {"user": "p2", "conversation": "something else"},
    )
    assert [case.question for case in found.cases] == [long, "something else"]
    assert [(one.row, one.reason) for one in found.dropped] == [
        (2, "duplicate of the same user"),
        (3, "near-duplicate of the same user"),
        (4, "near-duplicate across users"),
        (5, "near-duplicate across users"),
    ]
    assert found.dropped[0].detail == "repeats line 1 (similarity 1.00)"
    assert found.dropped[1].excerpt == f"so {long}"


def test_attention_checks(survey) -> None:
    columns = ColumnMap(attention={"check": "Blue"})
    found = survey(
        {"check": " blue "}, {"check": "red"}, {"check": None}, {}, {"check": 3}, columns=columns
    )
    assert len(found.cases) == 1
    assert [(one.reason, one.column, one.detail) for one in found.dropped] == [
        ("attention check", "check", f"is {shown}; allowed: Blue")
        for shown in ('"red"', "null", "null", "3")
    ]
    columns = ColumnMap(attention={"check": "4"})
    assert len(survey({"check": 4}, columns=columns).cases) == 1


def test_language_by_column_then_script(survey) -> None:
    rows = [
        {"conversation": "天为什么是蓝的"},
        {"language": "CN", "conversation": "Why?? so"},
        {"language": " "},
    ]
    assert [case.language for case in survey(*rows).cases] == ["zh", "zh", "en"]


def test_ids_are_kept_and_must_differ(survey) -> None:
    found = survey(
        {"id": "a"},
        {"id": "a", "conversation": "Another one?"},
        {"id": 7, "conversation": "A third one?"},
    )
    assert [case.id for case in found.cases] == ["a", "7"]
    assert (found.dropped[0].column, found.dropped[0].detail) == ("id", Telling("'a' ... line 1"))
    # A dropped row hides no duplicate.
    found = survey({"intent": "Fun"}, {}, {})
    assert ([case.id for case in found.cases], [one.row for one in found.dropped]) == (
        ["survey_0002"],
        [1, 3],
    )


def test_columns_and_labels_of_ones_own(tmp_path: Path) -> None:
    mapping = tmp_path / "map.yaml"
    mapping.write_text(
        "columns: {conversation: Conversation Content, intent: Your intent, user: Code}\n"
        "intents: {For fun: leisure}\n"
        "languages: {Englisch: en}\n",
        encoding="utf-8",
    )
    path = tmp_path / "s.csv"
    path.write_text(
        "Code,Conversation Content,Your intent,language\np1,Which film?,for FUN ,englisch\n",
        encoding="utf-8",
    )
    found = read_survey(path, RUBRIC, read_mapping(mapping))
    assert [(case.intent, case.language) for case in found.cases] == [("leisure", "en")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- x", "mapping ... columns, intents, languages"),
        ("rows: {}", "key 'rows'; allowed: columns, intents, languages"),
        (
            "columns: {asked: x}",
            "columns: ... 'asked'; allowed: conversation, intent, user",
        ),
        ("columns: {Conversaton: x}", "language, id, reference ... conversation?)"),
        ("columns: [x]", "columns: ... mapping"),
        ("intents: {x: 3}", "intents: ... mapping"),
        ("columns: {", "cannot read"),
        ("intents:\n  x: api\n  x: leisure", "key 'x' ... twice"),
    ],
)
def test_faulty_mappings(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_mapping(path)
    assert tells(str(caught.value), words)


def test_a_label_cannot_mean_what_does_not_exist(survey) -> None:
    with pytest.raises(InputError, match="unknown intent 'fun'"):
        survey({}, columns=ColumnMap(intents={"x": "fun"}))


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        ("conversation,user", "column 'intent' ... header has: conversation, user; ... --columns"),
        ("Conversation,intent", "header has: Conversation, intent; ... --columns"),
        ("conversation;intent", 'semicolons; ... UTF-8, with commas'),
        ("conversation\tintent", 'tabs; ... UTF-8, with commas'),
        ("conversation,intent", "column 'check' ... header has: conversation, intent"),
        ("conversation,intent,Chek", "column 'check' ... conversation, intent, Chek"),
    ],
)  # fmt: skip
def test_a_header_that_is_nearly_right(tmp_path: Path, header: str, hint: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text(f"{header}\nx,y,z\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_survey(path, RUBRIC, ColumnMap(attention={"check": "1"} if "check" in hint else {}))
    assert tells(str(caught.value), hint)
    with pytest.raises(InputError, match="no data file"):
        read_survey(tmp_path / "none.csv", RUBRIC)


def test_rows_with_more_cells_than_the_header(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text(
        'conversation,intent\n"Which\nfilm?",Leisure\nWhich, film?,Leisure\n', encoding="utf-8"
    )
    found = read_survey(path, RUBRIC)
    assert len(found.cases) == 1
    assert found.dropped[0].row == 4 and tells(found.dropped[0].detail, "more cells")


def test_the_cases_are_data_for_the_tasks(survey, tmp_path: Path) -> None:
    found = survey(
        {"country": "DE", "service": "X"}, {"conversation": "推荐一首歌", "intent": "Leisure"}
    )
    out = tmp_path / "cases.jsonl"
    write_cases(out, found.cases)
    data = read_cases(out, "mine", VOCABULARY, id_prefix="mine", need_references=False)
    assert data.cases == (
        UrsCase("survey_0001", "Why is the sky blue?", "", "factual_qa", "en", "DE"),
        UrsCase("survey_0002", "推荐一首歌", "", "leisure", "zh", ""),
    )
    with pytest.raises(InputError, match="File exists"):
        write_cases(out, found.cases)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (4, 4), ("4", 4), (" 4.5 ", 4.5), ("-1", -1), (0, 0), (3.0, 3), ("4 of 5", "4 of 5"), ("4,5", "4,5"),
        ("nan", "nan"), ("1e3", "1e3"), ("٤", "٤"), ("very", "very"), ("9" * 30, "9" * 30), ("", None), (None, None),
    ],
)  # fmt: skip
def test_satisfaction_is_a_number_where_it_is_one(
    survey, tmp_path: Path, given: object, written: object
) -> None:
    out = tmp_path / "out.jsonl"
    write_cases(out, survey({"satisfaction": given}, keep=True).cases)
    found = json.loads(out.read_text(encoding="utf-8")).get("satisfaction")
    assert (found, type(found)) == (written, type(written))


def test_the_report_reads_back(survey, tmp_path: Path) -> None:
    found = survey(
        {"intent": "=1+1"}, {"conversation": '=cmd, "x"\nis what?', "intent": "y"}, "broken"
    )
    path = tmp_path / "dropped.csv"
    path.write_text(dropped_csv(found), encoding="utf-8")
    assert "\n2,unknown intent,intent,\"unknown intent 'y'" in path.read_text(encoding="utf-8")
    assert "'=cmd" in path.read_text(encoding="utf-8")
    assert read_reports([path]) == ([one.reason for one in found.dropped], None)
    path.write_text("line,reason,column,detail,excerpt\n1,because,,,\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2: column 'reason':.*'because'; allowed: format"):
        read_reports([path])


@pytest.mark.data
def test_the_published_questions_read_as_a_survey(data_dir: Path) -> None:
    """Every published question stands as it is.

    Five hold personal data by the rules, five repeat another one.
    """
    found = read_survey(data_dir / "urs" / "data_all.csv", RUBRIC)
    assert (found.rows, len(found.cases)) == (1846, 1836)
    assert found.counts == {"personal data": 5, "near-duplicate across users": 5}
    published = read_cases(
        data_dir / "urs" / "data_all.csv", "urs", VOCABULARY, id_prefix="data_all"
    )
    questions = {case.id: case.question.strip() for case in published.cases}
    assert all(questions[case.id] == case.question for case in found.cases)
