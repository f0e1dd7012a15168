"""`judge_outcome`: how the judging of each sample ended, and what kind of case it was."""

import re

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from urs_inspect.scorers.metrics import outcome_counts

_JUDGE = re.compile(r"intent_judge(-?\d+)?")


@scorer(metrics=[outcome_counts()])
def judge_outcome() -> Scorer:
    """Report for each sample whether it was judged, and count the outcomes.

    An unscored sample is invisible to the metrics of the scorer that left it unscored; this scorer runs after
    `intent_judge`, calls no model, and makes every failure countable and visible in the list of samples. Outcomes:
    `judged`, `partial_panel` (some judges of a panel failed), `answer_cut_off` (judged; the answer ended at the token
    limit), `no_response` (empty answer, lowest score), `no_response_cut_off` (the same at the token limit),
    `no_response_withheld` (the same by a content filter), `unscored_<failure mode>`.

    Returns:
        The scorer; its value holds `outcome`, `intent` and `language` as text.
    """

    async def score(state: TaskState, target: Target) -> Score | None:
        judged = [value for name, value in (state.scores or {}).items() if _JUDGE.fullmatch(name)]
        if not judged:
            return None
        facts, metadata = judged[-1].metadata or {}, state.metadata or {}
        return Score(
            value={
                "outcome": str(facts.get("outcome", "unknown")),
                "intent": str(metadata.get("intent_group", metadata.get("intent", "unknown"))),
                "language": str(metadata.get("language", "unknown")),
            },
            # The list of samples shows the answer of one scorer, and not always that of the judge.
            answer=judged[-1].answer,
            reason=judged[-1].reason,
            metadata={name: facts[name] for name in ("unkeyed", "criteria_missing") if facts.get(name)},
        )

    return score
