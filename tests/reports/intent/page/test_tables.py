"""Tests of `urs_inspect.reports.intent.page.tables`."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reports.intent.page.factory import (
    CRITERIA,
    GROUPS,
    NAN,
    estimate,
    make_block,
    make_model,
    make_models,
    with_countries,
    with_missing,
)
from urs_inspect.reports.intent.page import tables
from urs_inspect.reports.intent.page import tables as formats
from urs_inspect.reports.intent.page.tables import column_sentences, headline, listed, short_names, split_name, verdict
from urs_inspect.reports.intent.report import Best, Block
from urs_inspect.stats import Estimate


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (formats.mean_text(7.456), "7.46"),
        (formats.mean_text(NAN), "–"),
        (formats.interval_text(7.1, 8), "7.10–8.00"),
        (formats.interval_text(NAN, 8), ""),
        (formats.signed_text(0.424), "+0.42"),
        (formats.signed_text(-0.424), "−0.42"),
        (formats.signed_text(-0.004), "0.00"),
        (formats.signed_interval(Estimate(0, -0.0349, 0.1, 9, 9)), "−0.03 to +0.10"),
        (formats.signed_interval(Estimate(0, NAN, NAN, 1, 1)), ""),
        (formats.p_text(0.0004), "<0.001"),
        (formats.rank_text((1, 3)), "1–3"),
        (formats.rank_text((2, 2)), "2"),
        (formats.rank_text(None), "–"),
        (formats.unscored_text(0.0), "0%"),
        (formats.unscored_text(0.02), "2.0%"),
        (formats.unscored_text(0.0201), "2.0% !"),
        (formats.unscored_text(0.27), "27% !"),
        (formats.p_text(0.0496), "0.050"),
        (formats.p_text(NAN), "–"),
        (formats.count_text(1234567), "1,234,567"),
        (formats.count_text(NAN), "not known"),
        (formats.share_text(0.004), "<1%"),
        (formats.share_text(0.999), ">99%"),
        (formats.share_text(0.251), "25%"),
        (formats.share_text(0.0), "0%"),
        (formats.share_text(1.0), "100%"),
        (formats.money_text(0.0), "$0.00"),
        (formats.money_text(1234.5), "$1,234.50"),
        (formats.money_text(0.0123), "$0.012"),
        (formats.money_text(0.9), "$0.90"),
        (formats.money_text(0.00000004), "$0.000000"),
        (formats.money_text(NAN), "not known"),
        (formats.duration_text(3.94), "3.9 s"),
        (formats.duration_text(12), "12 s"),
        (formats.duration_text(125), "2 min 5 s"),
        (formats.duration_text(7263), "2 h 1 min"),
        (formats.duration_text(3599.8), "1 h 0 min"),
        (formats.duration_text(NAN), "not known"),
        (formats.level_text(0.95), "95%"),
        (formats.level_text(0.995), "99.5%"),
    ],
)
def test_numbers_as_text(given: str, shown: str) -> None:
    assert given == shown


@given(st.floats(width=32, min_value=0, max_value=1e9) | st.just(math.nan))
def test_nothing_is_ever_nan(number: float) -> None:
    functions = [
        formats.mean_text,
        formats.signed_text,
        formats.p_text,
        formats.count_text,
        formats.share_text,
        formats.money_text,
        formats.duration_text,
    ]
    for function in functions:
        text = function(number)
        assert text
        assert "nan" not in text.lower()
        assert "-" not in text


def test_leaderboard_has_all_and_every_intent() -> None:
    block = make_block(make_models(4))
    table = tables.leaderboard(block)
    assert [column.title for column in table.columns] == ["All", *GROUPS]
    assert [column.questions for column in table.columns] == [1846, 556, 455, 186, 300, 170, 179]
    assert [row.model.model for row in table.rows] == [model.model for model in block.models]
    assert [row.cells[2].estimate for row in table.rows] == [model.by_group["Factual QA"] for model in block.models]
    assert table.over == []


def test_marks_go_by_the_test_of_the_column_and_by_nothing_else() -> None:
    block = make_block(make_models(4))
    best = block.best["Factual QA"]
    others = tuple(
        replace(one, verdict="not distinguishable" if n == 1 else "significant") for n, one in enumerate(best.others)
    )
    block = replace(block, best=block.best | {"Factual QA": replace(best, others=others)})
    marked = [row.model.model for row in tables.leaderboard(block).rows if row.cells[2].marked]
    assert set(marked) == {best.model, best.others[1].second}
    # Cells of an intent in a language, and parts of intents, are not tested.
    assert not any(cell.marked for part in tables.languages(block) for row in part.rows for cell in row.cells[2:])
    assert any(row.cells[0].marked for row in tables.languages(block)[0].rows)
    assert not any(cell.marked for row in tables.parts(block).rows for cell in row.cells)


def test_a_verdict_that_depends_on_unscored_answers_leaves_the_mark() -> None:
    block = with_missing(make_block(make_models(4)), 3)
    assert all(
        row.cells[0].marked == (row.model.model in (block.models[0].model, block.models[3].model))
        for row in tables.leaderboard(block).rows
    )


def test_one_model_has_no_mark() -> None:
    table = tables.leaderboard(make_block(make_models(1)))
    assert not any(cell.marked for cell in table.rows[0].cells)


def test_languages_are_laid_out_as_in_the_paper() -> None:
    first, second = tables.languages(make_block(make_models(2)))
    assert first.over == [("All", 2), ("Solve Problem", 2), ("Factual QA", 2), ("Text Assistant", 2)]
    assert second.over == [("Ask for Advice", 2), ("Seek Creativity", 2), ("Leisure", 2)]
    assert [column.title for column in second.columns] == ["English", "Chinese"] * 3
    assert [column.main for column in first.columns] == [True, True] + [False] * 6
    model = first.rows[0].model
    assert first.rows[0].cells[1].estimate == model.by_language["zh"]
    assert second.rows[0].cells[4].estimate == model.by_group_and_language["Leisure", "en"]


@pytest.mark.parametrize(
    ("codes", "widths"), [(("en",), [7]), (("a", "b", "c"), [6, 6, 6, 3]), (tuple("abcdefghi"), [9] * 7)]
)
def test_any_number_of_languages(codes: tuple[str, ...], widths: list[int]) -> None:
    block = replace(make_block(make_models(1)), languages=codes)
    parts = tables.languages(block)
    assert [len(part.columns) for part in parts] == widths
    assert sum(widths) == 7 * len(codes)


def test_shades_go_from_the_lowest_to_the_highest() -> None:
    # 6 of 5 to 9: a quarter of the way
    models = [
        replace(m, by_criterion={CRITERIA[0]: estimate(v)}) for m, v in zip(make_models(3), (9, 5, 6), strict=True)
    ]
    table = tables.criteria(replace(make_block(models), criteria=CRITERIA[:2]))
    assert (table.lowest, table.highest) == (5, 9)
    assert [row.cells[0].shade for row in table.rows] == [1, 0, 0.25]
    assert all(row.cells[1].estimate is None and row.cells[1].shade != row.cells[1].shade for row in table.rows)
    same = tables.criteria(replace(make_block(models[:1]), criteria=CRITERIA[:1]))
    assert same.rows[0].cells[0].shade == 0.5


def test_countries_and_parts() -> None:
    block = with_countries(make_block(make_models(2)))
    assert [column.title for column in tables.countries(block).columns] == list(block.countries)
    assert [column.questions for column in tables.countries(block).columns] == [811, 402, 33, 600]
    assert tables.parts(block).over == [("Solve Problem", 2)]
    assert [column.title for column in tables.parts(block).columns] == [
        "Usage through API",
        "solve_professional_problem",
    ]
    assert tables.parts(block).rows[0].cells[0].estimate == block.models[0].by_part[block.parts[0]]


def test_outcomes_that_occur_good_ones_first() -> None:
    models = [
        replace(m, outcomes=o)
        for m, o in zip(make_models(2), ({"unscored_x": 1, "no_response": 0}, {"judged": 3, "a": 2}), strict=True)
    ]
    assert tables.outcomes(models) == ("judged", "a", "unscored_x")


def test_matrix_is_antisymmetric() -> None:
    block = make_block(make_models(6))
    rows = tables.matrix(block)
    for i, row in enumerate(rows):
        assert row.cells[i] is None
        for j, cell in enumerate(row.cells):
            if cell is None:
                continue
            other = rows[j].cells[i]
            assert other is not None
            assert cell.value == -other.value
            assert cell.value == pytest.approx(row.model.all.value - rows[j].model.all.value)
            kinds = {"better": "worse", "worse": "better", "same": "same"}
            assert other.kind == kinds[cell.kind]
            assert (cell.kind == "same") == (rows[j].model.model in row.unclear)
    assert rows[2].unclear == (rows[3].model.model,)


def test_what_was_never_compared_is_not_significant() -> None:
    block = make_block(make_models(2))
    pair = replace(block.differences[0], questions=0, p=NAN, p_holm=NAN, verdict="not comparable")
    for differences, cell in (((pair,), "none"), ((), None)):
        first, second = tables.matrix(replace(block, differences=differences))
        found = first.cells[1]
        assert (found.kind if found else None) == cell
        assert first.unclear == (second.model.model,)


def test_matrix_has_what_depends_on_unscored_answers() -> None:
    # The last two cannot be distinguished anyway.
    rows = tables.matrix(with_missing(make_block(make_models(4)), 3))
    assert [cell.kind for cell in rows[3].cells if cell] == ["unscored", "unscored", "same"]
    assert rows[3].depends == tuple(row.model.model for row in rows[:2])
    assert rows[0].depends == (rows[3].model.model,)


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
