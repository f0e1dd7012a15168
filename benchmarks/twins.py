"""What twins of answers show of a simulated judge, and whether leads are called lost rightly.

    python benchmarks/twins.py [power leads] [--simulations 200] [--seed 0] [--answers 90]

`power`: twins of the embedded sample answers, made by the rules of `judge_twins`, before a judge
that pays 0, 0.2 or 0.5 points for one thing (each doubling of the length, a list, an authority, an
order). Printed is how often the verdict on the kind that has this thing is "adds", for 20, 60 and
200 twins; at 0 points these are false alarms, of which there may be 2.5%.

`leads`: model A leads over model B by its quality, by a bias of the judge for length, or both.
Answers go through the code of `urs-inspect report`, with a log of padded twins of `--answers`
answers. Printed is how many of the significant leads are called `lost` ("nothing certain is left")
and `keeps`. A true lead should be called lost in at most 5%, a lead by bias alone in 90% or more.

Scores are a level, rounded and cut to 1 to 10: the quality, an effect of the question (deviation
1), one of the answer (0.7), the bias, and the judge's noise, drawn anew for each judgement (0.5).
Nothing here is a real judge.
"""

import argparse
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import numpy as np
import pandas as pd
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec

from benchmarks.report_coverage import Population, made_up_answers
from urs_inspect.judges._twin_shifts import twins_of
from urs_inspect.judges._twins import KINDS, Original, make_twin
from urs_inspect.judges._twins_scorer import FIELDS, SHIFT
from urs_inspect.reports.numbers._judge_checks import JudgeShifts
from urs_inspect.reports.numbers._leaderboard import make_leaderboard
from urs_inspect.reports.numbers._scores import ALL
from urs_inspect.stats._bootstrap import Floats

SAMPLE = Path(__file__).parents[1] / "src/urs_inspect/datasets/urs_sample.jsonl"
JUDGE_NOISE = 0.5
ANSWER_SPREAD = 0.7
PADDING = {"padded_half": math.log2(1.5), "padded_double": 1.0}
BIASES = {
    "length": "padded_double",
    "list": "markdown",
    "authority": "authority",
    "order": "order",
}
"""What a judge pays for, and the kind of twins that has it."""
ROUNDS = 400


@dataclass(frozen=True)
class Case:
    """How qualities, lengths and a judge's bias come about.

    Attributes:
        lead: Quality of A less that of B, in points.
        longer: Doublings of A's answers beyond B's.
        bias: Points for each doubling beyond the usual length.
        lengthens: Doublings of an answer for each point of its own quality.
        spread: Deviation of log lengths within a model, in doublings.
        most: Doublings beyond the usual length from which the judge pays nothing more.
    """

    lead: float = 0.5
    longer: float = 1.0
    bias: float = 0.0
    lengthens: float = 0.0
    spread: float = 0.5
    most: float = math.inf

    @property
    def is_true(self) -> bool:
        """Whether A is the better model."""
        return self.lead > 0


TRIPLE = math.log2(3)
CASES = {
    "no effect, twice as long, lead 0.5": Case(),
    "no effect, three times, lead 0.5": Case(longer=TRIPLE),
    "no effect, three times, little spread": Case(longer=TRIPLE, spread=0.15),
    "no effect, three times, lead 1": Case(lead=1.0, longer=TRIPLE),
    "quality lengthens .25, lead 0.5": Case(lengthens=0.25),
    "quality lengthens .5, lead 0.5": Case(lengthens=0.5),
    "quality lengthens .5, lead 1": Case(lead=1.0, lengthens=0.5),
    "no overlap (16 times), no effect": Case(longer=4.0, spread=0.15),
    "no overlap, quality lengthens .5": Case(longer=4.0, spread=0.15, lengthens=0.5),
    "pure bias .4, three times": Case(lead=0.0, longer=TRIPLE, bias=0.4),
    "pure bias .4, little spread": Case(lead=0.0, longer=TRIPLE, bias=0.4, spread=0.15),
    "bias .4, quality lengthens .5": Case(lead=0.0, longer=TRIPLE, bias=0.4, lengthens=0.5),
    "bias .4, bad answers get long": Case(lead=0.0, longer=TRIPLE, bias=0.4, lengthens=-0.5),
    "bias .4, no overlap (16 times)": Case(lead=0.0, longer=4.0, bias=0.4, spread=0.15),
    "bias .4 up to twice the usual": Case(lead=0.0, longer=TRIPLE, bias=0.4, most=1.0),
}


def judged(level: Floats, doublings: Floats, case: Case, generator: np.random.Generator) -> Floats:
    """Scores of answers by the judge of a case."""
    paid = case.bias * np.minimum(doublings, case.most)
    noise = JUDGE_NOISE * generator.standard_normal(level.shape)
    return np.clip(np.rint(level + paid + noise), 1, 10)


# --- leads ---


