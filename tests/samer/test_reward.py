"""Reward models that are not SaMer: the engine against transformers called by hand, and everything
that is refused.
"""

import json
import math
import random
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
import torch
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample

from tests.samer.checkpoints import EOT, change_json
from tests.samer.pooling_server import pooling_server, replies, says
from tests.samer.reward_models import PLAIN, SlowReference, describe, tiny_reward_model
from tests.tasks.scripted import metric_values, run, say
from urs_inspect._util import InputError
from urs_inspect.samer import check_rows, judge, load_engine, reward_model, samer, score_file
from urs_inspect.samer._checkpoint import fingerprint
from urs_inspect.samer._checkpoint_check import check_model, open_model
from urs_inspect.samer._engines import EngineFailure, QueryResponse
from urs_inspect.samer._engines.shared import check_engine
from urs_inspect.samer._judgement import Judgement, score_values
from urs_inspect.samer._options import SamerOptions
from urs_inspect.scorers import pair_verdict
from urs_inspect.solvers import compare_pair

WORDS = ["the", "a", "in", "hello\n\n", "other", "<|", "42", "é", "你好", "answer"]


def texts(number: int, seed: int = 0) -> list[QueryResponse]:
    rng = random.Random(seed)

    def text(most: int) -> str:
        return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(most)))

    return [QueryResponse(text(20), text(60)) for _ in range(number)]


def judged(
    address: Path | str, items: list[QueryResponse], batch: int | None = None, **options: Any
) -> list[Any]:
    """Judgements of items in groups of `batch`, all from one engine."""

    async def run() -> list[Any]:
        engine = load_engine(str(address), **{"engine": "transformers", **options})
        step = batch or len(items)
        found = [
            part
            for at in range(0, len(items), step)
            for part in await judge(engine, items[at : at + step])
        ]
        await engine.close()
        return found

    return anyio.run(run)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_reward_model(tmp_path_factory.mktemp("reward") / "model")


@pytest.mark.parametrize(
    ("architecture", "labels", "padding"),
    [
        ("llama", 1, "eos"),
        ("llama", 3, "other"),
        ("qwen2", 1, None),
        ("qwen2", 2, "eos"),
        ("gpt2", 1, "other"),
    ],
)
def test_neither_batches_nor_order_change_a_score(
    tmp_path: Path, architecture: str, labels: int, padding: str | None
) -> None:
    seed = labels * 100 + len(architecture)
    folder = tiny_reward_model(
        tmp_path / "m", architecture, labels=labels, padding=padding, seed=seed
    )
    describe(
        folder,
        outputs=[f"h{n}" for n in range(labels)],
        overall={f"h{n}": n + 0.5 for n in range(labels)},
    )
    items = texts(20, seed)
    reference = SlowReference(folder)
    expected = np.array([reference.logits(item.query, item.response) for item in items])
    assert expected.std(axis=0).min() > 0.01  # else nothing would be compared
    for batch in (1, 3, 17):
        order = random.Random(batch).sample(range(len(items)), len(items))
        found = judged(folder, [items[at] for at in order], batch, batch_tokens=40 * batch)
        scores = np.array([judgement.evaluation.scores for judgement in found])
        np.testing.assert_allclose(scores, expected[order], atol=1e-5, rtol=0)
        overall = [judgement.evaluation.overall for judgement in found]
        np.testing.assert_allclose(
            overall, expected[order] @ (np.arange(labels) + 0.5), atol=3e-5, rtol=0
        )


def test_a_description_names_scales_and_weighs_outputs(tmp_path: Path, model: Path) -> None:
    folder = tiny_reward_model(tmp_path / "m", "gpt2", labels=2)
    item = QueryResponse("q", "r")
    bad, good = SlowReference(folder).logits("q", "r")
    file = tmp_path / "other.yaml"
    file.write_text(
        "outputs: [bad, {name: good, scale: 2, offset: 1}]\noverall: {good: 3, bad: -1}\n"
    )
    [found] = judged(folder, [item], description=str(file))
    expected = {"reward": 3 * (1 + 2 * good) - bad, "bad": bad, "good": 1 + 2 * good}
    assert score_values(found) == pytest.approx(expected, abs=1e-5)
    [plain] = judged(model, [item])
    assert score_values(plain) == pytest.approx(
        {"reward": SlowReference(model).logits("q", "r")[0]}, abs=1e-5
    )


