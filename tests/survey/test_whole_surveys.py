"""Whole surveys and reviews, and all that is written and printed about them."""

import asyncio
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.log import EvalError, EvalSample
from inspect_ai.model import ChatMessageUser, ModelName
from inspect_ai.scorer import SampleScore, Score, Target
from inspect_ai.solver import TaskState

from tests.cli.conftest import Run
from tests.reports.golden_files import check_golden
from tests.reports.json_files import write_rows
from tests.reports.judged_logs import JUDGE, write_judged
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.datasets._sources import sha256_of
from urs_inspect.judging import JudgeFailure
from urs_inspect.rubrics import load_rubric
from urs_inspect.stats._agreement import wilson_interval
from urs_inspect.survey._case_file import (
    AMBIGUOUS_INTENT,
    FORMAT,
    PERSONAL,
    REASONS,
    UNKNOWN_INTENT,
    SurveyCase,
    dropped_csv,
    read_reports,
    removed_csv,
    shortened,
    write_cases,
)
from urs_inspect.survey._case_review import (
    CRITERIA,
    _score,
    case_review,
    case_review_report,
    the_judge,
)
from urs_inspect.survey._commands import _MAX_SHOWN
from urs_inspect.survey._datasheet import datasheet
from urs_inspect.survey._review_prompt import REVIEW_AGAIN, CaseReview
from urs_inspect.survey._review_report import _reviewed, judges_of, read_case_reviews, rows_of
from urs_inspect.survey._review_task import urs_case_review
from urs_inspect.survey._survey import ColumnMap, read_survey
from urs_inspect.survey._vocabulary import LabelError, vocabulary_of

RUBRIC = load_rubric()
WATCH = "what is the best order to watch all of the films about a far galaxy"
LONG = "Write to jane@example.org and ask her " + "once more " * 10 + "about lunch"

ROWS: tuple[Mapping[str, object] | str, ...] = (
    {"id": "own", "user": "p1", "service": " New  Bing", "country": "DE", "satisfaction": 4,
     "reference_ans": "R", "conversation": f"User: {WATCH}\nAssistant: By year."},
    {"user": "p1", "conversation": f"{WATCH.upper()}?"},
    {"user": "p1", "conversation": f"so {WATCH}"},
    {"user": "p2", "conversation": WATCH},
    {"conversation": "Why is the sea salty?"},
    {"conversation": "Why is the sea salty?"},
    {"id": "jane@example.org", "conversation": "Which film?"},
    {"country": "jane@example.org", "conversation": "Which song?"},
    {"satisfaction": "jane@example.org", "conversation": "Which book?"},
    {"check": None, "conversation": "Which play?"},
    {"check": "red", "conversation": "Which game?"},
    "no JSON",
    {"conversation": "hello"},
    {"conversation": [{"role": "assistant", "content": "I am here."}]},
    {"conversation": [{"role": "user", "content": "a\ud800b"}]},
    {"intent": "Leisur", "conversation": "Which poem?", "reference": "Another name."},
    {"intent": "Solve Problem", "conversation": "=1+1, how much?"},
    {"intent": "Fun", "conversation": LONG},
    {"language": "fr", "conversation": "Pourquoi?"},
    {"language": "Englisch", "conversation": "Warum?", "service": 3.0, "satisfaction": 4.50},
    {"conversation": "空はなぜ青いのですか"},
    {"id": "own", "conversation": "Is this id taken?"},
    {"conversation": "请推荐一首歌", "user": "p9"},
    {"conversation": "Mail bob@example.org or +44 20 7946 0958?"},
)  # fmt: skip


def lines_of(rows: Iterable[Mapping[str, object] | str]) -> str:
    """A survey; a row lacks nothing but what it says itself."""
    usual = {"intent": "Leisure", "check": "blue"}
    lines = [row if isinstance(row, str) else json.dumps({**usual, **row}) for row in rows]
    return "\n".join(lines)


