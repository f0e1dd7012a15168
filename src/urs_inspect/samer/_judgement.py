"""Judgements of SaMer: scores, facts for a log, and readable Markdown of outcomes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from urs_inspect._arguments import check
from urs_inspect._util import is_blank
from urs_inspect.judging._answer_evaluators import AnswerEvaluation
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.samer._engines.protocol import (
    Engine,
    EngineFailure,
    EngineSpec,
    QueryResponse,
    Scored,
    one_line,
)
from urs_inspect.samer._engines.registry import open_engine
from urs_inspect.samer._engines.shared import check_engine
from urs_inspect.samer._evaluation import Evaluation, RawOutputs, evaluate
from urs_inspect.samer._options import SamerOptions
from urs_inspect.samer._reward import REWARD, Description

_PLACES = 4  # of a score that people look at
_MOST_ROWS = 10


@dataclass(frozen=True)
class Judgement:
    """An evaluation and how it came about."""

    evaluation: Evaluation  # for an empty response all scores and the overall score are 0
    raw: RawOutputs
    shortened: int = 0  # tokens that were cut from the end of the response
    tokens: int = 0  # of query and response as the model saw them
    no_response: bool = False  # whether the response was empty
    reward: Description | None = None  # what a reward model's outputs mean; None for SaMer

    @property
    def names(self) -> tuple[str, ...]:
        """Names of what is scored: the taxonomy's dimensions, or a reward model's outputs."""
        if self.reward is None:
            return load_taxonomy().dimensions
        return self.reward.names

    @property
    def leading(self) -> list[tuple[str, float, float]]:
        """Selected dimensions with score and weight, the largest weight first, then by name."""
        names = self.names
        evaluation = self.evaluation
        rows = [
            (names[at], float(evaluation.scores[at]), float(evaluation.weights[at]))
            for at in np.flatnonzero(evaluation.selected)
        ]
        return sorted(rows, key=lambda row: (-row[2], row[0]))


async def judge(engine: Engine, items: Sequence[QueryResponse]) -> list[Judgement | EngineFailure]:
    """Evaluate responses.

    An empty response has 0 on every dimension that the query asks for and overall, whatever a model
    makes of the empty text. `intent_judge` gives the lowest score in the same way. A reward model
    has no lowest score: its number counts.

    Args:
        engine: The engine.
        items: Queries and responses.

    Returns:
        For each item, in the same order, its judgement or a failure; never raises for what an
        engine does.
    """
    try:
        outcomes = await engine.score(items)
        if len(outcomes) != len(items):
            raise RuntimeError(f"{len(outcomes)} outcomes for {len(items)} items")
    except Exception as error:  # a fault of an engine is no reason to lose a run
        return [EngineFailure("error", one_line(error, named=True))] * len(items)
    reward = engine.spec.reward
    return [
        judged(outcome, is_blank(item.response), reward)
        for outcome, item in zip(outcomes, items, strict=True)
    ]


def judged(
    outcome: Scored | EngineFailure, no_response: bool = False, reward: Description | None = None
) -> Judgement | EngineFailure:
    """The judgement of one outcome.

    A failure if outputs are not those of all dimensions or are not finite.
    """
    if isinstance(outcome, EngineFailure):
        return outcome
    expected = len(load_taxonomy().dimensions if reward is None else reward.names)
    outputs = outcome.raw.scores.size
    if outputs != expected:
        return EngineFailure(
            "wrong_shape", f"outputs for {outputs} dimensions; expected {expected}"
        )
    raw = outcome.raw
    if not raw.is_finite:
        return EngineFailure("not_finite", "the model gave NaN or infinity")
    evaluation = evaluate(raw) if reward is None else reward.evaluate(raw)
    if no_response and reward is None:
        evaluation = replace(evaluation, overall=0.0, scores=np.zeros_like(evaluation.scores))
    return Judgement(
        evaluation, outcome.raw, outcome.shortened, outcome.tokens, no_response, reward
    )


def score_keys(reward: Description | None = None) -> tuple[str, ...]:
    """Keys of a score: `overall`, then every dimension; or `reward`, then each output besides."""
    if reward is not None:
        return tuple(dict.fromkeys([REWARD, *reward.names]))
    return ("overall", *load_taxonomy().dimensions)


def score_values(
    judgement: Judgement | None, reward: Description | None = None
) -> dict[str, float]:
    """The overall score and each selected dimension's to four places.

    Dimensions that are not selected have NaN; all have it for None.

    Those of a reward model have seven digits. `judgement_facts` has all digits.
    """
    if judgement is None:
        return dict.fromkeys(score_keys(reward), math.nan)
    evaluation = judgement.evaluation
    if judgement.reward is not None:
        outputs = zip(judgement.names, map(short, evaluation.scores), strict=True)
        return {REWARD: short(evaluation.overall), **dict(outputs)}
    chosen = np.where(evaluation.selected, evaluation.scores, math.nan).tolist()
    numbers = [round(number, _PLACES) for number in (evaluation.overall, *chosen)]
    return dict(zip(score_keys(), numbers, strict=True))


def judgement_facts(judgement: Judgement) -> dict[str, Any]:
    """A judgement for a log, numbers to seven digits.

    `overall`, `selected` (names), `raw` (logits by head, in the order of the taxonomy), flags, and
    `weights` of the selected dimensions, which an empty response does not have. Of a reward model
    `reward`, its outputs and flags.
    """
    if judgement.reward is not None:
        flags = {name: getattr(judgement, name) for name in ("shortened", "tokens", "no_response")}
        return {**score_values(judgement), **flags}
    weights = {name: short(weight) for name, _, weight in judgement.leading}
    facts: dict[str, Any] = {
        "overall": short(judgement.evaluation.overall),
        "selected": [name for name in load_taxonomy().dimensions if name in weights],
    }
    if not judgement.no_response:
        facts["weights"] = weights
    return {
        **facts,
        "raw": {
            name: list(map(short, getattr(judgement.raw, name)))
            for name in ("scores", "gates", "weights")
        },
        "shortened": judgement.shortened,
        "tokens": judgement.tokens,
        "empty_selection": judgement.evaluation.empty_selection,
        "no_response": judgement.no_response,
    }


def short(value: float) -> float:
    """A number to seven digits; float32 has no more."""
    return float(f"{float(value):.7g}")


def engine_facts(engine: Engine) -> dict[str, Any]:
    """How an engine was set up, for a log.

    It says what SaMer reads where, or what a reward model's outputs mean.
    """
    return facts_of(engine.name, engine.spec)


def facts_of(name: str, spec: EngineSpec) -> dict[str, Any]:
    """The same for an engine of this name that may not be loaded yet."""
    facts = {"engine": name, **asdict(spec)}
    if spec.reward is not None:
        facts["reward"] = spec.reward.model_dump(mode="json")
    del facts["reward" if spec.reward is None else "weights_at"]
    return facts


def explain_judgement(judgement: Judgement) -> str:
    """Markdown of a judgement.

    It has the overall score, what is special about it, and a table of the dimensions with the
    largest weights.
    """
    evaluation = judgement.evaluation
    if judgement.reward is not None:
        numbers = [f"- {name}: {value:.3f}" for name, value in score_values(judgement).items()]
        scale = "The numbers have no common scale; more is better."
        if judgement.shortened:
            scale += f" {judgement.shortened:,} tokens were cut from the end of the answer."
        return "\n".join([scale, "", *numbers])
    parts = [f"**Overall: {evaluation.overall:.3f}** (0 to 1)"]
    if judgement.no_response:
        parts.append(
            "The answer is empty: 0 overall and on every dimension that the query asks for."
        )
    if judgement.shortened:
        parts.append(
            f"The answer did not fit: {judgement.shortened:,} tokens were cut from its end."
        )
    if evaluation.empty_selection:
        parts.append("No dimension was selected for the query; the one nearest to it stands in.")
    rows = judgement.leading
    lines = ["| dimension | score | weight |", "|---|---|---|"]
    lines += [
        f"| {name} | {score:.3f} | {weight:.1%} |" for name, score, weight in rows[:_MOST_ROWS]
    ]
    parts.append("\n".join(lines))
    if len(rows) > _MOST_ROWS:
        rest = sum(weight for *_, weight in rows[_MOST_ROWS:])
        parts.append(f"{len(rows) - _MOST_ROWS} more dimensions share {rest:.1%} of the weight.")
    return "\n\n".join(parts)


def explain_judgements(judgements: Mapping[str, Judgement]) -> str:
    """Markdown of several responses' judgements, each under its name."""
    return "\n\n".join(
        f"#### {name}\n\n{explain_judgement(judgement)}" for name, judgement in judgements.items()
    )


