"""A ranking -> a card per model, which a page opens to the model's worst and best answers.

With what a judge wrote about an answer: for a page to show, and in short for a card.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup, escape

from urs_inspect._util import counted, visible
from urs_inspect.judging._answers import BETWEEN_JUDGES, CUT_OFF_NOTE, OTHER_CRITERIA
from urs_inspect.reports._texts import number, ranks_text
from urs_inspect.reports.layout._tables import Card, Excerpt
from urs_inspect.reports.numbers._answers import CRITERION
from urs_inspect.reports.numbers._leaderboard import Ranking
from urs_inspect.reports.numbers._scores import ALL
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
    compared = ranking.compared
    cards = []
    ranks = ranks_text(compared.models)
    for name, rank, mean in zip(compared.names, ranks, compared.means[ALL], strict=True):
        own = ranking.answers[ranking.answers["model"] == name]
        rows = texts.get(name, _without_texts(own))
        excerpts = [_excerpt(ranking, row) for row in rows.to_dict("records")]
        worst = min(_EACH, (len(excerpts) + 1) // 2)
        line = [f"mean {_MEAN(mean)}", counted(len(own), "answer")]
        if len(compared.names) > 1:
            line.insert(0, f"rank {rank}")
        cards.append(
            Card(
                title=compared.short[name],
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


def _excerpt(ranking: Ranking, row: Mapping[Any, Any]) -> Excerpt:
    scores = []
    for name in ranking.criteria:
        column = CRITERION + name
        if pd.notna(row.get(column)):
            scores.append(f"{ranking.titles[column]} {row[column]:g}")
    return Excerpt(
        score=_MEAN(row[FINAL]),
        about=f"{ranking.titles[row['group']]}, {ranking.titles[row['language']]}",
        question=_shortened(str(row["question"] or row["id"]), _QUESTION),
        answer=_shortened(str(row["answer"]), _ANSWER),
        criteria=", ".join(scores),
        reason=visible(reason_of(str(row["explanation"]))),
        link=str(row["page"]),
    )


def _shortened(text: str, most: int) -> str:
    """The start of a text, on one line and without control characters."""
    line = " ".join(visible(text[: 2 * most]).split())
    if len(line) <= most:
        return line
    return f"{line[:most].rstrip()}…"


# --- judgements ---

_SENTENCES = 2
_REASON = 200
"""Characters of a reason in short."""
_SENTENCE_END = re.compile(r"(?<=[^\d\s][.!?])\s+|(?<=[。！？])")
_EARLIER = re.compile(r"NaN: criteria by which (answers to .{1,200}) are not judged\.")
"""How earlier logs say which criteria have no score."""
_NEXT_JUDGE = re.compile(rf"{BETWEEN_JUDGES}(?=Judge: )")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"#{1,6}\s+(.+)")
_BOLD = re.compile(r"(?<![A-Za-z0-9])\*\*(?=\S)([^*]+)(?<=\S)\*\*(?![A-Za-z0-9])")
_CODE = re.compile(r"`([^`]+)`")
_NUMBERED = re.compile(r".*\d\s*|.*: no whole number given\s*")
"""A heading with the score of a criterion; that of the closing words has none."""
_NO_REASON = re.compile(
    rf"#|```|\{{|\[simulated|Judge: `|\*\*[^*]+\*\*$|(?:Score|分数|得分)\s*[:：]"
    rf"|{OTHER_CRITERIA}|{re.escape(CUT_OFF_NOTE)}|\*\*No score: "
)
"""How lines begin that are no reason: headings, scores and what the scorer adds."""


def judgement_markup(text: str) -> Markup:
    """A judgement as text that is all escaped; headings, bold and code are marked as such."""
    lines = []
    in_code = False
    for line in str(escape(_plain(text))).split("\n"):
        if _FENCE.match(line):
            in_code = not in_code
        lines.append(line if in_code else _marked(line))
    return Markup("\n".join(lines))  # noqa: S704 (escaped above)


def reason_of(judgement: str) -> str:
    """The first sentences of the first judge's reason that has one."""
    reasons = (_judge_reason(each) for each in _NEXT_JUDGE.split(_plain(judgement)))
    reason = next(filter(None, reasons), "")
    sentences = _SENTENCE_END.split(reason)
    short = " ".join(sentences[:_SENTENCES])
    if len(short) <= _REASON:
        return short
    return f"{short[:_REASON].rstrip()}…"


def _judge_reason(judgement: str) -> str:
    """What one judge says as a reason: its closing words, if it wrote some."""
    _, _, last = judgement.rpartition("\n### ")
    heading, _, closing = last.partition("\n")
    reason = ""
    if not _NUMBERED.fullmatch(heading):
        reason = _reason_in(closing)
    return reason or _reason_in(judgement)


def _reason_in(text: str) -> str:
    """What a text says as a reason, on one line."""
    lines = [line for line in text.splitlines() if not _NO_REASON.match(line.strip())]
    plain = _BOLD.sub(r"\1", " ".join(lines))
    return " ".join(plain.split())


def _plain(text: str) -> str:
    """A judgement of an earlier log in the words of now."""
    return _EARLIER.sub(rf"{OTHER_CRITERIA}: \1 are not judged by them.", text)


def _marked(line: str) -> str:
    """A line that is escaped already, with tags in the place of marks."""
    heading = _HEADING.fullmatch(line)
    if heading is not None:
        return f"<b>{heading[1].replace('**', '')}</b>"
    bold = _BOLD.sub(r"<b>\1</b>", line)
    return _CODE.sub(r"<code>\1</code>", bold)
