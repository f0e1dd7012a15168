"""Tokens and cost of a run: before it starts, by running the task with a provider that only counts, and afterwards."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import yaml
from inspect_ai import Task, eval
from inspect_ai.dataset import Dataset, MemoryDataset, Sample
from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log_sample_summaries
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelCost,
    ModelOutput,
    ModelUsage,
    get_model,
    get_model_info,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from pydantic import TypeAdapter, ValidationError

from urs_inspect._util import InputError, choices, read_yaml
from urs_inspect.judging import TINY_REQUEST
from urs_inspect.logs.files import short_name, sorted_headers
from urs_inspect.providers.simulated_judgement import LABEL
from urs_inspect.providers.simulation import SimulationAPI, simulate_sum
from urs_inspect.reports.intent.answers import Answers, read_answers
from urs_inspect.stats import student_interval

UNDER_TEST, GRADER = "model", "grader"
_ESTIMATE = "urs_estimate"
_MOST = 200
"""Samples that are run; of more, an even selection by language and length is run and scaled up."""


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
        for part, value in price.model_dump().items():
            if not 0 <= value < math.inf:
                raise InputError(f"--prices: {file}: {model} / {part}: must be a number of at least 0, is {value}")
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


_OF_REFERENCE = Amount(0.5, 1.0, 2.0)
_WITHOUT_REFERENCE = Amount(100, 300, 900)
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

    answer: Callable[[str, str, Amount | None], Amount]
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
            Amount.exactly(answer)
            if answer is not None
            else _WITHOUT_REFERENCE
            if reference is None
            else reference * _OF_REFERENCE
        ),
        judgement=lambda _judge, _language: reply,
        verdict=verdict,
        about_answers=(
            "An answer is assumed to be as long as its reference, from half to twice as long, and without a reference "
            f"to have {_said(_WITHOUT_REFERENCE)} tokens (--answer-tokens)."
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
    wide = sum(map(_is_wide, text))
    return _PER_WIDE * float(wide) + _PER_OTHER * float(len(text) - wide)


def _is_wide(char: str) -> bool:
    return char > "\u2e7f" and any(low <= ord(char) <= high for low, high in _WIDE)


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


_AGAIN = Amount(1.0, 1.01, 1.05)
"""How often a judge is called per answer: replies that cannot be read are asked for once more."""
_ABOUT_AGAIN = (
    f"Judges are called again for {_AGAIN.expected - 1:.0%} of the answers, 0% to {_AGAIN.high - 1:.0%}; "
    "this is an assumption, as is that no call fails."
)
_ABOUT_CACHES = (
    "Caches of prompts, which make a judge's static part cheaper, are not counted; nor are discounts for batches."
)
_SELF_JUDGED = "No judge is named (--model-role grader=...): each model judges itself."
_ANSWER = re.compile(r"estimatedanswer(\d{6})x")
_WIDE_SHARE = 0.1


@dataclass(frozen=True)
class RoleEstimate:
    """What one model takes in one role: calls, tokens sent and received, US dollars (None if the price is not known).

    `samples` are those of one run, epochs included.
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
    """What a run takes: one entry per model and role, the cost of all with a known price, and what was assumed."""

    task: str
    samples: int  # epochs not counted
    epochs: int
    roles: tuple[RoleEstimate, ...]
    cost: Amount | None  # US dollars; None if no price is known
    unpriced: tuple[str, ...]
    assumptions: tuple[str, ...]
    ids: tuple[str, ...] = ()  # of the samples; empty if the task makes them as it runs


@dataclass(frozen=True)
class _Written:
    """An answer that a model would write: who, in which language, and the tokens of its reference or of itself."""

    author: str
    language: str
    reference: Amount | None
    exact: Amount | None = None


@dataclass(frozen=True)
class _Call:
    """A call: tokens sent besides answers, the answers sent, and what is received: an answer or a judge's reply."""

    role: str
    model: str
    sent: Amount
    answers: tuple[_Written, ...]
    reply: _Written | None
    language: str
    verdicts: int
    weight: float


@dataclass(frozen=True)
class _Question:
    """A question: its language, the tokens of its reference, and how many samples it stands for."""

    language: str
    reference: Amount | None
    weight: float


