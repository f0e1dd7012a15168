"""The report of what a run takes: the price first, then what was assumed and what runs took."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.estimating._actual_use import BOTH, Actual, ActualUse
from urs_inspect.estimating._estimate import (
    AGAIN,
    Assumptions,
    RunEstimate,
    Spread,
    SpreadSource,
)
from urs_inspect.estimating._lengths import (
    JUDGEMENT,
    PER_OTHER,
    PER_WIDE,
    VERDICT,
    WITHOUT_REFERENCE,
    Amount,
    Lengths,
    Measured,
)
from urs_inspect.reports.layout._tables import FirstScreen, Report, ReportKind, Section, Table

ESTIMATE = ReportKind("urs-inspect estimate", 1, "urs-inspect estimate", "estimate")
_UNKNOWN = "not known"


def estimate_report(found: RunEstimate, actual: ActualUse | None = None) -> Report:
    """The price and what is expected of each model, then ranges and all that was assumed, and what
    runs took.
    """
    epochs = f", {found.epochs} epochs" if found.epochs > 1 else ""
    what = f"{found.task}: {counted(found.samples, 'sample')}{epochs}"
    precision = _precision(found)
    screen = FirstScreen(
        _cost(found),
        left_out_sentences(found.assumptions),
        [f"{what}; expected numbers."],
        _expected_table(found, lambda amount, digits: f"{amount.expected:,.{digits}f}"),
        precision,
    )
    notes = (_cost(found), f"{what}.", *precision)
    ranges = (_expected_table(found, _lines),)
    sections = [
        Section("Expected, and from lowest to highest", notes, ranges),
        Section("What is assumed", list(assumption_sentences(found))),
    ]
    if actual is not None:
        sections.append(_actual_section(found, actual))
    return Report(ESTIMATE, "Estimate", sections, first=screen)


def _cost(found: RunEstimate) -> str:
    unpriced = ", ".join(found.unpriced)
    if found.cost is None:
        return f"No price for {unpriced} (--prices FILE)."
    together = f"Together {_in_sentence(found.cost)} US dollars"
    if not unpriced:
        return f"{together}."
    return f"{together}, without {unpriced}, for which there is no price (--prices FILE)."


def _precision(found: RunEstimate) -> list[str]:
    """How well the run will know a mean and a difference, where that can be said."""
    if not found.margin:
        return []
    most = "at most " if found.margin.low == found.margin.high else ""
    seen = "no difference of two models would be significant"
    if found.difference:
        seen = (
            "smallest difference of two models that would be seen"
            f" {most}{_in_sentence(found.difference)} (80% power)"
        )
    return [f"Precision: a mean ± {most}{_in_sentence(found.margin)} (95% interval); {seen}."]


def _expected_table(found: RunEstimate, show: Callable[[Amount, int], str]) -> Table:
    """What each model takes."""
    rows = []
    for one in found.roles:
        amounts = (one.calls, one.input_tokens, one.output_tokens)
        cost = _UNKNOWN if one.cost is None else show(one.cost, 2)
        rows.append((one.role, one.model, *(show(amount, 0) for amount in amounts), cost))
    return _table(rows, "calls")


def _table(rows: Sequence[tuple[str, ...]], number: str) -> Table:
    numbers = [number, "tokens sent", "tokens received", "US dollars"]
    data = pd.DataFrame(rows, columns=["role", "model", *numbers])
    return Table(data, dict.fromkeys(numbers, str))


def _actual_section(found: RunEstimate, actual: ActualUse) -> Section:
    """What runs took, as a share of what was expected of as many samples."""
    rows = []
    for one in sorted(actual.roles, key=lambda one: _place(found, one)):
        samples, sent, received = _expected(found, one)
        of_all = f" of {samples:,}" if samples else ""
        row = (
            one.role,
            one.model,
            f"{one.samples:,}{of_all}",
            _compared(one.input_tokens, sent),
            _compared(one.output_tokens, received),
            _UNKNOWN if one.cost is None else f"{one.cost:,.2f}",
        )
        rows.append(row)
    left_out = [f"Left out: {sentence}" for sentence in actual.left_out]
    notes = ("Shares are of what was expected for so many samples.", *left_out)
    return Section(
        "What it took, and share of what was expected", notes, (_table(rows, "samples"),)
    )


def _place(found: RunEstimate, one: Actual) -> tuple[int, str]:
    """Where a model stands in the estimate; those that it does not name come last, by name."""
    names = one.model.split(", ")
    places = [place for place, role in enumerate(found.roles) if role.model in names]
    return min(places, default=len(found.roles)), one.model


def _expected(found: RunEstimate, one: Actual) -> tuple[int, float, float]:
    """Samples of all runs of which a model would have a part, and what was expected of it for those
    that it had.
    """
    names = one.model.split(", ")
    most = 0
    sent = 0.0
    received = 0.0
    for role in found.roles:
        samples = role.samples * role.runs
        if samples and role.model in names and one.role in (role.role, BOTH):
            most = max(most, samples)
            sent += role.input_tokens.expected / samples * one.samples
            received += role.output_tokens.expected / samples * one.samples
    return most, sent, received


def _compared(value: int, expected: float) -> str:
    share = f"{value / expected:.0%}" if expected else "not estimated"
    return f"{value:,} ({share})"


def _in_sentence(amount: Amount) -> str:
    expected, *bounds = _lines(amount, 2).split("\n")
    if bounds:
        return f"{expected} ({' '.join(bounds)})"
    return expected


def _lines(amount: Amount, digits: int) -> str:
    """An amount with its range, in three lines; in one where it is known."""
    if amount.low == amount.high:
        return f"{amount.expected:,.{digits}f}"
    return f"{amount.expected:,.{digits}f}\n{amount.low:,.{digits}f}\nto {amount.high:,.{digits}f}"


# --- assumptions ---


def _range(amount: Amount) -> str:
    return f"{amount.expected:g} ({amount.low:g} to {amount.high:g})"


_BY_RULE = (
    "Tokens are counted by rule, since no tokenizer was given (--from tokenizer.json):"
    f" {PER_OTHER.expected:g} for each character, {PER_OTHER.low:g} to {PER_OTHER.high:g}, and"
    f" {PER_WIDE.expected:g} for each Chinese, Japanese or Korean one, {PER_WIDE.low:g} to"
    f" {PER_WIDE.high:g}. These rates are assumptions."
)
_ASSUMED_ANSWERS = (
    "An answer is assumed to be as long as its reference, from half to twice as long, and without a"
    f" reference to have {_range(WITHOUT_REFERENCE)} tokens (--from answer=TOKENS).",
    "A model that reasons before it answers takes more than that.",
)
_NOT_GENERATED = (
    "Answers are those of the data or the logs: none is generated, and their tokens are counted as"
    " they are."
)
_AGAIN = (
    f"Judges are called again for {AGAIN.expected - 1:.0%} of the answers, 0% to"
    f" {AGAIN.high - 1:.0%}; this is an assumption, as is that no call fails."
)
_CACHES = (
    "Caches of prompts, which make a judge's static part cheaper, are not counted; nor are"
    " discounts for batches."
)
_JUDGES_ITSELF = "No judge is named (--model-role grader=...): each model judges itself."
_BOUND = (
    "The precision is a bound: the standard deviation is at most 0.5 of right and wrong verdicts,"
    " and 0.71 of their differences unless two models err on opposite pairs more often than by"
    " chance."
)
_PUBLISHED = (
    " The assumption: GPT-4's scores of 80 Vicuna and 80 MT-Bench questions, 1 to 5 stretched to 1"
    " to 10."
)


def assumption_sentences(found: RunEstimate) -> Iterator[str]:
    """Everything that an estimate assumes, a sentence each."""
    assumptions = found.assumptions
    replies = assumptions.replies
    if assumptions.tokenizer is None:
        yield _BY_RULE
    else:
        yield f"Tokens are counted with {assumptions.tokenizer}, for every model."
    if "answer" in replies:
        yield from about_answers(assumptions.lengths)
        yield from left_out_sentences(assumptions)
    elif replies == {"judgement"}:
        yield _NOT_GENERATED
    if "judgement" in replies:
        yield from about_judgements(assumptions.lengths)
        yield _AGAIN
    if "verdict" in replies:
        yield _reply(assumptions.lengths, VERDICT, " for each verdict")
    yield _CACHES
    if assumptions.judges_itself:
        yield _JUDGES_ITSELF
    if assumptions.samples_run < found.samples:
        yield (
            f"{assumptions.samples_run:,} of {found.samples:,} samples, an even selection by"
            " language and length, were run with a model that only counts, and scaled up to the"
            " length of all."
        )
    if assumptions.spread:
        yield _about_spread(assumptions.spread)


def left_out_sentences(assumptions: Assumptions) -> list[str]:
    """Which logs say nothing about lengths of answers, where these are taken from logs."""
    lengths = assumptions.lengths
    if (
        "answer" not in assumptions.replies
        or lengths.given_answer is not None
        or lengths.logged is None
    ):
        return []
    return [f"Left out of --from: {sentence}" for sentence in lengths.logged.left_out]


def about_answers(sources: Lengths) -> list[str]:
    """Where the lengths of answers come from."""
    if sources.given_answer is not None:
        return [f"An answer is taken to have {sources.given_answer} tokens (--from answer=TOKENS)."]
    logged = sources.logged
    if logged is None:
        return list(_ASSUMED_ANSWERS)
    sentences = _about_measured("Answers", logged.answers, _ASSUMED_ANSWERS)
    if len({*logged.answers.pooled, *logged.replies.pooled}) == 1:
        sentences.append(
            "The logs have answers in one language: lengths in others are assumed as without a log."
        )
    return sentences


def about_judgements(sources: Lengths) -> list[str]:
    """Where the lengths of judges' replies come from."""
    without_logs = [_reply(sources, JUDGEMENT)]
    logged = sources.logged
    if sources.given_reply is not None or logged is None:
        return without_logs
    sentences = _about_measured("Replies", logged.replies, without_logs)
    for name in logged.shared:
        sentences.append(
            f"The log counts the panel of {name} as a whole: an equal share of its tokens is taken"
            " for each judge."
        )
    return sentences


