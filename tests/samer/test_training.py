"""Training pairs, their vectors, predictions, and selections against Table A2."""

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.samer_md_eval import fold_numbers
from benchmarks.samer_scenarios import expected_dimensions, related_scenarios, scenario_view

from tests.samer.checkpoints import head_tensors
from tests.samer.stubs import Memory, pair
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer._evaluation import Heads, RawOutputs, evaluate
from urs_inspect.samer._pairs import (
    ABSENT,
    PairLabels,
    balance,
    label_pairs,
    read_training,
    split_off,
    write_training,
)
from urs_inspect.samer._vectors import (
    PairPredictions,
    PairVectors,
    TextEmbedder,
    accuracy,
    fill_cache,
    pair_vectors,
    predict_pairs,
    unit_scale,
    with_equal_weights,
)

NAMES = ("Logic", "Style", "Depth")


def test_each_preference_has_its_number():
    pairs = [
        pair(1, winner="a", dimensions={"Logic": "a", "Depth": "tie"}),
        pair(2, winner="b", dimensions={"Style": "b"}),
        pair(3, winner="tie", dimensions={}),
        pair(4, winner=None, dimensions={}),
    ]
    labels = label_pairs(pairs, NAMES)
    assert labels.overall.tolist() == [1, -1, 0, ABSENT]
    assert labels.dimensions.tolist() == [[1, 2, 0], [2, -1, 2], [2, 2, 2], [2, 2, 2]]
    with pytest.raises(
        InputError, match=r"pair 'p7':.*dimension 'Charm'; allowed: Logic, Style, Depth"
    ):
        label_pairs([pair(7, dimensions={"Charm": "a"})], NAMES)


GOOD: dict[str, Any] = {
    "id": "x",
    "prompt": "Hello?",
    "response_a": "Hi",
    "response_b": "",
    "winner": "model_b",
    "scenario": "chitchat",
    "dimensions": {"Style": "tie", "Attractiveness": "a"},
    "source": "own",
    "more": 1,
}


def written(path: Path, *rows: object) -> Path:
    path.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows),
        encoding="latin-1",
    )
    return path


def test_a_line_is_read_with_aliases_and_one_without_id_gets_one(tmp_path: Path):
    bare = {key: GOOD[key] for key in ("prompt", "response_a", "response_b")}
    found, *others = read_training(
        written(tmp_path / "d.jsonl", "", GOOD, bare, bare), load_taxonomy()
    )
    assert found.winner == "b" and found.response_b == "" and found.source == "own"
    assert found.dimensions == {"Style": "tie", "Engagement": "a"}
    assert [one.id for one in others] == ["d_000003", "d_000004"]
    assert others[0].winner is None and others[0].dimensions == {}


def test_what_is_written_is_read_back(tmp_path: Path):
    pairs = [pair(1), pair(2, winner=None, dimensions={}, scenario="", prompt="两\n行 \u2028")]
    path = tmp_path / "d.jsonl"
    assert write_training(path, pairs) == 2
    assert read_training(path, load_taxonomy()) == pairs
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**GOOD, "prompt": " "}, "prompt: must be a text"),
        ({**GOOD, "response_a": None}, "response_a: ... string, got None"),
        ({**GOOD, "winner": "left"}, "winner: ... 'left'; allowed: a, b, tie"),
        ({**GOOD, "winner": 1}, "winner: ... 1; allowed"),
        ({**GOOD, "dimensions": ["Style"]}, "dimensions: ... ['Style']"),
        ({**GOOD, "dimensions": {"Charm": "a"}}, "unknown dimension 'Charm'"),
        (
            {**GOOD, "dimensions": {"Style": None}},
            "dimensions: Style: ... None; allowed: a, b, tie",
        ),
        ({**GOOD, "scenario": "party"}, "unknown scenario 'party'"),
        ({**GOOD, "id": 3}, "id: ... string, got 3"),
        ({**GOOD, "id": "y"}, "id 'y' ... line 1"),
        ("{", "not JSON in UTF-8"),
        ('{"prompt": "\xff"}', "not JSON in UTF-8"),
        ("[1]", "JSON object, got list"),
    ],
)
def test_faults_name_line_and_field(row: object, said: str, tmp_path: Path):
    path = written(tmp_path / "d.jsonl", {**GOOD, "id": "y"}, row)
    with pytest.raises(InputError) as caught:
        read_training(path, load_taxonomy())
    assert str(caught.value).startswith(f"{path}: line 2: ") and tells(str(caught.value), said)


