import json
import math
import threading
from collections import Counter
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import GenerateConfig, Model, ModelOutput, ModelUsage, get_model

from tests.lmeval_tasks.conftest import judging, level_of
from tests.lmeval_tasks.runs import (
    ScriptedLM,
    answering,
    metric,
    numbers,
    records,
    run,
    run_in_two,
    settings,
)
from tests.servers import ChatServer, Request, Response, fails, says, serving
from urs_inspect._util import InputError
from urs_inspect.lmeval_tasks._settings import read_settings
from urs_inspect.lmeval_tasks._urs_task import preflight
from urs_inspect.tasks import urs


def answer(question: str) -> str:
    """An answer of its own for each question; for one in seven nothing."""
    return (
        ""
        if len(question) % 7 == 0
        else f"About {question[:40]}: it depends. {'So. ' * (len(question) % 5)}"
    )


def fifty_cases(folder: Path) -> str:
    """The cases of the sample, and eight more that ask the same in other words."""
    rows = [
        {
            "id": f"{sample.id}{more}",
            "question": f"{sample.input}{more}",
            "reference": str(sample.target),
            "intent": sample.metadata["intent"],
            "language": sample.metadata["language"],
        }
        for more, samples in (
            ("", urs(dataset="sample").dataset),
            (" Please.", urs(dataset="sample").dataset[:8]),
        )
        for sample in samples
        if sample.metadata is not None
    ]
    (folder / "cases.jsonl").write_text(
        "\n".join(json.dumps(row) for row in rows), encoding="utf-8"
    )
    return str(folder / "cases.jsonl")


def now_and_then_prose(request: Request) -> Response:
    """A judge that gives no numbers about some answers, however often it is asked."""
    case = next(
        str(message["content"]) for message in request.messages if message["role"] == "user"
    )
    return says("Fine answer, well done.") if level_of(case) == 3 else judging(request)


def test_both_harnesses_give_the_same_numbers(judge: ChatServer, tmp_path: Path) -> None:
    cases = fifty_cases(tmp_path)
    judge.script = now_and_then_prose

    def output(messages: Any, *_: Any) -> ModelOutput:
        found = ModelOutput.from_content("mockllm/model", answer(messages[-1].text))
        found.usage = ModelUsage(
            input_tokens=1, output_tokens=1, total_tokens=2
        )  # or the harness counts, online
        return found

    [log] = inspect_eval(
        urs(dataset=cases),
        model=get_model("mockllm/model", custom_outputs=output),
        model_roles={"grader": _grader()},
        display="none",
        log_realtime=False,
    )
    theirs = run("urs", answering(answer), settings(judge, urs_dataset=cases))
    found = records(theirs, "urs")
    assert len(found) == len(log.samples or []) == 50
    outcomes: Counter[str] = Counter()
    for sample in log.samples or []:
        score = (sample.scores or {})["intent_judge"]
        assert score.metadata is not None
        other, value = found[str(sample.id)], score.value if isinstance(score.value, dict) else {}
        assert (other["scores"] or {}) == {
            key: given for key, given in value.items() if given == given
        }
        assert other["outcome"] == score.metadata["outcome"]
        assert other["prompt_sha256"] == score.metadata["prompt_sha256"]
        if (
            other["outcome"] != "no_response"
        ):  # of an empty answer lm-eval does not say why it ended
            explained = str(score.explanation).replace("`openai-api/local/j`", "`j`")
            assert other["explanation"] == explained
        outcomes[other["outcome"]] += 1
    assert set(outcomes) == {"judged", "no_response", "unscored_unparseable"}
    assert log.results is not None
    [counted] = [one.metrics for one in log.results.scores if one.name == "judge_outcome"]
    for name, outcome in (("no_response", "no_response"), ("judge_failed", "unscored_unparseable")):
        share = counted[outcome].value / 50
        assert metric(theirs, "urs", f"urs_{name}") == pytest.approx(share, abs=1e-12)
        assert share == outcomes[outcome] / 50
    [scored] = [one for one in log.results.scores if one.name == "intent_judge"]
    assert metric(theirs, "urs", "urs_final") == pytest.approx(
        scored.metrics["final"].value, abs=1e-12
    )
    assert metric(theirs, "urs", "urs_final_stderr") == pytest.approx(
        scored.metrics["stderr"].value, abs=1e-12
    )


def _grader() -> Model:
    return get_model("openai-api/local/j", config=GenerateConfig(max_tokens=4096))


