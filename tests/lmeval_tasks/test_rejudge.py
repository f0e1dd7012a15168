import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import lm_eval
import pytest
import yaml
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

from tests.lmeval_tasks.conftest import judging
from tests.lmeval_tasks.runs import ScriptedLM, answering, call, run, settings
from tests.servers import ChatServer, fails
from tests.telling import tells
from tests.test_documents import block
from urs_inspect.lmeval_tasks._rejudge import _conversation, read_saved
from urs_inspect.lmeval_tasks._urs_task import UrsTask

FIELDS = ("intent", "intent_group", "language", "question", "reference")


def saved(folder: Path, found: dict[str, Any], task: str = "urs") -> Path:
    """Samples as lm-eval saves them."""
    tracker = EvaluationTracker(output_path=str(folder))
    tracker.general_config_tracker.log_experiment_args(
        "scripted", "model=scripted", None, None, False
    )
    tracker.save_results_aggregated(results={**found, "samples": {}}, samples=found["samples"])
    tracker.save_results_samples(task_name=task, samples=found["samples"][task])
    [file] = folder.rglob(f"samples_{task}_*.jsonl")
    return file


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Six answers that were not judged."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HF_HUB_OFFLINE", "1")
        patched.setenv("HF_DATASETS_CACHE", str(tmp_path_factory.mktemp("datasets")))
        model = answering(lambda question: f"About {question[:30]}")
        return run("urs", model, {"urs_dataset": "sample"}, limit=6, predict_only=True)


Rejudge = Callable[..., str]


