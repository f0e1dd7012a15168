"""`urs-inspect annotate --rate`, without its page, and what reads its files."""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log, write_eval_log

from tests.annotation.rated import shown_logs
from tests.cli.conftest import Run
from tests.reports.judged_logs import answered, judgement, write_judged
from urs_inspect.annotation.rating_queue import ToRate, draw
from urs_inspect.annotation.ratings import Rating
from urs_inspect.reports.agreement_report import report_agreement
from urs_inspect.reports.human_data import answers_to_rate, read_human_ratings
from urs_inspect.rubrics import load_rubric


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shown_logs(tmp_path_factory.mktemp("rated"))


def queue(*logs: Path) -> tuple[ToRate, ...]:
    return draw(answers_to_rate(map(str, logs), load_rubric())[0])


def rated(directory: Path, *logs: Path, raters: tuple[str, ...] = ("ann", "ben"), finals: tuple[int, ...] = ()) -> Path:
    directory.mkdir()
    for number, rater in enumerate(raters):
        given = [
            Rating(
                drawn.answer.question,
                drawn.answer.model,
                drawn.answer.epoch,
                rater,
                drawn.answer.text_digest,
                final=final - number,
                criteria={"clarity": 4},
                rate=drawn.rate,
                threshold=drawn.threshold,
                seconds=3,
            ).to_line()
            for drawn, final in zip(queue(*logs), finals or range(2, 12), strict=False)
            if final <= 10
        ]
        (directory / f"{rater}.jsonl").write_text("".join(f"{line}\n" for line in given), "utf-8")
    return directory


def test_answers_of_logs_of_both_formats(logs: Path, tmp_path: Path) -> None:
    log = read_eval_log(str(logs / "pear.eval"))
    write_eval_log(log, str(tmp_path / "2026-01-01T00-00-00_pear.json"))
    both = queue(logs / "apple.eval", tmp_path / "2026-01-01T00-00-00_pear.json")
    assert [drawn.answer for drawn in both] == [drawn.answer for drawn in queue(logs)]
    first = next(drawn.answer for drawn in both if drawn.answer.question == "tea" and drawn.answer.model == "p/pear")
    assert (first.intent, first.language, first.score, first.reference) == (
        *("ask_for_advice", "zh", 6),
        "The reference answer.",
    )
    assert first.instruction == "怎样泡一杯好喝的绿茶？"


def test_the_report_counts_ratings_raters_and_what_does_not_count(run: Run, logs: Path, tmp_path: Path) -> None:
    ratings = rated(tmp_path / "ratings", logs)
    with (ratings / "ben.jsonl").open("a", encoding="utf-8") as file:
        file.write("[garbage]\n")
    result = run("annotate", logs, "--rate", "--ratings", ratings, "--report", "--limit", 5)
    assert result.exit_code == 0, result.output
    assert "10 ratings of 5 of 5 answers: 5 with 2 ratings." in result.output
    # Finals 2 to 6 and 1 to 5: within 5 * 2, all values (1..6, with 2 to 5 twice) 10 * sum of squares 22.5 * 2.
    assert "Krippendorff's alpha of final scores: 0.80" in result.output
    assert "8 ratings are about other answers" in result.output
    assert f"does not count: {ratings / 'ben.jsonl'}: line 10: not JSON" in result.output
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in result.output.splitlines() if "│" in line]
    assert rows == [["ann", "5", "4.0", "1.0", "0", "-", "3"], ["ben", "5", "3.0", "1.0", "0", "-", "3"]]


def test_without_ratings_the_report_says_so(run: Run, logs: Path, tmp_path: Path) -> None:
    (tmp_path / "ratings").mkdir()
    assert run("annotate", logs, "--rate", "--ratings", tmp_path / "ratings", "--report").output == "No ratings yet.\n"