def test_a_template_of_the_description_stands_in_for_the_missing_one(tmp_path: Path) -> None:
    folder = tiny_reward_model(tmp_path / "m", "qwen2", template=None)
    with pytest.raises(InputError, match=r"no chat template.*chat_template\.jinja.*reward\.yaml"):
        judged(folder, [QueryResponse("q", "r")])
    before = fingerprint(folder)
    describe(folder, outputs=["quality"], overall="quality", template=PLAIN)
    assert fingerprint(folder) != before
    [found] = judged(folder, [QueryResponse("q", "r")])
    assert found.evaluation.overall == pytest.approx(
        SlowReference(folder).logits("q", "r", PLAIN)[0], abs=1e-5
    )


def test_long_texts_keep_what_closes_the_response_and_empty_ones_have_a_number(model: Path) -> None:
    item = QueryResponse("q", "word " * 400)
    [cut] = judged(model, [item], max_length=64)
    assert cut.shortened > 0 and cut.tokens == 63
    conversations = open_model(model).conversations()
    assert conversations.encode("q", item.response, 64).ids[
        -1
    ] == conversations._tokenizer.token_to_id(EOT)
    [failure] = judged(model, [item], max_length=64, overlong="error")
    assert isinstance(failure, EngineFailure) and failure.mode == "too_long"
    [empty] = judged(model, [QueryResponse("q", "")])
    assert empty.no_response
    assert empty.evaluation.overall == pytest.approx(
        SlowReference(model).logits("q", "")[0], abs=1e-5
    )