@pytest.fixture
def rejudge(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Rejudge:
    """Calls the command with these words; what it prints."""

    def call_it(*words: object, ends_with: int = 0) -> str:
        capsys.readouterr()
        assert call(monkeypatch, "rejudge", *map(str, words)) == ends_with
        printed = capsys.readouterr()
        assert not (ends_with and printed.out)  # an error is no output
        return printed.out + printed.err

    return call_it


def scored(file: Path) -> list[bool]:
    return [bool(one.record and one.record.scores) for one in read_saved(file)]


def first_of(generated: dict[str, Any], count: int) -> dict[str, Any]:
    return {**generated, "samples": {"urs": generated["samples"]["urs"][:count]}}


def test_saved_answers_are_judged_later_with_the_same_numbers(
    judge: ChatServer, tmp_path: Path, generated: dict[str, Any], rejudge: Rejudge
) -> None:
    file = saved(tmp_path / "plain", generated)
    direct = run(
        "urs", answering(lambda question: f"About {question[:30]}"), settings(judge), limit=6
    )["results"]
    said = rejudge(file, "--metadata", told(judge, judge_preflight=True))
    [written] = file.parent.glob("rejudged_j-*_samples_urs_*.json")
    for name, value in json.loads(written.read_text())["results"]["urs"].items():
        assert direct["urs"][name] == pytest.approx(value), name
    assert "6 answers of samples_urs_" in said and "judged by j " in said and "|urs_final " in said
    [lines] = file.parent.glob("rejudged_j-*.jsonl")
    assert [one.response for one in read_saved(lines)] == [one.response for one in read_saved(file)]
    assert all(scored(lines))


def told(judge: ChatServer, **changed: Any) -> str:
    """Settings of a judge as a user types them."""
    given = settings(judge, **{"judge_preflight": False, **changed})
    return json.dumps({key: value for key, value in given.items() if key.startswith("judge_")})


def half_failed(folder: Path, judge: ChatServer) -> Path:
    """Six judged answers of which two have no score."""
    found = run("urs", answering(lambda _: "An answer."), settings(judge), limit=6)
    for sample in found["samples"]["urs"][:2]:
        sample["doc"]["judgement"] |= {"scores": None, "outcome": "unscored_call_failed"}
    return saved(folder, found)


def test_only_what_failed_is_judged_again_and_scores_that_do_not_go_together_are_not_mixed(
    judge: ChatServer, tmp_path: Path, rejudge: Rejudge
) -> None:
    file = half_failed(tmp_path / "half", judge)
    calls = judge.count()
    changes: list[tuple[dict[str, Any], str]] = [
        ({"judge_model": "another"}, "another judge ("),
        ({"judge_language": "zh"}, "another judge_prompt, judge_rubric"),
        (
            {"judge_temperature": 0.7},
            "another temperature (0.0, not 0.7); scores of both",
        ),
        ({"judge_max_tokens": 99}, "another max_tokens (4096, not 99); scores of both"),
        (
            {"judge_base_url": "http://127.0.0.1:9/v1"},
            "not http://127.0.0.1:9/v1); scores of both",
        ),
    ]
    for changed, said in changes:
        assert said in rejudge(
            "--failed-only", file, "--metadata", told(judge, **changed), ends_with=1
        )
    other = tmp_path / file.name
    other.write_text(file.read_text("utf-8").replace("judge_call", "called"), "utf-8")
    assert tells(
        rejudge("--failed-only", other, "--metadata", told(judge), ends_with=1), "all answers again"
    )
    assert judge.count() == calls
    rejudge("--failed-only", file, "--metadata", told(judge))
    assert judge.count() == calls + 2


def test_judging_is_finished_in_several_goes(
    judge: ChatServer, tmp_path: Path, generated: dict[str, Any], rejudge: Rejudge
) -> None:
    file = saved(tmp_path, generated)
    judge.script = lambda request: judging(request) if request.number < 4 else fails(500)
    given = ("--metadata", told(judge, judge_concurrency=1))
    said = rejudge(file, *given)
    [written] = file.parent.glob("rejudged_*.jsonl")
    assert tells(said, "2 of 6 answers ... InternalServerError: ")
    assert f"Once more: --failed-only {written}" in said
    judge.script = judging
    calls = judge.count()
    rejudge("--failed-only", written, *given)
    assert judge.count() == calls + 2
    assert list(file.parent.glob("rejudged_*.jsonl")) == [written]
    assert all(scored(written))


@pytest.mark.parametrize(
    "others",
    [
        ({"judge_model": "first/model"}, {"judge_model": "first-model"}),
        ({}, {"judge_language": "zh"}),
        ({}, {"judge_temperature": 0.7}),
    ],
)
def test_two_ways_of_judging_stand_beside_each_other_and_beside_what_was_saved(
    judge: ChatServer,
    tmp_path: Path,
    generated: dict[str, Any],
    rejudge: Rejudge,
    others: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    file = saved(tmp_path, first_of(generated, 2))
    before, written = file.read_bytes(), []
    for place, changed in enumerate((*others, others[0])):
        given = ("--metadata", told(judge, **changed))
        rejudge(file, *given)
        found = set(file.parent.glob("rejudged_*.jsonl"))
        assert len(found) == min(place + 1, 2)  # the third one is the first one again
        written.append(found)
    assert list(file.parent.glob("samples_urs_*")) == [file] and file.read_bytes() == before
    results = [
        json.loads(one.with_suffix(".json").read_text())["judged_with"] for one in written[1]
    ]
    assert results[0] != results[1]
    # Both would become one file.
    rejudge(*written[1], *given, ends_with=1)


def test_what_was_written_says_what_was_judged_and_when(
    judge: ChatServer, tmp_path: Path, generated: dict[str, Any], rejudge: Rejudge
) -> None:
    found = first_of(generated, 2)
    file = saved(tmp_path, found)
    rejudge(file, "--metadata", told(judge))
    [written] = file.parent.glob("rejudged_*.json")
    facts = json.loads(written.read_text())
    assert facts["versions"] == {"urs": UrsTask.VERSION} and set(facts["results"]) == {"urs"}
    assert facts["n-samples"] == {"urs": {"original": 2, "effective": 2}}
    assert datetime.fromisoformat(facts["date"]).tzinfo is not None
    assert facts["answers"] == {
        "samples": file.name,
        "dataset_sha256": [found["samples"]["urs"][0]["doc"]["dataset_sha256"]],
        "model": "scripted",
        "urs_dataset": "sample",
        "version": UrsTask.VERSION,
    }
    assert "urs_dataset" not in facts["judge"]
    assert facts["judged_with"]["base_url"] == judge.url
    assert facts["higher_is_better"]["urs"]["urs_judge_failed"] is False


def test_files_of_other_tasks_are_left_out(
    judge: ChatServer, tmp_path: Path, generated: dict[str, Any], rejudge: Rejudge
) -> None:
    file = saved(tmp_path, first_of(generated, 1))
    sums = run(
        "urs_addition", answering(lambda _: "12"), {"addition_lengths": 2, "addition_per_length": 1}
    )
    other = file.with_name("samples_urs_addition_2026.jsonl")
    other.write_text(json.dumps(sums["samples"]["urs_addition"][0], default=str), encoding="utf-8")
    given = ("--metadata", told(judge))
    said = rejudge(*sorted(file.parent.glob("samples_urs_*.jsonl")), *given)
    assert "Left out: " in said and str(other) in said
    assert len(list(file.parent.glob("rejudged_*.jsonl"))) == 1
    assert tells(rejudge(other, *given, ends_with=1), "urs, urs_en or urs_zh: no intent")


def test_a_judge_that_is_given_up_ends_all_files(
    judge: ChatServer, tmp_path: Path, generated: dict[str, Any], rejudge: Rejudge
) -> None:
    files = [saved(tmp_path / name, first_of(generated, 3)) for name in ("one", "two")]
    judge.script = lambda _: fails(500)
    given = ("--metadata", told(judge, judge_give_up=1, judge_concurrency=1))
    said = rejudge(*files, *given)
    assert tells(said, "3 of 3 answers ... 2 of them")
    assert f"Not begun: {files[1]}" in said
    judge.script = judging
    [written] = files[0].parent.glob("rejudged_*.jsonl")
    rejudge("--failed-only", written, *given)
    assert all(scored(written))


def test_a_place_that_cannot_be_written_to_is_refused_before_the_judge_is_asked(
    judge: ChatServer, tmp_path: Path, generated: dict[str, Any], rejudge: Rejudge
) -> None:
    file = saved(tmp_path / "plain", generated)
    said = rejudge(file, "-o", file / "below", "--metadata", told(judge), ends_with=1)
    assert f"output: no folder '{file}'" in said
    assert not judge.requests


def test_a_judge_that_cannot_be_had_is_one_line(
    tmp_path: Path, generated: dict[str, Any], rejudge: Rejudge
) -> None:
    file = saved(tmp_path, first_of(generated, 1))
    away = json.dumps({"judge_base_url": "http://127.0.0.1:9/v1", "judge_retries": 0})
    error = rejudge(file, "--judge-model", "m", "--metadata", away, ends_with=1)
    assert tells(error, "judge m ... APIConnectionError: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe{}", "is text in UTF-16"),
        (b"", "no samples"),
        (b"{", "line 1"),
        (b"[]", "no samples"),
        (b'{"doc": {}, "resps": [["x"]]}', "line 1"),
        (
            json.dumps(
                {"doc": dict.fromkeys(FIELDS, "") | {"intent": 1}, "resps": [["x"]]}
            ).encode(),
            "intent",
        ),
    ],
)
def test_files_that_are_none_of_lm_eval_are_named(
    tmp_path: Path, rejudge: Rejudge, content: bytes, said: str
) -> None:
    file = tmp_path / "samples_urs_1.jsonl"
    file.write_bytes(content)
    error = rejudge(file, "--judge-model", "m", ends_with=1)
    assert said in error and file.name in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("metadata", "said"),
    [("{", "no JSON"), ("[]", "JSON object"), ('{"judge_x": 1}', "unknown 'judge_x'")],
)
def test_faulty_metadata_is_named(
    tmp_path: Path, rejudge: Rejudge, metadata: str, said: str
) -> None:
    (tmp_path / "samples_urs_1.jsonl").write_text("{}", encoding="utf-8")
    assert said in rejudge(tmp_path / "samples_urs_1.jsonl", "--metadata", metadata, ends_with=1)


