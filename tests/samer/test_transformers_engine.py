"""Tests of `urs_inspect.samer.neural.transformers_engine`."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import LlamaModel

from tests.samer.checkpoints import CHAT_TEMPLATE, EOT, declaring, tiny_checkpoint, write_tokenizer
from tests.samer.conftest import SMALL
from tests.samer.reference import Reference
from tests.samer.test_checkpoint import Copied
from urs_inspect._util import InputError
from urs_inspect.samer.conversation import Conversations
from urs_inspect.samer.engines import EngineFailure, QueryResponse, Scored, load_engine
from urs_inspect.samer.export import export_checkpoint
from urs_inspect.samer.neural import transformers_engine
from urs_inspect.samer.neural.transformers_engine import BackboneEmbedder, batches

TOLERANCE = 1e-5


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Models as small as these are slower on several threads, and much slower on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def whole(released: Path) -> "list[Scored]":
    """Outputs of all items."""
    return run(released, ITEMS)


ITEMS = [
    QueryResponse("Why is the sky blue?", "Because short waves scatter more."),
    QueryResponse("a", "!" * 60),  # token 0, which the released configuration calls padding
    QueryResponse("", ""),
    QueryResponse("x" * 200, "y"),
    QueryResponse("写一首诗", "春眠不觉晓，\n\n处处闻啼鸟。"),
    QueryResponse("What closes a turn?", f"This: {EOT} and nothing else {EOT}"),
    *(QueryResponse(f"question {number}", "the answer " * number) for number in range(12)),
]


@pytest.fixture(scope="module")
def reference(released: Path) -> Reference:
    return Reference(released)


def run(folder: Path, items: Sequence[QueryResponse], **options: Any) -> list[Scored]:
    """Outputs of items that have no fault."""
    outcomes = run_any(folder, items, **options)
    assert all(isinstance(one, Scored) for one in outcomes), outcomes
    return [one for one in outcomes if isinstance(one, Scored)]


def run_any(folder: Path, items: Sequence[QueryResponse], **options: Any) -> list[Scored | EngineFailure]:
    async def main() -> list[Scored | EngineFailure]:
        engine = load_engine(str(folder), engine="transformers", **options)
        try:
            return await engine.score(items)
        finally:
            await engine.close()

    return asyncio.run(main())


def assert_equal(ours: Sequence[Scored], others: Sequence[Scored], tolerance: float = TOLERANCE) -> None:
    for one, other in zip(ours, others, strict=True):
        for name in ("scores", "gates", "weights"):
            np.testing.assert_allclose(getattr(one.raw, name), getattr(other.raw, name), atol=tolerance, rtol=0)


@pytest.mark.parametrize("weights_at", ["response", "query"])
def test_equal_to_the_plain_computation(released: Path, reference: Reference, weights_at: str) -> None:
    for item, scored in zip(ITEMS, run(released, ITEMS, weights_at=weights_at), strict=True):
        if EOT in item.response:
            continue  # which transformers' tokeniser would take for a token
        query, whole = reference.ids(item.query), reference.ids(item.query, item.response)
        for name, expected in reference.outputs(query, whole, weights_at).items():
            np.testing.assert_allclose(getattr(scored.raw, name), expected, atol=TOLERANCE, rtol=0)
        assert (scored.tokens, scored.shortened) == (len(whole), 0)


def test_the_second_start_token_is_that_of_the_released_inference(released: Path, reference: Reference) -> None:
    start = reference.tokenizer.bos_token_id
    [single], [double] = (run(released, ITEMS[:1], bos=bos) for bos in ("single", "double"))
    ids = [reference.ids(ITEMS[0].query), reference.ids(ITEMS[0].query, ITEMS[0].response)]
    expected = reference.outputs([start, *ids[0]], [start, *ids[1]])
    np.testing.assert_allclose(double.raw.scores, expected["scores"], atol=TOLERANCE)
    assert np.abs(single.raw.scores - double.raw.scores).max() > 100 * TOLERANCE


@pytest.mark.parametrize("batch_tokens", [1, 100, 700, 100_000])
def test_batch_size_and_order_change_nothing(released: Path, whole: list[Scored], batch_tokens: int) -> None:
    order = np.random.default_rng(batch_tokens).permutation(len(ITEMS))
    shuffled = run(released, [ITEMS[at] for at in order], batch_tokens=batch_tokens)
    assert_equal(shuffled, [whole[at] for at in order])


def test_what_is_exported_gives_the_same(released: Path, whole: list[Scored], tmp_path: Path) -> None:
    export_checkpoint(released, tmp_path / "out")
    assert_equal(run(tmp_path / "out", ITEMS), whole, 0)


def test_a_template_whose_query_is_no_prefix_takes_two_passes(released: Path, tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "m")
    with_system = CHAT_TEMPLATE.replace("{{ bos_token }}", "{{ bos_token }}{{ messages | length }}")
    write_tokenizer(folder, template=with_system)
    reference = Reference(folder)
    for item, scored in zip(ITEMS[:4], run(folder, ITEMS[:4]), strict=True):
        expected = reference.outputs(reference.ids(item.query), reference.ids(item.query, item.response))
        for name, values in expected.items():
            np.testing.assert_allclose(getattr(scored.raw, name), values, atol=TOLERANCE, rtol=0)


def test_too_long_is_shortened_and_says_by_how_much(released: Path, reference: Reference) -> None:
    item = QueryResponse("question", "x" * 1000)
    [scored] = run(released, [item])
    whole = reference.ids(item.query, item.response)
    assert scored.tokens == 511
    assert scored.shortened == len(whole) - 511
    expected = reference.outputs(reference.ids(item.query), [*whole[:510], whole[-1]])
    np.testing.assert_allclose(scored.raw.scores, expected["scores"], atol=TOLERANCE)


def test_an_items_fault_is_its_own(released: Path) -> None:
    items = [ITEMS[0], QueryResponse("x" * 1000, "y"), ITEMS[4]]
    first, failure, last = run_any(released, items)
    assert isinstance(failure, EngineFailure)
    assert failure.mode == "too_long"
    assert "leaves no room for a response" in failure.detail
    assert_equal([one for one in (first, last) if isinstance(one, Scored)], run(released, [ITEMS[0], ITEMS[4]]))
    [refused] = run_any(released, [QueryResponse("q", "x" * 1000)], overlong="error")
    assert isinstance(refused, EngineFailure)
    assert refused.mode == "too_long"
    assert run_any(released, []) == []


def test_bfloat16_is_near_and_its_heads_are_exact(released: Path, whole: list[Scored]) -> None:
    rounded, exact = run(released, ITEMS, dtype="bfloat16"), whole
    assert_equal(rounded, exact, 0.5)
    assert np.abs(rounded[0].raw.scores - exact[0].raw.scores).max() > TOLERANCE
    assert rounded[0].raw.scores.dtype == np.float32


@pytest.mark.parametrize(
    ("stored", "wanted", "settled"),
    [("float32", "auto", "float32"), ("bfloat16", "auto", "float32"), ("bfloat16", "bfloat16", "bfloat16")],
)
def test_the_type_that_was_settled_is_in_the_spec(tmp_path: Path, stored: str, wanted: str, settled: str) -> None:
    folder = tiny_checkpoint(tmp_path / "m", dtype=stored, inner_widths=SMALL)
    engine = load_engine(str(folder), engine="transformers", device="cpu", dtype=wanted)
    assert engine.spec.dtype == settled


def test_heads_are_read_where_they_were_trained_unless_a_user_says_otherwise(copied: Copied) -> None:
    folder = declaring(copied("m"), "query")
    trained, other = run(folder, ITEMS), run(folder, ITEMS, weights_at="response")
    assert_equal(trained, run(folder, ITEMS, weights_at="query"), 0)
    assert np.abs(trained[0].raw.weights - other[0].raw.weights).max() > 100 * TOLERANCE
    assert load_engine(str(folder), engine="transformers").spec.weights_at == "query"


def test_a_model_that_gives_nan_fails_and_never_scores(released: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gathered = transformers_engine._gathered

    def broken(*arguments: Any) -> Any:
        return gathered(*arguments) * np.float32(np.nan)

    monkeypatch.setattr(transformers_engine, "_gathered", broken)
    outcomes = run_any(released, ITEMS[:2])
    assert [one.mode for one in outcomes if isinstance(one, EngineFailure)] == ["not_finite"] * 2


def test_too_large_a_batch_is_halved_until_it_fits(
    released: Path, whole: list[Scored], monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered, sizes = transformers_engine._gathered, []

    def small_memory(model: Any, sequences: list[Any], *rest: Any) -> Any:
        sizes.append(len(sequences))
        if len(sequences) > 2:
            raise torch.OutOfMemoryError("no")
        return gathered(model, sequences, *rest)

    monkeypatch.setattr(transformers_engine, "_gathered", small_memory)
    assert_equal(run(released, ITEMS, batch_tokens=100_000), whole)
    assert sizes[0] == len(ITEMS)


def test_the_event_loop_lives_and_single_items_share_batches(
    released: Path, whole: list[Scored], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    original = transformers_engine._Backbone.pairs

    def counted(self: Any, items: list[Any]) -> Any:
        sizes.append(len(items))
        return original(self, items)

    monkeypatch.setattr(transformers_engine._Backbone, "pairs", counted)

    async def main() -> tuple[list[Any], int]:
        engine = load_engine(str(released), engine="transformers")
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                await asyncio.sleep(0.001)
                beats += 1

        pulse = asyncio.create_task(beat())
        outcomes = await asyncio.gather(*(engine.score([item]) for item in ITEMS))
        pulse.cancel()
        return [one for [one] in outcomes], beats

    outcomes, beats = asyncio.run(main())
    assert beats > 0
    assert_equal(outcomes, whole)
    assert sizes[0] == len(ITEMS) or len(sizes) < len(ITEMS)


def test_nothing_is_printed_and_a_closed_engine_fails_without_raising(released: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from urs_inspect.samer.engines import load_engine, QueryResponse\n"
        "async def main():\n"
        "    engine = load_engine(sys.argv[1], engine='transformers')\n"
        "    await engine.score([QueryResponse('q', 'r')])\n"
        "    await engine.close(); await engine.close()\n"
        "    [failure] = await engine.score([QueryResponse('q', 'r')])\n"
        "    assert failure.detail == 'RuntimeError: the engine is closed', failure\n"
        "asyncio.run(main())"
    )
    done = subprocess.run([sys.executable, "-c", script, str(released)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "int8"}, "dtype 'int8'; allowed: auto, float32, bfloat16, float16"),
        ({"max_length": 513}, "max_length 513; allowed are .* to 512"),
        ({"batch_tokens": 0}, "batch_tokens 0; expected 1 or more"),
        ({"device": "abacus"}, "device 'abacus'"),
    ],
)
def test_bad_options(released: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_engine(str(released), engine="transformers", **options)


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(1, 200))
def test_batches_hold_everything_once_within_the_budget(lengths: list[int], budget: int) -> None:
    groups = list(batches(lengths, budget))
    assert sorted(at for group in groups for at in group) == list(range(len(lengths)))
    for group in groups:
        assert len(group) == 1 or len(group) * max(lengths[at] for at in group) <= budget


QUERIES = ["Hello?", "What is the sum of two and two, and why?", "Hello?", ""]
RESPONSES = ["Hi!", "Four. " * 30, "", "<|eot_id|> nothing"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint(tmp_path_factory.mktemp("model") / "llama")


def test_vectors_are_those_of_plain_passes(folder: Path):
    embedder = BackboneEmbedder(folder, dtype="float32", device="cpu")
    at_query, at_end = embedder.embed(QUERIES, RESPONSES)
    model = LlamaModel.from_pretrained(folder, dtype=torch.float32)
    model.eval()
    conversations = Conversations(folder)
    for row, (query, response) in enumerate(zip(QUERIES, RESPONSES, strict=True)):
        encoded = conversations.encode(query, response, 512)
        for ids, found in ((encoded.query_ids, at_query[row]), (encoded.ids, at_end[row])):
            with torch.no_grad():
                expected = model(input_ids=torch.tensor([ids])).last_hidden_state[0, -1].numpy()
            assert found == pytest.approx(expected, abs=1e-5)


def test_company_in_a_batch_changes_nothing(folder: Path):
    embedder = BackboneEmbedder(folder, dtype="float32", device="cpu")
    together = embedder.embed(QUERIES, RESPONSES)
    for row in range(len(QUERIES)):
        for alone, with_others in zip(
            embedder.embed(QUERIES[row : row + 1], RESPONSES[row : row + 1]), together, strict=True
        ):
            assert np.abs(alone[0] - with_others[row]).max() < 1e-5


def test_the_name_tells_models_and_types_apart(folder: Path, tmp_path: Path):
    other = tiny_checkpoint(tmp_path / "other", seed=1)
    names = {
        BackboneEmbedder(folder, dtype="float32", device="cpu").name,
        BackboneEmbedder(folder, dtype="bfloat16", device="cpu").name,
        BackboneEmbedder(other, dtype="float32", device="cpu").name,
        BackboneEmbedder(folder, dtype="float32", device="cpu", max_length=64).name,
    }
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    assert BackboneEmbedder(copy, dtype="float32", device="cpu").name in names
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")  # a fine-tune begins as its base does
    names.add(BackboneEmbedder(copy, dtype="float32", device="cpu").name)
    with (copy / "tokenizer_config.json").open("a", encoding="utf-8") as file:
        file.write("\n")
    names.add(BackboneEmbedder(copy, dtype="float32", device="cpu").name)
    assert len(names) == 6
    assert BackboneEmbedder(folder, dtype="float32", device="cpu").name in names


def test_what_cannot_be_used_is_refused(folder: Path, tmp_path: Path):
    with pytest.raises(InputError, match="dtype 'int8'; allowed: float32, bfloat16"):
        BackboneEmbedder(folder, dtype="int8")
    with pytest.raises(InputError, match=r"max_length 9999; allowed are \d+ to 512"):
        BackboneEmbedder(folder, max_length=9999)
    with pytest.raises(InputError, match="no such folder; expected a Llama"):
        BackboneEmbedder(tmp_path / "absent")
