"""`urs-inspect annotate`: the page in the browser where people compare answers, or rate them."""

import contextlib
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import click
from click.core import ParameterSource
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from urs_inspect._util import InputError, choices, counted

if TYPE_CHECKING:
    from urs_inspect.annotation import VoteReading
    from urs_inspect.annotation._campaign import Campaign
    from urs_inspect.annotation._queue import BallotQueue, VotingPlan
    from urs_inspect.annotation._rating_campaign import RatingCampaign, RatingPlan
    from urs_inspect.annotation._ratings import RatingReading
    from urs_inspect.reports.numbers._human_data import NotRated

_RATING = (
    "raters", "limit", "only", "hide", "checks", "rubric", "output",
)  # fmt: skip
_VOTING = ("order",)
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
_RATERS = {
    "rater": "rater",
    "ratings": "ratings",
    "mean": "mean:.1f",
    "from others": "from_others:.1f",
    "rated twice": "checks",
    "from own": "from_own:.1f",
    "cannot tell": "cannot_tell",
    "median seconds": "seconds:.0f",
}
"""Heading -> attribute of a person, and its format."""
_ONLY_VOTES = "is for votes on pairs, and SOURCE has answers to rate"
_ONLY_RATINGS = "is for ratings of answers in logs of urs, and SOURCE has pairs to vote on"


@click.command()
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
@click.option(
    "--order",
    type=click.Choice(["given", "own"]),
    default="given",
    show_default=True,
    help="Everybody gets the pairs in the given order, or each in a random order of their own.",
)
@click.option(
    "--language",
    metavar="CODE",
    help=(
        "Only questions in this language, such as en or zh, for people who read no other. The page"
        " is in Chinese if all its questions are, else in English."
    ),
)
@click.option("--report", is_flag=True, help="Print how far the people agree, and end.")
@click.option(
    "--raters",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many people rate each answer.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help="Rate the first so many answers of the random order.",
)
@click.option(
    "--only",
    type=click.Path(path_type=Path),
    help="Rate the answers of this file only: .csv with id, model, as `trust` writes its rest.",
)
@click.option(
    "--hide",
    multiple=True,
    type=click.Choice(["criteria", "reference"]),
    help=(
        "Leave out the intent's criteria, and ask for the final score alone; or the reference"
        " answer, of which the scale then does not speak. May be repeated."
    ),
)
@click.option(
    "--checks",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Share of answers that a person is shown again, later and without being told.",
)
@click.option("--rubric", help="Rubric of your own (YAML) by which the logs were judged.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help=(
        "Write a copy of one log with the ratings as scores (human_rating), and end; the file must"
        " not exist."
    ),
)
def annotate(
    sources: tuple[str, ...],
    annotators: tuple[str, ...],
    votes: Path | None,
    address: str,
    language: str | None,
    order: str,
    report: bool,
    output: Path | None,
    **rating: Any,
) -> None:
    """Vote on the pairs of answers in SOURCE, a log of mad or a .jsonl file with one pair per
    line; or rate the single answers in SOURCE..., logs of urs or directories of them, 1 to 10.

    Votes: if mad ran with an allocation other than uniform, each vote decides which pair comes
    next. --order is for votes.

    Ratings: the page does not name models. Models take turns; answers on which the judges of a
    panel disagree come up to three times as often, and each rating is saved with its sampling rate,
    so that weighted means over all answers stay right wherever you stop. The options from --raters
    on are for ratings.
    """
    rate = _are_answers(sources)
    unused: tuple[str, ...] = _RATING
    why = _ONLY_RATINGS
    if rate:
        unused = _VOTING
        why = _ONLY_VOTES
    context = click.get_current_context()
    for name in unused:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise InputError(f"--{name.replace('_', '-')} {why}")
    host, port = _host_and_port(address)
    campaign: Campaign | RatingCampaign | None
    if rate:
        ratings = votes or Path("ratings")
        if output is not None:
            _attach(sources, ratings, output)
            return
        campaign = _rating(
            sources, annotators, report, ratings=ratings, language=language, **rating
        )
    else:
        campaign = _voting(
            sources,
            annotators,
            report,
            votes or Path("votes"),
            shuffled=order == "own",
            language=language,
        )
    if campaign is not None:
        with contextlib.closing(campaign):
            _print_files(campaign)
            _serve(campaign, host, port)


