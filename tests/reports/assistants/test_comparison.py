"""Means over common questions, worked out by hand and by a slow look at each question."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reports.assistants.logs import NOTHING, RAG, REFUSED, SEARCH, sample, write_assistant
from tests.reports.intent.judged_logs import write_judged
from urs_inspect.reports.assistants.answers import FACTUAL, TRANSLATION, read_assistants
from urs_inspect.reports.assistants.comparison import _without, compare_assistants
from urs_inspect.reports.assistants.report import AssistantReport, Comparison


def report(folder: Path) -> AssistantReport:
    return compare_assistants(read_assistants([str(folder)]), rounds=200)


def only(folder: Path) -> Comparison:
    [found] = report(folder).comparisons
    return found


def test_means_are_over_the_questions_that_all_have(tmp_path: Path) -> None:
    # The search has a, b, d; the model a, b, c; common are a and b: (9 + 5) / 2 and (4 + 2) / 2.
    write_assistant(tmp_path / "m.eval", {"a": 9.0, "b": 5.0, "c": 1.0, "d": REFUSED})
    write_assistant(tmp_path / "s.eval", {"a": 4.0, "b": 2.0, "c": NOTHING, "d": 10.0}, SEARCH)
    found = only(tmp_path)
    assert (found.cases, found.questions, found.common) == (FACTUAL, 4, 2)
    model, search = found.services
    assert (model.service, model.mean.value, model.mean.n) == ("p/model", 7.0, 2)
    assert (search.service, search.mean.value) == ("search (folder:pages)", 3.0)
    assert [(one.questions, one.scored) for one in found.services] == [(4, 3), (4, 3)]
    assert search.became == {"scored": 3, "found nothing": 1}
    # c counts where nothing found is worth 1: (9 + 5 + 1) / 3 and (4 + 2 + 1) / 3.
    assert found.common_with_nothing == 3
    assert (model.with_nothing.value, search.with_nothing.value) == pytest.approx((5.0, 7 / 3))
    [gap] = found.differences
    assert (gap.first, gap.difference.value, gap.apart) == ("p/model", 4.0, False)
    assert math.isnan(model.mean.low)  # two questions


def test_a_clear_difference_is_told_apart_and_an_unclear_one_is_not(tmp_path: Path) -> None:
    names = [f"q{n}" for n in range(20)]
    write_assistant(tmp_path / "good.eval", {name: 8.0 + n % 2 for n, name in enumerate(names)}, model="p/good")
    write_assistant(tmp_path / "same.eval", {name: 9.0 - n % 2 for n, name in enumerate(names)}, model="p/same")
    write_assistant(tmp_path / "s.eval", {name: 2.0 + n % 3 for n, name in enumerate(names)}, SEARCH)
    found = only(tmp_path)
    assert [one.service for one in found.services] == ["p/good", "p/same", "search (folder:pages)"]
    assert [gap.apart for gap in found.differences] == [False, True, True]
    assert all(gap.p_holm >= gap.p for gap in found.differences)
    assert all(one.mean.low < one.mean.value < one.mean.high for one in found.services)


def test_epochs_are_averaged_before_anything_else(tmp_path: Path) -> None:
    both = [sample("a", 4.0), sample("a", 8.0), sample("b", 1.0), sample("b", REFUSED)]
    for number, answer in enumerate(both):
        answer.epoch = 1 + number % 2
    spec: dict[str, Any] = {"task": "urs_inspect/urs_assistants", "metadata": {"cases": "factual"}}
    write_judged(tmp_path / "a.eval", *both, **spec)
    [one] = only(tmp_path).services
    # (6 + 1) / 2: what one epoch lacks the other has.
    assert (one.mean.value, one.questions, one.scored) == (3.5, 2, 2)
    assert one.became == {"scored": 3, "refusal": 1}


def test_kinds_of_cases_and_judges_are_never_in_one_table(tmp_path: Path) -> None:
    write_assistant(tmp_path / "1.eval", {"a": 5.0, "b": 4.0}, model="p/1")
    write_assistant(tmp_path / "2.eval", {"a": 5.0, "b": 4.0}, model="p/2")
    write_assistant(tmp_path / "3.eval", {"a": 5.0, "b": 4.0}, model="p/3", judge="p/other")
    write_assistant(tmp_path / "4.eval", {"t": 5.0}, model="p/1", cases="translation")
    found = report(tmp_path).comparisons
    assert [(one.cases, len(one.services)) for one in found] == [(FACTUAL, 2), (FACTUAL, 1), (TRANSLATION, 1)]
    assert found[1].apart_because == ("Other judges: p/other, not p/judge.",)


def test_nothing_in_common_names_whom_to_leave_out(tmp_path: Path) -> None:
    write_assistant(tmp_path / "1.eval", {"a": 5.0, "b": 4.0, "c": REFUSED}, model="p/1")
    write_assistant(tmp_path / "2.eval", {"a": 5.0, "b": 4.0, "c": 3.0}, model="p/2")
    write_assistant(tmp_path / "s.eval", {"a": NOTHING, "b": NOTHING, "c": 3.0}, SEARCH)
    found = only(tmp_path)
    assert (found.common, found.differences) == (0, ())
    assert all(math.isnan(one.mean.value) for one in found.services)
    assert found.without is not None
    assert (found.without.services, found.without.common) == (("search (folder:pages)",), 2)


def test_two_that_lack_the_same_questions_are_left_out_together(tmp_path: Path) -> None:
    write_assistant(tmp_path / "1.eval", {"a": 5.0, "b": 4.0}, model="p/1")
    write_assistant(tmp_path / "2.eval", {"a": 5.0, "b": 4.0}, model="p/2")
    write_assistant(tmp_path / "s.eval", {"a": 1.0, "b": NOTHING}, SEARCH)
    write_assistant(tmp_path / "r.eval", {"a": 2.0, "b": NOTHING}, RAG)
    found = only(tmp_path)
    assert found.common == 1
    assert found.without is not None
    assert set(found.without.services) == {"search (folder:pages)", "p/model, rag (folder:pages)"}
    assert found.without.common == 2


@given(
    st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=8).map(np.array),
)
@settings(max_examples=50)
def test_leaving_out_gives_the_number_that_is_said(scored: "np.ndarray[Any, Any]") -> None:
    finals = np.where(scored, 5.0, np.nan)
    names = ["a", "b", "c", "d"]
    found = _without(finals, names)
    common = sum(all(row) for row in scored)
    if found is None:
        # Slow: every two of the four share no more than all.
        pairs = [(i, j) for i in range(4) for j in range(i)]
        assert any(sum(row[i] and row[j] for row in scored) == common for i, j in pairs)
        return
    kept = [n for n, name in enumerate(names) if name not in found.services]
    assert len(kept) >= 2
    assert found.common == sum(all(row[one] for one in kept) for row in scored) > common


def test_the_order_of_logs_changes_nothing(tmp_path: Path) -> None:
    names = [f"q{n}" for n in range(8)]
    files = [
        write_assistant(
            tmp_path / f"{n}.eval",
            {name: float(1 + (n + k * (n + 1)) % 9) for k, name in enumerate(names)},
            model=f"p/{n}",
        )
        for n in range(3)
    ]
    one, other = (compare_assistants(read_assistants(order), rounds=100) for order in (files, files[::-1]))
    assert one.comparisons[0].services == other.comparisons[0].services
    assert one.comparisons[0].differences == other.comparisons[0].differences