def test_means_and_standard_errors_by_hand(judge: ChatServer) -> None:
    found = run("urs", answering(answer), settings(judge))
    finals: dict[str, list[float]] = {}
    for sample in found["samples"]["urs"]:
        final = sample["doc"]["judgement"]["scores"]["final"]
        for name in (
            "final",
            sample["doc"]["language"],
            f"intent_{sample['doc']['intent_group'].lower().replace(' ', '_')}",
        ):
            finals.setdefault(name, []).append(final)
    assert len(finals) == 1 + 2 + 6
    assert not [name for name in found["results"]["urs"] if " " in name]
    for name, values in finals.items():
        mean = sum(values) / len(values)
        error = math.sqrt(
            sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values)
        )
        assert metric(found, "urs", f"urs_{name}") == pytest.approx(mean)
        assert metric(found, "urs", f"urs_{name}_stderr") == pytest.approx(error)
    assert metric(found, "urs", "urs_judge_failed") == 0
    records = [sample["doc"]["judgement"] for sample in found["samples"]["urs"]]
    unkeyed = sum(record.get("unkeyed", 0) for record in records) / len(records)
    assert metric(found, "urs", "urs_judge_unkeyed") == pytest.approx(unkeyed)
    for name in ("asked_again", "near_key", "several_records"):
        assert metric(found, "urs", f"urs_judge_{name}") == 0


def test_one_language_and_the_cases_that_inspect_takes_with_the_same_limit(
    judge: ChatServer,
) -> None:
    found = run("urs_zh", answering(answer), settings(judge))
    assert len(found["samples"]["urs_zh"]) == 21
    assert {sample["doc"]["language"] for sample in found["samples"]["urs_zh"]} == {"zh"}
    assert metric(found, "urs_zh", "urs_zh") == metric(found, "urs_zh", "urs_final")
    found = run("urs_en", answering(answer), settings(judge), limit=9)
    ids = [sample["doc"]["id"] for sample in found["samples"]["urs_en"]]
    assert ids == [sample.id for sample in urs(dataset="sample", language="en").dataset][:9]


def test_filtered_resps_of_a_judged_sample_is_the_answer(judge: ChatServer) -> None:
    found = run(
        "urs", answering(lambda question: f"About {question[:30]}"), settings(judge), limit=4
    )
    for sample in found["samples"]["urs"]:
        assert sample["filtered_resps"] == sample["resps"][0]
        assert sample["filtered_resps"][0].startswith("About ")
        assert sample["doc"]["judgement"]["scores"]["final"] == sample["urs_final"]


def test_predict_only_needs_no_judge() -> None:
    found = run("urs", answering(answer), {"urs_dataset": "sample"}, limit=5, predict_only=True)
    assert [sample["filtered_resps"] for sample in found["samples"]["urs"]] == [
        sample["resps"][0] for sample in found["samples"]["urs"]
    ]


def dying(after: int) -> Any:
    def script(request: Request) -> Response:
        return judging(request) if request.number < after else fails(500)

    return script


def test_a_judge_that_dies_costs_no_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(dying(after=6), monkeypatch) as server:
        found = run(
            "urs",
            answering(lambda _: "An answer."),
            settings(server, judge_concurrency=1),
            limit=12,
        )
    # One call finds out whether the judge can be had, five judge.
    assert metric(found, "urs", "urs_judge_failed") == pytest.approx(7 / 12)
    judged = [one for one in records(found, "urs").values() if one["scores"] is not None]
    assert len(judged) == 5
    assert metric(found, "urs", "urs_final") == pytest.approx(
        sum(one["scores"]["final"] for one in judged) / 5
    )
    assert all(one["response"] == "An answer." for one in records(found, "urs").values())
    [told] = [
        one.getMessage()
        for one in caplog.records
        if "7 of 12 answers have no score" in one.getMessage()
    ]
    assert "scripted 500" in told and "\n" not in told
    assert "rejudge" in caplog.text


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({}, "no judge: give one"),
        ({"judge_model": "gpt-x"}, "OPENAI_API_KEY"),
        ({"judge_model": "claude-x"}, "ANTHROPIC_API_KEY"),
        ({"judge_model": 3}, "judge_model"),
        ({"judge_model": "m", "judge_concurrency": "32"}, "judge_concurrency: .*, got '32'"),
        ({"judge_model": "m", "judge_concurrency": 0}, "judge_concurrency"),
        (
            {"judge_model": "m", "judge_temprature": 0},
            "unknown 'judge_temprature'; allowed: judge, judge_model",
        ),
        ({"judge_model": "m", "judge_provider": "azure"}, "judge_provider"),
        (
            {"judge_model": "m", "jugde_concurrency": 2},
            "unknown 'jugde_concurrency'; did you mean 'judge_concurrency'",
        ),
        ({"Judge_model": "m"}, "unknown 'Judge_model'; did you mean 'judge_model'"),
        (
            {"judge_model": "m", "judge_cache": "no"},
            "judge_cache:.*got 'no'",
        ),
        ({"judge_model": "m", "judge_give_up": -1}, "judge_give_up"),
        (
            {"judge_model": "m", "judge_base_url": "localhost:80"},
            "judge_base_url:.*address",
        ),
        (
            {"judge_model": "m", "judge_language": "xx", "judge_base_url": "http://127.0.0.1:9"},
            "xx",
        ),
        ({"judge": "samer"}, "samer .* is missing"),
        ({"samer": "somewhere"}, "not samer"),
        (
            {"judge_model": "m", "judge_base_url": "http://127.0.0.1:9/v1", "judge_retries": 0},
            "is unavailable",
        ),
        *[
            (
                {"judge_model": "m", "judge_base_url": address},
                "must hold no user name, password or query",
            )
            for address in ("http://me:secret@there/v1", "http://there/v1?key=secret")
        ],
    ],
)
def test_bad_settings_are_named(metadata: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        checked = read_settings(metadata)
        _ = checked.judging
        preflight(checked)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("metadata", "said"), [({}, "no judge: give one"), ({"urs_dataset": "no.csv"}, "no.csv")]
)
def test_a_refusal_comes_before_anything_is_generated(metadata: dict[str, Any], said: str) -> None:
    model = answering(answer)
    with pytest.raises(InputError, match=said):
        run("urs", model, {"urs_dataset": "sample", **metadata}, limit=2)
    assert model.seen == []