@dataclass
class _Ledger:
    """All calls of a run, and what is known of the questions asked, the longest first."""

    counter: TokenCounter
    questions: Mapping[str, _Question]
    calls: list[_Call] = field(default_factory=list)
    answers: list[_Written] = field(default_factory=list)

    def record(self, role: str, model: str, texts: Sequence[str], reply: str) -> str:
        """Count a call with a simulated reply; returns what stands for the reply in the run."""
        prompt = "\n\n".join(texts)
        answers = tuple(self.answers[int(number)] for number in _ANSWER.findall(prompt))
        sent = self.counter.messages(*(_ANSWER.sub("", text) for text in texts))
        about = self._question(prompt)
        if reply.startswith((LABEL, "{")):  # a judge's reply, or a generated instruction
            verdicts = reply.count('"winner"')
            self.calls.append(_Call(role, model, sent, answers, None, about.language, verdicts, about.weight))
            return reply
        exact = self.counter.count(reply) if simulate_sum(texts[-1], "strong") is not None else None
        written = _Written(model, about.language, about.reference, exact)
        self.calls.append(_Call(role, model, sent, answers, written, about.language, 0, about.weight))
        self.answers.append(written)
        return reply if exact is not None else f"estimatedanswer{len(self.answers) - 1:06}x"

    def _question(self, prompt: str) -> _Question:
        """The question that a prompt is, or else the longest one that it contains."""
        if (known := self.questions.get(prompt)) is not None:
            return known
        for question, known in self.questions.items():
            if question and question in prompt:
                return replace(known, reference=None)
        wide = sum(map(_is_wide, prompt)) > _WIDE_SHARE * len(prompt)
        weights = [known.weight for known in self.questions.values()]
        return _Question("zh" if wide else "en", None, math.fsum(weights) / len(weights) if weights else 1.0)