def _reply(sources: Lengths, assumed: Amount, each: str = "") -> str:
    """How long a judge's reply is without a log."""
    way = "(--from reply=TOKENS)"
    if sources.given_reply is not None:
        return f"A judge's reply is taken to have {sources.given_reply} tokens{each} {way}."
    return (
        f"A judge's reply is assumed to have {_range(assumed)} tokens{each} {way}; one that reasons"
        " takes more."
    )


def _about_measured(what: str, measured: Measured, otherwise: Sequence[str]) -> list[str]:
    """Where the lengths of each model or judge come from."""
    by_name = measured.by_name
    if not by_name:
        return [f"{what}: the logs count no tokens of them.", *otherwise]
    sentences = []
    unknown = []
    for name in measured.asked:
        if name in by_name:
            tokens = _by_language(by_name[name])
            sentences.append(f"{what} of {name} are taken to be as long as measured: {tokens}.")
        else:
            unknown.append(name)
    if unknown or not measured.asked:
        subject = what
        if unknown:
            subject += f" of {', '.join(unknown)}, which the logs do not have,"
        those = ", ".join(by_name)
        pooled = _by_language(measured.pooled)
        sentences.append(
            f"{subject} are taken to be as long as those of {those}, pooled: {pooled}."
        )
    return sentences


def _by_language(lengths: Mapping[str, Amount]) -> str:
    return "; ".join(
        f"{language} {amount.expected:.0f} tokens" for language, amount in sorted(lengths.items())
    )


def _about_spread(spread: Spread) -> str:
    """Where the standard deviations come from."""
    if spread.scores_from == "bound":
        return _BOUND
    logged = (
        f"measured on {spread.questions:,} questions, {counted(spread.epochs, 'epoch')} averaged:"
        f" {', '.join(spread.models)}"
    )

    def shown(amount: Amount, source: SpreadSource) -> str:
        origin = "assumed"
        if source == "logs":
            origin = logged
        return f"{amount.expected:.2f}, {amount.low:.2f} to {amount.high:.2f} ({origin})"

    about = (
        "Standard deviations between questions, every answer scored: of final scores"
        f" {shown(spread.scores, spread.scores_from)}; of differences of two models"
        f" {shown(spread.differences, spread.differences_from)}."
    )
    if "published" in (spread.scores_from, spread.differences_from):
        about += _PUBLISHED
    return about
