"""`urs-inspect annotate`: the page in the browser where people compare answers, or rate them."""

import contextlib
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, urlsplit

import click
from click.core import ParameterSource
from rich.markup import escape

from urs_inspect._satellites import at, offered
from urs_inspect._util import InputError, counted
from urs_inspect.cli._people import check_language, number, print_people, print_uncounted, say

if TYPE_CHECKING:
    from urs_inspect.annotation._campaign import Campaign, People
    from urs_inspect.annotation._pages import Page
    from urs_inspect.annotation._queue import BallotQueue, VotingPlan

_VOTERS = {
    "voter": "annotator",
    "votes": "votes",
    "left": "left",
    "tie": "ties",
    "right": "right",
    "cannot tell": "cannot_tell",
    "left share": "left_share:.0%",
    "p": "left_p:.2f",
    "with others": "with_others:.0%",
    "median seconds": "seconds:.0f",
}
"""Heading -> attribute of a person, and its format."""

CAMPAIGNS = "campaigns of annotate"
"""What a satellite offers campaigns under: a name -> the address of a class of `CampaignKind`s."""


class CampaignKind(Protocol):
    """What people do on the page with some kind of sources."""

    summary: str
    """What people do, for the first sentence of the help."""
    help: str
    """A paragraph of the help."""
    options: Mapping[str, Mapping[str, Any]]
    """Name of an option that only this kind has -> its settings, as `click.option` takes them."""
    has_options_for: str
    has_sources_with: str
    """What a message says of this kind, where an option is for another one."""

    def takes(self, sources: tuple[str, ...]) -> bool:
        """Whether the sources are of this kind."""

    def open(
        self,
        sources: tuple[str, ...],
        annotators: tuple[str, ...],
        directory: Path | None,
        language: str | None,
        report: bool,
        options: Mapping[str, Any],
    ) -> "Page[Any] | None":
        """The page of the campaign to serve; None where the command only reports.

        Args:
            sources: What the command is given.
            annotators: Names of the people who may take part; none for everybody.
            directory: Where decisions are kept, if it is named.
            language: That of the only questions that count, if one is named.
            report: Whether to print how far people agree, and end.
            options: Values of the options of this kind.
        """


class _Voting:
    """People say which of two answers is better."""

    summary = (
        "Vote on the pairs of answers in SOURCE, a log of mad or a .jsonl file with one pair per"
        " line"
    )
    help = (
        "Votes: if mad ran with an allocation other than uniform, each vote decides which pair"
        " comes next. --order is for votes."
    )
    options: Mapping[str, Mapping[str, Any]] = {
        "order": {
            "type": click.Choice(["given", "own"]),
            "default": "given",
            "show_default": True,
            "help": (
                "Everybody gets the pairs in the given order, or each in a random order of their"
                " own."
            ),
        }
    }
    has_options_for = "votes on pairs"
    has_sources_with = "pairs to vote on"

    def takes(self, sources: tuple[str, ...]) -> bool:
        """All sources that no other kind takes; their errors are reported when they are read."""
        return True

    def open(
        self,
        sources: tuple[str, ...],
        annotators: tuple[str, ...],
        directory: Path | None,
        language: str | None,
        report: bool,
        options: Mapping[str, Any],
    ) -> "Page[Any] | None":
        """The page for the votes on the pairs of a log or file."""
        from urs_inspect.annotation import load_ballots
        from urs_inspect.annotation._campaign import Campaign, load_plan
        from urs_inspect.annotation._vote_page import VotePage

        if len(sources) > 1:
            raise InputError(
                f"votes are about one log or file of comparisons, got {len(sources)}; only logs of"
                " urs may be several"
            )
        shuffled = options["order"] == "own"
        ballots = load_ballots(Path(sources[0]))
        plan = load_plan(Path(sources[0]))
        if plan is not None:
            _check_plan(plan, shuffled, language)
        if language is not None:
            check_language(language, (ballot.language for ballot in ballots))
            ballots = tuple(ballot for ballot in ballots if ballot.language == language)
        votes = directory or Path("votes")
        voting = Campaign(ballots, votes, annotators, shuffled=shuffled, plan=plan)
        if report:
            _print_votes(voting)
        if plan is not None and plan.prior is not None:
            models = {ballot.model_a for ballot in ballots} | {ballot.model_b for ballot in ballots}
            for sentence in plan.prior.remarks(sorted(models)):
                say(f"Prior: {sentence}", markup=False)
        if voting.queue is not None:
            _print_voting(voting.queue)
            voting.queue.on_change = _print_voting
        if report:
            return None
        return VotePage(voting)