def _are_answers(sources: tuple[str, ...]) -> bool:
    """Whether sources are logs with answers to rate, and no comparisons to vote on."""
    from urs_inspect.annotation._campaign import LOG_SUFFIXES
    from urs_inspect.logs._files import log_files

    suffixes = {Path(source).suffix.lower() for source in sources if Path(source).is_file()}
    if suffixes - set(LOG_SUFFIXES):
        return False
    return any(not _is_competition(file) for file in log_files(sources))


def _is_competition(file: str) -> bool:
    """Whether a file is a log of mad; one that cannot be read is none."""
    from inspect_ai.log import read_eval_log

    from urs_inspect.logs._files import PACKAGE

    try:
        header = read_eval_log(file, header_only=True)
    except Exception:  # a damaged or foreign file can raise anything
        return False
    return header.eval.task == f"{PACKAGE}mad"


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


def _voting(
    sources: tuple[str, ...],
    annotators: tuple[str, ...],
    report: bool,
    votes: Path,
    *,
    shuffled: bool,
    language: str | None,
) -> "Campaign | None":
    """The campaign to serve; None where the command only reports."""
    from urs_inspect.annotation import load_ballots
    from urs_inspect.annotation._campaign import Campaign, load_plan

    if len(sources) > 1:
        raise InputError(
            f"votes are about one log or file of comparisons, got {len(sources)}; only logs of urs"
            " may be several"
        )
    ballots = load_ballots(Path(sources[0]))
    plan = load_plan(Path(sources[0]))
    if plan is not None:
        _check_plan(plan, shuffled, language)
    if language is not None:
        _check_language(language, (ballot.language for ballot in ballots))
        ballots = tuple(ballot for ballot in ballots if ballot.language == language)
    voting = Campaign(ballots, votes, () if report else annotators, shuffled=shuffled, plan=plan)
    if report:
        _print_votes(voting)
    if plan is not None and plan.prior is not None:
        models = {ballot.model_a for ballot in ballots} | {ballot.model_b for ballot in ballots}
        for sentence in plan.prior.remarks(sorted(models)):
            _say(f"Prior: {sentence}", markup=False)
    if voting.queue is not None:
        _print_voting(voting.queue)
        voting.queue.on_change = _print_voting
    if report:
        return None
    return voting


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


def _rating(
    sources: tuple[str, ...],
    annotators: tuple[str, ...],
    report: bool,
    *,
    ratings: Path,
    limit: int | None,
    only: Path | None,
    rubric: str | None,
    language: str | None,
    **options: Any,
) -> "RatingCampaign | None":
    """The campaign to serve, by a plan of these options; None where the command only reports."""
    from urs_inspect.annotation._rating_campaign import RatingCampaign
    from urs_inspect.annotation._rating_queue import draw
    from urs_inspect.reports.numbers._human_data import answers_to_rate
    from urs_inspect.rubrics import load_rubric

    loaded = load_rubric(rubric)
    answers, not_rated = answers_to_rate(sources, loaded, only)
    notes = _about_logs(not_rated, loaded.version)
    if not answers:
        raise InputError("\n".join(["no answer to rate: all samples ended in an error", *notes]))
    notes += _about_samples(not_rated)
    if language is not None:
        _check_language(language, (answer.language for answer in answers))
        answers = tuple(answer for answer in answers if answer.language == language)
    queue = draw(answers)[:limit]
    people = annotators
    if report:
        people = ()
    campaign = RatingCampaign(queue, loaded, ratings, people, _plan(language, **options))
    for sentence in notes:
        _say(escape(sentence))
    if report:
        _print_ratings(campaign)
        return None
    first = ""
    if len(queue) < len(answers):
        first = f"; the first {len(queue):,} in random order are rated"
    models = counted(len({answer.model for answer in answers}), "model")
    _say(escape(f"{counted(len(answers), 'answer')} of {models}{first}."))
    return campaign


