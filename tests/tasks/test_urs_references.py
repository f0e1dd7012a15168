"""References by a model of one's own: asked, written to a file, used, and refused where they do not
fit.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ChatMessage

from tests.cli.conftest import Run
from tests.cli.conftest import run as run_command
from tests.reports.json_files import write_rows
from tests.tasks.scripted import Reply, Script, between, metric_values, output, run, samples_of
from urs_inspect import urs
from urs_inspect._util import InputError
from urs_inspect.datasets._references import question_sha256
from urs_inspect.logs._responses import read_reference_logs, read_references
from urs_inspect.tasks.urs_references import urs_references

command = run_command
CASES = 42


def reference(messages: list[ChatMessage]) -> str:
    return f"[by J] {messages[-1].text}"


def ask(
    tmp_path: Path,
    reply: Callable[[list[ChatMessage]], Reply] = reference,
    model: str = "J",
    **options,
) -> EvalLog:
    task = urs_references(dataset=options.pop("dataset", "sample"))
    return run(task, tmp_path / "refs", model=Script(reply).model(model), **options)


def judged(references: str, tmp_path: Path, judge: Script, **options) -> EvalLog:
    task = urs(dataset=options.pop("dataset", "sample"), references=references)
    return run(
        task,
        tmp_path / "urs",
        model=Script("An answer.").model("A"),
        grader=judge.model(),
        **options,
    )


def test_the_questions_are_asked_as_they_are_and_nobody_judges(tmp_path: Path) -> None:
    model = Script(reference)
    log = run(urs_references(dataset="sample"), tmp_path, model=model.model("J"))
    assert log.status == "success"
    plain = {str(sample.id): sample for sample in urs(dataset="sample").dataset}
    assert [str(sample.id) for sample in urs_references(dataset="sample").dataset] == list(plain)
    assert {str(sample.id) for sample in samples_of(log)} == set(plain)
    assert [len(messages) for messages in model.seen] == [1] * CASES
    assert {messages[0].text for messages in model.seen} == {
        str(sample.input) for sample in plain.values()
    }
    assert metric_values(log, "reference_outcome") == {"usable": 1, "answers usable": CASES}
    assert log.results is not None and log.results.headline is not None
    assert log.results.headline.metric == "usable"


def test_the_seed_orders_the_questions_as_those_of_urs() -> None:
    orders = []
    for seed in (0, 3, 4):
        ids = [str(sample.id) for sample in urs_references(dataset="sample", seed=seed).dataset]
        assert ids == [str(sample.id) for sample in urs(dataset="sample", seed=seed).dataset]
        assert ids not in orders
        orders.append(ids)


@pytest.mark.parametrize(
    ("chosen", "languages", "intents"),
    [
        ({"language": "zh"}, {"zh"}, 7),
        ({"intents": "leisure,api"}, {"en", "zh"}, 2),
        ({"language": "en", "intents": "leisure"}, {"en"}, 1),
    ],
)
def test_questions_are_those_of_the_languages_and_intents_asked_for(
    chosen: dict[str, Any], languages: set[str], intents: int
) -> None:
    facts = [sample.metadata or {} for sample in urs_references(dataset="sample", **chosen).dataset]
    assert {fact["language"] for fact in facts} == languages
    assert len({fact["intent"] for fact in facts}) == intents
    assert len(facts) == 3 * len(languages) * intents


def test_faulty_rows_of_a_file_are_skipped_on_request_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "own.csv"
    rows = ["question,user_intent,language", "Why?,Leisure,EN", ",Leisure,EN", "Who?,API,CN"]
    path.write_text("\n".join(rows), "utf-8")
    with pytest.raises(InputError, match="line 3"):
        urs_references(dataset=str(path))
    task = urs_references(dataset=str(path), lenient=True)
    assert {str(sample.input) for sample in task.dataset} == {"Why?", "Who?"}
    [message] = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert "1" in message and "own.csv" in message


def test_log_and_file_serve_alike(tmp_path: Path, command: Run) -> None:
    log = ask(tmp_path)
    file = tmp_path / "refs.jsonl"
    done = command("references", log.location, "-o", file)
    assert done.exit_code == 0, done.output
    assert f"{CASES} references by mockllm/J" in done.output
    first = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    assert set(first) == {"id", "question_sha256", "reference", "source_model", "created"}
    assert (first["source_model"], first["created"]) == ("mockllm/J", log.eval.created)

    shown, facts = [], []
    for source in (log.location, str(file)):
        judge = Script('{"Final Score": 5}')
        found = judged(source, tmp_path, judge, limit=10)
        shown.append(
            sorted(
                between(seen[1].text, "<reference_answer>", "</reference_answer>")
                for seen in judge.seen
            )
        )
        facts.append(
            {key: (found.eval.metadata or {})[key] for key in ("references", "references_sha256")}
        )
        assert {sample.target for sample in samples_of(found)} == {
            f"[by J] {s.input}" for s in samples_of(found)
        }
    assert shown[0] == shown[1]
    assert all(text.startswith("[by J] ") for text in shown[0])
    assert facts[0] == facts[1]
    label = facts[0]["references"]
    assert label.startswith("mockllm/J (sha256 ") and facts[0]["references_sha256"].startswith(
        label[18:30]
    )


def test_references_that_do_not_fit_are_refused_before_anything_is_asked(tmp_path: Path) -> None:
    log = ask(tmp_path, limit=40)
    with pytest.raises(InputError, match=r"\(by mockllm/J\).*2 of 42 cases: 2 \(.*\)"):
        urs(dataset="sample", references=log.location)
    # Cases that do not take part need no reference.
    by_language = {str(sample.id).split("_")[-2] for sample in samples_of(ask(tmp_path, limit=1))}
    assert by_language == {"en"}
    with pytest.raises(InputError, match=r"20 \("):
        urs(dataset="sample", language="en", references=str(ask(tmp_path, limit=1).location))


def test_empty_and_cut_answers_are_no_references_and_can_be_mended(
    tmp_path: Path, command: Run
) -> None:
    ids = [str(sample.id) for sample in urs_references(dataset="sample").dataset]
    questions = {
        str(sample.input): str(sample.id) for sample in urs_references(dataset="sample").dataset
    }

    def faulty(messages: list[ChatMessage]) -> Reply:
        number = ids.index(questions[messages[-1].text])
        return (
            output("Half", "max_tokens")
            if number < 2
            else output(" ")
            if number == 2
            else reference(messages)
        )

    log = ask(tmp_path, faulty)
    assert metric_values(log, "reference_outcome") == {
        "usable": 39 / 42,
        "answers usable": 39,
        "answers empty": 1,
        "answers cut": 2,
    }
    with pytest.raises(
        InputError,
        match=r"3 of 42 cases: 2 .*token limit; 1 .* empty",
    ):
        urs(dataset="sample", references=log.location)
    done = command("references", log.location, "-o", tmp_path / "some.jsonl")
    assert "39 references" in done.output
    assert f"Left out, cut: 2 ({ids[0]}, {ids[1]}); " in done.output
    assert f"Left out, empty: 1 ({ids[2]})" in done.output

    # A later run over the three cases mends the earlier one, in whatever order the logs are named.
    mending = ask(tmp_path, sample_id=ids[:3])
    found = read_reference_logs([mending.location, log.location], [])
    assert len(found.usable) == CASES
    done = command("references", mending.location, log.location, "-o", tmp_path / "all.jsonl")
    assert "42 references" in done.output and "Left out" not in done.output
    assert len(urs(dataset="sample", references=str(tmp_path / "all.jsonl")).dataset) == CASES


def test_a_file_is_never_written_over(tmp_path: Path, command: Run) -> None:
    log = ask(tmp_path, limit=1)
    file = tmp_path / "refs.jsonl"
    file.write_text("mine", encoding="utf-8")
    done = command("references", log.location, "-o", file)
    assert done.exit_code == 1 and "already" in done.output
    assert file.read_text(encoding="utf-8") == "mine"
    assert ".jsonl" in command("references", log.location, "-o", tmp_path / "refs.txt").output


def test_logs_that_cannot_serve_are_refused(tmp_path: Path) -> None:
    one, other = ask(tmp_path, limit=2), ask(tmp_path, limit=2, model="K")
    with pytest.raises(InputError, match="several models: mockllm/J, mockllm/K"):
        read_reference_logs([one.location, other.location], [])
    none = run(urs_references(dataset="sample"), tmp_path / "none", model="none/none", limit=1)
    with pytest.raises(InputError):
        read_references(none.location)
    broken = ask(tmp_path, lambda messages: RuntimeError("down"), limit=2)
    assert broken.status == "error"
    with pytest.raises(InputError, match=r"status is 'error'.*eval-retry"):
        read_references(broken.location)
    with pytest.raises(InputError) as caught:
        read_reference_logs([str(Path(broken.location).parent)], [])
    assert "file:" not in str(caught.value) and str(tmp_path) in str(caught.value)
    with pytest.raises(InputError, match=r"no log"):
        read_references(str(tmp_path / "absent.eval"))
    with pytest.raises(InputError, match=r"cannot read .*allowed: .*\.jsonl"):
        read_references(str(tmp_path / "refs.csv"))


def test_the_answers_of_a_judged_run_may_be_references(tmp_path: Path) -> None:
    log = run(
        urs(dataset="sample"),
        tmp_path,
        model=Script("Mine.").model("A"),
        grader=Script("{}").model(),
        limit=3,
    )
    assert [(item.text, item.source) for item in read_references(log.location).usable] == [
        ("Mine.", "mockllm/A")
    ] * 3


def test_of_several_epochs_the_first_counts(tmp_path: Path) -> None:
    model = Script(["First.", "Second."])
    log = run(urs_references(dataset="sample"), tmp_path, model=model.model("J"), limit=1, epochs=2)
    first = next(
        sample.output.completion
        for sample in samples_of(read_eval_log(log.location))
        if sample.epoch == 1
    )
    assert [item.text for item in read_references(log.location).items] == [first]


def test_own_cases_need_no_references_of_their_own_and_a_changed_question_is_noticed(
    tmp_path: Path,
) -> None:
    row = {"id": "mine", "question": "Why?", "user_intent": "Leisure", "language": "EN"}
    data = str(write_rows(tmp_path / "own.jsonl", row))
    with pytest.raises(InputError, match="column 'reference_ans' is missing"):
        urs(dataset=data)
    log = ask(tmp_path, dataset=data)
    assert [item.question_sha256 for item in read_references(log.location).items] == [
        question_sha256("Why?")
    ]
    judge = Script('{"Final Score": 5}')
    judged(log.location, tmp_path, judge, dataset=data)
    assert "[by J] Why?" in judge.seen[0][1].text
    write_rows(tmp_path / "own.jsonl", {**row, "question": "Why not?"})
    with pytest.raises(InputError, match=r"1 \(mine\) of another question"):
        urs(dataset=data, references=log.location)