TICKETS = [
    {"ticket": "It is broken", "good": "We send a new one"},
    {"ticket": "It is late", "good": None},
]


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    """The rubric of the documentation, with one intent."""
    for name in ("helpdesk.jinja", "helpdesk.yaml"):
        (tmp_path / name).write_text(block("docs/lm_eval.md", f"`{name}`"), encoding="utf-8")
    return tmp_path / "helpdesk.yaml"


def tickets(folder: Path, **changed: Any) -> Path:
    """Samples of a task of the user's own: two filters, two responses a document."""
    data, task = folder / "tickets.jsonl", folder / "tickets.yaml"
    data.write_text("".join(json.dumps(ticket) + "\n" for ticket in TICKETS), encoding="utf-8")
    first = {"function": "take_first"}
    filters = [
        {"name": "whole", "filter": [first]},
        {"name": "digits", "filter": [{"function": "regex"}, first]},
    ]
    config = {
        "task": "tickets",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "Customer: {{ticket}}",
        "doc_to_target": "good",
        "repeats": 2,
        "filter_list": filters,
        "metric_list": [{"metric": "exact_match"}],
        **changed,
    }
    task.write_text(yaml.safe_dump(config), encoding="utf-8")
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    model = ScriptedLM(
        lambda messages: f"Reply to {messages[-1]['content']}", lambda _messages, _choice: -1.0
    )
    found = lm_eval.simple_evaluate(
        model=model, tasks=["tickets"], task_manager=manager, bootstrap_iters=0
    )
    return saved(folder / "out", found, "tickets")


