"""Tests of `urs_inspect.reports.assistants`."""

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.model import ModelConfig

from tests.reports.assistants.logs import BROKEN, EMPTY, NOTHING, RAG, REFUSED, SEARCH, sample, write_assistant
from tests.reports.intent.judged_logs import JUDGE, answered, judgement, write_judged
from urs_inspect._util import InputError
from urs_inspect.reports.assistants import (
    CHOSEN,
    FACTUAL,
    TRANSLATION,
    AssistantReport,
    Comparison,
    Service,
    _without,
    compare_assistants,
    distinct_services,
    read_assistants,
    sections_of,
    write_files,
)
from urs_inspect.reports.output import Section


def became(path: Path) -> dict[str, str]:
    table = read_assistants([str(path)]).table
    return dict(zip(table["question"], table["became"], strict=True))


def test_what_became_of_answers_is_told_apart(tmp_path: Path) -> None:
    answers: dict[str, float | str] = {
        "a": 7.0,
        "b": EMPTY,
        "c": NOTHING,
        "d": BROKEN,
        "e": REFUSED,
        "f": "cut by a limit",
    }
    write_assistant(tmp_path / "one.eval", answers, RAG)
    assert became(tmp_path) == {
        "a": "scored",
        "b": "empty",
        "c": "found nothing",
        "d": "search or translation failed",
        "e": "refusal",
        "f": "no answer",
    }


def test_services_are_named_by_what_answered(tmp_path: Path) -> None:
    write_assistant(tmp_path / "model.eval", {"a": 1.0})
    write_assistant(tmp_path / "search.eval", {"a": 1.0}, SEARCH)
    write_assistant(tmp_path / "rag.eval", {"a": 1.0}, RAG)
    role = {"translator": ModelConfig(model="p/t"), "grader": ModelConfig(model=JUDGE)}
    by_model = {"assistant": "translator", "translator": "model"}
    write_assistant(
        tmp_path / "model_translator.eval", {"a": 1.0}, by_model, roles={k: [v.model] for k, v in role.items()}
    )
    file = {"assistant": "translator", "translator": "glossary:/home/me/known.jsonl"}
    write_assistant(tmp_path / "file.eval", {"a": 1.0}, file)
    assert set(read_assistants([str(tmp_path)]).table["model"]) == {
        "p/model",
        "search (folder:pages)",
        "p/model, rag (folder:pages)",
        "translator (p/t)",
        "translator (glossary:known.jsonl)",
    }


def test_names_are_equal_only_for_equal_services() -> None:
    one, other = (
        Service("search (folder:p)", {"search": "folder:a/p"}),
        Service("search (folder:p)", {"search": "folder:b/p"}),
    )
    assert distinct_services([one, one]) == ["search (folder:p)"] * 2
    names = distinct_services([one, other, one])
    assert names[0] == names[2] != names[1]
    assert "folder:a/p" in names[0] and "folder:b/p" in names[1]


def test_cases_chosen_by_ids_are_those_of_a_table_where_all_are_such(tmp_path: Path) -> None:
    write_assistant(tmp_path / "factual.eval", {"a": 1.0}, cases="ids")
    text = {"intent": "text_assistant", "intent_group": "Text Assistant"}
    asks = answered("t", judgement(5.0), metadata=text, input="Translate blue into French")
    poem = answered("p", judgement(5.0), metadata=text, input="Write a poem")
    spec = {"task": "urs_inspect/urs_assistants", "metadata": {"cases": "ids"}}
    write_judged(tmp_path / "asks.eval", asks, model="p/1", **spec)  # type: ignore[arg-type]
    write_judged(tmp_path / "both.eval", asks, poem, model="p/2", **spec)  # type: ignore[arg-type]
    table = read_assistants([str(tmp_path)]).table
    kinds = dict(zip(table["model"], table["cases"], strict=True))
    assert kinds == {"p/model": FACTUAL, "p/1": TRANSLATION, "p/2": CHOSEN}


def test_the_later_of_two_runs_counts(tmp_path: Path) -> None:
    early, late = "2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00"
    write_assistant(tmp_path / "late.eval", {"a": 9.0}, SEARCH, created=late)
    write_assistant(tmp_path / "early.eval", {"a": 1.0, "b": 2.0}, SEARCH, created=early)
    found = read_assistants([str(tmp_path)])
    assert list(found.table["final"]) == [9.0]
    assert found.left_out == (
        "early.eval of search (folder:pages) was left out: late.eval is a later run under the same conditions (1 "
        "question; 2 in the one left out).",
    )


