"""`trust`: scores of any task that need no person, and who gives the others."""

import csv
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalScore, read_eval_log, write_eval_log
from inspect_ai.model import ChatMessage, Logprob, Logprobs, ModelOutput
from inspect_ai.scorer import match, model_graded_qa

from tests.cli.conftest import Said
from tests.comparison.test_people import labels
from tests.comparison.test_samples import write_log
from tests.tasks.scripted import Script, output, run, say
from tests.telling import tells
from urs_inspect.comparison._trust import TIE, certainty_of, price_of, signs_of
from urs_inspect.comparison._trust_statistics import NOBODY
from urs_inspect.tasks import judge_rating

UNIT = (0.0, 1.0)
NUMBER = 300
JUDGED = 160
"""Answers that a judge is asked about; of the others only the scores are written."""


def letters(values: Any) -> list[str]:
    return ["C" if value else "I" for value in values]


def judged(seed: int, *errors: float) -> tuple[Any, list[Any]]:
    """What is right, and judges that are wrong so often."""
    generator = np.random.default_rng(seed)
    right = generator.random(NUMBER) < 0.6
    return right, [right ^ (generator.random(NUMBER) < error) for error in errors]


def write_judges(folder: Path, judges: Sequence[Any]) -> list[str]:
    """A log of each judge, of the same answers of one model."""
    logs = []
    for place, scores in enumerate(judges):
        (where := folder / f"judge{place}").mkdir()
        roles = {"grader": {"model": f"lab/judge{place}"}}
        logs.append(write_log(where, "m", letters(scores), scorer="graded", model_roles=roles))
    return logs


def tokens(*given: tuple[str, float]) -> list[Logprob]:
    """Tokens and their probabilities."""
    return [Logprob(token=text, logprob=float(np.log(chance))) for text, chance in given]


def log_of_sure_judge(folder: Path, verdicts: Any, chances: Any, by: str) -> str:
    """A log of a judge that says with what probability (NaN: none said) it gives each verdict.

    It judges in a role, or as the model under test where none has a role.
    """

    def reply(messages: list[ChatMessage]) -> ModelOutput:
        place = int(between_marks(messages[-1].text))
        letter = letters(verdicts)[place]
        made = output(f"It may be.\nGRADE: {letter}")
        if not np.isnan(chances[place]):
            said = tokens(("It", 1), (" may be.", 0.01), ("\nGRADE:", 1), (f" {letter}", 1))
            said[-1].logprob = float(np.log(chances[place]))
            made.choices[0].logprobs = Logprobs(content=said)
        return made

    samples = [Sample(id=n, input=f"<<{n}>>?", target="x") for n in range(len(verdicts))]
    task = Task(MemoryDataset(samples), solver=say("x"), scorer=[match(), model_graded_qa()])
    if by == "role":
        grader = Script(reply).model("sure", logprobs=True)
        return str(run(task, folder, model="mockllm/answers", grader=grader).location)
    log = run(task, folder, model=Script(reply).model("answers"), logprobs=True)
    return str(log.location)


def between_marks(text: str) -> str:
    return text.partition("<<")[2].partition(">>")[0]


def label_file(folder: Path, right: Any, chosen: Sequence[int]) -> Path:
    return labels(folder, [(place, "m", "C" if right[place] else "I") for place in chosen])


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_a_good_judge_is_taken_whole(tmp_path: Path, said: Said, facts: Callable[..., Any]) -> None:
    right, judges = judged(1, 0.02)
    logs = write_judges(tmp_path, judges)
    file = label_file(tmp_path, right, range(100))
    words = said("trust", *logs, "--human", file, "--at-least", 0.9)
    assert words.startswith("100%")
    found = facts("trust", *logs, "--human", file, "--at-least", 0.9)
    [row] = found["tables"]["judges"]
    assert (row["judge"], row["labels"], found["rest"]) == ("lab/judge0", 100, 0)
    by = [answer["by"] for answer in found["tables"]["answers"]]
    assert (by.count("person"), by.count("lab/judge0")) == (100, NUMBER - 100)


