"""Answers -> the typed report."""

from urs_inspect._util import InputError
from urs_inspect.reports.intent.answers import Answers
from urs_inspect.reports.intent.block_report import block_report
from urs_inspect.reports.intent.blocks import blocks_of
from urs_inspect.reports.intent.report import Block, IntentReport
from urs_inspect.reports.intent.traffic import TrafficMix
from urs_inspect.rubrics import Rubric, load_rubric
from urs_inspect.stats import Resampling
from urs_inspect.stats.bootstrap import LEVEL, SEED

ROUNDS = 10_000
"""Rounds of the bootstrap of a report."""


def report_of(
    answers: Answers,
    *,
    rubric: Rubric | None = None,
    traffic: TrafficMix | None = None,
    countries: int | None = None,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
    command: str = "",
) -> IntentReport:
    """Make the report.

    Args:
        answers: The answers, as from `read_answers`.
        rubric: Names and order of intents, languages and criteria; by default that of URS.
        traffic: Shares by which all means and intervals are weighted.
        countries: Most countries with a column of their own, the rest together; None for all.
        rounds: Rounds of the bootstrap, in which whole questions are drawn.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of the bootstrap.
        command: The command that makes the report.

    Returns:
        The report.

    Raises:
        InputError: If the shares of the traffic cannot be had from the questions of the first block. A later block in
            which they cannot is left out.
    """
    texts, bootstrap = rubric or load_rubric(), Resampling(rounds, level, seed)
    blocks: list[Block] = []
    left_out = list(answers.left_out)
    for found in blocks_of(answers.table):
        try:
            blocks.append(block_report(found, texts, traffic, countries, bootstrap))
        except InputError as error:
            if not blocks:
                raise
            left_out.append(f"{', '.join(found.models)} would stand apart and were left out: {error.message}.")
    return IntentReport(
        blocks=tuple(blocks),
        runs=answers.runs,
        left_out=tuple(left_out),
        simulated=any(model.simulated for block in blocks for model in block.models),
        level=level,
        rounds=rounds,
        seed=seed,
        command=command,
    )
