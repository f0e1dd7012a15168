"""Writes the tables of docs/trust.md: what `urs-inspect trust` promises, and what it keeps.

    URS_INSPECT_DATA_DIR=DIR python -m benchmarks.trust [--calibrations 500] [--seed 1]
        [--processes 2] [--reward-models DIR] [--output docs/trust.md]

TriviaQA: nine judges of 3,200 answers beside a person (Thakur et al., "Judging the Judges", 2024).
LLMBar: three judges of 419 pairs, 100 of them natural, under four prompts, in both orders, beside
people's labels (Zeng et al., 2023); a judge's score of a pair is the mean of its verdicts.
JudgeBench (Tan et al., 2024): with `--reward-models`, a folder with `outputs/` of its repository at
commit 12a499c, reward models judge GPT-4o's pairs, by the logistic function of the difference of
their scores; without, "longest" judges all pairs, surer the greater the difference. Planted judges
are drawn. Labels are drawn with replacement; the promise is about all items.
"""

import argparse
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import numpy as np

from benchmarks.real_means import read_triviaqa
from benchmarks.real_panels import MODELS, ORDERS, PROMPTS, llmbar_rows, winner
from benchmarks.sample_efficiency import Workers
from urs_inspect.comparison._trust import price_of, signs_of
from urs_inspect.comparison._trust_statistics import NOBODY, find_shown
from urs_inspect.datasets._sources import SOURCES, fetch
from urs_inspect.stats._bootstrap import Flags, Floats

UNIT = (0.0, 1.0)
PERSON, STRONG, CHEAP = 100.0, 2.0, 0.1
SMALL = ("Llama-7B", "Llama3-8B", "Mistral-7B")
NINE = ("Gemma-2B", "JudgeLM", *SMALL, "Llama-13B", "Llama-70B", "Llama3-70B", "GPT-4")
_STRONG = ("GPT-4", "Llama-70B", "Llama3-70B", "Skywork-27B")
REWARD_MODELS = {
    "GRM-Gemma-2B": "Ray2333_GRM-Gemma-2B-rewardmodel-ft",
    "Skywork-27B": "Skywork_Skywork-Reward-Gemma-2-27B",
}
_OUTPUTS = "dataset=judgebench,response_model=gpt-4o-2024-05-13,judge_name=reward_model,judge_model"
_FIRST_BETTER: dict[str | None, float] = {"1": 1.0, "2": 0.0}


@dataclass(frozen=True)
class Items:
    """Judges' scores of items, from 0 to 1, and what people say of these."""

    data: str
    judges: tuple[str, ...]
    scores: Floats  # shape (J, N)
    people: Floats  # shape (N,)

    @property
    def agrees(self) -> Flags:
        """Whether people agree; the middle agrees with nothing."""
        return np.abs(self.scores - self.people) < 0.499

    @property
    def prices(self) -> list[float]:
        """Of a score of each judge."""
        return [STRONG if name.startswith(_STRONG) else CHEAP for name in self.judges]

    def only(self, *judges: str) -> "Items":
        """The same with some of the judges, in this order."""
        places = [self.judges.index(judge) for judge in judges]
        return Items(self.data, judges, self.scores[places], self.people)


def triviaqa() -> Items:
    """3,200 answers."""
    given = read_triviaqa(fetch(SOURCES["real_judges/triviaqa"]))
    scores = np.array([given.judges[judge].ravel() for judge in NINE])
    return Items("TriviaQA", NINE, scores, given.person.ravel())