def test_of_logs_of_several_tasks_one_is_named(
    tmp_path: Path, refused: Said, facts: Callable[..., Any]
) -> None:
    right, judges = judged(1, 0.02)
    logs = write_judges(tmp_path, judges)
    other = Task([Sample(input="?", target="x")], solver=say("x"), scorer=match(), name="other")
    logs.append(str(run(other, tmp_path / "other", model="none").location))
    file = label_file(tmp_path, right, range(100))
    asked = ("trust", *logs, "--human", file, "--at-least", 0.9)
    task = read_eval_log(logs[0]).eval.task
    assert all(word in refused(*asked) for word in ("task", "other", task))
    [row] = facts(*asked, "--task", task)["tables"]["judges"]
    assert (row["judge"], row["labels"]) == ("lab/judge0", 100)


def test_counts_of_a_judges_replies_are_no_judge(tmp_path: Path, facts: Callable[..., Any]) -> None:
    right, judges = judged(2, 0.06)
    [file] = write_judges(tmp_path, judges)
    log = read_eval_log(file)
    assert log.results is not None
    log.results.scores.append(EvalScore(name="judge_outcome", scorer="judge_outcome"))
    write_eval_log(log, file)
    human = label_file(tmp_path, right, range(20))
    assert not facts("trust", file, "--human", human, "--at-least", 0.9)["left_out"]


def test_none_is_an_answer(tmp_path: Path, said: Said, facts: Callable[..., Any]) -> None:
    right, judges = judged(2, 0.06)
    logs = write_judges(tmp_path, judges)
    file = label_file(tmp_path, right, range(20))
    asked = ("trust", *logs, "--human", file, "--at-least", 0.9)
    assert said(*asked).startswith("None")
    found = facts(*asked)
    assert found["rest"] == NUMBER - 20
    [might] = re.findall(r"([\d,]+) labels might", found["headline"])
    assert int(might.replace(",", "")) > 20
    assert "200 labels" in said(*asked, "--budget", 200)
    # A judge that is never right.
    (wrong := tmp_path / "wrong").mkdir()
    logs = write_judges(wrong, [~right])
    found = facts("trust", *logs, "--human", file, "--at-least", 0.9)
    assert "might" not in found["headline"]


def test_cheap_judges_come_first_and_their_agreement_is_the_sign(
    tmp_path: Path, facts: Callable[..., Any], said: Said
) -> None:
    right, judges = judged(3, 0.01, 0.15, 0.15)
    logs = write_judges(tmp_path, judges)
    file = label_file(tmp_path, right, range(200))
    prices = ("lab/judge0=1", "lab/judge1=0.01", "lab/judge2=0.02", "person=10")
    options = [each for price in prices for each in ("--price", price)]
    asked = ("trust", *logs, "--human", file, "--at-least", 0.9, *options)
    rows = facts(*asked)["tables"]["judges"]
    assert [row["judge"] for row in rows] == ["lab/judge1", "lab/judge2", "lab/judge0"]
    assert rows[0]["taken"] == 0  # 85% are right
    assert 0.6 < rows[1]["taken"] < 0.85  # where the first agrees
    assert rows[2]["taken"] == pytest.approx(1 - rows[1]["taken"])
    assert "$10,000" in said(*asked)


def test_rest_is_labelled_and_becomes_a_log(tmp_path: Path, said: Said, refused: Said) -> None:
    right, judges = judged(4, 0.12, 0.12)
    logs = write_judges(tmp_path, judges)
    file = label_file(tmp_path, right, range(120))
    output = tmp_path / "out"
    asked = ("trust", *logs, "--human", file, "--at-least", 0.9, "-o", output)
    said(*asked)
    rest = [int(row["id"]) for row in rows_of(output / "rest.csv")]
    assert rest and not list(output.glob("*.eval"))
    before = json.loads((output / "trust.json").read_text())["tables"]["judges"]
    (folder := tmp_path / "rest").mkdir()
    told = said(*asked, "--rest", label_file(folder, right, rest))
    assert tells(told, "1 log ... trusted_")
    after = json.loads((output / "trust.json").read_text())["tables"]["judges"]
    assert before == after  # nothing is learned from labels of hard answers
    filled = label_file(output, right, rest).rename(output / "rest.csv")
    assert "rest.csv" in refused(*asked, "--rest", filled)
    [final] = output.glob("trusted_*.eval")
    log = read_eval_log(str(final))
    given = {}
    for sample in log.samples or []:
        assert sample.scores is not None
        score = sample.scores["trusted"]
        assert score.metadata is not None and score.history[-1].provenance is not None
        assert score.history[-1].provenance.author == score.metadata["by"]
        by_person = score.metadata["by"] == "person"
        assert ("people agree" in str(score.history[-1].provenance.reason)) == (not by_person)
        given[sample.id] = (score.value, score.metadata["by"])
    assert len(given) == NUMBER
    assert all(given[place] == (float(right[place]), "person") for place in rest)
    agree = [value == right[place] for place, (value, by) in given.items() if by != "person"]
    assert np.mean(agree) > 0.9
    assert log.results is not None
    assert any(score.name == "trusted" for score in log.results.scores)


