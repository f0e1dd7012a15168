"""`urs-inspect annotate`, for ratings, without its page, and what reads its files."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.log import EvalError, read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput

from tests.annotation.samples import ballots, rating, shown_logs
from tests.ballot_files import write_ballots
from tests.cli.conftest import Run, Said, cells_of
from tests.cli.test_annotate import cast, write
from tests.rating.samples import queue
from tests.reports.judged_logs import answered, judgement, write_judged
from tests.reports.mad_logs import ballot as battle
from tests.reports.mad_logs import judged, write_log
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.annotation._ratings import inclusion_weights
from urs_inspect.rating._answers import answers_to_rate
from urs_inspect.rating._command import _print_attached
from urs_inspect.rating._queue import draw
from urs_inspect.reports.numbers._human_data import read_human_ratings
from urs_inspect.rubrics import load_rubric


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shown_logs(tmp_path_factory.mktemp("rated"))


@pytest.fixture
def ratings(logs: Path, tmp_path: Path) -> Path:
    """Nine ratings of each of two people, and a line of the second that is none."""
    for number, rater in enumerate(("ann", "ben")):
        write(
            tmp_path / "ratings" / f"{rater}.jsonl",
            *(
                rating(
                    drawn.answer,
                    final - number,
                    rater,
                    criteria={"clarity": 4},
                    rate=drawn.rate,
                    threshold=drawn.threshold,
                    seconds=3,
                ).to_line()
                for drawn, final in zip(queue(logs), range(2, 11), strict=False)
            ),
            *["[garbage]"] * number,
        )
    return tmp_path / "ratings"


def test_the_report_counts_ratings_raters_and_what_does_not_count(
    run: Run, logs: Path, ratings: Path
) -> None:
    result = run("annotate", logs, "--votes", ratings, "--report", "--limit", 5)
    assert result.exit_code == 0, result.output
    assert tells(result.output, "10 ratings ... 5 of 5 answers: 5 with 2 ratings.")
    # Finals 2 to 6 and 1 to 5: within 5 * 2, all values (1..6, with 2 to 5 twice) 10 * sum of
    # squares 22.5 * 2.
    assert tells(result.output, "Krippendorff ... 0.80")
    assert tells(result.output, "8 ratings ... other answers")
    assert tells(result.output, f"not count: {ratings / 'ben.jsonl'}: line 10")
    assert cells_of(result.output) == [
        ["ann", "5", "4.0", "1.0", "0", "-", "0", "3"],
        ["ben", "5", "3.0", "1.0", "0", "-", "0", "3"],
    ]


def test_ratings_in_a_copy_are_counted_apart_from_those_that_do_not_count(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reading: Any = SimpleNamespace(
        ratings=range(3),
        checks=["again"],
        cannot_tell=["x", "y"],
        replaced=1,
        undone=4,
        errors=["line 4: [bad]"],
    )
    _print_attached(1, reading, Path("copy[1].eval"))
    lines = capsys.readouterr().out.splitlines()
    expected = [
        "1 rating is in copy[1].eval",
        "1 repeated rating",
        "could not tell: 2",
        "2 ratings are about other answers",
        "1 ratings were replaced ... 4 taken back",
        "line 4: [bad]",
    ]
    assert len(lines) == len(expected)
    assert [
        words for line, words in zip(lines, expected, strict=True) if not tells(line, words)
    ] == []
    reading = SimpleNamespace(ratings=range(2), checks=[], cannot_tell=[], errors=[])
    reading.replaced = reading.undone = 0
    _print_attached(2, reading, Path("copy.eval"))
    [line] = capsys.readouterr().out.splitlines()
    assert tells(line, "2 ratings are in copy.eval")


def test_the_report_on_ratings_names_logs_of_mad_that_it_did_not_use(
    run: Run, logs: Path, ratings: Path, tmp_path: Path
) -> None:
    votes = write_log(tmp_path / "mad.eval", judged(battle("q", "p/apple", "p/pear"), 1.0))
    result = run("annotate", logs, votes, "--votes", ratings, "--report")
    assert result.exit_code == 0, result.output
    said, *_ = result.output.splitlines()
    assert tells(said, "1 log was left out ... urs_inspect/mad")
    assert tells(result.output, "18 ratings ... answers")


def test_judges_of_a_panel_that_disagree_are_read_of_logs(tmp_path: Path) -> None:
    panels: list[dict[str, float | None]] = [
        {"p/judge": 4, "p/other": 5.5},
        {"p/judge": 4, "p/other": None},
    ]
    samples = [
        answered(f"q{number}", judgement(4, panel=panel)) for number, panel in enumerate(panels)
    ]
    write_judged(tmp_path / "log.eval", *samples)
    found = {drawn.answer.question: drawn.rate for drawn in queue(tmp_path / "log.eval")}
    assert found == {"q0": 2.5, "q1": 1.0}


def test_answers_of_logs_of_both_formats(logs: Path, tmp_path: Path) -> None:
    log = read_eval_log(str(logs / "pear.eval"))
    write_eval_log(log, str(tmp_path / "2026-01-01T00-00-00_pear.json"))
    both = [
        drawn.answer
        for drawn in queue(logs / "apple.eval", tmp_path / "2026-01-01T00-00-00_pear.json")
    ]
    assert both == [drawn.answer for drawn in queue(logs)]
    first = next(answer for answer in both if answer.question == "tea" and answer.model == "p/pear")
    assert (first.intent, first.language) == ("ask_for_advice", "zh")
    assert (first.instruction, first.reference) == (
        "怎样泡一杯好喝的绿茶？",
        "The reference answer.",
    )


@pytest.mark.satellites
def test_agreement_reads_the_directory_and_one_file(said: Said, logs: Path, ratings: Path) -> None:
    again = json.loads((ratings / "ann.jsonl").read_text("utf-8").splitlines()[0])
    with (ratings / "ann.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({**again, "rating": 9}) + "\n")  # the later rating replaces the first
        file.write(json.dumps({**again, "rating": 7, "check": True}) + "\n")
    found = read_human_ratings(ratings, (1, 10))
    assert len(found.ratings) == 18
    about = (again["id"], again["model"])
    assert [one.rating for one in found.ratings if (one.question, one.model) == about] == [9, 1]
    assert all(1 <= one.weight < 100 for one in found.ratings)
    report = said("agreement", "--all", logs, "--human", ratings)
    assert "2 people gave 18 ratings" in report
    assert tells(report, "unequal chances")
    assert tells(report, "ann ... 1 answer twice ... 2.0")
    assert tells(report, "1 rating replaced ... 0 taken back")
    assert "1 person gave" in said("agreement", "--all", logs, "--human", ratings / "ben.jsonl")


def test_a_copy_of_the_log_has_the_ratings_as_scores(
    said: Said, refused: Said, logs: Path, ratings: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.eval"
    command = ("annotate", logs / "apple.eval", "--votes", ratings, "--output", copy)
    output = said(*command)
    given = {
        drawn.answer.question: final - 0.5
        for drawn, final in zip(queue(logs), range(2, 11), strict=False)
        if drawn.answer.model == "p/apple"
    }
    here = 2 * len(given)
    assert 0 < here < 18
    assert tells(output, f"{here} ratings are in {copy} ... {18 - here} ratings are about other")
    assert f"does not count: {ratings / 'ben.jsonl'}: line 10" in output
    found = read_eval_log(str(copy))
    scores = {str(sample.id): sample.scores or {} for sample in found.samples or []}
    values: dict[str, Any] = {
        name: each["human_rating"].value for name, each in scores.items() if len(each) > 1
    }
    assert {name: value["final"] for name, value in values.items()} == given
    assert all("intent_judge" in each for each in scores.values())
    assert found.results is not None
    assert found.results.scores[0].name == "human_rating"
    mean = sum(each["weight"] * each["final"] for each in values.values()) / sum(
        v["weight"] for v in values.values()
    )
    assert found.results.scores[0].metrics["rated_mean"].value == pytest.approx(mean)
    assert found.eval.model == "p/apple"
    assert "there is a file" in refused(*command)


def test_answers_that_somebody_could_not_rate_are_counted_and_no_score(
    run: Run, said: Said, logs: Path, ratings: Path, tmp_path: Path
) -> None:
    before = read_human_ratings(ratings, (1, 10)).ratings
    unrated = queue(logs)[9]
    line = rating(unrated.answer, 1, "ann", cannot_tell=True, threshold=unrated.threshold).to_line()
    assert "rating" not in json.loads(line)
    with (ratings / "ann.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    assert [one.rating for one in read_human_ratings(ratings, (1, 10)).ratings] == [
        one.rating for one in before
    ]
    output = run("annotate", logs, "--votes", ratings, "--report").output
    assert [row[6] for row in cells_of(output)] == ["1", "0"]
    assert "could not tell: 1 answer" in said("report", "--all", logs, "--human", ratings)
    copy = tmp_path / "copy.eval"
    log = logs / f"{unrated.answer.model.removeprefix('p/')}.eval"
    output = said("annotate", log, "--votes", ratings, "--output", copy)
    assert "could not tell: 1" in output
    scores = {str(one.id): one.scores or {} for one in read_eval_log(str(copy)).samples or []}
    assert "human_rating" not in scores[unrated.answer.question]


def test_only_answers_to_questions_of_one_language_are_rated(
    run: Run, refused: Said, logs: Path, tmp_path: Path
) -> None:
    english = next(drawn.answer for drawn in queue(logs) if drawn.answer.language == "en")
    write(tmp_path / "ratings" / "me.jsonl", rating(english, 5).to_line())
    command = (
        "annotate",
        logs,
        "--votes",
        tmp_path / "ratings",
        "--report",
        "--language",
    )
    assert tells(run(*command, "zh").output, "1 ratings ... other answers")
    assert "1 of 10 answers" in run(*command, "en").output
    assert tells(refused(*command, "fr"), "'fr'; there are: en, zh")


def test_only_answers_that_a_file_names_are_rated(
    run: Run, refused: Said, logs: Path, tmp_path: Path
) -> None:
    chosen = [drawn.answer for drawn in queue(logs)[:3]]
    lines = [f"{answer.question},{answer.model}," for answer in chosen]
    (file := tmp_path / "rest.csv").write_text("\n".join(["id,model,rating", *lines]))
    write(tmp_path / "ratings" / "me.jsonl", rating(chosen[0], 5).to_line())
    command = ("annotate", logs, "--votes", tmp_path / "ratings", "--report", "--only")
    assert "1 of 3 answers" in run(*command, file).output
    file.write_text("id,model\nnowhere,p/nobody")
    assert tells(refused(*command, file), "rest.csv ... p/")
    file.write_text("id,model,rating\n")
    assert tells(refused(*command, file), "rest.csv ... nothing is left")


def test_answers_judged_by_a_rubric_of_ones_own_are_rated_by_it(
    run: Run, refused: Said, tmp_path: Path
) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("name: own\nversion: '1'\n", encoding="utf-8")
    sample = answered("q1", judgement(5.0), output=ModelOutput.from_content("p/model", "text"))
    log = write_judged(tmp_path / "a.eval", sample, metadata={"rubric": "own 1"})
    (tmp_path / "ratings").mkdir()
    command = ("annotate", log, "--votes", tmp_path / "ratings", "--report")
    assert tells(refused(*command), "'own 1' ... --rubric")
    found = run(*command, "--rubric", own)
    assert found.exit_code == 0, found.output


def test_answers_of_one_language_stand_for_those_of_this_language(logs: Path) -> None:
    """The last answer of each language has no threshold: all of its language were rated, not all of
    the model.
    """
    answers = answers_to_rate([str(logs)], load_rubric())[0]
    tea = draw([answer for answer in answers if answer.language == "zh"])
    [first, *_] = draw([answer for answer in answers if answer.language == "en"])
    given = [
        rating(first.answer, 5, questions="en", rate=first.rate, threshold=first.threshold),
        *[
            rating(one.answer, 5, questions="zh", rate=one.rate, threshold=one.threshold)
            for one in tea
        ],
    ]
    weights = inclusion_weights(given)
    assert {weights[one.answer.id] for one in tea} == {1.0}
    assert weights[first.answer.id] > 1


def test_ratings_of_another_scale_and_empty_ones_are_refused(ratings: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the scale must be 1,10, .* got 1,5"):
        read_human_ratings(ratings, (1, 5))
    write(tmp_path / "empty" / "me.jsonl", "[]")
    with pytest.raises(InputError, match=r"no rating\n.*line 1:.*JSON"):
        read_human_ratings(tmp_path / "empty", (1, 10))


def test_what_of_logs_cannot_be_rated_is_told(said: Said, refused: Said, tmp_path: Path) -> None:
    gone = EvalError(message="gone", traceback="", traceback_ansi="")
    by = {"rubric": f"{load_rubric().name} 0.1"}
    failed = tmp_path / "failed.eval"
    for judge in ("p/x", "p/y"):
        score = judgement(5.0, judge)
        samples = [answered("tea", score), answered("rum", score, error=gone)]
        write_judged(
            tmp_path / "logs" / f"{judge[2:]}.eval",
            *samples,
            roles={"grader": [judge]},
            metadata=by,
        )
        write_judged(failed, samples[1], metadata=by)
    write(tmp_path / "ratings" / "ann.jsonl")
    ratings = ("--votes", tmp_path / "ratings", "--report")
    output = said("annotate", tmp_path / "logs", *ratings)
    told = "x.eval was judged by version 0.1 of the rubric; ratings are by"
    for words in (
        told,
        "y.eval was judged by version 0.1",
        "2 samples without an answer, after an error, skipped.",
        "1 answer in several logs, rated once.",
    ):
        assert words in output
    error = refused("annotate", failed, *ratings)
    assert tells(
        error, "no answer to rate: all samples ended in an error ... failed.eval was judged"
    )
    assert "without an answer" not in error


ODD_LOGS: dict[str, Any] = {
    "unscored": lambda path: write_judged(path, answered("q")),
    "unfinished": lambda path: write_judged(path, answered("q", judgement(5)), status="error"),
    "other": lambda path: write_judged(
        path, answered("q", judgement(5)), metadata={"rubric": "mine 1"}
    ),
    "intent": lambda path: write_judged(
        path,
        answered("q", judgement(5), metadata={"intent": "gossip"}),
        metadata={"rubric": "urs 2"},
    ),
    "twice": lambda path: write_judged(
        path,
        answered("tea", judgement(5, "p/other")),
        model="p/apple",
        roles={"grader": ["p/other"]},
        metadata={"rubric": "urs 2"},
    ),
}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            "{source} --raters 2",
            "--raters is for ratings of answers in logs of urs, and SOURCE has pairs",
        ),
        ("{logs} --order own", "--order is for votes on pairs, and SOURCE has answers to rate"),
        ("{logs} --votes nowhere --report", "no directory 'nowhere' with ratings"),
        ("none.eval", "no log 'none.eval'"),
        ("{logs} --output x.eval", "output: needs one log of urs"),
        ("{logs}/apple.eval --votes no --output x.eval", "no file 'no' with ratings"),
        ("unscored.eval", "no finished log with answers scored by intent_judge"),
        ("unfinished.eval", "no finished log with answers scored by intent_judge"),
        ("other.eval", "other.eval: was judged by the rubric 'mine 1'"),
        (
            "intent.eval",
            "intent.eval: 'q' has the intent 'gossip', which the rubric does not have",
        ),
        ("{logs}/apple.eval twice.eval", "'tea' has different answers of p/apple, epoch 1"),
        ("{logs} --votes votes --annotator me", "votes/me.jsonl: holds votes"),
    ],
)
def test_bad_input_is_refused(
    refused: Said,
    logs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: str,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "ballots.jsonl"
    write_ballots(ballots(3), source)
    cast(Path("votes"), "me", "a")
    for name, make in ODD_LOGS.items():
        if f"{name}.eval" in arguments:
            make(Path(f"{name}.eval"))
    error = refused("annotate", *arguments.format(source=source, logs=logs).split())
    assert error.startswith(f"Error: {words}")


def test_a_share_above_one_is_refused(run: Run, logs: Path) -> None:
    assert run("annotate", logs, "--checks", "2").exit_code == 2


def test_without_ratings_the_report_says_so(run: Run, logs: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    output = run("annotate", logs, "--votes", tmp_path / "none", "--report").output
    assert output == "No ratings yet.\n"