def _about_logs(not_rated: "NotRated", version: str) -> list[str]:
    """Which logs do not count, and which another version of the rubric judged, a sentence each."""
    notes = list(not_rated.logs)
    for log, judged_by in not_rated.versions:
        notes.append(
            f"{log} was judged by version {judged_by} of the rubric; ratings are by {version}."
        )
    return notes


def _about_samples(not_rated: "NotRated") -> list[str]:
    """Which samples have no answer to rate of their own, a sentence each."""
    notes = []
    if not_rated.failed:
        failed = counted(not_rated.failed, "sample")
        notes.append(f"{failed} without an answer, after an error, skipped.")
    if not_rated.repeated:
        notes.append(f"{counted(not_rated.repeated, 'answer')} in several logs, rated once.")
    return notes


def _attach(sources: tuple[str, ...], ratings: Path, output: Path) -> None:
    """Write a copy of a log with the ratings as scores."""
    from urs_inspect.reports.numbers._human_data import attach_ratings

    here, reading = attach_ratings(sources, ratings, output)
    _print_attached(here, reading, output)


def _plan(
    language: str | None, *, hide: tuple[str, ...], raters: int, checks: float
) -> "RatingPlan":
    from urs_inspect.annotation._rating_campaign import RatingPlan

    return RatingPlan(
        raters=raters,
        checks=checks,
        final_only="criteria" in hide,
        reference="reference" not in hide,
        questions=language or "",
    )


def _check_language(wanted: str, there: Iterable[str]) -> None:
    """Refuse a language in which there is no question."""
    languages = sorted(set(there))
    if wanted not in languages:
        raise InputError(f"language: no question in '{wanted}'; there are: {choices(languages)}")


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
    _say("; ".join(told), markup=False)


def _print_votes(campaign: "Campaign") -> None:
    """Print how far the voters agree about the ballots."""
    if not campaign.directory.is_dir():
        raise InputError(f"no directory '{campaign.directory}' with votes")
    found, reading = campaign.report()
    if found.votes:
        share = found.most_chosen
        _say(
            f"[bold]{counted(found.votes, 'vote')}[/bold] on {counted(found.ballots, 'pair')},"
            f" {found.compared} of them"
            f" with two choices or more; {found.shared} without a single most chosen option, which"
            " count as ties."
        )
        bounds = f" (95% interval {max(0, share.low):.1%} to {min(1, share.high):.1%})"
        interval = bounds
        if math.isnan(share.low):
            interval = ""
        _say(
            f"Votes for the most chosen option: {_number(share.value, '.1%')}{interval}; chance is"
            " not taken out."
        )
        _say(
            f"Krippendorff's alpha: {_number(found.alpha, '.2f')}; "
            f"with a, tie, b as places on a line: {_number(found.ordered_alpha, '.2f')}."
        )
        _print_people(_VOTERS, found.annotators)
    _print_uncounted("votes", "comparisons", found.votes, len(reading.votes), reading)


def _print_ratings(campaign: "RatingCampaign") -> None:
    """Print how many ratings the answers have, and how far the raters agree."""
    if not campaign.directory.is_dir():
        raise InputError(f"no directory '{campaign.directory}' with ratings")
    found, reading = campaign.report()
    if found.ratings:
        several = "; ".join(
            f"{answers} with {counted(n, 'rating')}" for n, answers in found.by_count.items()
        )
        total = counted(len(campaign.queue), "answer")
        alpha = found.alpha
        interval = ""
        if not math.isnan(alpha.low):
            interval = f" (95% interval {alpha.low:.2f} to {alpha.high:.2f})"
        _say(
            f"[bold]{counted(found.ratings, 'rating')}[/bold] of {found.answers} of {total}:"
            f" {several}."
        )
        _say(
            f"Krippendorff's alpha of final scores: {_number(alpha.value, '.2f')}{interval}, on "
            f"{counted(alpha.n, 'answer')} with several ratings."
        )
    if found.raters:
        _print_people(_RATERS, found.raters)
    _print_uncounted("ratings", "answers", found.ratings, len(reading.ratings), reading)