def test_what_is_not_finite_is_a_failure_and_no_score(model: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = Path(shutil.copytree(model, tmp_path / "nan"))
    tensors = load_file(folder / "model.safetensors")
    tensors["model.layers.1.mlp.down_proj.weight"][0, 0] = float("nan")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    [failure] = judged(folder, [QueryResponse("q", "r")])
    assert isinstance(failure, EngineFailure) and failure.mode == "not_finite"
    assert any("NaN" in error for error in check_model(folder, values=True).errors)


@pytest.mark.parametrize(
    ("file", "settings", "message"),
    [
        ("config", {"id2label": {"0": "a", "1": "b"}}, "2 labels"),
        (
            "config",
            {"architectures": ["InternLM2ForRewardModel"], "auto_map": {"AutoModel": "x.Y"}},
            "never run",
        ),
        (
            "config",
            {"model_type": "no_such_model", "auto_map": {"AutoModel": "x.Y"}},
            "cannot load it",
        ),
        ("config", {"max_position_embeddings": 3}, "the model takes 3 tokens"),
        ("config", {"vocab_size": 10}, "pad_token_id 266;.*0 to 9"),
        ("config", {"vocab_size": 269}, "embed_tokens.weight has shape"),
        ("config", {"rms_norm_eps": "small"}, "rms_norm_eps: .* got 'small'"),
        (
            "config",
            {"rope_parameters": {"rope_type": "spiral", "rope_theta": 1e4}},
            "rope_parameters: unknown type 'spiral'; allowed",
        ),
        ("config", {"num_hidden_layers": "two"}, "cannot load it"),
        (
            "config",
            {"architectures": ["INFORMForSequenceClassification"]},
            "run it as LlamaForSequenceClassification",
        ),
        ("tokenizer_config", {"bos_token": None}, "bos_token"),
        ("tokenizer_config", {"chat_template": "x"}, "both the query"),
    ],
)
def test_folders_that_cannot_be_run_are_refused(
    model: Path, tmp_path: Path, file: str, settings: dict[str, Any], message: str
) -> None:
    path = Path(shutil.copytree(model, tmp_path / "m")) / f"{file}.json"
    content = json.loads(path.read_text()) | settings
    path.write_text(
        json.dumps({name: value for name, value in content.items() if value is not None})
    )
    with pytest.raises(InputError, match=message):
        judged(path.parent, [QueryResponse("q", "r")])


def test_the_check_refuses_what_engines_would_read_differently(model: Path, tmp_path: Path) -> None:
    """A missing layer, which vLLM scored; a bias of the head, for which two engines differed; parts
    without a use.
    """
    from safetensors.torch import load_file, save_file

    layer = "model.layers.1."
    changes: dict[str, tuple[dict[str, tuple[int, ...]], str, str]] = {
        "layer": ({}, layer, "9 weights are missing: model.layers.1"),
        "norm": ({}, "model.norm.", "1 weights are missing: model.norm.weight"),
        "bias": (
            {"score.bias": (1,)},
            "-",
            "1 tensor that the plain model does not have: score.bias",
        ),
        "parts": ({"uncertainty.weight": (1, 64)}, "-", "does not have: uncertainty.weight"),
        "head": (
            {"v_head.weight": (1, 64)},
            "score.",
            "a kind that is not supported: a value head",
        ),
    }
    for name, (added, dropped, message) in changes.items():
        folder = Path(shutil.copytree(model, tmp_path / name))
        tensors = load_file(folder / "model.safetensors")
        kept = {key: tensor for key, tensor in tensors.items() if not key.startswith(dropped)}
        kept |= {key: torch.ones(shape) for key, shape in added.items()}
        save_file(kept, folder / "model.safetensors", {"format": "pt"})
        describe(folder, outputs=["quality"], overall="quality")
        for engine in ("transformers", "vllm"):
            with pytest.raises(InputError, match=message):
                open_model(folder)
            with pytest.raises(InputError, match=message):
                load_engine(str(folder), engine=engine)


def test_a_model_that_caps_attention_is_run_eagerly(tmp_path: Path) -> None:
    """Gemma 2, whose logits of attention are capped; `sdpa` cannot do that."""
    folder = tiny_reward_model(tmp_path / "m", "gemma2")
    items = texts(12, 5)
    reference = SlowReference(folder)
    expected = [reference.logits(item.query, item.response)[0] for item in items]
    found = [judgement.evaluation.overall for judgement in judged(folder, items)]
    np.testing.assert_allclose(found, expected, atol=1e-5, rtol=0)
    change_json(folder / "config.json", attn_logit_softcapping=None)
    uncapped = [judgement.evaluation.overall for judgement in judged(folder, items)]
    assert (
        np.abs(np.array(uncapped) - expected).max() > 0.01
    )  # else the cap would not have been tested


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({"outputs": ["a"], "overall": "a"}, "describes 1 outputs;.*2"),
        ({"outputs": ["a", "b"], "overall": "c"}, "unknown output"),
        ({"outputs": ["a", "A"], "overall": "a"}, "twice"),
        ({"outputs": ["a", "reward"], "overall": "a"}, "another"),
        ({"outputs": ["a", "b"]}, "overall"),
        ({"outputs": ["a", {"name": "b", "scale": float("nan")}], "overall": "a"}, "scale"),
    ],
)
def test_descriptions_that_do_not_fit_are_refused(
    tmp_path: Path, description: dict[str, Any], message: str
) -> None:
    folder = tiny_reward_model(tmp_path / "m", labels=2)
    with pytest.raises(InputError, match="2 outputs"):
        check_engine(SamerOptions(model=str(folder), engine="transformers"))
    with pytest.raises(InputError, match=message):
        check_engine(
            SamerOptions(model=str(describe(folder, **description)), engine="transformers")
        )


def test_a_server_runs_the_head_and_gets_token_ids(model: Path) -> None:
    def script(number: int, body: Any) -> Any:
        faulty = number == 2
        return replies(
            body, [np.array([np.nan if faulty else len(ids)], np.float32) for ids in body["input"]]
        )

    with pooling_server(script) as server:
        options: dict[str, Any] = {"engine": "server", "folder": str(model)}
        first, second = judged(
            server.url, [QueryResponse("q", "r"), QueryResponse("q", "longer")], 1, **options
        )
    assert isinstance(first, Judgement) and first.evaluation.overall == first.tokens
    assert isinstance(second, EngineFailure) and second.mode == "not_finite"
    assert server.asked[1]["task"] == "classify" and server.asked[1]["use_activation"] is False
    other = says({"data": [{"index": 0, "data": [1.0, 2.0]}]})
    with (
        pooling_server(lambda *_: other) as server,
        pytest.raises(InputError, match="--convert classify"),
    ):
        judged(server.url, [], **options)