def test_files_without_a_pair_are_refused(tmp_path: Path):
    for path, said in (
        (written(tmp_path / "d.jsonl"), "no pair in it"),
        (tmp_path / "absent.jsonl", "cannot read"),
    ):
        with pytest.raises(InputError, match=said):
            read_training(path, load_taxonomy())


PROMPTS = [f"prompt {number % 40}" for number in range(100)]
STRATA = [f"scenario {number % 40 % 4}" for number in range(100)]


def test_a_prompt_is_in_one_fold_and_strata_are_spread():
    folds = fold_numbers(PROMPTS, 5, strata=STRATA, seed=3)
    by_prompt = {
        prompt: {int(f) for p, f in zip(PROMPTS, folds, strict=True) if p == prompt}
        for prompt in PROMPTS
    }
    assert all(len(found) == 1 for found in by_prompt.values())
    # 10 prompts a stratum in 5 folds: 2 in each.
    cells = Counter(
        (int(prompt.split()[1]) % 4, fold) for prompt, found in by_prompt.items() for fold in found
    )
    assert set(cells.values()) == {2} and len(cells) == 20


def test_order_and_copies_do_not_matter_but_the_seed_does():
    folds = fold_numbers(PROMPTS, 5, seed=1)
    order = np.random.default_rng(0).permutation(100)
    assert (fold_numbers([PROMPTS[place] for place in order], 5, seed=1) == folds[order]).all()
    assert (fold_numbers([*PROMPTS, PROMPTS[0]], 5, seed=1)[:-1] == folds).all()
    assert (fold_numbers(PROMPTS, 5, seed=2) != folds).any()


@pytest.mark.parametrize(
    ("impossible", "said"),
    [
        *[
            (partial(fold_numbers, PROMPTS, folds), f"{folds} folds of 40 prompts")
            for folds in (0, 1, 41)
        ],
        (partial(split_off, PROMPTS, 1), "allowed: 0 to below 1"),
        (partial(split_off, PROMPTS, -0.1), "allowed: 0 to below 1"),
        (partial(split_off, PROMPTS, 0.99), "leaves none"),
        *[
            (partial(balance, [pair(1)], least=least, most=most), "per scenario; allowed")
            for least, most in ((0, 0), (6, 5), (-1, 5))
        ],
    ],
)
def test_impossible_divisions_are_refused(impossible: Callable[[], object], said: str):
    with pytest.raises(InputError, match=said):
        impossible()


def test_what_is_held_out_shares_no_prompt_and_is_spread():
    fit, held = split_off(PROMPTS, 0.2, strata=STRATA, seed=5)
    assert sorted([*fit, *held]) == list(range(100))
    assert not {PROMPTS[row] for row in fit} & {PROMPTS[row] for row in held}
    # A fifth of 40 prompts, two of each of four strata.
    assert Counter(
        int(prompt.split()[1]) % 4 for prompt in {PROMPTS[row] for row in held}
    ) == dict.fromkeys(range(4), 2)
    fit, held = split_off(PROMPTS, 0)
    assert (len(fit), len(held)) == (100, 0)


class Lengths:
    """A text's vector: its number of characters, and 1."""

    name = "lengths"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> Any:
        self.seen += texts
        return np.array([[len(text), 1.0] for text in texts], np.float32)


