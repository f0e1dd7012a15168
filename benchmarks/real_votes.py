"""People's votes on the answers of chat models to Vicuna's 80 questions, and verdicts of judges.

Data: three people on each ballot of nine models (Li, Patel and Du, "PRD: Peer Rank and Discussion
Improve Large Language Model based Evaluations", 2023), verdicts of five judges on five of them in
both orders (the same), and GPT-4's verdicts on eight in both orders (Dettmers et al., "QLoRA",
2023). `benchmarks/real_judges.py` makes its tables of these.

`prior_table` shows Kendall's tau to the order by all votes, after so many votes drawn at random,
of a ranking by these votes and of one with a judge as a prior (`urs-inspect rank --prior`).
`corrected_table` shows what `urs-inspect rank --judge` gains: of the ballots some have one
person's vote and all a verdict; the truth is the ratings by all votes.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.judge_prior import with_prior
from benchmarks.sample_efficiency import Pair, Workers, kendall, replay
from urs_inspect.adjusting._adjusted import JudgedBallots, rank_corrected
from urs_inspect.adjusting._judge_prior import JudgePrior
from urs_inspect.datasets._collections import fetch_collection
from urs_inspect.datasets._columns import Preference
from urs_inspect.discrepancy._ballots import OUTCOMES
from urs_inspect.importing._answers import read_answers_file, read_questions
from urs_inspect.importing._files import Naming
from urs_inspect.importing._pairs import read_pairs_file
from urs_inspect.stats._battles import Battle, Battles, battles_of
from urs_inspect.stats._bootstrap import Floats
from urs_inspect.stats._bradley_terry import fit_bradley_terry
from urs_inspect.stats._style import FEATURES

MARKS = (15, 30, 60, 84, 126, 210)
BALLOTS = (60, 210, 420)
FIVE = ("bard", "claude", "gpt35", "gpt4", "vicuna-13b")
EIGHT = (
    "bard",
    "gpt35",
    "gpt4",
    "guanaco-13b",
    "guanaco-33b",
    "guanaco-65b",
    "guanaco-7b",
    "vicuna-13b",
)
JUDGES = {
    "GPT-4": "gpt4",
    "GPT-3.5": "gpt35",
    "Claude": "claude",
    "Bard": "bard",
    "Vicuna-13B": "vicuna-13b",
}
"""Judges of the five models -> the folder of their verdicts."""
_MEANINGS: Mapping[str, Preference | None] = {"3": "tie", "-1": None}
"""What scores mean beside 1 and 2; -1 is a reply that could not be read."""
_ROUNDS = 1000

Key = tuple[str, str, int]
"""First model, second model, question."""


@dataclass(frozen=True)
class Vicuna80:
    """What was published."""

    people: Sequence[Battle]
    judges: Mapping[str, Sequence[Battle]]  # of the five models
    gpt4: Sequence[Battle]  # of the eight models
    answers: Mapping[tuple[str, int], str]  # by model and question

    def among(self, models: Sequence[str]) -> Battles:
        """People's votes on some models."""
        return among(self.people, models)


def among(battles: Iterable[Battle], models: Sequence[str]) -> Battles:
    """The battles of some models."""
    chosen = [each for each in battles if each.first in models and each.second in models]
    return battles_of(chosen, models)


def read_vicuna80() -> Vicuna80:
    """Read all of it as `urs-inspect import` does; the files are fetched."""
    published = fetch_collection("real_judges/vicuna80")
    questions = read_questions(published["vicuna_questions.jsonl"])
    answers: dict[tuple[str, int], str] = {}
    for path, file in published.items():
        if path.startswith("generations/"):
            answers |= _answers(file, questions)
    for file in fetch_collection("real_judges/guanaco_answers").values():
        answers |= _answers(file, questions)
    found: dict[str, list[Battle]] = {}
    for name, folder in {"people": "human", **JUDGES}.items():
        found[name] = []
        for path, file in published.items():
            if path.startswith(f"ratings-{folder}/answer_"):
                found[name] += _battles(file, folder)
    people = found.pop("people")
    gpt4: list[Battle] = []
    for file in fetch_collection("real_judges/guanaco_verdicts").values():
        gpt4 += _battles(file, "gpt-4")
    return Vicuna80(people, found, gpt4, answers)


def _answers(file: Path, questions: Mapping[str, str]) -> dict[tuple[str, int], str]:
    """Answers of a file with the model's name, by model and question."""
    naming = Naming(file_name=re.compile(r"(?P<model>.+)[.]jsonl"))
    read = read_answers_file(file, naming, questions, {}, [])
    return {(_model(one.model), int(one.question_id)): one.text for one in read}