def llmbar(subset: str) -> Items:
    """Pairs of a subset by the start of its path; the middle where orders disagree."""
    scores: dict[str, Floats] = {}
    people = list[float]()
    for (model, prompt), by_subset in llmbar_rows().items():
        pairs = [row for part, rows in by_subset.items() if part.startswith(subset) for row in rows]
        own = []
        for row in pairs:
            both = [_FIRST_BETTER.get(winner(row, order), 0.5) for order in ORDERS]
            own.append(float(np.mean(both)))
        scores[f"{model} {prompt}"] = np.array(own)
        people = [float(row["label"] == 1) for row in pairs]
    for model in MODELS:
        scores[model] = np.mean([scores[f"{model} {prompt}"] for prompt in PROMPTS], axis=0)
    name = f"LLMBar, {subset}" if subset else "LLMBar, all"
    return Items(name, tuple(scores), np.array(list(scores.values())), np.array(people))


def judgebench() -> Items:
    """Pairs with verified labels; the longer response wins."""
    scores = []
    people = []
    for model in ("gpt-4o-2024-05-13", "claude-3-5-sonnet-20240620"):
        file = fetch(SOURCES[f"judge_bench/{model}"])
        for line in file.read_text(encoding="utf-8").splitlines():
            pair = json.loads(line)
            lengths = [len(re.findall(r"\S+", pair[f"response_{each}"])) for each in "AB"]
            scores.append(lengths[0] / sum(lengths))
            people.append(float(pair["label"] == "A>B"))
    return Items("JudgeBench", ("longest",), np.array([scores]), np.array(people))


def reward_models(outputs: Path) -> Items:
    """Pairs of GPT-4o's answers; how likely the first is better by the scores of both."""
    scores = []
    people = list[float]()
    for model in REWARD_MODELS.values():
        lines = (outputs / f"{_OUTPUTS}={model}.jsonl").read_text(encoding="utf-8").splitlines()
        pairs = [json.loads(line) for line in lines]
        rewards = np.array([pair["judgments"][0]["judgment"]["scores"] for pair in pairs])
        scores.append(1 / (1 + np.exp(rewards[:, 1] - rewards[:, 0])))
        people = [float(pair["label"] == "A>B") for pair in pairs]
    return Items("JudgeBench", tuple(REWARD_MODELS), np.array(scores), np.array(people))


def planted(seed: int) -> Items:
    """3,000 items, and judges that are right as often as their names say."""
    generator = np.random.default_rng(seed)
    people = generator.integers(2, size=3_000).astype(float)
    sure = generator.random(len(people))
    chances = {
        "right .97": np.full(len(people), 0.97),
        "right .90": np.full(len(people), 0.9),
        ".70 to 1.00, surer is better": 0.7 + 0.3 * sure,
        "1.00 to .70, surer is worse": 1.0 - 0.3 * sure,
        "never right": np.zeros(len(people)),
    }
    scores = []
    for chance in chances.values():
        right = generator.random(len(people)) < chance
        verdict = np.where(right, people, 1 - people)
        scores.append(0.5 + (verdict - 0.5) * (0.1 + 0.9 * sure))
    return Items("planted", tuple(chances), np.array(scores), people)


@dataclass(frozen=True)
class Study:
    """Judges in order, and how many labels there are."""

    items: Items
    labels: int
    at_least: float
    sure: float = 0.9


def calibrate(study: Study, seed: int) -> tuple[bool, float, float]:
    """Whether a calibration keeps the promise of every judge, the share taken, and the price."""
    items = study.items
    generator = np.random.default_rng((seed, study.labels))
    chosen = generator.integers(len(items.people), size=study.labels)
    signs = signs_of(items.scores, UNIT)
    agrees = items.agrees[:, chosen]
    miss = 1 - study.sure
    by = find_shown(signs, chosen, agrees, at_least=study.at_least, miss=miss).by
    kept = True
    for judge in np.unique(by[by != NOBODY]):
        kept &= items.agrees[judge][by == judge].mean() >= study.at_least - 1e-9
    return kept, float((by != NOBODY).mean()), price_of(by, items.prices, PERSON)


def _listed(judges: Sequence[str]) -> str:
    return ", ".join(judges).replace(", ".join(SMALL), "three small")


