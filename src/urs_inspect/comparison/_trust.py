"""Scores of judges and people's labels -> which scores need no person, and who gives the others."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
import pandas as pd
from inspect_ai.event import ModelEvent
from inspect_ai.model import Logprob

from urs_inspect._util import InputError, choices
from urs_inspect.comparison._compare import match_answers
from urs_inspect.comparison._samples import SampleScores, read_sample_scores, refuse_beyond
from urs_inspect.comparison._scored_runs import JUDGE_ROLE, headers_of_task, judge_of
from urs_inspect.comparison._trust_statistics import NOBODY, Shown, find_shown
from urs_inspect.logs._files import read_log
from urs_inspect.logs._naming import whole_characters
from urs_inspect.logs._scores import UNJUDGED
from urs_inspect.reports.numbers._human_data import HumanRatings
from urs_inspect.stats._bootstrap import Floats, Integers

PERSON = "person"
"""Who gave a score, and whose price it is."""
TRUSTED = "trusted"
"""The final score in a log."""
_GAP = 0.25
"""Weight of the mean gap to judges before, which may be weak; larger ones took less of LLMBar."""
TIE = 1e-7
"""Weight of a certainty from 0 to 1, below any difference of other signs, which are rounded."""
_NO_JUDGES = ("human_rating", "human_choice", "pair_verdict", TRUSTED)
_NO_JUDGE = (
    "its scores are by people, or, in logs of judge_pairwise and md_eval, say whether a verdict was"
    " right; of pairs, pair_choice:outcome in logs of mad is read"
)


@dataclass(frozen=True)
class Escalation:
    """Who gives each answer its score."""

    shown: Shown
    judges: pd.DataFrame
    """Judge, taken (share of the answers) and, of the labelled answers whose score it takes, or of
    all where it takes none, their number (labels) and with how many people agree (agreed)."""
    answers: pd.DataFrame
    """Sample, model, by (the judge, the person, or empty) and value (NaN without)."""
    scores: dict[str, SampleScores]  # by judge, the cheapest first
    prices: dict[str, float]  # of a score, by judge or `PERSON`, where they are given
    final: bool  # whether the rest was labelled, or nothing is left
    left_out: list[str]


@dataclass(frozen=True)
class PeoplesLabels:
    """Labels of a random sample of the answers, by which rules are tested, and of the rest, which
    only become scores.
    """

    sample: HumanRatings
    rest: HumanRatings | None


def trust(
    logs: Sequence[str],
    people: PeoplesLabels,
    *,
    scorer: Sequence[str],
    task: str | None,
    price: Sequence[str],
    within: float | None,
    at_least: float,
    sure: float,
) -> Escalation:
    """Find whose score each answer may have; arguments are as of `urs-inspect trust`."""
    human = people.sample
    left_out = list[str]()
    if len({rating.weight for rating in human.ratings}) > 1:
        left_out.append("Weights were left out: the promise holds for labels drawn with one rate.")
    judges = _read_judges(logs, scorer, task, left_out)
    prices = _read_prices(price, judges)
    if prices.keys() >= judges.keys():
        judges = {judge: judges[judge] for judge in sorted(judges, key=prices.__getitem__)}
    tables = [read.table.set_index(["sample", "model"])["value"] for read in judges.values()]
    values = pd.concat(tables, axis=1, keys=list(judges), names=["judge"])
    for judge, column in values.items():
        refuse_beyond(column, human.scale, f"human-scale, one for labels and for scores of {judge}")
    labels = _labels(values, human, left_out)
    distances = values.reindex(labels.index).sub(labels, axis=0).abs()
    near = distances <= _tolerance(human.scale, within)
    agrees = near.groupby(level=[0, 1]).mean() > 0.5  # with most raters
    places = values.index.get_indexer(agrees.index)
    signs = signs_of(values.to_numpy(np.float64).T, human.scale)
    for number, read in enumerate(judges.values()):
        signs[number] += TIE * _certainties(read).reindex(values.index, fill_value=0.0)
    shown = find_shown(signs, places, agrees.to_numpy().T, at_least=at_least, miss=1 - sure)
    taken = values.notna() & np.equal.outer(shown.by, np.arange(len(judges)))
    tested = (taken | (values.notna() & ~taken.any())).iloc[places]
    counts = [taken.mean(), tested.sum(), (tested & agrees).sum()]
    table = pd.concat(counts, axis=1, keys=["taken", "labels", "agreed"]).reset_index()
    answers = pd.DataFrame({"by": np.array([*judges, ""])[shown.by]}, values.index)
    answers["value"] = values.where(taken).max(axis=1)
    if people.rest is not None:
        labels = pd.concat([labels, _labels(values, people.rest, left_out)])
    by_people = labels.groupby(level=[0, 1]).median().to_frame("value")
    answers.update(by_people.assign(by=PERSON))
    final = people.rest is not None or bool(answers["by"].all())
    return Escalation(shown, table, answers.reset_index(), judges, prices, final, left_out)


def _read_judges(
    logs: Sequence[str], scorers: Sequence[str], task: str | None, left_out: list[str]
) -> dict[str, SampleScores]:
    """Scores of every scorer of the logs, and of every judge of it, in the order of `scorers`.

    `scorers` are as NAME or NAME:KEY; without any, all are read whose scores are numbers, but for
    the counts of replies that `judge_outcome` makes of the judge's.
    """
    headers = headers_of_task(logs, task, left_out)
    found = chain.from_iterable(header.results.scores for header in headers if header.results)
    given = scorers or [score.scorer for score in found if score.scorer != "judge_outcome"]
    judges = dict[str, SampleScores]()
    for scorer in dict.fromkeys(given):
        name, _, key = scorer.partition(":")
        if name in _NO_JUDGES:
            left_out.append(f"{name} was left out: {_NO_JUDGE}.")
            continue
        judge_of_file = {header.location: judge_of(header, name) for header in headers}
        for judge in dict.fromkeys(judge_of_file.values()):
            own = [file for file, by in judge_of_file.items() if by == judge]
            try:
                scores = read_sample_scores(own, scorer=name, value=key or None, task=task)
            except InputError as error:
                left_out.append(f"{scorer} was left out: {error.message}")
                continue
            left_out += scores.left_out
            known = not judge or judge in judges
            judges[f"{scorer} {judge}".strip() if known else judge] = scores
    if not judges:
        raise InputError("\n".join(["scorer: none has scores that are numbers", *left_out]))
    return judges


def _read_prices(given: Sequence[str], judges: Collection[str]) -> dict[str, float]:
    """Prices of judges and of a person, each as NAME=DOLLARS."""
    prices = {}
    names = [*judges, PERSON]
    for each in given:
        name, _, price = each.rpartition("=")
        prices[name] = pd.to_numeric(price, errors="coerce")
        if name not in names or not 0 <= prices[name] < np.inf:
            raise InputError(f"price: must be NAME=DOLLARS of {choices(names)}, got '{each}'")
    return prices


def _labels(values: pd.DataFrame, human: HumanRatings, left_out: list[str]) -> "pd.Series[float]":
    """Ratings by sample and model, one of each rater."""
    answers = values.index.to_frame(index=False).assign(value=0.0)
    matched = match_answers(answers, {name: name for name in answers["model"]}, human, left_out)
    ratings = matched.answers.set_index(["question", "model"])["ratings"]
    of_raters = ratings.map(lambda by_rater: list(by_rater.values())).explode()
    return of_raters.rename_axis(["sample", "model"]).astype(float)


def _tolerance(scale: tuple[float, float], within: float | None) -> float:
    """How far a score may be from a person's to agree with it."""
    half = (scale[1] - scale[0]) / 2
    if within is not None and within >= half:
        raise InputError(f"within: must be below half of the scale, {half:g}, got {within:g}")
    # A mean over epochs counts as the verdict to which it is nearer.
    return min(1.0, 0.998 * half) if within is None else within