def _battles(file: Path, judge: str) -> Iterator[Battle]:
    """Verdicts, or votes of people, of a file with the names of both models and the judge."""
    pattern = re.compile(rf"(?P<model_a>.+)-vs-(?P<model_b>.+)-{judge}-reviewer")
    rows = Naming(constants={"judge": judge}, file_name=pattern).read(file)
    for one in read_pairs_file(rows, _MEANINGS, {}, people=judge == "human"):
        if one.verdict is None:
            continue
        first, second = (_model(answer.model) for answer in one.answers)
        outcome = OUTCOMES[one.verdict]
        question = one.answers[0].question_id
        if one.first == "a":
            yield Battle(first, second, outcome, question)
        else:
            yield Battle(second, first, 1 - outcome, question)


def _model(name: str) -> str:
    """The model by what its files are called in either repository."""
    if "guanaco-vicuna" in name:
        size = name.partition("-")[0]
        return f"guanaco-{'33b' if size == '30b' else size}"
    return name.removeprefix("answer_").removeprefix("answer-")


def longest(given: Vicuna80, models: Sequence[str]) -> list[Battle]:
    """Verdicts of "the longer answer wins" on all pairs."""
    length = FEATURES["length"]
    battles = []
    questions = sorted({question for _, question in given.answers})
    for place, first in enumerate(models):
        for second in models[place + 1 :]:
            for question in questions:
                difference = length(given.answers[first, question]) - length(
                    given.answers[second, question]
                )
                battles.append(
                    Battle(first, second, 0.5 + 0.5 * float(np.sign(difference)), str(question))
                )
    return battles


def one_order(battles: Iterable[Battle]) -> list[Battle]:
    """The verdicts in which the model that is first by name stands first."""
    return [each for each in battles if each.first < each.second]


# --- by ballot ---


@dataclass(frozen=True)
class Ballots:
    """Pairs of answers with people's votes and a judge's verdict on each."""

    keys: Sequence[Key]  # the first model is the one whose name is first
    votes: Sequence[Sequence[float]]
    verdicts: Floats  # mean of the orders in which the judge saw the pair, NaN without one

    def agreement(self) -> float:
        """Share of the votes for a model on which a verdict for a model chose the same."""
        same = []
        for votes, verdict in zip(self.votes, self.verdicts, strict=True):
            if verdict != 0.5 and not np.isnan(verdict):
                same += [(vote > 0.5) == (verdict > 0.5) for vote in votes if vote != 0.5]
        return float(np.mean(same))


def _by_ballot(battles: Iterable[Battle], models: Sequence[str]) -> dict[Key, list[float]]:
    found: dict[Key, list[float]] = defaultdict(list)
    for each in battles:
        if each.first in models and each.second in models:
            question = int(each.cluster)
            if each.first < each.second:
                found[each.first, each.second, question].append(each.outcome)
            else:
                found[each.second, each.first, question].append(1 - each.outcome)
    return found


def ballots_of(people: Iterable[Battle], judge: Iterable[Battle], models: Sequence[str]) -> Ballots:
    """People's votes and a judge's verdicts on some models, by pair and question."""
    votes = _by_ballot(people, models)
    verdicts = _by_ballot(judge, models)
    keys = sorted(votes)
    means = np.array([np.mean(verdicts[key]) if key in verdicts else np.nan for key in keys])
    return Ballots(keys, [votes[key] for key in keys], means)


# --- tables ---


def _judges_of(given: Vicuna80, models: Sequence[str]) -> dict[str, Sequence[Battle]]:
    if models == FIVE:
        return {**given.judges, "longest": longest(given, models)}
    return {
        "GPT-4": given.gpt4,
        "GPT-4, one order": one_order(given.gpt4),
        "longest": longest(given, models),
    }


@dataclass(frozen=True)
class _Replay:
    """One way of ranking models while people's votes come in, the most useful pair first."""

    models: tuple[str, ...]
    pools: Mapping[Pair, Floats]  # all votes of a pair, 1 for its first model
    truth: Floats
    prior: JudgePrior | None

    def taus(self, seed: int) -> list[float]:
        """Kendall's tau to the truth at each mark; votes of a pair come in random order."""
        generator = np.random.default_rng(seed)
        shuffled = {pair: generator.permutation(votes) for pair, votes in self.pools.items()}
        sizes = {pair: len(votes) for pair, votes in shuffled.items()}
        options = {} if self.prior is None else with_prior(self.prior, [])
        curve = replay(
            self.models,
            "adaptive",
            lambda pair, place: float(shuffled[pair][place]),
            MARKS,
            seed,
            sizes,
            **options,
        )
        return [kendall(ratings, self.truth) for count, ratings in curve if count in MARKS]