_KINDS: tuple[CampaignKind, ...] = (
    *(at(address)() for address in offered(CAMPAIGNS).values()),
    _Voting(),
)
"""The first that takes the sources counts."""


def _help() -> str:
    """What people do in each kind of campaign, voting first."""
    kinds = _KINDS[::-1]
    first = "; or ".join(kind.summary for kind in kinds)
    return "\n\n".join([f"{first}.", *(kind.help for kind in kinds)])


def _options_of_campaigns(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of all campaigns that satellites offer."""
    *others, _ = _KINDS
    for kind in reversed(others):
        for name, settings in reversed(list(kind.options.items())):
            command = click.option(f"--{name}", **settings)(command)
    return command


@click.command(help=_help())
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option(
    "--annotator",
    "annotators",
    multiple=True,
    help="Who votes; may be repeated. Without it, the page asks.",
)
@click.option(
    "--votes",
    type=click.Path(path_type=Path),
    help=(
        "Directory of the votes, or of the ratings, which `agreement --human` reads.  [default:"
        " votes, or ratings]"
    ),
)
@click.option(
    "--address",
    default="127.0.0.1:7580",
    show_default=True,
    metavar="HOST:PORT",
    help=(
        "Where the page is served; port 0 for any free one. All but loopback addresses demand a"
        " token: that in URS_INSPECT_TOKEN, or a new one."
    ),
)
@click.option("--order", **_Voting.options["order"])
@click.option(
    "--language",
    metavar="CODE",
    help=(
        "Only questions in this language, such as en or zh, for people who read no other. The page"
        " is in Chinese if all its questions are, else in English."
    ),
)
@click.option("--report", is_flag=True, help="Print how far the people agree, and end.")
@_options_of_campaigns
def annotate(
    sources: tuple[str, ...],
    annotators: tuple[str, ...],
    votes: Path | None,
    address: str,
    language: str | None,
    report: bool,
    **options: Any,
) -> None:
    """Serve the page of a campaign, or report on it; `_help` is the help."""
    chosen = next(kind for kind in _KINDS if kind.takes(sources))
    _check_options(chosen)
    host, port = _host_and_port(address)
    people = () if report else annotators
    own = {name: options[name] for name in chosen.options}
    page = chosen.open(sources, people, votes, language, report, own)
    if page is not None:
        with contextlib.closing(page.campaign):
            _print_files(page.campaign)
            _serve(page, host, port)


def _check_options(chosen: CampaignKind) -> None:
    """Refuse options of other kinds of campaigns."""
    context = click.get_current_context()
    for kind in _KINDS:
        if kind is chosen:
            continue
        for name in kind.options:
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise InputError(
                    f"--{name} is for {kind.has_options_for}, and SOURCE has"
                    f" {chosen.has_sources_with}"
                )


def _host_and_port(address: str) -> tuple[str, int]:
    """The parts of HOST:PORT; the brackets of an address such as [::1] are left out."""
    try:
        parts = urlsplit(f"//{address}")
        host = parts.hostname
        port = parts.port
    except ValueError:  # a port that is no number, or too high
        host = None
    if host is None or port is None:
        raise InputError(
            f"address: must be HOST:PORT, such as 127.0.0.1:7580 or [::1]:7580, got '{address}'"
        )
    return host, port


def _check_plan(plan: "VotingPlan", shuffled: bool, language: str | None) -> None:
    """Refuse options about what an allocation decides: the order, and which pairs are shown."""
    if shuffled:
        raise InputError(
            f"order: 'own' is not possible, since allocation={plan.allocation} of the log gives the"
            " order"
        )
    if language is not None:
        raise InputError(
            f"language: not with allocation={plan.allocation} of the log, which chooses pairs"
        )


def _print_voting(queue: "BallotQueue") -> None:
    """Print how far the voting is, and what the judge of the prior weighs."""
    state = queue.state()
    sure = f"{state.sure} of {state.neighbours} neighbours in the ranking in a sure order"
    told = [f"{state.done} of at most {counted(state.budget, 'comparison')} voted on", sure]
    if not math.isnan(state.weight):
        told.append(f"weight of the judge {state.weight:.2f}")
    if state.stopped:
        told.append({"budget": "the budget is spent", "separated": "no vote is needed any more",
                     "exhausted": "no comparison is left"}[state.stopped])  # fmt: skip
    say("; ".join(told), markup=False)


def _print_votes(campaign: "Campaign") -> None:
    """Print how far the voters agree about the ballots."""
    if not campaign.directory.is_dir():
        raise InputError(f"no directory '{campaign.directory}' with votes")
    found, reading = campaign.report()
    if found.votes:
        share = found.most_chosen
        say(
            f"[bold]{counted(found.votes, 'vote')}[/bold] on {counted(found.ballots, 'pair')},"
            f" {found.compared} of them"
            f" with two choices or more; {found.shared} without a single most chosen option, which"
            " count as ties."
        )
        bounds = f" (95% interval {max(0, share.low):.1%} to {min(1, share.high):.1%})"
        interval = bounds
        if math.isnan(share.low):
            interval = ""
        say(
            f"Votes for the most chosen option: {number(share.value, '.1%')}{interval}; chance is"
            " not taken out."
        )
        say(
            f"Krippendorff's alpha: {number(found.alpha, '.2f')}; "
            f"with a, tie, b as places on a line: {number(found.ordered_alpha, '.2f')}."
        )
        print_people(_VOTERS, found.annotators)
    print_uncounted("votes", "comparisons", found.votes, len(reading.votes), reading)


def _print_files(campaign: "People[Any]") -> None:
    for session in campaign.sessions:
        store = session.store
        if store.repaired:
            say(f"[yellow]{escape(store.repaired)}[/yellow]")
        for fault in store.errors:
            say(f"[yellow]does not count:[/yellow] {escape(fault)}")
        status = session.status
        if session.elsewhere:
            status += (
                f"; {session.elsewhere} {store.what} in the file are about other {session.noun}s"
                " and stay there"
            )
        say(f"{escape(str(store.path))}: {status}")


def _serve(page: "Page[Any]", host: str, port: int) -> None:
    from urs_inspect.annotation._access import Guard, choose_token
    from urs_inspect.annotation._server import create_app, listen, serve

    kind = page.campaign.kind
    token = choose_token(host)
    with listen(host, port) as listener:
        port = listener.getsockname()[1]
        shown = host
        if ":" in host:
            shown = f"[{host}]"
        address = f"http://{shown}:{port}/" + (f"?token={quote(token)}" if token else "")
        app = create_app(page, guard=Guard(host, token, port))
        with contextlib.suppress(
            KeyboardInterrupt
        ):  # which the server raises again once it has stopped
            saved = f"  (Ctrl-C ends; every {page.decision} is saved at once)"
            say(f"{kind.capitalize()} at {address}{saved}", markup=False)
            if token:
                say(
                    f"Whoever has this address can read the {page.material} and {kind}. It is not"
                    " encrypted on its way."
                )
                if host in {"0.0.0.0", "::"}:  # noqa: S104
                    say(
                        "From another machine, put the name of this one in place of"
                        f" {escape(shown)}."
                    )
            serve(app, listener)
    for session in page.campaign.sessions:
        say(f"{escape(session.annotator)}: {session.done} of {session.total} done")