class _CountingAPI(ModelAPI):
    """Calls nobody: counts what is sent, and replies as a simulated judge, or with a word that stands for an answer."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - the signature of inspect-ai
        *,
        ledger: _Ledger,
        counted_role: str,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self._ledger, self._role = ledger, counted_role
        self._simulation = SimulationAPI("judge")

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        output = await self._simulation.generate(input, tools, tool_choice, config)
        texts = [message.text for message in input]
        if texts[-1] == TINY_REQUEST:  # of the check before a run
            return output
        content = self._ledger.record(self._role, self.model_name, texts, output.completion)
        found = ModelOutput.from_content(model=f"{_ESTIMATE}/{self.model_name}", content=content)
        found.usage = output.usage  # without usage inspect-ai would download a tokenizer to count
        return found


@modelapi(name=_ESTIMATE)
def urs_estimate() -> type[ModelAPI]:
    """Provider of the models that only count."""
    return _CountingAPI


def estimate_run(
    task: str,
    make: Callable[[Mapping[str, Any]], Task],
    arguments: Mapping[str, Any],
    *,
    models: Sequence[str],
    roles: Mapping[str, Sequence[str]],
    limit: int | None,
    epochs: int,
    counter: TokenCounter,
    lengths: Lengths,
    prices: Prices,
) -> RunEstimate:
    """Estimate a run by running it with models that only count.

    Args:
        task: Name of the task.
        make: Makes the task of its arguments.
        arguments: The arguments.
        models: The models under test, each with a run of its own; empty if the task calls none.
        roles: Models by role, such as `grader`.
        limit: Most samples.
        epochs: How often each sample is run.
        counter: Counts tokens.
        lengths: How long answers and judges' replies are taken to be.
        prices: What tokens cost.

    Raises:
        InputError: If the task cannot be made or run, calls no model, or calls none in a role that is given.
    """
    if task == "urs_crossval":
        arguments = {**arguments, "evaluators": _evaluators(arguments.get("evaluators"), roles)}
    # In a thread no command is running, so that the task takes the names of models as they are.
    with ThreadPoolExecutor(1) as pool:
        ledger, samples, run, ids, cells = pool.submit(_run, make, arguments, models, roles, limit, counter).result()
    called = {call.role for call in ledger.calls}
    _check_roles(task, models, roles, called)
    found: dict[tuple[str, str], RoleEstimate] = {}
    for model in models or ("",):
        groups: dict[tuple[str, str], list[_Call]] = defaultdict(list)
        for call in ledger.calls:
            groups[call.role, model if call.model == _TESTED else call.model].append(call)
        for (role, name), calls in sorted(groups.items(), key=lambda group: group[0][0] != UNDER_TEST):
            one = _role_estimate(role, name, calls, model, cells.get(name, samples) * epochs, epochs, lengths, prices)
            known = found.get((role, name))
            # Contestants and judges that are not under test judge once per model under test.
            found[role, name] = one if known is None else _sum_of(known, one)
    merged = tuple(sorted(found.values(), key=lambda one: one.role != UNDER_TEST))
    priced = [one.cost for one in merged if one.cost is not None]
    return RunEstimate(
        task,
        samples,
        epochs,
        merged,
        total(priced) if priced else None,
        tuple(dict.fromkeys(one.model for one in merged if one.cost is None)),
        (counter.assumption, *_assumptions(ledger, lengths, roles, samples, run)),
        ids,
    )


_TESTED = "model-under-test"


def _run(
    make: Callable[[Mapping[str, Any]], Task],
    arguments: Mapping[str, Any],
    models: Sequence[str],
    roles: Mapping[str, Sequence[str]],
    limit: int | None,
    counter: TokenCounter,
) -> tuple[_Ledger, int, int, tuple[str, ...], Mapping[str, int]]:
    """Run the task; returns the calls, how many samples it has and were run, their ids, and how many each judge has."""
    task = make(arguments)
    samples = list(task.dataset)[:limit] if isinstance(task.dataset, Dataset) else []
    chosen = _chosen(samples, counter)
    if samples:
        task.dataset = MemoryDataset([sample for sample, _ in chosen], name=task.dataset.name)
    chosen.sort(key=lambda pair: -len(_text(pair[0])))
    ledger = _Ledger(counter, {_text(sample): _known(sample, weight, counter) for sample, weight in chosen})

    def model(name: str, role: str) -> Model:
        return get_model(f"{_ESTIMATE}/{name}", memoize=False, ledger=ledger, counted_role=role)

    with TemporaryDirectory() as folder:
        [log] = eval(
            task,
            model=model(_TESTED, UNDER_TEST),
            # A model without a judge judges itself.
            model_roles={role: [model(name, role) for name in names] for role, names in roles.items()}
            | ({} if GRADER in roles else {GRADER: model(_TESTED, GRADER)}),
            limit=None if samples else limit,
            epochs=1,
            log_dir=folder,
            log_samples=False,
            display="none",
            log_level="error",
            score_display=False,
        )
    if log.status != "success":
        raise InputError(log.error.message if log.error else "the task cannot be run")
    number = len(samples) or (log.results.total_samples if log.results else 0)
    ids = tuple(str(sample.id).replace(f"{_ESTIMATE}/", "") for sample in samples if sample.id is not None)
    cells = Counter(
        str(found).removeprefix(f"{_ESTIMATE}/") for s in samples if (found := (s.metadata or {}).get("evaluator"))
    )
    return ledger, number, len(chosen) or number, ids, cells


def _chosen(samples: Sequence[Sample], counter: TokenCounter) -> list[tuple[Sample, float]]:
    """The samples to run, each with the number of samples that it stands for; all judges of an answer go together.

    The weights are calibrated: by language, the number of samples and the tokens of questions and references have their
    true totals (the generalised regression estimator of Deville and Sarndal, 1992).
    """
    groups: dict[object, list[Sample]] = defaultdict(list)
    for place, sample in enumerate(samples):
        facts = sample.metadata or {}
        cell = tuple(facts.get(key) for key in ("case", "source", "model"))
        groups[cell if "evaluator" in facts else place].append(sample)
    count = max(1, _MOST // max(map(len, groups.values()), default=1))
    if len(groups) <= count:
        return [(sample, 1.0) for sample in samples]
    ordered = sorted(groups.values(), key=lambda group: (_language(group[0]), len(_text(group[0]))))
    languages = sorted({_language(sample) for sample in samples})
    sizes = np.zeros((len(ordered), 3 * len(languages)))
    for row, group in zip(sizes, ordered, strict=True):
        place = 3 * languages.index(_language(group[0]))
        texts = (_text(group[0]), str(group[0].target))
        row[place : place + 3] = (1.0, *(counter.count(text).expected for text in texts))
    places = [int((number + 0.5) * len(ordered) / count) for number in range(count)]
    weight, taken = len(ordered) / count, sizes[places]
    missing = sizes.sum(axis=0) - weight * taken.sum(axis=0)
    weights = weight * (1 + taken @ np.linalg.lstsq(weight * taken.T @ taken, missing, rcond=None)[0])
    return [(sample, float(w)) for place, w in zip(places, weights, strict=True) for sample in ordered[place]]


def _text(sample: Sample) -> str:
    return sample.input if isinstance(sample.input, str) else "\n\n".join(message.text for message in sample.input)


def _language(sample: Sample) -> str:
    return str((sample.metadata or {}).get("language", ""))


def _known(sample: Sample, weight: float, counter: TokenCounter) -> _Question:
    reference = str(sample.target)
    return _Question(_language(sample), counter.count(reference) if reference else None, weight)


def _evaluators(given: Any, roles: Mapping[str, Sequence[str]]) -> list[str]:
    """Names of the models that count for the evaluators of a grid, which names its judges in the data."""
    graders = list(roles.get(GRADER, ()))
    if not graders:
        raise InputError("--model-role: name the evaluators: --model-role 'grader=[provider/a, ...]'")
    if twice := sorted({name for name in graders if graders.count(name) > 1}):
        raise InputError(f"--model-role: {choices(twice)} is there twice; each evaluator needs a name of its own")
    chosen = graders if given in (None, "all") else given.split(",") if isinstance(given, str) else list(given)
    if unknown := sorted({name.strip() for name in map(str, chosen)} - set(graders)):
        raise InputError(f"-T evaluators: {choices(unknown)} has no role grader; allowed: {choices(graders)}")
    return [f"{_ESTIMATE}/{str(name).strip()}" for name in chosen]


def _check_roles(task: str, models: Sequence[str], roles: Mapping[str, Sequence[str]], called: set[str]) -> None:
    if not called:
        raise InputError(f"{task}: with these arguments no model is called, so that it costs nothing")
    if UNDER_TEST in called and not models:
        raise InputError("--model: name the model under test, or several separated by commas")
    if GRADER in called and GRADER not in roles and not models:
        raise InputError(f"--model-role: {task} needs a judge: --model-role grader=<model>")
    if UNDER_TEST not in called and models and (GRADER not in called or GRADER in roles):
        raise InputError(f"--model: {task} calls no model under test; leave it out, or say none")
    if unused := [role for role in roles if role not in called]:
        raise InputError(
            f"--model-role: {task} calls no model in the role {choices(unused)}; called: {choices(called)}"
        )


def _role_estimate(
    role: str,
    name: str,
    calls: Sequence[_Call],
    model: str,
    samples: int,
    epochs: int,
    lengths: Lengths,
    prices: Prices,
) -> RoleEstimate:
    """Calls, tokens and cost of a model in one role; `model` is the model under test."""
    asked, sent, received = [], [], []
    for call in calls:
        answers = total(_length(answer, model, lengths) for answer in call.answers)
        again = _AGAIN if call.reply is None and not call.verdicts else Amount.exactly(1.0)
        reply = (
            _length(call.reply, model, lengths)
            if call.reply is not None
            else lengths.verdict * float(call.verdicts)
            if call.verdicts
            else lengths.judgement(name, call.language)
        )
        often = again * (call.weight * epochs)
        asked.append(often)
        sent.append((call.sent + answers) * often)
        received.append(reply * often)
    made, tokens_in, tokens_out = map(total, (asked, sent, received))
    return RoleEstimate(role, name, samples, 1, made, tokens_in, tokens_out, prices.cost(name, tokens_in, tokens_out))


def _length(answer: _Written, model: str, lengths: Lengths) -> Amount:
    """Tokens of an answer."""
    if answer.exact is not None:
        return answer.exact
    return lengths.answer(model if answer.author == _TESTED else answer.author, answer.language, answer.reference)


def _sum_of(first: RoleEstimate, second: RoleEstimate) -> RoleEstimate:
    costs = (first.cost, second.cost)
    return replace(
        first,
        runs=first.runs + second.runs,
        calls=first.calls + second.calls,
        input_tokens=first.input_tokens + second.input_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
        cost=None if costs[0] is None or costs[1] is None else costs[0] + costs[1],
    )


def _assumptions(
    ledger: _Ledger, lengths: Lengths, roles: Mapping[str, Sequence[str]], samples: int, run: int
) -> Iterable[str]:
    """Everything that was assumed, one sentence each."""
    calls = ledger.calls
    if any(call.reply is not None and call.reply.exact is None for call in calls):
        yield from lengths.about_answers
    elif not any(call.verdicts or call.reply for call in calls):
        yield "Answers are those of the data or the logs: none is generated, and their tokens are counted as they are."
    if any(call.reply is None and not call.verdicts for call in calls):
        yield from lengths.about_judgements
        yield _ABOUT_AGAIN
    if any(call.verdicts for call in calls):
        yield from lengths.about_verdicts
    yield _ABOUT_CACHES
    if GRADER not in roles and any(call.role == GRADER for call in calls):
        yield _SELF_JUDGED
    if run < samples:
        yield (
            f"{run:,} of {samples:,} samples, an even selection by language and length, were run with a model that "
            "only counts, and scaled up to the length of all."
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

    def answer(model: str, language: str, reference: Amount | None) -> Amount:
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
            low, high = (estimate.mean if math.isnan(end) else end for end in (estimate.low, estimate.high))
            found.setdefault(str(one), {})[str(language)] = Amount(max(0.0, low), estimate.mean, high)
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
