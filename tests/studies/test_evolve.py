"""`evolve`, from seeds to a pool that `mad` and `urs` read."""

import asyncio
import hashlib
import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalError, EvalLog, EvalSample
from inspect_ai.model import ChatMessage, Model

from tests.reports.json_files import write_rows
from tests.tasks.commands import refused
from tests.tasks.scripted import Reply, Script, metric_values, output, run, samples_of
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.datasets import Vocabulary, load_urs
from urs_inspect.discrepancy._pools import load_pool_file
from urs_inspect.rubrics import load_rubric
from urs_inspect.studies._evolve_task import EvolutionSource, evolve
from urs_inspect.studies._pool_growth import PoolItem

SEEDS = {
    "tide": "Why does the sea rise and fall twice a day?",
    "rust": "Which process turns iron red in damp air?",
    "echo": "What makes a voice return from a cliff?",
}
TOPICS = (
    "volcano",
    "glacier",
    "comet",
    "enzyme",
    "prism",
    "lichen",
    "magnet",
    "quasar",
    "plankton",
    "neuron",
)


def seed_file(tmp_path: Path) -> str:
    rows = [
        {"id": name, "instruction": text, "answer": f"About {name}."}
        for name, text in SEEDS.items()
    ]
    return str(write_rows(tmp_path / "seeds.jsonl", *rows))


def given(messages: list[ChatMessage]) -> str:
    """The instruction that a generator was given."""
    found = re.search(
        r"<given_instruction>\n(.*?)\n</given_instruction>", messages[-1].text, re.DOTALL
    )
    assert found
    return found.group(1)


def written(instruction: str, answer: str = "Because.") -> str:
    return json.dumps({"instruction": instruction, "answer": answer})


def question(topic: str, writer: str) -> str:
    return f"Explain how a {topic} {topic} comes about, as {writer} teaches it."


class Writer:
    """Writes about another subject every time, so that nothing is repeated."""

    def __init__(self, name: str) -> None:
        self.name, self.script = name, Script(self._reply)
        self.count = 0

    def _reply(self, messages: list[ChatMessage]) -> Reply:
        self.count += 1
        return written(
            f"Explain {hashlib.sha256(f'{self.name} {self.count}'.encode()).hexdigest()}."
        )

    def model(self) -> Model:
        return self.script.model(self.name)


def run_evolve(tmp_path: Path, generators: Any, **arguments: Any) -> EvalLog:
    options: dict[str, Any] = {"seeds": seed_file(tmp_path), "scenario": "understanding"}
    options |= {"output": str(tmp_path / "pool.jsonl"), **arguments}
    roles = {} if generators is None else {"generator": generators}
    return run(evolve(**options), tmp_path / "logs", model="none/none", roles=roles)


