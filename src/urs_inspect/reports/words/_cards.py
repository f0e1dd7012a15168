"""A ranking -> a card per model, which a page opens to the model's worst and best answers."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from urs_inspect._util import counted, visible
from urs_inspect.reports._texts import number, ranks_text
from urs_inspect.reports.layout._tables import Card, Excerpt
from urs_inspect.reports.numbers._answers import CRITERION
from urs_inspect.reports.numbers._leaderboard import Ranking
from urs_inspect.reports.numbers._scores import ALL
from urs_inspect.reports.words._judgements import reason_of
from urs_inspect.rubrics import FINAL

_EACH = 3
"""Worst and best answers of a card."""
_QUESTION = 160
_ANSWER = 400
"""Characters of a text that a card shows."""
_MEAN = number(2)


def model_cards(
    ranking: Ranking, texts: Mapping[str, pd.DataFrame], page: Callable[[str], str] | None = None
) -> list[Card]:
    """One card per model, the best first.

    Args:
        ranking: The ranking.
        texts: Model -> its `extreme_answers` with their `id`, `question`, `answer`, `explanation`
            and `page`; a model that is not there is shown with the ids of its answers.
        page: Gives the address of a model's page; None if there is none.
    """
    cards = []
    ranks = ranks_text(ranking.models)
    for name, rank, mean in zip(ranking.names, ranks, ranking.means[ALL], strict=True):
        own = ranking.answers[ranking.answers["model"] == name]
        rows = texts.get(name, _without_texts(own))
        excerpts = [_excerpt(ranking, row) for row in rows.to_dict("records")]
        worst = _worst_of(len(excerpts))
        line = [f"mean {_MEAN(mean)}", counted(len(own), "answer")]
        if len(ranking.names) > 1:
            line.insert(0, f"rank {rank}")
        cards.append(
            Card(
                title=ranking.short[name],
                line=", ".join(line),
                answers={
                    "Worst answers": excerpts[:worst],
                    "Best answers": excerpts[worst:][::-1],
                },
                link=page(name) if page else "",
            )
        )
    return cards


def _without_texts(answers: pd.DataFrame) -> pd.DataFrame:
    """The worst and the best answers of a model, by their ids."""
    answers = answers.sort_values([FINAL, "question", "epoch"], kind="stable")
    named = extreme_answers(answers).rename(columns={"question": "id"})
    return named.assign(question="", answer="", explanation="", page="")


def extreme_answers(answers: pd.DataFrame) -> pd.DataFrame:
    """The worst and the best of answers that are sorted by their scores; none without a score."""
    scored = answers[answers[FINAL].notna()]
    if len(scored) <= 2 * _EACH:
        return scored
    return pd.concat([scored.head(_EACH), scored.tail(_EACH)])


def _worst_of(count: int) -> int:
    """How many of a model's shown answers are among its worst."""
    return min(_EACH, (count + 1) // 2)


def _excerpt(ranking: Ranking, row: Mapping[Any, Any]) -> Excerpt:
    kind = [ranking.titles[row["group"]], ranking.titles[row["language"]]]
    return Excerpt(
        score=_MEAN(row[FINAL]),
        about=", ".join(kind),
        question=_shortened(str(row["question"] or row["id"]), _QUESTION),
        answer=_shortened(str(row["answer"]), _ANSWER),
        criteria=_criteria(ranking, row),
        reason=visible(reason_of(str(row["explanation"]))),
        link=str(row["page"]),
    )


def _criteria(ranking: Ranking, row: Mapping[Any, Any]) -> str:
    """The scores by criterion, those that there are."""
    scores = []
    for name in ranking.criteria:
        column = CRITERION + name
        if pd.notna(row.get(column)):
            scores.append(f"{ranking.titles[column]} {row[column]:g}")
    return ", ".join(scores)


def _shortened(text: str, most: int) -> str:
    """The start of a text, on one line and without control characters."""
    line = " ".join(visible(text[: 2 * most]).split())
    return line if len(line) <= most else f"{line[:most].rstrip()}…"
