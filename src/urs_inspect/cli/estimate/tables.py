"""Prints an estimate, and beside it what the run took."""

from typing import TYPE_CHECKING

from rich.console import Console

from urs_inspect.cli.text_tables import print_text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from urs_inspect.reports.estimate import Actual, ActualUse, Amount, RunEstimate

_UNKNOWN = "not known"


def print_estimate(found: "RunEstimate", console: Console) -> None:
    """Print an estimate with all that was assumed."""
    from urs_inspect.texts import counted

    epochs = f", {found.epochs} epochs" if found.epochs > 1 else ""
    console.print(f"{found.task}: {counted(found.samples, 'sample')}{epochs}", highlight=False)
    rows = [
        (
            one.role,
            one.model,
            _shown(one.calls),
            _shown(one.input_tokens),
            _shown(one.output_tokens),
            _UNKNOWN if one.cost is None else _shown(one.cost, 2),
        )
        for one in found.roles
    ]
    _print_table("Expected, and from lowest to highest", "calls", rows, console)
    console.print(_cost(found), highlight=False, markup=False)
    for sentence in found.assumptions:
        console.print(f"- {sentence}", highlight=False, markup=False)


def print_actual(found: "RunEstimate", actual: "ActualUse", console: Console) -> None:
    """Print what runs took, as a share of what was expected of as many samples."""
    rows = []
    for one in sorted(actual.roles, key=lambda one: _place(found, one)):
        samples, sent, received = _expected(found, one)
        rows.append(
            (
                one.role,
                one.model,
                f"{one.samples:,} of {samples:,}" if samples else f"{one.samples:,}",
                _compared(one.input_tokens, sent),
                _compared(one.output_tokens, received),
                _UNKNOWN if one.cost is None else f"{one.cost:,.2f}",
            )
        )
    _print_table("What it took, and share of what was expected", "samples", rows, console)
    console.print("Shares are of what was expected for so many samples.", highlight=False)
    for sentence in actual.left_out:
        console.print(f"Left out: {sentence}", highlight=False, markup=False)


def _print_table(title: str, counted: str, rows: "Sequence[tuple[str, ...]]", console: Console) -> None:
    from urs_inspect.reports.sections import TextTable

    headings = ("role", "model", counted, "tokens sent", "tokens received", "US dollars")
    print_text_table(TextTable(headings, tuple(rows), 2), console, title)


def _cost(found: "RunEstimate") -> str:
    unpriced = ", ".join(found.unpriced)
    if found.cost is None:
        return f"No price is known of {unpriced}: give it with --prices."
    together = f"Together {_sentence(found.cost)} US dollars"
    if not unpriced:
        return f"{together}."
    return f"{together}, without {unpriced}, of which no price is known: give it with --prices."


def _place(found: "RunEstimate", one: "Actual") -> tuple[int, str]:
    """Where a model stands in the estimate; those that it does not name come last, by name."""
    names = one.model.split(", ")
    return next((n for n, role in enumerate(found.roles) if role.model in names), len(found.roles)), one.model


def _expected(found: "RunEstimate", one: "Actual") -> tuple[int, float, float]:
    """Samples of all runs of which a model would have a part, and what was expected of it for those that it had."""
    from urs_inspect.reports.estimate import BOTH

    names = one.model.split(", ")
    roles = [role for role in found.roles if one.role in (role.role, BOTH) and role.model in names]
    sent, received = (
        sum(getattr(role, key).expected / (role.samples * role.runs) for role in roles if role.samples) * one.samples
        for key in ("input_tokens", "output_tokens")
    )
    return max((role.samples * role.runs for role in roles), default=0), sent, received


def _compared(value: int, expected: float) -> str:
    return f"{value:,}" + (f" ({value / expected:.0%})" if expected else " (not estimated)")


def _sentence(amount: "Amount") -> str:
    expected, *bounds = _shown(amount, 2).split("\n")
    return f"{expected} ({' '.join(bounds)})" if bounds else expected


def _shown(amount: "Amount", digits: int = 0) -> str:
    if amount.low == amount.high:
        return f"{amount.expected:,.{digits}f}"
    return f"{amount.expected:,.{digits}f}\n{amount.low:,.{digits}f}\nto {amount.high:,.{digits}f}"
