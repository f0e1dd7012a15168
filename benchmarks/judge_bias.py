"""What published judges prefer beside people on the same answers, and how often a bias is found.

    URS_INSPECT_DATA_DIR=DIR python benchmarks/judge_bias.py [--simulations 500] [--seed 1]
        [--output docs/appendix/judge_bias.md]

Data: answers of five chat models to the 80 questions of Vicuna, verdicts of the same five as judges
on all 20 ordered pairs of models, and people's votes on the pairs (Li, Patel and Du, "PRD: Peer Rank
and Discussion Improve Large Language Model based Evaluations", 2023), which are fetched, and read as
`urs-inspect import` does. First table: the coefficients of `judge_bias`, in logits. Second: each
judge's less people's on the same pairs, in which questions and pairs that people did not see are
left out. Third: the coefficients where ties are left out of the fit in place of counting half.

Simulations: answers with a quality that people and judges agree on, a length and list items; people
with a taste for length; judges that share it, and judges with one bias of their own. Printed: how
often each bias is called clearly above people's.
"""

import argparse
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import numpy as np

from benchmarks.real_votes import read_vicuna80
from urs_inspect.judges._bias_regression import (
    BIASES,
    LENGTH,
    LISTS,
    OWN,
    PLACE,
    JudgeBias,
    ShownPair,
    answer_doublings,
    judge_bias,
)
from urs_inspect.reports._texts import number
from urs_inspect.stats._battles import Battle

PEOPLE = "people"
JUDGES = {
    "gpt4": "GPT-4",
    "claude": "Claude",
    "gpt35": "GPT-3.5",
    "bard": "Bard",
    "vicuna-13b": "Vicuna-13B",
}
_TIE = 0.5
_LOGITS = number(2, sign=True)


def read_vicuna() -> dict[str, list[ShownPair]]:
    """Votes of people and verdicts of five judges on pairs of the five judges' own answers.

    The files are fetched.
    """
    published = read_vicuna80()
    battles = {name: published.judges[title] for name, title in JUDGES.items()}
    return {
        name: list(_shown(given, published.answers))
        for name, given in {PEOPLE: published.people, **battles}.items()
    }


def _shown(
    battles: Iterable[Battle], answers: Mapping[tuple[str, int], str]
) -> Iterator[ShownPair]:
    """Verdicts on answers of the five models."""
    for battle in battles:
        models = sorted((battle.first, battle.second))
        if not JUDGES.keys() >= set(models):
            continue
        question = int(battle.cluster)
        texts = (answers[battle.first, question], answers[battle.second, question])
        length, lists = answer_doublings(*texts)
        yield ShownPair(
            pair=f"{question} {' '.join(models)}",
            question=battle.cluster,
            outcome=battle.outcome,
            length=length,
            lists=lists,
            first=battle.first,
            second=battle.second,
        )


# --- simulations ---


@dataclass(frozen=True)
class Taste:
    """What a judge prefers, in logits: the first place, a doubling of length or lists, its own."""

    place: float = 0.0
    length: float = 0.0
    lists: float = 0.0
    own: float = 0.0
    sharpness: float = 1.0  # by what all its logits are multiplied


@dataclass(frozen=True)
class Design:
    """A simulated set of answers and votes."""

    questions: int
    models: int
    votes: int  # of people, on each ordered pair


PEOPLES = Taste(length=1.3)
_CLEAN = "none: people's own taste"
_SHARPER = "none, but decides 1.5 times as sharply"
PLANTED = 0.7
TASTES = {
    _CLEAN: PEOPLES,
    "place": replace(PEOPLES, place=PLANTED),
    "length": replace(PEOPLES, length=PEOPLES.length + PLANTED),
    "lists": replace(PEOPLES, lists=PLANTED),
    "own models": replace(PEOPLES, own=PLANTED),
    _SHARPER: replace(PEOPLES, sharpness=1.5),
}
DESIGNS = (Design(80, 4, 1), Design(30, 4, 1))
_OWN = "m0"
_DISAGREE = 0.5
"""Deviation of what people and judge each see in an answer that the other does not, in logits."""