def test_logs_of_one_name_in_several_folders_have_a_copy_each(tmp_path: Path, said: Said) -> None:
    right, judges = judged(4, 0.02)
    logs = []
    for model in ("m", "n"):
        (where := tmp_path / model).mkdir()
        written = Path(write_log(where, model, letters(judges[0]), scorer="graded"))
        logs.append(written.rename(where / "same.eval"))
    file = label_file(tmp_path, right, range(100))
    output = tmp_path / "out"
    said("trust", *logs, "--human", file, "--at-least", 0.9, "-o", output)
    copies = [read_eval_log(str(copy)) for copy in output.glob("trusted_*.eval")]
    assert sorted(copy.eval.model for copy in copies) == ["m", "n"]
    for copy in copies:
        assert all("trusted" in (sample.scores or {}) for sample in copy.samples or [])


@pytest.mark.parametrize("named", [(), ("--scorer", "pair_verdict:overall")])
def test_agreement_with_labels_is_no_score(
    tmp_path: Path, refused: Said, named: Sequence[str]
) -> None:
    """Logs of `judge_pairwise` say whether a judge was right, and of mad what it chose."""
    right, _ = judged(4)
    values = [{"group": "x", "overall": float(each)} for each in right]
    log = write_log(tmp_path, "m", values, scorer="pair_verdict")
    file = label_file(tmp_path, right, range(100))
    error = refused("trust", log, "--human", file, "--at-least", 0.9, *named)
    assert "judge_pairwise" in error and "pair_choice:outcome" in error


def test_answers_that_nobody_could_judge_have_no_final_score(tmp_path: Path, said: Said) -> None:
    right, judges = judged(4, 0.3)
    logs = write_judges(tmp_path, judges)
    file = label_file(tmp_path, right, range(50))
    (folder := tmp_path / "rest").mkdir()
    rest = label_file(folder, right, range(50, NUMBER - 1))
    said("trust", *logs, "--human", file, "--at-least", 0.9, "--rest", rest, "-o", tmp_path / "o")
    [final] = (tmp_path / "o").glob("trusted_*.eval")
    scored = ["trusted" in (each.scores or {}) for each in read_eval_log(str(final)).samples or []]
    assert scored == [True] * (NUMBER - 1) + [False]
    assert len(rows_of(tmp_path / "o" / "rest.csv")) == 1


def test_scores_of_several_scorers_and_what_is_no_number(
    tmp_path: Path, facts: Callable[..., Any]
) -> None:
    right, [first] = judged(5, 0.01)
    log = write_log(
        tmp_path, "m", letters(first), scorer="match", others={"words": "many words", "half": 0.5}
    )
    file = label_file(tmp_path, right, range(60))
    asked = ("trust", log, "--human", file, "--at-least", 0.9)
    found = facts(*asked, "--scorer", "match", "--scorer", "half", "--scorer", "words")
    assert [row["judge"] for row in found["tables"]["judges"]] == ["match", "half"]
    assert any("words" in sentence for sentence in found["left_out"])


def test_verdicts_on_pairs_in_both_orders(tmp_path: Path, facts: Callable[..., Any]) -> None:
    """Orders that disagree are a tie, which is the middle, and the least sure."""
    right, [first] = judged(9, 0.25)
    outcomes = [float(a) if a == b else 0.5 for a, b in zip(right, first, strict=True)]
    values = [{"outcome": outcome, "model_a": "x"} for outcome in outcomes]
    log = write_log(tmp_path, "m", values, scorer="pair_choice")
    file = labels(tmp_path, [(place, "m", int(right[place])) for place in range(100)])
    found = facts(
        "trust", log, "--scorer", "pair_choice:outcome", "--human", file, "--human-scale", "0,1",
        "--at-least", 0.9,
    )  # fmt: skip
    [row] = found["tables"]["judges"]
    assert row["taken"] == pytest.approx(np.mean(right == first))
    assert row["agreed"] == row["labels"] == (right == first)[:100].sum()


