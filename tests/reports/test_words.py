"""What reports say of one part at a time: every case of its sentences, compared with files."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from tests.reports.answer_rows import answers
from tests.reports.golden_files import check_golden
from tests.reports.scenarios import (
    SCENARIOS,
    a_clear_best_of_two,
    board,
    checks_of_the_judge,
    estimate,
    model,
)
from tests.telling import tells
from urs_inspect.reports._texts import (
    Format,
    count,
    decimals,
    duration,
    listed,
    money,
    number,
    p_value,
    ranks_text,
    share,
)
from urs_inspect.reports.layout._tables import (
    FirstScreen,
    Report,
    ReportKind,
    Section,
    Table,
    first_screen,
    plain,
)
from urs_inspect.reports.numbers._comparison import BestOfColumn, Comparison
from urs_inspect.reports.numbers._conditions import Difference, OtherPrompts, OtherQuestions, Reason
from urs_inspect.reports.numbers._corrected import CorrectedMeans, FromAll
from urs_inspect.reports.numbers._judge_checks import CheckRun, JudgeFact
from urs_inspect.reports.numbers._leaderboard import (
    Leaderboard,
    Ranking,
    equal_answers,
    flat_judges,
)
from urs_inspect.reports.numbers._lengths import LengthLead, LengthRegression
from urs_inspect.reports.words._cards import extreme_answers, model_cards, shortened
from urs_inspect.reports.words._comparison import (
    ALERT,
    best_sentence,
    missing_notes,
    reasons_apart,
    unscored_text,
)
from urs_inspect.reports.words._corrected import (
    corrected_headline,
    corrected_screen_table,
    corrected_section,
    corrected_start,
    corrected_warnings,
)
from urs_inspect.reports.words._first_screen import (
    _best_of_intents,
    _commands,
    _needed,
    _not_checked,
    alerts,
    claims,
    first_cautions,
    has_lengths,
    leaderboard_screen,
    more_cautions,
    ranking_notes,
)
from urs_inspect.reports.words._judge_checks import failed_sentence, judge_failed, judge_sentence
from urs_inspect.reports.words._leaderboard import noise_section, report_leaderboard
from urs_inspect.reports.words._lengths import (
    length_section,
    length_sentence,
    regression_facts,
    regression_section,
    times_text,
)

NAN = math.nan
KIND = ReportKind("words", 1, "words", "words")


def cached(name: str) -> Ranking:
    """The ranking of a scenario, made once."""
    return SCENARIOS[name]().rankings[0]


def comparing(ranking: Ranking, **changes: Any) -> Ranking:
    """A ranking with changes of what it compares."""
    return replace(ranking, compared=replace(ranking.compared, **changes))


def page(cases: Mapping[str, Sequence[str]]) -> str:
    """Sentences of each case under its name."""
    parts = []
    for name, sentences in cases.items():
        lines = "\n".join(f"- {sentence}" for sentence in sentences)
        parts.append(f"## {name}\n\n{lines}")
    return "\n\n".join(parts) + "\n"


def markdown(*sections: Section) -> str:
    """Sections as they are read."""
    return Report(KIND, "Parts", sections).markdown()


# --- numbers and lists as text ---


@pytest.mark.parametrize(
    ("shown", "value", "text"),
    [
        (p_value, 0.001, "0.001"),
        (p_value, 0.000999, "<0.001"),
        (p_value, 1.0, "1.000"),
        (share, 0.0, "0%"),
        (share, 0.005, "0%"),
        (share, 0.00499, "<1%"),
        (share, 0.995, ">99%"),
        (share, 0.9949, "99%"),
        (share, 1.2, "120%"),
        (count, NAN, "not known"),
        (count, 1234.0, "1,234"),
        (count, 0.0, "0"),
        (money, 0.99, "$0.99"),
        (money, 1.0, "$1.00"),
        (money, 0.5, "$0.50"),
        (money, 0.0999, "$0.100"),
        (money, 0.00123, "$0.0012"),
        (duration, 9.94, "9.9 s"),
        (duration, 10.0, "10 s"),
        (duration, 60.0, "1 min 0 s"),
        (duration, 3600.0, "1 h 0 min"),
        (duration, 3659.0, "1 h 1 min"),
        (decimals, 1.0, 3),
        (decimals, 2.0, 3),
        (decimals, 2.1, 2),
        (decimals, 50.0, 2),
        (decimals, 50.1, 1),
        (number(1, percent=True), 0.1234, "12.3%"),
        (number(1, percent=True, sign=True), -0.1234, "−12.3%"),
        (number(2, sign=True), 0.0, "0.00"),
        (number(2), -0.001, "0.00"),
        (times_text, NAN, "–"),
        (times_text, 0.949, "0.95"),
        (times_text, 0.95, "0.9"),
        (times_text, 0.951, "1.0"),
        (times_text, 9.99, "10.0"),
        (times_text, 10.0, "10"),
        (times_text, 1234.0, "1,234"),
        (unscored_text, 0.0, "0%"),
        (unscored_text, 0.02, "2.0%"),
        (unscored_text, 0.021, "2.1% !"),
        (unscored_text, 0.099, "9.9% !"),
        (unscored_text, 0.1, "10% !"),
    ],
)
def test_numbers_at_the_bounds_of_their_texts(shown: Format, value: float, text: object) -> None:
    assert shown(value) == text


@pytest.mark.parametrize(
    ("names", "options", "text"),
    [
        ("a", {}, "a"),
        ("ab", {}, "a and b"),
        ("abc", {"joint": "or"}, "a, b or c"),
        ("abcde", {}, "a, b, c, d and e"),
        ("abcdef", {}, "a, b, c, d and 2 more"),
        ("abcd", {"most": 2}, "a, b and 2 more"),
        ("abc", {"most": 2, "separator": "; "}, "a; b and c"),
    ],
)
def test_of_many_names_the_first_are_listed(
    names: str, options: Mapping[str, Any], text: str
) -> None:
    assert listed(list(names), **options) == text


def test_ranks_are_one_number_or_a_range() -> None:
    ranks = pd.DataFrame({"rank_from": [1, 2, None, 10], "rank_to": [1, 3, None, 12]}, dtype=object)
    assert ranks_text(ranks) == ["1", "2–3", "–", "10–12"]


# --- the first screen ---


def ranking_about(**facts: Any) -> Ranking:
    base = cached("a_clear_best_of_two")
    return replace(base, about_answers=replace(base.about_answers, **facts), without_intents=())


@pytest.mark.parametrize(
    ("same", "others", "said"),
    [(9, 0, False), (10, 0, True), (49, 1, True), (48, 1, False), (8, 1, False)],
)
def test_a_judge_is_flat_from_ten_scores_and_98_percent_of_top_marks_on(
    same: int, others: int, said: bool
) -> None:
    given = [10.0] * same + [6.0] * others
    table = answers(
        model("p/a", 7.0, questions=len(given), change=lambda place: {"final": given[place]})
    ).table
    assert bool(first_cautions(ranking_about(flat_judges=flat_judges(table)))) is said


@pytest.mark.parametrize(
    ("equal", "of", "said"), [(2, 20, True), (2, 21, False), (1, 5, False), (2, 2, True)]
)
def test_equal_answers_are_named_from_two_and_a_tenth_on(equal: int, of: int, said: bool) -> None:
    made = [
        model(
            name,
            7.0,
            questions=of,
            change=lambda place, name=name: {  # type: ignore[misc]
                "answer_digest": str(place) if place < equal else f"{name} {place}"
            },
        )
        for name in ("p/good", "p/bad")
    ]
    found = equal_answers(answers(*made).table, ["p/good", "p/bad"])
    assert bool(more_cautions(ranking_about(equal_answers=found))) is said


def test_equal_answers_are_counted_over_the_questions_that_both_answered() -> None:
    alone = model("p/good", 7.0, questions=40, change=lambda place: {"answer_digest": f"{place}"})
    shared = model("p/bad", 7.0, questions=10, change=lambda place: {
        "answer_digest": f"{place}" if place < 3 else f"bad {place}"
    })  # fmt: skip
    found = equal_answers(answers(alone, shared).table, ["p/good", "p/bad"])
    [caution] = more_cautions(ranking_about(equal_answers=found))
    assert "3 of 10" in caution


def test_an_answer_without_a_text_equals_no_other() -> None:
    made = [model(name, 7.0, answer_digest="") for name in ("p/good", "p/bad")]
    ranking = replace(
        cached("a_clear_best_of_two"), answers=answers(*made).table, without_intents=()
    )
    assert more_cautions(ranking) == []


def test_simulation_and_failed_checks_are_kept_whatever_room_they_take() -> None:
    [failing] = checks_of_the_judge().rankings
    models = failing.compared.models.assign(simulated=True)
    made = replace(checks_of_the_judge(), rankings=(comparing(failing, models=models),))
    kept = {
        name: leaderboard_screen(one).kept
        for name, one in {
            "both": made,
            "failed": checks_of_the_judge(),
            "none": a_clear_best_of_two(),
        }.items()
    }
    assert kept == {"both": 2, "failed": 1, "none": 0}
    first, second, *_ = leaderboard_screen(made).warnings
    assert first.startswith("SIMULATED") and "3 CHECKS" in second


@pytest.mark.parametrize(("others", "said"), [(0, ""), (1, "1 more ranking,"), (2, "2 more")])
def test_other_rankings_are_counted(others: int, said: str) -> None:
    made = a_clear_best_of_two()
    several = replace(made, rankings=made.rankings * (others + 1))
    assert "".join(leaderboard_screen(several).ways).startswith(said)
    assert bool(leaderboard_screen(several).ways) is bool(said)


def test_the_screen_of_a_report_begins_with_what_was_left_out_and_the_first_section() -> None:
    table = Table(pd.DataFrame({"model": ["a"]}))
    empty = Table(pd.DataFrame({"model": []}))
    warned = Section("Warned", ["Beware.", "Twice."], warnings=["Beware.", "Twice."])
    notes = [f"Note {place}." for place in range(7)]
    first = Section("First", ["Claim.", *notes], [empty, table], warnings=["Claim.", "Note 1."])
    titled = Section("Only a table", (), [table])
    left = Section("Left out", ["One log."])
    skipped = Section("Skipped", ["a", "b", "c"])
    cases = {
        "a warning, and notes": Report(KIND, "Title", [warned, first, left]),
        "a title": Report(KIND, "Title", [Section("Nothing", (), [empty]), titled]),
        "nothing": Report(KIND, "Title", [Section("Nothing")]),
        "much left out": Report(KIND, "Title", [first, skipped]),
        "a screen of its own": Report(
            KIND, "Title", [first, left], first=FirstScreen("Own.", ["Warning."], kept=1)
        ),
    }
    said = {}
    for name, report in cases.items():
        screen = first_screen(report)
        rows = 0 if screen.table is None else len(screen.table.data)
        said[name] = [
            screen.claim,
            f"warnings: {' '.join(screen.warnings)}",
            f"basis: {' '.join(screen.basis)}",
            f"rows: {rows}; kept: {screen.kept}",
        ]
    check_golden("starts_of_reports", page(said))


def test_a_page_has_all_sentences_of_a_screen_in_order() -> None:
    screen = FirstScreen(
        "Claim.",
        ["SIMULATED.", "Warning."],
        ["Basis."],
        None,
        ["Finding."],
        ["Planning."],
        [("To check", "command x")],
        ["Way."],
    )
    assert list(screen.notes) == [
        "SIMULATED.",
        "Claim.",
        "Warning.",
        "Basis.",
        "Finding.",
        "Planning.",
        "To check, run: `command x`",
    ]


# --- which model is best, and why none is ---


def pair(
    second: str, verdict: Any, value: float, n: int = 24, depends: Mapping[str, int] | None = None
) -> Comparison:
    """A comparison of `p/first` with another model."""
    difference = replace(estimate(value, value - 0.5, value + 0.5), n=n)
    return Comparison(
        first="p/first",
        second=second,
        difference=difference,
        error=0.25,
        p=0.01,
        p_holm=0.02,
        p_worst=0.03,
        verdict=verdict,
        depends_on=dict(depends or {}),
    )


OTHERS = ("p/b", "p/c", "p/d", "p/e", "p/f")
CASES: dict[str, tuple[bool, list[tuple[Any, ...]]]] = {
    "all worse": (True, [(name, "significant", 1.0) for name in OTHERS]),
    "one worse": (True, [("p/b", "significant", 1.0)]),
    "two worse": (True, [(name, "significant", 1.0) for name in OTHERS[:2]]),
    "one near": (True, [("p/b", "not distinguishable", 0.2)]),
    "many near": (True, [(name, "not distinguishable", 0.2) for name in OTHERS]),
    "one near, one equal, one worse": (
        True,
        [
            ("p/b", "not distinguishable", 0.0),
            ("p/c", "not distinguishable", 0.1),
            ("p/d", "significant", 1.0),
        ],
    ),
    "one near, three worse": (
        True,
        [
            ("p/b", "not distinguishable", 0.1),
            *((name, "significant", 1.0) for name in OTHERS[1:4]),
        ],
    ),
    "one near, two worse": (
        True,
        [
            ("p/b", "not distinguishable", 0.1),
            *((name, "significant", 1.0) for name in OTHERS[1:3]),
        ],
    ),
    "two near": (True, [(name, "not distinguishable", 0.2) for name in OTHERS[:2]]),
    "three near, one worse": (
        True,
        [
            *((name, "not distinguishable", 0.2) for name in OTHERS[:3]),
            ("p/e", "significant", 1.0),
        ],
    ),
    "two equal": (True, [(name, "not distinguishable", 0.0) for name in OTHERS[:2]]),
    "not over all, and it depends": (
        True,
        [
            ("p/b", "not significant over all questions", 0.4),
            ("p/c", "depends on unscored answers", 0.5, 24, {"p/c": 3}),
            ("p/d", "depends on unscored answers", 0.6, 24, {"p/c": 3, "p/first": 2}),
        ],
    ),
    "too few questions": (False, [("p/b", "not distinguishable", 1.0, 4)]),
    "no common question": (True, [("p/b", "not comparable", NAN, 0)]),
    "a common question with some": (
        True,
        [("p/b", "not comparable", NAN, 0), ("p/c", "significant", 2.0)],
    ),
}


def test_why_a_model_is_best_or_none_is() -> None:
    said = {}
    base = cached("no_clear_best")
    for name, (testable, given) in CASES.items():
        pairs = tuple(pair(*facts) for facts in given)
        clear = tuple(one for one in pairs if one.significant)
        unclear = tuple(one for one in pairs if not one.significant)
        best = BestOfColumn("p/first", pairs, clear, unclear, testable, frozenset())
        names = ["p/first", *OTHERS]
        facts = pd.DataFrame(index=names)
        for lower in (False, True):
            compared = replace(base.compared, models=facts, lower_is_better=lower)
            vars(compared)["best_in"] = {"all": best}  # in the place of what is computed
            case = f"{name}, lower is better" if lower else name
            said[case] = [best_sentence(compared, "all")]
    check_golden("best_in_words", page(said))


def test_who_takes_questions_away_and_whose_scores_are_missing() -> None:
    base = cached("a_model_takes_most_questions_away")
    missing = base.compared.missing
    said = {}
    for questions, without in ((16, 24), (16, 16), (21, 24), (22, 24)):
        changed = comparing(
            base,
            question_counts={**base.compared.question_counts, "all": questions},
            missing=replace(missing, without={"p/first": 16, "p/third": without}),
        )
        said[f"{questions} of 24 questions, {without} without one model"] = missing_notes(
            changed.compared
        )
    for name in ("a_clear_best_of_two", "a_panel_that_failed_in_part"):
        said[name] = missing_notes(cached(name).compared)
    check_golden("missing_in_words", page(said))


@pytest.mark.parametrize(("questions", "named"), [(26, True), (27, False), (28, False)])
def test_who_takes_questions_away_is_named_below_nine_tenths(questions: int, named: bool) -> None:
    base = cached("a_model_takes_most_questions_away")
    missing = replace(base.compared.missing, without={"p/first": questions, "p/second": 30})
    counts = {**base.compared.question_counts, "all": questions}
    compared = comparing(base, asked=30, question_counts=counts, missing=missing).compared
    notes = missing_notes(compared)
    assert any(tells(note, f"p/second ... {30 - questions} ... 30") for note in notes) == named


def test_judges_that_failed_are_named_though_others_gave_every_answer_a_score() -> None:
    several = cached("a_panel_that_failed_in_part")
    alone = cached("one_model_before_a_panel_that_failed_in_part")
    notes = []
    for ranking in (several, alone):
        missing = replace(
            ranking.compared.missing, unscored=0, failed={"p/strict": {"a": 0.25, "b": 0.5}}
        )
        failure, how = missing_notes(replace(ranking.compared, missing=missing))
        assert tells(failure, "p/strict of a 25%, b 50%")
        notes.append(how)
    assert len(several.compared.ranked) > 1 == len(alone.compared.ranked)
    assert tells(notes[0], "all ranked models") and not tells(notes[1], "ranked")
    models = several.compared.models.copy()
    models["rank_from"] = [1, *[None] * (len(models) - 1)]  # the others have too few scores
    missing = replace(several.compared.missing, unscored=0, failed={"p/strict": {"a": 0.5}})
    [_, how] = missing_notes(replace(several.compared, models=models, missing=missing))
    assert how == notes[1]


# --- lengths ---


def leads(*facts: tuple[Any, ...]) -> tuple[LengthLead, ...]:
    """Leads of the first model over the others."""
    return tuple(LengthLead(*one) for one in facts)


def twins(value: float, low: float, high: float) -> Any:
    """What padding is worth to the judge."""
    return SimpleNamespace(slope=estimate(value, low, high))


REST = estimate(1.2, 0.4, 2.0)
LENGTHS: dict[str, dict[str, Any]] = {
    "as they are": {},
    "a price of padding, and the lead is kept": {
        "judge_shifts": twins(0.5, 0.4, 0.6),
        "leads_by_length": leads(("p/second", 2.0, 0.8, 2.5, REST, "keeps")),
    },
    "a price beyond people, and the lead is lost": {
        "people_slope": estimate(0.5, 0.4, 0.6),
        "leads_by_length": leads(("p/second", 2.0, 0.8, 2.5, REST, "lost")),
    },
    "a price of padding comes before one beyond people": {
        "judge_shifts": twins(0.5, 0.4, 0.6),
        "people_slope": estimate(0.9, 0.8, 1.0),
        "leads_by_length": leads(("p/second", 2.0, 0.8, 2.5, REST, "uncertain")),
    },
    "a price without an interval": {
        "judge_shifts": twins(0.5, NAN, NAN),
        "leads_by_length": leads(("p/second", 2.0, 0.8, 2.5)),
    },
    "twins without padding": {"judge_shifts": SimpleNamespace(slope=None)},
    "no price explains the lead": {"leads_by_length": leads(("p/second", 2.0, 0.1, math.inf))},
    "the first writes less": {"leads_by_length": leads(("p/second", 2.0, -0.1, NAN))},
    "the second is not significantly worse": {
        "leads_by_length": leads(("p/near", 2.0, 0.8, 2.5), ("p/third", 1.0, 0.8, 1.25)),
    },
    "no lead at all": {"leads_by_length": (), "judge_shifts": twins(-0.5, -0.6, -0.4)},
}


def lengths(**changed: Any) -> Ranking:
    """A ranking of three models with other facts about lengths."""
    return replace(cached("lengths_that_overlap"), **changed)


def test_what_is_said_of_lengths_and_leads() -> None:
    said = {name: [length_sentence(lengths(**facts))] for name, facts in LENGTHS.items()}
    base = cached("lengths_that_overlap")
    unknown = base.compared.models.assign(length_questions=0)
    said["no length is known"] = [length_sentence(comparing(base, models=unknown))]
    places = pd.Series([1, None, None], base.compared.models.index, dtype=object)
    alone = base.compared.models.assign(rank_from=places)
    said["one ranked model"] = [length_sentence(comparing(base, models=alone))]
    made_up = base.compared.models.assign(simulated=True)
    said["simulated models"] = [length_sentence(comparing(base, models=made_up))]
    said["simulated models before a measured judge"] = [
        length_sentence(replace(comparing(base, models=made_up), judge_shifts=twins(0.5, 0.4, 0.6)))
    ]
    part = base.compared.models.assign(simulated=[True, False, True])
    said["some simulated models"] = [length_sentence(comparing(base, models=part))]
    check_golden("lengths_in_words", page(said))


def test_tables_of_lengths_and_leads() -> None:
    base = cached("lengths_that_overlap")
    measured = replace(
        base,
        judge_shifts=twins(0.5, 0.4, 0.6),
        leads_by_length=leads(
            ("p/second", 2.0, 0.8, 2.5, REST, "keeps"), ("p/third", 1.0, -0.8, NAN)
        ),
    )
    beyond = replace(base, leads_by_length=leads(("p/second", 2.0, 0.1, math.inf)))
    made_up = comparing(base, models=base.compared.models.assign(simulated=True))
    nothing = replace(base, lengths=base.lengths[:0])
    sections = []
    for ranking in (measured, beyond, made_up, nothing):
        sections += length_section(ranking, 1, "score")
    assert len(sections) == 3
    check_golden("lengths_in_tables", markdown(*sections))


def test_what_a_regression_on_length_says() -> None:
    found = cached("lengths_that_overlap").regression
    assert found is not None
    none = LengthRegression(found.means[:0], 3, 21)
    sections = [
        regression_section(replace(found, left_out=1, by_model=0.999), 2),
        regression_section(none, 1),
    ]
    facts = {"with": regression_facts(found), "without": regression_facts(none)}
    text = json.dumps(plain(facts), indent=1, default=str)
    assert (regression_facts(found)["by_model"], regression_facts(found)["left_out"]) == (
        found.by_model,
        found.left_out,
    )
    assert "21" not in json.dumps(regression_facts(none)) and " 3)" in text
    check_golden("regression_in_words", markdown(*sections))


# --- means that people's ratings correct ---


def corrected(**changed: Any) -> tuple[CorrectedMeans, Ranking]:
    """Corrected means with other facts, and their ranking."""
    ranking = cached("people_turn_the_order")
    assert ranking.corrected is not None
    found = replace(ranking.corrected, **changed)
    return found, replace(ranking, corrected=found)


def unlike(model_name: str, difference: float, deviations: float, p: float) -> FromAll:
    """How far the rated answers of a model are from all."""
    given = estimate(difference, difference - 0.2, difference + 0.2)
    return FromAll(model_name, given, deviations, p, 0.01)


def pairs(*rows: tuple[str, str, str, str, float, float]) -> pd.DataFrame:
    """Pairs of models: first, second, better by the judge, verdict, difference and lower bound."""
    made = []
    for first, second, better, verdict, value, low in rows:
        made.append(
            {
                "first": first,
                "second": second,
                "better_by_judge": better,
                "verdict": verdict,
                "difference": estimate(value, low, 2 * value - low),
                "p": 0.02,
                "p_holm": 0.06,
                "p_worst": 0.06,
            }
        )
    return pd.DataFrame(made)


FIRST, SECOND, THIRD = ("p/first", "p/second", "p/third")
LIKE = unlike("", 0.0, 0.0, 0.9)


def _corrections() -> Iterator[tuple[str, dict[str, Any]]]:
    found, _ = corrected()
    human = found.human
    yield "as they are", {}
    yield (
        "unweighted ratings on the judge's scale",
        {"human": replace(human, weighted=False, scale=(1.0, 10.0), doubt=None)},
    )
    for many in (0, 1, 9, 10):
        raters = [f"rater {place}" for place in range(many)] or [""]
        yield f"{many} named raters", {"raters": raters}
    for name, by_model in {
        "one": (unlike(FIRST, 0.9, 0.5, 0.001),),
        "two": (unlike(FIRST, 0.9, 0.5, 0.001), unlike(THIRD, -0.9, 0.5, 0.001)),
        "three": tuple(unlike(one, 0.9, 0.5, 0.001) for one in (FIRST, SECOND, THIRD)),
        "none alone": (unlike(FIRST, 0.1, 0.1, 0.5),),
    }.items():
        together = unlike("", 0.5, 0.5, 0.001) if name == "none alone" else LIKE
        for weighted in (True, False):
            yield (
                f"rated answers of {name} unlike, {weighted=}",
                {
                    "from_all": (together, *by_model),
                    "human": replace(human, weighted=weighted),
                },
            )
    yield "one confounded", {"confounded": [THIRD]}
    yield "all confounded", {"confounded": [FIRST, SECOND, THIRD], "models": []}
    yield "nothing corrected", {"models": []}
    yield "nothing skipped", {"skipped": dict.fromkeys(found.skipped, 0)}
    yield "much skipped", {"skipped": {"score": 1, "column": 2, "row": 12}}
    means = found.means
    yield "unknown worth", {"means": means.assign(worth=[NAN, *means["worth"][1:]])}
    yield "more would halve", {"means": means.assign(more=pd.Series([12, 3, 4], dtype=object))}
    few = means.assign(rated=[24, 9, 10])
    yield "nine of one model", {"means": few}
    alone = means[:1]
    yield (
        "one model",
        {
            "means": alone,
            "models": list(alone["model"]),
            "pairs": found.pairs[:0],
            "raters": [""],
        },
    )
    equal = means.assign(corrected=[means["corrected"].iloc[0]] * 3)
    near = pairs(
        (SECOND, THIRD, "", "not distinguishable", 0.0, -0.5),
        (SECOND, FIRST, FIRST, "significant", 1.0, 0.5),
        (THIRD, FIRST, FIRST, "not distinguishable", 1.0, 0.1),
    )
    yield "equal means", {"means": equal, "pairs": near}
    kept = pairs(
        (FIRST, SECOND, FIRST, "significant", 1.0, 0.5),
        (FIRST, THIRD, FIRST, "not distinguishable", 1.0, 0.1),
        (SECOND, THIRD, SECOND, "not distinguishable", 1.0, -0.1),
    )
    yield "leads without significance", {"pairs": kept, "models": [FIRST, SECOND, THIRD]}
    lost = pairs(
        (FIRST, SECOND, FIRST, "significant", 1.0, 0.5),
        (THIRD, FIRST, FIRST, "not distinguishable", 1.0, 0.1),
        (SECOND, THIRD, "", "significant", 1.0, 0.1),
    )
    yield "one lead lost", {"pairs": lost, "models": [THIRD, FIRST, SECOND]}
    yield (
        "an order turned without significance",
        {
            "models": [FIRST, THIRD, SECOND],
            "pairs": pairs(
                (FIRST, THIRD, FIRST, "significant", 1.0, 0.5),
                (FIRST, SECOND, FIRST, "significant", 1.0, 0.5),
                (THIRD, SECOND, "", "not distinguishable", 0.3, -0.1),
            ),
        },
    )
    yield "a worst case", {"pairs": found.pairs.assign(p_worst=[0.5, 0.03, 0.04])}
    by_intent = pd.concat([means, means.assign(column="Leisure")], ignore_index=True)
    yield "by intent", {"means": by_intent}
    yield "no answers", {"means": means[:0], "models": []}


def test_what_is_said_of_corrected_means() -> None:
    parts = []
    for name, changed in _corrections():
        found, ranking = corrected(**changed)
        short = ranking.compared.short
        start = corrected_start(found, ranking.compared)
        warnings = corrected_warnings(found, ranking.compared)
        assert start[0] == corrected_headline(found, short)
        lines = [f"- {sentence}" for sentence in [*claims(ranking), *start]]
        lines += [f"- WARNING {sentence}" for sentence in warnings]
        parts += [
            f"# {name}",
            "\n".join(lines),
            markdown(corrected_section(found, ranking.compared, 2)),
        ]
    check_golden("corrected_in_words", "\n\n".join(parts))


def test_the_screen_of_corrected_means_has_both_means() -> None:
    found, ranking = corrected()
    table = corrected_screen_table(found, ranking.compared, "judged").data
    assert list(table["model"]) == ["second", "third", "first"]
    assert [one.value for one in table["judged"]] == [
        ranking.compared.mean(name).value for name in (SECOND, THIRD, FIRST)
    ]
    assert [one.value for one in table.iloc[:, 2]] == [
        found.over_all["corrected"][name].value for name in (SECOND, THIRD, FIRST)
    ]


def _alone(ranking: Ranking) -> Leaderboard:
    """A leaderboard of one ranking."""
    return Leaderboard((ranking,), (), (), a_clear_best_of_two().resampling, "")


def test_a_report_of_unlike_rated_answers_does_not_begin_with_corrected_means() -> None:
    far = (unlike("", 0.9, 0.5, 0.001),)
    found, _ = corrected()
    for weighted in (True, False):
        human = replace(found.human, weighted=weighted)
        _, ranking = corrected(from_all=far, human=human)
        made = (
            replace(SCENARIOS["people_turn_the_order"](), rankings=(ranking,)) if weighted else None
        )
        assert (len(claims(ranking)) == 2) is weighted
        screen = leaderboard_screen(made or _alone(ranking))
        assert screen.table is not None
        assert ("judge's mean" in screen.table.data) is weighted
        kept = ("Ranking", "Intents", "Differences by the judge's scores")
        report = report_leaderboard(made or _alone(ranking))
        sections = [section for section in report.sections if section.title in kept]
        assert len(sections) == len(kept)
        if not weighted:
            check_golden("unlike_rated_answers", markdown(*sections))


def test_warnings_of_corrected_means_stand_between_those_of_the_judge_and_of_missing_scores() -> (
    None
):
    found, ranking = corrected()
    of_people = corrected_warnings(found, ranking.compared)
    assert of_people
    assert leaderboard_screen(_alone(ranking)).warnings == of_people
    models = ranking.compared.models.assign(self_judged=1.0, unscored_share=0.5, unscored=5)
    doubtful = leaderboard_screen(_alone(comparing(ranking, models=models))).warnings
    first, *others, last = doubtful
    assert first.startswith("SELF-JUDGED")
    assert others == of_people
    assert last.startswith("!")


# --- noise ---


def noise(**changed: Any) -> Ranking:
    """A ranking whose noise has other facts."""
    base = cached("several_epochs")
    return replace(base, noise=base.noise.assign(**changed))


def test_what_is_said_of_noise() -> None:
    base = cached("several_epochs")
    sections = [
        noise_section(ranking, 1)
        for ranking in (
            base,
            noise(one_more_judge=0.5, variance_judge=0.1, share_judges=0.25),
            noise(variance_answer=NAN, variance_judgement=0.2, judged_once_more=[NAN, 0.1, NAN]),
            noise(variance_question=-1.0, variance_answer_judge=[-1.0, 0.0, 1.0]),
            replace(base, about_answers=replace(base.about_answers, clusters=7)),
            replace(base, traffic=cached("a_mix_of_languages").traffic),
        )
    ]
    check_golden("noise_in_words", markdown(*sections))


# --- cards ---


@pytest.mark.parametrize(("size", "shown"), [(10, "x" * 10), (11, "x" * 10 + "…")])
def test_a_long_text_is_cut(size: int, shown: str) -> None:
    assert shortened("x" * size, 10) == shown


def test_a_cut_text_has_one_line_and_no_blank_before_its_end() -> None:
    assert shortened("a\n\n b\tc", 10) == "a b c"
    assert shortened("abcd efgh", 5) == "abcd…"


@pytest.mark.parametrize("scored", [0, 5, 6, 7, 20])
def test_the_three_worst_and_best_answers_are_chosen_once(scored: int) -> None:
    finals = [*map(float, range(scored)), NAN]
    chosen = list(extreme_answers(pd.DataFrame({"final": finals}))["final"])
    expected = finals[:scored]
    if scored > 6:
        expected = [*finals[:3], *finals[scored - 3 : scored]]
    assert chosen == expected


def test_cards_show_the_worst_answers_first_and_the_best_from_the_top() -> None:
    ranking = cached("missing_scores_of_every_outcome")
    cards = model_cards(ranking)
    parts = []
    for card in cards:
        lines = [f"# {card.title}: {card.line}"]
        for heading, excerpts in card.answers.items():
            for one in excerpts:
                lines.append(
                    f"- {heading}: {one.score} | {one.about} | {one.question} | {one.criteria}"
                )
        parts.append("\n".join(lines))
    check_golden("cards_in_words", "\n\n".join(parts) + "\n")
    [alone] = model_cards(cached("one_model_lacks_scores"))
    assert "rank" not in alone.line


# --- why models are apart ---


def test_why_models_are_not_ranked_with_the_first_ones() -> None:
    named: dict[str, Reason] = {
        "task": Difference("task", "urs_inspect/urs_assistants", "urs_inspect/urs"),
        "version": Difference("version", "2-A", "1-A"),
        "data": Difference("content", "e (sha256 bbbbbbbb)", "d (sha256 aaaaaaaa)"),
        "rubric": Difference("rubric", "urs 2", "urs 1"),
        "unknown rubric": Difference("rubric", "", "urs 1"),
        "unknown first rubric": Difference("rubric", "urs 2", ""),
        "judges": Difference("panel", "p/other, p/more", "p/judge"),
        "no judge": Difference("panel", "", "p/judge"),
        "references": Difference("references", "p/model", ""),
        "references of the data": Difference("references", "", "p/model"),
        "prompts": OtherPrompts(3),
        "no common question": OtherQuestions(0, 24, 96, "p/more"),
        "one first question": OtherQuestions(0, 1, 96, "p/more"),
        "fewer than half": OtherQuestions(11, 24, 96, "p/more"),
        "half": OtherQuestions(12, 24, 1096, "p/more"),
    }
    lines = [f"- {name}: {' '.join(reasons_apart([reason]))}" for name, reason in named.items()]
    check_golden("reasons_apart", "\n".join(lines) + "\n")
    assert reasons_apart([]) == []


def test_which_models_judged_themselves() -> None:
    base = cached("copies")
    said = {}
    for judges in (1, 2):
        for shares in (
            (0.0, 0.0, 0.0, 0.0),
            (0.5, 0.0, 0.0, 0.0),
            (1.0, 0.0, 0.1, 0.0),
            (1.0,) * 4,
        ):
            models = base.compared.models.assign(self_judged=list(shares))
            conditions = replace(base.conditions, judges=("p/a", "p/b")[:judges])
            ranking = comparing(base, models=models)
            about = replace(base.about_answers, equal_answers=())
            ranking = replace(ranking, conditions=conditions, about_answers=about)
            said[f"{judges} judges, shares {shares}"] = more_cautions(ranking)
    check_golden("self_judged_in_words", page(said))


def test_an_intent_without_a_common_question_has_no_best_model() -> None:
    lost = [place for place in range(24) if place % 3 == 0]
    made = board(
        model("p/a", 7.0),
        model("p/b", 5.0, change=lambda place: {"final": NAN} if place in lost else {}),
    )
    findings = leaderboard_screen(made).findings
    assert any("Leisure: no question" in finding for finding in findings)


def test_a_report_with_prices_of_all_says_the_sum_and_draws_them() -> None:
    ranking = cached("prices_of_some")
    known = ranking.compared.models.assign(cost=[0.48, 0.0, 0.12], judge_cost=[0.5, 0.25, 0.25])
    made = _alone(comparing(ranking, models=known))
    assert "Cost: $1.60, judges included." in leaderboard_screen(made).basis
    cost = [part for part in report_leaderboard(made).sections if part.title.startswith("Tokens")]
    assert [len(part.figures) for part in cost] == [1]
    assert "Not drawn" not in cost[0].figures[0].caption


# --- sections that some models or columns alone call for ---


@pytest.mark.parametrize("has_parts", [True, False])
@pytest.mark.parametrize("has_countries", [True, False])
def test_parts_and_countries_have_tables_of_their_own(
    *, has_parts: bool, has_countries: bool
) -> None:
    ranking = cached("intents_reported_together")
    columns = replace(
        ranking.columns,
        parts=ranking.columns.parts if has_parts else (),
        countries=ranking.columns.countries if has_countries else (),
    )
    report = report_leaderboard(_alone(replace(ranking, columns=columns)))
    [intents] = [section for section in report.sections if section.title == "Intents"]
    titles = {table.title for table in intents.tables}
    assert ("Intents that are reported together" in titles) is has_parts
    assert ("Countries" in titles) is has_countries
    assert bool(intents.notes) is has_parts


def test_columns_that_one_model_alone_calls_for() -> None:
    base = cached("a_clear_best_of_two")
    some: dict[str, Any] = {
        "judge_alpha": [0.5, NAN],
        "epoch_deviation": [NAN, 0.25],
        "judge_deviation": [0.75, NAN],
        "epochs": [1, 2],
        "self_judged": [0.0, 0.5],
        "cost": [0.24, NAN],
        "without/p/judge": [0.0, 0.125],
    }
    ranking = comparing(base, models=base.compared.models.assign(**some))
    report = report_leaderboard(_alone(ranking))
    kept = ("Ranking", "Tokens, cost and time", "Answers and judging")
    sections = [section for section in report.sections if section.title in kept]
    check_golden("columns_of_one_model", markdown(*sections))


def test_what_is_said_of_checks_beside_a_failed_one() -> None:
    [ranking] = checks_of_the_judge().rankings
    failed = [fact for fact in ranking.judge_checks if fact.verdict == "failed"][:1]
    passed = [fact for fact in ranking.judge_checks if fact.verdict == "passed"][-1:]
    unchecked = [fact for fact in ranking.judge_checks if fact.verdict == "not checked"]
    between = JudgeFact(
        "people", "p/judge", estimate(0.1, -0.2, 0.4), baseline=0.0, other_prompts=True
    )
    assert between.verdict == "unclear"
    unknown = JudgeFact("repeats", "p/judge", estimate(NAN), files=("a.eval", "b.eval"))
    cases = {
        "failed": failed,
        "failed and between": [*failed, between],
        "failed and passed": [*passed, *failed],
        "failed and not checked": [*failed, *unchecked],
        "failed and unknown": [unknown, *failed],
        "all": [*unchecked, unknown, between, *passed, *failed],
        "nothing failed": [*passed, between, *unchecked, unknown],
        "nothing": [],
    }
    said = {}
    for name, facts in cases.items():
        checked = replace(ranking, judge_checks=tuple(facts))
        said[name] = [failed_sentence(checked), judge_sentence(checked), str(judge_failed(checked))]
    check_golden("checks_in_words", page(said))


@pytest.mark.parametrize(
    ("simulated", "said"), [((True, True), False), ((True, False), True), ((False, False), True)]
)
def test_an_unknown_cost_is_named_unless_all_models_are_simulated(
    simulated: Sequence[bool], said: bool
) -> None:
    base = cached("a_clear_best_of_two")
    models = base.compared.models.assign(cost=NAN, judge_cost=NAN, simulated=simulated)
    screen = leaderboard_screen(_alone(comparing(base, models=models)))
    assert any(tells(line, "--prices") for line in screen.basis) == said
    partly = models.assign(judge_cost=[0.5, NAN], cost=[1.0, 2.0])
    screen = leaderboard_screen(_alone(comparing(base, models=partly)))
    assert any(tells(line, "Cost ... $3.50 ... the judge") for line in screen.basis)


def best_of(model: str, *, unclear: Sequence[str] = (), testable: bool = True) -> BestOfColumn:
    """The best model of an intent."""
    pairs = tuple(pair(name, "not distinguishable", 0.2) for name in unclear)
    return BestOfColumn(model, pairs, (), pairs, testable, frozenset())


INTENTS: dict[str, tuple[dict[str, BestOfColumn], list[str]]] = {
    "what holds for most intents comes first": (
        {
            "Chat": best_of("p/first"),
            "Code": best_of("p/b", unclear=["p/c"]),
            "Law": best_of("p/b", unclear=["p/c"]),
        },
        ["Code, Law ... b or c", "Chat ... first"],
    ),
    "too few questions come last, however often": (
        {
            "Chat": best_of("p/first", testable=False),
            "Code": best_of("p/first", testable=False),
            "Law": best_of("p/first"),
        },
        ["Law ... first", "Chat, Code ... too few"],
    ),
    "the same in all": (
        {name: best_of("p/first") for name in ("Chat", "Code", "Law")},
        ["the 3 intents ... first"],
    ),
    "one intent": ({"Chat": best_of("p/first")}, ["Chat ... first"]),
    "none twice": (
        {"Chat": best_of("p/b"), "Code": best_of("p/first")},
        ["Chat ... b", "Code ... first"],
    ),
}


@pytest.mark.parametrize("case", INTENTS)
def test_what_is_said_of_the_best_of_intents(case: str) -> None:
    base = cached("no_clear_best")
    best_in, said = INTENTS[case]
    facts = pd.DataFrame(index=["p/first", *OTHERS])
    counts = dict.fromkeys(best_in, 20)
    compared = replace(base.compared, models=facts, question_counts=counts)
    vars(compared)["best_in"] = best_in
    columns = replace(base.columns, groups=tuple(best_in), parts=())
    found = _best_of_intents(replace(base, compared=compared, columns=columns))
    assert len(found) == len(said)
    assert all(map(tells, found, said)), found


@pytest.mark.parametrize(
    ("needed", "said"),
    [
        ({"x": 900, "y": 120, "z": None}, ["0.3 ... 120 to 900"]),
        ({"x": 120, "y": 300, "z": 90}, ["0.3 ... 90 to 300"]),
        ({"x": 300, "y": None, "z": 300}, ["0.3 ... about 300 ..."]),
        ({"x": None, "y": None, "z": None}, []),
    ],
)
def test_questions_that_intents_need_are_a_number_or_a_range(
    needed: Mapping[str, int | None], said: list[str]
) -> None:
    compared = SimpleNamespace(questions_to_tell=needed.get)
    ranking: Any = SimpleNamespace(compared=compared, columns=SimpleNamespace(groups=[*needed]))
    found = list(_needed(ranking))
    assert len(found) == len(said)
    assert all(map(tells, found, said)), found


def unchecked(*facts: tuple[str, str]) -> Any:
    """A ranking with checks of the judge that were not made, and the tasks that make them."""
    checks = []
    for check, task in facts:
        run = CheckRun(task, ("p/judge",), ("logs/a.eval",)) if task else None
        checks.append(SimpleNamespace(check=check, run=run, verdict="not checked"))
    return SimpleNamespace(judge_checks=checks)


def test_of_checks_that_were_not_made_the_cheapest_has_its_command() -> None:
    ranking = unchecked(("people", "judge_rating"), ("labels", ""), ("null answers", "urs_probe"))
    [(purpose, command)] = _commands(ranking, "")
    assert "urs_probe" in command
    assert "Not checked" in purpose
    [(purpose, _)] = _commands(ranking, "A check failed.")
    assert "Not checked" not in purpose
    assert _commands(unchecked(("labels", "")), "") == []
    [(_, command)] = _commands(unchecked(("labels", ""), ("people", "judge_rating")), "")
    assert "judge_rating" in command


def test_agreement_with_people_and_labels_is_one_thing_where_neither_was_checked() -> None:
    both, people = unchecked(("people", ""), ("labels", "")), unchecked(("people", ""))
    assert tells(_not_checked(both), "people or labels")
    assert not tells(_not_checked(people), "labels")


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, []),
        ({"without_country": 5}, ["5 of 24 ... country"]),
        ({"without_country": 24}, []),  # no question names one
        ({"without_share": 3}, ["3 of 27 ... my mix"]),
        (
            {"cut_off": {"p/first": 3, "p/second": 4}, "answers": 48},
            ["7 of 48 ... p/first 3 ... p/second 4"],
        ),
        (
            {"not_shown": {"image": 2, "audio": 1}, "answers": 48},
            ["3 of 48 ... image: 2 ... audio: 1"],
        ),
        ({"temperature_not_sent": 6, "answers": 48}, ["6 of 48 ... temperature"]),
        ({"temperatures": ("0",)}, []),
        ({"temperatures": ("0", "1")}, ["temperatures: 0, 1"]),
        ({"silent_judges": ("p/strict",)}, ["p/strict ... other judges"]),
        ({"clusters": 7}, ["24 questions ... 7"]),
        ({"clusters": 7, "in_several_clusters": 1}, ["24 questions ... 7", "1 question ... one"]),
    ],
)
def test_what_must_be_known_of_the_answers_of_a_ranking(
    facts: Mapping[str, Any], said: list[str]
) -> None:
    base = cached("a_clear_best_of_two")
    assert base.compared.asked == 24 and not ranking_notes(base)
    traffic: Any = SimpleNamespace(source="my mix")
    about = replace(base.about_answers, **facts)
    found = ranking_notes(replace(base, about_answers=about, traffic=traffic))
    assert len(found) == len(said)
    assert all(map(tells, found, said)), found


@pytest.mark.parametrize(
    ("unscored", "shares", "said"),
    [
        ((0, 0), (0.0, 0.02), []),
        ((3, 0), (0.03, 0.0), [ALERT]),
        ((0, 1), (0.03, 0.01), [ALERT]),
        ((0, 0), (0.0, 0.021), ["2% ... judges"]),
    ],
)
def test_missing_scores_are_an_alert_of_answers_or_of_judges(
    unscored: Sequence[int], shares: Sequence[float], said: list[str]
) -> None:
    base = cached("a_clear_best_of_two")
    models = base.compared.models.assign(unscored=unscored, unscored_share=shares)
    found = alerts(comparing(base, models=models))
    assert len(found) == len(said)
    assert all(map(tells, found, said)), found


@pytest.mark.parametrize(("asked", "over"), [(24, False), (25, True)])
def test_a_mean_of_one_model_is_over_some_questions_or_all(asked: int, over: bool) -> None:
    base = SCENARIOS["a_clear_best_of_two"]().rankings[0]
    first = base.compared.names[0]
    counts = {**base.compared.question_counts, "all": 24}
    alone = comparing(
        base,
        models=base.compared.models.loc[[first]],
        means={key: means[:1] for key, means in base.compared.means.items()},
        question_counts=counts,
        asked=asked,
    )
    [claim] = claims(alone)
    assert tells(claim, "mean score")
    assert tells(claim, f"24 of {asked}") == over
    assert not has_lengths(alone)
    assert has_lengths(base)


@pytest.mark.parametrize(("scored", "over"), [((24, 0), True), ((0, 0), False), ((24, 24), True)])
def test_missing_scores_leave_means_over_some_questions_where_any_model_has_one(
    scored: Sequence[int], over: bool
) -> None:
    base = cached("a_clear_best_of_two").compared
    counts = dict(zip(base.names, scored, strict=True))
    missing = replace(base.missing, unscored=24, scored=counts, without={base.names[0]: 0})
    lacking, *_ = missing_notes(replace(base, missing=missing))
    assert tells(lacking, "24 of 48")
    assert tells(lacking, "over the 24 of 24") == over
