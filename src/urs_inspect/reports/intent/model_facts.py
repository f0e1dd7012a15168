"""What the answers of one model say beside its means."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from urs_inspect.judging import NO_RESPONSE
from urs_inspect.rating import pooled_deviation, rank_correlation
from urs_inspect.rating.intervals import reported_bounds
from urs_inspect.reports.intent.answer_rows import ERROR, NOT_SENT
from urs_inspect.reports.intent.report import LengthBin, Lengths, Usage
from urs_inspect.rubrics import FINAL

_BINS = 10
_MOST_ROUNDS = 1000
"""Ranks must be found anew in every round, which takes a hundred times as long as a mean."""


def lengths_of(answers: pd.DataFrame, rounds: int, level: float, seed: int) -> Lengths:
    """Length of answers against their scores.

    Args:
        answers: Rows of one model.
        rounds: Rounds of the bootstrap; at most 1,000 are made.
        level: Confidence level.
        seed: Seed of the bootstrap.
    """
    means = answers.groupby("question", sort=True)[["answer_length", FINAL]].mean()
    correlation = rank_correlation(
        means["answer_length"].to_numpy(),
        means[FINAL].to_numpy(),
        np.arange(len(means)),
        rounds=min(rounds, _MOST_ROUNDS),
        level=level,
        seed=seed,
    )
    low, high = reported_bounds(correlation.low, correlation.high, correlation.clusters, level=level, scale=(-1.0, 1.0))
    correlation = replace(correlation, low=float(low), high=float(high))
    both = answers[["answer_length", FINAL]].dropna().sort_values("answer_length", kind="stable")
    parts = [part for part in np.array_split(both.to_numpy(), min(_BINS, len(both)) or 1) if len(part)]
    bins = [LengthBin(float(np.median(part[:, 0])), float(part[:, 1].mean()), len(part)) for part in parts]
    known = answers["answer_length"].dropna()
    return Lengths(float(known.median()) if len(known) else math.nan, correlation, tuple(bins))


def usage_of(answers: pd.DataFrame) -> Usage:
    """Tokens, money and time of all answers; where some are not known, the mean of the others stands for them."""
    names = (
        "input_tokens",
        "output_tokens",
        "judge_input_tokens",
        "judge_output_tokens",
        "cost",
        "judge_cost",
        "seconds",
    )
    return Usage(*(_scaled(answers[name]) for name in names))


def outcomes_of(answers: pd.DataFrame) -> dict[str, int]:
    """How the judging of answers ended, the most frequent end first."""
    return {str(name): int(count) for name, count in answers["outcome"].value_counts().items()}


def empty_answers(answers: pd.DataFrame) -> int:
    """Number of empty answers, which have the lowest score."""
    return int(answers["outcome"].isin(NO_RESPONSE).sum())


def failed_samples(answers: pd.DataFrame) -> int:
    """Number of samples that ended in an error."""
    return int((answers["outcome"] == ERROR).sum())


def most_epochs(answers: pd.DataFrame) -> int:
    """Most answers to one question."""
    return int(answers.groupby("question").size().max()) if len(answers) else 0


def epoch_deviation(answers: pd.DataFrame) -> float:
    """Standard deviation between epochs of one question, pooled; NaN with one epoch.

    Each epoch answers afresh, so that it holds what answering and judging once more changes.
    """
    scored = answers.dropna(subset=FINAL)
    if not scored["question"].duplicated().any():
        return math.nan
    return pooled_deviation([list(given) for _, given in scored.groupby("question")[FINAL]])


def judge_deviation(answers: pd.DataFrame) -> float:
    """Standard deviation between judgements of one answer by the same judges, pooled; NaN if none was judged twice."""
    scored = answers.dropna(subset=FINAL)
    return pooled_deviation(
        [[final, *earlier] for final, earlier in zip(scored[FINAL], scored["earlier_finals"], strict=True)]
    )


def self_judged(answers: pd.DataFrame) -> float:
    """Share of the scored answers that the model judged itself; NaN without scores."""
    scored = answers.loc[answers[FINAL].notna(), "self_judged"]
    return float(scored.mean()) if len(scored) else math.nan


def notes_of(answers: pd.DataFrame, facts: pd.DataFrame) -> list[str]:
    """What a reader must know about the answers of a block, a sentence each.

    Args:
        answers: Rows of all models.
        facts: Its questions, as in `QuestionTable`.
    """
    notes = []
    if cut := answers.loc[answers["cut_off"], "model"].value_counts().to_dict():
        named = ", ".join(f"{model} {count:,}" for model, count in cut.items())
        notes.append(
            f"{sum(cut.values()):,} of {len(answers):,} answers were cut off at the token limit: {named}. "
            "--max-tokens gives a model more room."
        )
    if unsent := int(answers["judge_temperatures"].str.contains(NOT_SENT, regex=False).sum()):
        notes.append(
            f"For {unsent:,} of {len(answers):,} answers the temperature that was requested of a judge was not sent by "
            "its provider's client: that judge ran at its default temperature."
        )
    temperatures = {text.replace(NOT_SENT, "") for text in answers["judge_temperatures"].unique()} - {""}
    if len(temperatures) > 1:
        notes.append(f"Judges ran at different temperatures: {', '.join(sorted(temperatures))}.")
    blank = int((facts["country"] == "").sum())
    if 0 < blank < len(facts):
        notes.append(f"{blank:,} of {len(facts):,} questions name no country; they count everywhere but by country.")
    return notes


def _scaled(values: "pd.Series[float]") -> float:
    known = values.dropna()
    return float(known.mean() * len(values)) if len(known) else math.nan