def test_bulk_writes_one_column_per_output(tmp_path: Path) -> None:
    folder = describe(
        tiny_reward_model(tmp_path / "m", labels=2), outputs=["Fact", "Tone"], overall={"Fact": 1}
    )
    source, out = tmp_path / "in.jsonl", tmp_path / "out.parquet"
    rows = [
        {"id": "x", "query": "q", "response": "r"},
        {"id": "y", "query": "q " * 600, "response": "r"},
    ]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))

    async def run() -> Any:
        engine = load_engine(str(folder), engine="transformers")
        return await score_file(check_rows(source), out, engine)

    report = anyio.run(run)
    written = import_module("pyarrow.parquet").read_table(out).to_pylist()
    fact, tone = SlowReference(folder).logits("q", "r")
    assert list(written[0]) == [
        "id",
        "reward",
        "score_fact",
        "score_tone",
        "no_response",
        "shortened",
        "failure",
    ]
    assert [written[0][name] for name in ("reward", "score_tone")] == pytest.approx(
        [fact, tone], abs=1e-5
    )
    assert written[1]["reward"] is None and written[1]["failure"].startswith("too_long")
    assert report.failures == {"too_long": 1} and report.mean_overall == pytest.approx(
        fact, abs=1e-5
    )


def test_the_scorer_and_the_judge_of_pairs_report_the_model_s_numbers(
    tmp_path: Path, model: Path
) -> None:
    folder = describe(
        Path(shutil.copytree(model, tmp_path / "m")), outputs=["quality"], overall={"quality": -2}
    )
    options: dict[str, Any] = {"model": str(folder), "engine": "transformers"}
    inputs = ["Why?", "q " * 600, "How?"]
    log = run(
        Task(
            dataset=MemoryDataset(
                [Sample(id=number, input=text) for number, text in enumerate(inputs)]
            ),
            solver=say("So."),
            scorer=reward_model(**options),
        ),
        tmp_path / "logs",
        model="none/none",
        grader=None,
    )
    samples = sorted(log.samples or [], key=lambda sample: int(sample.id))
    scores = [sample.scores["reward_model"] for sample in samples if sample.scores]
    values: list[Any] = [score.value for score in scores]
    expected = [SlowReference(folder).logits(text, "So.")[0] for text in ("Why?", "How?")]
    assert [values[at]["quality"] for at in (0, 2)] == pytest.approx(expected, abs=1e-5)
    assert values[0]["reward"] == pytest.approx(-2 * expected[0], abs=1e-5)
    assert all(math.isnan(number) for number in values[1].values())
    assert (scores[1].metadata or {})["failure_mode"] == "too_long" and scores[
        1
    ].reason == "grader_failed"
    assert (scores[0].metadata or {})["reward_model"]["fingerprint"] == fingerprint(folder)
    rows = metric_values(log, "reward_model")
    assert rows["quality"] == pytest.approx(sum(expected) / 2, abs=1e-5)
    assert rows["reward"] == pytest.approx(-sum(expected), abs=1e-5)
    assert rows["failures too_long"] == 1

    by_reward = sorted(
        ["So.", "Because it is."], key=lambda text: -SlowReference(folder).logits("Why?", text)[0]
    )
    pairs = [(*by_reward[::-1], "a"), (*by_reward, "b"), ("same", "same", "tie")]
    facts = [
        dict(zip(("response_a", "response_b", "label"), pair, strict=True), prompt="Why?")
        for pair in pairs
    ]
    task = Task(
        dataset=MemoryDataset(
            [Sample(id=n, input="Why?", metadata=each) for n, each in enumerate(facts)]
        ),
        solver=compare_pair("overall", judge="reward_model", samer=options),
        scorer=pair_verdict(),
    )
    judged_log = run(task, tmp_path / "logs", model="none/none", grader=None)
    assert metric_values(judged_log, "pair_verdict")["overall three_way"] == 1.0


def test_a_model_of_the_other_kind_and_verdicts_on_dimensions_are_refused(
    model: Path, small: Path
) -> None:
    options: dict[str, Any] = {"engine": "transformers"}
    for make, folder in ((samer, model), (reward_model, small)):
        with pytest.raises(InputError, match="model for"):
            make(str(folder), **options)
    with pytest.raises(InputError, match="only SaMer has weights"):
        load_engine(str(model), weights_at="query", **options)
    with pytest.raises(InputError, match="protocol=overall"):
        compare_pair("joint", judge="reward_model", samer={"model": str(model), **options})
