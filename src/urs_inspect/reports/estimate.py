"""Tokens and cost of a run, before it starts and beside what it took."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import chain
from pathlib import Path

import pandas as pd
import yaml
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log_sample_summaries
from inspect_ai.model import ModelCost, ModelUsage, get_model_info
from pydantic import TypeAdapter, ValidationError

from urs_inspect._util import InputError, is_blank, read_yaml
from urs_inspect.judging import JudgePrompt, PromptBuilder
from urs_inspect.judging.prompts import orders_of, pair_calls
from urs_inspect.reports.intent.answers import Answers, read_answers
from urs_inspect.reports.log_files import short_name, sorted_headers
from urs_inspect.solvers.answers import ANSWER
from urs_inspect.stats.bootstrap import student_interval


@dataclass(frozen=True)
class Amount:
    """A number with its range.

    Attributes:
        low: The least that is to be expected.
        expected: What is most likely.
        high: The most that is to be expected.
    """

    low: float
    expected: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> "Amount":
        """A number that is known."""
        return cls(value, value, value)

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def __mul__(self, other: "Amount | float") -> "Amount":
        factor = other if isinstance(other, Amount) else Amount.exactly(other)
        return Amount(self.low * factor.low, self.expected * factor.expected, self.high * factor.high)


def total(amounts: Iterable[Amount]) -> Amount:
    """The sum of amounts that move together: lows with lows, highs with highs."""
    parts = list(amounts)
    return Amount(*(math.fsum(getattr(part, name) for part in parts) for name in ("low", "expected", "high")))


_MILLION = 1_000_000


@dataclass(frozen=True)
class Prices:
    """Prices of models.

    Attributes:
        own: Model -> price, from a file; they come before those that the harness knows.
    """

    own: Mapping[str, ModelCost]

    def of(self, model: str) -> ModelCost | None:
        """US dollars for a million tokens; None if not known."""
        if model in self.own:
            return self.own[model]
        try:
            info = get_model_info(model)
        except Exception:  # a model that is in no table is looked up through its provider, which may need a key
            return None
        return None if info is None else info.cost

    def cost(self, model: str, input_tokens: Amount, output_tokens: Amount) -> Amount | None:
        """US dollars of a model's tokens; None if its price is not known."""
        price = self.of(model)
        if price is None:
            return None
        return input_tokens * (price.input / _MILLION) + output_tokens * (price.output / _MILLION)


