"""Answers, and what people said -> the typed report."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from urs_inspect.errors import InputError, choices
from urs_inspect.reports.agreement.cases import Matched, case_level, left_out, match_ratings
from urs_inspect.reports.agreement.intents import intent_level
from urs_inspect.reports.agreement.models import model_level, model_names
from urs_inspect.reports.agreement.rating_files import HumanRatings
from urs_inspect.reports.agreement.report import AgreementBlock, AgreementReport, IntentLevel, ModelLevel
from urs_inspect.reports.agreement.resampling import Resampling
from urs_inspect.reports.agreement.satisfaction_files import Satisfaction
from urs_inspect.reports.agreement.vote_sources import Votes
from urs_inspect.reports.intent.answers import Answers
from urs_inspect.reports.intent.blocks import BlockAnswers, blocks_of
from urs_inspect.reports.intent.question_table import question_table
from urs_inspect.reports.results import SIMULATED


def agreement_of(
    answers: Answers,
    *,
    human: HumanRatings | None = None,
    satisfaction: Satisfaction | None = None,
    votes: Votes | None = None,
    resampling: Resampling | None = None,
    sources: dict[str, tuple[str, ...]] | None = None,
) -> AgreementReport:
    """Hold judges' scores against what people said, each judge and set of conditions by itself.

    Args:
        answers: The answers, as from `read_answers`.
        human: Ratings of single answers.
        satisfaction: Satisfaction by intent.
        votes: A ranking of models by votes.
        resampling: How intervals come about.
        sources: Kind of what people said -> files, for the record.

    Returns:
        The report.

    Raises:
        InputError: If nothing was given, or no rating is about an answer in the logs.
    """
    if human is None and satisfaction is None and votes is None:
        raise InputError("nothing to compare with; give at least one of: ratings, satisfaction, votes")
    how = resampling or Resampling()
    blocks = blocks_of(answers.table)
    # Ratings may be about questions that not all models of a block attempted.
    whole = [answers.table[answers.table["log"].isin(set(block.table["log"]))] for block in blocks]
    names = [model_names(rows) for rows in whole]
    matched = [match_ratings(*pair, human) for pair in zip(whole, names, strict=True)] if human else []
    if human:
        _check_matched(human, matched, answers.table)
    return AgreementReport(
        blocks=tuple(
            _block(block, names[place], matched[place] if matched else None, human, satisfaction, votes, how)
            for place, block in enumerate(blocks)
        ),
        sources=sources or {},
        left_out=answers.left_out,
        notes=(*(votes.notes if votes else ()), *(left_out(human, matched) if human else ())),
        **how.options,
    )


def _check_matched(human: HumanRatings, matched: Sequence[Matched], table: pd.DataFrame) -> None:
    if any(one.answers for one in matched):
        return
    said = " ".join(left_out(human, matched))
    questions = sorted(set(table["question"]))
    raise InputError(
        f"{human.path}: none of {len(human.ratings)} ratings is about an answer in the logs. {said} The logs have "
        f"answers of {choices(sorted(set(table['model'])))} to {len(questions)} questions such as "
        f"{choices(questions[:3])}"
    )


def _block(
    found: BlockAnswers,
    names: dict[str, str],
    matched: Matched | None,
    human: HumanRatings | None,
    satisfaction: Satisfaction | None,
    votes: Votes | None,
    how: Resampling,
) -> AgreementBlock:
    table = question_table(found.table, found.models)
    intents = intent_level(table, satisfaction, how) if satisfaction else None
    ratings = model_level(table, names, votes, how) if votes else None
    cases = case_level(matched, human, how) if matched is not None and human else None
    reasons = [one for one in (intents, ratings, cases) if isinstance(one, str)]
    # Single answers are over questions of their own.
    if isinstance(intents, IntentLevel):
        intents = replace(intents, notes=(*intents.notes, *found.notes))
    if isinstance(ratings, ModelLevel):
        ratings = replace(ratings, notes=(*ratings.notes, *found.notes))
    return AgreementBlock(
        conditions=found.conditions,
        apart_because=found.apart_because,
        models=tuple(sorted(found.models)),
        simulated=any(name.startswith(SIMULATED) for name in (*found.models, *found.conditions.judges)),
        intents=None if isinstance(intents, str) else intents,
        ratings=None if isinstance(ratings, str) else ratings,
        cases=None if isinstance(cases, str) else cases,
        notes=tuple(reasons),
    )
