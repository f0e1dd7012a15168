"""What numbers say, in sentences."""

from dataclasses import replace

import pytest

from tests.reports.intent.page.factory import GROUPS, NAN, estimate, make_block, make_model, make_models, with_missing
from urs_inspect.reports.intent.page.names import short_names, split_name
from urs_inspect.reports.intent.page.words import column_sentences, headline, listed, verdict
from urs_inspect.reports.intent.report import Best, Block


def block_of(*levels: float, alike: tuple[int, ...] = ()) -> Block:
    """A ranking of models m0, m1, ... in which the first cannot be distinguished from some."""
    models = [replace(make_model(place, level), model=f"p/m{place}") for place, level in enumerate(levels)]
    block = make_block(models)
    unclear = {f"p/m{place}" for place in alike}
    others = tuple(
        replace(one, verdict="not distinguishable" if one.second in unclear else "significant")
        for one in block.best["all"].others
        if one.questions
    )
    return replace(block, best=block.best | {"all": replace(block.best["all"], others=others)})


@pytest.mark.parametrize(
    ("block", "first"),
    [
        (block_of(8, 7, 6), "m0 is best, significantly better than both others."),
        (block_of(8, 7), "m0 is best, significantly better than m1."),
        (
            block_of(8, 7, 6, alike=(1,)),
            "m0 has the highest mean score, significantly above 1 other, but cannot be distinguished from m1.",
        ),
        (
            block_of(8, 7, 6, 5, alike=(1, 2)),
            "m0 has the highest mean score, significantly above 1 other, but cannot be distinguished from m1 or m2.",
        ),
        # A model further down is not left unmentioned because a better one differs significantly.
        (
            block_of(8, 7, 6, alike=(2,)),
            "m0 has the highest mean score, significantly above 1 other, but cannot be distinguished from m2.",
        ),
        (
            block_of(8, 7, 6, alike=(1, 2)),
            "m0 has the highest mean score, but cannot be distinguished from any other model.",
        ),
        (block_of(8, 8, 6, alike=(1,)), "m0 and m1 share the highest mean score, significantly above 1 other."),
        (block_of(8), "m0 has a mean score of 8.00."),
        (block_of(NAN), "No model has a score."),
    ],
)
def test_headline(block: Block, first: str) -> None:
    assert headline(block).first.striptags() == first


def test_what_depends_on_unscored_answers_is_said_with_the_name() -> None:
    block = with_missing(make_block(make_models(6)), 5)
    said = headline(block).first.striptags()
    assert "depends on unscored answers of tiny" in said
    sentences = {title: sentence.striptags() for title, _, sentence in column_sentences(block)}
    assert list(sentences) == [*GROUPS, "English", "Chinese"]
    assert all(block.best[key].model.rpartition("/")[2] in sentences[key] for key in GROUPS)
    pair = next(one for one in block.differences if one.depends_on)
    assert verdict(pair, block) == "depends on unscored answers of tiny (185)"


def test_columns_have_sentences_where_there_is_something_to_compare() -> None:
    assert column_sentences(make_block(make_models(1))) == []
    one_language = replace(make_block(make_models(2)), languages=("en",))
    assert [title for title, _, _ in column_sentences(one_language)] == list(GROUPS)
    nothing = replace(make_block(make_models(2)), best=dict.fromkeys(("all", *GROUPS, "en", "zh"), Best("", ())))
    assert {str(sentence) for _, _, sentence in column_sentences(nothing)} == {
        "No question has a score of every ranked model."
    }


def test_headline_says_how_sure_it_is() -> None:
    assert (
        str(headline(block_of(8, 7)).more)
        == "Its mean score is 8.00. The 95% interval is 7.94 to 8.06, over 1,846 questions."
    )
    alone = replace(block_of(8), models=(replace(make_model(0, 8), all=replace(estimate(8), low=NAN, high=NAN)),))
    assert "It is over 300 questions." in str(headline(alone).more)
    assert "No other model is ranked here." in str(headline(alone).more)


def test_names_in_a_headline_are_text() -> None:
    models = [replace(model, model=f"<b>{n}&") for n, model in enumerate(make_models(2))]
    assert "<strong>&lt;b&gt;0&amp;</strong> is best" in str(headline(make_block(models)).first)


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
    assert str(listed(names, "or")).replace("<strong>", "").replace("</strong>", "") == text


def test_verdicts() -> None:
    block = block_of(8, 7)
    pair = block.differences[0]
    assert verdict(pair, block) == "significant"
    assert verdict(replace(pair, verdict="not distinguishable"), block) == "cannot be distinguished"
    assert verdict(replace(pair, verdict="not comparable"), block) == "not comparable"


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
