"""What each judge of a panel replied, told apart by the usage that a log counts for each model."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd
from inspect_ai.log import read_eval_log_sample_summaries
from inspect_ai.model import ModelUsage

_SEPARATOR = ", "

Sample = tuple[str, int]
"""Question and epoch."""


def judge_replies(table: pd.DataFrame) -> tuple[pd.DataFrame, frozenset[str]]:
    """Tokens of each judge's replies to each answer.

    Args:
        table: Rows of the table of answers.

    Returns:
        The columns judge, language and tokens, a row for each judge and answer of which they are known; and the judges
        who have an equal share of their panel's tokens there, because the log counts theirs together with others'.
    """
    rows: list[tuple[str, str, float]] = []
    shared: set[str] = set()
    for log, part in table[table["judge_output_tokens"] > 0].groupby("log"):
        panels = part["judges"].str.contains(_SEPARATOR, regex=False).any()
        usage = _usage(str(log)) if panels else {}
        columns = ["question", "epoch", "language", "base_model", "judges", "output_tokens", "judge_output_tokens"]
        for question, epoch, language, model, named, own, tokens in part[columns].itertuples(index=False):
            judges = str(named).split(_SEPARATOR)
            parts = _parts(judges, usage.get((question, epoch), {}), {model: own}, tokens)
            if parts is None:
                shared.update(judges)
                parts = [tokens / len(judges)] * len(judges)
            rows += [(judge, language, tokens) for judge, tokens in zip(judges, parts, strict=True)]
    return pd.DataFrame(rows, columns=["judge", "language", "tokens"]), frozenset(shared)


def _parts(
    judges: Sequence[str], usage: Mapping[str, ModelUsage], own: Mapping[str, float], tokens: float
) -> list[float] | None:
    """Tokens of each judge; None if they cannot be told apart, or do not add up to those of the panel."""
    if len(judges) == 1:
        return [tokens]
    if len(set(judges)) < len(judges):
        return None
    parts = [usage[judge].output_tokens - own.get(judge, 0.0) if judge in usage else 0.0 for judge in judges]
    return parts if math.isclose(math.fsum(parts), tokens, abs_tol=0.5) else None


def _usage(log: str) -> dict[Sample, Mapping[str, ModelUsage]]:
    return {(str(one.id), one.epoch): one.model_usage for one in read_eval_log_sample_summaries(log)}
