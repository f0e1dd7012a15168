"""Which logs count, who answered, and what became of answers."""

from pathlib import Path

import pytest
from inspect_ai.model import ModelConfig

from tests.reports.assistants.logs import BROKEN, EMPTY, NOTHING, RAG, REFUSED, SEARCH, sample, write_assistant
from tests.reports.intent.judged_logs import JUDGE, answered, judgement, write_judged
from urs_inspect.errors import InputError
from urs_inspect.reports.assistants.answers import CHOSEN, FACTUAL, TRANSLATION, read_assistants
from urs_inspect.reports.assistants.services import Service, distinct_services


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
