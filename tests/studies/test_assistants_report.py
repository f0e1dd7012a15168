"""Tests of `urs_inspect.studies._assistants_report`."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.log import EvalError, EvalSample, read_eval_log
from inspect_ai.model import GenerateConfig

from tests.reports.golden_files import check_golden
from tests.reports.judged_logs import JUDGE, answered, judgement, write_judged
from tests.reports.task_logs import (
    BROKEN,
    EMPTY,
    NOTHING,
    RAG,
    REFUSED,
    SEARCH,
    sample,
    write_assistant,
)
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.logs._naming import model_names
from urs_inspect.reports.words._comparison import reasons_apart
from urs_inspect.stats._bootstrap import Resampling
from urs_inspect.studies._assistants import BECAUSE
from urs_inspect.studies._assistants_report import report_assistants
from urs_inspect.studies._compared_assistants import (
    CHOSEN,
    FACTUAL,
    TRANSLATION,
    Comparison,
    compare_assistants,
    read_assistants,
    service_of,
    without,
)

OF_TASK: dict[str, Any] = {"task": "urs_inspect/urs_assistants", "metadata": {"cases": "factual"}}


def test_outcomes_of_answers(tmp_path: Path) -> None:
    answers: dict[str, float | str] = {
        **{
            "scored": 7.0,
            "empty": EMPTY,
            "found nothing": NOTHING,
            "search or translation failed": BROKEN,
        },
        **{"refusal": REFUSED, "no answer": "cut by a limit", "error": 8.0},
    }
    samples = [sample(name, answer) for name, answer in answers.items()]
    samples[-1].error = EvalError(message="boom", traceback="", traceback_ansi="")
    write_judged(tmp_path / "one.eval", *samples, **OF_TASK)
    table, simulated = read_assistants([str(tmp_path)], [])
    assert dict(zip(table["question"], table["became"], strict=True)) == {
        name: name for name in answers
    }
    assert not simulated


def read(folder: Path) -> pd.DataFrame:
    return read_assistants([str(folder)], [])[0]


def test_services_are_named_by_what_answered(tmp_path: Path) -> None:
    by_model = {"kind": "translator", "translator": "model"}
    file = {"kind": "translator", "translator": "glossary:/home/me/known.jsonl"}
    roles = {"translator": ["p/t"], "grader": [JUDGE]}
    for place, own in enumerate(({}, SEARCH, RAG, by_model, file)):
        write_assistant(tmp_path / f"{place}.eval", {"a": 1.0}, own, roles=roles)
    assert set(read(tmp_path)["model"]) == {
        "p/model",
        "search (folder:pages)",
        "p/model, rag (folder:pages)",
        "translator (p/t)",
        "translator (glossary:known.jsonl)",
    }


def test_names_are_equal_only_for_equal_services() -> None:
    one, other = (("search (folder:p)", {"search": f"folder:{folder}/p"}) for folder in "ab")
    assert model_names([one, one]) == ["search (folder:p)"] * 2
    names = model_names([one, other, one])
    assert names[0] == names[2] != names[1]
    assert "folder:a/p" in names[0] and "folder:b/p" in names[1]


def test_cases_chosen_by_ids_are_compared_among_themselves(tmp_path: Path) -> None:
    write_assistant(tmp_path / "ids.eval", {"a": 1.0}, cases="ids")
    write_assistant(tmp_path / "factual.eval", {"a": 1.0}, model="p/1")
    found = compare_assistants(read(tmp_path), Resampling(rounds=50))[0]
    assert [one.cases for one in found] == [FACTUAL, CHOSEN]


def test_the_later_of_two_runs_counts_unless_it_is_a_trial(tmp_path: Path) -> None:
    early, late = "2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00"
    write_assistant(tmp_path / "late.eval", {"a": 9.0}, SEARCH, created=late)
    write_assistant(tmp_path / "early.eval", {"a": 1.0, "b": 2.0}, SEARCH, created=early)
    skipped: list[str] = []
    found, _ = read_assistants([str(tmp_path)], skipped)
    assert list(found["final"]) == [9.0]
    [sentence] = skipped
    assert tells(sentence, "early.eval of search (folder:pages) ... late.eval ... (1 question; 2")
    write_assistant(tmp_path / "early.eval", {"a": 1.0, "b": 2.0, "c": 3.0}, SEARCH, created=early)
    skipped.clear()
    found, _ = read_assistants([str(tmp_path)], skipped)
    assert sorted(found["final"]) == [1.0, 2.0, 3.0]
    assert tells(skipped[0], "late.eval of search (folder:pages) ... later run")


def test_what_is_skipped_is_reported_with_counts(tmp_path: Path) -> None:
    write_assistant(tmp_path / "good.eval", {"a": 5.0})
    write_assistant(tmp_path / "none.eval", {"a": NOTHING, "b": NOTHING, "c": BROKEN}, SEARCH)
    write_assistant(tmp_path / "half.eval", {"a": 5.0}, model="p/half", status="error")
    write_judged(tmp_path / "urs1.eval", answered("x", judgement(1.0)))
    write_judged(tmp_path / "urs2.eval", answered("x", judgement(1.0)))
    (tmp_path / "broken.eval").write_bytes(b"no log")
    (tmp_path / "empty").mkdir()
    skipped: list[str] = []
    found, _ = read_assistants([str(tmp_path), str(tmp_path / "empty")], skipped)
    assert set(found["model"]) == {"p/model"}
    said = "\n".join(skipped)
    for part in (
        (
            "2 logs were left out, not being of urs_inspect/urs_assistants: 2 of urs_inspect/urs"
            " (`urs-inspect report`"
        ),
        (
            "none.eval of search (folder:pages) was left out: none of its 3 answers has a score"
            " (found nothing 2, search or translation failed 1; such as folder: broken)."
        ),
        "half.eval of p/half was left out: its status is 'error', 1 of 1 samples are done",
        "broken.eval was left out: cannot read the log",
    ):
        assert part in said
    assert f"{tmp_path / 'empty'} has no logs." in said


def test_a_report_says_at_its_end_what_was_skipped(tmp_path: Path) -> None:
    write_assistant(tmp_path / "good.eval", {"a": 5.0, "b": 4.0})
    titles = [section.title for section in report_assistants([str(tmp_path)], rounds=20).sections]
    assert "Skipped" not in titles
    write_assistant(tmp_path / "none.eval", {"a": NOTHING}, SEARCH)
    made = report_assistants([str(tmp_path)], rounds=20)
    [place] = [n for n, section in enumerate(made.sections) if section.title == "Skipped"]
    assert "none.eval" in " ".join(made.sections[place].notes)
    assert {section.title for section in made.sections[place + 1 :]} == {"Method"}


def test_nothing_left_is_an_error_with_reasons(tmp_path: Path) -> None:
    write_judged(tmp_path / "urs.eval", answered("x", judgement(1.0)))
    with pytest.raises(
        InputError,
        match=r"urs_assistants.*\n1 log",
    ):
        read_assistants([str(tmp_path)], [])


def compared(folder: Path) -> list[Comparison]:
    return compare_assistants(read(folder), Resampling(rounds=200))[0]


def only(folder: Path) -> Comparison:
    [found] = compared(folder)
    return found


def values(found: Comparison, column: str = "mean") -> list[float]:
    return [estimate.value for estimate in found.services[column]]


def test_means_are_over_the_questions_that_all_have(tmp_path: Path) -> None:
    # The search has a, b, d; the model a, b, c; common are a and b: (9 + 5) / 2 and (4 + 2) / 2.
    write_assistant(tmp_path / "m.eval", {"a": 9.0, "b": 5.0, "c": 1.0, "d": REFUSED})
    write_assistant(tmp_path / "s.eval", {"a": 4.0, "b": 2.0, "c": NOTHING, "d": 10.0}, SEARCH)
    found = only(tmp_path)
    assert (found.cases, found.questions, found.common) == (FACTUAL, 4, 2)
    assert list(found.services["service"]) == ["p/model", "search (folder:pages)"]
    assert values(found) == [7.0, 3.0] and found.services["mean"][0].n == 2
    assert [list(found.services[name]) for name in ("questions", "scored")] == [[4, 4], [3, 3]]
    assert found.outcomes.loc["search (folder:pages)"].to_dict() == {
        "scored": 3,
        "found nothing": 1,
        "refusal": 0,
    }
    # c counts where nothing found is worth 1: (9 + 5 + 1) / 3 and (4 + 2 + 1) / 3.
    assert found.common_with_nothing == 3
    assert values(found, "with_nothing") == pytest.approx((5.0, 7 / 3))
    [gap] = found.pairs
    assert (gap.first, gap.difference.value, gap.significant) == ("p/model", 4.0, False)
    assert math.isnan(found.services["mean"][0].low)  # two questions


def test_only_a_clear_difference_is_significant(tmp_path: Path) -> None:
    names = [f"q{n}" for n in range(20)]
    write_assistant(
        tmp_path / "good.eval", {name: 8.0 + n % 2 for n, name in enumerate(names)}, model="p/good"
    )
    write_assistant(
        tmp_path / "same.eval", {name: 9.0 - n % 2 for n, name in enumerate(names)}, model="p/same"
    )
    write_assistant(
        tmp_path / "s.eval", {name: 2.0 + n % 3 for n, name in enumerate(names)}, SEARCH
    )
    found = only(tmp_path)
    assert list(found.services["service"]) == ["p/good", "p/same", "search (folder:pages)"]
    assert [pair.significant for pair in found.pairs] == [False, True, True]
    assert all(pair.p_holm >= pair.p for pair in found.pairs)
    assert all(mean.low < mean.value < mean.high for mean in found.services["mean"])


def test_epochs_are_averaged_before_anything_else(tmp_path: Path) -> None:
    both = [sample("a", 4.0), sample("a", 8.0), sample("b", 1.0), sample("b", REFUSED)]
    for number, answer in enumerate(both):
        answer.epoch = 1 + number % 2
    write_judged(tmp_path / "a.eval", *both, **OF_TASK)
    found = only(tmp_path)
    # (6 + 1) / 2: what one epoch lacks the other has.
    assert values(found) == [3.5]
    [row] = found.services.to_dict("records")
    assert (row["questions"], row["scored"]) == (2, 2)
    assert found.outcomes.loc["p/model"].to_dict() == {"scored": 3, "refusal": 1}


def test_kinds_of_cases_and_judges_are_never_in_one_table(tmp_path: Path) -> None:
    write_assistant(tmp_path / "1.eval", {"a": 5.0, "b": 4.0}, model="p/1")
    write_assistant(tmp_path / "2.eval", {"a": 5.0, "b": 4.0}, model="p/2")
    write_assistant(tmp_path / "3.eval", {"a": 5.0, "b": 4.0}, model="p/3", judge="p/other")
    write_assistant(tmp_path / "4.eval", {"t": 5.0}, model="p/1", cases="translation")
    found = compared(tmp_path)
    assert [(one.cases, len(one.services)) for one in found] == [
        (FACTUAL, 2),
        (FACTUAL, 1),
        (TRANSLATION, 1),
    ]
    assert reasons_apart(found[1].block.differs_from_first) == [
        "Other judges: p/other, not p/judge."
    ]


NO_BOTH: dict[str, Any] = {"a": 5.0, "b": 4.0}


def test_whom_to_leave_out_is_named(tmp_path: Path) -> None:
    search: dict[str, Any] = {"a": NOTHING, "b": NOTHING, "c": 3.0}
    for name, answers, assistant in (("1", NO_BOTH, {}), ("2", NO_BOTH, {}), ("s", search, SEARCH)):
        write_assistant(
            tmp_path / f"{name}.eval", {"c": REFUSED, **answers}, assistant, model=f"p/{name}"
        )
    found = only(tmp_path)
    assert found.common == 0 and all(map(math.isnan, values(found))) and not found.pairs
    assert found.without == ("search (folder:pages)", 2)


@given(
    st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=8).map(np.array)
)
@settings(max_examples=30)
def test_leaving_out_gives_the_reported_number(scored: "np.ndarray[Any, Any]") -> None:
    names = ["a", "b", "c", "d"]
    left, gained = without(np.where(scored, 5.0, np.nan), names)
    common = sum(all(row) for row in scored)
    # Slow: how many questions the others have without each of them.
    shared = {}
    for name in names:
        kept = [place for place, other in enumerate(names) if other != name]
        shared[name] = sum(all(row[place] for place in kept) for row in scored)
    most = max(shared.values())
    assert gained == (most if most > common else 0)
    assert shared[left] == most if left else most == common


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
    one, other = (report_assistants(order, rounds=100).as_dict() for order in (files, files[::-1]))
    assert one["tables"] == other["tables"]


def test_what_to_leave_out_is_advised_where_nothing_is_common(tmp_path: Path) -> None:
    write_assistant(tmp_path / "1.eval", {"a": 5.0, "b": BROKEN}, model="p/1")
    write_assistant(tmp_path / "2.eval", {"a": 5.0, "b": BROKEN}, model="p/2")
    write_assistant(tmp_path / "s.eval", {"a": NOTHING, "b": 3.0}, SEARCH)
    said = report_assistants([str(tmp_path)], rounds=50).markdown()
    assert tells(said, "Without ... search (folder:pages), ... 1 question")


def test_equal_means_over_few_questions_are_noted(tmp_path: Path) -> None:
    write_assistant(tmp_path / "1.eval", {"a": 5.0, "b": 4.0}, model="p/1")
    write_assistant(tmp_path / "2.eval", {"a": 4.0, "b": 5.0}, model="p/2")
    said = report_assistants([str(tmp_path)], rounds=50).markdown()
    assert tells(said, "1 and 2 share") and tells(said, "no interval")


def test_the_report_to_read(tmp_path: Path) -> None:
    names = [f"q{n}" for n in range(8)]
    for place in range(2):  # equal means
        scores = {name: 8.0 + (n + place) % 2 for n, name in enumerate(names)}
        write_assistant(tmp_path / f"m{place}.eval", {**scores, "x": EMPTY}, model=f"p/{place}|b")
    write_assistant(
        tmp_path / "s.eval",
        {**{name: 2.0 + n % 3 for n, name in enumerate(names)}, "q7": NOTHING, "x": BROKEN},
        SEARCH,
    )
    write_assistant(
        tmp_path / "t1.eval", {"a": 5.0, "b": BROKEN}, cases="translation", judge="p/model"
    )
    write_assistant(
        tmp_path / "t2.eval", {"a": REFUSED, "b": 3.0}, SEARCH, cases="translation", judge="p/model"
    )
    write_assistant(
        tmp_path / "other.eval", {"a": 5.0}, cases="translation", judge="urs_simulation/judge"
    )
    made = report_assistants([str(tmp_path)], rounds=200)
    check_golden("assistants", made.markdown())
    files = [file.name for file in made.write(tmp_path / "out")]
    assert files == [
        "assistants.md",
        "assistants.csv",
        "assistants_differences.csv",
        "assistants.json",
    ]
    table, gaps = (made.tables()[name] for name in ("assistants", "assistants_differences"))
    assert list(table.columns) == [
        *("comparison", "cases", "judge", "service", "mean", "low", "high", "n"),
        *("with_nothing", "with_nothing_low", "with_nothing_high", "with_nothing_n"),
        *("questions", "scored", "became", "because"),
    ]
    assert list(gaps.columns[3:]) == [
        "first",
        "second",
        "difference",
        "low",
        "high",
        "n",
        "p",
        "p_holm",
        "apart",
    ]
    assert made.as_dict()["comparisons"][0]["common"] == 7


def described(folder: Path, assistant: dict[str, Any] | None, **spec: Any) -> tuple[str, Any]:
    """Name and settings of who answered in a log."""
    file = write_assistant(folder / "one.eval", {"a": 1.0}, assistant, **spec)
    return service_of(read_eval_log(file, header_only=True))


ROLES = {"translator": ["p/t"], "other": ["p/o"], "grader": [JUDGE]}


@pytest.mark.parametrize(
    ("assistant", "name", "facts"),
    [
        (None, "p/model", {"temperature": "0.5"}),
        (SEARCH, "search (folder:pages)", {"given": "folder:a/pages"}),
        (
            RAG,
            "p/model, rag (folder:pages)",
            {"temperature": "0.5", "given": "folder:a/pages", "pages": "5"},
        ),
        (
            {**RAG, "pages": 3},
            "p/model, rag (folder:pages)",
            {"temperature": "0.5", "given": "folder:a/pages", "pages": "3"},
        ),
        (
            {"kind": "search", "search": "web_search:exa"},
            "search (web_search:exa)",
            {"given": "web_search:exa"},
        ),
        ({"kind": "translator", "translator": "model"}, "translator (p/t)", {"given": "model"}),
        (
            {"kind": "translator", "translator": "model:other"},
            "translator (p/o)",
            {"given": "model:other"},
        ),
        (
            {"kind": "translator", "translator": "model:gone"},
            "translator (model:gone)",
            {"given": "model:gone"},
        ),
        ({"kind": "translator", "translator": "own"}, "translator (own)", {"given": "own"}),
    ],
)
def test_a_service_has_a_name_and_what_distinguishes_it(
    tmp_path: Path, assistant: dict[str, Any] | None, name: str, facts: dict[str, str]
) -> None:
    spec = {"roles": ROLES, "model_generate_config": GenerateConfig(temperature=0.5)}
    assert described(tmp_path, assistant, **spec) == (name, facts)


def test_services_that_differ_in_folder_or_pages_replace_nothing(tmp_path: Path) -> None:
    other: dict[str, Any] = {**SEARCH, "search": "folder:b/pages"}
    fewer: dict[str, Any] = {**RAG, "pages": 3}
    for place, own in enumerate((SEARCH, other, RAG, fewer)):
        write_assistant(tmp_path / f"{place}.eval", {"a": 1.0 + place}, own)
    found = read(tmp_path)
    assert found["model"].nunique() == 4 and sorted(found["final"]) == [1.0, 2.0, 3.0, 4.0]


def test_runs_over_other_kinds_of_cases_replace_nothing(tmp_path: Path) -> None:
    later = "2026-02-01T00:00:00+00:00"
    write_assistant(tmp_path / "ids.eval", {"a": 1.0}, cases="ids")
    write_assistant(tmp_path / "factual.eval", {"a": 2.0}, created=later)
    assert sorted(read(tmp_path)["cases"]) == [FACTUAL, CHOSEN]


def test_a_log_without_the_search_engine_is_left_out(tmp_path: Path) -> None:
    write_assistant(tmp_path / "good.eval", {"a": 5.0})
    write_assistant(tmp_path / "old.eval", {"a": 5.0}, {"kind": "search"})
    skipped: list[str] = []
    found, _ = read_assistants([str(tmp_path)], skipped)
    assert set(found["model"]) == {"p/model"}
    [sentence] = skipped
    assert "old.eval" in sentence


@pytest.mark.parametrize(
    ("model", "judge", "grader", "simulated"),
    [
        ("p/model", JUDGE, JUDGE, False),
        ("urs_simulation/model", JUDGE, JUDGE, True),
        ("p/model", JUDGE, "urs_simulation/judge", True),
        ("p/model", "urs_simulation/judge", JUDGE, True),  # judged by another one later
    ],
)
def test_simulations_are_noticed(
    tmp_path: Path, model: str, judge: str, grader: str, simulated: bool
) -> None:
    write_assistant(
        tmp_path / "a.eval", {"a": 5.0}, model=model, judge=judge, roles={"grader": [grader]}
    )
    assert read_assistants([str(tmp_path)], [])[1] is simulated


def failing(name: str, reason: str) -> EvalSample:
    """A sample whose search failed for a reason."""
    made = sample(name, BROKEN)
    made.metadata[BECAUSE] = reason
    return made


def test_the_commonest_reason_is_reported_where_nothing_has_a_score(tmp_path: Path) -> None:
    write_assistant(tmp_path / "good.eval", {"a": 5.0})
    reasons = ("no key", "timeout", "timeout", NOTHING)
    samples = [failing(f"q{n}", reason) for n, reason in enumerate(reasons[:3])]
    samples.append(sample("q3", NOTHING))
    write_judged(
        tmp_path / "none.eval", *samples, model="p/none", task_args={"assistant": SEARCH}, **OF_TASK
    )
    skipped: list[str] = []
    read_assistants([str(tmp_path)], skipped)
    [sentence] = skipped
    assert tells(sentence, "none.eval ... 4 answers ... failed 3, found nothing 1")
    assert "timeout" in sentence and "no key" not in sentence


def test_a_pair_has_the_p_value_of_its_test_and_that_after_holm(tmp_path: Path) -> None:
    names = [f"q{n}" for n in range(12)]
    for model, top in (("p/a", 8.0), ("p/b", 7.5), ("p/c", 3.0)):
        scores = {name: top - (n * len(model + str(top))) % 3 / 2 for n, name in enumerate(names)}
        scores["q0"] = 5.0
        write_assistant(tmp_path / f"{model[-1]}.eval", scores, model=model)
    found = only(tmp_path)
    ps = sorted(pair.p for pair in found.pairs)
    # Holm's correction, step by step.
    holm: list[float] = []
    for place, p in enumerate(ps):
        holm.append(min(1.0, max([(len(ps) - place) * p, *holm[-1:]])))
    assert sorted(pair.p_holm for pair in found.pairs) == pytest.approx(holm)
    gaps = report_assistants([str(tmp_path)], rounds=200).tables()["assistants_differences"]
    for column in ("p", "p_holm"):
        assert list(gaps[column]) == [getattr(pair, column) for pair in found.pairs]
    assert list(gaps["apart"]) == [pair.significant for pair in found.pairs]


def test_the_report_of_all_that_is_special(tmp_path: Path) -> None:
    names = [f"q{n}" for n in range(8)]
    references = {"references": {"name": "mine.jsonl", "sha256": "d" * 64}}
    ids = {"cases": "ids"}

    def write(name: str, answers: dict[str, Any], own: Any = None, **others: Any) -> None:
        made = [
            one if isinstance(one, EvalSample) else sample(question, one)
            for question, one in answers.items()
        ]
        spec: dict[str, Any] = {**OF_TASK, **others}
        write_judged(
            tmp_path / f"{name}.eval", *made, task_args={"assistant": own or "model"}, **spec
        )

    def self_judged(name: str, final: float) -> EvalSample:
        return answered(name, judgement(final, self_judged=True), metadata={"intent": "factual_qa"})

    write("good", {name: 9.0 - n % 2 for n, name in enumerate(names)}, model="p/good")
    few = {name: self_judged(name, 7.0 + n % 3) for n, name in enumerate(names[:7])}
    refused = sample("q7", REFUSED)
    assert refused.scores is not None
    refused.scores["intent_judge"].metadata = {
        **(refused.scores["intent_judge"].metadata or {}),
        "self_judged": True,  # but without a score
    }
    few["q7"] = refused
    few["own"] = sample("own", EMPTY)
    write("few", few, model="p/few")
    by_search: dict[str, Any] = {name: 2.0 + n % 2 for n, name in enumerate(names)}
    by_search |= {"q0": NOTHING, "q1": failing("q1", "no key")}
    by_search |= {name: failing(name, "timeout") for name in ("q2", "q3")}
    write("search", by_search, SEARCH, model="none/none")
    write("rag", dict.fromkeys(names, 6.0), RAG, model="p/good")
    # Cases of other references, and one service alone that judged none of its own.
    write("ids1", {"a": 5.0, "b": 6.0, "c": 4.0}, model="p/good", metadata={**ids, **references})
    write("ids2", {"a": 4.0, "b": self_judged("b", 6.0)}, model="p/few", metadata=ids)
    write("ids3", {"a": 1.0}, model="p/last", metadata=ids)
    made = report_assistants([str(tmp_path)], rounds=200, level=0.9, seed=3, command="cmd")
    check_golden("assistants_special", made.markdown())
    facts = made.as_dict()
    assert [one["common_without"] for one in facts["comparisons"]] == [7, None, None]
    assert facts["comparisons"][0]["without"] == ["search (folder:pages)"]
    assert facts["comparisons"][0]["self_judged"]["p/few"] == 7
    assert (facts["level"], facts["rounds"], facts["seed"], facts["command"]) == (
        0.9,
        200,
        3,
        "cmd",
    )
    table = made.tables()["assistants"].set_index(["cases", "service"])
    row: Any = table.loc[(FACTUAL, "search (folder:pages)")]
    assert row["because"] == "timeout"
    assert row["became"] == "scored 4, search or translation failed 3, found nothing 1"


def test_the_best_can_be_the_one_to_leave_out(tmp_path: Path) -> None:
    write_assistant(tmp_path / "1.eval", {"a": 5.0, "b": 4.0, "c": 1.0}, model="p/1")
    write_assistant(tmp_path / "2.eval", {"a": 5.0, "b": 4.0, "c": 2.0}, model="p/2")
    write_assistant(tmp_path / "s.eval", {"a": NOTHING, "b": NOTHING, "c": 9.0}, SEARCH)
    found = only(tmp_path)
    assert list(found.services["service"]) == ["search (folder:pages)", "p/2", "p/1"]
    assert found.without == ("search (folder:pages)", 3)


def test_empty_answers_alone_have_no_judge(tmp_path: Path) -> None:
    write_assistant(tmp_path / "1.eval", {"a": EMPTY, "b": EMPTY})
    assert tells(report_assistants([str(tmp_path)], rounds=50).markdown(), "Judge: none.")