def test_samples_of_any_task_are_judged_by_a_rubric_with_one_intent(
    judge: ChatServer, tmp_path: Path, rubric: Path, rejudge: Rejudge
) -> None:
    file = tickets(tmp_path)
    said = rejudge(file, "--rubric", rubric, "--metadata", told(judge))
    assert (
        "2 samples of filters" in said
        and "2 samples with several" in said
        and tells(said, "1 sample")
    )
    first, second = sorted(str(request.messages[-1]["content"]) for request in judge.requests)
    question, answer = (
        "<question>\nCustomer: It is {}\n</question>",
        "<answer>\nReply to Customer: It is {}\n</answer>",
    )
    assert all(
        text.format("broken") in first and text.format("late") in second
        for text in (question, answer)
    )
    assert "<reference>\nWe send a new one\n</reference>" in first and "reference" not in second
    [written] = file.parent.glob("rejudged_*.jsonl")
    lines = [json.loads(line) for line in written.read_text("utf-8").splitlines()]
    assert [line["metrics"][:2] for line in lines] == [["exact_match", "urs_final"]] * 2
    facts = json.loads(written.with_suffix(".json").read_text("utf-8"))
    finals = [line["doc"]["judgement"]["scores"]["final"] for line in lines]
    assert facts["results"]["tickets"]["urs_intent_tickets,none"] == pytest.approx(sum(finals) / 2)
    assert (facts["judged_with"]["intent"], facts["judged_with"]["language"]) == ("ticket", "en")
    assert "urs_dataset" not in facts["answers"]
    calls = judge.count()
    rejudge(written, "--failed-only", "--rubric", rubric, "--metadata", told(judge))
    assert judge.count() == calls  # nothing failed


def test_without_a_rubric_of_ones_own_intent_and_language_are_asked_for(
    judge: ChatServer, tmp_path: Path, rejudge: Rejudge
) -> None:
    given = (tickets(tmp_path), "--metadata", told(judge))
    assert tells(rejudge(*given, ends_with=1), "--intent ... factual_qa, solve")
    assert tells(rejudge(*given, "--intent", "leisure", ends_with=1), "--language ... en, zh")
    assert tells(
        rejudge(*given, "--intent", "fun", ends_with=1), "intent 'fun'; allowed: factual_qa"
    )
    assert judge.count() == 0
    rejudge(*given, "--intent", "leisure", "--language", "en")
    assert judge.count() == 2


def test_tasks_without_answers_in_words_are_refused(
    tmp_path: Path, rubric: Path, rejudge: Rejudge
) -> None:
    scored = {"repeats": 1, "filter_list": None, "metric_list": [{"metric": "acc"}]}
    file = tickets(
        tmp_path,
        **scored,
        output_type="multiple_choice",
        doc_to_choice=["yes", "no"],
        doc_to_target=0,
    )
    given = ("--rubric", rubric, "--judge-model", "j")
    assert tells(rejudge(file, *given, ends_with=1), f"{file}, line 1: no answer")
    [line, *_] = map(json.loads, file.read_text("utf-8").splitlines())
    rolling = {**line, "arguments": {"gen_args_0": {"arg_0": "A text."}}, "resps": [["-1.5"]]}
    file.write_text(json.dumps(rolling), encoding="utf-8")
    assert tells(rejudge(file, *given, ends_with=1), f"{file}, line 1: no answer")


def test_a_chat_that_was_sent_to_an_api_is_the_question() -> None:
    one, two = [{"role": "user", "content": "Why?"}], {"role": "system", "content": "Be brief."}
    assert _conversation(json.dumps(one)).text("en") == "Why?"
    chat = _conversation(json.dumps([two, *one]))
    assert "[System prompt]\nBe brief.\n\n[User]\nWhy?" in chat.text("en")
    assert "[用户]\nWhy?" in chat.text("zh") and chat.query == "Why?"
    for text in (
        "Why?",
        "42",
        "[]",
        '["Why?"]',
        '{"role": "user"}',
        "null",
        '[{"role": "x", "content": "Why?"}]',
    ):
        assert _conversation(text).text("en") == text
