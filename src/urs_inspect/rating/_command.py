"""`urs-inspect annotate` on logs of `urs`: people rate their answers."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape

from urs_inspect._util import InputError, counted
from urs_inspect.cli._people import check_language, number, print_people, print_uncounted, say

if TYPE_CHECKING:
    from urs_inspect.annotation._ratings import RatingReading
    from urs_inspect.rating._answers import NotRated
    from urs_inspect.rating._campaign import RatingCampaign
    from urs_inspect.rating._page import RatingPage

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


class Rating:
    """People say how good single answers are; a `CampaignKind` of `cli/_annotate.py`."""

    summary = "rate the single answers in SOURCE..., logs of urs or directories of them, 1 to 10"
    help = (
        "Ratings: the page does not name models. Models take turns; answers on which the judges of"
        " a panel disagree come up to three times as often, and each rating is saved with its"
        " sampling rate, so that weighted means over all answers stay right wherever you stop. The"
        " options from --raters on are for ratings."
    )
    options: Mapping[str, Mapping[str, Any]] = {
        "raters": {
            "type": click.IntRange(min=1),
            "default": 1,
            "show_default": True,
            "help": "How many people rate each answer.",
        },
        "limit": {
            "type": click.IntRange(min=1),
            "help": "Rate the first so many answers of the random order.",
        },
        "only": {
            "type": click.Path(path_type=Path),
            "help": (
                "Rate the answers of this file only: .csv with id, model, as `trust` writes its"
                " rest."
            ),
        },
        "hide": {
            "multiple": True,
            "type": click.Choice(["criteria", "reference"]),
            "help": (
                "Leave out the intent's criteria, and ask for the final score alone; or the"
                " reference answer, of which the scale then does not speak. May be repeated."
            ),
        },
        "checks": {
            "type": click.FloatRange(0, 1),
            "default": 0.0,
            "show_default": True,
            "help": "Share of answers that a person is shown again, later and without being told.",
        },
        "rubric": {"help": "Rubric of your own (YAML) by which the logs were judged."},
        "output": {
            "type": click.Path(path_type=Path),
            "help": (
                "Write a copy of one log with the ratings as scores (human_rating), and end; the"
                " file must not exist."
            ),
        },
    }
    has_options_for = "ratings of answers in logs of urs"
    has_sources_with = "answers to rate"

    def takes(self, sources: tuple[str, ...]) -> bool:
        """Whether sources are logs with answers to rate, and no comparisons to vote on."""
        from urs_inspect.annotation._campaign import LOG_SUFFIXES
        from urs_inspect.logs._files import log_files

        suffixes = {Path(source).suffix.lower() for source in sources if Path(source).is_file()}
        if suffixes - set(LOG_SUFFIXES):
            return False
        return any(not _is_competition(file) for file in log_files(sources))

    def open(
        self,
        sources: tuple[str, ...],
        annotators: tuple[str, ...],
        directory: Path | None,
        language: str | None,
        report: bool,
        options: Mapping[str, Any],
    ) -> "RatingPage | None":
        """The page for ratings; None where the command only reports, or writes a copy of a log."""
        from urs_inspect.rating._page import RatingPage

        ratings = directory or Path("ratings")
        if options["output"] is not None:
            _attach(sources, ratings, options["output"])
            return None
        campaign = _campaign(sources, annotators, ratings, language, report, options)
        if report:
            _print_ratings(campaign)
            return None
        return RatingPage(campaign)


def _is_competition(file: str) -> bool:
    """Whether a file is a log of mad; one that cannot be read is none."""
    from inspect_ai.log import read_eval_log

    from urs_inspect.logs._files import PACKAGE

    try:
        header = read_eval_log(file, header_only=True)
    except Exception:  # a damaged or foreign file can raise anything
        return False
    return header.eval.task == f"{PACKAGE}mad"


def _campaign(
    sources: tuple[str, ...],
    annotators: tuple[str, ...],
    ratings: Path,
    language: str | None,
    report: bool,
    options: Mapping[str, Any],
) -> "RatingCampaign":
    """The campaign by a plan of these options; says which answers are rated."""
    from urs_inspect.rating._answers import answers_to_rate
    from urs_inspect.rating._campaign import RatingCampaign, RatingPlan
    from urs_inspect.rating._queue import draw
    from urs_inspect.rubrics import load_rubric

    rubric = load_rubric(options["rubric"])
    answers, not_rated = answers_to_rate(sources, rubric, options["only"])
    notes = _about_logs(not_rated, rubric.version)
    if not answers:
        raise InputError("\n".join(["no answer to rate: all samples ended in an error", *notes]))
    notes += _about_samples(not_rated)
    if language is not None:
        check_language(language, (answer.language for answer in answers))
        answers = tuple(answer for answer in answers if answer.language == language)
    queue = draw(answers)[: options["limit"]]
    plan = RatingPlan(
        raters=options["raters"],
        checks=options["checks"],
        final_only="criteria" in options["hide"],
        reference="reference" not in options["hide"],
        questions=language or "",
    )
    campaign = RatingCampaign(queue, rubric, ratings, annotators, plan)
    if not report:
        first = ""
        if len(queue) < len(answers):
            first = f"; the first {len(queue):,} in random order are rated"
        models = counted(len({answer.model for answer in answers}), "model")
        notes.append(f"{counted(len(answers), 'answer')} of {models}{first}.")
    for sentence in notes:
        say(escape(sentence))
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
    from urs_inspect.rating._answers import attach_ratings

    here, reading = attach_ratings(sources, ratings, output)
    _print_attached(here, reading, output)


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
        say(
            f"[bold]{counted(found.ratings, 'rating')}[/bold] of {found.answers} of {total}:"
            f" {several}."
        )
        say(
            f"Krippendorff's alpha of final scores: {number(alpha.value, '.2f')}{interval}, on "
            f"{counted(alpha.n, 'answer')} with several ratings."
        )
    if found.raters:
        print_people(_RATERS, found.raters)
    print_uncounted("ratings", "answers", found.ratings, len(reading.ratings), reading)


def _print_attached(here: int, reading: "RatingReading", output: Path) -> None:
    """Print how many ratings are scores of the copy, and what does not count."""
    verb = "are"
    if here == 1:
        verb = "is"
    say(f"{counted(here, 'rating')} {verb} in {output}, as scores of its answers.", markup=False)
    if reading.checks:
        say(f"{counted(len(reading.checks), 'repeated rating')} to check a rater, not counted.")
    if reading.cannot_tell:
        say(f"Without a rating, because the person could not tell: {len(reading.cannot_tell)}.")
    print_uncounted("ratings", "answers", here, len(reading.ratings), reading)
