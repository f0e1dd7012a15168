"""Tokens of answers and replies, assumed or measured in logs, each with its range."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pandas as pd
from inspect_ai.log import read_eval_log_sample_summaries
from inspect_ai.model import ModelUsage

from urs_inspect._util import InputError
from urs_inspect.logs._scores import NOTHING, Usage, Used, usage_of
from urs_inspect.reports.numbers._answers import read_answers
from urs_inspect.stats._bootstrap import student_interval


@dataclass(frozen=True)
class Amount:
    """A number with its range."""

    low: float  # the least that is to be expected
    expected: float  # what is most likely
    high: float  # the most that is to be expected

    @classmethod
    def exactly(cls, value: float) -> "Amount":
        """A number that is known."""
        return cls(value, value, value)

    def __mul__(self, other: "Amount | float") -> "Amount":
        factor = other if isinstance(other, Amount) else Amount.exactly(other)
        return Amount(
            self.low * factor.low, self.expected * factor.expected, self.high * factor.high
        )


def total(amounts: Iterable[Amount]) -> Amount:
    """The sum of amounts that move together: lows with lows, highs with highs."""
    parts = list(amounts)
    return Amount(
        math.fsum(part.low for part in parts),
        math.fsum(part.expected for part in parts),
        math.fsum(part.high for part in parts),
    )


_OF_REFERENCE = Amount(0.5, 1.0, 2.0)
WITHOUT_REFERENCE = Amount(100, 300, 900)
"""Tokens that are assumed of an answer to a question without a reference."""
JUDGEMENT = Amount(200, 450, 900)
"""Tokens that are assumed of a judge's reply."""
VERDICT = Amount(40, 150, 400)
"""Tokens that are assumed of a reply about a pair, for each verdict."""


@dataclass(frozen=True)
class Measured:
    """Lengths of answers or of replies in logs."""

    # model or judge of the logs -> language -> tokens
    by_name: Mapping[str, Mapping[str, Amount]]
    pooled: Mapping[str, Amount]  # language -> tokens, over all of these
    asked: tuple[str, ...]  # models or judges whose lengths are asked for, each once

    def of(self, name: str, language: str) -> Amount | None:
        """Tokens of a model or judge, or else of all; None if the logs lack the language."""
        return self.by_name.get(name, {}).get(language) or self.pooled.get(language)


@dataclass(frozen=True)
class LoggedLengths:
    """What logs of `urs` say about lengths."""

    answers: Measured
    replies: Measured
    shared: tuple[str, ...]  # judges with an equal share of the tokens of their panel
    left_out: tuple[str, ...]  # logs that were left out and why, as in `Answers`


@dataclass(frozen=True)
class Lengths:
    """Lengths in tokens: a number that was given, or else from logs, or else an assumption."""

    given_answer: int | None = None  # tokens of an answer
    given_reply: int | None = None  # tokens of a judge's reply
    logged: LoggedLengths | None = None

    def answer(self, model: str, language: str, reference: Amount | None) -> Amount:
        """Tokens of an answer; `reference` are those of the reference."""
        if self.given_answer is not None:
            return Amount.exactly(self.given_answer)
        measured = None
        if self.logged is not None:
            measured = self.logged.answers.of(model, language)
        assumed = WITHOUT_REFERENCE
        if reference is not None:
            assumed = reference * _OF_REFERENCE
        return measured or assumed

    def judgement(self, judge: str, language: str) -> Amount:
        """Tokens of a judge's reply."""
        if self.given_reply is not None:
            return Amount.exactly(self.given_reply)
        measured = None
        if self.logged is not None:
            measured = self.logged.replies.of(judge, language)
        return measured or JUDGEMENT

    @property
    def verdict(self) -> Amount:
        """Tokens of a reply about a pair, for each verdict that is asked for."""
        if self.given_reply is None:
            return VERDICT
        return Amount.exactly(self.given_reply)


_WIDE = ((0x2E80, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF), (0x20000, 0x3FFFF))
"""Chinese, Japanese and Korean characters and their punctuation."""
PER_WIDE = Amount(0.6, 0.9, 1.4)
"""Tokens that the rule counts for a Chinese, Japanese or Korean character."""
PER_OTHER = Amount(0.2, 0.25, 0.3)
"""Tokens that the rule counts for any other character."""
_PER_MESSAGE = 4


@dataclass(frozen=True)
class TokenCounter:
    """Counts tokens."""

    count: Callable[[str], Amount]  # text -> tokens
    tokenizer: str | None = None  # file and folder of the tokenizer; None where a rule counts

    def messages(self, *texts: str) -> Amount:
        """Tokens of messages, each with the few that mark it."""
        parts = [self.count(text) for text in texts if text]
        return total([*parts, Amount.exactly(_PER_MESSAGE * len(parts))])


def count_by_rule(text: str) -> Amount:
    """Tokens of a text by its characters."""
    wide = sum(map(is_wide, text))
    return total([PER_WIDE * float(wide), PER_OTHER * float(len(text) - wide)])


def is_wide(char: str) -> bool:
    """Whether a character is Chinese, Japanese or Korean."""
    return char > "\u2e7f" and any(low <= ord(char) <= high for low, high in _WIDE)


