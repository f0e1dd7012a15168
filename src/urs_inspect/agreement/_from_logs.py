"""Logs and what people say -> the report: what the command and programs call."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from urs_inspect._util import InputError
from urs_inspect.agreement._levels import agreement_of, panel_of_blocks
from urs_inspect.agreement._people import read_satisfaction, read_vote_ranking
from urs_inspect.agreement._report import agreement_report
from urs_inspect.reports._unused_ratings import unused_notes
from urs_inspect.reports.layout._tables import Report
from urs_inspect.reports.numbers._answers import read_answers
from urs_inspect.reports.numbers._human_data import Scale, read_human_ratings
from urs_inspect.reports.words._corrected import repeat_notes, scale_doubt
from urs_inspect.reports.words._rankings import people_notes
from urs_inspect.rubrics import HIGHEST, LOWEST, load_rubric
from urs_inspect.stats._bootstrap import LEVEL, ROUNDS, SEED, Resampling


def report_agreement(  # noqa: PLR0913 - all but the logs have defaults
    logs: Iterable[str],
    *,
    human: Path | None = None,
    human_scale: Scale = (LOWEST, HIGHEST),
    satisfaction: Path | None = None,
    satisfaction_scale: Scale = (1, 5),
    votes: Sequence[str] = (),
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
    command: str = "",
) -> Report:
    """Report how far a judge and people agree; also `urs_inspect.report_agreement`.

    At least one of `human`, `satisfaction` and `votes` must be given.

    Args:
        logs: Log files and directories of logs of `urs`.
        human: File or directory of ratings of single answers, as for `read_human_ratings`.
        human_scale: Its lowest and highest rating.
        satisfaction: File of satisfaction by intent, as for `read_satisfaction`.
        satisfaction_scale: Its lowest and highest value.
        votes: Files, logs and directories of votes between models, as for `read_vote_ranking`.
        rounds: Rounds of the bootstrap.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of the bootstrap.
        command: The command that makes the report.

    Returns:
        The report, with the table `agreement`, one row per number.

    Raises:
        InputError: If nothing was given, a file or log cannot be used, or no rating is about an
            answer in the logs.
    """
    if not (human or satisfaction or votes):
        raise InputError(
            "nothing to compare with; give at least one of --human, --satisfaction, --votes"
        )
    how = Resampling(rounds, level, seed)
    # What people say is small and read first, so that its errors cost no waiting for the logs.
    ratings = None
    if human:
        ratings = read_human_ratings(human, human_scale)
    satisfied = None
    if satisfaction:
        satisfied = read_satisfaction(satisfaction, satisfaction_scale, load_rubric())
    ranked = None
    if votes:
        ranked = read_vote_ranking(votes, how)
    answers = read_answers(logs)
    blocks, unused = agreement_of(
        answers, human=ratings, satisfaction=satisfied, votes=ranked, resampling=how
    )
    files = {"ratings of answers": human, "satisfaction": satisfaction}
    sources = {kind: [str(file)] for kind, file in files.items() if file}
    notes = []
    if ranked:
        sources["votes"] = list(votes)
        if ranked.people:
            notes += people_notes(ranked.people)
        notes += ranked.skipped
    panel = None
    warnings = []
    if ratings:
        panel = panel_of_blocks(answers.table, ratings)
        warnings = list(filter(None, [scale_doubt(ratings)]))
        notes += [*unused_notes(ratings.path, unused), *repeat_notes(ratings)]
    return agreement_report(
        blocks, [*warnings, *notes], how, sources, answers.left_out, command, panel, warnings
    )
