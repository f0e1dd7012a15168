"""Null answers, and new instructions by a generator: who is asked, what is sent, and what is kept
of the reply.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.scorer import includes

from tests.tasks.scripted import Reply, Script, output, run, samples_of
from tests.telling import tells
from urs_inspect.solvers import NULL_ANSWERS, evolve_instruction, null_answer


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every null answer to one question in three languages, and no call of the model."""
    model = Script("never asked")
    samples = [
        Sample(
            id=f"{kind} {code}",
            input="Why?",
            target=" So.\n",
            metadata={"null_answer": kind, "language": code},
        )
        for kind in NULL_ANSWERS
        for code in ("en", "zh", "de")
    ]
    task = Task(dataset=MemoryDataset(samples), solver=null_answer(), scorer=includes())
    log = run(task, tmp_path_factory.mktemp("null"), model=model.model("subject"), grader=None)
    assert log.status == "success" and model.seen == []
    assert all(sample.messages[-1].text == sample.output.completion for sample in samples_of(log))
    return {str(sample.id): sample.output.completion for sample in samples_of(log)}


def test_there_are_four_kinds_of_null_answers(answers: dict[str, str]) -> None:
    assert NULL_ANSWERS == ("constant", "empty", "reference", "injection")
    assert (answers["empty en"], answers["reference en"]) == ("", " So.\n")
    assert len({answers[f"constant {code}"] for code in ("en", "zh")}) == 2


def test_a_language_without_texts_of_its_own_is_given_english_ones(answers: dict[str, str]) -> None:
    assert all(answers[f"{kind} de"] == answers[f"{kind} en"] for kind in NULL_ANSWERS)


REPLY = json.dumps({"instruction": "What drives the winds?", "answer": "Heat."})


def evolved(log_dir: Path, role: Any, turns: list[int], **options: Any) -> EvalLog:
    facts = {"scenario": "understanding"}
    samples = [
        Sample(id=f"s{place}", input="Why?", target="So.", metadata={**facts, "turn": turn})
        for place, turn in enumerate(turns)
    ]
    [log] = eval(
        Task(dataset=MemoryDataset(samples), solver=evolve_instruction()),
        model="none/none",
        model_roles={} if role is None else {"generator": role},
        display="log",
        log_dir=str(log_dir),
        log_realtime=False,
        **options,
    )
    return log


def test_the_turn_decides_which_generator_is_asked(tmp_path: Path) -> None:
    scripts = [Script(REPLY), Script(REPLY), Script(REPLY)]
    models = [script.model(name) for script, name in zip(scripts, "abc", strict=True)]
    log = evolved(tmp_path, models, [0, 1, 2, 3, 7])
    assert log.status == "success", log.error
    asked = [sample.store["evolution"]["generator"] for sample in samples_of(log)]
    assert asked == ["mockllm/a", "mockllm/b", "mockllm/c", "mockllm/a", "mockllm/b"]
    assert [len(script.seen) for script in scripts] == [2, 2, 1]


def test_the_static_part_comes_first_and_the_reply_is_kept(tmp_path: Path) -> None:
    script = Script(REPLY)
    [sample] = samples_of(
        evolved(tmp_path, script.model("a"), [5])
    )  # one generator is asked every time
    [[system, user]] = script.seen
    assert (system.role, user.role) == ("system", "user")
    assert "Why?" not in system.text and "<given_instruction>\nWhy?\n" in user.text
    assert "<given_answer>\nSo.\n" in user.text
    assert sample.output.completion == REPLY
    assert [message.role for message in sample.messages] == ["system", "user", "assistant"]
    kept = sample.store["evolution"]
    assert (kept["usable"], kept["instruction"], kept["answer"]) == (
        True,
        "What drives the winds?",
        "Heat.",
    )
    assert (
        len(kept["prompt_sha256"]) == 64 and kept["prompt_version"] == "evolution 1, understanding"
    )


def test_after_a_refused_reply_the_generator_is_asked_once_more_with_the_reason(
    tmp_path: Path,
) -> None:
    script = Script([json.dumps({"instruction": "Why?", "answer": "So."}), REPLY])
    [sample] = samples_of(evolved(tmp_path, script.model("a"), [0]))
    kept = sample.store["evolution"]
    assert (kept["usable"], kept["instruction"], kept["calls"]) == (
        True,
        "What drives the winds?",
        2,
    )
    first, second = script.seen
    assert [message.role for message in second] == ["system", "user", "assistant", "user"]
    assert second[:2] == first and tells(second[-1].text, "the one ... given")


@pytest.mark.parametrize(
    ("replies", "mode", "calls"),
    [
        (["No.", "No."], "unparseable", 2),
        (["", REPLY], None, 2),
        (["No.", RuntimeError("gone")], "unparseable", 2),
        ([RuntimeError("gone"), REPLY], "call_failed", 1),
        ([output(REPLY, "content_filter"), REPLY], "content_filter", 1),
    ],
)
def test_what_a_second_call_cannot_mend_stays_refused(
    replies: list[Reply], mode: str | None, calls: int, tmp_path: Path
) -> None:
    script = Script(replies)
    [sample] = samples_of(evolved(tmp_path, script.model("a"), [0]))
    kept = sample.store["evolution"]
    assert (kept.get("mode"), kept["calls"], len(script.seen)) == (mode, calls, calls)


def test_a_failed_call_is_noted(tmp_path: Path) -> None:
    log = evolved(tmp_path, Script(RuntimeError("gone " * 500)).model("a"), [0])
    assert log.status == "success"
    kept = samples_of(log)[0].store["evolution"]
    assert (kept["usable"], kept["mode"]) == (False, "call_failed")
    assert kept["detail"].startswith("RuntimeError: gone gone") and len(kept["detail"]) <= 500


def test_a_limit_of_the_harness_still_ends_the_sample(tmp_path: Path) -> None:
    [sample] = samples_of(evolved(tmp_path, Script(REPLY).model("a"), [0], token_limit=1))
    assert sample.limit is not None and sample.limit.type == "token"
