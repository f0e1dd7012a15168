"""Judges' replies for property tests: scores, and every accepted way to write them down."""

import json
import re
from dataclasses import dataclass

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from urs_inspect.judging import ScoreRecord
from urs_inspect.rubrics import FINAL, Rubric, load_rubric, normalise_key

PROPERTY = settings(
    deadline=None, database=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
"""No deadline: a slow machine is no bug. No database: what an earlier run found decides nothing."""
SEARCH = settings(PROPERTY, max_examples=200)
"""For attacks, which are rare among random texts."""

RUBRIC: Rubric = load_rubric()
INTENTS = tuple(RUBRIC.intents)
QA = RUBRIC.intents["factual_qa"].criteria
"""factuality, user_satisfaction, clarity, completeness, logical_coherence"""
QA_SCORES: dict[str, int | None] = dict(zip(QA, (9, 6, 7, 8, 5), strict=True))

NESTED_KEYS = ("score", "rating", "value", "分数", "得分", "评分", "打分")

_FULL_WIDTH_DIGITS = str.maketrans("0123456789/.", "０１２３４５６７８９／．")
_QUOTES = ('""', "''", "“”", "„“", "‘’", "＂＂", "＇＇", "「」", "『』", "")
_PROSE = (
    "",
    "Here is my judgement.\n\n### Factuality\nThe year is right.\nScore: 8\n\n",
    "### 事实正确性\n年份正确，得 8 分。\n",
    "The answer uses f(x) = {x} and a set {1, 2}, as the reference does.\n",
    "It says: `if (a) { b(); }`.\n",
    "A brace } closes nothing here.\n",
    "A brace { stays open here.\n",
    'The unrelated object {"id": 3, "name": "x"} is part of the answer.\n',
    'Its invoice reads {"total": 9}.\n',
    "It's fine; isn't it? “Yes”, they'd say.\n",
    "总的来说，回答较好。\n",
)


@dataclass(frozen=True)
class Written:
    """A reply and what must be read from it."""

    text: str
    criteria: tuple[str, ...]
    expected: ScoreRecord


def spellings(key: str) -> list[str]:
    """Every name a judge may use for a score key: both languages, aliases, and the paper's combined
    form.
    """
    if key == FINAL:
        terms = [language.final for language in RUBRIC.languages.values()]
        return [name for term in terms for name in (term.name, *term.aliases)]
    en, zh = (RUBRIC.criteria[key][code] for code in ("en", "zh"))
    combined = [
        f"{zh.name}({en.name})",
        f"{zh.name}（{en.name}）",
        f"{en.name} ({zh.name})",
        f"{zh.name} {en.name}",
    ]
    return [
        en.name,
        zh.name,
        en.name.lower(),
        en.name.upper(),
        key,
        *en.aliases,
        *zh.aliases,
        *combined,
    ]


def full_names(key: str) -> list[str]:
    """Names that no other part of speech can be mistaken for."""
    if key == FINAL:
        return [language.final.name for language in RUBRIC.languages.values()]
    return spellings(key)


@st.composite
def _values(draw: st.DrawFn, score: int, quotes: str) -> str:
    number = draw(
        st.sampled_from(
            ["{}", "{}.0", "{}/10", "{} / 10", "{}.0/10", "{}分", "{} 分", "{}/10分", "{}分/10分"]
        )
    )
    text = number.format(score)
    if draw(st.booleans()):
        text = text.translate(_FULL_WIDTH_DIGITS)
    if quotes and draw(st.booleans()):
        text = f"{quotes[0]}{draw(st.sampled_from(['', ' ', '**']))}{text}{quotes[1]}"
    if draw(st.integers(0, 4)) == 0:
        key = draw(st.sampled_from(NESTED_KEYS))
        text = f"{{{_quoted(key, quotes)}: {text}}}"
    return text


def _quoted(text: str, quotes: str) -> str:
    return f"{quotes[0]}{text}{quotes[1]}" if quotes else text


@st.composite
def written_replies(draw: st.DrawFn) -> Written:
    """Valid scores of any intent, in any mixture of the notations that judges use, with anything
    around.
    """
    criteria = RUBRIC.intents[draw(st.sampled_from(INTENTS))].criteria
    scores = {key: draw(st.none() | st.integers(1, 10)) for key in criteria}
    final = draw(st.integers(1, 10))
    quotes = draw(st.sampled_from(_QUOTES))
    colon = draw(st.sampled_from([":", ": ", " : ", "：", "： "]))
    comma = draw(st.sampled_from([",", ", ", "，", ",\n  "]))
    opening, closing = draw(st.sampled_from([("{", "}"), ("｛", "｝")]))
    given_keys = [FINAL, *(key for key, score in scores.items() if score is not None)]
    written_final = spellings(FINAL) if len(given_keys) > 1 else full_names(FINAL)
    pairs = []
    for key in draw(st.permutations(given_keys)):
        name = draw(st.sampled_from(written_final if key == FINAL else spellings(key)))
        score = final if key == FINAL else scores[key]
        assert score is not None
        pairs.append(_quoted(name, quotes) + colon + draw(_values(score, quotes)))
    if draw(st.booleans()):
        extra = _quoted(draw(st.sampled_from(["Comment", "判断", "Confidence"])), quotes)
        pairs.insert(draw(st.integers(0, len(pairs))), f"{extra}{colon}{_quoted('good', quotes)}")
    padding = draw(st.sampled_from(["", " ", "\n"]))
    record = (
        opening + padding + comma.join(pairs) + draw(st.sampled_from(["", ","])) + padding + closing
    )
    fence = draw(
        st.sampled_from(
            ["{}", "```json\n{}\n```", "```\n{}\n```", "```python\n{}\n```", "**{}**", "`{}`"]
        )
    )
    before, after = draw(st.sampled_from(_PROSE)), draw(st.sampled_from(_PROSE))
    return Written(
        f"{before}{fence.replace('{}', record)}\n{after}", criteria, ScoreRecord(final, scores)
    )


# Everything out of which something like a record can be put together.
_SIGNS = (*"\"'“”「」{}｛｝[]:：,， \n\\/.", '": ', '", "', '{"', "'}", "```json\n")
_WORDS = (
    *(
        "Total",
        "Final",
        "score",
        "分数",
        "Comment",
        "total: 3",
        "分",
        "null",
        "true",
        "high",
        "-",
        "10",
        "11",
    ),
    *"870８",
)
_PARTS = st.sampled_from(
    [*(n for key in (FINAL, *QA[:2]) for n in spellings(key)[:4]), *_WORDS, *_SIGNS]
)
record_soup = st.lists(_PARTS, max_size=40).map("".join)
"""Text in which records occur by accident, whole and broken."""

_NOISE = st.lists(
    st.sampled_from(
        [
            '{"',
            '": ',
            ", ",
            "}",
            "{",
            "score",
            "Rating",
            "结果",
            "Quality",
            "8",
            "7",
            "10",
            "/10",
            "分",
            '"',
        ]
    )
    | st.text(max_size=5),
    max_size=40,
).map("".join)


def names_no_score(text: str) -> bool:
    """Whether a text holds no spelling of any score key, however it is punctuated."""
    folded = normalise_key(text)
    return not any(spelling in folded for spelling in RUBRIC.keys_by_spelling)


noise = _NOISE.filter(names_no_score)
"""Objects and numbers, and no name of a score anywhere."""

_SPELLED_FINAL = "|".join(
    r"[\W_]*".join(map(re.escape, spelling))
    for spelling in sorted(RUBRIC.keys_by_spelling, key=len, reverse=True)
    if RUBRIC.keys_by_spelling[spelling] == FINAL
)
_NESTED = "|".join(NESTED_KEYS)


def writes_final(text: str, final: int) -> bool:
    """Whether the number stands in the text as the value of a final score.

    A slow, obvious second opinion.
    """
    folded = text.translate(
        str.maketrans("｛｝：，／０１２３４５６７８９．", "{}:,/0123456789.")
    ).casefold()
    value = rf"[\W_]*(?:\{{[^{{}}]*?(?:{_NESTED})[\W_]*)?0*{final}(?!\d)"
    return re.search(rf"(?:{_SPELLED_FINAL}){value}", folded) is not None


def typical_reply() -> str:
    """A reply as asked for, of about 1,500 characters."""
    reason = (
        "The answer states what the reference answer states and explains it with care; it leaves"
        " out one detail that the user would have liked to know, and gives no example of how it is"
        " done in practice. Compared with the reference it is a little weaker."
    )
    names = {key: RUBRIC.criteria[key]["en"].name for key in QA}
    reasons = [f"### {names[key]}\n{reason}\nScore: {score}" for key, score in QA_SCORES.items()]
    record = {names[key]: score for key, score in QA_SCORES.items()} | {"Final Score": 7}
    return "\n\n".join([*reasons, f"```json\n{json.dumps(record)}\n```"])


def messy_reply() -> str:
    """A reply with all that is not JSON: full-width marks, units, combined keys, stray braces, a
    trailing remark.
    """
    reason = (
        "回答与参考答案大体一致，说明清楚，但漏掉了一处用户会想知道的细节，"
        "也没有举例说明实际怎么做，因此酌情扣分。"
    )
    names = {
        key: f"{RUBRIC.criteria[key]['zh'].name}（{RUBRIC.criteria[key]['en'].name}）" for key in QA
    }
    reasons = [f"**{names[key]}**：{reason}打分：{score}分。" for key, score in QA_SCORES.items()]
    record = "，\n".join(f"“{names[key]}”：{score}/10" for key, score in QA_SCORES.items())
    return "\n\n".join(
        [
            "参考答案给出集合 {1, 2}。",
            *reasons,
            f"｛{record}，\n“综合得分”：７分，｝",
            "以上是我的评分，供参考。",
        ]
    )
