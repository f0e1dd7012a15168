"""`urs-inspect import`: logs of answers, verdicts and scores that exist already."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log

from tests.cli.conftest import Run, Said
from tests.reports.json_files import write_rows
from tests.telling import tells
from urs_inspect.datasets._references import question_sha256
from urs_inspect.judges._biases import battle_biases
from urs_inspect.judges._judges import read_judges
from urs_inspect.logs._battles import read_human_battles
from urs_inspect.logs._comparisons import read_comparisons
from urs_inspect.logs._files import finished_logs
from urs_inspect.logs._responses import read_pool
from urs_inspect.reports.words._rankings import people_notes

MODELS = ("lab/a", "lab/b")


def answer(model: str, number: int, **more: Any) -> dict[str, Any]:
    """An answer as AlpacaEval publishes it."""
    return {
        "instruction": f"Ask {number}",
        "output": f"{model} {number}",
        "generator": model,
    } | more


ANSWERS = [answer(model, number) for number in range(3) for model in MODELS]


def score(number: int, model: str, judge: str, value: Any) -> dict[str, Any]:
    return {"question": f"Ask {number}", "model": model, "judge": judge, "score": value}


def verdict(number: int, one: str, other: str, winner: Any, **more: Any) -> dict[str, Any]:
    asked = {"question": f"Ask {number}", "model_a": one, "model_b": other}
    return {**asked, "judge": "j", "winner": winner, **more}


def only_log(place: Path) -> EvalLog:
    [log] = finished_logs([str(place)], [])
    return log


def test_answers_become_a_pool_with_ids_of_their_questions(run: Run, tmp_path: Path) -> None:
    """Ids do not depend on the file, so that logs of several files join."""
    places = []
    for model in MODELS:
        rows = [row for row in ANSWERS if row["generator"] == model]
        file = write_rows(tmp_path / f"{model[-1]}.json", *rows)
        places.append(str(tmp_path / f"{model[-1]}.eval"))
        assert run("import", "answers", file, "-o", places[-1]).exit_code == 0
    pool = read_pool(places)
    assert {one.id for one in pool.instructions} == {
        question_sha256(f"Ask {number}")[:16] for number in range(3)
    }
    given = {one.text: pool.responses["lab/b"][one.id] for one in pool.instructions}
    assert given == {f"Ask {number}": f"lab/b {number}" for number in range(3)}


def test_a_log_says_what_it_was_imported_from(run: Run, tmp_path: Path) -> None:
    file = write_rows(
        tmp_path / "answers.jsonl", answer("m", 0, intent="factual_qa", reference="R")
    )
    assert (
        run("import", "answers", file, "--set", "lab=x", "-o", tmp_path / "one.eval").exit_code == 0
    )
    log = read_eval_log(str(tmp_path / "one.eval"))
    [source] = (log.eval.metadata or {})["imported"]
    [sample] = log.samples or []
    assert (log.status, log.eval.model, source["file"]) == ("success", "x/m", "answers.jsonl")
    assert len(source["sha256"]) == 64
    assert (sample.target, sample.metadata) == ("R", {"intent": "factual_qa"})
    assert [message.text for message in sample.messages] == ["Ask 0", "m 0"]


def test_own_ids_count_where_each_is_of_one_question(said: Said, tmp_path: Path) -> None:
    """Ids of rows would never pair two models."""
    named = [{**row, "id": row["instruction"][-1]} for row in ANSWERS]
    said("import", "answers", write_rows(tmp_path / "q.json", *named), "-o", tmp_path / "q")
    assert {one.id for one in read_pool([str(tmp_path / "q")]).instructions} == {"0", "1", "2"}
    by_row = [{**row, "id": place} for place, row in enumerate(ANSWERS)]
    output = said(
        "import", "answers", write_rows(tmp_path / "r.json", *by_row), "-o", tmp_path / "r"
    )
    assert tells(output, "Ids ... questions")
    assert len(read_pool([str(tmp_path / "r")]).instructions) == 3


def test_columns_constants_and_questions_by_id(run: Run, tmp_path: Path) -> None:
    questions = write_rows(tmp_path / "q.jsonl", {"question_id": 7, "text": "Why?"})
    file = write_rows(tmp_path / "a.jsonl", {"question_id": 7, "said": "So.", "text": "no"})
    constants = ("--set", "model=m", "--set", "language=en")
    options = ("--columns", "{answer: said}", *constants, "--questions", questions)
    result = run("import", "answers", file, *options, "-o", tmp_path / "a.eval")
    assert result.exit_code == 0, result.output
    [sample] = only_log(tmp_path / "a.eval").samples or []
    assert sample.metadata == {"language": "en"}
    assert (sample.id, sample.input, sample.output.completion) == ("7", "Why?", "So.")


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (answer("lab/a", 0, output="another"), "row 7 ... output ... second answer ... same model"),
        (
            answer("lab/a", 0, output="lab/a 0 "),
            "row 7 ... output ... second answer ... same model",
        ),
        (answer("lab/a", 9, output=True), "row 7 ... output ... must be text ... true"),
        (answer("lab/a", 9, instruction=" "), "row 7 ... instruction ... empty ... question"),
        (answer("", 9), "row 7 ... generator ... empty ... model"),
    ],
)
def test_bad_answers_are_counted(
    refused: Said, tmp_path: Path, row: dict[str, Any], told: str
) -> None:
    file = write_rows(tmp_path / "a.json", *ANSWERS, row)
    assert tells(refused("import", "answers", file, "-o", tmp_path / "out"), told)
    assert not (tmp_path / "out").exists()


def test_every_file_with_faults_is_named(refused: Said, tmp_path: Path) -> None:
    one = write_rows(tmp_path / "one.json", {"question": "Why?", "said": "So."})
    two = tmp_path / "two.csv"
    two.write_bytes("question,answer,model\nWhy?,caf\u00e9,m\n".encode("latin-1"))
    output = refused("import", "answers", one, two, "-o", tmp_path / "out")
    assert tells(
        output, "one.json ... answer, model ... output ... text ... generator ... question, said"
    )
    assert tells(output, "two.csv ... line 2 ... UTF-8")


def test_an_answer_or_score_of_several_files_counts_once(
    said: Said, refused: Said, tmp_path: Path
) -> None:
    one = write_rows(tmp_path / "one.jsonl", ANSWERS[0])
    copy = write_rows(tmp_path / "copy.jsonl", ANSWERS[0])
    other = write_rows(tmp_path / "other.jsonl", {**ANSWERS[0], "output": "another"})
    output = said("import", "answers", one, copy, "-o", tmp_path / "answers")
    assert tells(output, "copy.jsonl ... 1 row ... copy ... 1 answer of 1 model")
    output = refused("import", "answers", one, other, "-o", tmp_path / "out")
    assert tells(output, "other.jsonl: line 1 ... second answer")
    good = write_rows(tmp_path / "good.jsonl", score(0, "m", "j", 1))
    bad = write_rows(tmp_path / "bad.jsonl", score(0, "m", "j", 0))
    output = refused("import", "verdicts", good, bad, "-o", tmp_path / "out")
    assert tells(output, "bad.jsonl: line 1 ... another score")


def test_names_of_columns_may_differ_in_case_and_signs(run: Run, tmp_path: Path) -> None:
    """The usual name counts where both are there; a column without a name is none of them."""
    file = tmp_path / "a.csv"
    file.write_text(",Question,Response,Model,output,lab\n7,Why?,no,m,So.,blood\n", "utf-8")
    assert run("import", "answers", file, "-o", tmp_path / "a.eval").exit_code == 0
    log = only_log(tmp_path / "a.eval")
    [sample] = log.samples or []
    assert (log.eval.model, sample.input, sample.output.completion) == ("m", "Why?", "So.")
    assert (sample.target, sample.metadata) == ("", {})


def test_a_lab_stands_before_models_of_verdicts_as_of_answers(run: Run, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "v.jsonl", verdict(0, "x", "other/y", "x"))
    given = ("import", "verdicts", file, "--set", "lab=own", "-o", tmp_path / "v.eval")
    assert run(*given).exit_code == 0
    [read] = read_comparisons(str(tmp_path / "v.eval"))
    assert (read.ballot.model_a, read.ballot.model_b, read.outcome) == ("other/y", "own/x", 0.0)


def test_a_judge_may_be_called_lab(run: Run, tmp_path: Path) -> None:
    rows = [{"question": "Ask", "model": "a", "lab": 4}]
    file = write_rows(tmp_path / "scores.json", *rows)
    columns = ("--columns", "{judges: [lab]}")
    run("import", "verdicts", file, *columns, "-o", str(tmp_path / "out"))
    log = only_log(tmp_path / "out")
    assert log.eval.model == "a"
    assert [list(sample.scores or {}) for sample in log.samples or []] == [["lab"]]


def test_copies_and_empty_answers_are_said_once(said: Said, tmp_path: Path) -> None:
    rows = [*ANSWERS, ANSWERS[0], ANSWERS[1], answer("lab/a", 5, output="")]
    file = write_rows(tmp_path / "a.json", *rows)
    output = said("import", "answers", file, "-o", tmp_path / "out")
    assert tells(output, "1 empty answer")
    assert tells(output, "2 rows ... copy")
    assert tells(output, "7 answers of 2 models")


def test_nothing_is_overwritten(run: Run, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.json", *ANSWERS)
    assert run("import", "answers", file, "-o", tmp_path / "out").exit_code == 0
    assert run("import", "answers", file, "-o", tmp_path / "out").exit_code == 1
    assert run("import", "answers", file, "-o", tmp_path / "one.eval").exit_code == 1
    assert run("import", "answers", file, "-o", tmp_path / "one.json").exit_code == 1


@pytest.mark.satellites
def test_scores_of_judges_are_compared_and_corrected(run: Run, tmp_path: Path) -> None:
    """A judge that gives every answer of `b` a point too much, and people that do not."""
    lines = ["question,model,strict,kind,person"]
    for number in range(40):
        right = number % 4 > 0
        lines.append(f"Ask {number},a,{right},{right},{right}")
        lines.append(f"Ask {number},b,{not right},True,{not right}")
    lines.append("Ask 99,a,,,")
    file = tmp_path / "wide.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    options = ("--columns", "{judges: [strict, kind], label: person}")
    result = run("import", "verdicts", file, *options, "-o", tmp_path / "logs")
    assert result.exit_code == 0, result.output
    assert tells(result.output, "1 row without any score")
    assert tells(result.output, "80 labels")
    chosen = ("compare", tmp_path / "logs", "--scorer", "kind")
    assert tells(run(*chosen).output, "b is best")
    corrected = run(*chosen, "--human", tmp_path / "logs" / "labels.csv").output
    assert tells(corrected, "ratings of 80 answers ... a has the highest mean")


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (score(0, "a", "j", "good"), 'line 2 ... score ... "good" ... C, P, I'),
        (score(0, "b", "j", 2), "line 2 ... another score ... same judge"),
    ],
)
def test_bad_scores_are_counted(
    refused: Said, tmp_path: Path, row: dict[str, Any], told: str
) -> None:
    file = write_rows(tmp_path / "s.jsonl", score(0, "b", "j", 1), row)
    assert tells(refused("import", "verdicts", file, "-o", tmp_path / "out"), told)


@pytest.mark.parametrize("output", ["out", "out.eval"])
def test_a_file_without_any_score_is_refused(refused: Said, tmp_path: Path, output: str) -> None:
    file = write_rows(tmp_path / "scores.json", score(0, "a", "j", ""), score(1, "a", "j", None))
    told = refused("import", "verdicts", file, "-o", str(tmp_path / output))
    assert tells(told, "no score of a judge in ... scores.json")
    assert not (tmp_path / output).exists()


def test_both_orders_of_a_pair_are_kept(run: Run, tmp_path: Path) -> None:
    rows = [
        verdict(0, "x", "y", "model_a"),
        verdict(0, "y", "x", "2"),
        verdict(1, "x", "y", "model_a"),
        verdict(1, "y", "x", "model_a"),
        verdict(2, "y", "x", "x"),
        verdict(3, "y", "x", None),
        verdict(4, "x", "z", "a"),
        verdict(4, "z", "x", "a"),
    ]
    file = write_rows(tmp_path / "v.jsonl", *rows)
    result = run("import", "verdicts", file, "-o", tmp_path / "v.eval")
    assert result.exit_code == 0, result.output
    assert tells(result.output, "j: 2 of 5 pairs in one order")
    read = {one.ballot.instruction: one for one in read_comparisons(str(tmp_path / "v.eval"))}
    outcomes = [read[f"Ask {number}"].outcome for number in range(3)]
    assert outcomes == [1.0, 0.5, 1.0]
    assert read["Ask 1"].facts["orders"] == {"j": {"a": "a", "b": "b"}}
    assert read["Ask 2"].facts["orders"] == {"j": {"b": "a"}}
    assert read["Ask 3"].facts["outcome"] == "unread"
    assert all(one.facts["judges"] == ["j"] for one in read.values())


def test_a_column_may_say_which_answer_was_shown_first(run: Run, tmp_path: Path) -> None:
    rows = [verdict(0, "x", "y", "a", first="b"), verdict(1, "x", "y", "a", first="ab")]
    file = write_rows(tmp_path / "v.jsonl", *rows)
    assert run("import", "verdicts", file, "-o", tmp_path / "v.eval").exit_code == 0
    one, other = read_comparisons(str(tmp_path / "v.eval"))
    assert (one.facts["orders"], other.facts["orders"]) == ({"j": {"b": "a"}}, {"j": {"a": "a"}})


def test_ids_of_answers_are_found_in_logs(run: Run, refused: Said, tmp_path: Path) -> None:
    """As in the reviews of Vicuna: no text, and a number for the better answer."""
    rows = [answer(model, 0, answer_id=f"id {model}", id="q") for model in MODELS]
    logs = tmp_path / "logs"
    assert (
        run("import", "answers", write_rows(tmp_path / "a.json", *rows), "-o", logs).exit_code == 0
    )
    review = {"question_id": "q", "answer1_id": "id lab/b", "answer2_id": "id lab/a", "score": 3}
    file = write_rows(tmp_path / "b-vs-a-gpt9.jsonl", review)
    options = ["--answers", logs, "--file-name", "vs-.+-(?P<judge>.+)[.]jsonl"]
    given = ("import", "verdicts", file, *options, "-o", tmp_path / "v.eval")
    assert tells(refused(*given), "line 1 ... score ... unknown verdict 3 ... model_a ... verdicts")
    assert tells(
        refused(*given, "--columns", "{verdict: {3: tie}}"), "verdict ... name of a column"
    )
    assert tells(refused(*given, "--columns", "{judgs: [a]}"), "judgs ... did you mean judge")
    assert run(*given, "--columns", "{verdicts: {3: tie}}").exit_code == 0
    [read] = read_comparisons(str(tmp_path / "v.eval"))
    assert (read.ballot.response_a, read.ballot.response_b) == ("lab/a 0", "lab/b 0")
    assert read.facts["orders"] == {"gpt9": {"b": "tie"}}
    lost = write_rows(tmp_path / "lost-vs-a-gpt9.jsonl", {**review, "answer2_id": "no"})
    given = (
        "import",
        "verdicts",
        lost,
        *options,
        "--columns",
        "{verdicts: {3: tie}}",
        "-o",
        tmp_path / "l.eval",
    )
    assert tells(refused(*given), "line 1 ... --answers")


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (
            verdict(0, "x", "y", "b"),
            "1 pair ... two verdicts of j ... v.jsonl ... one in each order",
        ),
        (verdict(1, "x", "x", "b"), "line 2 ... itself"),
        (verdict(1, "x", "y", "b", first="third"), "line 2 ... first ... third ... ab"),
        (verdict(0, "y", "x", "b", label="a"), "1 pair ... two labels ... v.jsonl ... one label"),
    ],
)
def test_bad_verdicts_are_counted(
    refused: Said, tmp_path: Path, row: dict[str, Any], told: str
) -> None:
    file = write_rows(tmp_path / "v.jsonl", verdict(0, "x", "y", "a", label="a"), row)
    assert tells(refused("import", "verdicts", file, "-o", tmp_path / "out"), told)


def test_labelled_pairs_measure_a_judge(run: Run, tmp_path: Path) -> None:
    rows = []
    for number in range(10):
        texts = {"response_a": "long text", "response_b": "short"}
        label = "a" if number < 6 else "b"
        rows.append(verdict(number, "x", "y", "a", label=label, **texts))
        texts = {"response_a": "short", "response_b": "long text"}
        other = {"a": "b", "b": "a"}[label]
        rows.append(verdict(number, "y", "x", "b", label=other, **texts))
    file = write_rows(tmp_path / "v.jsonl", *rows)
    assert run("import", "verdicts", file, "-o", tmp_path / "logs").exit_code == 0
    [judged] = read_judges(list(finished_logs([str(tmp_path / "logs")], [])))
    [judge] = judged.judges
    assert (judge.judge, judge.orders) == ("j", "both")
    assert judge.overall is not None
    assert judge.overall.accuracy_all.value == pytest.approx(0.6)


@pytest.mark.parametrize(("second", "orders"), [("y", "both"), ("x", "ab")])
def test_a_judge_of_labelled_pairs_was_asked_in_both_orders_where_one_pair_was(
    run: Run, tmp_path: Path, second: str, orders: str
) -> None:
    rows = [verdict(number, "x", "y", "a", label="a") for number in range(3)]
    if second == "y":
        rows.append(verdict(0, "y", "x", "b", label="b"))
    file = write_rows(tmp_path / "v.jsonl", *rows)
    assert run("import", "verdicts", file, "-o", tmp_path / "logs").exit_code == 0
    [judged] = read_judges(list(finished_logs([str(tmp_path / "logs")], [])))
    assert [judge.orders for judge in judged.judges] == [orders]


def test_mappings_are_checked(refused: Said, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "v.jsonl", verdict(0, "x", "y", "a"))
    given = ("import", "verdicts", file, "-o", tmp_path / "out")
    assert tells(refused(*given, "--columns", "{prompts: ask}"), "columns ... prompts ... question")
    assert tells(refused(*given, "--columns", "{question: ask}"), "no 'ask' ... question, model_a")
    assert tells(refused(*given, "--columns", "{verdicts: {3: draw}}"), "draw ... a, b, tie, none")
    assert tells(refused(*given, "--set", "judge"), "NAME=VALUE")
    assert tells(refused(*given, "--file-name", "("), "regular expression")
    assert tells(refused(*given, "--file-name", "(?P<judge>x)y"), "v.jsonl")
    assert tells(refused(*given, "--columns", "{judges: [one, two]}"), "judges ... pairs ... --set")
    assert tells(refused(*given, "--columns", "{judges: one}"), "judges ... list ... one")
    (tmp_path / "list.yaml").write_text("- question\n", encoding="utf-8")
    assert tells(refused(*given, "--columns", tmp_path / "list.yaml"), "mapping ... list.yaml")
    assert tells(refused(*given, "--columns", "{question: [a, b]}"), "question ... a column ... [")
    empty = write_rows(tmp_path / "empty.jsonl")
    assert tells(refused("import", "verdicts", empty, *given[3:]), "empty.jsonl ... no rows")
    assert not (tmp_path / "out").exists()


def test_rows_without_a_judge_are_refused(refused: Said, tmp_path: Path) -> None:
    rows = [verdict(number, "x", "y", "a", judge=judge) for number, judge in enumerate(("j", ""))]
    pairs = write_rows(tmp_path / "v.jsonl", *rows)
    assert tells(refused("import", "verdicts", pairs, "-o", tmp_path / "out"), "line 2 ... judge")
    scores = write_rows(tmp_path / "s.jsonl", score(0, "m", "j", 1), score(1, "m", " ", 1))
    given = ("import", "verdicts", scores, "-o", tmp_path / "out")
    assert tells(refused(*given), "line 2 ... judge")
    assert tells(refused(*given, "--columns", "{verdicts: {3: tie}}"), "verdicts ... pairs")


def test_faults_of_many_rows_are_told_once(refused: Said, tmp_path: Path) -> None:
    rows = [verdict(number, "x", "y", 5 + number % 2) for number in range(6)]
    file = write_rows(tmp_path / "v.jsonl", *rows)
    output = refused("import", "verdicts", file, "-o", tmp_path / "out")
    assert tells(output, "lines 1, 2, 3 and 3 more ... winner ... 5 (3 times), 6 (3 times)")
    assert output.count("{verdicts:") == 1


# --- votes of people ---


def vote(number: int, one: str, other: str, choice: str, **more: Any) -> dict[str, Any]:
    """A vote of a person who has no name, on answers that differ in length."""
    texts = {"response_a": f"{one} said", "response_b": f"{other} said"}
    asked = {"question": f"Ask {number}", "model_a": one, "model_b": other}
    return {**asked, **texts, "winner": choice, **more}


def test_votes_of_people_decide_pairs(run: Run, tmp_path: Path) -> None:
    """Any number on a pair, in either order; most votes win, and a blank one does not count."""
    rows = [
        vote(0, "x", "y", "model_a"),
        vote(0, "x", "y", "model_a"),
        vote(0, "y", "x", "model_a"),
        vote(1, "x", "y", "tie"),
        vote(1, "x", "y", "model_b"),
        vote(1, "x", "y", ""),
    ]
    file = write_rows(tmp_path / "v.jsonl", *rows)
    result = run("import", "verdicts", file, "--people", "-o", tmp_path / "people")
    assert result.exit_code == 0, result.output
    assert tells(result.output, "1 blank vote ... 5 votes ... 2 pairs")
    read = {one.ballot.instruction: one for one in read_comparisons(str(tmp_path / "people"))}
    votes = {asked: one.facts["votes"] for asked, one in read.items()}
    assert votes["Ask 0"] == {"a": 2, "tie": 0, "b": 1, "cannot_tell": 0}
    assert votes["Ask 1"] == {"a": 0, "tie": 1, "b": 1, "cannot_tell": 0}
    assert [read[f"Ask {number}"].outcome for number in range(2)] == [1.0, 0.5]
    people = read_human_battles(
        [tmp_path / "people" / "people.eval"], [tmp_path / "people" / "votes.jsonl"]
    )
    assert (people.agreement.votes, people.agreement.compared, people.replaced) == (5, 2, 0)
    assert list(people.battles.outcome) == [1.0, 0.5]
    assert tells(" ".join(people_notes(people)), "5 votes of people on 2 of 2 comparisons")


def test_votes_of_people_stand_beside_the_log_that_is_named(run: Run, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "v.jsonl", vote(0, "x", "y", "model_a"))
    result = run("import", "verdicts", file, "--people", "-o", tmp_path / "voted.eval")
    assert result.exit_code == 0, result.output
    people = read_human_battles([tmp_path / "voted.eval"], [tmp_path / "voted.votes.jsonl"])
    assert (people.agreement.votes, list(people.battles.outcome)) == (1, [1.0])


def test_votes_of_people_stand_beside_a_judge(run: Run, tmp_path: Path) -> None:
    """They are in another log than the judge's verdicts on the same answers."""
    votes = [vote(number, "x", "y", "model_a") for number in range(4) for _ in range(3)]
    judged = [
        vote(number, *order, "model_a", judge="j")
        for number in range(4)
        for order in (("x", "y"), ("y", "x"))
    ]
    for options, name, rows in (((), "judged", judged), (("--people",), "people", votes)):
        file = write_rows(tmp_path / f"{name}.jsonl", *rows)
        assert run("import", "verdicts", file, *options, "-o", tmp_path / name).exit_code == 0
    places = [str(tmp_path / "judged"), str(tmp_path / "people")]
    [found] = battle_biases(list(finished_logs(places, [])))
    bias = found.judges["j"]
    assert (found.labels, bias.pairs) == ("people", 4)
    assert bias.judge["place"].value > 0.5
    assert bias.people["place"].value == pytest.approx(0, abs=1e-9)
    assert bias.people["place"].n == 24  # three votes a pair, in both orders of the judge


