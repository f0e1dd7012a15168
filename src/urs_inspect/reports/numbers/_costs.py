"""What calls cost: amounts with ranges, prices of models, and tokens of answers and replies,
assumed or measured.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

import pandas as pd
from inspect_ai.log import read_eval_log_sample_summaries
from inspect_ai.model import ModelCost, get_model_info

from urs_inspect._util import InputError, choices, read_yaml_file
from urs_inspect.datasets._rows import number_of
from urs_inspect.logs._scores import Usage, usage_by_judge
from urs_inspect.reports.numbers._answers import Answers, read_answers
from urs_inspect.stats._bootstrap import student_interval

LEFT_OUT = "Left out of --from"
"""Start of the sentences on logs that were skipped."""


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

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def __mul__(self, other: "Amount | float") -> "Amount":
        factor = other if isinstance(other, Amount) else Amount.exactly(other)
        return Amount(
            self.low * factor.low, self.expected * factor.expected, self.high * factor.high
        )


def total(amounts: Iterable[Amount]) -> Amount:
    """The sum of amounts that move together: lows with lows, highs with highs."""
    parts = list(amounts)
    return Amount(
        *(math.fsum(getattr(part, name) for part in parts) for name in ("low", "expected", "high"))
    )


_MILLION = 1_000_000


@dataclass(frozen=True)
class Prices:
    """Prices of models."""

    own: Mapping[
        str, ModelCost
    ]  # model -> price, from a file; they come before those that the harness knows

    def of(self, model: str) -> ModelCost | None:
        """US dollars for a million tokens; None if not known."""
        if model in self.own:
            return self.own[model]
        try:
            info = get_model_info(model)
        except (
            Exception
        ):  # a model that is in no table is looked up through its provider, which may need a key
            return None
        if info is None:
            return None
        return info.cost

    def cost(self, model: str, input_tokens: Amount, output_tokens: Amount) -> Amount | None:
        """US dollars of a model's tokens; None if its price is not known."""
        price = self.of(model)
        if price is None:
            return None
        of_input = input_tokens * (price.input / _MILLION)
        of_output = output_tokens * (price.output / _MILLION)
        return of_input + of_output


def load_prices(file: Path | None) -> Prices:
    """Read prices."""
    if file is None:
        return Prices({})
    raw = read_yaml_file(file, "--prices")
    if not isinstance(raw, dict):
        raise InputError(
            f"--prices: {file}: the file must name models, each with its prices; {_PRICE}"
        )
    prices = {}
    for model, price in raw.items():
        prices[str(model)] = _price(price, f"--prices: {file}: {model}")
    return Prices(prices)


_PRICE = (
    f"needed for each model: {choices(ModelCost.model_fields)}, in US dollars for a million tokens"
)


def _price(given: object, place: str) -> ModelCost:
    """The prices of one model, each a number of at least 0."""
    if not isinstance(given, dict):
        raise InputError(f"{place}: must have prices, is {given}; {_PRICE}")
    missing = [part for part in ModelCost.model_fields if part not in given]
    if missing:
        raise InputError(f"{place}: {choices(missing)} missing; {_PRICE}")
    prices = {}
    for part in ModelCost.model_fields:
        # YAML reads 1e-3 as a text.
        prices[part] = number_of(given[part])
        if not 0 <= prices[part] < math.inf:
            raise InputError(
                f"{place} / {part}: must be a number of at least 0, is {given[part]}; {_PRICE}"
            )
    return ModelCost(**prices)


def with_costs(answers: Answers, prices: Prices) -> Answers:
    """Fill in the costs that logs do not have from their tokens."""
    table = answers.table.copy()
    for cost, names, kind in (("cost", "base_model", ""), ("judge_cost", "judges", "judge_")):
        for models, rows in table[table[cost].isna()].groupby(names):
            prices_of_models = [prices.own.get(model) for model in str(models).split(", ")]
            price = prices_of_models[0]
            if price is None or any(other != price for other in prices_of_models):
                continue
            sent = rows[f"{kind}input_tokens"]
            received = rows[f"{kind}output_tokens"]
            of_a_million = sent * price.input + received * price.output
            table.loc[rows.index, cost] = of_a_million / _MILLION
    return replace(answers, table=table)


# --- tokens ---

