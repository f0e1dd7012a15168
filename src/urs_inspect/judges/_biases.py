"""Logs of judged pairs and of battles -> what each judge prefers beside people's labels."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.log import EvalLog, EvalSample

from urs_inspect.annotation._campaign import BALLOT_KEY
from urs_inspect.datasets._benches import labels_of
from urs_inspect.datasets._sources import PEOPLE
from urs_inspect.discrepancy._ballots import OUTCOMES, Ballot
from urs_inspect.judges._bias_regression import JudgeBias, ShownPair, answer_doublings, judge_bias
from urs_inspect.judges._judges import DatasetJudges, JudgeResult
from urs_inspect.judges._twins import known_maker
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.logs._comparisons import choice_of
from urs_inspect.logs._files import PACKAGE
from urs_inspect.logs._scores import SIMULATED, value_of
from urs_inspect.stats._battles import OUTCOMES as KNOWN_OUTCOMES

MAD_TASK = PACKAGE + "mad"
OTHER_LABELS = "labels"
"""Whose labels those of a user's file are: that is not known."""


@dataclass(frozen=True)
class DatasetBiases:
    """What the judges of one data set prefer.

    Attributes:
        dataset: Its name.
        labels: Whose labels the judges stand beside: `people`, `labels` if that is not known, or
            what is known of a published data set; empty without labels.
        judges: Biases by the name of the judge.
        empty: Pairs that are left out because an answer of theirs is empty.
    """

    dataset: str
    labels: str
    judges: Mapping[str, JudgeBias]
    empty: int

    @property
    def simulated(self) -> bool:
        """Whether a judge is a simulation."""
        return any(name.startswith(SIMULATED) for name in self.judges)


@dataclass(frozen=True)
class _Answers:
    """Two answers to a question, in the order of the data."""

    pair: str
    question: str
    models: tuple[str, str]  # empty names where they are not known
    doublings: tuple[float, float]
    """Of length and list items, of the first beside the second."""

    def shown(self, first: str, outcome: float) -> ShownPair:
        """A verdict on them, `a` or `b` being first; `outcome` is 1 if `a` is better."""
        length, lists = self.doublings
        one, other = self.models
        if first == "a":
            return ShownPair(self.pair, self.question, outcome, length, lists, one, other)
        turned = 1 - outcome
        return ShownPair(self.pair, self.question, turned, -length, -lists, other, one)


@dataclass
class _Collected:
    """Verdicts and labels of one data set."""

    answers: dict[str, _Answers] = field(default_factory=dict)
    empty: set[str] = field(default_factory=set)
    # judge -> pair, epoch and the response shown first -> outcome
    verdicts: dict[str, dict[tuple[str, int, str], float]] = field(default_factory=dict)
    labels: dict[str, list[float]] = field(default_factory=dict)  # by pair, 1 if `a` is better

    def add_answers(
        self, pair: str, question: str, models: tuple[str, str], texts: tuple[str, str]
    ) -> bool:
        """Keep the answers of a pair; whether its verdicts count."""
        if pair in self.answers:
            return True
        if not all(text.strip() for text in texts):
            self.empty.add(pair)
            return False
        self.answers[pair] = _Answers(pair, question, models, answer_doublings(*texts))
        return True

    def biases(self, dataset: str, labels: str) -> DatasetBiases | None:
        """What each judge prefers; None if no verdict counts."""
        biases = {}
        for judge, verdicts in self.verdicts.items():
            rows = []
            models = set()
            for (pair, _, first), outcome in verdicts.items():
                row = self.answers[pair].shown(first, outcome)
                rows.append(row)
                models |= {row.first, row.second}
            votes = list(self._votes(verdicts))
            if rows and (votes or not self.labels):
                biases[judge] = judge_bias(rows, votes, own_models(judge, models))
        if not biases:
            return None
        if not self.labels:
            labels = ""
        return DatasetBiases(dataset, labels, biases, len(self.empty))

    def _votes(self, verdicts: Collection[tuple[str, int, str]]) -> Iterator[ShownPair]:
        """Labels in the orders in which a judge saw the pairs."""
        shown = dict.fromkeys((pair, first) for pair, _, first in verdicts)
        for pair, first in shown:
            for outcome in self.labels.get(pair, ()):
                yield self.answers[pair].shown(first, outcome)