def test_majority_of_raters_and_points_of_a_scale(
    tmp_path: Path, facts: Callable[..., Any]
) -> None:
    scores = [float(place % 5 + 1) for place in range(60)]
    log = write_log(tmp_path, "m", scores, scorer="graded")
    rows = []
    for place, score in enumerate(scores):
        for rater, off in (("ann", 0), ("ben", 1), ("cas", 3)):
            rows.append((place, "m", min(5, max(1, score + off * (-1) ** (score > 3))), rater))
    file = labels(tmp_path, rows, "rater")
    asked = ("trust", log, "--human", file, "--human-scale", "1,5", "--at-least", 0.9)
    [row] = facts(*asked)["tables"]["judges"]
    assert row["agreed"] == row["labels"]
    [row] = facts(*asked, "--within", 0.5)["tables"]["judges"]
    assert row["agreed"] == 0
    of_two = labels(tmp_path, [row for row in rows if row[-1] != "ben"], "rater")
    [row] = facts("trust", log, "--human", of_two, *asked[4:])["tables"]["judges"]
    assert row["agreed"] == 0  # one of two is not most


def test_the_command_that_makes_the_report_again_has_a_tolerance_of_0(
    tmp_path: Path, facts: Callable[..., Any]
) -> None:
    log = write_log(tmp_path, "m", [float(place % 5 + 1) for place in range(10)], scorer="graded")
    file = labels(tmp_path, [(place, "m", place % 5 + 1) for place in range(10)])
    asked = ("trust", log, "--human", file, "--human-scale", "1,5", "--at-least", 0.9)
    assert "--within 0" in facts(*asked, "--within", 0)["command"]


def test_what_is_refused(tmp_path: Path, said: Said, refused: Said) -> None:
    right, judges = judged(6, 0.1)
    logs = write_judges(tmp_path, judges)
    file = label_file(tmp_path, right, range(30))
    asked = ("trust", *logs, "--human", file, "--at-least", 0.9)
    for price in ("nobody=1", "lab/judge0=-1", "lab/judge0=nan", "lab/judge0"):
        assert "lab/judge0" in refused(*asked, "--price", price)
    said(*asked, "--price", "lab/judge0=1e-5")
    assert "half" in refused(*asked, "--within", 1)
    numbers = labels(tmp_path, [(0, "m", 3)])
    error = refused("trust", *logs, "--human", numbers, "--human-scale", "1,5", "--at-least", 0.9)
    assert "human-scale" in error and "lab/judge0" in error
    other = labels(tmp_path, [("nowhere", "m", "C")])
    assert "nowhere" in refused("trust", *logs, "--human", other, "--at-least", 0.9)


def test_a_judge_is_sure_far_from_the_middle_and_where_judges_before_it_agree() -> None:
    signs = signs_of(np.array([[0.0, 1 / 3, 0.5, 1.0, np.nan], [0.0, 1.0, 0.5, 0.0, 1.0]]), UNIT)
    assert signs[0] == pytest.approx([0.5, 1 / 6, 0, 0.5, -np.inf], abs=1e-5)
    assert signs[1] == pytest.approx([0.5, 0.5 - 1 / 6, 0, 0.25, 0.25], abs=1e-5)


