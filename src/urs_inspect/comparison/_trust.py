"""Scores of judges and people's labels -> which scores need no person, and who gives the others."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pandas as pd

from urs_inspect._util import InputError, choices, counted
from urs_inspect.comparison._compare import match_answers
from urs_inspect.comparison._samples import SampleScores, read_sample_scores
from urs_inspect.comparison._scored_runs import headers_of_task, judge_of
from urs_inspect.reports.numbers._agreement import unused
from urs_inspect.reports.numbers._human_data import HumanRatings
from urs_inspect.stats._bootstrap import Flags, Floats
from urs_inspect.stats._trust import Trusted, find_trusted

PERSON = "person"
"""Who gave a score, and whose price it is."""
TRUSTED = "trusted"
"""The final score in a log."""
_GAP = 0.25
"""Weight of the mean gap to judges before, which may be weak; larger ones took less of LLMBar."""
_OF_PEOPLE = ("human_rating", "human_choice", TRUSTED)
_WHETHER_RIGHT = "pair_verdict"
"""Scorer that says whether a judge's verdict is that of the data's label."""


@dataclass(frozen=True)
class Promise:
    """What is to hold of the scores that are taken."""

    at_least: float  # share with which people agree
    sure: float  # probability that this holds
    within: float | None = None  # how far a score may be from a person's


@dataclass(frozen=True)
class Stage:
    """What a judge may take of the answers that those before it left."""

    found: Trusted
    taken: Flags  # shape (N,)


@dataclass(frozen=True)
class Escalation:
    """Judges in their order, and who gives each answer its score."""

    judges: Mapping[str, Stage]
    answers: pd.DataFrame
    """Sample, model, by (the judge, the person, or empty) and value (NaN without)."""
    labelled: int
    notes: tuple[str, ...]


def read_judges(
    logs: Sequence[str], scorers: Sequence[str], task: str | None, left_out: list[str]
) -> dict[str, SampleScores]:
    """Scores of every scorer of the logs, and of every judge of it, in the order of `scorers`.

    `scorers` are as NAME or NAME:KEY; without any, all are read whose scores are numbers.
    """
    headers = headers_of_task(logs, task, left_out)
    given = list(scorers)
    for header in headers:
        for score in () if scorers or header.results is None else header.results.scores:
            if score.scorer not in (*given, *_OF_PEOPLE):
                given.append(score.scorer)
    read = dict[tuple[str, str], SampleScores]()
    for scorer in given:
        name, _, key = scorer.partition(":")
        if name == _WHETHER_RIGHT:
            left_out.append(
                f"{name} was left out: logs of judge_pairwise and md_eval say whether a verdict was"
                " right, not which it was; allowed: scores of answers, and verdicts on pairs in"
                " logs of mad, as pair_choice:outcome."
            )
            continue
        files = defaultdict[str, list[str]](list)
        for header in headers:
            files[judge_of(header, name)].append(header.location)
        for judge, named in files.items():
            try:
                scores = read_sample_scores(named, scorer=name, value=key or None, task=task)
            except InputError as error:
                left_out.append(f"{scorer} was left out: {error.message}")
            else:
                left_out += scores.left_out
                read[scorer, judge] = scores
    if not read:
        raise InputError("\n".join(["scorer: no scores that are numbers", *left_out]))
    judges = [judge for _, judge in read]
    names = {}
    for (scorer, judge), scores in read.items():
        alone = judge and judges.count(judge) == 1
        names[judge if alone else f"{scorer} {judge}".strip()] = scores
    return names


def read_prices(given: Sequence[str], judges: Collection[str]) -> dict[str, float]:
    """Prices of judges and of a person, each as NAME=DOLLARS."""
    prices = {}
    for each in given:
        name, _, price = each.rpartition("=")
        with suppress(ValueError):
            prices[name] = float(price)
        if name not in (*judges, PERSON) or not 0 <= prices.get(name, -1) < np.inf:
            raise InputError(
                f"price: must be NAME=DOLLARS of {choices([*judges, PERSON])}, got '{each}'"
            )
    return prices


def trust(
    judges: Mapping[str, SampleScores],
    human: HumanRatings,
    promise: Promise,
    rest: HumanRatings | None = None,
) -> Escalation:
    """Find whose score each answer may have.

    Thresholds come from the labels `human` alone, a random sample of the answers; labels of the
    `rest`, which are those of hard answers, only become scores.
    """
    tables = [read.table.set_index(["sample", "model"])["value"] for read in judges.values()]
    values = pd.concat(tables, axis=1, keys=list(judges))
    scores = values.to_numpy(np.float64).T
    notes = list[str]()
    if human.weighted:
        notes.append("Labels have weights: the promise holds only for labels drawn with one rate.")
    labels = _labels(values, human, notes)
    within = _tolerance(labels, human.scale, promise.within)
    agrees = np.full(scores.shape, np.nan)
    for place, given in labels.items():
        near = np.abs(scores[:, [place]] - np.array(given)) <= within
        agrees[:, place] = near.mean(axis=1) > 0.5
    stages = dict(zip(judges, escalate(scores, agrees, human.scale, promise), strict=True))
    answers = values.index.to_frame(index=False).assign(by="", value=np.nan)
    for name, stage in stages.items():
        answers.loc[stage.taken, "by"] = name
        answers.loc[stage.taken, "value"] = values.loc[stage.taken, name].to_numpy()
    of_rest = {} if rest is None else _labels(values, rest, notes)
    for place, given in (labels | of_rest).items():
        answers.loc[place, ["by", "value"]] = PERSON, float(np.median(given))
    return Escalation(stages, answers, len(labels), tuple(notes))


def escalate(
    scores: Floats, agrees: Floats, scale: tuple[float, float], promise: Promise
) -> list[Stage]:
    """Let each judge take what it may of the answers that those before it left.

    How sure a judge is: how far its score is from the middle, which of a mean over epochs or orders
    says how far they agree, less what the judges before it differ.

    Args:
        scores: Of each judge in order, NaN without, shape (J, N).
        agrees: Whether people agree with them, 1 or 0, NaN without a label, shape (J, N).
        scale: Lowest and highest score.
        promise: What is to hold; its error is divided evenly between the judges.

    Returns:
        A stage of each judge.
    """
    low, high = scale
    left = np.ones(scores.shape[1], dtype=bool)
    stages = []
    for place, (own, right) in enumerate(zip(scores, agrees, strict=True)):
        sure = np.abs(own - (low + high) / 2)
        if place:
            gaps = np.abs(scores[:place] - own)
            sure -= _GAP * np.where(np.isnan(gaps), high - low, gaps).mean(axis=0)
        signs = np.round(sure / (high - low), 6)
        reached = left & ~np.isnan(own)
        known = reached & ~np.isnan(right)
        miss = (1 - promise.sure) / len(scores)
        found = find_trusted(signs[known], right[known] == 1, at_least=promise.at_least, miss=miss)
        taken = reached & (signs >= (np.inf if found.least is None else found.least))
        left &= ~taken
        stages.append(Stage(found, taken))
    return stages


def price_of(stages: Sequence[Stage], prices: Sequence[float], person: float) -> float:
    """Price of a new answer, of which no judge is asked behind the last that takes any."""
    shares = [float(stage.taken.mean()) for stage in stages]
    cost = person * (1 - sum(shares))
    for place, price in enumerate(prices):
        if any(shares[place:]):
            cost += price * (1 - sum(shares[:place]))
    return cost


def _labels(values: pd.DataFrame, human: HumanRatings, notes: list[str]) -> dict[int, list[float]]:
    """Ratings of answers, by the number of the answer; scores must lie on their scale."""
    low, high = human.scale
    for judge, column in values.items():
        if beyond := int(((column < low) | (column > high)).sum()):
            raise InputError(
                f"human-scale: {counted(beyond, 'score')} of {judge} lie beyond {low:g} to"
                f" {high:g}, the scale of {human.path}; scores and labels need one scale"
            )
    frame = values.index.to_frame(index=False).assign(value=0.0)
    matched = match_answers(frame, {name: name for name in frame["model"]}, human)
    notes += unused(human, [matched])
    places = {answer: place for place, answer in enumerate(values.index)}
    by_answer = matched.answers[["question", "model", "ratings"]].itertuples(index=False)
    return {places[sample, model]: list(given.values()) for sample, model, given in by_answer}


def _tolerance(
    labels: Mapping[int, Sequence[float]], scale: tuple[float, float], within: float | None
) -> float:
    """How far a score may be from a person's to agree with it."""
    low, high = scale
    if within is None:
        by_class = all({*given} <= {low, (low + high) / 2, high} for given in labels.values())
        # A mean over epochs counts as the verdict to which it is nearer.
        within = 0.499 * (high - low) if by_class else 1.0
    if not 0 <= within < (high - low) / 2:
        raise InputError(
            f"within: must be at least 0 and below half of the scale, {(high - low) / 2:g}, got"
            f" {within:g}; beyond that everything agrees"
        )
    return within