def pool_rows(tmp_path: Path, name: str = "pool.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / name).read_text(encoding="utf-8").splitlines()]


def by_id(log: EvalLog) -> dict[str, EvalSample]:
    return {str(sample.id): sample for sample in samples_of(log)}


# --- a whole run ---


def test_two_generators_take_turns_for_three_rounds_and_the_pool_is_read_by_mad_and_urs(
    tmp_path: Path,
):
    one, two = Writer("one"), Writer("two")
    log = run_evolve(tmp_path, [one.model(), two.model()], rounds=3)
    assert log.status == "success", log.error
    samples = by_id(log)
    assert set(samples) == {f"{name}-r{number}" for name in SEEDS for number in (1, 2, 3)}

    # Every line goes from one generator to the other; each sample starts from what its line had
    # become.
    for name in SEEDS:
        line = [samples[f"{name}-r{number}"] for number in (1, 2, 3)]
        writers = [sample.store["evolution"]["generator"] for sample in line]
        assert writers in (
            ["mockllm/one", "mockllm/two", "mockllm/one"],
            ["mockllm/two", "mockllm/one", "mockllm/two"],
        )
        assert line[0].input == SEEDS[name]
        assert [line[1].input, line[2].input] == [
            sample.store["evolution"]["instruction"] for sample in line[:2]
        ]
        assert [sample.metadata["parent"] for sample in line] == [name, f"{name}-r1", f"{name}-r2"]
    assert {len(one.script.seen), len(two.script.seen)} == {4, 5}

    rows = pool_rows(tmp_path)
    assert [(row["round"], row["id"]) for row in rows] == sorted(
        (row["round"], row["id"]) for row in rows
    )
    assert {row["id"]: row["question"] for row in rows} == {
        name: sample.store["evolution"]["instruction"] for name, sample in samples.items()
    }
    assert {(row["scenario"], row["user_intent"], row["language"]) for row in rows} == {
        ("understanding", "Factual_QA", "en")
    }

    name, sha256, instructions = load_pool_file(str(tmp_path / "pool.jsonl"))
    assert (name, len(sha256), len(instructions)) == (str(tmp_path / "pool.jsonl"), 64, 9)
    assert {item.reference for item in instructions} == {"Because."}
    assert {(item.scenario, item.language) for item in instructions} == {("understanding", "en")}
    rubric = load_rubric()
    cases = load_urs(
        str(tmp_path / "pool.jsonl"), Vocabulary(rubric.intent_id, rubric.language_code)
    ).cases
    assert [case.id for case in cases] == [item.id for item in instructions]
    assert {(case.intent, case.language) for case in cases} == {("factual_qa", "en")}

    report = metric_values(log, "evolved")
    assert [report[row] for row in ("asked", "usable", "kept", "near-duplicates")] == [9, 9, 9, 0]
    assert [report[f"kept round={number}"] for number in (1, 2, 3)] == [3, 3, 3]
    assert report["kept generator=mockllm/one"] + report["kept generator=mockllm/two"] == 9
    assert metric_values(log, "usable") == {"mean": 1.0}
    assert log.results and log.results.headline


def test_near_duplicates_are_left_out_in_the_order_of_ids_and_their_parents_evolve_again(
    tmp_path: Path,
):
    same = "How does a glacier carve a valley over thousands of years?"

    def reply(messages: list[ChatMessage]) -> Reply:
        text = given(messages)
        if text == same:
            return written("Where do comets come from, and why do they have tails?")
        # Case and blanks apart, the three new instructions of the first round say the same.
        return written(
            {SEEDS["echo"]: same, SEEDS["rust"]: same.upper(), SEEDS["tide"]: f"{same}  "}[text]
        )

    log = run_evolve(tmp_path, Script(reply).model("one"), rounds=2)
    samples = by_id(log)
    # "echo" is first among the ids: its child stays. The others start from their seeds again, and
    # fail again.
    parents = {name: samples[f"{name}-r2"].metadata["parent"] for name in SEEDS}
    assert parents == {"echo": "echo-r1", "rust": "rust", "tide": "tide"}
    assert [(row["id"], row["parent"], row["seed"]) for row in pool_rows(tmp_path)] == [
        ("echo-r1", "echo", "echo"),
        ("echo-r2", "echo-r1", "echo"),
    ]
    report = metric_values(log, "evolved")
    assert [report[row] for row in ("asked", "usable", "kept", "near-duplicates")] == [6, 6, 2, 4]
    assert [report["kept round=1"], report["kept round=2"]] == [1, 1]


def test_garbage_and_a_failing_generator_are_counted_and_end_nothing(tmp_path: Path):
    good = Writer("good")
    leak, unanswered = (
        written("Explain the created instruction."),
        written("Explain how a comet forms.", ""),
    )
    garbage = Script(
        ["No.", "No.", leak, leak, unanswered, unanswered]
    )  # each reply is asked for once more
    broken = Script(RuntimeError("the endpoint is gone"))
    log = run_evolve(
        tmp_path,
        [good.model(), garbage.model("garbage"), broken.model("broken")],
        rounds=3,
        duplicates=1.0,
    )
    assert log.status == "success", log.error
    assert not [sample for sample in samples_of(log) if sample.error]
    report = metric_values(log, "evolved")
    # Three lines, three generators, three rounds: each generator is asked once a round.
    assert [report[row] for row in ("asked", "usable", "kept")] == [9, 3, 3]
    assert {name: value for name, value in report.items() if name.startswith("failures ")} == {
        "failures call_failed": 3,
        "failures leak": 1,
        "failures missing_answer": 1,
        "failures unparseable": 1,
    }
    assert [
        report[f"usable share generator=mockllm/{name}"] for name in ("good", "garbage", "broken")
    ] == [1, 0, 0]
    # A call without a reply says nothing about instructions: it has no value, so 3 of 6 replies are
    # usable.
    assert metric_values(log, "usable") == {"mean": 0.5}
    assert {row["generator"] for row in pool_rows(tmp_path)} == {"mockllm/good"}
    failed = [
        s for s in samples_of(log) if s.scores and s.scores["evolved"].reason == "no_response"
    ]
    assert len(failed) == 3
    assert all("the endpoint is gone" in (s.scores or {})["evolved"].explanation for s in failed)  # type: ignore[operator]


def test_replies_that_were_cut_off_are_not_read_and_where_nothing_is_kept_no_pool_is_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    comet = written("Explain a comet.")
    cut = [
        *[output(comet, "max_tokens")] * 2,
        output(comet, "content_filter"),
        output(comet, "model_length"),
    ]
    for replies, modes in (
        (cut, ("truncated", "content_filter", "context_overflow")),
        (
            [output(comet, error="bad gateway"), *[output("")] * 4],
            ("call_failed", "empty_reply", "empty_reply"),
        ),
    ):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            log = run_evolve(tmp_path, Script(replies).model("one"), rounds=1)
        assert log.status == "success", log.error
        report = metric_values(log, "evolved")
        assert report["usable"] == 0
        assert [report[f"failures {mode}"] for mode in modes] == [
            modes.count(mode) for mode in modes
        ]
        assert not (tmp_path / "pool.jsonl").exists()
        assert tells(caplog.text, "No instruction")


def test_the_prompt_shows_the_answer_and_writing_has_none(tmp_path: Path):
    one, two = Writer("one"), Writer("two")
    run_evolve(tmp_path, one.model(), scenario="reasoning", rounds=1)
    assert all("<given_answer>\nAbout " in messages[-1].text for messages in one.script.seen)
    run_evolve(
        tmp_path, two.model(), scenario="writing", rounds=1, output=str(tmp_path / "writing.jsonl")
    )
    assert not [messages for messages in two.script.seen if "given_answer>\n" in messages[-1].text]
    rows = pool_rows(tmp_path, "writing.jsonl")
    assert {(row["reference_ans"], row["user_intent"]) for row in rows} == {("", "Seek_Creativity")}
    rubric = load_rubric()
    with pytest.raises(InputError, match=r"lines 1.*: column 'reference_ans': empty"):
        load_urs(
            str(tmp_path / "writing.jsonl"), Vocabulary(rubric.intent_id, rubric.language_code)
        )


def test_limit_seeds_draws_and_another_seed_draws_otherwise(tmp_path: Path):
    def drawn(seed: int, limit: int) -> list[object]:
        task = evolve(
            seed_file(tmp_path),
            "coding",
            limit_seeds=limit,
            seed=seed,
            output=str(tmp_path / "pool.jsonl"),
        )
        return [sample.id for sample in task.dataset]

    assert len(drawn(0, 2)) == 2
    assert len({tuple(drawn(seed, 1)) for seed in range(8)}) > 1


# --- attempts ---


def source(tmp_path: Path, rounds: int = 2, duplicates: float = 0.9) -> EvolutionSource:
    seeds = [PoolItem(name, text, "", "Factual_QA", "en", name) for name, text in SEEDS.items()]
    pool = tmp_path / "pool.jsonl"
    return EvolutionSource(
        seeds, "understanding", rounds=rounds, duplicates=duplicates, output=pool
    )


def finished(sample: Any, text: str | None, *, failed: bool = False) -> EvalSample:
    """What the harness says of a sample that came to an end."""
    record = {
        "usable": text is not None,
        "instruction": text,
        "answer": "Because.",
        "generator": "g",
    }
    return EvalSample(
        id=sample.id,
        epoch=1,
        input=sample.input,
        target=sample.target,
        metadata=sample.metadata,
        store={} if failed else {"evolution": record},
        error=EvalError(message="gone", traceback="", traceback_ansi="") if failed else None,
    )


def test_a_new_attempt_in_the_same_process_begins_with_the_first_round(tmp_path: Path):
    async def drive() -> None:
        driver = source(tmp_path)
        first = driver.initial_samples()
        texts = {
            sample.id: question(topic, "a") for sample, topic in zip(first, TOPICS, strict=False)
        }
        # First attempt: one sample of round 1 is never finished, the task breaks off.
        for sample in first[:2]:
            await driver.sample_complete(finished(sample, texts[sample.id]))
        # Second attempt: the unfinished one ends first, the others are told again.
        await driver.sample_complete(finished(first[2], texts[first[2].id]))
        for sample in first[:2]:
            await driver.sample_complete(finished(sample, texts[sample.id]))
        second = await driver.next_samples()
        assert second is not None
        assert [sample.id for sample in second] == [
            f"{sample.id}".replace("-r1", "-r2") for sample in first
        ]
        assert [sample.input for sample in second] == [texts[sample.id] for sample in first]
        await driver.sample_complete(finished(second[0], question("prism", "b")))
        # Third attempt, after the second round had begun: everything is told again and ends well.
        for sample in first:
            await driver.sample_complete(finished(sample, texts[sample.id]))
        again = await driver.next_samples()
        assert again is not None and [sample.id for sample in again] == [
            sample.id for sample in second
        ]
        for sample, topic in zip(again, ("prism", "lichen", "magnet"), strict=True):
            await driver.sample_complete(finished(sample, question(topic, "b")))
        assert await driver.next_samples() is None
        assert await driver.next_samples() is None

    asyncio.run(drive())
    assert [row["round"] for row in pool_rows(tmp_path)] == [1, 1, 1, 2, 2, 2]


def test_a_sample_that_ended_in_an_error_leaves_its_line_where_it_was(tmp_path: Path):
    async def drive() -> None:
        driver = source(tmp_path)
        first = driver.initial_samples()
        await driver.sample_complete(finished(first[0], None, failed=True))
        await driver.sample_complete(finished(first[1], None))
        await driver.sample_complete(finished(first[2], question("prism", "a")))
        second = await driver.next_samples()
        assert second is not None
        assert [sample.metadata["parent"] for sample in second if sample.metadata] == [
            "tide",
            "rust",
            "echo-r1",
        ]
        assert [sample.metadata["turn"] for sample in second if sample.metadata] == [1, 2, 3]

    asyncio.run(drive())


def test_the_order_in_which_samples_end_does_not_matter(tmp_path: Path):
    async def drive(backwards: bool) -> str:
        driver = source(tmp_path, rounds=1, duplicates=0.5)
        samples = driver.initial_samples()
        for sample in reversed(samples) if backwards else samples:
            await driver.sample_complete(
                finished(sample, question("prism", f"writer of {sample.id}"))
            )
        for _ in range(2):  # asked again, it writes no other pool
            assert await driver.next_samples() is None
        assert not (tmp_path / "pool-2.jsonl").exists()
        return (
            (tmp_path / "pool.jsonl").rename(tmp_path / "before.jsonl").read_text(encoding="utf-8")
        )

    there, back = asyncio.run(drive(False)), asyncio.run(drive(True))
    assert there == back
    assert there.count("\n") == 1


# --- bad input ---


def test_without_a_generator_the_run_ends_before_the_first_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    log = run_evolve(tmp_path, None)
    assert log.status == "error"
    assert log.error and tells(log.error.message, "role 'generator'")
    assert not log.stats.model_usage
    refusal = refused(
        *(
            "eval",
            "urs_inspect/evolve",
            "-T",
            f"seeds={seed_file(tmp_path)}",
            "-T",
            "scenario=coding",
        ),
        *(
            "-T",
            f"output={tmp_path / 'pool.jsonl'}",
            "--model",
            "none",
            "--log-dir",
            str(tmp_path / "logs"),
        ),
        *("--model-role", "grader=urs_simulation/judge"),
        monkeypatch=monkeypatch,
        capsys=capsys,
    )
    assert refusal.status == 1
    [line] = refusal.error.splitlines()
    assert tells(line, "role 'generator'")
    assert not (tmp_path / "pool.jsonl").exists()


def test_an_output_that_exists_is_refused_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "pool.jsonl").write_text("mine", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    for place in (str(tmp_path / "pool.jsonl"), "~/pool.jsonl"):
        with pytest.raises(InputError, match=r"output:.*pool.jsonl' already"):
            evolve(seed_file(tmp_path), "coding", output=place)
    assert (tmp_path / "pool.jsonl").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_pool_is_written_beside_a_file_that_came_during_the_run_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, meanwhile: bool
):
    writer = Writer("one")

    def reply(messages: list[ChatMessage]) -> Reply:
        if meanwhile:
            (tmp_path / "pool.jsonl").write_text("mine", encoding="utf-8")
        return writer._reply(messages)

    run_evolve(tmp_path, Script(reply).model("one"), rounds=1)
    assert len(pool_rows(tmp_path, "pool-2.jsonl" if meanwhile else "pool.jsonl")) == len(SEEDS)
    warned = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert any("pool-2.jsonl" in record.message for record in warned) == meanwhile
    assert any("pool.jsonl" in record.message for record in warned) == meanwhile