def own_models(judge: str, models: Collection[str]) -> set[str]:
    """The models that are the judge itself, or known to be of its maker."""
    maker = known_maker(judge)
    own = {judge} & set(models)
    if maker:
        own |= {model for model in models if known_maker(model) == maker}
    return own


def pair_biases(dataset: DatasetJudges[JudgeResult]) -> DatasetBiases | None:
    """What the judges of labelled pairs prefer beside the labels; rules are left out.

    Verdicts on pairs as wholes count, those that could not be read do not.
    """
    found = _Collected()
    for judge in dataset.judges:
        if judge.is_baseline:
            continue
        verdicts = found.verdicts.setdefault(judge.name, {})
        for (pair, epoch), score in judge.items.items():
            sample = score.sample_metadata or {}
            facts = score.score.metadata or {}
            texts = str(sample.get("response_a", "")), str(sample.get("response_b", ""))
            label = facts.get("labels", {}).get(OVERALL)
            question = str(sample.get("prompt", pair))
            if label not in OUTCOMES or not found.add_answers(pair, question, ("", ""), texts):
                continue
            found.labels[pair] = [OUTCOMES[label]]
            for first, given in facts.get("verdicts", {}).items():
                if given.get(OVERALL) in OUTCOMES:
                    verdicts[pair, epoch, first] = OUTCOMES[given[OVERALL]]
    return found.biases(dataset.dataset, labels_of(dataset.dataset) or OTHER_LABELS)


def battle_biases(logs: Sequence[EvalLog]) -> list[DatasetBiases]:
    """What the judges in logs of `mad` prefer, beside people's votes where logs have them.

    There is one entry for each data set, in the order of the logs. Of several verdicts of a judge
    on a comparison in one order the last one counts; so do people's votes.
    """
    collected: dict[tuple[str, str], _Collected] = {}
    for log in logs:
        if log.eval.task != MAD_TASK:
            continue
        facts = log.eval.metadata or {}
        name = str(facts.get("dataset", log.eval.dataset.name))
        sha256 = str(facts.get("dataset_sha256", ""))
        found = collected.setdefault((name, sha256), _Collected())
        for sample in log.samples or []:
            if BALLOT_KEY in sample.metadata:
                _add_battle(found, sample, f"{log.location}: sample {sample.id}")
    biases = (found.biases(name, PEOPLE) for (name, _), found in collected.items())
    return [one for one in biases if one is not None]


def _add_battle(found: _Collected, sample: EvalSample, place: str) -> None:
    ballot = Ballot.from_dict(sample.metadata[BALLOT_KEY], place)
    texts = ballot.response_a, ballot.response_b
    # Another run may have other responses of the same models.
    pair = "\n".join((ballot.id, *texts))
    models = ballot.model_a, ballot.model_b
    if not found.add_answers(pair, ballot.instruction, models, texts):
        return
    score = choice_of(sample, people=False)
    orders: Mapping[str, Mapping[str, str]] = {}
    if score is not None and score.metadata:
        orders = score.metadata.get("orders", {})
    for judge, given in orders.items():
        verdicts = found.verdicts.setdefault(str(judge), {})
        for first, verdict in given.items():
            if verdict in OUTCOMES:
                verdicts[pair, sample.epoch, first] = OUTCOMES[verdict]
    chosen = choice_of(sample, people=True)
    outcome = value_of(chosen, "outcome")
    if chosen is not None and outcome in KNOWN_OUTCOMES:
        found.labels[pair] = _votes_of(outcome, chosen.metadata or {})


def _votes_of(outcome: float, facts: Mapping[str, Any]) -> list[float]:
    """People's votes on a comparison one by one; the outcome alone where they are not known."""
    counts = facts.get("votes") or {}
    votes: list[float] = []
    for choice, value in OUTCOMES.items():
        votes += [value] * int(counts.get(choice, 0))
    return votes or [outcome]
