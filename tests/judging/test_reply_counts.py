"""Counts of replies by judge, and the warning where a judge leaves out the key."""

from types import SimpleNamespace

import pytest

from tests.telling import tells
from urs_inspect.judging._reply_counts import (
    BY_JUDGE,
    UnkeyedWatch,
    counts_of,
    header_rows,
    sentences,
    summed,
)


def reply(**counts: bool) -> SimpleNamespace:
    names = ("unkeyed", "asked_again", "near_key", "several_records")
    return SimpleNamespace(**{name: counts.get(name, False) for name in names})


def metadata(judge: str, *replies: SimpleNamespace) -> dict[str, object]:
    return {BY_JUDGE: counts_of(judge, replies)}


def test_counts_are_summed_by_judge_and_become_rows_of_the_header() -> None:
    first = metadata("a", reply(unkeyed=True), reply())
    second = metadata("a", reply(near_key=True, asked_again=True))
    counts = summed([first, None, second, {}])
    assert counts == {"a": {"replies": 3, "unkeyed": 1, "near_key": 1, "asked_again": 1}}
    assert header_rows(counts) == {"unkeyed": 1, "asked again": 1, "near key": 1}
    with_other = summed([first, metadata("b", reply(several_records=True)), metadata("b", reply())])
    assert header_rows(with_other) == {"unkeyed a": 1, "several records b": 1}
    assert header_rows(summed([metadata("a", reply())])) == {}


def test_judges_are_spoken_of_in_the_order_of_their_names() -> None:
    judges = ("c", "a", "b")
    said = sentences(summed([metadata(judge, reply(near_key=True)) for judge in judges]))
    assert [sentence.split(":")[0] for sentence in said] == [
        "Replies of a",
        "Replies of b",
        "Replies of c",
    ]
    assert sentences(summed([metadata("a", reply())])) == []


@pytest.mark.parametrize(("unkeyed", "warned"), [(5, False), (6, True)])
def test_above_five_percent_without_the_key_is_a_warning(unkeyed: int, warned: bool) -> None:
    replies = [reply(unkeyed=place < unkeyed) for place in range(100)]
    said = sentences(summed([metadata("a", *replies)]))
    assert f"unkeyed {unkeyed}" in said[0]
    assert any(tells(sentence, "WARNING: a left out") for sentence in said) == warned


def test_a_run_warns_once_of_each_judge_that_leaves_out_the_key() -> None:
    watch = UnkeyedWatch()
    assert not watch.note(metadata("a", reply(unkeyed=True))) and not watch.note(
        metadata("a", reply(unkeyed=True))
    )
    [warning] = watch.note(metadata("a", reply(unkeyed=True)))
    assert "3 of 3 replies" in warning
    assert not watch.note(metadata("a", reply(unkeyed=True)))
    assert not watch.note(metadata("b", *[reply(unkeyed=place < 3) for place in range(60)]))
