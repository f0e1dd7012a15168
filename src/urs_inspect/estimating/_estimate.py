"""Tokens, cost and precision of a run before it starts: the task is run with models that only
count.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from inspect_ai import Task, eval
from inspect_ai.dataset import Dataset, MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelCost,
    ModelOutput,
    get_model,
    get_model_info,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from urs_inspect._arguments import ALL, names
from urs_inspect._util import InputError, choices
from urs_inspect.estimating._lengths import Amount, Lengths, TokenCounter, is_wide, total
from urs_inspect.judging._ask import TINY_REQUEST
from urs_inspect.providers._simulated_judgement import LABEL
from urs_inspect.providers._simulation import SimulationAPI, simulate_sum
from urs_inspect.reports.numbers._answers import read_answers
from urs_inspect.reports.numbers._costs import MILLION
from urs_inspect.reports.numbers._scores import score_table
from urs_inspect.solvers._role_models import chosen_evaluators
from urs_inspect.stats._bootstrap import LEVEL, Floats, fewest_clusters
from urs_inspect.stats._paired import all_pairs, clustered_means, difference_column
from urs_inspect.stats._power import smallest_difference

UNDER_TEST = "model"
GRADER = "grader"
_ESTIMATE = "urs_estimate"
_MOST = 200
"""Samples that are run; of more, an even selection by language and length is run and scaled up."""
AGAIN = Amount(1.0, 1.01, 1.05)
"""How often a judge is called per answer: replies that cannot be read are asked for once more."""
_ANSWER = re.compile(r"estimatedanswer(\d{6})x")
_WIDE_SHARE = 0.1


@dataclass(frozen=True)
class RoleEstimate:
    """What one model takes in one role: calls, tokens sent and received, US dollars (None if the
    price is not known).

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


SpreadSource = Literal["logs", "published", "bound"]
"""Measured in logs, assumed as in published scores, or the most that there can be."""


@dataclass(frozen=True)
class Spread:
    """Standard deviations between questions."""

    scores: Amount  # of a model's scores
    differences: Amount  # of the differences of two models
    scores_from: SpreadSource
    differences_from: SpreadSource
    questions: int = 0  # of the logs, as are epochs and models; 0 and none without logs
    epochs: int = 0
    models: tuple[str, ...] = ()


ReplyKind = Literal["answer", "known answer", "judgement", "verdict"]
"""What a call returns; the tokens of a known answer are counted, not assumed."""


@dataclass(frozen=True)
class Assumptions:
    """What an estimate rests on."""

    tokenizer: str | None  # as in `TokenCounter`
    lengths: Lengths
    replies: frozenset[ReplyKind]  # the kinds of all calls
    judges_itself: bool  # whether each model does, since no judge is named
    samples_run: int  # by models that only count; the rest is scaled up
    spread: Spread | None = None  # None where precision is not estimated


@dataclass(frozen=True)
class RunEstimate:
    """What a run takes: one entry per model and role, the cost of all with a known price, and what
    was assumed.
    """

    task: str
    samples: int  # epochs not counted
    epochs: int
    roles: tuple[RoleEstimate, ...]
    cost: Amount | None  # US dollars; None if no price is known
    unpriced: tuple[str, ...]
    assumptions: Assumptions
    ids: tuple[str, ...] = ()  # of the samples; empty if the task makes them as it runs
    margin: Amount | None = (
        None  # half the width of the 95% interval of a model's mean score; None without such a mean
    )
    difference: Amount | None = (
        None  # smallest one of two models that is seen with 80% power, Holm over all pairs
    )


@dataclass(frozen=True)
class _Written:
    """An answer that a model would write: who, in which language, and the tokens of its reference
    or of itself.
    """

    author: str
    language: str
    reference: Amount | None
    exact: Amount | None = None


