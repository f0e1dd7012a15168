"""Who rates what, and in which order."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.annotation.samples import rating
from tests.rating.samples import answer, answers, campaign
from urs_inspect._util import InputError
from urs_inspect.annotation._ratings import read_ratings
from urs_inspect.rating._campaign import RatingSession


def rate(session: RatingSession, final: int = 5) -> str:
    """Rate what is on the page; the id of the answer."""
    item = session.current
    assert item is not None
    wanted = session.campaign.criteria(item.answer)
    session.rate(item.id, final, dict.fromkeys(wanted, final), 1.0)
    return item.id


def test_answers_come_in_the_order_of_the_draw_and_a_restart_goes_on(tmp_path: Path) -> None:
    first = campaign(tmp_path, "me")
    [session] = first.sessions
    order = [drawn.answer.id for drawn in first.queue]
    assert [rate(session) for _ in range(4)] == order[:4]
    first.close()
    again = campaign(tmp_path, "me")
    [session] = again.sessions
    assert (session.done, session.total) == (4, 6)
    assert [rate(session) for _ in range(2)] == order[4:]
    assert session.current is None
    found = read_ratings([tmp_path])
    assert [each.threshold for each in found.ratings] == [drawn.threshold for drawn in again.queue]
    assert [each.rate for each in found.ratings] == pytest.approx(
        [drawn.rate for drawn in again.queue], rel=1e-4
    )
    again.close()


def test_each_answer_gets_its_number_of_raters(tmp_path: Path) -> None:
    with_two = campaign(tmp_path, "ann", "ben", "cat", raters=2)
    ann, ben, cat = with_two.sessions
    assert rate(ann) == rate(ben)
    second = with_two.queue[1].answer.id
    assert cat.current is not None
    assert cat.current.id == second  # the first one has two
    while busy := [session for session in (ann, ben, cat) if session.current]:
        rate(busy[-1])
    by_count = with_two.report()[0].by_count
    assert dict(by_count) == {2: 6}
    assert sum(session.done for session in (ann, ben, cat)) == 12
    with_two.close()


def test_two_people_are_not_given_the_same_answer_at_once_unless_nothing_else_is_left(
    tmp_path: Path,
) -> None:
    both = campaign(tmp_path, "ann", "ben", of=answers(2))
    ann, ben = both.sessions
    first, second = (drawn.answer.id for drawn in both.queue)
    assert ann.current is not None
    assert ann.current.id == first
    assert [ann.current.id, ben.current.id if ben.current else ""] == [first, second]
    rate(ben)
    assert rate(ben) == first  # ann may have left
    chosen = dict.fromkeys(both.criteria(both.queue[0].answer), 4)
    ann.rate(first, 4, chosen, 1.0)  # still on ann's page: nothing that was done is lost
    assert dict(both.report()[0].by_count) == {1: 1, 2: 1}
    both.close()


def test_ratings_of_people_who_are_not_here_count_as_well(tmp_path: Path) -> None:
    before = campaign(tmp_path, "ann")
    rated = rate(before.sessions[0])
    before.close()
    after = campaign(tmp_path)  # anybody
    ben = after.session("ben")
    assert ben.current is not None
    assert ben.current.id != rated
    assert ben.total == 5
    after.close()


def test_an_undo_shows_the_answer_again_with_its_scores(tmp_path: Path) -> None:
    one = campaign(tmp_path, "me")
    [session] = one.sessions
    first = rate(session, 7)
    rate(session, 3)
    session.undo(first)
    session.undo(first)  # repeating it does no harm
    assert session.current is not None
    assert session.current.id == first
    assert session.taken_back is not None
    assert session.taken_back.final == 7
    assert rate(session, 9) == first
    assert {each.final for each in read_ratings([tmp_path]).ratings} == {3, 9}
    one.close()


def test_who_cannot_tell_gives_no_score_and_others_may_still_rate(tmp_path: Path) -> None:
    both = campaign(tmp_path, "ann", "ben", of=answers(2), checks=1.0)
    ann, ben = both.sessions
    assert ann.current is not None
    unrated = ann.current.id
    ann.cannot_tell(unrated, 2.0)
    assert (ann.done, both.raters_of[unrated]) == (1, set())
    assert rate(ann) != unrated
    assert rate(ben) == unrated
    assert all(not item.check or item.answer.id != unrated for item in ann._in_order())
    reading = read_ratings([tmp_path])
    assert [(one.annotator, one.answer_id) for one in reading.cannot_tell] == [("ann", unrated)]
    assert ("ann", unrated) not in [(one.annotator, one.answer_id) for one in reading.ratings]
    agreement, _ = both.report()
    assert [(person.rater, person.cannot_tell) for person in agreement.raters] == [
        ("ann", 1),
        ("ben", 0),
    ]
    ann.undo(unrated)
    assert ann.done == 1
    assert not read_ratings([tmp_path]).cannot_tell
    both.close()


def test_checks_come_later_and_are_rated_once(tmp_path: Path) -> None:
    one = campaign(tmp_path, "me", of=answers(30), checks=0.4)
    [session] = one.sessions
    total = session.total
    order = []
    while session.current:
        order.append(rate(session))
    checks = [item for item in order if item.endswith("-check")]
    assert len(order) == len(set(order)) == total == 30 + len(checks)
    assert one.sessions[0].checks == len(checks)
    assert 5 <= len(checks) <= 20
    gaps = [order.index(item) - order.index(item.removesuffix("-check")) for item in checks]
    assert min(gaps[:-5]) > 10  # those at the end have nothing else before them
    found, reading = one.report()
    assert (found.ratings, len(reading.checks)) == (30, len(checks))
    one.close()
    everything = campaign(tmp_path / "other", "me", checks=1.0)
    assert everything.sessions[0].total == 12
    everything.close()


@pytest.mark.parametrize(
    ("criteria", "words"),
    [
        ({}, "clarity, got none"),
        ({"clarity": 5, "nonsense": 5}, "clarity, got clarity, nonsense"),
    ],
)
def test_scores_that_do_not_fit_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, criteria: dict[str, int], words: str
) -> None:
    mine = campaign(tmp_path, "me")
    monkeypatch.setattr(mine, "criteria", lambda _: ("clarity",))
    [session] = mine.sessions
    assert session.current is not None
    with pytest.raises(InputError, match=words):
        session.rate(session.current.id, 5, criteria, 1.0)
    with pytest.raises(InputError, match=r"answer 'x'.*not recorded"):
        session.rate("x", 5, {"clarity": 5}, 1.0)
    assert session.done == 0
    mine.close()


def test_without_criteria_only_the_final_score_is_asked(tmp_path: Path) -> None:
    one = campaign(tmp_path, "me", final_only=True)
    [session] = one.sessions
    rate(session)
    [only] = read_ratings([tmp_path]).ratings
    assert only.criteria == {}
    one.close()


def test_ratings_of_other_answers_stay_and_do_not_count(tmp_path: Path) -> None:
    changed = answer(0, text="Another text.")
    (tmp_path / "me.jsonl").write_text(rating(changed, 3).to_line() + "\n", "utf-8")
    one = campaign(tmp_path, "me")
    [session] = one.sessions
    assert (session.done, session.elsewhere, session.total) == (0, 1, 6)
    assert one.report()[0].ratings == 0
    one.close()


def test_the_page_is_chinese_where_all_questions_are(tmp_path: Path) -> None:
    chinese = replace(answer(0), language="zh")
    for of, language in (([chinese], "zh"), ([chinese, answer(1)], "en")):
        one = campaign(tmp_path, of=of)
        assert one.language == language
        one.close()


def test_a_check_is_due_after_ten_other_answers(tmp_path: Path) -> None:
    made = campaign(tmp_path, of=answers(14), checks=1.0, final_only=True)
    session = made.session("ann")
    came = []
    for number in range(13):
        item = session.current
        assert item is not None
        came.append(item.check)
        session.rate(item.id, 5, {}, 1.0)
        assert session.done == number + 1
    # Ten come between; a check is one of those that come between the second answer and its own.
    assert came == [False] * 11 + [True, True]
    made.close()


def test_who_cannot_tell_after_all_leaves_the_answer_to_others(tmp_path: Path) -> None:
    made = campaign(tmp_path, of=answers(1), raters=1, final_only=True)
    session = made.session("ann")
    first = session.current
    assert first is not None
    session.rate(first.id, 5, {}, 1.0)
    other = made.session("ben")
    came = [other.current]
    session.cannot_tell(first.id, 1.0)
    came.append(other.current)
    assert [item and item.id for item in came] == [None, first.id]
    made.close()
