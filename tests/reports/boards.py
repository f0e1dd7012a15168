"""Leaderboards made by hand, with everything that a report may show."""

import math
from dataclasses import replace

import numpy as np

from tests.reports.answer_rows import answers, answers_of, row
from urs_inspect.reports.numbers._answers import Run
from urs_inspect.reports.numbers._leaderboard import Leaderboard, make_leaderboard
from urs_inspect.reports.numbers._traffic import TrafficMix

KINDS = ("leisure-en", "leisure-zh", "factual_qa-en", "api-zh", "solve_professional_problem-zh")
HOSTILE = "p/<script>alert(1)</script><img src=x onerror=alert(2)>\"' | {{7*7}} &amp; </style>"
MIX = TrafficMix("my mix.yaml", {"countries": {"Chile": 0.25, "Peru": 0.75}})


def rich_board(hostile: str = HOSTILE) -> Leaderboard:
    """Five models, of which one lacks scores, one is not ranked and one judged itself.

    And one by another judge.
    """
    generator = np.random.default_rng(0)
    names = [f"{KINDS[number % 5]}-{number:02}" for number in range(60)]
    effects = generator.normal(0, 1, 60)
    both = "p/judge, p/other"
    country = {name: ("Chile", "Peru", "Norway")[place % 3] for place, name in enumerate(names)}

    def model(name: str, level: float, lost: int = 0, **others: object) -> list[dict[str, object]]:
        finals = np.clip(np.rint(level + effects + generator.normal(0, 0.8, 60)), 1, 10)
        finals[:lost] = math.nan
        lengths = [50 + 9 * place + 7 * place * len(name) % 41 for place in range(60)]
        given = {"judges": both, "judge_temperatures": "0", **others}
        return [
            row(
                name,
                question,
                float(final),
                country=country[question],
                answer_length=float(lengths[place]),
                **given,
            )
            | {
                "judge_finals": {
                    "p/judge": float(final),
                    "p/other": float(min(10, final + place % 2)),
                }
            }
            for place, (question, final) in enumerate(zip(names, finals, strict=True))
        ]

    found = answers(
        model("openai/gpt-large", 8.2, cost=0.004),
        model("qwen/通义千问-max", 8.0, self_judged=True),
        model("p/lacking", 6.0, 10, input_tokens=math.nan, cut_off=True),
        model(hostile, 5.0),
        model("p/few", 5.0, 45),
        [
            row(
                "urs_simulation/weak",
                name,
                4.0,
                judges="urs_simulation/judge",
                country=country[name],
            )
            for name in names
        ],
        left_out=(f"{hostile}\ud800.eval was left out: finish it with `inspect eval-retry`.",),
    )
    run = Run(
        "a.eval",
        hostile,
        ("p/judge",),
        "inspect eval `x`",
        "2026-01-01",
        "a" * 64,
        "b" * 64,
        "01",
        "0.3",
        60,
    )
    found = replace(found, runs={"a.eval": run})
    return make_leaderboard(found, traffic=MIX, rounds=200, command="urs-inspect report x")


def many_board(models: int = 20) -> Leaderboard:
    """Many models."""
    generator = np.random.default_rng(1)
    names = [f"{KINDS[number % 5]}-{number:02}" for number in range(30)]
    finals = np.clip(generator.normal(6, 1, (models, 30)), 1, 10)
    found = answers_of(
        {f"p/model-{place:02}-with-a-long-name": row for place, row in enumerate(finals)}, names
    )
    return make_leaderboard(found, rounds=100)