def test_an_option_without_its_beginning_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    read_settings(
        {"dataset": "sample", "model": "m", "base_url": "http://there", "urs_dataset": "sample"}
    )
    said = [one.getMessage() for one in caplog.records if "did you mean" in one.getMessage()]
    assert said and {one.partition("did you mean ")[2] for one in said} == {"'urs_dataset'?"}


def test_two_processes_give_the_numbers_of_one(judge: ChatServer) -> None:
    alone = numbers(run("urs", answering(answer), settings(judge)), "urs")
    both = run_in_two("urs", partial(answering, answer), settings(judge))
    assert len(both["samples"]["urs"]) == 42
    assert sorted(one["doc_id"] for one in both["samples"]["urs"]) == list(range(42))
    assert numbers(both, "urs") == pytest.approx(alone)
    assert isinstance(alone["urs_final_stderr,none"], float)


def test_two_processes_say_nothing_of_what_no_case_has(judge: ChatServer) -> None:
    alone = numbers(run("urs_zh", answering(answer), settings(judge), 3), "urs_zh")
    both = run_in_two("urs_zh", partial(answering, answer), settings(judge), 3)
    assert numbers(both, "urs_zh") == pytest.approx(alone)
    assert "urs_en,none" not in alone


def test_a_judge_that_one_process_cannot_have_costs_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def script(request: Request) -> Response:
        return fails(500) if "Answer of rank 1" in str(request.messages) else judging(request)

    def model(rank: int, **kwargs: Any) -> ScriptedLM:
        return answering(lambda _: f"Answer of rank {rank}.", rank=rank, **kwargs)

    with serving(script, monkeypatch) as server:
        found = run_in_two("urs", model, settings(server), 12)
    finals = [
        record["scores"]["final"]
        for record in records(found, "urs").values()
        if record["scores"] is not None
    ]
    assert len(finals) == 6
    assert metric(found, "urs", "urs_judge_failed") == 0.5
    assert metric(found, "urs", "urs_final") == pytest.approx(mean(finals))
    assert metric(found, "urs", "urs_final_stderr") == pytest.approx(stdev(finals) / math.sqrt(6))


def test_replies_are_not_paid_for_twice(judge: ChatServer, tmp_path: Path) -> None:
    kept = settings(judge, judge_cache=str(tmp_path / "replies.sqlite3"), judge_preflight=False)
    first = run("urs", answering(answer), kept, limit=4)
    calls = judge.count()
    again = run("urs", answering(answer), kept, limit=4)
    assert judge.count() == calls > 0
    assert again["results"]["urs"]["urs_final,none"] == first["results"]["urs"]["urs_final,none"]
    run("urs", answering(answer), {**kept, "judge_temperature": 0.5}, limit=4)
    assert judge.count() == 2 * calls


def test_calls_run_at_once_as_many_as_told(monkeypatch: pytest.MonkeyPatch) -> None:
    lock, under_way, most = threading.Lock(), 0, 0
    gate = threading.Barrier(4)

    def script(request: Request) -> Response:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        gate.wait(timeout=30)  # passes only when four calls are under way
        with lock:
            under_way -= 1
        return judging(request)

    with serving(script, monkeypatch) as server:
        told = settings(server, judge_concurrency=4, judge_preflight=False)
        run("urs", answering(lambda _: "An answer."), told, limit=12)
    assert most == 4
