"""Mean score and rating by people's votes, by model (URS paper, appendix D.3, Figure 6)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from urs_inspect.errors import choices
from urs_inspect.rating import MeanDraws, mean_estimates
from urs_inspect.rating.intervals import fewest_clusters
from urs_inspect.rating.mean_correlation import FEWEST_POINTS, correlate_means, derived_seed, table_means
from urs_inspect.reports.agreement.report import ModelLevel, ModelPoint
from urs_inspect.reports.agreement.resampling import CORRELATIONS, Resampling, reported
from urs_inspect.reports.agreement.vote_sources import Votes
from urs_inspect.reports.intent.question_table import QuestionTable
from urs_inspect.rubrics import HIGHEST, LOWEST

_QUESTIONS = 2
"""Names the resampling of questions among those of a seed."""


def model_names(answers: pd.DataFrame) -> dict[str, str]:
    """What people may call the models of a block: name -> name in the table of answers.

    A model may go by its name in the table, or by its bare name if only one model of the block has it.
    """
    pairs = answers[["model", "base_model"]].drop_duplicates()
    bare = pairs["base_model"].value_counts()
    single = {str(base): str(model) for model, base in pairs.itertuples(index=False) if bare[base] == 1}
    return {**single, **{str(model): str(model) for model in pairs["model"]}}


def model_level(
    table: QuestionTable, names: Mapping[str, str], votes: Votes, resampling: Resampling
) -> ModelLevel | str:
    """Hold mean scores against Bradley-Terry ratings, model by model.

    Args:
        table: Final scores of a block, over the questions that all its models attempted.
        names: As from `model_names`.
        votes: What people said.
        resampling: How intervals come about.

    Returns:
        The agreement; a sentence that says why there is none.
    """
    ranking = votes.ranking
    scored = {name for place, name in enumerate(table.models) if not np.isnan(table.finals[:, place]).all()}
    shared = [place for place, name in enumerate(ranking.players) if names.get(name) in scored]
    models = [names[ranking.players[place]] for place in shared]
    if len(set(models)) < FEWEST_POINTS:
        return (
            f"No correlation over models: {len(set(models))} have both scores and votes, at least {FEWEST_POINTS} are "
            f"needed. Votes are about: {choices(ranking.players)}; scored were: {choices(sorted(scored)) or 'none'}."
        )
    columns = [table.models.index(model) for model in models]
    scores = table_means(
        table.finals[:, columns], rounds=resampling.rounds, seed=derived_seed(resampling.seed, _QUESTIONS)
    )
    ratings = MeanDraws(
        np.array([ranking.bradley_terry[place].value for place in shared]),
        ranking.draws[:, shared],
        np.array([ranking.bradley_terry[place].clusters for place in shared]),
        ranking.seed,
    )
    fewest = int(min(scores.n.min(), ranking.clusters))
    correlation = correlate_means(scores, ratings, clusters=fewest, level=resampling.level, seed=resampling.seed)
    correlation = replace(correlation, pearson=reported(correlation.pearson, CORRELATIONS, fewest))
    return ModelLevel(
        points=tuple(
            ModelPoint(model, reported(score, (LOWEST, HIGHEST)), ranking.bradley_terry[place])
            for model, score, place in zip(models, mean_estimates(scores, resampling.level), shared, strict=True)
        ),
        # Where nothing says how much a mean scatters, its noise is not 0 but not known.
        correlation=correlation if fewest > 1 else replace(correlation, without_noise=math.nan),
        comparisons=ranking.battles,
        instructions=ranking.clusters,
        ties=ranking.ties,
        questions=int((~np.isnan(table.finals[:, columns])).any(axis=1).sum()),
        why_no_interval=_why_no_interval(
            dict(zip(models, scores.n.tolist(), strict=True)), ranking.clusters, resampling.level
        ),
        notes=tuple(_notes(votes, set(models), scored, [ranking.players[place] for place in shared])),
    )


def _why_no_interval(questions: Mapping[str, int], instructions: int, level: float) -> str:
    """What is there so rarely that nothing says how far it would scatter."""
    least = fewest_clusters(level)
    few = [model for model, number in questions.items() if number < least]
    reasons = [
        f"fewer than {least} questions with a score of {', '.join(few)}" if few else "",
        f"fewer than {least} instructions with votes" if instructions < least else "",
    ]
    return "; ".join(filter(None, reasons))


def _notes(votes: Votes, models: set[str], scored: set[str], voted: Sequence[str]) -> list[str]:
    notes = []
    if others := [name for name in votes.ranking.players if name not in voted]:
        notes.append(f"With votes but without a score, and left out: {', '.join(others)}.")
    if others := sorted(scored - models):
        notes.append(f"With scores but without votes, and left out: {', '.join(others)}.")
    if message := votes.ranking.connectivity.message:
        notes.append(f"NOT ALL MODELS COMPARE: {message}")
    return notes
