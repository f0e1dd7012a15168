"""Scores of judges and people's labels -> which scores need no person, and who gives the others."""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pandas as pd
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalSample
from inspect_ai.model import Logprob

from urs_inspect._util import InputError, choices, counted
from urs_inspect.comparison._compare import match_answers
from urs_inspect.comparison._samples import SampleScores, read_sample_scores
from urs_inspect.comparison._scored_runs import JUDGE_ROLE, headers_of_task, judge_of
from urs_inspect.logs._files import read_log
from urs_inspect.logs._naming import whole_characters
from urs_inspect.logs._scores import UNJUDGED
from urs_inspect.reports.numbers._agreement import unused
from urs_inspect.reports.numbers._human_data import HumanRatings
from urs_inspect.stats._bootstrap import Floats, Integers
from urs_inspect.stats._trust import NOBODY, Shown, find_shown

PERSON = "person"
"""Who gave a score, and whose price it is."""
TRUSTED = "trusted"
"""The final score in a log."""
_GAP = 0.25
"""Weight of the mean gap to judges before, which may be weak; larger ones took less of LLMBar."""
TIE = 1e-7
"""Weight of a certainty from 0 to 1, below any difference of other signs, which are rounded."""
_UNUSED = ("messages", "store", "error_retries", "output")
_NO_JUDGES = {
    "human_rating": "people gave its scores",
    "human_choice": "people gave its scores",
    TRUSTED: "its scores are final ones, of several judges and people",
    "pair_verdict": (
        "in logs of judge_pairwise and md_eval it says whether a verdict was right, not which it"
        " was; of pairs, pair_choice:outcome in logs of mad is read"
    ),
}
"""Scorers whose scores are not those of a judge -> why."""


@dataclass(frozen=True)
class Escalation:
    """Who gives each answer its score."""

    shown: Shown
    judges: pd.DataFrame
    """Judge, taken (share of the answers) and, of the labelled answers whose score it takes, or of
    all where it takes none, their number (labels) and with how many people agree (agreed)."""
    answers: pd.DataFrame
    """Sample, model, by (the judge, the person, or empty) and value (NaN without)."""
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
        if header.results is not None and not scorers:
            given += (score.scorer for score in header.results.scores)
    judges = dict[str, SampleScores]()
    for scorer in dict.fromkeys(given):
        name, _, key = scorer.partition(":")
        if name in _NO_JUDGES:
            left_out.append(f"{name} was left out: {_NO_JUDGES[name]}.")
            continue
        files = defaultdict[str, list[str]](list)
        for header in headers:
            files[judge_of(header, name)].append(header.location)
        for judge, named in files.items():
            try:
                scores = read_sample_scores(named, scorer=name, value=key or None, task=task)
            except InputError as error:
                left_out.append(f"{scorer} was left out: {error.message}")
                continue
            left_out += scores.left_out
            known = not judge or judge in judges
            judges[f"{scorer} {judge}".strip() if known else judge] = scores
    if not judges:
        raise InputError("\n".join(["scorer: none has scores that are numbers", *left_out]))
    return judges


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
    rest: HumanRatings | None,
    *,
    at_least: float,
    sure: float,
    within: float | None,
) -> Escalation:
    """Find whose score each answer may have.

    Rules are tested by the labels `human` alone, a random sample of the answers; labels of the
    `rest`, which are those of hard answers, only become scores. `within` is how far a score may be
    from that of a person who agrees with it.
    """
    tables = [read.table.set_index(["sample", "model"])["value"] for read in judges.values()]
    values = pd.concat(tables, axis=1, keys=list(judges))
    scores = values.to_numpy(np.float64).T
    notes = list[str]()
    if human.weighted:
        notes.append("Labels have weights: the promise holds only for labels drawn with one rate.")
    labels = _labels(values, human, notes)
    near = np.abs(scores[:, labels.index] - labels.to_numpy()) <= _tolerance(human.scale, within)
    of_most = pd.DataFrame(near.T).groupby(labels.index.to_numpy()).mean() > 0.5
    places = of_most.index.to_numpy()
    agrees = of_most.to_numpy().T
    signs = signs_of(scores, human.scale)
    for number, read in enumerate(judges.values()):
        signs[number] += TIE * _certainties(read).reindex(values.index, fill_value=0.0)
    shown = find_shown(signs, places, agrees, at_least=at_least, miss=1 - sure)
    rows = []
    answers = values.index.to_frame(index=False).assign(by="", value=np.nan)
    for number, judge in enumerate(judges):
        taken = shown.by == number
        answers.loc[taken, "by"] = judge
        answers.loc[taken, "value"] = scores[number, taken]
        tested = taken
        if not taken.any():
            tested = ~np.isnan(scores[number])
        of_judge = agrees[number, tested[places]]
        rows.append((judge, taken.mean(), len(of_judge), of_judge.sum()))
    of_people = labels
    if rest is not None:
        of_people = pd.concat([labels, _labels(values, rest, notes)])
    medians = of_people.groupby(level=0).median()
    answers.loc[medians.index, "by"] = PERSON
    answers.loc[medians.index, "value"] = medians
    table = pd.DataFrame(rows, columns=["judge", "taken", "labels", "agreed"])
    return Escalation(shown, table, answers, tuple(notes))


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
    line = list[float]()
    for token in reversed(tokens):
        text = token.token
        if not line:
            text = re.sub(r"\W+$", "", token.token)
        _, line_break, own = text.rpartition("\n")
        if own.strip():
            line.append(token.logprob)
        if line and line_break:
            break
    if line:
        return math.exp(min(0.0, *line))
    return 0.0


