"""What is said before a ranking is believed: flat judges, equal answers, self-judging, leads of one
intent.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import Run, run  # noqa: F401
from tests.reports.answer_rows import answers, answers_of, ranking_of, row
from tests.reports.judged_logs import JUDGE, answered, judgement, write_judged
from tests.telling import tells
from urs_inspect.reports.numbers._leaderboard import Ranking
from urs_inspect.reports.words._first_screen import first_cautions, more_cautions

INTENTS = ("leisure", "factual_qa", "api")


def write(
    folder: Path,
    finals: dict[str, list[float]],
    texts: dict[str, list[str]] | None = None,
    **how: Any,
) -> None:
    """A log of each model, with these scores and texts."""
    for model, given in finals.items():
        samples = []
        for n, final in enumerate(given):
            text = (texts or {}).get(model, [])[n : n + 1] or [f"{model} answers {n}"]
            score = judgement(final, answer_length=len(text[0]), **how)
            score.answer = text[0]
            samples.append(answered(f"q{n:02}", score))
        write_judged(folder / f"{model[2:]}.eval", *samples, model=model)


def start_of(run: Run, folder: Path, command: str) -> str:  # noqa: F811
    """What a command prints first."""
    return " ".join(run(command, folder).output.split()).removeprefix("Ranking ")


# --- flat judges ---


@pytest.mark.parametrize("command", ["report", "table"])
def test_that_a_judge_gives_one_value_is_the_first_thing_said(
    tmp_path: Path,
    run: Run,  # noqa: F811
    command: str,
) -> None:
    write(tmp_path, {"p/a": [7.0] * 12, "p/b": [7.0] * 12})
    assert start_of(run, tmp_path, command).startswith(
        f"THE JUDGE {JUDGE} GAVE ALL 24 ANSWERS THE SAME SCORE, 7"
    )


def test_that_a_judge_gives_the_top_mark_to_98_percent_is_the_first_thing_said(
    tmp_path: Path,
    run: Run,  # noqa: F811
) -> None:
    write(tmp_path / "98", {"p/a": [10.0] * 50, "p/b": [*[10.0] * 48, 6.0, 4.0]})
    for command in ("report", "table"):
        assert start_of(run, tmp_path / "98", command).startswith(
            f"THE JUDGE {JUDGE} GAVE 98 OF 100 ANSWERS (98%)"
        )
    facts = json.loads(run("report", tmp_path / "98", "--json").stdout)["rankings"][0]
    assert facts["headline"].startswith("THE JUDGE")
    write(tmp_path / "97", {"p/a": [10.0] * 50, "p/b": [*[10.0] * 47, 6.0, 5.0, 4.0]})
    assert "TOP MARK" not in start_of(run, tmp_path / "97", "report")


def test_a_flat_judge_of_a_panel_is_named_and_empty_answers_are_no_scores_of_it() -> None:
    panel: Any = {"judges": "p/flat, p/sound"}
    tables = [
        [
            row(
                model,
                f"leisure-en-{n}",
                5.0,
                **panel,
                judge_finals={"p/flat": 8.0, "p/sound": float(2 + n % 5)},
            )
            for n in range(12)
        ]
        for model in ("p/a", "p/b")
    ]
    tables[0][0] |= {
        "judge_finals": {"p/flat": float("nan"), "p/sound": float("nan")},
        "outcome": "no_response",
    }
    [said] = first_cautions(ranking_of(answers(*tables)))
    assert "p/flat GAVE ALL 23 ANSWERS" in said
    few = ranking_of(answers_of({"a": [5.0] * 4, "b": [5.0] * 4}))
    assert first_cautions(few) == []  # eight equal scores may be chance


# --- equal answers ---


def test_that_two_models_gave_the_same_answers_is_said(tmp_path: Path, run: Run) -> None:  # noqa: F811
    long = [f"answer {n} " + "x" * 3000 for n in range(20)]
    partly = [*long[:5], *(f"{text[:-1]}y" * 2 for text in long[5:])]
    finals = [float(3 + n % 5) for n in range(20)]
    long[0] = "short"
    partly[0] = "short"
    texts = {"p/a": long, "p/b": ["short\n", *long[1:]], "p/c": partly}
    write(tmp_path, dict.fromkeys(texts, finals), texts)
    printed = start_of(run, tmp_path, "report")
    assert tells(printed, "a and b ... 20; a and c ... 5 of 20 and b and c ... 5 of 20")
    assert (
        "word for word"
        in json.loads(run("report", tmp_path, "--json").stdout)["rankings"][0]["headline"]
    )


def test_one_equal_answer_of_twenty_is_not_worth_a_word(tmp_path: Path, run: Run) -> None:  # noqa: F811
    finals = [float(3 + n % 5) for n in range(20)]
    write(tmp_path, {"p/a": finals, "p/b": finals}, {"p/a": ["Yes"], "p/b": ["Yes"]})
    assert "word for word" not in run("report", tmp_path).output


# --- self-judging ---


def test_the_headline_says_that_a_model_judged_itself(tmp_path: Path, run: Run) -> None:  # noqa: F811
    write(tmp_path, {JUDGE: [float(3 + n % 5) for n in range(12)]}, self_judged=True)
    assert tells(start_of(run, tmp_path, "report"), "SELF-JUDGED: judge judged")
    headline = json.loads(run("report", tmp_path, "--json").stdout)["rankings"][0]["headline"]
    assert "SELF-JUDGED: judge" in headline


def test_a_panel_with_one_of_the_models_in_it_is_said() -> None:
    panel: Any = {"judges": "p/a, p/judge"}
    tables = [
        [
            row(model, f"leisure-en-{n}", float(3 + n % 5), **panel, self_judged=model == "p/a")
            for n in range(12)
        ]
        for model in ("p/a", "p/b")
    ]
    said = more_cautions(ranking_of(answers(*tables)))
    assert any(tells(sentence, "SELF-JUDGED: a was") for sentence in said)


# --- leads that rest on one intent ---


def ranking_by_intent(leads: dict[str, float], questions: int = 12) -> Ranking:
    """Two models of which the first is so much better in each intent, with the same small
    differences beside.
    """
    tables: list[list[dict[str, Any]]] = [[], []]
    for intent, lead in leads.items():
        for n in range(questions):
            base = 5.0 + n % 2
            tables[0].append(
                row("p/first", f"{intent}-en-{n:02}", base + lead + 0.5 * (-1) ** (n // 2))
            )
            tables[1].append(row("p/second", f"{intent}-en-{n:02}", base))
    return ranking_of(answers(*tables))


def test_a_lead_that_rests_on_one_intent_is_said_by_its_name() -> None:
    ranking = ranking_by_intent({"leisure": 2.0, "factual_qa": 0.0, "api": 0.0})
    assert ranking.compared.best_in["all"].pairs[0].significant
    [said] = more_cautions(ranking)
    assert tells(said, "first over second RESTS ON ONE INTENT, Leisure")
    assert "without its 12 questions it is 0.00" in said
    assert "Factual" not in said


def test_a_lead_in_every_intent_rests_on_none() -> None:
    ranking = ranking_by_intent(dict.fromkeys(INTENTS, 1.0))
    assert ranking.compared.best_in["all"].pairs[0].significant
    assert more_cautions(ranking) == [] and ranking.without_intents == ()


def test_a_lead_that_needs_every_question_does_not_rest_on_one_intent() -> None:
    ranking = ranking_by_intent(dict.fromkeys(INTENTS, 0.19))
    assert ranking.compared.best_in["all"].pairs[0].significant and more_cautions(ranking) == []
    assert {lead.intent for lead in ranking.without_intents} >= {"Leisure", "Factual QA"}
    assert not any(lead.clear for lead in ranking.without_intents)


def test_a_lead_of_the_same_size_in_every_question_of_one_intent_rests_on_it() -> None:
    names = [f"{INTENTS[n % 3]}-en-{n:02}" for n in range(42)]
    base = [float(3 + n % 5) for n in range(42)]
    lead = [3.0 * name.startswith("leisure") for name in names]
    better = [low + more for low, more in zip(base, lead, strict=True)]
    ranking = ranking_of(answers_of({"p/first": better, "p/second": base}, names), rounds=2)
    assert "RESTS ON ONE INTENT, Leisure" in more_cautions(ranking)[0]


def test_uniform_leads_are_seldom_said_to_rest_on_one_intent_and_planted_ones_mostly() -> None:
    """Two models, 42 questions of three intents: leads everywhere, and all of the lead in one
    intent.
    """
    generator = np.random.default_rng(0)
    names = [f"{INTENTS[n % 3]}-en-{n:02}" for n in range(42)]
    inside = np.array([name.startswith("leisure") for name in names])
    said = {}
    for kind, leads in (("uniform", np.full(42, 0.45)), ("planted", 1.5 * inside)):
        counts = []
        for _ in range(24):
            base = generator.normal(6, 1, 42)
            better = base + leads + generator.normal(0, 1, 42)
            ranking = ranking_of(
                answers_of({"p/first": better.tolist(), "p/second": base.tolist()}, names), rounds=2
            )
            if (
                ranking.compared.names[0] == "p/first"
                and ranking.compared.best_in["all"].pairs[0].significant
            ):
                counts.append(
                    any("RESTS ON ONE" in sentence for sentence in more_cautions(ranking))
                )
        said[kind] = sum(counts) / len(counts)
    assert said["uniform"] <= 0.15 and said["planted"] >= 0.7