def signs_of(scores: Floats, scale: tuple[float, float]) -> Floats:
    """How sure each judge is of each answer, minus infinity without a score, shape (J, N).

    It is how far its score is from the middle, which of a mean over epochs or orders says how far
    they agree, less what the judges before it differ from it.
    """
    low, high = scale
    signs = np.abs(scores - (low + high) / 2)
    for judge in range(1, len(scores)):
        gaps = np.abs(scores[:judge] - scores[judge])
        signs[judge] -= _GAP * np.where(np.isnan(gaps), high - low, gaps).mean(axis=0)
    return np.where(np.isnan(signs), -np.inf, np.round(signs / (high - low), 6))


def certainty_of(tokens: Sequence[Logprob]) -> float:
    """The least probability in the last line with a letter or digit, which has the verdict."""
    text = "".join(token.token for token in tokens)
    end = len(re.sub(r"\W+$", "", text))
    start = text.rfind("\n", 0, end) + 1
    if not end:
        return 0.0
    by_character = chain.from_iterable([token.logprob] * len(token.token) for token in tokens)
    return float(np.exp(min(0.0, *islice(by_character, start, end))))


def _certainties(read: SampleScores) -> "pd.Series[float]":
    """How sure the last reply of the judge is, in logs with log probabilities; 0 if it has none.

    By sample and model, the mean over epochs. The judge is the model under test where no model has
    the role of one.
    """
    rows = []
    for file, model in read.files.items():
        header = read_log(file, header_only=True).model_dump_json()
        if read.scorer in UNJUDGED or '"logprobs":true' not in header:
            continue
        for sample in read_log(file).samples or ():
            calls = [event for event in sample.events if isinstance(event, ModelEvent)]
            asked = [call for call in calls if not read.judge or JUDGE_ROLE.search(call.role or "")]
            certainty = 0.0
            for choice in chain.from_iterable(call.output.choices for call in asked):
                certainty = certainty_of(choice.logprobs.content if choice.logprobs else ())
            rows.append((whole_characters(str(sample.id)), model, certainty))
    frame = pd.DataFrame(rows, columns=["sample", "model", "value"])
    return frame.groupby(["sample", "model"])["value"].mean().astype(float)


def price_of(by: Integers, prices: Sequence[float], person: float) -> float:
    """Price of a new answer, of which no judge is asked behind the last that takes any."""
    left = by == NOBODY
    reached = [float((left | (by >= judge)).mean()) for judge in range(by.max() + 1)]
    return person * float(left.mean()) + float(np.dot(prices[: len(reached)], reached))