def simulate(
    design: Design, taste: Taste, generator: np.random.Generator
) -> tuple[list[ShownPair], list[ShownPair]]:
    """Verdicts of a judge with a taste, in both orders, and votes of people on the same pairs."""
    shape = (design.questions, design.models)
    quality = generator.normal(0, 0.5, design.models) + generator.normal(0, 0.7, shape)
    logs = generator.normal(0, 0.6, design.models) + generator.normal(0, 0.6, shape)
    items = np.where(generator.random(shape) < 0.5, generator.poisson(5, shape), 0)
    lists = np.log2(1 + items)
    sides = []
    for one, count in ((taste, 1), (PEOPLES, design.votes)):
        worth = quality + generator.normal(0, _DISAGREE, shape)
        worth = worth + one.length * logs + one.lists * lists
        worth[:, 0] += one.own
        rows: list[ShownPair] = []
        for first, second in permutations(range(design.models), 2):
            odds = one.sharpness * (one.place + worth[:, first] - worth[:, second])
            for _ in range(count):
                rows += _verdicts(first, second, odds, logs, lists, generator)
        sides.append(rows)
    return sides[0], sides[1]


def _verdicts(
    first: int,
    second: int,
    odds: np.ndarray,
    logs: np.ndarray,
    lists: np.ndarray,
    generator: np.random.Generator,
) -> Iterator[ShownPair]:
    """A verdict on each question; one in ten is a tie."""
    won = generator.random(len(odds)) < 1 / (1 + np.exp(-odds))
    outcomes = np.where(generator.random(len(odds)) < 0.1, 0.5, won)
    low, high = sorted((first, second))
    for question, outcome in enumerate(outcomes):
        yield ShownPair(
            pair=f"{question} {low} {high}",
            question=str(question),
            outcome=float(outcome),
            length=float(logs[question, first] - logs[question, second]),
            lists=float(lists[question, first] - lists[question, second]),
            first=f"m{first}",
            second=f"m{second}",
        )


def flag_rates(design: Design, taste: Taste, simulations: int, seed: int) -> dict[str, float]:
    """How often each bias is flagged; `any`: one of them at least."""
    generator = np.random.default_rng((seed, design.questions, design.models))
    counts = dict.fromkeys((*BIASES, "any"), 0)
    for _ in range(simulations):
        judge, people = simulate(design, taste, generator)
        flagged = judge_bias(judge, people, {_OWN}).flagged
        for name in flagged:
            counts[name] += 1
        counts["any"] += bool(flagged)
    return {name: count / simulations for name, count in counts.items()}


# --- the page ---

PAGE = """\
# What published judges prefer beside people

How [`urs-inspect judges`](../judges.md#bias-beside-peoples-own) finds what a judge prefers beyond people, on published verdicts and in simulations. The page is written by `{command}`.

One logistic regression of the verdicts has a constant (the first place), a coefficient for each doubling of the length, one for each doubling of 1 + list items, and the strengths of the models. People's votes on the same pairs are fitted
in the same way. A tie counts as half a win of each. Each coefficient and each strength gets one tie as a prior, so that values are finite.

- Coefficients are in logits, with 95% intervals by question (clustered sandwich, Student's t; no error below half of that of independent verdicts).
- *Own models* are the mean strength of the judge's own models less that of the others, and only what is above people's says anything.
- Differences from people are over the pairs that both have. Their intervals hold jointly for the biases of a judge (Bonferroni). Those above 0 are marked, and the place also below 0.
- A judge that decides more sharply than people has larger numbers in every column, without any taste of its own. The last lines of the simulations show what that does. A few models say too little about how sharply a judge decides to divide it out: real tastes for length would be missed.

## Five judges and people

Answers of five chat models to 80 questions, the same five as judges of all ordered pairs, and people's votes (Li, Patel and Du, "PRD: Peer Rank and Discussion Improve Large Language Model based Evaluations", 2023; `urs-inspect
data fetch real_judges/vicuna80`), read as [`urs-inspect import`](../compare.md#answers-and-verdicts-that-exist) does. A model is its own family here.

{coefficients}

Less people's on the same pairs; **clear** ones in bold:

{beyond}

With ties left out, so that only decided verdicts count, coefficients are larger, most where a judge often calls a tie. The last column is not beside people: it is the judge's strength of its own model (less the mean of all five) less the mean
of what the four other judges give it:

{decided}

## Simulations

{simulations} data sets a line: answers differ in quality, on which people and judge agree but for noise, in length and in list items. People like length ({length:+.1f} logits a doubling). A judge has their taste, or {planted} logits more of one thing. Each pair is judged
in both orders, and has one vote of people for each. Shown is how often each bias is called clearly above people's; a judge without bias should be accused of *any* in 5% at most.

{rates}
"""
_HEADINGS = {
    PLACE: "first place",
    LENGTH: "twice as long",
    LISTS: "twice the list items",
    OWN: "own models",
}


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(headings)} |", "|---" * len(headings) + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)


