"""MT-Bench: second turns of dialogues, unwrapped."""

import json
from collections import Counter
from pathlib import Path

import pytest

from urs_inspect.datasets import load_ratings
from urs_inspect.datasets.pinned import MT_BENCH


@pytest.mark.data
def test_four_models_answered_80_dialogues_in_eight_categories(data_dir: Path) -> None:
    data = load_ratings("mt_bench")
    assert set(Counter(case.group for case in data.cases).values()) == {40}  # 8 x 40 = 320
    assert [case.id for case in data.cases] == [f"mt_bench_{n:04d}" for n in range(1, 321)]
    assert (data.name, data.sha256, data.scale) == ("mt_bench", MT_BENCH.sha256, (1, 5))


@pytest.mark.data
def test_published_texts_are_bare_and_whole(data_dir: Path) -> None:
    data = load_ratings("mt_bench")
    rows = json.loads((data_dir / MT_BENCH.path).read_text(encoding="utf-8"))
    for case, each in zip(data.cases, rows, strict=True):
        assert "###Re" not in case.prompt + case.response
        assert case.prompt.endswith("\n\nAssistant:")
        assert case.prompt.count("User: ") >= 2
        # What is left of the instruction when prompt and response go is the frame: headings, reference, rubrics.
        wrapped = f"{case.prompt} \n\n###Response to evaluate:\n{case.response}\n\n###Reference Answer (Score 5):"
        assert wrapped in each["instruction"]
        assert case.rating == pytest.approx(sum(each["gpt4_score"]) / 3)