# ## Outside inspect-ai


class SamerEvaluator:
    """Evaluates answers with SaMer (SaMer paper, section 4)."""

    def __init__(self, model: str, engine: str = "auto", folder: str | None = None) -> None:
        """Take a checkpoint's folder or a server's address, and how it is run."""
        self.dimensions = load_taxonomy().dimensions
        given = {"model": model, "engine": engine, "folder": folder}
        self._choice = check("samer", given, SamerOptions)
        self._engine: Engine | None = None

    def check(self) -> None:
        """Raise `InputError` if the engine could only fail in a run."""
        check_engine(self._choice)

    async def evaluate(self, pairs: Sequence[tuple[str, str]]) -> list[AnswerEvaluation]:
        """Evaluate answers, given as pairs of query and response."""
        if self._engine is None:
            self._engine = open_engine(self._choice)
        facts = {"samer": engine_facts(self._engine)}
        evaluations: list[AnswerEvaluation] = []
        for judgement in await judge(self._engine, [QueryResponse(*pair) for pair in pairs]):
            if isinstance(judgement, EngineFailure):
                evaluation = AnswerEvaluation(
                    None, f"unscored_{judgement.mode}", judgement.detail, facts
                )
            else:
                evaluation = AnswerEvaluation(
                    score_values(judgement),
                    "no_response" if judgement.no_response else "judged",
                    explain_judgement(judgement),
                    {**facts, **judgement_facts(judgement)},
                )
            evaluations.append(evaluation)
        return evaluations

    async def close(self) -> None:
        """Close the engine."""
        if self._engine is not None:
            await self._engine.close()