def test_agreement_reads_the_directory_and_one_file(logs: Path, tmp_path: Path) -> None:
    ratings = rated(tmp_path / "ratings", logs)
    again = json.loads((ratings / "ann.jsonl").read_text("utf-8").splitlines()[0])
    with (ratings / "ann.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({**again, "rating": 9}) + "\n")  # the later rating replaces the first
        file.write(json.dumps({**again, "rating": 7, "check": True}) + "\n")
    found = read_human_ratings(ratings, (1, 10))
    assert len(found.ratings) == 18
    assert [one.rating for one in found.ratings if one.question == again["id"] and one.model == again["model"]] == [
        9,
        1,
    ]
    assert all(1 <= one.weight < 100 for one in found.ratings)
    report = report_agreement([str(logs)], human=ratings).markdown()
    assert "2 people gave 18 ratings" in report
    assert "drawn with unequal chances" in report
    assert "ann rated 1 answer twice, with a mean difference of 2.0" in report
    assert "1 rating replaced later by the same person, 0 taken back" in report
    assert "1 person gave" in report_agreement([str(logs)], human=ratings / "ben.jsonl").markdown()


def test_a_copy_of_the_log_has_the_ratings_as_scores(run: Run, logs: Path, tmp_path: Path) -> None:
    ratings = rated(tmp_path / "ratings", logs)
    with (ratings / "ben.jsonl").open("a", encoding="utf-8") as file:
        file.write("[garbage]\n")
    copy = tmp_path / "copy.eval"
    result = run("annotate", logs / "apple.eval", "--rate", "--ratings", ratings, "--output", copy)
    assert result.exit_code == 0, result.output
    here = 2 * sum(drawn.answer.model == "p/apple" for drawn in queue(logs)[:9])
    assert 0 < here < 18
    assert f"{here} of 18 ratings are about this log's answers; {18 - here} about others" in result.output
    assert f"does not count: {ratings / 'ben.jsonl'}: line 10" in result.output
    found = read_eval_log(str(copy))
    given = {
        drawn.answer.question: final - 0.5
        for drawn, final in zip(queue(logs), range(2, 11), strict=False)
        if drawn.answer.model == "p/apple"
    }
    scores = {str(sample.id): sample.scores or {} for sample in found.samples or []}
    values: dict[str, Any] = {name: each["human_rating"].value for name, each in scores.items() if len(each) > 1}
    assert {name: value["final"] for name, value in values.items()} == given
    assert all("intent_judge" in each for each in scores.values())
    assert found.results is not None
    assert found.results.scores[0].name == "human_rating"
    mean = sum(each["weight"] * each["final"] for each in values.values()) / sum(v["weight"] for v in values.values())
    assert found.results.scores[0].metrics["rated_mean"].value == pytest.approx(mean)
    assert found.eval.model == "p/apple"
    again = run("annotate", logs / "apple.eval", "--rate", "--ratings", ratings, "--output", copy)
    assert "there is a file" in again.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("{logs}", "--raters", "2"), "Error: --raters is for ratings; add --rate"),
        (("{logs}", "--rate", "--votes", "v"), "Error: --votes is for votes; leave out --rate"),
        (("{logs}/apple.eval", "{logs}/pear.eval"), "Error: votes are about one log or file with ballots, got 2"),
        (("{logs}", "--rate", "--report"), "Error: no directory 'ratings' with ratings"),
        (("none.eval", "--rate"), "Error: no log 'none.eval'"),
        (("{logs}", "--rate", "--output", "x.eval"), "Error: output: needs one log of urs"),
        (("{logs}/apple.eval", "--rate", "--ratings", "no", "--output", "x.eval"), "Error: no file 'no' with ratings"),
        (("{unscored}", "--rate"), "Error: no finished log with answers scored by intent_judge"),
        (("{unfinished}", "--rate"), "Error: no finished log with answers scored by intent_judge"),
        (("{other}", "--rate"), "Error: other.eval: was judged by the rubric 'mine 1'"),
        (("{intent}", "--rate"), "Error: intent.eval: 'q' has the intent 'gossip', which the rubric does not have"),
        (("{logs}/apple.eval", "{twice}", "--rate"), "Error: 'tea' has different answers of p/apple, epoch 1"),
        (("{logs}", "--rate", "--checks", "2"), "Usage"),
        (("{logs}", "--rate", "--ratings", "{votes}", "--annotator", "me"), "Error: votes/me.jsonl: holds votes"),
    ],
)
def test_bad_input_is_refused(
    run: Run, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes").mkdir()
    (tmp_path / "votes" / "me.jsonl").write_text('{"ballot": "x", "annotator": "me", "choice": "a"}\n', "utf-8")
    places = {"logs": logs, "votes": "votes"}
    if "{" in arguments[0]:
        makers = {
            "unscored": lambda path: write_judged(path, answered("q")),
            "unfinished": lambda path: write_judged(path, answered("q", judgement(5)), status="error"),
            "other": lambda path: write_judged(path, answered("q", judgement(5)), metadata={"rubric": "mine 1"}),
            "intent": lambda path: write_judged(
                path, answered("q", judgement(5), metadata={"intent": "gossip"}), metadata={"rubric": "urs 2"}
            ),
            "twice": lambda path: write_judged(
                path,
                answered("tea", judgement(5, "p/other")),
                model="p/apple",
                roles={"grader": ["p/other"]},
                metadata={"rubric": "urs 2"},
            ),
        }
        wanted = "".join(arguments)
        places |= {name: make(tmp_path / f"{name}.eval") for name, make in makers.items() if f"{{{name}}}" in wanted}
    result = run("annotate", *(argument.format(**places) for argument in arguments))
    assert result.exit_code in (1, 2)
    assert words in result.output
    assert "Traceback" not in result.output


def test_ratings_of_another_scale_and_empty_ones_are_refused(tmp_path: Path, logs: Path) -> None:
    from urs_inspect._util import InputError

    ratings = rated(tmp_path / "ratings", logs)
    with pytest.raises(InputError, match="human-scale: must be 1,10"):
        read_human_ratings(ratings, (1, 5))
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "me.jsonl").write_text("[]\n", "utf-8")
    with pytest.raises(InputError, match=r"no rating\n.*line 1: not a JSON object"):
        read_human_ratings(tmp_path / "empty", (1, 10))
