"""What numbers say, in sentences."""

from dataclasses import replace

import pytest

from tests.reports.intent.page.factory import NAN, estimate, make_block, make_model, make_models
from urs_inspect.reports.intent.page.names import short_names, split_name
from urs_inspect.reports.intent.page.words import headline, listed, ranks, verdict
from urs_inspect.reports.intent.report import Block


def block_of(*levels: float, alike: tuple[int, ...] = ()) -> Block:
    """A ranking of models m0, m1, ... in which the first cannot be told apart from some."""
    models = [replace(make_model(place, level), model=f"p/m{place}") for place, level in enumerate(levels)]
    block = make_block(models)
    unclear = {f"p/m{place}" for place in alike}
    pairs = [replace(p, apart=not (p.first == "p/m0" and p.second in unclear)) for p in block.differences]
    return replace(block, differences=tuple(pairs))


@pytest.mark.parametrize(
    ("block", "first"),
    [
        (block_of(8, 7, 6), "<strong>m0</strong> is first and can be told apart from all 2 others."),
        (block_of(8, 7), "<strong>m0</strong> is first and can be told apart from the other one."),
        (
            block_of(8, 7, 6, alike=(1,)),
            "<strong>m0</strong> is first; it cannot be told apart from <strong>m1</strong>.",
        ),
        (
            block_of(8, 7, 6, 5, alike=(1, 2)),
            "<strong>m0</strong> is first; it cannot be told apart from <strong>m1</strong> or <strong>m2</strong>.",
        ),
        # ## A model further down is not left unmentioned because a better one can be told apart.
        (
            block_of(8, 7, 6, alike=(2,)),
            "<strong>m0</strong> is first; it cannot be told apart from <strong>m2</strong>.",
        ),
        (
            block_of(8, 7, alike=(1,)),
            "<strong>m0</strong> has the highest mean score, "
            "but cannot be told apart from the other one, <strong>m1</strong>.",
        ),
        (
            block_of(8, 7, 6, alike=(1, 2)),
            "<strong>m0</strong> has the highest mean score, but cannot be told apart from any other model.",
        ),
        (block_of(8, 8, 6), "<strong>m0</strong> and <strong>m1</strong> share the highest mean score, 8.00."),
        (block_of(8), "<strong>m0</strong> has a mean score of 8.00."),
        (block_of(NAN), "No model has a score."),
    ],
)
def test_headline(block: Block, first: str) -> None:
    assert str(headline(block).first) == first


def test_headline_says_how_sure_it_is() -> None:
    assert (
        str(headline(block_of(8, 7)).more)
        == "Its mean score is 8.00. The 95% interval is 7.94 to 8.06, over 1,846 questions."
    )
    alone = replace(block_of(8), models=(replace(make_model(0, 8), all=replace(estimate(8), low=NAN, high=NAN)),))
    assert "It is over 1,846 questions." in str(headline(alone).more)
    assert "No other model has a score here." in str(headline(alone).more)


def test_names_in_a_headline_are_text() -> None:
    models = [replace(model, model=f"<b>{n}&") for n, model in enumerate(make_models(2))]
    assert "<strong>&lt;b&gt;0&amp;</strong> is first" in str(headline(make_block(models)).first)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("a", "a"),
        ("ab", "a or b"),
        ("abc", "a, b or c"),
        ("abcde", "a, b, c, d or e"),
        ("abcdef", "a, b, c, d or 2 more"),
    ],
)
def test_lists(names: str, text: str) -> None:
    assert str(listed(names, joint="or")).replace("<strong>", "").replace("</strong>", "") == text


def test_ranks_share_ties_and_skip_models_without_a_score() -> None:
    assert list(ranks(block_of(8, 7, 7, 5, NAN)).values()) == ["1", "2", "2", "4", ""]


def test_verdicts() -> None:
    pair = block_of(8, 7).differences[0]
    assert verdict(pair) == "told apart"
    assert verdict(replace(pair, apart=False)) == "cannot tell apart"
    assert verdict(replace(pair, apart=False, questions=0)) == "no common questions"


@pytest.mark.parametrize(
    ("model", "provider", "rest"),
    [
        ("openai/gpt-4o", "openai/", "gpt-4o"),
        ("vllm/org/name", "vllm/org/", "name"),
        ("name", "", "name"),
        ("a/b (base=x/y, temperature=1)", "a/", "b (base=x/y, temperature=1)"),
        ("odd/", "", "odd/"),
    ],
)
def test_names_are_taken_apart(model: str, provider: str, rest: str) -> None:
    name = split_name(model)
    assert (name.provider, name.rest) == (provider, rest)


def test_short_names_stay_apart() -> None:
    assert short_names(["a/x", "b/x", "b/y"]) == {"a/x": "a/x", "b/x": "b/x", "b/y": "y"}