@dataclass(frozen=True)
class _Call:
    """A call: tokens sent besides answers, the answers sent, and what is received: an answer or a
    judge's reply.
    """

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
        without_answers = [_ANSWER.sub("", text) for text in texts]
        sent = self.counter.messages(*without_answers)
        about = self._question(prompt)
        if reply.startswith((LABEL, "{")):  # a judge's reply, or a generated instruction
            verdicts = reply.count('"winner"')
            call = _Call(role, model, sent, answers, None, about.language, verdicts, about.weight)
            self.calls.append(call)
            return reply
        is_sum = simulate_sum(texts[-1], "strong") is not None
        exact = None
        if is_sum:
            exact = self.counter.count(reply)
        written = _Written(model, about.language, about.reference, exact)
        call = _Call(role, model, sent, answers, written, about.language, 0, about.weight)
        self.calls.append(call)
        self.answers.append(written)
        if is_sum:
            return reply
        return f"estimatedanswer{len(self.answers) - 1:06}x"

    def _question(self, prompt: str) -> _Question:
        """The question that a prompt is, or else the longest one that it contains."""
        if prompt in self.questions:
            return self.questions[prompt]
        for question, known in self.questions.items():
            if question and question in prompt:
                return replace(known, reference=None)
        is_chinese = sum(map(is_wide, prompt)) > _WIDE_SHARE * len(prompt)
        language = "en"
        if is_chinese:
            language = "zh"
        weight = 1.0
        if self.questions:
            weights = [known.weight for known in self.questions.values()]
            weight = math.fsum(weights) / len(weights)
        return _Question(language, None, weight)


class _CountingAPI(ModelAPI):
    """Calls nobody: counts what is sent, and replies as a simulated judge, or with a word that
    stands for an answer.
    """

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
        self._ledger = ledger
        self._role = counted_role
        self._simulation = SimulationAPI("judge")

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        output = await self._simulation.generate(input, tools, tool_choice, config)
        texts = [message.text for message in input]
        if texts[-1] == TINY_REQUEST:  # of the check before a run
            return output
        content = self._ledger.record(self._role, self.model_name, texts, output.completion)
        counting = ModelOutput.from_content(model=f"{_ESTIMATE}/{self.model_name}", content=content)
        counting.usage = (
            output.usage
        )  # without usage inspect-ai would download a tokenizer to count
        return counting


@modelapi(name=_ESTIMATE)
def urs_estimate() -> type[ModelAPI]:
    """Provider of the models that only count."""
    return _CountingAPI


@dataclass(frozen=True)
class Basis:
    """By what tokens of texts are counted, how long texts are that nobody has written, and what
    tokens cost.
    """

    counter: TokenCounter
    lengths: Lengths
    prices: Mapping[str, ModelCost]
    """Model -> price, from a file. They come before those that the harness knows."""


def estimate_run(
    task: str,
    make: Callable[[Mapping[str, Any]], Task],
    arguments: Mapping[str, Any],
    *,
    models: Sequence[str],
    roles: Mapping[str, Sequence[str]],
    limit: int | None,
    epochs: int,
    basis: Basis,
) -> RunEstimate:
    """Estimate a run by running it with models that only count."""
    if task == "urs_crossval":
        evaluators = _evaluators(arguments.get("evaluators"), roles)
        arguments = {**arguments, "evaluators": evaluators}
    # In a thread no command is running, so that the task takes the names of models as they are.
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(_run, task, make, arguments, roles, limit, basis.counter).result()
    ledger = run.ledger
    samples = run.samples
    called = {call.role for call in ledger.calls}
    _check_roles(task, models, roles, called)
    # Contestants and judges that are not under test judge once per model under test.
    calls: dict[tuple[str, str], list[tuple[str, _Call]]] = defaultdict(list)
    for model in models or ("",):
        for call in ledger.calls:
            name = call.model
            if call.model == _TESTED:
                name = model
            calls[call.role, name].append((model, call))
    estimates = []
    for role, name in sorted(calls, key=lambda called: called[0] != UNDER_TEST):
        several = calls[role, name]
        parts = [_tokens(call, name, model, epochs, basis.lengths) for model, call in several]
        made, sent, received = map(total, zip(*parts, strict=True))
        run_samples = run.by_evaluator.get(name, samples) * epochs
        runs = len({model for model, _ in several})
        cost = _cost(basis.prices, name, sent, received)
        estimates.append(RoleEstimate(role, name, run_samples, runs, made, sent, received, cost))
    assumptions = Assumptions(
        tokenizer=basis.counter.tokenizer,
        lengths=basis.lengths,
        replies=frozenset(map(_kind, ledger.calls)),
        judges_itself=GRADER in called and GRADER not in roles,
        samples_run=run.samples_run,
    )
    priced = [role.cost for role in estimates if role.cost is not None]
    unpriced = [role.model for role in estimates if role.cost is None]
    return RunEstimate(
        task=task,
        samples=samples,
        epochs=epochs,
        roles=tuple(estimates),
        cost=total(priced) if priced else None,
        unpriced=tuple(dict.fromkeys(unpriced)),
        assumptions=assumptions,
        ids=run.ids,
    )