def _coefficients(found: Mapping[str, Sequence[ShownPair]]) -> str:
    names = [name for name in BIASES if name != OWN]
    rows = []
    for who, verdicts in found.items():
        by_name = judge_bias(verdicts).judge
        cells = [_LOGITS(by_name[name]) for name in names]
        rows.append([JUDGES.get(who, who), f"{len(verdicts):,}", *cells])
    return table(["", "verdicts", *(_HEADINGS[name] for name in names)], rows)


def _beyond(found: Mapping[str, Sequence[ShownPair]]) -> str:
    rows = []
    for who, title in JUDGES.items():
        bias = judge_bias(found[who], found[PEOPLE], {who})
        rows.append([title, *(_marked(bias, name) for name in BIASES)])
    return table(["", *(_HEADINGS[name] for name in BIASES)], rows)


def _marked(bias: JudgeBias, name: str) -> str:
    text = _LOGITS(bias.beyond[name])
    return f"**{text}**" if name in bias.flagged else text


def _decided(found: Mapping[str, Sequence[ShownPair]]) -> str:
    rows = []
    decided = {
        who: [row for row in verdicts if row.outcome != _TIE] for who, verdicts in found.items()
    }
    for who, verdicts in decided.items():
        by_name = judge_bias(verdicts).judge
        cells = [_LOGITS(by_name[name]) for name in (PLACE, LENGTH, LISTS)]
        own = ""
        if who in JUDGES:
            given = {name: _above_others(decided[name], who) for name in JUDGES}
            others = [value for name, value in given.items() if name != who]
            own = f"{given[who] - sum(others) / len(others):+.2f}"
        rows.append([JUDGES.get(who, who), f"{len(verdicts):,}", *cells, own])
    return table(["", "decided", *_HEADINGS.values()], rows)


def _above_others(verdicts: Sequence[ShownPair], model: str) -> float:
    """Strength of a model less the mean of all, itself among them."""
    contrast = judge_bias(verdicts, own={model}).judge[OWN].value
    return contrast * (len(JUDGES) - 1) / len(JUDGES)


def _rates(simulations: int, seed: int) -> str:
    rows = []
    for design in DESIGNS:
        for bias, taste in TASTES.items():
            rates = flag_rates(design, taste, simulations, seed)
            shown = [f"{rates[name]:.1%}" for name in (*BIASES, "any")]
            rows.append([str(design.questions), str(design.models), bias, *shown])
            print(rows[-1], flush=True)
    headings = ["questions", "models", "bias of the judge", *_HEADINGS.values(), "any"]
    return table(headings, rows)


def main(given: Sequence[str] | None = None) -> None:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simulations", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(given)
    found = read_vicuna()
    page = PAGE.format(
        command=f"python benchmarks/judge_bias.py --simulations {options.simulations}"
        f" --seed {options.seed}",
        coefficients=_coefficients(found),
        beyond=_beyond(found),
        decided=_decided(found),
        simulations=options.simulations,
        length=PEOPLES.length,
        planted=PLANTED,
        rates=_rates(options.simulations, options.seed),
    )
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