def _pools(people: Iterable[Battle], models: Sequence[str]) -> dict[Pair, Floats]:
    pools: dict[Pair, list[float]] = defaultdict(list)
    for (first, second, _), votes in sorted(_by_ballot(people, models).items()):
        pools[first, second] += votes
    return {pair: np.array(votes) for pair, votes in pools.items()}


def prior_table(given: Vicuna80, runs: int, seed: int, workers: Workers) -> Iterator[str]:
    """Tau after so many votes, without and with a judge."""
    heads = "".join(f" {mark} |" for mark in MARKS)
    yield f"| models | judge | agrees with a vote | its own tau |{heads}"
    yield "|---" * (4 + len(MARKS)) + "|"
    for models in (FIVE, EIGHT):
        truth = fit_bradley_terry(given.among(models))
        pools = _pools(given.people, models)
        seeds = [seed * 10_000 + run for run in range(runs)]
        alone = workers(_Replay(models, pools, truth, None).taus, seeds)
        yield f"| {len(models)} | none | | |{_means(alone)}"
        for name, verdicts in _judges_of(given, models).items():
            agreement = ballots_of(given.people, verdicts, models).agreement()
            prior = JudgePrior.of(among(verdicts, models))
            own = kendall(prior.strengths, truth)
            taus = workers(_Replay(models, pools, truth, prior).taus, seeds)
            yield f"| {len(models)} | {name} | {agreement:.1%} | {own:.2f} |{_means(taus)}"


def _means(taus: Sequence[Sequence[float]]) -> str:
    return "".join(f" {tau:.3f} |" for tau in np.mean(taus, axis=0))


@dataclass(frozen=True)
class _Voted:
    """One person's vote on some ballots drawn at random, and a judge's verdict on all."""

    ballots: Ballots
    truth: Floats  # ratings of `EIGHT` by all votes
    count: int  # ballots with a vote

    def draw(self, seed: int) -> tuple[float, float, float, float]:
        """Squared errors of ratings by votes alone and corrected, coverage, and worth of a vote."""
        places = {name: place for place, name in enumerate(EIGHT)}
        keys = self.ballots.keys
        generator = np.random.default_rng(seed)
        people = np.full(len(keys), np.nan)
        for ballot in generator.permutation(len(keys))[: self.count]:
            people[ballot] = generator.choice(self.ballots.votes[ballot])
        # A verdict must be a win, a tie or a loss: two orders that disagree are a tie.
        verdicts = 0.5 + 0.5 * np.sign(2 * self.ballots.verdicts - 1)
        judged = JudgedBallots(
            EIGHT,
            np.array([places[first] for first, _, _ in keys]),
            np.array([places[second] for _, second, _ in keys]),
            np.array([question for _, _, question in keys]),
            people,
            verdicts,
        )
        found = rank_corrected(judged, rounds=_ROUNDS, seed=seed)
        known = self.truth[[places[name] for name in found.places.players]]
        ratings = found.places.ratings
        values = np.array([rating.value for rating in ratings])
        alone = values - np.array([less.value for less in found.places.extra])
        held = [
            rating.low <= value <= rating.high for rating, value in zip(ratings, known, strict=True)
        ]
        return (
            float(((alone - known) ** 2).mean()),
            float(((values - known) ** 2).mean()),
            float(np.mean(held)),
            found.worth / self.count,
        )


def corrected_table(given: Vicuna80, runs: int, seed: int, workers: Workers) -> Iterator[str]:
    """What a judge's verdicts on all ballots save of people's votes on some."""
    yield "| judge | votes | error: votes alone | corrected | saved | coverage | worth |"
    yield "|---" * 7 + "|"
    truth = fit_bradley_terry(given.among(EIGHT))
    seeds = [seed * 10_000 + run for run in range(runs)]
    for name, verdicts in _judges_of(given, EIGHT).items():
        ballots = ballots_of(given.people, verdicts, EIGHT)
        for count in BALLOTS:
            draws = np.array(workers(_Voted(ballots, truth, count).draw, seeds))
            alone, corrected, coverage, worth = draws.mean(axis=0)
            yield (
                f"| {name} | {count} | {np.sqrt(alone):.0f} | {np.sqrt(corrected):.0f} |"
                f" {1 - corrected / alone:.0%} | {coverage:.1%} | {worth:.2f} |"
            )