_OF_REFERENCE = Amount(0.5, 1.0, 2.0)
_WITHOUT_REFERENCE = Amount(100, 300, 900)
_JUDGEMENT = Amount(200, 450, 900)
_VERDICT = Amount(40, 150, 400)
_REASONING = "A model that reasons before it answers takes more than that."


@dataclass(frozen=True)
class Lengths:
    """Lengths in tokens."""

    # model, language and tokens of the reference -> tokens of an answer
    answer: Callable[[str, str, Amount | None], Amount]
    judgement: Callable[[str, str], Amount]  # judge and language -> tokens of a judge's reply
    verdict: Amount  # tokens of a reply about a pair, for each verdict that is asked for
    about_answers: tuple[str, ...]  # where the lengths of answers come from, a sentence each
    about_judgements: tuple[str, ...]  # likewise
    about_verdicts: tuple[str, ...]  # likewise


def assumed_lengths(answer: int | None = None, judgement: int | None = None) -> Lengths:
    """Lengths without a log."""
    reply = _JUDGEMENT
    verdict = _VERDICT
    if judgement is not None:
        reply = Amount.exactly(judgement)
        verdict = reply
    about_answers: tuple[str, ...] = (
        (
            "An answer is assumed to be as long as its reference, from half to twice as long, and"
            f" without a reference to have {_said(_WITHOUT_REFERENCE)} tokens (--from"
            " answer=TOKENS)."
        ),
        _REASONING,
    )
    if answer is not None:
        about_answers = (f"An answer is taken to have {answer} tokens (--from answer=TOKENS).",)

    def length(_model: str, _language: str, reference: Amount | None) -> Amount:
        if answer is not None:
            return Amount.exactly(answer)
        if reference is None:
            return _WITHOUT_REFERENCE
        return reference * _OF_REFERENCE

    way = " (--from reply=TOKENS)"

    def about(amount: Amount, each: str) -> tuple[str]:
        if judgement is not None:
            return (f"A judge's reply is taken to have {judgement} tokens{each}{way}.",)
        said = f"A judge's reply is assumed to have {_said(amount)} tokens{each}{way}"
        return (f"{said}; one that reasons takes more.",)

    replies = about(reply, "")
    verdicts = about(verdict, " for each verdict")
    return Lengths(
        length, lambda _judge, _language: reply, verdict, about_answers, replies, verdicts
    )


def _said(amount: Amount) -> str:
    return f"{amount.expected:g} ({amount.low:g} to {amount.high:g})"


_WIDE = ((0x2E80, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF), (0x20000, 0x3FFFF))
"""Chinese, Japanese and Korean characters and their punctuation."""
_PER_WIDE = Amount(0.6, 0.9, 1.4)
_PER_OTHER = Amount(0.2, 0.25, 0.3)
_PER_MESSAGE = 4
_RULE = (
    "Tokens are counted by rule, since no tokenizer was given (--from tokenizer.json):"
    " {other.expected:g} for each character, {other.low:g} to {other.high:g}, and"
    " {wide.expected:g} for each Chinese, Japanese or Korean one, {wide.low:g} to {wide.high:g}."
    " These rates are assumptions."
)


@dataclass(frozen=True)
class TokenCounter:
    """Counts tokens."""

    count: Callable[[str], Amount]  # text -> tokens
    assumption: str  # how they are counted, in a sentence

    def messages(self, *texts: str) -> Amount:
        """Tokens of messages, each with the few that mark it."""
        parts = [self.count(text) for text in texts if text]
        tokens = Amount.exactly(_PER_MESSAGE * len(parts))
        for part in parts:
            tokens += part
        return tokens


def count_by_rule(text: str) -> Amount:
    """Tokens of a text by its characters."""
    wide = sum(map(is_wide, text))
    return _PER_WIDE * float(wide) + _PER_OTHER * float(len(text) - wide)


def is_wide(char: str) -> bool:
    """Whether a character is Chinese, Japanese or Korean."""
    return char > "\u2e7f" and any(low <= ord(char) <= high for low, high in _WIDE)


def load_counter(tokenizer: Path | None) -> TokenCounter:
    """A counter of tokens."""
    if tokenizer is None:
        return TokenCounter(count_by_rule, _RULE.format(other=_PER_OTHER, wide=_PER_WIDE))
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

    name = f"{tokenizer.name} of {tokenizer.parent.name}"
    assumption = f"Tokens are counted with {name}, for every model."
    return TokenCounter(count, assumption)


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