def test_bad_votes_are_refused(refused: Said, run: Run, tmp_path: Path) -> None:
    rows = [vote(0, "x", "y", "model_a", annotator="Ann") for _ in range(2)]
    named = write_rows(tmp_path / "named.jsonl", *rows)
    given = ("--people", "-o", tmp_path / "out")
    output = refused("import", "verdicts", named, *given)
    assert tells(output, "1 pair ... same person ... Ann on x and y ... allowed: one")
    file = write_rows(tmp_path / "v.jsonl", vote(0, "x", "y", "model_a"))
    copy = write_rows(tmp_path / "w.jsonl", vote(0, "x", "y", "model_a"))
    output = refused("import", "verdicts", file, copy, *given)
    assert tells(output, "w.jsonl ... same votes as ... v.jsonl")
    many = write_rows(tmp_path / "m.jsonl", *(vote(0, "x", "y", "model_a") for _ in range(2)))
    output = refused("import", "verdicts", many, "-o", tmp_path / "out")
    assert tells(output, "no column for the judge")
    scores = write_rows(tmp_path / "s.jsonl", score(0, "m", "j", 1))
    assert tells(refused("import", "verdicts", scores, *given), "people ... pairs")
    assert run("import", "verdicts", file, *given).exit_code == 0
    assert tells(refused("import", "verdicts", file, *given), "people.eval ... already")