def trimmed(printed: str) -> str:
    """What a command printed, without blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in printed.splitlines())


COLUMNS = ColumnMap(attention={"check": " Blue"}, languages={"Englisch": "en"})


def test_a_survey_becomes_cases_and_dropped_rows(tmp_path: Path) -> None:
    path = tmp_path / "survey.jsonl"
    path.write_text(lines_of(ROWS), encoding="utf-8")
    parts = []
    for lenient in (False, True):
        found = read_survey(path, RUBRIC, COLUMNS, keep_flagged=lenient, fix_spelling=lenient)
        out = tmp_path / f"cases_{lenient}.jsonl"
        write_cases(out, found.cases)
        counts = [f"{reason}: {number}" for reason, number in found.counts.items()]
        respelt = [f"{how}: {number}" for how, number in found.respelt.items()]
        parts += [f"# {found.rows} rows", *counts, *respelt]
        parts += [out.read_text(encoding="utf-8"), dropped_csv(found)]
        assert len(found.cases) + len(found.dropped) == found.rows
    check_golden("survey", "\n".join(parts))


def test_the_import_to_read(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("map.yaml").write_text("attention: {check: blue}\n", encoding="utf-8")
    labels = [{"intent": f"label {n}", "conversation": f"Which is number {n}?"} for n in range(5)]
    again = [{"intent": "Leisur", "conversation": f"Which poem has {n} lines?"} for n in (1, 2)]
    alike = [{"intent": "Factual QAs", "conversation": "Who has seen the wind?"}]
    Path("survey.jsonl").write_text(lines_of((*ROWS, *labels, *again, *alike)), encoding="utf-8")
    known = {"intent": "API", "conversation": "Which?", "reference": "R"}
    Path("one.jsonl").write_text(lines_of([known]), encoding="utf-8")
    Path("four.jsonl").write_text(lines_of([*labels[:4], *ROWS[:1]]), encoding="utf-8")
    printed = []
    for arguments in (
        "survey.jsonl -o 1.jsonl --columns map.yaml",
        "survey.jsonl -o 2.jsonl --report 2.csv --keep-flagged --fix-spelling",
        "one.jsonl -o 3.jsonl",
        "four.jsonl -o 4.jsonl",
    ):
        printed += [f"$ {arguments}", trimmed(run("cases", "import", *arguments.split()).output)]
    check_golden("cases_import", "\n".join(printed))


def case(name: str, question: str, **others: object) -> dict[str, object]:
    return {"id": name, "question": question, "user_intent": "leisure", "language": "en", **others}


def test_the_datasheet_to_read(tmp_path: Path) -> None:
    rows = [
        case("a", "  Which film?  ", service="New  Bing", country="GB"),
        case("b", "Which songs?", service="ChatGPT", country="DE"),
        case("c", "推荐一首歌", language="zh", service="ChatGPT", country="CN"),
        case("d", "Write " + "very " * 60 + "much", user_intent="seek_creativity"),
        case("e", "Parse this", user_intent="api", service="Aya"),
        case("f", "Why?", user_intent="solve_professional_problem", country="DE"),
        case("g", "Why not?", user_intent="solve_professional_problem"),
        case("h", "Who?", user_intent="solve_professional_problem", service="New Bing"),
    ]
    data = str(write_rows(tmp_path / "mine.jsonl", *rows))
    reasons = [PERSONAL, FORMAT, PERSONAL, UNKNOWN_INTENT, PERSONAL, AMBIGUOUS_INTENT]
    faults = [["harmful", "not understandable"], ["not self contained"], ["harmful"]]
    whole = datasheet(data, RUBRIC, reasons, faults)
    check_golden("datasheet", whole)
    for reports in ((None, None), (reasons, None), (None, faults)):
        part = datasheet(data, RUBRIC, *reports).splitlines()
        assert set(part) - set(whole.splitlines()) <= {
            "- 8 cases, 6 rows dropped by the import: 14 rows of the survey are accounted for.",
            "- 8 cases, 3 cases taken out by the review: 11 rows of the survey are accounted for.",
        }
        assert ("## Rows of the survey" in part) == (reports != (None, None))


@pytest.mark.parametrize(
    ("text", "most", "line"),
    [("abcde", 5, "abcde"), ("abcdef", 5, "abcd…"), (" a \n b\t", 3, "a b"), ("", 5, "")],
)
def test_a_text_is_shortened_only_beyond_the_most(text: str, most: int, line: str) -> None:
    assert shortened(text, most) == line


def test_cells_that_a_spreadsheet_would_compute_begin_with_an_apostrophe(tmp_path: Path) -> None:
    labels = ["=1", "+1", "-1", "@SUM", "'1", "1"]
    rows = [{"intent": "x", "conversation": f"{label} is what?"} for label in labels]
    path = tmp_path / "s.jsonl"
    path.write_text(lines_of(rows), encoding="utf-8")
    cells = [
        line.rpartition(",")[2] for line in dropped_csv(read_survey(path, RUBRIC)).splitlines()[1:]
    ]
    assert [cell[:3] for cell in cells] == ["'=1", "'+1", "'-1", "'@S", "'1 ", "1 i"]


def test_what_a_case_lacks_is_left_out_of_its_line(tmp_path: Path) -> None:
    given = SurveyCase("a", "Q?", "", "leisure", "en")
    more = SurveyCase("b", "Q?", "R", "leisure", "en", "DE", "X", "-2", ("e-mail", "name"))
    write_cases(tmp_path / "out.jsonl", [given, more])
    first, second = map(json.loads, (tmp_path / "out.jsonl").read_text("utf-8").splitlines())
    assert first == {
        "id": "a",
        "question": "Q?",
        "reference_ans": "",
        "user_intent": "leisure",
        "language": "en",
    }
    assert second == {
        **first,
        "id": "b",
        "reference_ans": "R",
        "country": "DE",
        "service": "X",
        "satisfaction": -2,
        "personal_data": ["e-mail", "name"],
    }


def test_reports_are_added_up_and_a_file_counts_once(tmp_path: Path) -> None:
    header = "line,reason,column,detail,excerpt"
    for name, reason in (("1", REASONS[0]), ("2", REASONS[1])):
        text = f"{header}\n7,{reason},,x,\n"
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    for name, faults in (("3", ["harmful", "not self contained"]), ("4", ["harmful"])):
        (tmp_path / f"{name}.csv").write_text(removed_csv({"a": faults}), encoding="utf-8")
    files = [tmp_path / f"{name}.csv" for name in "1324"]
    (tmp_path / "x").mkdir()
    again = [files[0], tmp_path / "x" / ".." / "3.csv"]
    assert read_reports([*files, *again]) == (
        [REASONS[0], REASONS[1]],
        [["harmful", "not self contained"], ["harmful"]],
    )
    assert read_reports([]) == (None, None)
    wrong = tmp_path / "5.csv"
    wrong.write_text(f"{header}\n7,{FORMAT},,x,\n8,because,,x,\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_reports([*files, wrong])
    assert tells(str(caught.value), f"{wrong} ... line 3 ... 'because'")
    wrong.write_text("line,why\n7,x\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"5\.csv: must be the \.csv file that"):
        read_reports([wrong])
    wrong.write_bytes(b"\xff\xfe\x00")
    for unreadable in (wrong, tmp_path / "gone.csv"):
        with pytest.raises(InputError) as caught:
            read_reports([*files, unreadable])
        assert tells(str(caught.value), f"report: cannot read '{unreadable}' as .csv")


def test_only_a_text_is_the_question_of_a_review() -> None:
    [sample] = reviewed("a", review())
    assert _reviewed([sample]).question == "Which?"
    sample.input = [ChatMessageUser(content="Which?")]
    assert _reviewed([sample]).question == ""


def test_a_log_without_any_review_is_refused(tmp_path: Path) -> None:
    log = write_judged(tmp_path / "none.eval", task="urs_inspect/urs_case_review", status="error")
    with pytest.raises(InputError, match=r"none\.eval' has no reviewed case; .*'error'"):
        read_case_reviews(log, [])


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("abcabcabc", "abcabcabcabc", "near-duplicate of the same user"),
        ("abcabcabc", " ABCABCABC?", "duplicate of the same user"),
    ],
)
def test_only_the_same_text_is_a_duplicate(
    tmp_path: Path, first: str, second: str, reason: str
) -> None:
    path = tmp_path / "s.jsonl"
    rows = [{"user": "u", "conversation": first}, {"user": "u", "conversation": second}]
    path.write_text(lines_of(rows), encoding="utf-8")
    [dropped] = read_survey(path, RUBRIC).dropped
    assert dropped.reason == reason


def test_a_language_that_the_rubric_lacks_is_unknown(tmp_path: Path) -> None:
    own = "name: own\nversion: '1'\nlanguages: [en]\n"
    (tmp_path / "own.yaml").write_text(own, encoding="utf-8")
    path = tmp_path / "s.jsonl"
    rows = [{"conversation": "推荐一首歌"}, {"conversation": "Which song?"}]
    path.write_text(lines_of(rows), encoding="utf-8")
    found = read_survey(path, load_rubric(str(tmp_path / "own.yaml")))
    assert [one.language for one in found.cases] == ["en"]
    assert [(one.row, one.reason) for one in found.dropped] == [(1, "unknown language")]


# --- labels ---


@pytest.mark.parametrize(
    ("label", "meant"),
    [
        ("leisure", "leisure"), ("Leisure", "leisure"), ("休闲娱乐", "leisure"), ("API", "api"),
        ("Solve Professional Problem", "solve_professional_problem"), ("for FUN ", "leisure"),
        ("Ask for Advice", "ask_for_advice"), ("api", "text_assistant"),
    ],
)  # fmt: skip
def test_a_label_means_an_intent_by_any_of_its_names(label: str, meant: str) -> None:
    own = {"For fun": "leisure"}
    if meant == "text_assistant":
        own["API"] = meant  # a label of the survey comes before the intents' own names
    assert vocabulary_of(RUBRIC, own).intent(label) == meant


@pytest.mark.parametrize(
    ("label", "code"),
    [
        ("en", "en"),
        ("English", "en"),
        (" 中文", "zh"),
        ("cn", "zh"),
        ("ENGLISH ", "en"),
        ("Deutsch", "en"),
    ],
)
def test_a_label_means_a_language_by_any_of_its_names(label: str, code: str) -> None:
    assert vocabulary_of(RUBRIC, None, {"deutsch": "en"}).language(label) == code


@pytest.mark.parametrize(
    ("label", "ambiguous", "nearest"),
    [
        ("Leisur", False, "leisure"), ("Solve Problem", True, ""), ("Solve Problems", False, ""),
        ("Sport", False, ""), ("Leiseru", False, "leisure"),
    ],
)  # fmt: skip
def test_only_a_certain_meaning_is_the_nearest(label: str, ambiguous: bool, nearest: str) -> None:
    with pytest.raises(LabelError) as caught:
        vocabulary_of(RUBRIC).intent(label)
    assert (caught.value.ambiguous, caught.value.nearest) == (ambiguous, nearest)


# --- reviews ---


def review(*faults: str, judge: str = JUDGE, failed: str = "") -> Score:
    """What `case_review` leaves behind."""
    facts: dict[str, Any] = {"judge": judge, "faults": list(faults)}
    if failed:
        facts = {"judge": judge, "failure_mode": failed}
    return Score(value=0.0, metadata=facts)


def reviewed(name: str, *scores: Score | None, question: str = "Which?") -> list[EvalSample]:
    """A case with a review in each epoch; None for an epoch that ended in an error."""
    samples = []
    for epoch, score in enumerate(scores, start=1):
        error = None
        given = {"case_review": score}
        if score is None:
            error = EvalError(message="boom", traceback="", traceback_ansi="")
            given = {}
        samples.append(
            EvalSample(id=name, epoch=epoch, input=question, target="", scores=given, error=error)
        )
    return samples


def write_reviews(
    folder: Path, *cases: list[EvalSample], name: str = "review", **spec: Any
) -> Path:
    """A log of reviews of a file with the same cases and one more."""
    rows = [
        {**case(str(samples[0].id), str(samples[0].input)), "service": "X"} for samples in cases
    ]
    data = folder / "cases.jsonl"
    if not data.exists():
        write_rows(data, *rows, case("unreached", "Why?"))
    facts = {"dataset": "cases.jsonl", "dataset_sha256": sha256_of(data)}
    log = folder / f"{name}.eval"
    samples = [sample for case in cases for sample in case]
    spec = {"task": "urs_inspect/urs_case_review", "metadata": facts, **spec}
    write_judged(log, *samples, **spec)
    return log


REVIEWS = (
    reviewed("passes", review()),
    reviewed("fails", review("harmful", "not self contained")),
    reviewed("personal", review("personal data"), question="I am Jane Roe, who else?"),
    reviewed("mostly", review(), review("harmful"), review()),
    reviewed("half", review(), review("harmful")),
    reviewed("seldom", review("harmful"), review("harmful"), review()),
    reviewed("unread", review(failed="unparseable")),
    reviewed("once", review(failed="truncated"), review()),
    reviewed("error", None),
    reviewed("long", review("not understandable"), question="Which " + "very " * 20 + "long?"),
)


def test_a_case_passes_in_most_of_its_reviews(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log, found = read_case_reviews(str(write_reviews(tmp_path, *REVIEWS)), [])
    assert {name: case.passed for name, case in found.items()} == {
        "passes": True,
        "fails": False,
        "personal": False,
        "mostly": True,
        "half": False,
        "seldom": False,
        "unread": None,
        "once": True,
        "error": None,
        "long": False,
    }
    assert found["fails"].faults == ("harmful", "not self contained")
    assert found["seldom"].faults == ("harmful",)
    assert found["unread"].faults == ("no review: unparseable",)
    assert tells(found["error"].faults[0], "no review ... error")
    assert rows_of(log)["fails"] == {**case("fails", "Which?"), "service": "X"}
    assert set(rows_of(log)) == {*found, "unreached"}


def test_the_judges_of_a_log_are_named_once(tmp_path: Path) -> None:
    cases = [
        reviewed(name, review(judge=judge))
        for name, judge in zip("abc", ("q", "", "p"), strict=True)
    ]
    log, _ = read_case_reviews(
        str(write_reviews(tmp_path, *cases, reviewed("d", review(judge="q")))), []
    )
    assert judges_of(log) == ["p", "q"]


def test_the_last_score_of_a_review_counts(tmp_path: Path) -> None:
    [twice] = reviewed("a", review("harmful"))
    assert twice.scores is not None
    twice.scores["case_review-1"] = review()
    _, found = read_case_reviews(str(write_reviews(tmp_path, [twice])), [])
    assert found["a"].passed


def test_a_folder_with_two_runs_is_refused_and_one_unfinished_is_read(tmp_path: Path) -> None:
    one = write_reviews(tmp_path, *REVIEWS[:2], status="error")
    assert set(read_case_reviews(str(tmp_path), [])[1]) == {"passes", "fails"}
    other = write_reviews(
        tmp_path, reviewed("c", review()), name="other", task_id="other", run_id="other",
        status="error",
    )  # fmt: skip
    with pytest.raises(InputError) as caught:
        read_case_reviews(str(tmp_path), [])
    assert one.name in str(caught.value) and other.name in str(caught.value)


def test_the_review_to_read(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    write_reviews(tmp_path, *REVIEWS)
    done = run("cases", "review", "review.eval", "-o", "kept.jsonl", "--report", "faults.csv")
    assert done.exit_code == 0, done.output
    write_reviews(tmp_path, *REVIEWS, name="broken", status="cancelled")
    broken = run("cases", "review", "broken.eval", "-o", "more.jsonl")
    assert broken.exit_code == 0
    parts = [trimmed(done.output), Path("kept.jsonl").read_text("utf-8")]
    parts += [Path("faults.csv").read_text("utf-8"), trimmed(broken.output)]
    check_golden("cases_review", "\n".join(parts))


@pytest.mark.parametrize("number", [_MAX_SHOWN - 1, _MAX_SHOWN, _MAX_SHOWN + 1])
def test_of_many_cases_that_fail_the_first_are_shown(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.chdir(tmp_path)
    failed = [reviewed(f"c{n:03d}", review("harmful")) for n in range(number)]
    write_reviews(tmp_path, *failed, reviewed("good", review()))
    shown = run("cases", "review", "review.eval", "-o", "kept.jsonl").output
    assert shown.count("│ c0") == min(number, 50)
    assert ("1 more" in shown) == (number > 50)
    assert f"harmful: {number}" in shown


# --- what reviews add up to ---


def reviewed_as(
    case_id: str, user: str, judge: str, passed: float, language: str = "en", **verdicts: float
) -> SampleScore:
    """The score of a review; verdicts that are not named are those of a good case."""
    value: dict[str, Any] = {
        "passed": passed,
        "understandable": 1.0,
        "self_contained": 1.0,
        "personal_data": 0.0,
        "harmful": 0.0,
        "plausible_intent": 1.0,
        "intent_agrees": float(user == judge),
        "user_intent": user,
        "judge_intent": judge,
        "language": language,
        "outcome": "reviewed",
        **verdicts,
    }
    return SampleScore(score=Score(value=value, metadata={}), sample_id=case_id)


def failed_review(case_id: str, mode: str) -> SampleScore:
    value: dict[str, Any] = dict.fromkeys(("passed", *CRITERIA, "intent_agrees"), math.nan)
    value |= {"user_intent": "Leisure", "judge_intent": "", "language": "zh"}
    value["outcome"] = f"unreviewed_{mode}"
    return SampleScore(score=Score(value=value, metadata={"failure_mode": mode}), sample_id=case_id)


def report_of(*scores: SampleScore) -> dict[str, float]:
    metric: Any = case_review_report()
    return dict(metric(list(scores)))


def test_shares_are_over_cases_and_kappa_is_over_reviews() -> None:
    scores = [
        reviewed_as("a", "Leisure", "Leisure", 1.0),
        reviewed_as("a", "Leisure", "Factual QA", 0.0, harmful=1.0),
        reviewed_as("b", "Leisure", "Leisure", 1.0),
        reviewed_as("c", "Factual QA", "Leisure", 0.0, "zh", self_contained=0.0),
        failed_review("d", "unparseable"),
        failed_review("e", "unparseable"),
        failed_review("f", "call_failed"),
    ]
    found = report_of(*scores)
    # Passed: a 1/2, b 1, c 0. Intents agree: a 1/2, b 1, c 0.
    assert (found["cases"], found["reviewed"]) == (7, 4)
    assert (found["passed"], found["intent_agrees"]) == (0.5, 0.5)
    assert found["harmful"] == pytest.approx(0.5 / 3)
    assert found["self_contained"] == pytest.approx(2 / 3)
    share = wilson_interval(0.5, 3)
    assert (found["passed low"], found["passed high"]) == (share.low, share.high)
    assert share.low < 0.5 < share.high
    # Users: L, L, L, F; the judge: L, F, L, L. Agreement 2/4; by chance (3 * 3 + 1) / 16.
    assert found["intent kappa"] == pytest.approx((8 / 16 - 10 / 16) / (6 / 16))
    assert (found["passed language=en"], found["passed language=zh"]) == (0.75, 0)
    assert (found["passed intent=Leisure"], found["passed intent=Factual QA"]) == (0.75, 0)
    assert (found["failures unparseable"], found["failures call_failed"]) == (2, 1)
    groups = [name for name in found if "=" in name]
    assert groups.index("passed intent=Factual QA") < groups.index("passed intent=Leisure")
    assert groups.index("passed language=en") < groups.index("passed language=zh")


def test_without_a_review_there_is_a_headline_only() -> None:
    for scores in ((), (failed_review("a", "refusal"),)):
        found = report_of(*scores)
        assert next(iter(found)) == "passed" and math.isnan(found["passed"])
        assert (found["cases"], found["reviewed"]) == (len(scores), 0)
        assert not any(name.startswith(("harmful", "passed ")) for name in found)


FLAGS = {"understandable": True, "self_contained": True, "personal_data": False, "harmful": False}


@pytest.mark.parametrize(
    ("flags", "user", "judge", "plausible", "faults", "agrees"),
    [
        ({}, "leisure", "leisure", ("leisure",), [], 1),
        ({"understandable": False, "harmful": True}, "leisure", "leisure", ("leisure",),
         ["not understandable", "harmful"], 1),
        ({"self_contained": False, "personal_data": True}, "leisure", "leisure", ("leisure",),
         ["not self contained", "personal data"], 1),
        ({}, "leisure", "api", ("api", "leisure"), [], 0),
        ({}, "leisure", "api", ("api",), ["not plausible intent"], 0),
        # Both are reported as Solve Problem.
        ({}, "solve_professional_problem", "api", ("api",), [], 1),
        ({}, "api", "leisure", ("leisure", "solve_professional_problem"), [], 0),
    ],
)  # fmt: skip
def test_a_case_has_the_faults_that_a_review_names(
    flags: dict[str, bool],
    user: str,
    judge: str,
    plausible: tuple[str, ...],
    faults: list[str],
    agrees: int,
) -> None:
    facts = {"intent_group": RUBRIC.intents[user].group, "language": "en"}
    result = CaseReview({**FLAGS, **flags}, judge, plausible)
    asked: Any = SimpleNamespace(read=SimpleNamespace(result=result), reply="The reply.")
    score = _score(RUBRIC, facts, asked, {"judge": "j"})
    value: Any = score.value
    assert score.metadata is not None and score.metadata["faults"] == faults
    assert (value["passed"], value["intent_agrees"]) == (float(not faults), agrees)
    assert value["plausible_intent"] == float("not plausible intent" not in faults)
    for name, flag in {**FLAGS, **flags}.items():
        assert value[name] == float(flag)
    assert (value["user_intent"], value["judge_intent"]) == (
        RUBRIC.intents[user].group,
        RUBRIC.intents[judge].group,
    )
    assert score.answer == (", ".join(faults) or "passed")
    assert score.explanation == "The reply." and score.metadata["judge"] == "j"


def test_a_review_that_failed_is_no_verdict() -> None:
    facts = {"intent_group": "Leisure", "language": "zh"}
    result = JudgeFailure("unparseable", "no record")
    asked: Any = SimpleNamespace(read=SimpleNamespace(result=result), reply="Hmm.")
    score = _score(RUBRIC, facts, asked, {"judge": "j"})
    value: Any = score.value
    assert math.isnan(value["passed"]) and math.isnan(value["harmful"])
    assert (value["outcome"], value["language"]) == ("unreviewed_unparseable", "zh")
    assert score.reason == "grader_failed"
    assert score.metadata is not None and score.metadata["failure_mode"] == "unparseable"
    assert "no record" in str(score.explanation) and "Hmm." in str(score.explanation)


def test_a_review_is_called_as_the_task_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, Any]] = []

    def scorer(**given: Any) -> Any:
        seen.append(given)
        return case_review(**given)

    monkeypatch.setattr("urs_inspect.survey._review_task.case_review", scorer)
    data = str(write_rows(tmp_path / "c.jsonl", case("a", "Which?"), {"id": "b"}))
    with pytest.raises(InputError):
        urs_case_review(data)
    task = urs_case_review(data, judge_calls={"attempts": 3, "temperature": 0.5}, lenient=True)
    assert len(task.dataset) == 1
    urs_case_review(data, lenient=True)
    assert [(one["attempts"], one["temperature"]) for one in seen[-2:]] == [(3, 0.5), (2, 0.0)]
    view: Any = task.viewer.task_samples_view  # type: ignore[union-attr]
    scales = view.score_color_scales
    bad = {name for name, scale in scales.items() if scale["1"] == "bad"}
    assert bad == {"personal_data", "harmful"}
    assert set(scales) == {"passed", *CRITERIA, "intent_agrees"}
    assert [one.column for one in view.sort] == ["score__case_review__passed"]
    columns = [column.id for column in view.columns if column.id.startswith("score__")]
    assert columns[0] == "score__case_review__passed" and len(columns) == 11


@pytest.mark.parametrize(("models", "fine"), [(0, False), (1, True), (2, False)])
def test_a_review_has_one_judge(models: int, fine: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = ["a", "b"][:models]
    monkeypatch.setattr("urs_inspect.survey._case_review.bound_models", lambda role: bound)
    if fine:
        assert str(the_judge()) == "a"
        return
    with pytest.raises(InputError) as caught:
        the_judge()
    assert "grader" in str(caught.value)


@pytest.mark.parametrize(
    ("languages", "spoken", "of_case", "used"),
    [
        (None, None, "zh", "zh"),
        (None, None, "en", "en"),
        (None, "zh", "en", "zh"),
        (None, None, "fr", "en"),  # there is no prompt in French
        ("[en]", None, "zh", "en"),  # nor are there names of intents in Chinese
    ],
)
def test_the_judge_is_asked_in_a_language_that_there_is(
    languages: str | None,
    spoken: str | None,
    of_case: str,
    used: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[dict[str, Any]] = []
    good = CaseReview(FLAGS, "leisure", ("leisure",))

    async def answered(call: Any, prompt: Any, read: Any, again: str, **given: Any) -> Any:
        seen.append({"again": again, "prompt": prompt, **given})
        marks = SimpleNamespace(result=good, marks={})
        return SimpleNamespace(
            read=marks, asked_again=False, calls=1, temperature_sent=0.5, reply=""
        )

    room = "urs_inspect.survey._case_review"
    monkeypatch.setattr(f"{room}.ask", answered)
    monkeypatch.setattr(f"{room}.the_judge", lambda: "j")
    judge = SimpleNamespace(call=None, name="j", temperature=0.5)
    monkeypatch.setattr(f"{room}.judge_of", lambda *given: judge)
    rubric = None
    if languages:
        rubric = str(tmp_path / "own.yaml")
        Path(rubric).write_text(f"name: own\nversion: '1'\nlanguages: {languages}\n", "utf-8")
    scorer = case_review(rubric=rubric, judge_language=spoken, attempts=5, temperature=0.5)
    state = TaskState(
        model=ModelName("none/none"),
        sample_id="a",
        epoch=1,
        input="Which?",
        messages=[ChatMessageUser(content="Which?")],
        metadata={"language": of_case, "intent_group": "Leisure"},
    )
    found = asyncio.run(scorer(state, Target("")))
    assert found is not None and found.metadata is not None
    assert (found.metadata["judge_language"], seen[0]["attempts"]) == (used, 5)
    assert seen[0]["again"] == REVIEW_AGAIN[used] and "Which?" in seen[0]["prompt"].case
    assert found.metadata["temperature_requested"] == 0.5


def test_who_has_a_report_is_not_told_how_to_get_one(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.jsonl").write_text(lines_of([{"conversation": "hello"}]), encoding="utf-8")
    alone = run("cases", "import", "s.jsonl", "-o", "x.jsonl")
    beside = run("cases", "import", "s.jsonl", "-o", "x.jsonl", "--report", "r.csv")
    assert (alone.exit_code, beside.exit_code) == (1, 1)
    assert alone.output.count("--report") == 2 and "--report" not in beside.output
    assert Path("r.csv").exists() and not Path("x.jsonl").exists()