_TESTED = "model-under-test"


@dataclass(frozen=True)
class _Run:
    """A task that was run with models that only count."""

    ledger: _Ledger
    samples: int  # that the task has
    samples_run: int
    ids: tuple[str, ...]  # of the samples
    by_evaluator: Mapping[str, int]  # evaluator of a grid -> its samples


def _run(
    task_name: str,
    make: Callable[[Mapping[str, Any]], Task],
    arguments: Mapping[str, Any],
    roles: Mapping[str, Sequence[str]],
    limit: int | None,
    counter: TokenCounter,
) -> _Run:
    """Run the task, or an even selection of its samples."""
    with TemporaryDirectory() as folder:
        if "output" in arguments or task_name == "evolve":
            # What models that only count have answered is not kept.
            arguments = {**arguments, "output": str(Path(folder, "output.jsonl"))}
        task = make(arguments)
        samples = []
        if isinstance(task.dataset, Dataset):
            samples = list(task.dataset)[:limit]
        chosen = _chosen(samples, counter)
        if samples:
            task.dataset = MemoryDataset([sample for sample, _ in chosen], name=task.dataset.name)
        chosen.sort(key=lambda pair: -len(_text(pair[0])))
        ledger = _Ledger(counter, _questions(chosen, counter))
        log = _counted_log(task, ledger, roles, None if samples else limit, folder)
    if log.status != "success":
        raise InputError(log.error.message if log.error else "the task cannot be run")
    number = len(samples)
    if not samples and log.results:
        number = log.results.total_samples
    # Evaluators of a grid have their own names.
    ids = []
    for sample in samples:
        if sample.id not in (None, ""):
            ids.append(str(sample.id).replace(f"{_ESTIMATE}/", ""))
    evaluators = [str(_fact(sample, "evaluator")) for sample in samples]
    counts = Counter(name.removeprefix(f"{_ESTIMATE}/") for name in evaluators)
    return _Run(ledger, number, len(chosen) or number, tuple(ids), counts)


def _questions(
    chosen: Sequence[tuple[Sample, float]], counter: TokenCounter
) -> dict[str, _Question]:
    """Text of a sample -> what its answers and judgements are counted by."""
    questions = {}
    for sample, weight in chosen:
        target = str(sample.target)
        reference = None
        if target:
            reference = counter.count(target)
        questions[_text(sample)] = _Question(_language(sample), reference, weight)
    return questions


def _counted_log(
    task: Task,
    ledger: _Ledger,
    roles: Mapping[str, Sequence[str]],
    limit: int | None,
    folder: str,
) -> EvalLog:
    """The log of a run with models that only write their calls to a ledger."""

    def model(name: str, role: str) -> Model:
        return get_model(f"{_ESTIMATE}/{name}", memoize=False, ledger=ledger, counted_role=role)

    counted_roles: dict[str, Model | list[Model]] = {}
    for role, models in roles.items():
        counted_roles[role] = [model(name, role) for name in models]
    if GRADER not in roles:  # a model without a judge judges itself
        counted_roles[GRADER] = model(_TESTED, GRADER)
    [log] = eval(
        task,
        model=model(_TESTED, UNDER_TEST),
        model_roles=counted_roles,
        limit=limit,
        epochs=1,
        log_dir=folder,
        log_samples=False,
        log_realtime=False,
        display="none",
        log_level="error",
        score_display=False,
    )
    return log


