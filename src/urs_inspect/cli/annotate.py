"""`urs-inspect annotate`: the page in the browser where people compare answers."""

import contextlib
import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urs_inspect._util import InputError, counted

if TYPE_CHECKING:
    from urs_inspect.annotation import Agreement, VoteReading
    from urs_inspect.annotation.campaign import Campaign
    from urs_inspect.annotation.queue import BallotQueue
    from urs_inspect.discrepancy.ballots import Ballot

_NONE = "-"


@click.command()
@click.argument("ballots", type=click.Path(path_type=Path))
@click.option("--annotator", "annotators", multiple=True, help="Who votes; may be repeated. Without it, the page asks.")
@click.option(
    "--votes", default=Path("votes"), show_default=True, type=click.Path(path_type=Path), help="Directory of the votes."
)
@click.option("--port", default=7580, show_default=True, help="Port of the page; 0 for any free one.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen at. All but loopback addresses demand a token: that in URS_INSPECT_TOKEN, or a new one.",
)
@click.option(
    "--language", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="Language of the page."
)
@click.option(
    "--order",
    type=click.Choice(["given", "own"]),
    default="given",
    show_default=True,
    help="Everybody gets the pairs in the given order, or each in a random order of their own.",
)
@click.option("--open/--no-open", "open_browser", default=False, help="Whether to open the page in a browser.")
@click.option("--report", is_flag=True, help="Print how far the voters agree, and end.")
def annotate(
    ballots: Path,
    annotators: tuple[str, ...],
    votes: Path,
    port: int,
    host: str,
    language: str,
    order: str,
    open_browser: bool,
    report: bool,
) -> None:
    """Vote on the pairs of answers in BALLOTS: a log of mad, or a .jsonl file with one ballot per line.

    If mad ran with an allocation other than uniform, each vote decides which pair comes next.
    """
    from urs_inspect.annotation import load_ballots
    from urs_inspect.annotation.campaign import Campaign, load_plan

    console = Console(soft_wrap=True, highlight=False)
    found, plan = load_ballots(ballots), load_plan(ballots)
    if plan is not None and order == "own":
        raise InputError(f"order: 'own' is not possible, since allocation={plan.allocation} of the log gives the order")
    if report:
        print_report(found, votes, console)
    campaign = Campaign(found, votes, () if report else annotators, shuffled=order == "own", plan=plan)
    try:
        if campaign.queue is not None:
            _print_voting(campaign.queue, console)
            campaign.queue.on_change = partial(_print_voting, console=console)
        if report:
            return
        _print_files(campaign, console)
        _serve(campaign, host, port, language, open_browser, console)
    finally:
        campaign.close()


def _print_voting(queue: "BallotQueue", console: Console) -> None:
    """Print how far the voting is, and what the judge of the prior weighs."""
    state = queue.state()
    sure = f"{state.sure} of {state.neighbours} neighbours in the ranking in a sure order"
    told = [f"{state.done} of at most {counted(state.budget, 'ballot')} voted on", sure]
    if not math.isnan(state.weight):
        told.append(f"weight of the judge {state.weight:.2f}")
    if state.stopped:
        told.append({"budget": "the budget is spent", "separated": "no vote is needed any more",
                     "exhausted": "no ballot is left"}[state.stopped])  # fmt: skip
    console.print("; ".join(told), markup=False)


def print_report(ballots: "tuple[Ballot, ...]", votes: Path, console: Console) -> None:
    """Print how far the voters agree about the ballots."""
    from urs_inspect.annotation.campaign import report

    if not votes.is_dir():
        raise InputError(f"no directory '{votes}' with votes")
    agreement, reading = report(ballots, votes)
    print_agreement(agreement, console)
    print_uncounted(reading, {ballot.id for ballot in ballots}, console)


def print_agreement(agreement: "Agreement", console: Console) -> None:
    """Print agreement, and one row per voter."""
    if not agreement.votes:
        console.print("No votes yet.")
        return
    share = agreement.most_chosen
    console.print(
        f"[bold]{agreement.votes} votes[/bold] on {agreement.ballots} pairs, {agreement.compared} of them with two "
        f"choices or more; {agreement.shared} without a single most chosen option, which count as ties."
    )
    interval = "" if math.isnan(share.low) else f" (95% interval {max(0, share.low):.1%} to {min(1, share.high):.1%})"
    console.print(
        f"Votes for the most chosen option: {_number(share.value, '.1%')}{interval}; chance is not taken out."
    )
    console.print(
        f"Krippendorff's alpha: {_number(agreement.alpha, '.2f')}; "
        f"with a, tie, b as places on a line: {_number(agreement.ordered_alpha, '.2f')}."
    )
    table = Table("voter")
    for heading in ("votes", "left", "tie", "right", "cannot tell", "left share", "p", "with others", "median seconds"):
        table.add_column(heading, justify="right")
    for person in agreement.annotators:
        table.add_row(
            escape(person.annotator),
            *map(str, (person.votes, person.left, person.ties, person.right, person.cannot_tell)),
            _number(person.left_share, ".0%"),
            _number(person.left_p, ".2f"),
            _number(person.with_others, ".0%"),
            _number(person.seconds, ".0f"),
        )
    console.print(table)


def print_uncounted(reading: "VoteReading", ballots: "set[str]", console: Console) -> None:
    """Print what is in the votes files and does not count."""
    _, others = reading.about(ballots)
    if others:
        console.print(f"{len(others)} votes are about other ballots; they stay in their files and do not count here.")
    if reading.replaced or reading.undone:
        console.print(f"{reading.replaced} votes were replaced later, {reading.undone} taken back.")
    for error in reading.errors:
        console.print(f"[yellow]does not count:[/yellow] {escape(error)}")


def _print_files(campaign: "Campaign", console: Console) -> None:
    for session in campaign.sessions:
        if session.store.repaired:
            console.print(f"[yellow]{escape(session.store.repaired)}[/yellow]")
        for fault in session.store.errors:
            console.print(f"[yellow]does not count:[/yellow] {escape(fault)}")
        status = f"{session.done} of {len(campaign.ballots)} done"
        if session.elsewhere:
            status += f"; {session.elsewhere} votes in the file are about other ballots and stay there"
        console.print(f"{escape(str(session.store.path))}: {status}")


def _serve(campaign: "Campaign", host: str, port: int, language: str, open_browser: bool, console: Console) -> None:
    from urs_inspect.annotation.access import Guard, choose_token
    from urs_inspect.annotation.server import create_app, listen, serve

    token = choose_token(host)
    with listen(host, port) as listener:
        port = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{port}/" + (f"?token={quote(token)}" if token else "")
        app = create_app(campaign, language=language, guard=Guard(host, token, port))
        with contextlib.suppress(KeyboardInterrupt):  # which the server raises again once it has stopped
            console.print("Vote at ", address, "  (Ctrl-C ends; every vote is saved at once)", sep="", markup=False)
            if token:
                console.print("Whoever has this address can read the pairs and vote. It is not encrypted on its way.")
                if host in {"0.0.0.0", "::"}:  # noqa: S104
                    console.print(f"From another machine, put the name of this one in place of {escape(shown)}.")
            if open_browser:
                click.launch(address)
            serve(app, listener)
    for session in campaign.sessions:
        console.print(f"{escape(session.annotator)}: {session.done} of {len(campaign.ballots)} done")


def _number(value: float, form: str) -> str:
    return _NONE if math.isnan(value) else format(value, form)