def one_lead(case: Case, questions: int, answers: int, seed: int) -> str:
    """What the report says of A's lead; empty if it is not significant."""
    generator = np.random.default_rng(seed)
    shared = generator.standard_normal(questions)[:, None]
    own = ANSWER_SPREAD * generator.standard_normal((questions, 2))
    quality = np.array([6.0 + case.lead, 6.0])
    level = quality + shared + own
    doublings = np.array([case.longer, 0.0]) + case.lengthens * (own + quality - 6.0)
    doublings = doublings + case.spread * generator.standard_normal((questions, 2))
    finals = judged(level, doublings, case, generator)
    facts = {"intent": ["leisure"], "group": ["Leisure"], "language": ["en"]}
    drawn_from = Population(
        pd.DataFrame({name: values * questions for name, values in facts.items()}),
        np.zeros(questions),
    )
    made = made_up_answers(drawn_from, (7.0, 6.0), generator)
    table = made.table.assign(
        model=["p/a"] * questions + ["p/b"] * questions,
        base_model=["p/a"] * questions + ["p/b"] * questions,
        log=["a.eval"] * questions + ["b.eval"] * questions,
        final=finals.T.ravel(),
        outcome="judged",
        answer_length=np.maximum(1.0, np.rint(800 * np.exp2(doublings.T.ravel()))),
        judge_finals=pd.Series([{"p/judge": final} for final in finals.T.ravel()], dtype=object),
        judges="p/judge",
    )
    padded = padded_twins(level, doublings, case, answers, generator)
    shifts = JudgeShifts("twins.eval", (), twins_of(_header(), padded).slope)
    with patch("urs_inspect.reports.numbers._leaderboard.read_shifts", return_value=shifts):
        board = make_leaderboard(replace(made, table=table), rounds=ROUNDS)
    [ranking] = board.rankings
    [pair] = ranking.compared.best_in[ALL].pairs
    if not pair.significant or pair.first != "p/a":
        return ""
    return ranking.leads_by_length[0].verdict


def padded_twins(
    level: Floats, doublings: Floats, case: Case, answers: int, generator: np.random.Generator
) -> pd.DataFrame:
    """Padded twins of some answers of B, each at most three times, and what B lacks of A."""
    twins = []
    of_b = min(3 * len(level), answers)
    for model, (name, number) in enumerate({"p/a": answers - of_b, "p/b": of_b}.items()):
        chosen = np.resize(generator.permutation(len(level)), number)
        start = judged(level[chosen, model], doublings[chosen, model], case, generator)
        for kind, added in PADDING.items():
            final = judged(level[chosen, model], doublings[chosen, model] + added, case, generator)
            for place, shift in zip(chosen, final - start, strict=True):
                twins.append((kind, place, name, f"question {place:05}", added, shift))
    return pd.DataFrame(twins, columns=[*FIELDS, SHIFT])


def _header() -> EvalLog:
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="urs_inspect/judge_twins",
        dataset=EvalDataset(),
        model="p/judge",
        config=EvalConfig(),
        metadata={"equal_to_original": {}},
    )
    return EvalLog(eval=spec, location="twins.eval")


def leads(simulations: int, answers: int, seed: int) -> Iterator[str]:
    """Lines of a table of leads."""
    yield f"| truth | true lead | lost, 42 questions | keeps | lost, 200 | keeps | (twins of {answers})"
    for name, case in CASES.items():
        cells = []
        for questions in (42, 200):
            jobs = [(case, questions, answers, seed + place) for place in range(simulations)]
            with get_context("fork").Pool(2) as pool:
                said = [word for word in pool.starmap(one_lead, jobs, chunksize=10) if word]
            for verdict in ("lost", "keeps"):
                part = said.count(verdict) / len(said) if said else math.nan
                cells.append(f"{part:.1%} of {len(said)}" if verdict == "lost" else f"{part:.1%}")
        yield f"| {name} | {'yes' if case.is_true else 'no'} | {' | '.join(cells)} |"


# --- power ---


@cache
def twins_of_samples(bias: str) -> list[tuple[str, str]]:
    """The sample answers of which a twin can be made that has what a judge pays for, and it."""
    found = []
    for line in SAMPLE.read_text("utf-8").splitlines():
        case = json.loads(line)
        language = {"EN": "en", "CN": "zh"}[case["language"]]
        text = case["reference_ans"]
        twin = make_twin(KINDS[BIASES[bias]], Original(text, language, "p/judge"), "")
        if twin is not None:
            found.append((text, twin))
    return found


def one_judge(bias: str, points: float, twins: int, seed: int) -> str:
    """The verdict on the kind that has what a judge pays for."""
    generator = np.random.default_rng(seed)
    pairs = twins_of_samples(bias)
    kind = KINDS[BIASES[bias]]
    scored = []
    for place in range(twins):
        text, twin = pairs[generator.integers(len(pairs))]
        level = 6 + generator.standard_normal()
        doublings = math.log2(len(twin) / len(text))
        paid = points * (doublings if bias == "length" else 1.0)
        start, final = np.clip(
            np.rint(level + np.array([0, paid]) + JUDGE_NOISE * generator.standard_normal(2)), 1, 10
        )
        scored.append((kind.name, place, "p/a", str(place), doublings, float(final - start)))
    return twins_of(_header(), pd.DataFrame(scored, columns=[*FIELDS, SHIFT])).kinds[0].verdict


def power(simulations: int, seed: int) -> Iterator[str]:
    """Lines of a table of power and false alarms."""
    yield "| the judge pays for | points | 20 twins | 60 | 200 |"
    for bias in BIASES:
        for points in (0.0, 0.2, 0.5):
            cells = []
            for twins in (20, 60, 200):
                jobs = [(bias, points, twins, seed + place) for place in range(simulations)]
                with get_context("fork").Pool(2) as pool:
                    said = pool.starmap(one_judge, jobs, chunksize=10)
                cells.append(f"{said.count('adds') / len(said):.1%}")
            yield f"| {bias} | {points} | {' | '.join(cells)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=["power", "leads"])
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--answers", type=int, default=90)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if "power" in given.tables:
        for line in power(given.simulations, given.seed):
            print(line, flush=True)
    if "leads" in given.tables:
        for line in leads(given.simulations, given.answers, given.seed):
            print(line, flush=True)
