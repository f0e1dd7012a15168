"""Scores of judges and people's labels -> which scores need no person, and who gives the others."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pandas as pd

from urs_inspect._util import InputError, choices, counted
from urs_inspect.comparison._compare import rows_to_match
from urs_inspect.comparison._samples import SampleScores, read_sample_scores
from urs_inspect.comparison._scored_runs import headers_of_task, judge_of
from urs_inspect.reports.layout._first_screen import SIMULATED_SCREEN
from urs_inspect.reports.numbers._agreement import match_ratings, refuse_unmatched, unused
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


@dataclass(frozen=True)
class Promise:
    """What is to hold of the scores that are taken."""

    at_least: float  # share with which people agree
    sure: float  # probability that this holds
    within: float | None = None  # how far a score may be from a person's


@dataclass(frozen=True)
class Stage:
    """Which of the answers that reach a judge need no person."""

    found: Trusted
    reached: int
    taken: Flags  # shape (N,)


@dataclass(frozen=True)
class Escalation:
    """Judges in their order, and who gives each answer its score."""

    judges: tuple[str, ...]
    stages: tuple[Stage, ...]
    answers: pd.DataFrame
    """Sample, model, by (the judge, the person, or empty) and value (NaN without)."""
    logs: Mapping[str, str]  # name of a log -> model whose answers it has
    labelled: int
    notes: tuple[str, ...]
    promise: Promise
    final: bool  # whether nobody is to be asked any more

    @property
    def rest(self) -> pd.DataFrame:
        """Answers that people have to judge."""
        return self.answers[self.answers["by"] == ""]


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
    found: list[tuple[str, str, SampleScores]] = []
    failed = list[str]()
    for scorer in given:
        name, _, key = scorer.partition(":")
        files = defaultdict[str, list[str]](list)
        for header in headers:
            files[judge_of(header, name)].append(header.location)
        for judge, named in files.items():
            try:
                read = read_sample_scores(named, scorer=name, value=key or None, task=task)
            except InputError as error:
                failed.append(f"{scorer} was left out: {error.message}")
            else:
                left_out += read.left_out
                found.append((judge, scorer, read))
    judges = [judge for judge, _, _ in found]
    names = dict[str, SampleScores]()
    for judge, scorer, read in found:
        names[judge if judges.count(judge) == 1 and judge else f"{scorer} {judge}".strip()] = read
    if not names:
        raise InputError("\n".join(["scorer: no scores that are numbers", *failed, *left_out]))
    left_out += failed if scorers else ()
    return names


def price_of(stages: Sequence[Stage], prices: Sequence[float], person: float) -> float:
    """Price of a new answer, of which no judge is asked behind the last that takes any."""
    shares = [float(stage.taken.mean()) for stage in stages]
    cost = person * (1 - sum(shares))
    for place, price in enumerate(prices):
        if any(shares[place:]):
            cost += price * (1 - sum(shares[:place]))
    return cost


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
    prices: Mapping[str, float],
    rest: HumanRatings | None = None,
) -> Escalation:
    """Find whose score each answer may have; the cheapest judge comes first if prices are known.

    Thresholds come from the labels `human` alone, a random sample of the answers; labels of the
    `rest`, which are those of hard answers, only become scores.
    """
    if prices.keys() >= judges.keys():
        judges = {name: judges[name] for name in sorted(judges, key=prices.__getitem__)}
    tables = [read.table.set_index(["sample", "model"])["value"] for read in judges.values()]
    values = pd.concat(tables, axis=1, keys=list(judges))
    scores = values.to_numpy(np.float64).T
    notes = [SIMULATED_SCREEN] if any(read.simulated for read in judges.values()) else []
    labels = _labels(values, human, notes)
    _check_scale(values, human)
    if human.weighted:
        notes.append("Labels have weights: the promise holds only for labels drawn with one rate.")
    within = _tolerance(labels, human, promise.within)
    agrees = np.full(scores.shape, np.nan)
    for place, given in labels.items():
        near = np.abs(scores[:, [place]] - np.array(given)) <= within
        agrees[:, place] = near.mean(axis=1) > 0.5
    stages = escalate(scores, agrees, human.scale, promise)
    points = np.full(len(values), np.nan)
    by = np.full(len(values), "", dtype=object)
    for name, own, stage in zip(judges, scores, stages, strict=True):
        points[stage.taken] = own[stage.taken]
        by[stage.taken] = name
    for given_by in [labels] if rest is None else [labels, _labels(values, rest, notes)]:
        for place, given in given_by.items():
            points[place] = float(np.median(given))
            by[place] = PERSON
    answers = values.index.to_frame(index=False).assign(by=by, value=points)
    final = rest is not None or all(by)
    about = (_logs(judges), len(labels), tuple(notes), promise, final)
    return Escalation(tuple(judges), stages, answers, *about)


def escalate(
    scores: Floats, agrees: Floats, scale: tuple[float, float], promise: Promise
) -> tuple[Stage, ...]:
    """Let each judge take what it may of the answers that those before it left.

    Args:
        scores: Of each judge in order, NaN without, shape (J, N).
        agrees: Whether people agree with them, 1 or 0, NaN without a label, shape (J, N).
        scale: Lowest and highest score.
        promise: What is to hold; its error is divided evenly between the judges.

    Returns:
        A stage of each judge.
    """
    left = np.ones(scores.shape[1], dtype=bool)
    stages = []
    for place, (own, right) in enumerate(zip(scores, agrees, strict=True)):
        signs = _signs(scores[: place + 1], scale)
        reached = left & ~np.isnan(own)
        known = reached & ~np.isnan(right)
        found = find_trusted(
            signs[known],
            right[known] == 1,
            at_least=promise.at_least,
            miss=(1 - promise.sure) / len(scores),
        )
        taken = reached & (signs >= (np.inf if found.least is None else found.least))
        left &= ~taken
        stages.append(Stage(found, int(reached.sum()), taken))
    return tuple(stages)


def _signs(scores: Floats, scale: tuple[float, float]) -> Floats:
    """How sure the last judge is: how far its score is from the middle, which of a mean over epochs
    or orders says how far they agree, less what the judges before it differ.
    """
    low, high = scale
    own = scores[-1]
    sure = np.abs(own - (low + high) / 2)
    if len(scores) > 1:
        gaps = np.abs(scores[:-1] - own)
        sure = sure - _GAP * np.where(np.isnan(gaps), high - low, gaps).mean(axis=0)
    return np.asarray(np.round(sure / (high - low), 6), dtype=np.float64)


def _labels(values: pd.DataFrame, human: HumanRatings, notes: list[str]) -> dict[int, list[float]]:
    """Ratings of answers, by the number of the answer."""
    frame = values.index.to_frame(index=False).assign(value=0.0)
    rows = rows_to_match(frame)
    matched = match_ratings(rows, {name: name for name in frame["model"]}, human)
    refuse_unmatched(rows, [matched], human)
    notes += unused(human, [matched])
    places = {answer: place for place, answer in enumerate(values.index)}
    by_answer = matched.answers[["question", "model", "ratings"]].itertuples(index=False)
    return {places[sample, model]: list(given.values()) for sample, model, given in by_answer}


def _check_scale(values: pd.DataFrame, human: HumanRatings) -> None:
    low, high = human.scale
    for judge, column in values.items():
        if beyond := int(((column < low) | (column > high)).sum()):
            raise InputError(
                f"human-scale: {counted(beyond, 'score')} of {judge} lie beyond {low:g} to"
                f" {high:g}, the scale of {human.path}; scores and labels need one scale"
            )


def _tolerance(
    labels: Mapping[int, Sequence[float]], human: HumanRatings, within: float | None
) -> float:
    """How far a score may be from a person's to agree with it."""
    low, high = human.scale
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


def _logs(judges: Mapping[str, SampleScores]) -> dict[str, str]:
    """Logs and their models: of each model those of the first judge that has it."""
    logs = dict[str, str]()
    for read in judges.values():
        known = set(logs.values())
        logs |= {run.log: run.model for run in read.runs if run.model not in known}
    return logs