def test_joined_is_one_text():
    queries, both = TextEmbedder(Lengths(), "joined").embed(["abc", ""], ["de", "f"])
    assert queries.tolist() == [[3, 1], [0, 0]]  # a blank text has no vector
    assert both.tolist() == [[7, 1], [3, 1]]  # with the blank line between


def test_beside_is_two_vectors():
    model = Lengths()
    queries, both = TextEmbedder(model).embed(["abc", "abc"], ["de", ""])
    assert queries.tolist() == [[3, 1, 0, 0], [3, 1, 0, 0]]
    assert both.tolist() == [[3, 1, 2, 1], [3, 1, 0, 0]]
    assert sorted(model.seen) == ["abc", "de"]  # each text once


def test_the_two_layouts_have_caches_of_their_own():
    assert TextEmbedder(Lengths()).name != TextEmbedder(Lengths(), "joined").name
    with pytest.raises(InputError, match="blank texts"):
        TextEmbedder(Lengths()).embed([""], [" "])


PAIRS = [
    pair(1),
    pair(2),
    pair(3, prompt="prompt 1", response_a="first 1", response_b="another one"),
]


def test_each_item_is_computed_once_and_found_again():
    cache, model = Memory(), Lengths()
    told: list[tuple[int, int]] = []
    # Items: 2 of pair 1, 2 of pair 2, and of pair 3 only the second response is new.
    assert (
        fill_cache(
            PAIRS, TextEmbedder(model, "joined"), cache, batch=2, progress=lambda *n: told.append(n)
        )
        == 5
    )
    assert told == [(2, 5), (4, 5), (5, 5)]
    vectors = pair_vectors(PAIRS, cache)
    queries, first, second = vectors.gather()
    assert queries.dtype == np.float32 and vectors.hidden_size == 2
    assert queries[:, 0].tolist() == [8, 8, 8]
    assert first[:, 0].tolist() == [17, 17, 17]
    assert second[:, 0].tolist() == [18, 18, 21]
    assert vectors.take(np.array([2])).gather()[2][:, 0].tolist() == [21]
    seen = len(model.seen)
    assert fill_cache(PAIRS, TextEmbedder(model, "joined"), cache) == 0 and len(model.seen) == seen


def test_an_interrupted_run_goes_on_where_it_was():
    class Broken(Lengths):
        def encode(self, texts: Sequence[str]) -> Any:
            if self.seen:
                raise KeyboardInterrupt
            return super().encode(texts)

    cache = Memory()
    with pytest.raises(KeyboardInterrupt):
        fill_cache(PAIRS, TextEmbedder(Broken()), cache, batch=2)
    with pytest.raises(InputError, match=r"4 of 9 vectors.*urs-inspect samer embed"):
        pair_vectors(PAIRS, cache)
    assert fill_cache(PAIRS, TextEmbedder(Lengths()), cache, batch=2) == 3


def test_a_query_is_not_mistaken_for_a_response():
    odd = [
        pair(1, prompt='["p", "r"]', response_a="x", response_b="y"),
        pair(2, prompt="p", response_a="r"),
    ]
    cache = Memory()
    fill_cache(odd, TextEmbedder(Lengths()), cache)
    assert len(cache.kept) == 2 + 4


def test_scaled_vectors_have_a_mean_square_of_one():
    # Queries 1 and 3, both responses 3: mean squares (1 + 9) / 2 = 5, 9 and 9, whose mean is 23 /
    # 3.
    table = np.array([[1.0], [3.0]], np.float32)
    given = PairVectors(table, np.array([0, 1]), np.array([[1, 1], [1, 1]]))
    assert unit_scale(given) == pytest.approx((3 / 23) ** 0.5)
    assert unit_scale(PairVectors(table * 0, given.queries, given.responses)) == 1


def vectors(pairs: int = 7, seed: int = 1) -> PairVectors:
    table = np.random.default_rng(seed).normal(size=(3 * pairs, 6)).astype(np.float32)
    return PairVectors(table, np.arange(pairs), np.arange(pairs, 3 * pairs).reshape(-1, 2))


