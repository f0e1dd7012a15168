"""Both vectors of a query with its response out of one pass, equal to those of two plain passes."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import LlamaModel

from tests.samer.checkpoints import tiny_checkpoint
from urs_inspect.errors import InputError
from urs_inspect.samer.conversation import Conversations
from urs_inspect.samer.neural.backbone_embedder import BackboneEmbedder

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


def test_a_long_response_is_cut(folder: Path):
    embedder = BackboneEmbedder(folder, dtype="float32", device="cpu", max_length=64)
    found = embedder.embed(["Hello?"], ["word " * 5000])
    assert all(np.isfinite(part).all() for part in found)


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