def test_a_trial_after_a_whole_run_does_not_replace_it(tmp_path: Path) -> None:
    early, late = "2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00"
    write_assistant(tmp_path / "trial.eval", {"a": 9.0}, SEARCH, created=late)
    write_assistant(tmp_path / "whole.eval", {"a": 1.0, "b": 2.0, "c": 3.0}, SEARCH, created=early)
    found = read_assistants([str(tmp_path)])
    assert sorted(found.table["final"]) == [1.0, 2.0, 3.0]
    [sentence] = found.left_out
    assert sentence.startswith("trial.eval of search (folder:pages) was left out: it is a later run")


def test_what_is_left_out_is_said_with_counts(tmp_path: Path) -> None:
    write_assistant(tmp_path / "good.eval", {"a": 5.0})
    write_assistant(tmp_path / "none.eval", {"a": NOTHING, "b": NOTHING, "c": BROKEN}, SEARCH)
    write_assistant(tmp_path / "half.eval", {"a": 5.0}, model="p/half", status="error")
    write_judged(tmp_path / "urs1.eval", answered("x", judgement(1.0)))
    write_judged(tmp_path / "urs2.eval", answered("x", judgement(1.0)))
    (tmp_path / "broken.eval").write_bytes(b"no log")
    (tmp_path / "empty").mkdir()
    found = read_assistants([str(tmp_path), str(tmp_path / "empty")])
    assert set(found.table["model"]) == {"p/model"}
    said = "\n".join(found.left_out)
    assert (
        "2 logs were left out, not being of urs_inspect/urs_assistants: 2 of urs_inspect/urs (`urs-inspect report`"
        in said
    )
    assert (
        "none.eval of search (folder:pages) was left out: none of its 3 answers has a score (found nothing 2, search "
        "or translation failed 1; such as folder: broken)." in said
    )
    assert "half.eval of p/half was left out: its status is 'error', 1 of 1 samples are done" in said
    assert "broken.eval was left out: cannot read the log" in said
    assert f"{tmp_path / 'empty'} has no logs." in said


def test_nothing_left_is_an_error_that_says_why(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no logs"):
        read_assistants([str(tmp_path)])
    write_judged(tmp_path / "urs.eval", answered("x", judgement(1.0)))
    with pytest.raises(
        InputError, match=r"no finished log of urs_assistants with scored answers in.*\n1 log was left out"
    ):
        read_assistants([str(tmp_path)])
    with pytest.raises(InputError, match="no log"):
        read_assistants([str(tmp_path / "absent")])


def test_simulated_models_are_known_as_such(tmp_path: Path) -> None:
    write_assistant(tmp_path / "a.eval", {"a": 5.0}, SEARCH, judge="urs_simulation/judge")
    assert read_assistants([str(tmp_path)]).simulated
    write_assistant(tmp_path / "b" / "b.eval", {"a": 5.0}, SEARCH)
    assert not read_assistants([str(tmp_path / "b")]).simulated


def test_a_sample_that_failed_has_no_score(tmp_path: Path) -> None:
    from inspect_ai.log import EvalError

    failed = sample("b", 8.0)
    failed.error = EvalError(message="boom", traceback="", traceback_ansi="")
    spec = {"task": "urs_inspect/urs_assistants", "metadata": {"cases": "factual"}}
    write_judged(tmp_path / "a.eval", sample("a", 5.0), failed, **spec)  # type: ignore[arg-type]
    assert became(tmp_path) == {"a": "scored", "b": "error"}


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


def test_numbers_names_and_warnings_are_in_the_files(tmp_path: Path) -> None:
    write_assistant(tmp_path / "m.eval", {"a": 9.0, "b": 5.0}, model="urs_simulation/a|b")
    write_assistant(tmp_path / "s.eval", {"a": 4.0, "b": NOTHING}, SEARCH)
    report = compare_assistants(read_assistants([str(tmp_path)]), rounds=50)
    files = write_files(report, tmp_path / "out")
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    rows = list(csv.DictReader(io.StringIO(texts["assistants.csv"])))
    assert [(row["mean"], row["low"], row["scored"], row["became"]) for row in rows] == [
        ("9.0", "", "2", "scored 2"),
        ("4.0", "", "1", "scored 1, found nothing 1"),
    ]
    [gap] = csv.DictReader(io.StringIO(texts["assistants_differences.csv"]))
    assert (gap["difference"], gap["n"], gap["p"], gap["apart"]) == ("5.0", "1", "", "false")
    assert "urs\\_simulation/a\\|b" in texts["assistants.md"] and "SIMULATION" in texts["assistants.md"]
    found = json.loads(texts["assistants.json"])
    assert found["comparisons"][0]["common"] == 1 and found["rounds"] == 50
    # The same again replaces it; a file of somebody else's does not.
    assert write_files(report, tmp_path / "out") == files
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "assistants.md").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds assistants\.md"):
        write_files(report, tmp_path / "other")