@pytest.mark.parametrize("weights_at", ["query", "response"])
def test_predictions_are_those_of_one_response_at_a_time(weights_at: str):
    widths = dict.fromkeys(("scoring", "predictor", "weighter"), (8, 8, 8))
    made = Heads(head_tensors(np.random.default_rng(0), 6, 4, widths | {"scoring": (8, 8, 8, 8)}))
    given = vectors()
    found = predict_pairs(made, given, weights_at)  # type: ignore[arg-type]
    for row in range(len(given)):
        query = given.table[given.queries[row]][None]
        for side in (0, 1):
            response = given.table[given.responses[row, side]][None]
            weigher = query if weights_at == "query" else response
            raw = RawOutputs(made.score(response)[0], made.select(query)[0], made.weigh(weigher)[0])
            one = evaluate(raw)
            assert found.overall[row, side] == pytest.approx(one.overall, abs=1e-6)
            assert found.scores[row, side] == pytest.approx(one.scores, abs=1e-6)
            assert (found.selected[row] == one.selected).all()
        assert found.winners[row] == (1 if found.overall[row, 0] > found.overall[row, 1] else -1)
    swapped = predict_pairs(
        made,
        PairVectors(given.table, given.queries, given.responses[:, ::-1]),
        weights_at,  # type: ignore[arg-type]
    )
    assert (
        found.dimension_winners == -swapped.dimension_winners
    ).all() and found.dimension_winners.any()


def test_accuracy_by_hand():
    # Overall: a, a (equal scores), b; labels a, a, tie -> right, wrong, not counted: 1 of 2.
    # Dimensions: first wins all. Labels: a and none, b and tie, a and a -> right, wrong, right,
    # right: 3 of 4.
    overall = np.array([[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]])
    scores = np.broadcast_to(np.array([[0.9, 0.9], [0.1, 0.1]]), (3, 2, 2))
    predictions = PairPredictions(overall, scores, np.ones((3, 2), bool))
    labels = PairLabels(np.array([1, 1, 0], np.int8), np.array([[1, 2], [-1, 0], [1, 1]], np.int8))
    found = accuracy(predictions, labels)
    assert (found.overall, found.pairs) == (0.5, 2)
    assert (found.dimensions, found.labels) == (0.75, 4)
    assert found.mean == 0.625
    ties = PairLabels(np.zeros(3, np.int8), np.array([[2, 0]] * 3, np.int8))
    found = accuracy(predictions, ties)
    assert all(map(math.isnan, (found.overall, found.dimensions, found.mean)))


SCENARIOS_OF_PAIRS = [
    pair(number, scenario="chitchat" if number % 3 else "roleplay") for number in range(30)
]


def test_large_scenarios_are_cut_and_small_ones_named():
    # 20 pairs of chitchat, 10 of roleplay.
    found = balance(SCENARIOS_OF_PAIRS, least=11, most=15)
    assert found.found == {"chitchat": 20, "roleplay": 10}
    assert found.kept == {"chitchat": 15, "roleplay": 10}
    assert found.short == ("roleplay",)
    assert len(found.pairs) == 25
    assert [one.id for one in found.pairs] == [
        one.id for one in SCENARIOS_OF_PAIRS if one in found.pairs
    ]


def test_the_choice_depends_on_seed_and_id_alone():
    chosen = {one.id for one in balance(SCENARIOS_OF_PAIRS, least=1, most=5, seed=1).pairs}
    assert {
        one.id for one in balance(SCENARIOS_OF_PAIRS[::-1], least=1, most=5, seed=1).pairs
    } == chosen
    assert {one.id for one in balance(SCENARIOS_OF_PAIRS, least=1, most=5, seed=2).pairs} != chosen


TAXONOMY = load_taxonomy()
SIZE = len(TAXONOMY.dimensions)