def load_prices(file: Path | None) -> Prices:
    """Read prices.

    Args:
        file: YAML or JSON as for `--model-cost-config` of `inspect eval`: model -> `input`, `output`,
            `input_cache_write`, `input_cache_read`, in US dollars for a million tokens. None for the harness's table.

    Raises:
        InputError: If the file cannot be read or is none of that form.
    """
    if file is None:
        return Prices({})
    try:
        own = TypeAdapter(dict[str, ModelCost]).validate_python(read_yaml(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise InputError(f"--prices: no file '{file}'") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"--prices: cannot read '{file}': {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = " / ".join(str(part) for part in first["loc"])
        raise InputError(
            f"--prices: {file}: {place or 'the file'}: {first['msg']}; needed for each model: input, output, "
            "input_cache_write, input_cache_read, in US dollars for a million tokens"
        ) from error
    for model, price in own.items():
        for field, value in price.model_dump().items():
            if not 0 <= value < math.inf:
                raise InputError(f"--prices: {file}: {model} / {field}: must be a number of at least 0, is {value}")
    return Prices(own)


def with_costs(answers: Answers, prices: Prices) -> Answers:
    """Fill in the costs that logs do not have from their tokens.

    Args:
        answers: The answers; costs that their logs know stay as they are.
        prices: Only those of the file are used. All tokens sent count at the price of `input`, cached ones among them.
            The tokens of a panel are known together only, so that its cost is filled in if all its judges have one
            price.
    """
    table = answers.table.copy()
    for cost, names, kind in (("cost", "base_model", ""), ("judge_cost", "judges", "judge_")):
        for models, rows in table[table[cost].isna()].groupby(names):
            found = [prices.own.get(model) for model in str(models).split(", ")]
            price = found[0]
            if price is not None and all(one == price for one in found):
                sent, received = rows[f"{kind}input_tokens"], rows[f"{kind}output_tokens"]
                table.loc[rows.index, cost] = (sent * price.input + received * price.output) / _MILLION
    return replace(answers, table=table)


UNDER_TEST, GRADER = "model", "grader"
ASKED_AGAIN = Amount(1.0, 1.01, 1.05)
"""How often a judge is asked for each answer: replies that cannot be read are asked for once more."""
ABOUT_ASKING = (
    f"Judges are asked again for {ASKED_AGAIN.expected - 1:.0%} of the answers, 0% to {ASKED_AGAIN.high - 1:.0%}; "
    "this is an assumption, as is that no call fails."
)
ABOUT_CACHES = (
    "Caches of prompts, which make a judge's static part cheaper, are not counted; nor are discounts for batches."
)


@dataclass(frozen=True)
class RoleEstimate:
    """What one model will take in one role.

    Attributes:
        role: `model` for the model under test, or `grader`.
        model: Name of the model.
        samples: Samples of one run that it is about, epochs included.
        runs: How many runs.
        calls: Number of calls.
        input_tokens: Tokens sent.
        output_tokens: Tokens received.
        cost: US dollars; None if the price is not known.
    """

    role: str
    model: str
    samples: int
    runs: int
    calls: Amount
    input_tokens: Amount
    output_tokens: Amount
    cost: Amount | None


@dataclass(frozen=True)
class RunEstimate:
    """What a run will take.

    Attributes:
        task: Name of the task.
        samples: Number of samples, epochs not counted.
        epochs: Number of epochs.
        roles: One entry a model and role.
        cost: US dollars of all that have a price; None if none has.
        unpriced: Models without a price, in order.
        assumptions: Everything that was assumed, a sentence each.
        ids: Ids of the samples; empty if they have none.
    """

    task: str
    samples: int
    epochs: int
    roles: tuple[RoleEstimate, ...]
    cost: Amount | None
    unpriced: tuple[str, ...]
    assumptions: tuple[str, ...]
    ids: tuple[str, ...] = ()


def role_estimate(
    role: str, model: str, samples: int, amounts: tuple[Amount, Amount, Amount], prices: Prices
) -> RoleEstimate:
    """What a model takes in one run: calls, tokens sent and tokens received, and their price."""
    calls, sent, received = amounts
    return RoleEstimate(role, model, samples, 1, calls, sent, received, prices.cost(model, sent, received))


def run_estimate(
    task: str, samples: Sequence[Sample], epochs: int, roles: Iterable[RoleEstimate], assumptions: Sequence[str]
) -> RunEstimate:
    """Put a run together; a judge of several models judges the answers of each."""
    merged = _merged(roles)
    priced = [one.cost for one in merged if one.cost is not None]
    return RunEstimate(
        task,
        len(samples),
        epochs,
        merged,
        total(priced) if priced else None,
        tuple(dict.fromkeys(one.model for one in merged if one.cost is None)),
        tuple(assumptions),
        tuple(str(sample.id) for sample in samples if sample.id is not None),
    )


def _merged(roles: Iterable[RoleEstimate]) -> tuple[RoleEstimate, ...]:
    """One entry a model and role."""
    found: dict[tuple[str, str], RoleEstimate] = {}
    for one in roles:
        known = found.get((one.role, one.model))
        found[one.role, one.model] = one if known is None else _added(known, one)
    return tuple(found.values())


def _added(one: RoleEstimate, other: RoleEstimate) -> RoleEstimate:
    return RoleEstimate(
        one.role,
        one.model,
        one.samples,
        one.runs + other.runs,
        one.calls + other.calls,
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
        None if one.cost is None or other.cost is None else one.cost + other.cost,
    )


BOTH = "model and grader"
"""Role of a model that judged itself: its usage is one number."""


@dataclass(frozen=True)
class Actual:
    """What one model took in one role, over all logs.

    Attributes:
        role: `model` for the model under test, `grader`, or `model and grader` for one that judged itself.
        model: Name of the model; of a panel that the log counts as a whole the names.
        input_tokens: Tokens sent.
        output_tokens: Tokens received.
        samples: Samples that were run, epochs included; of an evaluator of `urs_crossval` those that were its own.
        cost: US dollars; None if not known.
    """

    role: str
    model: str
    input_tokens: int
    output_tokens: int
    samples: int
    cost: float | None


@dataclass(frozen=True)
class ActualUse:
    """What runs took, and which logs say nothing about it.

    Attributes:
        roles: One entry a model and role, all logs together.
        left_out: Logs that were left out and why, a sentence each.
    """

    roles: tuple[Actual, ...]
    left_out: tuple[str, ...]


def read_actual(logs: Iterable[str], task: str, estimated: RunEstimate | None = None) -> ActualUse:
    """Read what runs of a task took, finished or not; of several attempts at one run the one that counts.

    Args:
        logs: Log files and directories.
        task: The task, such as `urs`; logs of others are left out.
        estimated: Count only its samples, epochs, models and judges, and nothing of a log whose model under test is not
            among them; None for all that the logs have.

    Returns:
        What the samples without an error took. Where a model judged itself without a role, the two cannot be told apart
        and are one entry.

    Raises:
        InputError: If no log is left.
    """
    names = list(logs)
    tested = {role.model for role in estimated.roles if role.role == UNDER_TEST} if estimated else set()
    found: list[Actual] = []
    left_out: list[str] = []
    for log in chain(*sorted_headers(names, left_out, task)):
        name = short_name(log.location)
        if tested and log.eval.model not in tested:
            left_out.append(f"{name}: the model {log.eval.model} was not estimated; nothing of the log is counted.")
            continue
        try:
            samples = [one for one in read_eval_log_sample_summaries(log.location) if one.error is None]
        except Exception as error:  # whatever a damaged file does to its reader
            left_out.append(f"{name} was left out: its samples cannot be read: {type(error).__name__}: {error}.")
            continue
        asked = [one for one in samples if _asked(one, estimated)]
        if len(asked) < len(samples):
            left_out.append(f"{len(samples) - len(asked):,} of {len(samples):,} samples of {name}: not estimated.")
        for one in _roles(log, asked) if asked else ():
            if estimated is None or _estimated(one, estimated):
                found.append(one)
            else:
                left_out.append(f"{one.role} {one.model} of {name}: not estimated.")
    if not found:
        raise InputError("\n".join([f"--against: no log of {task} in: {', '.join(names)}", *left_out]))
    return ActualUse(_together(found), tuple(left_out))


def _asked(sample: EvalSampleSummary, estimated: RunEstimate | None) -> bool:
    """Whether a sample and its epoch were estimated."""
    if estimated is None or not estimated.ids:
        return True
    return str(sample.id) in estimated.ids and sample.epoch <= estimated.epochs


def _estimated(one: Actual, estimated: RunEstimate) -> bool:
    names = one.model.split(", ")
    return any(role.model in names and one.role in (role.role, BOTH) for role in estimated.roles)


def _together(found: list[Actual]) -> tuple[Actual, ...]:
    by_role: dict[tuple[str, str], list[Actual]] = {}
    for one in found:
        by_role.setdefault((one.role, one.model), []).append(one)
    return tuple(
        Actual(
            *key,
            sum(one.input_tokens for one in several),
            sum(one.output_tokens for one in several),
            sum(one.samples for one in several),
            None if None in (costs := [one.cost for one in several]) else math.fsum(cost or 0.0 for cost in costs),
        )
        for key, several in by_role.items()
    )


def _roles(log: EvalLog, samples: Sequence[EvalSampleSummary]) -> list[Actual]:
    used: dict[str, ModelUsage] = {}
    for sample in samples:
        for name, usage in sample.model_usage.items():
            used[name] = used.get(name, ModelUsage()) + usage
    graders = (log.eval.model_roles or {}).get(GRADER)
    judging = sum((sample.role_usage.get(GRADER, ModelUsage()) for sample in samples), ModelUsage())
    everything = sum(used.values(), ModelUsage())
    if graders is None:
        both = log.eval.task.rpartition("/")[2] == "urs"
        return [_actual(BOTH if both else UNDER_TEST, log.eval.model, everything, len(samples))]
    judges = [one.model for one in (graders if isinstance(graders, list) else [graders])]
    own = _less(everything, judging)
    parts = _judges(log, judges, used, own, judging)
    if log.eval.task.rpartition("/")[2] == "urs_crossval":
        cells = Counter(str((sample.metadata or {}).get("evaluator")) for sample in samples)
        return [_actual(GRADER, name, part, cells[name]) for name, part in parts.items() if cells[name]]
    return [
        _actual(UNDER_TEST, log.eval.model, own, len(samples)),
        *(_actual(GRADER, name, part, len(samples)) for name, part in parts.items()),
    ]


def _judges(
    log: EvalLog, judges: list[str], used: Mapping[str, ModelUsage], own: ModelUsage, together: ModelUsage
) -> dict[str, ModelUsage]:
    """Usage of each judge; of all in one where the log does not tell them apart."""
    if len(set(judges)) == len(judges):
        parts = {name: used.get(name, ModelUsage()) for name in judges}
        if log.eval.model in parts:
            parts[log.eval.model] = _less(parts[log.eval.model], own)
        known = sum(parts.values(), ModelUsage())
        if (known.input_tokens, known.output_tokens) == (together.input_tokens, together.output_tokens):
            return parts
    return {", ".join(judges): together}


def _actual(role: str, model: str, used: ModelUsage, samples: int) -> Actual:
    sent = used.input_tokens + (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
    return Actual(role, model, sent, used.output_tokens, samples, used.total_cost)


def _less(total: ModelUsage, part: ModelUsage) -> ModelUsage:
    costs = (total.total_cost, part.total_cost)
    return ModelUsage(
        input_tokens=total.input_tokens - part.input_tokens,
        output_tokens=total.output_tokens - part.output_tokens,
        input_tokens_cache_read=(total.input_tokens_cache_read or 0) - (part.input_tokens_cache_read or 0),
        input_tokens_cache_write=(total.input_tokens_cache_write or 0) - (part.input_tokens_cache_write or 0),
        total_cost=None if None in costs else (costs[0] or 0.0) - (costs[1] or 0.0),
    )


_OF_REFERENCE = Amount(0.5, 1.0, 2.0)
_JUDGEMENT = Amount(200, 450, 900)
_VERDICT = Amount(40, 150, 400)
_REASONING = "A model that reasons before it answers takes more than that."


@dataclass(frozen=True)
class Lengths:
    """Lengths in tokens.

    Attributes:
        answer: Model, language and tokens of the reference -> tokens of an answer.
        judgement: Judge and language -> tokens of a judge's reply.
        verdict: Tokens of a reply about a pair, for each verdict that is asked for.
        about_answers: Where the lengths of answers come from, a sentence each.
        about_judgements: Likewise.
        about_verdicts: Likewise.
    """

    answer: Callable[[str, str, Amount], Amount]
    judgement: Callable[[str, str], Amount]
    verdict: Amount
    about_answers: tuple[str, ...]
    about_judgements: tuple[str, ...]
    about_verdicts: tuple[str, ...]


def assumed_lengths(answer: int | None = None, judgement: int | None = None) -> Lengths:
    """Lengths without a log.

    Args:
        answer: Tokens of an answer; None for those of its reference, from half to twice as many.
        judgement: Tokens of a judge's reply; None for an assumption.
    """
    reply = _JUDGEMENT if judgement is None else Amount.exactly(judgement)
    verdict = _VERDICT if judgement is None else Amount.exactly(judgement)
    given = f"A judge's reply is taken to have {judgement} tokens{{}} (--judge-tokens)."
    return Lengths(
        answer=lambda _model, _language, reference: (
            reference * _OF_REFERENCE if answer is None else Amount.exactly(answer)
        ),
        judgement=lambda _judge, _language: reply,
        verdict=verdict,
        about_answers=(
            "An answer is assumed to be as long as its reference, from half to twice as long (--answer-tokens)."
            if answer is None
            else f"An answer is taken to have {answer} tokens (--answer-tokens).",
            *([_REASONING] if answer is None else []),
        ),
        about_judgements=(
            f"A judge's reply is assumed to have {_said(_JUDGEMENT)} tokens (--judge-tokens); one that reasons takes "
            "more."
            if judgement is None
            else given.format(""),
        ),
        about_verdicts=(
            f"A judge's reply is assumed to have {_said(_VERDICT)} tokens for each verdict (--judge-tokens); one that "
            "reasons takes more."
            if judgement is None
            else given.format(" for each verdict"),
        ),
    )


def _said(amount: Amount) -> str:
    return f"{amount.expected:g} ({amount.low:g} to {amount.high:g})"


_WIDE = ((0x2E80, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF), (0x20000, 0x3FFFF))
"""Chinese, Japanese and Korean characters and their punctuation."""
_PER_WIDE = Amount(0.6, 0.9, 1.4)
_PER_OTHER = Amount(0.2, 0.25, 0.3)
_PER_MESSAGE = 4
_RULE = (
    "Tokens are counted by rule, since no tokenizer was given (--tokenizer): {other.expected:g} for each character, "
    "{other.low:g} to {other.high:g}, and {wide.expected:g} for each Chinese, Japanese or Korean one, {wide.low:g} to "
    "{wide.high:g}. These rates are assumptions."
)


@dataclass(frozen=True)
class TokenCounter:
    """Counts tokens.

    Attributes:
        count: Text -> tokens.
        assumption: How they are counted, in a sentence.
    """

    count: Callable[[str], Amount]
    assumption: str

    def messages(self, *texts: str) -> Amount:
        """Tokens of messages, each with the few that mark it."""
        parts = [self.count(text) for text in texts if text]
        found = Amount.exactly(_PER_MESSAGE * len(parts))
        for part in parts:
            found += part
        return found


def count_by_rule(text: str) -> Amount:
    """Tokens of a text by its characters.

    Args:
        text: The text.

    Returns:
        A range, since tokenizers differ.
    """
    wide = sum(any(low <= ord(char) <= high for low, high in _WIDE) for char in text if char > "\u2e7f")
    return _PER_WIDE * float(wide) + _PER_OTHER * float(len(text) - wide)


def load_counter(tokenizer: Path | None) -> TokenCounter:
    """A counter of tokens.

    Args:
        tokenizer: `tokenizer.json` or the folder of a model that has one; None for the rule. Nothing is downloaded.

    Returns:
        The counter.

    Raises:
        InputError: If the tokenizer cannot be had.
    """
    if tokenizer is None:
        return TokenCounter(count_by_rule, _RULE.format(other=_PER_OTHER, wide=_PER_WIDE))
    file = tokenizer / "tokenizer.json" if tokenizer.is_dir() else tokenizer
    if not file.is_file():
        raise InputError(f"--tokenizer: no file '{file}'; allowed: a tokenizer.json, or a folder that has one")
    try:
        loaded = import_module("tokenizers").Tokenizer.from_file(str(file))
    except ImportError as error:
        raise InputError(f"--tokenizer needs the package tokenizers ({error}): pip install tokenizers") from error
    except Exception as error:  # the library raises plain Exception for whatever a file holds
        raise InputError(f"--tokenizer: cannot read '{file}': {error}") from error

    def count(text: str) -> Amount:
        return Amount.exactly(len(loaded.encode(text, add_special_tokens=False).ids))

    return TokenCounter(count, f"Tokens are counted with {file.name} of {file.parent.name}, for every model.")


_RECORDED = "Answers are those of the logs: none is generated, and their tokens are counted as they are."


def estimate_crossval(
    samples: Sequence[Sample],
    builder: PromptBuilder,
    judge_language: str | None,
    *,
    epochs: int,
    counter: TokenCounter,
    lengths: Lengths,
    prices: Prices,
) -> RunEstimate:
    """Estimate a run of `urs_crossval`: one judgement a case, evaluator, source of references and tested model.

    Args:
        samples: The samples that will run, each a judgement, with the recorded answer in its metadata.
        builder: Builds the judges' prompts.
        judge_language: Language of these; None for that of each case.
        epochs: How often each sample is run.
        counter: Counts tokens.
        lengths: How long judgements will be.
        prices: What tokens cost.

    Returns:
        The estimate, one entry an evaluator. Answers that are empty or missing are not judged.
    """
    # Evaluators are sent the same prompts, which are built and counted once.
    prompts: dict[tuple[str, ...], Amount] = {}
    sent: dict[str, list[Amount]] = {}
    received: dict[str, list[Amount]] = {}
    cells: dict[str, int] = {}
    for sample in samples:
        facts = sample.metadata or {}
        evaluator, answer = str(facts["evaluator"]), str(facts.get(ANSWER, ""))
        cells[evaluator] = cells.get(evaluator, 0) + 1
        sent.setdefault(evaluator, [])
        received.setdefault(evaluator, [])
        if is_blank(answer):
            continue
        cell = tuple(str(facts[key]) for key in ("case", "source", "model"))
        if cell not in prompts:
            prompts[cell] = _prompt(sample, answer, builder, judge_language, counter)
        sent[evaluator].append(prompts[cell])
        received[evaluator].append(lengths.judgement(evaluator, str(facts["language"])))
    again = ASKED_AGAIN * float(epochs)
    roles = [
        role_estimate(
            GRADER,
            name,
            cells[name] * epochs,
            (again * float(len(sent[name])), total(sent[name]) * again, total(received[name]) * again),
            prices,
        )
        for name in cells
    ]
    unasked = sum(cells.values()) - sum(map(len, sent.values()))
    notes = [f"Answers that are missing or empty, for which no judge is called: {unasked} of {len(samples)}."]
    about = (counter.assumption, _RECORDED, *lengths.about_judgements, ABOUT_ASKING, ABOUT_CACHES)
    return run_estimate("urs_crossval", samples, epochs, roles, (*about, *(notes if unasked else [])))


def _prompt(
    sample: Sample, answer: str, builder: PromptBuilder, judge_language: str | None, counter: TokenCounter
) -> Amount:
    facts = sample.metadata or {}
    prompt = builder.build(
        str(facts["intent"]),
        judge_language or str(facts["language"]),
        question=str(sample.input),
        reference=str(sample.target),
        answer=answer,
    )
    return counter.messages(prompt.instructions, prompt.case)


_SEPARATOR = ", "

JudgeTokensSample = tuple[str, int]
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


def _usage(log: str) -> dict[JudgeTokensSample, Mapping[str, ModelUsage]]:
    return {(str(one.id), one.epoch): one.model_usage for one in read_eval_log_sample_summaries(log)}


ByName = dict[str, dict[str, Amount]]
"""Model or judge -> language -> tokens."""


def measured_lengths(
    logs: Iterable[str], otherwise: Lengths, *, models: Sequence[str] = (), judges: Sequence[str] = ()
) -> Lengths:
    """Lengths as measured in logs of `urs`, by model and language.

    A model that is not in the logs counts as the mean of those that are, from the lowest to the highest of them; so
    does a judge. A judge of a panel has what the log counts for it, or an equal share where it counts the panel as a
    whole.

    Args:
        logs: Log files and directories.
        otherwise: Lengths for languages, or all there is, that the logs say nothing about.
        models: The models under test, for what is said about them.
        judges: The judges, likewise.

    Returns:
        Means with their 95% intervals as ranges.

    Raises:
        InputError: If no log can be used.
    """
    names = list(logs)
    found = read_answers(names)
    answers = _by_name(found.table, "base_model", "output_tokens")
    replies, shared = judge_replies(found.table)
    judgements = _by_name(replies, "judge", "tokens")
    if not answers and not judgements:
        raise InputError(f"--from: no usage of tokens in: {', '.join(names)}")
    pooled_answers, pooled_judgements = _pooled(answers), _pooled(judgements)

    def answer(model: str, language: str, reference: Amount) -> Amount:
        measured = answers.get(model, {}).get(language) or pooled_answers.get(language)
        return measured or otherwise.answer(model, language, reference)

    def judgement(judge: str, language: str) -> Amount:
        measured = judgements.get(judge, {}).get(language) or pooled_judgements.get(language)
        return measured or otherwise.judgement(judge, language)

    one_language = len({*pooled_answers, *pooled_judgements}) == 1
    left_out = [
        *(["The logs have answers in one language: lengths in others are assumed as without a log."] * one_language),
        *(f"Left out of --from: {sentence}" for sentence in found.left_out),
    ]
    shares = sorted(shared & set(judges)) if judges else sorted(shared)
    return Lengths(
        answer=answer,
        judgement=judgement,
        verdict=otherwise.verdict,
        about_answers=(*_about("Answers", models, answers, otherwise.about_answers), *left_out),
        about_judgements=(
            *_about("Replies", judges, judgements, otherwise.about_judgements),
            *(
                f"The log counts the panel of {name} as a whole: an equal share of its tokens is taken for each judge."
                for name in shares
            ),
        ),
        about_verdicts=otherwise.about_verdicts,
    )


def _by_name(table: pd.DataFrame, name: str, column: str) -> ByName:
    found: ByName = {}
    for (one, language), values in table.groupby([name, "language"])[column]:
        known = [float(value) for value in values if not math.isnan(value) and value > 0]
        if known:
            estimate = student_interval(known)
            low, high = (estimate.value if math.isnan(end) else end for end in (estimate.low, estimate.high))
            found.setdefault(str(one), {})[str(language)] = Amount(max(0.0, low), estimate.value, high)
    return found


def _pooled(measured: Mapping[str, Mapping[str, Amount]]) -> dict[str, Amount]:
    """By language the mean over models, from the lowest to the highest of them."""
    languages = sorted({language for lengths in measured.values() for language in lengths})
    found = {}
    for language in languages:
        parts = [lengths[language] for lengths in measured.values() if language in lengths]
        mean = math.fsum(part.expected for part in parts) / len(parts)
        found[language] = Amount(min(part.low for part in parts), mean, max(part.high for part in parts))
    return found


def _about(what: str, names: Sequence[str], measured: ByName, otherwise: tuple[str, ...]) -> list[str]:
    """Where the lengths of each model come from, a sentence each."""
    if not measured:
        return [f"{what}: the logs count no tokens of them.", *otherwise]
    known = [name for name in dict.fromkeys(names) if name in measured]
    unknown = [name for name in dict.fromkeys(names) if name not in measured]
    lines = [f"{what} of {name} are taken to be as long as measured: {_words(measured[name])}." for name in known]
    if unknown or not names:
        of = f" of {', '.join(unknown)}, which the logs do not have," if unknown else ""
        those, pooled = ", ".join(measured), _words(_pooled(measured))
        lines.append(f"{what}{of} are taken to be as long as those of {those}, pooled: {pooled}.")
    return lines


def _words(lengths: Mapping[str, Amount]) -> str:
    return "; ".join(f"{language} {one.expected:.0f} tokens" for language, one in sorted(lengths.items()))


_SELF_JUDGED = "No judge is named (--model-role grader=...): each model judges itself."


def estimate_urs(
    samples: Sequence[Sample],
    builder: PromptBuilder,
    judge_language: str | None,
    *,
    models: Sequence[str],
    graders: Sequence[str],
    epochs: int,
    counter: TokenCounter,
    lengths: Lengths,
    prices: Prices,
) -> RunEstimate:
    """Estimate a run of `urs`.

    Args:
        samples: The samples that will run, with the question as input, the reference as target.
        builder: Builds the judges' prompts.
        judge_language: Language of these; None for that of each case.
        models: The models under test, each of which has a run.
        graders: The judges; empty where a model judges itself.
        epochs: How often each sample is run.
        counter: Counts tokens.
        lengths: How long answers and judgements will be.
        prices: What tokens cost.

    Returns:
        The estimate. The judge's input is the real prompt with the question and its reference.
    """
    languages = [str((sample.metadata or {}).get("language", "")) for sample in samples]
    references = [counter.count(str(sample.target)) for sample in samples]
    asked = total(counter.messages(str(sample.input)) for sample in samples)
    prompts = total(_run_prompt(sample, builder, judge_language, counter) for sample in samples)
    runs, number = float(epochs), len(samples) * epochs
    again = ASKED_AGAIN * runs
    answering: list[RoleEstimate] = []
    judging: list[RoleEstimate] = []
    for model in models:
        answers = total(lengths.answer(model, *one) for one in zip(languages, references, strict=True))
        amounts = (Amount.exactly(float(number)), asked * runs, answers * runs)
        answering.append(role_estimate(UNDER_TEST, model, number, amounts, prices))
        # Each run has the panel judge its own answers.
        for judge in graders or (model,):
            replies = total(lengths.judgement(judge, language) for language in languages)
            amounts = (again * float(len(samples)), (prompts + answers) * again, replies * again)
            judging.append(role_estimate(GRADER, judge, number, amounts, prices))
    about = (*lengths.about_answers, *lengths.about_judgements, ABOUT_ASKING, ABOUT_CACHES)
    notes = () if graders else (_SELF_JUDGED,)
    return run_estimate("urs", samples, epochs, [*answering, *judging], (counter.assumption, *about, *notes))


def _run_prompt(sample: Sample, builder: PromptBuilder, judge_language: str | None, counter: TokenCounter) -> Amount:
    """Tokens of the judge's prompt without the answer."""
    facts = sample.metadata or {}
    language = judge_language or str(facts.get("language", ""))
    prompt = builder.build(
        str(facts["intent"]), language, question=str(sample.input), reference=str(sample.target), answer="-"
    )
    return counter.messages(prompt.instructions, prompt.case)


def estimate_pairs(
    task: str,
    samples: Sequence[Sample],
    *,
    protocol: str,
    orders: str,
    seed: int,
    models: Sequence[str],
    epochs: int,
    counter: TokenCounter,
    lengths: Lengths,
    prices: Prices,
) -> RunEstimate:
    """Estimate a run of `md_eval`, where the model under test judges pairs.

    Args:
        task: Name of the task.
        samples: The samples that will run.
        protocol: As for the task, here and below.
        orders: Which response is shown first.
        seed: Seed of the coin.
        models: The models under test.
        epochs: How often each sample is run.
        counter: Counts tokens.
        lengths: How long verdicts will be.
        prices: What tokens cost.
    """
    calls: list[tuple[tuple[str, ...], JudgePrompt]] = []
    for sample in samples:
        facts = dict(sample.metadata or {})
        for first in orders_of(orders, str(sample.id), seed):
            calls += [(names, prompt) for _, names, prompt in pair_calls(protocol, facts, first, True)]
    runs = float(epochs)
    sent = total(counter.messages(prompt.instructions, prompt.case) for _, prompt in calls) * runs
    received = total(lengths.verdict * float(len(names)) for names, _ in calls) * runs
    amounts = (Amount.exactly(len(calls) * runs), sent, received)
    roles = [role_estimate(UNDER_TEST, model, len(samples) * epochs, amounts, prices) for model in models]
    about = (counter.assumption, *lengths.about_verdicts, ABOUT_CACHES)
    return run_estimate(task, samples, epochs, roles, about)
