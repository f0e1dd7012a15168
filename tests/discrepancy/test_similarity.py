"""Tests of `urs_inspect.discrepancy._similarity`."""

import math
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, cast

import anyio
import numpy as np
import numpy.typing as npt
import pytest

from urs_inspect import discrepancy
from urs_inspect._util import InputError
from urs_inspect.discrepancy import (
    Selector,
    load_similarity,
    parse_similarity,
    register_similarity,
    similarity_names,
)
from urs_inspect.discrepancy import _similarity as similarity
from urs_inspect.discrepancy._similarity import (
    AskedSimilarity,
    LLMSimilarity,
    Similarity,
    VectorSimilarity,
    compare_answers,
    shortlist,
)
from urs_inspect.discrepancy._vector_cache import cached_vectors
from urs_inspect.discrepancy._vectors import Vectors


class Lengths:
    """A similarity that knows the length of a text only."""

    name, costly = "lengths", False

    def __init__(self, bad: float = 0.0, extra: int = 0) -> None:
        self.seen: list[str] = []
        self._bad, self._extra = bad, extra

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Length and one."""
        self.seen += texts
        rows = np.array([[len(text), 1.0 + self._bad] for text in texts], np.float32)
        return np.concatenate([rows, rows[: self._extra]])


def test_a_spec_has_a_name_and_perhaps_a_model_and_the_default_needs_none() -> None:
    assert load_similarity().name == "lexical/2048" and isinstance(
        load_similarity(), VectorSimilarity
    )
    for text, name, argument in (
        ("lexical", "lexical", ""),
        ("lexical/some/model", "lexical", "some/model"),
    ):
        spec = parse_similarity(text)
        assert (spec.name, spec.argument, str(spec)) == (name, argument, text)


@pytest.mark.parametrize(
    ("spec", "words"),
    {
        "cosine": "unknown similarity 'cosine'; allowed: lexical, llm",
        "": "unknown similarity ''",
        "lexical/wide": "similarity 'lexical/wide'; allowed: lexical, or",
        "lexical/3": "width 3; allowed: 16 or more",
        "llm": "similarity 'llm' needs a model role to ask",
    }.items(),
)
def test_a_spec_that_names_nothing_is_refused(spec: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        load_similarity(spec)
    with pytest.raises(InputError, match=r"'lexical': .*'base_url'"):
        load_similarity("lexical", base_url="http://localhost")


def test_a_user_adds_a_similarity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "_MAKERS", dict(similarity._MAKERS))
    register_similarity("lengths", lambda argument: Lengths())
    assert load_similarity("lengths").name == "lengths"
    assert "lengths" in similarity_names()
    register_similarity("nothing", lambda argument: cast(Similarity, object()))
    with pytest.raises(InputError, match=r"none.*methods"):
        load_similarity("nothing")

    def of_a_folder(argument: str, *, folder: str) -> Lengths:
        return Lengths()

    def broken(argument: str) -> Similarity:
        raise TypeError("a fault of its own")

    register_similarity("needy", of_a_folder)
    register_similarity("broken", broken)
    with pytest.raises(InputError, match=r"'needy': .*'folder'"):
        load_similarity("needy")
    assert load_similarity("needy", folder="x").name == "lengths"
    with pytest.raises(TypeError, match="fault of its own"):
        load_similarity("broken")
    for name in ("lengths", "a/b", "", "needy"):
        with pytest.raises(InputError, match="cannot be added"):
            register_similarity(name, lambda argument: Lengths())


def test_blank_texts_get_zero_vectors_and_are_not_sent() -> None:
    model = Lengths()
    found = cached_vectors(model, ["ab", " \n", "abc", ""])
    assert found.tolist() == [[2, 1], [0, 0], [3, 1], [0, 0]]
    assert model.seen == ["ab", "abc"]
    assert cached_vectors(model, ["", " "]).shape == (2, 0)
    assert cached_vectors(model, []).shape == (0, 0)
    with pytest.raises(InputError, match=r"'lengths' gave 2 of 2 vectors.*text 0"):
        cached_vectors(Lengths(bad=np.nan), ["a", "b"])
    with pytest.raises(InputError, match=r"'lengths'.*\(3, 2\).*2 texts"):
        cached_vectors(Lengths(extra=1), ["a", "b"])


def test_importing_the_room_loads_no_model_library() -> None:
    script = (
        "import sys, urs_inspect.discrepancy\n"
        "assert 'numpy' not in sys.modules\n"
        "room = urs_inspect.discrepancy\n"
        "room.select, room.load_similarity(), room.Allocator\n"
        "heavy = {'openai', 'torch', 'transformers', 'model2vec', 'tokenizers',"
        " 'safetensors', 'inspect_ai'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_no_other_name_is_public() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        discrepancy.nope  # noqa: B018


ANSWERS = {"m": ["aa", "bb", "", "cc"], "n": ["a", "x", "y", "ccc"], "o": ["a", " ", "y", "c"]}
PAIR = ("m", "n")


class Shared:
    """Share of letters that two texts have in common."""

    name = "shared"

    def __init__(self, extra: int = 0) -> None:
        self.calls = 0
        self._extra = extra

    def compare(self, first: Sequence[str], second: Sequence[str]) -> npt.NDArray[np.float64]:
        self.calls += len(first)
        values = [
            len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in zip(first, second, strict=True)
        ]
        return np.array(values + [0.0] * self._extra)


class Asked:
    """The same by asking; there is no answer about "bb"."""

    name = "asked"

    async def ask(self, first: Sequence[str], second: Sequence[str]) -> npt.NDArray[np.float64]:
        found = Shared().compare(first, second)
        found[[text == "bb" for text in first]] = np.nan
        return found


ALL = {PAIR: np.ones(4, np.bool_)}


def test_only_candidates_with_answers_are_compared() -> None:
    metric = Shared()
    found = anyio.run(
        compare_answers, metric, ANSWERS, {PAIR: np.array([True, True, True, False])}
    )[PAIR]
    assert found[:2].tolist() == [1.0, 0.0] and np.isnan(found[2:]).all()
    assert metric.calls == 2


@pytest.mark.parametrize("pair", [("m", "o"), ("o", "m")])
def test_a_blank_answer_of_either_is_not_compared(pair: tuple[str, str]) -> None:
    metric = Shared()
    found = anyio.run(compare_answers, metric, ANSWERS, {pair: np.ones(4, np.bool_)})[pair]
    np.testing.assert_array_equal(found, [1.0, np.nan, np.nan, 1.0])
    assert metric.calls == 2


def test_values_may_be_a_list() -> None:
    class Listed(Shared):
        def compare(self, first: Sequence[str], second: Sequence[str]) -> Any:
            return super().compare(first, second).tolist()

    found, expected = (
        anyio.run(compare_answers, metric, ANSWERS, ALL)[PAIR] for metric in (Listed(), Shared())
    )
    np.testing.assert_array_equal(found, expected)


def test_what_failed_is_no_candidate() -> None:
    found = anyio.run(compare_answers, Asked(), ANSWERS, ALL)
    assert np.isnan(found[PAIR]).tolist() == [False, True, True, False]
    selector = Selector.from_similarities(found, np.eye(4, dtype=np.float32), list("wxyz"))
    assert selector.candidates(PAIR) == 2
    assert [item.id for item in selector.select(2).selected[PAIR]] == ["w", "z"]


def test_answers_must_be_as_many_as_instructions() -> None:
    for answers, count in (({"m": ["a"] * 3, "n": ["a"] * 4}, "3"), ({"n": ["a"] * 4}, "no")):
        with pytest.raises(InputError, match=f"'m' has {count} answers; needed are 4"):
            anyio.run(compare_answers, Shared(), answers, ALL)
    with pytest.raises(InputError, match="'m' has no answers; needed are 4"):  # of any mask
        some = {pair: mask & (np.arange(len(mask)) > 1) for pair, mask in ALL.items()}
        anyio.run(compare_answers, Shared(), {}, some)
    with pytest.raises(InputError, match=r"'shared'.*\(4,\).*3 pairs"):
        anyio.run(compare_answers, Shared(extra=1), ANSWERS, ALL)


def test_the_shortlist_holds_the_least_similar() -> None:
    values = np.array([0.5, 0.1, np.nan, 0.1, 0.3])
    assert shortlist(values, 2, list("edcba")).tolist() == [False, True, False, True, False]
    assert shortlist(values, 1, list("edcba")).tolist() == [
        False,
        False,
        False,
        True,
        False,
    ]  # "b" before "d"
    assert shortlist(values, 9, list("edcba")).sum() == 4
    mask = np.array([True, False, True, True, True])
    assert shortlist(values, 2, list("edcba"), mask).tolist() == [False, False, False, True, True]
    with pytest.raises(InputError, match="shortlist of 0"):
        shortlist(values, 0, list("edcba"))


def test_numbers_and_failures_keep_their_places_and_no_more_are_asked_at_a_time_than_allowed() -> (
    None
):
    running, highest = 0, 0

    async def ask(first: str, second: str) -> float:
        nonlocal running, highest
        running += 1
        highest = max(highest, running)
        await anyio.sleep(0.01 / len(first))  # the first answers last
        running -= 1
        return math.nan if first == second else 0.25

    model = load_similarity("llm", ask=ask)
    assert isinstance(model, AskedSimilarity) and isinstance(model, LLMSimilarity)
    found = anyio.run(model.ask, ["a" * n for n in range(1, 41)], ["x", "aa", *["y"] * 38])
    assert found[[0, *range(2, 40)]].tolist() == [0.25] * 39 and np.isnan(found[1])
    assert highest == 32


def test_an_error_of_the_caller_is_not_swallowed() -> None:
    async def ask(first: str, second: str) -> float:
        raise InputError("no model")

    with pytest.raises(ExceptionGroup) as caught:
        anyio.run(LLMSimilarity(ask).ask, ["a"], ["b"])
    assert caught.group_contains(InputError, match="no model")
