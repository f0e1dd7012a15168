"""What is said of models and assistants."""

from pathlib import Path

from tests.reports.assistants.logs import BROKEN, EMPTY, NOTHING, SEARCH, write_assistant
from urs_inspect.reports.assistants.answers import read_assistants
from urs_inspect.reports.assistants.comparison import compare_assistants
from urs_inspect.reports.assistants.sections import sections_of
from urs_inspect.reports.sections import Section


def sections(folder: Path) -> list[Section]:
    return sections_of(compare_assistants(read_assistants([str(folder)]), rounds=100))


def said(folder: Path) -> str:
    return "\n".join(line for section in sections(folder) for line in (section.title, *section.lines))


def test_the_number_of_common_questions_stands_beside_what_each_has(tmp_path: Path) -> None:
    write_assistant(tmp_path / "m.eval", {"a": 9.0, "b": 5.0, "c": EMPTY})
    write_assistant(tmp_path / "s.eval", {"a": 4.0, "b": NOTHING, "c": BROKEN}, SEARCH)
    scores, became, gaps, published, *_ = sections(tmp_path)
    # Common: a. Where nothing found is worth 1: a and b, (9 + 5) / 2 and (4 + 1) / 2.
    assert scores.tables[0].rows == (
        ("1", "p/model", "9.00", "–", "3 of 3", "7.00"),
        ("2", "search (folder:pages)", "4.00", "–", "1 of 3", "2.50"),
    )
    assert "Means are over the 1 question of 3 that all 2 have a score for." in scores.lines
    assert "Over so few questions there is no interval." in scores.lines
    assert "p/model has the highest mean, but cannot be told apart from search (folder:pages)." in scores.lines
    assert became.tables[0].headings[1:] == (
        "answers",
        "scored",
        "empty",
        "found nothing",
        "search or translation failed",
    )
    assert [row[1:] for row in became.tables[0].rows] == [("3", "2", "1", "0", "0"), ("3", "1", "0", "1", "1")]
    assert "search (folder:pages) failed 1 time: folder: broken" in became.lines
    assert gaps.tables[0].rows[0][:3] == ("1 and 2", "cannot tell apart", "+5.00")
    assert published.title == "Published in the paper with its judge (GPT-4); not comparable row by row"
    assert ("GPT-4", "8.63") in published.tables[0].rows


def test_nothing_in_common_is_said_with_advice(tmp_path: Path) -> None:
    write_assistant(tmp_path / "1.eval", {"a": 5.0, "b": BROKEN}, model="p/1")
    write_assistant(tmp_path / "2.eval", {"a": 5.0, "b": BROKEN}, model="p/2")
    write_assistant(tmp_path / "s.eval", {"a": NOTHING, "b": 3.0}, SEARCH)
    text = said(tmp_path)
    assert "No question of 2 questions has a score from all 3, so that there are no means." in text
    assert "Leave out the logs of search (folder:pages): the others share 1 question." in text
    (tmp_path / "2.eval").unlink()
    assert "Nothing can be compared by leaving some out." in said(tmp_path)


def test_one_alone_and_its_own_judge_are_said(tmp_path: Path) -> None:
    write_assistant(tmp_path / "t.eval", {"a": 5.0}, cases="translation")
    text = said(tmp_path)
    assert "One alone, over 1 of 1 question; nothing to compare it with." in text
    assert "Table 15." in text and "Table 14." not in text


def test_equal_means_are_said_to_be_equal(tmp_path: Path) -> None:
    write_assistant(tmp_path / "1.eval", {"a": 5.0, "b": 4.0}, model="p/1")
    write_assistant(tmp_path / "2.eval", {"a": 4.0, "b": 5.0}, model="p/2")
    write_assistant(tmp_path / "3.eval", {"a": 4.0, "b": 4.0}, model="p/3")
    assert "p/1 has the highest mean, the same as p/2, but cannot be told apart from p/2 and p/3." in said(tmp_path)