def _print_people(columns: Mapping[str, str], people: Iterable[object]) -> None:
    """Print one row per person, whose name comes first; a dash for what is not known."""
    first, *others = columns
    table = Table(first, *(Column(heading, justify="right") for heading in others))
    for person in people:
        cells = []
        for column in columns.values():
            name, _, form = column.partition(":")
            cells.append(escape(_number(getattr(person, name), form)))
        table.add_row(*cells)
    Console().print(table)


def _print_uncounted(
    what: str,
    about: str,
    here: int,
    total: int,
    reading: "VoteReading | RatingReading",
) -> None:
    """Print what is in the files and does not count here, and why.

    It is about other answers, was replaced or taken back, or could not be read.
    """
    if not here:
        _say(f"No {what} yet.")
    if others := total - here:
        _say(
            f"{others} {what} are about other {about}; they stay in their files and do not count"
            " here."
        )
    if reading.replaced or reading.undone:
        _say(f"{reading.replaced} {what} were replaced later, {reading.undone} taken back.")
    for error in reading.errors:
        _say(f"[yellow]does not count:[/yellow] {escape(error)}")


def _print_attached(here: int, reading: "RatingReading", output: Path) -> None:
    """Print how many ratings are scores of the copy, and what does not count."""
    verb = "are"
    if here == 1:
        verb = "is"
    _say(f"{counted(here, 'rating')} {verb} in {output}, as scores of its answers.", markup=False)
    if reading.checks:
        _say(f"{counted(len(reading.checks), 'repeated rating')} to check a rater, not counted.")
    if reading.cannot_tell:
        _say(f"Without a rating, because the person could not tell: {len(reading.cannot_tell)}.")
    _print_uncounted("ratings", "answers", here, len(reading.ratings), reading)


def _print_files(campaign: "Campaign | RatingCampaign") -> None:
    for session in campaign.sessions:
        store = session.store
        if store.repaired:
            _say(f"[yellow]{escape(store.repaired)}[/yellow]")
        for fault in store.errors:
            _say(f"[yellow]does not count:[/yellow] {escape(fault)}")
        status = f"{session.done} of {session.total} done"
        if repeats := getattr(session, "checks", 0):
            status += f", {repeats} of them repeated answers (checks)"
        if session.elsewhere:
            status += (
                f"; {session.elsewhere} {store.what} in the file are about other {session.noun}s"
                " and stay there"
            )
        _say(f"{escape(str(store.path))}: {status}")


def _serve(
    campaign: "Campaign | RatingCampaign",
    host: str,
    port: int,
) -> None:
    from urs_inspect.annotation._access import Guard, choose_token
    from urs_inspect.annotation._server import create_app, listen, serve

    token = choose_token(host)
    with listen(host, port) as listener:
        port = listener.getsockname()[1]
        shown = host
        if ":" in host:
            shown = f"[{host}]"
        address = f"http://{shown}:{port}/" + (f"?token={quote(token)}" if token else "")
        app = create_app(campaign, guard=Guard(host, token, port))
        with contextlib.suppress(
            KeyboardInterrupt
        ):  # which the server raises again once it has stopped
            what = "rating"
            read = "answers"
            if campaign.kind == "vote":
                what = "vote"
                read = "pairs"
            saved = f"  (Ctrl-C ends; every {what} is saved at once)"
            _say(f"{campaign.kind.capitalize()} at {address}{saved}", markup=False)
            if token:
                _say(
                    f"Whoever has this address can read the {read} and {campaign.kind}. It is not"
                    " encrypted on its way."
                )
                if host in {"0.0.0.0", "::"}:  # noqa: S104
                    _say(
                        "From another machine, put the name of this one in place of"
                        f" {escape(shown)}."
                    )
            serve(app, listener)
    for session in campaign.sessions:
        _say(f"{escape(session.annotator)}: {session.done} of {session.total} done")


def _say(text: str, *, markup: bool = True) -> None:
    """Print a line, which a terminal may fold, but not shorten or colour."""
    Console(soft_wrap=True, highlight=False).print(text, markup=markup)


def _number(value: float | str, form: str) -> str:
    if isinstance(value, float) and math.isnan(value):
        return "-"
    return format(value, form)