def load_counter(tokenizer: Path | None) -> TokenCounter:
    """A counter of tokens."""
    if tokenizer is None:
        return TokenCounter(count_by_rule)
    try:
        loaded = import_module("tokenizers").Tokenizer.from_file(str(tokenizer))
    except ImportError as error:
        raise InputError(
            f"--from {tokenizer} needs the package tokenizers ({error}): pip install tokenizers"
        ) from error
    except Exception as error:  # the library raises plain Exception for whatever a file holds
        raise InputError(f"--from: cannot read '{tokenizer}': {error}") from error

    def count(text: str) -> Amount:
        encoded = loaded.encode(text, add_special_tokens=False)
        return Amount.exactly(len(encoded.ids))

    return TokenCounter(count, f"{tokenizer.name} of {tokenizer.parent.name}")


_SEPARATOR = ", "
_OWN = ("input_tokens", "output_tokens")
_JUDGES = ("judge_input_tokens", "judge_output_tokens")


def judge_replies(table: pd.DataFrame) -> tuple[pd.DataFrame, frozenset[str]]:
    """Tokens of each judge's replies to each answer."""
    rows: list[tuple[str, str, float]] = []
    shared: set[str] = set()
    columns = [*_OWN, *_JUDGES, "question", "epoch", "language", "base_model", "judges"]
    with_replies = table[table["judge_output_tokens"] > 0]
    for log, part in with_replies.groupby("log"):
        panels = part["judges"].str.contains(_SEPARATOR, regex=False).any()
        samples = read_eval_log_sample_summaries(str(log)) if panels else ()
        models = {}
        for sample in samples:
            answer = (str(sample.id), sample.epoch)
            models[answer] = sample.model_usage
        for row in part[columns].to_dict("records"):
            judges = str(row["judges"]).split(_SEPARATOR)
            together = Usage(*(row[name] for name in _JUDGES))
            parts = [together.received]
            if len(judges) > 1:
                own = Usage(*(row[name] for name in _OWN))
                answer = (row["question"], row["epoch"])
                used = models.get(answer, {})
                known = usage_by_judge(row["base_model"], judges, used, own, together)
                if known is None:
                    shared.update(judges)
                    parts = [together.received / len(judges)] * len(judges)
                else:
                    parts = [usage.received for usage in known.values()]
            for judge, tokens in zip(judges, parts, strict=True):
                rows.append((judge, row["language"], tokens))
    replies = pd.DataFrame(rows, columns=["judge", "language", "tokens"])
    return replies, frozenset(shared)


def measured_lengths(
    logs: Sequence[str], *, models: Sequence[str] = (), judges: Sequence[str] = ()
) -> LoggedLengths:
    """Lengths as measured in logs of `urs`, by model and language.

    A model that is not in the logs counts as the mean of those that are, from the lowest to the
    highest of them; so does a judge. A judge of a panel has what the log counts for it, or an equal
    share where it counts the panel as a whole.
    """
    logged = read_answers(logs)
    replies_by_judge, shared = judge_replies(logged.table)
    answers = _measured(logged.table, "base_model", "output_tokens", models)
    replies = _measured(replies_by_judge, "judge", "tokens", judges)
    if not answers.by_name and not replies.by_name:
        raise InputError(f"no usage of tokens in: {', '.join(logs)}")
    if judges:
        shared = shared & set(judges)
    return LoggedLengths(answers, replies, tuple(sorted(shared)), tuple(logged.left_out))


def _measured(table: pd.DataFrame, name: str, column: str, asked: Sequence[str]) -> Measured:
    by_name: dict[str, dict[str, Amount]] = {}
    measured = table[table[column] > 0]
    for (model, language), known in measured.groupby([name, "language"])[column]:
        estimate = student_interval(known.astype(float).tolist())
        amount = Amount.exactly(estimate.value)
        if not math.isnan(estimate.low):
            amount = Amount(max(0.0, estimate.low), estimate.value, estimate.high)
        by_name.setdefault(str(model), {})[str(language)] = amount
    return Measured(by_name, _pooled(by_name), tuple(dict.fromkeys(asked)))


def _pooled(by_name: Mapping[str, Mapping[str, Amount]]) -> dict[str, Amount]:
    """By language the mean over models, from the lowest to the highest of them."""
    pooled = {}
    for language in sorted(set().union(*by_name.values())):
        parts = [lengths[language] for lengths in by_name.values() if language in lengths]
        mean = math.fsum(part.expected for part in parts) / len(parts)
        low = min(part.low for part in parts)
        high = max(part.high for part in parts)
        pooled[language] = Amount(low, mean, high)
    return pooled


def usage_by_judge(
    model: str, judges: Sequence[str], models: Used, own: Usage, together: Usage
) -> dict[str, Usage] | None:
    """Usage of each judge.

    None where parts are not known, or do not add up to that of all together. `own` is the usage of
    the model under test, which is not that of a judge.
    """
    if len(set(judges)) < len(judges):
        return None
    parts = {}
    for judge in judges:
        used = models.get(judge, ModelUsage())
        parts[judge] = usage_of(used)
    if model in parts and model in models:
        parts[model] -= own
    all_parts = sum(parts.values(), NOTHING)
    same_sent = math.isclose(all_parts.sent, together.sent, abs_tol=0.5)
    same_received = math.isclose(all_parts.received, together.received, abs_tol=0.5)
    if same_sent and same_received:
        return parts
    return None