ByName = dict[str, dict[str, Amount]]
"""Model or judge -> language -> tokens."""


def measured_lengths(
    logs: Iterable[str],
    otherwise: Lengths,
    *,
    models: Sequence[str] = (),
    judges: Sequence[str] = (),
) -> Lengths:
    """Lengths as measured in logs of `urs`, by model and language.

    A model that is not in the logs counts as the mean of those that are, from the lowest to the
    highest of them; so does a judge. A judge of a panel has what the log counts for it, or an equal
    share where it counts the panel as a whole.
    """
    names = list(logs)
    logged = read_answers(names)
    answers = _by_name(logged.table, "base_model", "output_tokens")
    replies, shared = judge_replies(logged.table)
    judgements = _by_name(replies, "judge", "tokens")
    if not answers and not judgements:
        raise InputError(f"--from: no usage of tokens in: {', '.join(names)}")
    pooled_answers = _pooled(answers)
    pooled_judgements = _pooled(judgements)

    def answer(model: str, language: str, reference: Amount | None) -> Amount:
        measured = answers.get(model, {}).get(language) or pooled_answers.get(language)
        return measured or otherwise.answer(model, language, reference)

    def judgement(judge: str, language: str) -> Amount:
        measured = judgements.get(judge, {}).get(language) or pooled_judgements.get(language)
        return measured or otherwise.judgement(judge, language)

    about_answers = _about("Answers", models, answers, otherwise.about_answers)
    languages = {*pooled_answers, *pooled_judgements}
    if len(languages) == 1:
        about_answers.append(
            "The logs have answers in one language: lengths in others are assumed as without a log."
        )
    about_answers += [f"{LEFT_OUT}: {sentence}" for sentence in logged.left_out]
    about_judgements = _about("Replies", judges, judgements, otherwise.about_judgements)
    if judges:
        shared = shared & set(judges)
    for name in sorted(shared):
        about_judgements.append(
            f"The log counts the panel of {name} as a whole: an equal share of its tokens is"
            " taken for each judge."
        )
    return Lengths(
        answer=answer,
        judgement=judgement,
        verdict=otherwise.verdict,
        about_answers=tuple(about_answers),
        about_judgements=tuple(about_judgements),
        about_verdicts=otherwise.about_verdicts,
    )


def _by_name(table: pd.DataFrame, name: str, column: str) -> ByName:
    lengths: ByName = {}
    measured = table[table[column] > 0]
    for (model, language), known in measured.groupby([name, "language"])[column]:
        estimate = student_interval(known.astype(float).tolist())
        amount = Amount.exactly(estimate.value)
        if not math.isnan(estimate.low):
            low = max(0.0, estimate.low)
            amount = Amount(low, estimate.value, estimate.high)
        of_model = lengths.setdefault(str(model), {})
        of_model[str(language)] = amount
    return lengths


def _pooled(measured: Mapping[str, Mapping[str, Amount]]) -> dict[str, Amount]:
    """By language the mean over models, from the lowest to the highest of them."""
    languages = sorted(set().union(*measured.values()))
    pooled = {}
    for language in languages:
        parts = [lengths[language] for lengths in measured.values() if language in lengths]
        mean = math.fsum(part.expected for part in parts) / len(parts)
        low = min(part.low for part in parts)
        high = max(part.high for part in parts)
        pooled[language] = Amount(low, mean, high)
    return pooled


def _about(
    what: str, names: Sequence[str], measured: ByName, otherwise: tuple[str, ...]
) -> list[str]:
    """Where the lengths of each model come from, a sentence each."""
    if not measured:
        return [f"{what}: the logs count no tokens of them.", *otherwise]
    unknown = []
    lines = []
    for name in dict.fromkeys(names):
        if name in measured:
            words = _words(measured[name])
            lines.append(f"{what} of {name} are taken to be as long as measured: {words}.")
        else:
            unknown.append(name)
    if unknown or not names:
        subject = what
        if unknown:
            subject += f" of {', '.join(unknown)}, which the logs do not have,"
        those = ", ".join(measured)
        pooled = _words(_pooled(measured))
        lines.append(f"{subject} are taken to be as long as those of {those}, pooled: {pooled}.")
    return lines


def _words(lengths: Mapping[str, Amount]) -> str:
    return "; ".join(
        f"{language} {amount.expected:.0f} tokens" for language, amount in sorted(lengths.items())
    )