def _certainties(read: SampleScores) -> "pd.Series[float]":
    """Mean over epochs, by sample and model, in logs with log probabilities."""
    rows = []
    for file, model in read.files.items():
        log = read_log(file, header_only=True)
        asked = '"logprobs":true' in log.eval.model_dump_json() + log.plan.model_dump_json()
        if asked and read.scorer not in UNJUDGED:
            for sample in read_log(file, without=_UNUSED).samples or ():
                certainty = _certainty(sample, has_role=bool(read.judge))
                rows.append((whole_characters(str(sample.id)), model, certainty))
    frame = pd.DataFrame(rows, columns=["sample", "model", "value"])
    return frame.groupby(["sample", "model"])["value"].mean().astype(float)


def _certainty(sample: EvalSample, *, has_role: bool) -> float:
    """How sure the last reply of the judge is; 0 if it has no log probabilities.

    The judge is the model under test where no model has the role of one.
    """
    for event in reversed(sample.events):
        if isinstance(event, ModelEvent) and has_role == bool(JUDGE_ROLE.search(event.role or "")):
            given = None
            if event.output.choices:
                given = event.output.choices[0].logprobs
            return certainty_of(given.content) if given else 0.0
    return 0.0


def price_of(by: Integers, prices: Sequence[float], person: float) -> float:
    """Price of a new answer, of which no judge is asked behind the last that takes any."""
    cost = person * float((by == NOBODY).mean())
    for judge, price in enumerate(prices[: by.max() + 1]):
        cost += price * float(((by == NOBODY) | (by >= judge)).mean())
    return cost


def _labels(values: pd.DataFrame, human: HumanRatings, notes: list[str]) -> "pd.Series[float]":
    """Ratings, by the number of the answer; scores must lie on their scale."""
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
    ratings = matched.answers.set_index(["question", "model"])["ratings"]
    of_raters = [list(given.values()) for given in ratings]
    places = values.index.get_indexer(ratings.index)
    return pd.Series(of_raters, index=places).explode().astype(float)


def _tolerance(scale: tuple[float, float], within: float | None) -> float:
    """How far a score may be from a person's to agree with it."""
    half = (scale[1] - scale[0]) / 2
    if within is None:
        # A mean over epochs counts as the verdict to which it is nearer.
        return min(1.0, 0.998 * half)
    if not 0 <= within < half:
        raise InputError(
            f"within: must be at least 0 and below half of the scale, {half:g}, got {within:g};"
            " beyond that everything agrees"
        )
    return within
