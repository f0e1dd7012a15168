"""Tests of `urs_inspect.samer._neural.transformers_engine`."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.samer.checkpoints import CHAT_TEMPLATE, EOT, declaring, tiny_checkpoint, write_tokenizer
from tests.samer.conftest import SMALL
from tests.samer.pooling_server import check_equal
from tests.samer.reference import Reference
from tests.samer.test_checkpoint import Copied, rewrite
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.samer._conversation import Conversations
from urs_inspect.samer._engines import QueryResponse, load_engine
from urs_inspect.samer._evaluation import RawOutputs
from urs_inspect.samer._export import export_checkpoint
from urs_inspect.samer._neural import transformers_engine
from urs_inspect.samer._neural.transformers_engine import BackboneEmbedder, batches


@pytest.fixture(scope="module")
def reference(released: Path) -> Reference:
    return Reference(released)


@pytest.fixture(scope="module")
def whole(reference: Reference, released: Path) -> list[RawOutputs]:
    """Outputs of all items, one by one without any engine."""
    return plain(reference, released)


def plain(reference: Reference, folder: Path, weights_at: str = "response") -> list[RawOutputs]:
    encoded = [Conversations(folder).encode(item.query, item.response, 512) for item in ITEMS]
    return [
        RawOutputs(**reference.outputs([*one.query_ids], [*one.ids], weights_at)) for one in encoded
    ]


def run(folder: Path, items: Sequence[QueryResponse], **options: Any) -> list[Any]:
    async def main() -> list[Any]:
        engine = load_engine(str(folder), engine="transformers", **options)
        try:
            return await engine.score(items)
        finally:
            await engine.close()

    return asyncio.run(main())


ITEMS = [
    QueryResponse("Why is the sky blue?", "Because short waves scatter more."),
    QueryResponse("a", "!" * 60),  # token 0, which the released configuration calls padding
    QueryResponse("", ""),
    QueryResponse("x" * 200, "y"),
    QueryResponse("写一首诗", "春眠不觉晓，\n\n处处闻啼鸟。"),
    QueryResponse("What closes a turn?", f"This: {EOT} and nothing else {EOT}"),
    *(QueryResponse(f"question {number}", "the answer " * number) for number in range(12)),
]


@pytest.mark.parametrize("weights_at", ["response", "query"])
def test_equal_to_the_plain_computation(
    released: Path, reference: Reference, weights_at: str
) -> None:
    found = run(released, ITEMS, weights_at=weights_at)
    check_equal(found, plain(reference, released, weights_at))
    for item, scored in zip(ITEMS, found, strict=True):
        if EOT not in item.response:  # which transformers' tokeniser would take for a token
            assert (scored.tokens, scored.shortened) == (
                len(reference.ids(item.query, item.response)),
                0,
            )


def test_the_second_start_token_is_that_of_the_released_inference(
    released: Path, reference: Reference
) -> None:
    start = reference.tokenizer.bos_token_id
    ids = [reference.ids(ITEMS[0].query), reference.ids(ITEMS[0].query, ITEMS[0].response)]
    double = RawOutputs(**reference.outputs([start, *ids[0]], [start, *ids[1]]))
    check_equal(run(released, ITEMS[:1], bos="double"), [double])
    assert np.abs(reference.outputs(ids[0], ids[1])["scores"] - double.scores).max() > 1e-3


@pytest.mark.parametrize("batch_tokens", [1, 100, 700])
def test_batch_size_and_order_change_nothing(
    released: Path, whole: list[RawOutputs], batch_tokens: int
) -> None:
    order = np.random.default_rng(batch_tokens).permutation(len(ITEMS))
    shuffled = run(released, [ITEMS[at] for at in order], batch_tokens=batch_tokens)
    check_equal(shuffled, [whole[at] for at in order])


def test_what_is_exported_gives_the_same(released: Path, tmp_path: Path) -> None:
    export_checkpoint(released, tmp_path / "out")
    check_equal(run(tmp_path / "out", ITEMS), [one.raw for one in run(released, ITEMS)], 0, 0)


def test_a_template_whose_query_is_no_prefix_takes_two_passes(tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "m")
    write_tokenizer(
        folder,
        template=CHAT_TEMPLATE.replace("bos_token }}", "bos_token }}{{ messages | length }}"),
    )
    check_equal(run(folder, ITEMS), plain(Reference(folder), folder))


def test_too_long_is_shortened_or_a_failure_that_is_its_own(
    released: Path, reference: Reference, whole: list[RawOutputs]
) -> None:
    item = QueryResponse("question", "x" * 1000)
    first, failure, scored, last = run(
        released, [ITEMS[0], QueryResponse("x" * 1000, "y"), item, ITEMS[4]]
    )
    assert failure.mode == "too_long" and tells(failure.detail, "no room ... response")
    ids = reference.ids(item.query, item.response)
    assert (scored.tokens, scored.shortened) == (511, len(ids) - 511)
    cut = RawOutputs(**reference.outputs(reference.ids(item.query), [*ids[:510], ids[-1]]))
    check_equal([first, scored, last], [whole[0], cut, whole[4]])
    [refused] = run(released, [item], overlong="error")
    assert refused.mode == "too_long"
    assert run(released, []) == []


def test_bfloat16_is_near_and_its_heads_are_exact(released: Path, whole: list[RawOutputs]) -> None:
    rounded = run(released, ITEMS, dtype="bfloat16")
    check_equal(rounded, whole, 0.5)
    assert np.abs(rounded[0].raw.scores - whole[0].scores).max() > 1e-5
    assert rounded[0].raw.scores.dtype == np.float32


@pytest.mark.parametrize(
    ("stored", "wanted", "settled"),
    [
        ("float32", "auto", "float32"),
        ("bfloat16", "auto", "float32"),
        ("bfloat16", "bfloat16", "bfloat16"),
    ],
)
def test_the_type_that_was_settled_is_in_the_spec(
    tmp_path: Path, stored: str, wanted: str, settled: str
) -> None:
    folder = tiny_checkpoint(tmp_path / "m", dtype=stored, inner_widths=SMALL)
    engine = load_engine(str(folder), engine="transformers", device="cpu", dtype=wanted)
    assert engine.spec.dtype == settled


def test_heads_are_read_where_they_were_trained_unless_a_user_says_otherwise(
    copied: Copied,
) -> None:
    folder = declaring(copied("m"), "query")
    trained, other = run(folder, ITEMS), run(folder, ITEMS, weights_at="response")
    check_equal(trained, [one.raw for one in run(folder, ITEMS, weights_at="query")], 0, 0)
    assert np.abs(trained[0].raw.weights - other[0].raw.weights).max() > 1e-3


def test_a_model_that_gives_nan_fails_and_never_scores(
    released: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered = transformers_engine._gathered

    def broken(*arguments: Any) -> Any:
        return gathered(*arguments) * np.float32(np.nan)

    monkeypatch.setattr(transformers_engine, "_gathered", broken)
    assert [one.mode for one in run(released, ITEMS[:2])] == ["not_finite"] * 2


def test_too_large_a_batch_is_halved_until_it_fits(
    released: Path, whole: list[RawOutputs], monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered, sizes = transformers_engine._gathered, []

    def small_memory(model: Any, sequences: list[Any], *rest: Any) -> Any:
        sizes.append(len(sequences))
        if len(sequences) > 2:
            raise torch.OutOfMemoryError("no")
        return gathered(model, sequences, *rest)

    monkeypatch.setattr(transformers_engine, "_gathered", small_memory)
    check_equal(run(released, ITEMS, batch_tokens=100_000), whole)
    assert sizes[0] == len(ITEMS)


def test_nothing_is_printed_and_a_closed_engine_fails_without_raising(copied: Copied) -> None:
    folder = copied("m")
    head = {"lm_head.weight": np.ones((270, 64), np.float32)}
    rewrite(folder, lambda tensors: tensors | head)  # of which the library would speak
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from urs_inspect.samer._engines import load_engine, QueryResponse\n"
        "from urs_inspect.samer._neural.transformers_engine import BackboneEmbedder\n"
        "BackboneEmbedder(Path(sys.argv[1])).embed(['q'], ['r'])\n"
        "async def main():\n"
        "    engine = load_engine(sys.argv[1], engine='transformers')\n"
        "    await engine.score([QueryResponse('q', 'r')])\n"
        "    await engine.close(); await engine.close()\n"
        "    [failure] = await engine.score([QueryResponse('q', 'r')])\n"
        "    assert failure.detail == 'RuntimeError: the engine is closed', failure\n"
        "asyncio.run(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "int8"}, "dtype: .*'int8'; allowed: auto, float32, bfloat16, float16"),
        ({"max_length": 513}, "max_length 513; allowed are .* to 512"),
        ({"batch_tokens": 0}, "batch_tokens: must be .* at least 1, got 0"),
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


def test_vectors_are_those_of_plain_passes(released: Path, reference: Reference):
    at_query, at_end = BackboneEmbedder(released, dtype="float32", device="cpu").embed(
        QUERIES, RESPONSES
    )
    for row, (query, response) in enumerate(zip(QUERIES, RESPONSES, strict=True)):
        encoded = Conversations(released).encode(query, response, 512)
        for ids, found in ((encoded.query_ids, at_query[row]), (encoded.ids, at_end[row])):
            with torch.no_grad():
                expected = (
                    reference.backbone(input_ids=torch.tensor([ids]))
                    .last_hidden_state[0, -1]
                    .numpy()
                )
            assert found == pytest.approx(expected, abs=1e-5)


def test_the_name_tells_models_and_types_apart(released: Path, tmp_path: Path):
    def name(folder: Path, dtype: str = "float32", **more: Any) -> str:
        return BackboneEmbedder(folder, dtype=dtype, device="cpu", **more).name

    names = {name(released), name(released, "bfloat16"), name(released, max_length=64)}
    copy = Path(shutil.copytree(released, tmp_path / "copy"))
    assert name(copy) in names
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")  # a fine-tune begins as its base does
    names.add(name(copy))
    with (copy / "tokenizer_config.json").open("a", encoding="utf-8") as file:
        file.write("\n")
    names.add(name(copy))
    assert len(names) == 5


def test_what_cannot_be_used_is_refused(released: Path, tmp_path: Path):
    with pytest.raises(InputError, match=r"max_length 9999; allowed are \d+ to 512"):
        BackboneEmbedder(released, max_length=9999)
    with pytest.raises(InputError, match="no such folder; expected a Llama"):
        BackboneEmbedder(tmp_path / "absent")