@pytest.mark.parametrize(
    ("known", "by"), [(1.0, "role"), (0.7, "role"), (0.0, "role"), (0.7, "model")]
)
def test_a_judge_of_right_and_wrong_is_taken_where_its_log_probabilities_are_high(
    tmp_path: Path, known: float, by: str, facts: Callable[..., Any]
) -> None:
    """The part of the replies that have log probabilities; without any nothing is taken."""
    generator = np.random.default_rng(7)
    right = generator.random(JUDGED) < 0.6
    easy = np.arange(JUDGED) % 4 > 0
    verdicts = np.where(easy | (generator.random(JUDGED) < 0.5), right, ~right)
    chances = np.where(easy, 0.9, 0.3) + 0.09 * generator.random(JUDGED)
    chances[generator.random(JUDGED) >= known] = np.nan
    log = log_of_sure_judge(tmp_path, verdicts, chances, by)
    rows = [(place, "mockllm/answers", "C" if right[place] else "I") for place in range(120)]
    asked = ("trust", log, "--human", labels(tmp_path, rows), "--at-least", 0.9)
    found = facts(*asked, "--scorer", "model_graded_qa")
    [row] = found["tables"]["judges"]
    assert 0.5 * known <= row["taken"] <= known
    taken = [each for each in found["tables"]["answers"] if each["by"] == row["judge"]]
    places = [int(answer["sample"]) for answer in taken]
    assert not places or np.mean(easy[places]) > 0.8


def test_ratings_of_the_model_under_test_have_its_log_probabilities(
    tmp_path: Path, facts: Callable[..., Any]
) -> None:
    """It is sure where people agree with the highest rating."""
    good = np.arange(NUMBER) % 2

    def reply(messages: list[ChatMessage]) -> ModelOutput:
        made = output('{"score": 5}')
        chance = 0.9 if good[int(between_marks(messages[-1].text))] else 0.2
        made.choices[0].logprobs = Logprobs(content=tokens(('{"score": 5}', chance)))
        return made

    bench = tmp_path / "bench.jsonl"
    with bench.open("w") as file:
        for place in range(NUMBER):
            row = {"id": place, "prompt": "Why?", "response": f"<<{place}>>", "rating": 3}
            file.write(f"{json.dumps(row)}\n")
    judge = Script(reply).model("judge")
    log = run(judge_rating(str(bench), scale="1,5"), tmp_path, model=judge, logprobs=True)
    file_of_labels = labels(
        tmp_path, [(place, "mockllm/judge", 4 * good[place] + 1) for place in range(200)]
    )
    found = facts(
        "trust", log.location, "--scorer", "rating_agreement:rating", "--human", file_of_labels,
        "--human-scale", "1,5", "--at-least", 0.9,
    )  # fmt: skip
    taken = [
        int(answer["sample"])
        for answer in found["tables"]["answers"]
        if answer["by"] == "rating_agreement:rating"
    ]
    assert taken and good[taken].all()


def test_log_probabilities_only_order_equal_signs() -> None:
    generator = np.random.default_rng(8)
    scores = generator.integers(11, size=(3, 500)) / 10
    plain = signs_of(scores, UNIT)
    sure = plain + TIE * generator.random(scores.shape)
    for before, after in zip(plain, sure, strict=True):
        order = np.argsort(after)
        assert (np.diff(before[order]) >= 0).all()
        assert len(np.unique(after)) > len(np.unique(before))


def test_certainty_is_the_least_probability_in_the_line_of_the_verdict() -> None:
    last = tokens(("GRADE", 0.9), (":", 0.8), (" C", 0.7))
    assert certainty_of(last) == pytest.approx(0.7)
    before = tokens(("why", 0.1), (".\n\n", 0.2))
    assert certainty_of([*before, *last]) == pytest.approx(0.7)
    assert certainty_of([*before, *tokens(("\nGRADE", 0.4)), *last[1:]]) == pytest.approx(0.4)
    assert certainty_of([*last, *tokens(("\n", 0.3), ("\n", 0.3))]) == pytest.approx(0.7)
    # A last line without a letter or digit has no verdict.
    json_lines = tokens(('{\n"score"', 0.5), (": ", 0.9), ("7\n", 0.6), ("}", 0.2))
    assert certainty_of(json_lines) == pytest.approx(0.5)
    assert certainty_of([]) == certainty_of(tokens((" ", 0.5), ("\n", 0.5))) == 0.0
    assert certainty_of([Logprob(token="C", logprob=-9999.0)]) == 0.0
    assert certainty_of([Logprob(token="C", logprob=1e-9)]) == 1.0


def test_price_of_a_new_answer() -> None:
    """The first judge is asked about all, the second about what the first leaves, the third not."""
    by = np.array([0, 0, 1, NOBODY])
    assert price_of(by, [1.0, 10.0, 100.0], 1000.0) == 1 + 10 / 2 + 1000 / 4
    assert price_of(np.full(3, NOBODY), [1.0, 10.0], 1000.0) == 1000
