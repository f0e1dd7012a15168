"""The option `--answers` of `urs-inspect report`: a `FilesBesideReport` of `cli/_reports.py`."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from urs_inspect._util import InputError

if TYPE_CHECKING:
    from urs_inspect.reports.layout._tables import Card, Report
    from urs_inspect.reports.numbers._leaderboard import Leaderboard


class Answers:
    """The answers of a report's rankings with their judgements, and links to them."""

    type = click.Choice(["pages", "viewer"])
    metavar = None
    help = (
        "Write the answers of the rankings and their judgements as well: tables, and pages to which"
        " the report links; with `viewer` also inspect view with a copy of the logs (11 MB and the"
        " logs), linked from each answer."
    )
    every_answer = "--answers pages"

    def __init__(self, answers: str | None, output: Path | None) -> None:
        self._answers = answers
        if answers is not None:
            from urs_inspect.answer_pages._answers import ANSWERS
            from urs_inspect.reports.layout._tables import check_directory

            if output is None:
                raise InputError("--answers writes files, and needs -o DIRECTORY")
            check_directory(output, ANSWERS)

    def write(
        self, report: "Report", board: "Leaderboard", read: int, output: Path, said: list[str]
    ) -> "Report":
        """Write the answers, or remove those of an earlier report; the report with links."""
        from urs_inspect.answer_pages._answers import remove_answers, report_with_answers

        if self._answers is None:
            said += remove_answers(output)
            return replace(report, cards=lambda: _hinted(report))
        viewer = self._answers == "viewer"
        return report_with_answers(board, output, said, read, viewer=viewer)


def _hinted(report: "Report") -> "list[Card]":
    """The cards of a report with what to do to have the answers."""
    hint = f"What was asked and answered: make this report with `{Answers.every_answer}`."
    return [replace(card, hint=hint) for card in report.cards()]
