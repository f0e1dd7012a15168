"""Panels of judges of which one fails: what counts, what is claimed, and what is shown."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai.scorer import Score
from scipy import stats

from tests.reports.answer_rows import answers, model_of, ranking_of, row
from tests.reports.judged_logs import answered, judgement, write_judged
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.comparison._compare import compare
from urs_inspect.comparison._gate import Rule
from urs_inspect.comparison._gate_report import make_gate
from urs_inspect.comparison._samples import read_sample_scores
from urs_inspect.reports.numbers._answers import Answers
from urs_inspect.reports.numbers._human_data import read_human_ratings
from urs_inspect.reports.numbers._leaderboard import make_leaderboard
from urs_inspect.reports.numbers._scores import ALL, compare_models, order_models, score_table
from urs_inspect.reports.words._comparison import best_sentence, missing_notes
from urs_inspect.reports.words._first_screen import ranking_notes
from urs_inspect.reports.words._leaderboard import report_leaderboard
from urs_inspect.stats._bootstrap import Flags, Floats, Resampling

NAN = math.nan
LENIENT, STRICT = "p/lenient", "p/strict"
SHIFTS = np.array([1.2, -1.2])


def panel_answers(finals: Floats, models: tuple[str, ...] = ("a", "b")) -> Answers:
    """Answers by a lenient and a strict judge; `finals` are (questions, models, judges), NaN where
    one failed.
    """
    rows = []
    for place, model in enumerate(models):
        for number, given in enumerate(finals[:, place].tolist()):
            known = [final for final in given if not math.isnan(final)]
            facts: dict[str, Any] = {
                "judges": f"{LENIENT}, {STRICT}",
                "judge_finals": dict(zip((LENIENT, STRICT), given, strict=True)),
            }
            if known and len(known) < len(given):
                facts["outcome"] = "partial_panel"
            rows.append(
                row(
                    model,
                    f"leisure-en-{number:03}",
                    sum(known) / len(known) if known else NAN,
                    **facts,
                )
            )
    return answers(rows)


def judged(
    generator: np.random.Generator, questions: int, better: float = 0.0, mean: float = 6.0
) -> Floats:
    """Scores of a lenient and a strict judge; the first model may be better."""
    level = mean + generator.normal(0, 1, (questions, 1)) + generator.normal(0, 0.8, (questions, 2))
    level[:, 0] += better
    finals = level[:, :, None] + SHIFTS + generator.normal(0, 0.5, (questions, 2, 2))
    return np.asarray(np.clip(np.rint(finals), 1, 10), dtype=np.float64)


def every_third(finals: Floats) -> Floats:
    """The strict judge fails on every third answer of the first model."""
    kept = finals.copy()
    kept[::3, 0, 1] = NAN
    return kept


def test_a_strict_judge_that_fails_on_one_model_ranks_no_equal_models() -> None:
    whole = judged(np.random.default_rng(0), 120)
    ranking = ranking_of(panel_answers(every_third(whole)))
    [pair] = ranking.compared.comparisons["all"]
    assert pair.verdict == "not distinguishable" and pair.p > 0.05
    assert "is best" not in best_sentence(ranking.compared, "all")
    for place, name in enumerate("ab"):
        mean = model_of(ranking, name)
        assert mean.ranks == (1, 2)
        assert mean.all.value == pytest.approx(whole[:, place].mean(), abs=0.15)
        assert mean.mean_scored == pytest.approx(whole[:, place].mean(), abs=0.15)
    # A third of the answers lack one of two judges: a sixth of the scores is missing.
    assert model_of(ranking, "a").unscored_share == pytest.approx(1 / 6)
    assert model_of(ranking, "b").unscored_share == 0


def test_a_lead_depends_on_the_scores_that_a_judge_of_the_panel_did_not_give() -> None:
    finals = every_third(judged(np.random.default_rng(1), 120, better=0.8))
    ranking = ranking_of(panel_answers(finals))
    [pair] = ranking.compared.comparisons["all"]
    assert (pair.first, pair.verdict, pair.depends_on) == (
        "a",
        "depends on unscored answers",
        {"a": 40},
    )
    assert pair.p_holm < 0.001 and pair.p_worst == 1
    # By hand: a sixth of a's scores is 1, or 10; of b none is missing.
    model = model_of(ranking, "a")
    for score, bound in ((1, model.mean_lowest), (10, model.mean_highest)):
        assert bound == pytest.approx(np.nan_to_num(finals[:, 0], nan=score).mean())
    few = judged(np.random.default_rng(2), 200, better=0.8)
    few[:4, 0, 1] = NAN
    assert ranking_of(panel_answers(few)).compared.comparisons["all"][0].verdict == "significant"


def test_corrected_means_depend_on_what_a_judge_of_the_panel_did_not_give(tmp_path: Path) -> None:
    finals = judged(np.random.default_rng(1), 120, better=0.8)
    people = finals.mean(axis=2)
    lines = ["id,model,rating"]
    for number in range(0, 120, 2):
        for place, model in enumerate("ab"):
            lines.append(f"leisure-en-{number:03},{model},{people[number, place]:g}")
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    human = read_human_ratings(path, (1.0, 10.0))
    verdicts = []
    for given in (finals, every_third(finals)):
        corrected = ranking_of(panel_answers(given), human=human).corrected
        assert corrected is not None
        verdicts.append(corrected.pairs.loc[0, "verdict"])
    assert verdicts == ["significant", "depends on unscored answers"]


def test_only_judges_count_that_scored_all_models_and_the_level_is_that_of_the_panel() -> None:
    finals = np.array(
        [[[8, 4], [7, 5]], [[9, 5], [6, 2]], [[9, NAN], [7, 3]], [[7, NAN], [NAN, 5]]], dtype=float
    )
    scores = order_models(score_table(panel_answers(finals).table, ("a", "b")))
    assert scores.table.panel is not None
    # On answers that both scored, the lenient judge is 4, 2, 4, 4 and 4 above the strict one.
    assert scores.table.panel.effects == pytest.approx([1.8, -1.8])
    # No judge scored both answers to the last question.
    assert scores.common.tolist() == [0, 1, 2]
    assert scores.comparable == pytest.approx(np.array([[6, 6], [7, 4], [7.2, 5.2]]))


def test_complete_panels_and_empty_answers_change_nothing() -> None:
    finals = judged(np.random.default_rng(3), 20)
    found = panel_answers(finals)
    assert score_table(found.table, ("a", "b")).panel is None
    empty: dict[str, Any] = {
        "final": 1.0,
        "outcome": "no_response",
        "judge_finals": {LENIENT: NAN, STRICT: NAN},
    }
    for name, value in empty.items():
        found.table.at[0, name] = value
    assert score_table(found.table, ("a", "b")).panel is None
    found = panel_answers(every_third(finals))
    for name, value in empty.items():
        found.table.at[0, name] = value
    panel = score_table(found.table, ("a", "b")).panel
    assert panel is not None and panel.finals[0, 0].tolist() == [1, 1]


def test_the_share_that_a_judge_did_not_score_is_shown_by_model_and_judge() -> None:
    board = make_leaderboard(
        panel_answers(every_third(judged(np.random.default_rng(0), 120))), rounds=200
    )
    report = report_leaderboard(board)
    assert report.tables()["models"][f"without/{STRICT}"].tolist() == [
        1 / 3 if name == "a" else 0 for name in board.rankings[0].compared.names
    ]
    [note] = [note for note in missing_notes(board.rankings[0].compared) if STRICT in note]
    assert "a 33%" in note and "b 0%" in note and LENIENT not in note
    shown = next(section for section in report.sections if section.title == "Answers and judging")
    assert f"No score by {STRICT}" in shown.tables[0].text().headings
    [table] = [table for table in report.sections[0].tables if table.title == "Leaderboard"]
    assert sorted(table.data["Without a score"]) == ["0%", "17% !"]
    # Every answer has a score from one judge at least.
    notes = [note for section in report.sections for note in section.notes]
    assert any(tells(note, "judges are missing") for note in notes)
    assert not any(tells(note, "have no score") for note in notes)
    assert "From 1 to 10" in table.data


def test_a_judge_that_scored_nothing_is_said_to_be_no_part_of_the_ranking() -> None:
    finals = judged(np.random.default_rng(4), 60, better=1.0)
    finals[:, :, 1] = NAN
    ranking = ranking_of(panel_answers(finals))
    assert ranking.compared.comparisons["all"][0].verdict == "significant"
    [note] = [note for note in ranking_notes(ranking) if "scored no answer" in note]
    assert STRICT in note and LENIENT not in note
    assert model_of(ranking, "a").all.value == pytest.approx(finals[:, 0, 0].mean())


Panel = dict[str, float | None]
OF_PANELS: Any = {"scorer": "intent_judge", "value": "final"}


def panel_log(path: Path, given: Sequence[Panel]) -> str:
    """A log in which a lenient and a strict judge gave these scores, None where one failed."""
    samples = []
    for number, panel in enumerate(given):
        known = [final for final in panel.values() if final is not None]
        outcome = "judged" if len(known) == len(panel) else "partial_panel"
        scored = judgement(sum(known) / len(known), outcome=outcome, panel=panel)
        samples.append(answered(f"q{number:03}", scored))
    roles = {"grader": [LENIENT, STRICT]}
    write_judged(path, *samples, model=f"p/{path.stem}", roles=roles)
    return str(path)


def test_scores_by_a_part_of_a_panel_are_missing_for_compare_and_gate(tmp_path: Path) -> None:
    whole: Panel = {LENIENT: 8.0, STRICT: 5.0}
    part: Panel = {LENIENT: 8.0, STRICT: None}
    logs = [
        panel_log(tmp_path / "a.eval", [*[part] * 3, *[whole] * 5]),
        panel_log(tmp_path / "b.eval", [whole] * 8),
    ]
    read = read_sample_scores(logs, **OF_PANELS)
    assert "3 scores" in read.chosen and "3 in a.eval" in read.chosen
    assert read.table.groupby("model")["value"].count().to_dict() == {"p/a": 5, "p/b": 8}
    base, new = (read_sample_scores([log], **OF_PANELS) for log in logs)
    notes = make_gate(base, new, Rule(1.0), scale=(1.0, 10.0)).report.sections[0].notes
    assert any(tells(note, "of the panel") and "a.eval" in note for note in notes)
    assert len(notes) == len(set(notes))
    assert "panel" not in new.chosen


def test_a_judge_that_gave_no_score_in_any_log_is_no_part_of_the_panel(tmp_path: Path) -> None:
    alone: Panel = {LENIENT: 8.0, STRICT: None}
    logs = [panel_log(tmp_path / f"{name}.eval", [alone] * 8) for name in "ab"]
    assert read_sample_scores(logs, **OF_PANELS).table["value"].notna().all()
    whole = panel_log(tmp_path / "c.eval", [{LENIENT: 8.0, STRICT: 5.0}] * 8)
    base, new = (read_sample_scores([log], **OF_PANELS) for log in (whole, logs[0]))
    with pytest.raises(InputError, match="panel of judges"):
        make_gate(base, new, Rule(1.0), scale=(1.0, 10.0))


def test_compare_and_gate_claim_nothing_because_a_strict_judge_failed(tmp_path: Path) -> None:
    """Equal models; the strict judge fails on every third answer of b."""
    generator = np.random.default_rng(7)
    claims = 0
    passed = 0
    for number in range(4):
        finals = judged(generator, 60)
        finals[::3, 1, 1] = NAN
        folder = tmp_path / str(number)
        folder.mkdir()
        logs = []
        for place, name in enumerate("ab"):
            given: list[Panel] = [
                {LENIENT: lenient, STRICT: None if math.isnan(strict) else strict}
                for lenient, strict in finals[:, place].tolist()
            ]
            logs.append(panel_log(folder / f"{name}.eval", given))
        compared = compare(read_sample_scores(logs, **OF_PANELS).answers, rounds=200)
        claims += bool(compared.leads)
        base, new = (read_sample_scores([log], **OF_PANELS) for log in logs)
        passed += make_gate(base, new, Rule(0.3), scale=(1.0, 10.0)).code == 0
    assert (claims, passed) == (0, 0)


@pytest.mark.parametrize(
    ("raters", "confounded"), [({"a": "ann", "b": "bo"}, True), ({"a": "ann", "b": "ann"}, False)]
)
def test_compare_names_raters_and_says_where_they_are_confounded_with_models(
    raters: dict[str, str], confounded: bool, tmp_path: Path
) -> None:
    for name, rater in raters.items():
        samples = [
            answered(
                f"q{number}",
                judgement(8.0),
                scores={"human_rating": Score(value=7, metadata={"raters": {rater: 7}})},
            )
            for number in range(12)
        ]
        write_judged(tmp_path / f"{name}.eval", *samples, model=f"p/{name}")
    read = read_sample_scores([str(tmp_path)], scorer="human_rating")
    assert f"p/b by {raters['b']} (12)" in read.chosen
    assert ("confounded" in read.chosen) == confounded


# --- false claims, of equal models ---

RUNS = 80
MOST_FALSE = int(stats.binom.ppf(0.999, RUNS, 0.05))


def _third(finals: Floats, generator: np.random.Generator) -> Flags:
    """At random on a third of the answers of the first model."""
    return np.stack(
        [generator.random(len(finals)) < 1 / 3, np.zeros(len(finals), dtype=bool)], axis=1
    )


def _worst(finals: Floats, generator: np.random.Generator) -> Flags:
    """On the worst answers of the first model."""
    failed = np.zeros(finals.shape[:2], dtype=bool)
    failed[np.argsort(finals[:, 0, 1], kind="stable")[:12], 0] = True
    return failed


@pytest.mark.parametrize("where", [_third, _worst])
def test_a_panel_with_failures_makes_no_more_false_claims_than_nominal(
    where: Callable[[Floats, np.random.Generator], Flags],
) -> None:
    generator = np.random.default_rng(5)
    false = 0
    for _ in range(RUNS):
        finals = judged(generator, 60)
        finals[..., 1][where(finals, generator)] = NAN
        scores = order_models(score_table(panel_answers(finals).table, ("a", "b")))
        found, _ = compare_models(scores, {ALL: np.arange(60)}, Resampling(20, 0.95, 0))
        false += found[ALL][0].significant
    assert false <= MOST_FALSE
