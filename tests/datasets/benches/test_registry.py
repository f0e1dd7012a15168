"""Benches by name: every published one, a file of the user, and nothing else."""

from pathlib import Path

import httpx
import pytest

from tests.datasets.benches.wrapping import wrap
from tests.datasets.conftest import Publish, WriteRows
from urs_inspect._util import InputError
from urs_inspect.datasets import PAIR_BENCHES, RATING_BENCHES, SOURCES, Vocabulary, load_pairs, load_ratings

PAIRS = (
    "hhh, llmbar, llmbar/Natural, llmbar/Neighbor, llmbar/GPTInst, llmbar/GPTOut, llmbar/Manual, autoj, "
    "autoj/no_ties, preference_bench, alpaca_eval"
)
RATINGS = "vicuna, flask, feedback_bench, mt_bench"


@pytest.mark.parametrize(
    "bench", ["nope", "HHH", "llmbar/natural", "vicuna", "md_eval", "pairs.json", "autoj/ties", ""]
)
def test_an_unknown_bench_of_pairs_is_refused_with_the_known_ones(bench: str) -> None:
    with pytest.raises(InputError) as caught:
        load_pairs(bench)
    assert str(caught.value) == f"unknown bench '{bench}'; allowed: {PAIRS}, or the path of a .csv or .jsonl file"


@pytest.mark.parametrize("bench", ["nope", "Vicuna", "hhh", "ratings.tsv", ""])
def test_an_unknown_bench_of_ratings_is_refused_with_the_known_ones(bench: str) -> None:
    with pytest.raises(InputError) as caught:
        load_ratings(bench, scale=(1, 5))
    assert str(caught.value) == f"unknown bench '{bench}'; allowed: {RATINGS}, or the path of a .csv or .jsonl file"


def test_every_bench_has_its_own_file_and_is_called_like_it() -> None:
    files = set(SOURCES) - {"urs", "md_eval"}
    assert files == (set(PAIR_BENCHES) | set(RATING_BENCHES)) - {"llmbar", "autoj/no_ties"}


@pytest.mark.parametrize("bench", ["preference_bench", "alpaca_eval", "flask", "feedback_bench"])
def test_without_a_network_a_bench_says_where_its_file_comes_from_and_where_it_belongs(
    bench: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise httpx.ConnectError("no network")

    monkeypatch.setattr("httpx.get", refused)
    with pytest.raises(InputError) as caught:
        (load_pairs if bench in PAIR_BENCHES else load_ratings)(bench)
    source, message = SOURCES[bench], str(caught.value)
    for fact in (source.url, source.git_id, f"<dir>/{source.path}", source.instead, "URS_INSPECT_DATA_DIR"):
        assert fact in message


def test_a_file_may_lie_below_the_home_directory(
    write_rows: WriteRows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write_rows("p.jsonl", [{"prompt": "p", "response_a": "a", "response_b": "b", "label": "tie"}])
    write_rows("r.JSONL", [{"prompt": "p", "response": "a", "rating": 3}])
    assert load_pairs("~/p.jsonl").name == "~/p.jsonl"
    assert load_ratings("~/r.JSONL", scale=(1, 5)).name == "~/r.JSONL"


def test_arguments_that_do_not_fit_a_published_bench_are_refused(publish: Publish) -> None:
    publish("benches.flask.FLASK", [{"instruction": wrap("p", "r"), "human_score": [3]}])
    assert len(load_ratings("flask", scale=(1, 5)).cases) == 1
    with pytest.raises(InputError, match=r"^scale: 'flask' has its own, 1 to 5$"):
        load_ratings("flask", scale=(1, 10))
    with pytest.raises(InputError, match=r"^'flask' has no intents and languages; give a file of your own"):
        load_ratings("flask", vocabulary=Vocabulary(str, str))