def flags(*names: str) -> "np.ndarray":
    return np.array([name in names for name in TAXONOMY.dimensions])


def test_precision_recall_and_f1_by_hand():
    # Category identification has five dimensions: Accuracy, Clarity, Relevance, Completeness,
    # Faithfulness. First query: 2 selected, both right. Second: 3 selected, 1 right. So 3 of 5
    # selected are right, 3 of 10 found.
    selected = np.stack([flags("Accuracy", "Clarity"), flags("Relevance", "Emojis", "Vivid")])
    view = scenario_view(selected, ["classification_identification"] * 2, TAXONOMY)
    assert (view.total.hits, view.total.selected, view.total.expected) == (3, 5, 10)
    assert (view.total.precision, view.total.recall) == (0.6, 0.3)
    assert view.total.f1 == pytest.approx(2 * 0.6 * 0.3 / 0.9)
    assert [one.name for one in view.scenarios] == ["classification_identification"]
    assert view.macro_f1 == pytest.approx(view.total.f1)


def test_by_a_slow_loop_and_in_any_order():
    random = np.random.default_rng(0)
    scenarios = [str(name) for name in random.choice(list(TAXONOMY.scenarios), 60)]
    selected = random.random((60, SIZE)) < 0.3
    view = scenario_view(selected, scenarios, TAXONOMY)
    for one in view.scenarios:
        rows = [row for row in range(60) if scenarios[row] == one.name]
        pairs = [
            (row, d)
            for row in rows
            for d, name in enumerate(TAXONOMY.dimensions)
            if selected[row, d]
        ]
        right = [
            pair
            for pair in pairs
            if TAXONOMY.dimensions[pair[1]] in TAXONOMY.scenarios[one.name].dimensions
        ]
        assert (one.queries, one.selected, one.hits) == (len(rows), len(pairs), len(right))
    order = random.permutation(60)
    assert scenario_view(selected[order], [scenarios[row] for row in order], TAXONOMY) == view
    assert view.macro_f1 == pytest.approx(np.mean([one.f1 for one in view.scenarios]))
    perfect = scenario_view(expected_dimensions(scenarios, TAXONOMY), scenarios, TAXONOMY)
    assert (perfect.total.precision, perfect.total.recall, perfect.macro_f1) == (1, 1, 1)
    nothing = scenario_view(np.zeros((1, SIZE), bool), ["chitchat"], TAXONOMY)
    assert (
        math.isnan(nothing.total.precision) and nothing.total.recall == 0 and nothing.total.f1 == 0
    )


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="unknown scenario 'party'"):
        scenario_view(np.zeros((1, SIZE), bool), ["party"], TAXONOMY)
    with pytest.raises(InputError, match=r"selections of shape \(1, 3\); expected \(1, 42\)"):
        scenario_view(np.zeros((1, 3), bool), ["chitchat"], TAXONOMY)
    with pytest.raises(InputError, match="one query"):
        scenario_view(np.zeros((0, SIZE), bool), [], TAXONOMY)


@pytest.mark.data
def test_every_out_of_distribution_scenario_has_one_of_ours(data_dir: Path):
    rows = json.loads((data_dir / "md_eval" / "ood_autoj.json").read_text(encoding="utf-8"))
    assert {row["scenario"] for row in rows} == set(related_scenarios())
    assert set(related_scenarios().values()) <= set(TAXONOMY.scenarios)


def test_equal_weights_are_the_mean_over_the_selected_dimensions():
    scores = np.array([[[0.9, 0.2, 0.4], [0.1, 0.8, 0.6]], [[0.5, 0.5, 0.5], [0.7, 0.1, 0.0]]])
    selected = np.array([[True, True, False], [False, False, True]])
    given = PairPredictions(np.zeros((2, 2)), scores, selected)
    equal = with_equal_weights(given)
    np.testing.assert_allclose(equal.overall, [[0.55, 0.45], [0.5, 0.0]])
    assert equal.winners.tolist() == [1, 1]
