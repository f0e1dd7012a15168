"""How many judges' replies are read in a second of one core; the goal is 20,000."""

import json
from typing import Any

import pytest

from tests.judging.replies import QA, RUBRIC
from urs_inspect.judging import ScoreRecord, read_reply

SCORES: dict[str, int | None] = dict(zip(QA, (9, 6, 7, 8, 5), strict=True))


def _english() -> str:
    """A reply as asked for, of about 1,500 characters."""
    reason = (
        "The answer states what the reference answer states and explains it with care; it leaves out one detail "
        "that the user would have liked to know, and gives no example of how it is done in practice. "
        "Compared with the reference it is a little weaker."
    )
    names = {key: RUBRIC.criteria[key]["en"].name for key in QA}
    reasons = [f"### {names[key]}\n{reason}\nScore: {score}" for key, score in SCORES.items()]
    record = {names[key]: score for key, score in SCORES.items()} | {"Final Score": 7}
    return "\n\n".join([*reasons, f"```json\n{json.dumps(record)}\n```"])


def _chinese() -> str:
    """A reply with all that is not JSON: full-width marks, units, combined keys, stray braces, a trailing remark."""
    reason = (
        "回答与参考答案大体一致，说明清楚，但漏掉了一处用户会想知道的细节，也没有举例说明实际怎么做，因此酌情扣分。"
    )
    names = {key: f"{RUBRIC.criteria[key]['zh'].name}（{RUBRIC.criteria[key]['en'].name}）" for key in QA}
    reasons = [f"**{names[key]}**：{reason}打分：{score}分。" for key, score in SCORES.items()]
    record = "，\n".join(f"“{names[key]}”：{score}/10" for key, score in SCORES.items())
    return "\n\n".join(
        ["参考答案给出集合 {1, 2}。", *reasons, f"｛{record}，\n“综合得分”：７分，｝", "以上是我的评分，供参考。"]
    )


@pytest.mark.benchmark
@pytest.mark.parametrize("text", [_english(), _chinese()], ids=["typical English", "messy Chinese"])
def test_replies_a_second(text: str, benchmark: Any):
    result = benchmark(read_reply, text, RUBRIC, QA)
    assert result == ScoreRecord(7, SCORES)