def promise_table(studies: Sequence[Study], seeds: range, workers: Workers) -> Iterator[str]:
    """A row of each study."""
    yield "| data | judges | labels | promised | kept | taken | none | cost |"
    yield "|---" * 8 + "|"
    for study in studies:
        found = workers(partial(calibrate, study), seeds)
        kept, taken, price = (np.array(column, dtype=float) for column in zip(*found, strict=True))
        yield (
            f"| {study.items.data} | {_listed(study.items.judges)} | {study.labels} |"
            f" {study.at_least:.0%} | {kept.mean():.1%} | {taken.mean():.0%} |"
            f" {(taken == 0).mean():.0%} | {price.mean() / PERSON:.0%} |"
        )


def by_hand_table(cases: Sequence[tuple[Items, Sequence[str], str]]) -> Iterator[str]:
    """Three small judges if all agree, else the strong one; the middle is half right."""
    yield "| data | GPT-4 alone | by the rule | three agree | right there |"
    yield "|---" * 5 + "|"
    for items, small, strong in cases:
        three = items.only(*small)
        alone = items.only(strong)
        agree = (three.scores == three.scores[0]).all(axis=0) & (three.scores[0] != 0.5)
        by_three, by_strong = (1 - np.abs(each.scores[0] - each.people) for each in (three, alone))
        rule = np.where(agree, by_three, by_strong)
        yield (
            f"| {items.data} | {by_strong.mean():.3f} |"
            f" {rule.mean():.3f} | {agree.mean():.0%} | {by_three[agree].mean():.3f} |"
        )


def studies_of(
    qa: Items,
    natural: Items,
    every: Items,
    bench: Sequence[tuple[Items, float]],
    drawn: Items,
) -> Iterator[Study]:
    """All rows."""
    judges: tuple[str, ...]
    for labels in (100, 300):
        for judges in (("GPT-4",), ("Llama3-70B", "GPT-4"), (*SMALL, "GPT-4")):
            yield Study(qa.only(*judges), labels, 0.9)
    yield Study(qa.only("Llama3-70B", "GPT-4"), 300, 0.95)
    three = ("LLaMA2", "ChatGPT", "GPT-4")
    for judges in (("GPT-4",), three):
        yield Study(natural.only(*judges), 150, 0.9)
    for judges in (("GPT-4",), three):
        yield Study(every.only(*judges), 300, 0.9)
    for items, at_least in bench:
        yield Study(items, 300, at_least)
    for judge in drawn.judges:
        yield Study(drawn.only(judge), 100, 0.9)


def main() -> None:
    """Print the tables, and write them into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calibrations", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--reward-models", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    workers = Workers(options.processes)
    seeds = range(options.seed * 100_000, options.seed * 100_000 + options.calibrations)
    qa, natural, every = triviaqa(), llmbar("Natural"), llmbar("")
    bench = [(judgebench(), 0.9)]
    if options.reward_models:
        both = reward_models(options.reward_models)
        best = both.only("Skywork-27B")
        bench = [(best, 0.9), (both, 0.9), (best, 0.7), (both, 0.7)]
    studies = list(studies_of(qa, natural, every, bench, planted(options.seed)))
    cheap = ("LLaMA2 Vanilla", "ChatGPT Vanilla", "ChatGPT Metrics_Reference")
    by_hand = [(qa, SMALL, "GPT-4")]
    by_hand += [(items, cheap, "GPT-4 Vanilla") for items in (natural, llmbar("Adv"), every)]
    tables = {
        "by_hand": by_hand_table(by_hand),
        "promise": promise_table(studies, seeds, workers),
    }
    page = options.output.read_text(encoding="utf-8") if options.output else ""
    for name, lines in tables.items():
        text = "\n".join(lines)
        print(text, flush=True)
        start, end = f"<!-- {name} -->", "<!-- end -->"
        before, _, rest = page.partition(start)
        page = f"{before}{start}\n\n{text}\n\n{end}{rest.partition(end)[2]}" if rest else page
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    workers.close()


if __name__ == "__main__":
    main()