def _chosen(samples: Sequence[Sample], counter: TokenCounter) -> list[tuple[Sample, float]]:
    """The samples to run, each with the number of samples that it stands for.

    All judges of an answer go together.
    """
    groups: dict[object, list[Sample]] = defaultdict(list)
    for place, sample in enumerate(samples):
        cell = tuple(_fact(sample, key) for key in ("case", "source", "model"))
        groups[cell if _fact(sample, "evaluator") else place].append(sample)
    largest = max(map(len, groups.values()), default=1)
    count = max(1, _MOST // largest)
    if len(groups) <= count:
        return [(sample, 1.0) for sample in samples]

    def by_language_and_length(group: Sequence[Sample]) -> tuple[str, int]:
        return _language(group[0]), len(_text(group[0]))

    ordered = sorted(groups.values(), key=by_language_and_length)
    sizes = _sizes([members[0] for members in ordered], counter)
    weight = len(ordered) / count
    places = [int((number + 0.5) * len(ordered) / count) for number in range(count)]
    taken = sizes[places]
    missing = sizes.sum(axis=0) - weight * taken.sum(axis=0)
    # By language, number and tokens have their true totals (generalised regression: Deville and
    # Sarndal, 1992).
    coefficients, *_ = np.linalg.lstsq(weight * taken.T @ taken, missing, rcond=None)
    weights = weight * (1 + taken @ coefficients)
    chosen: list[tuple[Sample, float]] = []
    for place, weight_of_group in zip(places, weights, strict=True):
        chosen += [(sample, float(weight_of_group)) for sample in ordered[place]]
    return chosen


def _sizes(samples: Sequence[Sample], counter: TokenCounter) -> Floats:
    """Of each sample 1, the tokens of its text and those of its reference, in the columns of its
    language.
    """
    languages = sorted({_language(sample) for sample in samples})
    sizes = np.zeros((len(samples), 3 * len(languages)))
    for row, sample in zip(sizes, samples, strict=True):
        first = 3 * languages.index(_language(sample))
        row[first] = 1.0
        row[first + 1] = counter.count(_text(sample)).expected
        row[first + 2] = counter.count(str(sample.target)).expected
    return sizes


def _text(sample: Sample) -> str:
    if isinstance(sample.input, str):
        return sample.input
    return "\n\n".join(message.text for message in sample.input)


def _fact(sample: Sample, name: str) -> object:
    return (sample.metadata or {}).get(name, "")


def _language(sample: Sample) -> str:
    return str(_fact(sample, "language"))


def _evaluators(given: Any, roles: Mapping[str, Sequence[str]]) -> list[str]:
    """Names of the models that count for the evaluators of a grid, which names its judges in the
    data.
    """
    graders = list(roles.get(GRADER, ()))
    if not graders:
        raise InputError(
            "--model-role: name the evaluators: --model-role 'grader=[provider/a, ...]'"
        )
    chosen = chosen_evaluators(names(given or ALL, "evaluators"), graders)
    return [f"{_ESTIMATE}/{name}" for name in chosen]


def _check_roles(
    task: str, models: Sequence[str], roles: Mapping[str, Sequence[str]], called: set[str]
) -> None:
    if not called:
        raise InputError(
            f"{task}: with these arguments no model is called, so that it costs nothing"
        )
    if UNDER_TEST in called and not models:
        raise InputError("--model: name the model under test, or several separated by commas")
    if GRADER in called and GRADER not in roles and not models:
        raise InputError(f"--model-role: {task} needs a judge: --model-role grader=<model>")
    if UNDER_TEST not in called and models and (GRADER not in called or GRADER in roles):
        raise InputError(f"--model: {task} calls no model under test; leave it out, or say none")
    unused = [role for role in roles if role not in called]
    if unused:
        raise InputError(
            f"--model-role: {task} calls no model in the role {choices(unused)}; called:"
            f" {choices(sorted(called))}"
        )


def _tokens(
    call: _Call, name: str, model: str, epochs: int, lengths: Lengths
) -> tuple[Amount, Amount, Amount]:
    """How often a model is called for a call that was counted, and all tokens that it is sent and
    that it returns.
    """
    times = Amount.exactly(1.0)
    if call.reply is not None:
        reply = _length(call.reply, model, lengths)
    elif call.verdicts:
        reply = lengths.verdict * float(call.verdicts)
    else:
        reply = lengths.judgement(name, call.language)
        times = AGAIN
    often = times * (call.weight * epochs)
    answers = [_length(answer, model, lengths) for answer in call.answers]
    sent = total([call.sent, *answers])
    return often, sent * often, reply * often


def _length(answer: _Written, model: str, lengths: Lengths) -> Amount:
    """Tokens of an answer."""
    if answer.exact is not None:
        return answer.exact
    author = answer.author
    if answer.author == _TESTED:
        author = model
    return lengths.answer(author, answer.language, answer.reference)


def _cost(
    prices: Mapping[str, ModelCost], model: str, sent: Amount, received: Amount
) -> Amount | None:
    """US dollars of a model's tokens; None if its price is not known."""
    price = price_of(model, prices)
    if price is None:
        return None
    return total([sent * price.input, received * price.output]) * (1 / MILLION)


def price_of(model: str, own: Mapping[str, ModelCost]) -> ModelCost | None:
    """US dollars for a million tokens, from a file or else from the harness; None if not known."""
    if model in own:
        return own[model]
    try:
        info = get_model_info(model)
    except Exception:  # a model in no table is looked up through its provider, which may need a key
        return None
    if info is None:
        return None
    return info.cost


def _kind(call: _Call) -> ReplyKind:
    if call.verdicts:
        return "verdict"
    if call.reply is None:
        return "judgement"
    if call.reply.exact is None:
        return "answer"
    return "known answer"


_SPREAD = Amount(1.6, 2.4, 3.0)
_PAIRED = Amount(0.9, 1.05, 1.3)  # of scores; of differences, as a multiple of that


def with_precision(run: RunEstimate, logs: Sequence[str]) -> RunEstimate:
    """Add what the samples can show.

    The spread of final scores comes from logs of `urs`, or is assumed.
    """
    from scipy.special import stdtrit

    models = [role.model for role in run.roles if role.role == UNDER_TEST]
    n = run.samples
    is_judged = len(models) < len(run.roles)
    if n < 2:
        return run
    if run.task == "md_eval":
        right_or_wrong = Amount.exactly(0.5)
        of_differences = Amount.exactly(math.sqrt(0.5))
        spread = Spread(right_or_wrong, of_differences, "bound", "bound")
    elif run.task == "urs" and is_judged:
        spread = _spread(logs, models)
    else:
        return run
    tests = max(1, len(all_pairs(len(models))))
    half_width = float(stdtrit(n - 1, 0.975)) / math.sqrt(n)
    deviations = smallest_difference(n**-0.5, n, tests=tests)
    difference = None
    if not math.isnan(deviations):
        difference = spread.differences * deviations
    return replace(
        run,
        margin=spread.scores * half_width,
        difference=difference,
        assumptions=replace(run.assumptions, spread=spread),
    )


def _spread(logs: Sequence[str], models: Sequence[str]) -> Spread:
    """As measured in the logs, or as assumed where they do not tell."""
    if not logs:
        return Spread(_SPREAD, _SPREAD * _PAIRED, "published", "published")
    table = read_answers(logs).table
    of_models = table[table["base_model"].isin(models)]
    if not of_models.empty:
        table = of_models
    compared = sorted(set(table["model"]))
    finals = score_table(table, compared).finals
    scores = _deviation(finals)
    differences = _deviation(difference_column(finals, all_pairs(len(compared))).values)
    scores_or_assumed = scores or _SPREAD
    return Spread(
        scores=scores_or_assumed,
        differences=differences or scores_or_assumed * _PAIRED,
        scores_from="logs" if scores else "published",
        differences_from="logs" if differences else "published",
        questions=len(finals),
        epochs=int(table["epoch"].max()),
        models=tuple(compared),
    )


def _deviation(columns: Floats) -> Amount | None:
    """Root mean square of the standard deviations of columns.

    The range covers the 95% interval of each.
    """
    from scipy.special import chdtri

    means = clustered_means(columns)
    used = (means.n >= fewest_clusters(LEVEL)) & (means.errors > 0)
    if not used.any():
        return None
    deviations = (means.errors * np.sqrt(means.n))[used]
    freedom = means.n[used] - 1
    high = deviations * np.sqrt(freedom / chdtri(freedom, 0.5 + LEVEL / 2))
    low = deviations * np.sqrt(freedom / chdtri(freedom, 0.5 - LEVEL / 2))
    mean_square = np.mean(deviations**2)
    return Amount(float(low.min()), float(np.sqrt(mean_square)), float(high.max()))
