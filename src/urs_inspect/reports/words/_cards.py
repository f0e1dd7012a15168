"""A ranking -> a card per model, which a page opens to the model's worst and best answers."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from urs_inspect._util import counted, visible
from urs_inspect.reports._texts import number, ranks_text
from urs_inspect.reports.layout._tables import Card, Excerpt
from urs_inspect.reports.numbers._answers import CRITERION
from urs_inspect.reports.numbers._leaderboard import Ranking
from urs_inspect.reports.numbers._scores import ALL
from urs_inspect.rubrics import FINAL

_EACH = 3
"""Worst and best answers of a card."""
_QUESTION = 160
"""Characters of a question, or of its id, that a card shows."""
_MEAN = number(2)


def model_cards(
    ranking: Ranking, excerpts: Mapping[str, Sequence[Excerpt]] | None = None
) -> list[Card]:
    """One card per model, the best first.

    Args:
        ranking: The ranking.
        excerpts: Model -> its `extreme_answers`, the worst first; None if they are shown by the
            ids of their questions.
    """
    compared = ranking.compared
    cards = []
    ranks = ranks_text(compared.models)
    for name, rank, mean in zip(compared.names, ranks, compared.means[ALL], strict=True):
        own = ranking.answers[ranking.answers["model"] == name]
        shown = _excerpts(ranking, own) if excerpts is None else excerpts[name]
        worst = min(_EACH, (len(shown) + 1) // 2)
        line = [f"mean {_MEAN(mean)}", counted(len(own), "answer")]
        if len(compared.names) > 1:
            line.insert(0, f"rank {rank}")
        cards.append(
            Card(
                title=compared.short[name],
                line=", ".join(line),
                answers={
                    "Worst answers": shown[:worst],
                    "Best answers": shown[worst:][::-1],
                },
            )
        )
    return cards


def _excerpts(ranking: Ranking, answers: pd.DataFrame) -> list[Excerpt]:
    """The worst and the best answers of a model, by their ids."""
    answers = answers.sort_values([FINAL, "question", "epoch"], kind="stable")
    return [
        excerpt(ranking, row, row["question"])
        for row in extreme_answers(answers).to_dict("records")
    ]


def extreme_answers(answers: pd.DataFrame) -> pd.DataFrame:
    """The worst and the best of answers that are sorted by their scores; none without a score."""
    scored = answers[answers[FINAL].notna()]
    if len(scored) <= 2 * _EACH:
        return scored
    return pd.concat([scored.head(_EACH), scored.tail(_EACH)])


def excerpt(ranking: Ranking, row: Mapping[Any, Any], question: str) -> Excerpt:
    """The scores of an answer, a row of the ranking's answers, and the question or its id."""
    scores = []
    for name in ranking.criteria:
        column = CRITERION + name
        if pd.notna(row.get(column)):
            scores.append(f"{ranking.titles[column]} {row[column]:g}")
    return Excerpt(
        score=_MEAN(row[FINAL]),
        about=f"{ranking.titles[row['group']]}, {ranking.titles[row['language']]}",
        question=shortened(question, _QUESTION),
        criteria=", ".join(scores),
    )


def shortened(text: str, most: int) -> str:
    """The start of a text, on one line and without control characters."""
    line = " ".join(visible(text[: 2 * most]).split())
    if len(line) <= most:
        return line
    return f"{line[:most].rstrip()}…"
