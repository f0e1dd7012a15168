"""Self-preference in ordinary runs: of a panel, or of several judges of the same answers."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.model import ChatMessage, get_model

from tests.reports.crossval.grids import BOOTSTRAP
from tests.tasks.scripted import Script, run
from urs_inspect import urs
from urs_inspect.reports.crossval.judged_answers import read_judged_answers
from urs_inspect.scorers import intent_judge

CASES = 3


def judge(by_model: dict[str, int]) -> Script:
    """A judge that gives each model's answers one score."""

    def reply(messages: list[ChatMessage]) -> str:
        text = messages[1].text
        return next(f'{{"Final Score": {number}}}' for name, number in by_model.items() if f"by {name}." in text)

    return Script(reply)


def answers(tmp_path: Path, name: str, graders: dict[str, Script], **options: Any) -> EvalLog:
    models = [script.model(judging) for judging, script in graders.items()]
    return run(
        urs(dataset="sample", **options),
        tmp_path / "logs",
        model=Script(f"An answer by {name}.").model(name),
        grader=models,
        limit=CASES,
    )


def rejudged(log: EvalLog, tmp_path: Path, name: str, script: Script) -> None:
    """Judge a log again, into another one."""
    get_model("mockllm/none")
    done = score(log, intent_judge(), action="overwrite", model_roles={"grader": script.model(name)}, display="none")
    write_eval_log(done, str(tmp_path / "logs" / f"{log.eval.model[-1]}-by-{name}.eval"))


GIVEN = {"A": judge({"A": 9, "B": 6}), "X": judge({"A": 7, "B": 5})}


def test_a_panel_is_compared_with_itself(tmp_path: Path) -> None:
    for name in "AB":
        answers(tmp_path, name, GIVEN)
    [found], left_out = read_judged_answers([str(tmp_path / "logs")], BOOTSTRAP)
    assert not left_out
    # Models come in the order of their logs, which may be of the same second.
    assert (found.judges, sorted(found.models), found.questions) == (
        ("mockllm/A", "mockllm/X"),
        ["mockllm/A", "mockllm/B"],
        CASES,
    )
    [preference] = found.preferences
    result = preference.result
    assert (preference.evaluator, preference.others) == ("mockllm/A", ("mockllm/X",))
    assert (result.own, result.others) == (9, 7)
    assert (result.preference.value, result.leniency.value, result.beyond.value) == (2, 1, 1)


def test_logs_that_were_judged_again_are_the_same_answers(tmp_path: Path) -> None:
    for name in "AB":
        log = answers(tmp_path, name, {"A": GIVEN["A"]})
        rejudged(log, tmp_path, "X", GIVEN["X"])
    [found], _ = read_judged_answers([str(tmp_path / "logs")], BOOTSTRAP)
    [preference] = found.preferences
    assert preference.result.preference.value == 2 and preference.result.beyond.value == 1


def test_another_run_has_other_answers(tmp_path: Path) -> None:
    log = answers(tmp_path, "A", {"A": GIVEN["A"]})
    rejudged(log, tmp_path, "X", GIVEN["X"])
    again = answers(tmp_path, "A", {"Y": judge({"A": 1})})
    [found], _ = read_judged_answers([str(tmp_path / "logs")], BOOTSTRAP)
    assert set(found.judges) == {"mockllm/A", "mockllm/X"}
    assert found.notes == (
        f"{Path(again.location).name} of mockllm/A: other answers than those that more judges have judged; left out.",
    )


@pytest.mark.parametrize("changed", [{"judge_language": "zh"}, {"references": "refs.jsonl"}])
def test_other_prompts_or_references_do_not_compare(
    changed: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = answers(tmp_path, "A", {"A": GIVEN["A"]})
    if "references" in changed:
        _references(tmp_path / "refs.jsonl")
        monkeypatch.chdir(tmp_path)
    answers(tmp_path, "A", {"X": GIVEN["X"]}, **changed)
    found, left_out = read_judged_answers([str(tmp_path / "logs")], BOOTSTRAP)
    assert not found and log.status == "success"
    assert [line.split(": ", 1)[1] for line in left_out] == [
        "there is no other judge of the same answers to compare with."
    ] * 2


def _references(path: Path) -> None:
    from urs_inspect.datasets.references import Reference, gather, question_sha256, reference_lines

    samples = urs(dataset="sample").dataset
    items = [Reference(str(one.id), question_sha256(str(one.input)), "Reference.", "m/x") for one in samples]
    path.write_text("".join(reference_lines(gather(items, "here"))), encoding="utf-8")


def test_judges_that_are_not_tested_have_no_self_preference(tmp_path: Path) -> None:
    answers(tmp_path, "B", GIVEN)
    found, [line] = read_judged_answers([str(tmp_path / "logs")], BOOTSTRAP)
    assert not found
    assert line == (
        "No self-preference from 1 log of mockllm/B, judged by mockllm/A, mockllm/X: no judge is among the models."
    )


def test_answers_that_are_their_own_references_take_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the answers of A are its references; for these all judges, mild or not, give one score."""
    from urs_inspect.datasets.references import Reference, gather, question_sha256, reference_lines

    samples = list(urs(dataset="sample").dataset)
    texts = ["An answer by A." if place < CASES - 1 else "Another one." for place in range(len(samples))]
    items = [
        Reference(str(one.id), question_sha256(str(one.input)), text, "mockllm/A")
        for one, text in zip(samples, texts, strict=True)
    ]
    (tmp_path / "refs.jsonl").write_text("".join(reference_lines(gather(items, "here"))), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in "AB":
        answers(tmp_path, name, GIVEN, references="refs.jsonl")
    [found], _ = read_judged_answers([str(tmp_path / "logs")], BOOTSTRAP)
    assert any(f"{CASES - 1} of {CASES} answers of mockllm/A" in note for note in found.notes)
    [own] = found.preferences
    assert own.result.preference.n == 1
