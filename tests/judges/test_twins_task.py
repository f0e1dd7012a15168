"""`judge_twins`: answers of a log and their twins before one judge; what reports make of it."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.model import ChatMessage, ModelOutput
from inspect_ai.scorer import (
    Score,
    Scorer,
    Target,
    includes,
    model_graded_fact,
    model_graded_qa,
    scorer,
)
from inspect_ai.solver import TaskState, generate

from tests.reports.golden_files import check_golden
from tests.tasks.scripted import Reply, Script, metric_values, run
from tests.tasks.test_made import lines_of
from tests.telling import tells
from urs_inspect import judge_rating, urs
from urs_inspect._util import InputError
from urs_inspect.cli import main
from urs_inspect.judges import _twins_task as module
from urs_inspect.judges import judge_twins
from urs_inspect.judges._judged import JudgedAnswer, Judging, read_judged_answers
from urs_inspect.judges._twin_shifts import Twins, read_twins, twins_of
from urs_inspect.judges._twins import KINDS, PADDED
from urs_inspect.judges._twins_report import twins_section, twins_sections
from urs_inspect.judges._twins_scorer import FIELDS, SHIFT, scored_twins
from urs_inspect.judges._twins_task import (
    _other_text,
    _rated,
    _Run,
    _samples,
    _viewer,
    draw_answers,
)
from urs_inspect.reports.numbers._answers import read_answers
from urs_inspect.reports.numbers._judge_checks import JUDGE_TASKS
from urs_inspect.reports.numbers._leaderboard import make_leaderboard
from urs_inspect.reports.words._lengths import length_sentence

RESTATED = (
    "In other words",
    "To say it once more",
    "Put differently",
    "As mentioned",
    "换句话说",
    "再说一遍",
    "也就是说",
    "如前所述",
)


def is_padded(messages: list[ChatMessage]) -> bool:
    """Whether a judge is asked about an answer that repeats itself."""
    return any(words in messages[-1].text for words in RESTATED)


def judge(paid: float = 1.0) -> Any:
    """A judge that gives 5, a point more to good answers, and pays for answers that repeat."""

    def say(messages: list[ChatMessage]) -> Reply:
        text = messages[-1].text
        final = 5 + ("good" in text) + paid * is_padded(messages)
        return f'{{"Final Score": {final:g}}}'

    return Script(say).model("judge")


def answers(folder: Path, *names: str, longer: str = "") -> None:
    """Logs of `urs` whose answers differ by question; the first model writes more."""
    for place, name in enumerate(names):
        more = longer if not place else ""

        def say(messages: list[ChatMessage], more: str = more, place: int = place) -> Reply:
            quality = "good" if not place else "plain"
            return f"A {quality} answer of some length. It is about {messages[-1].text[:40]}.{more}"

        run(urs(dataset="sample"), folder, model=Script(say).model(name), grader=judge())


def twins(folder: Path, logs: Path, paid: float = 1.0, **arguments: Any) -> EvalLog:
    task = judge_twins(answers=str(logs), **arguments)
    return run(task, folder, model="none", grader=judge(paid))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    answers(folder, "one", "two", longer=" And this says a lot more of the same." * 4)
    return folder


@pytest.fixture(scope="module")
def _few_twins(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    return twins(tmp_path_factory.mktemp("twins"), logs, n=6)


@pytest.fixture
def few_twins(_few_twins: EvalLog) -> EvalLog:
    """Twins of six answers of `logs`, for the test to change."""
    return _few_twins.model_copy(deep=True)


def test_the_shift_of_each_kind_is_in_the_header_and_the_log(logs: Path, tmp_path: Path) -> None:
    log = twins(tmp_path, logs, kinds="all", n=14)
    rows = metric_values(log, "intent_judge")
    assert len(rows) <= 15
    assert rows["padded_double"] == rows["padded_half"] == 1.0
    assert rows["flattery"] == 0.0 and rows["per doubling"] > 0.8
    samples = log.samples or []
    kinds = Counter(str((sample.metadata or {})["twin"]) for sample in samples)
    assert kinds["original"] == kinds["padded_double"] == 14
    found = read_twins(log)
    by_kind = {kind.kind: kind for kind in found.kinds}
    assert by_kind["padded_double"].verdict == "adds"
    assert by_kind["flattery"].verdict == "adds nothing"
    assert by_kind["truncated"].verdict == "is not noticed"
    assert found.answers == 14
    originals = [sample for sample in samples if (sample.metadata or {})["twin"] == "original"]
    models = Counter(str((sample.metadata or {})["model"]) for sample in originals)
    assert models == {"mockllm/two": 14}  # the first writes more


def test_epochs_are_averaged_and_answers_drawn_twice_are_one() -> None:
    def text(pair: int, twin: str) -> dict[str, object]:
        return {"pair": pair, "twin": twin, "model": "m", "question": "q", "doublings": 1.0}

    epochs = [
        (text(0, "original"), 5.0),
        (text(0, "original"), 6.0),
        (text(0, "padded_double"), 8.0),
        (text(0, "padded_double"), math.nan),
        (text(1, "original"), 5.0),
        (text(1, "padded_double"), 5.0),
    ]
    scored = scored_twins(epochs)
    assert scored["shift"].tolist() == [2.5, 0.0]
    assert len(scored[["model", "question"]].drop_duplicates()) == 1


def shifted(shifts: dict[str, list[float]], doublings: float = 0.1) -> pd.DataFrame:
    """Twins of so many answers to different questions, with their shifts by kind."""
    rows = [
        (kind, place, "m", f"q{place}", doublings, shift)
        for kind, own in shifts.items()
        for place, shift in enumerate(own)
    ]
    return pd.DataFrame(rows, columns=[*FIELDS, SHIFT])


@pytest.mark.parametrize(
    ("number", "scale", "high", "verdict"),
    [
        (10, (1, 10), 0.308, "cannot tell"),  # 1 - 0.025 ** (1 / 10), which is over 1/4
        (60, (1, 10), 0.060, "adds nothing"),
        (60, (0, 1), 0.060, "cannot tell"),  # over 1/36
        (200, (0, 1), 0.018, "adds nothing"),
        (200, (0, 0.5), 0.009, "adds nothing"),
        (5, (1, 10), math.nan, "too few"),
    ],
)
def test_twins_without_any_shift_show_less_where_they_are_few(
    few_twins: EvalLog, number: int, scale: tuple[float, float], high: float, verdict: str
) -> None:
    assert few_twins.eval.metadata is not None
    few_twins.eval.metadata["scale"] = list(scale)
    found = twins_of(few_twins, shifted({"padded_double": [0.0] * number}, doublings=1.0))
    [kind] = found.kinds
    assert kind.verdict == verdict
    assert kind.shift.high == pytest.approx(high, abs=5e-4, nan_ok=True)
    assert found.slope is not None
    if verdict != "too few":
        assert found.slope.high == pytest.approx(kind.shift.high)


@pytest.mark.parametrize(
    ("answers", "n", "drawn"),
    [
        ((90, 90, 90), 60, (30, 30, 0)),
        ((90, 20, 90), 60, (30, 30, 0)),
        ((3, 90, 90), 60, (9, 51, 0)),
        ((90, 3, 90), 60, (51, 9, 0)),
        ((20, 20, 90), 130, (60, 60, 10)),
        ((20, 20, 5), 150, (60, 60, 15)),
        ((90, 90, 1), 61, (31, 30, 0)),
        ((1, 1, 1), 60, (3, 3, 3)),
        ((90, 90, 90), 2, (1, 1, 0)),
        ((0, 0, 90), 60, (0, 0, 60)),
        ((0, 0, 20), 90, (0, 0, 60)),
    ],
)
def test_the_model_that_writes_most_gives_what_others_lack_when_each_answer_was_drawn_three_times(
    logs: Path, answers: tuple[int, ...], n: int, drawn: tuple[int, ...]
) -> None:
    found = lengthy(logs, answers)
    chosen = Counter(len(answer.text) for answer in draw_answers(found, n, seed=1))
    assert tuple(chosen[length] for length in LENGTHS) == drawn


LENGTHS = (20, 200, 900)


def lengthy(logs: Path, answers: Sequence[int]) -> list[JudgedAnswer]:
    """So many answers of a model of each length, with the scores 0, 1, 2 ..."""
    first, *_ = read_judged_answers([str(logs)], [])
    return [
        replace(first, model=str(length), id=str(place), text="x" * length, final=float(place))
        for number, length in zip(answers, LENGTHS, strict=True)
        for place in range(number)
    ]


def test_a_model_that_hardly_writes_more_is_drawn_like_the_others(logs: Path) -> None:
    first, *_ = lengthy(logs, (1, 0, 0))
    found = [
        replace(first, model=model, id=str(place), text="x" * length)
        for model, length in (("short", 100), ("long", 120))
        for place in range(40)
    ]
    assert Counter(answer.model for answer in draw_answers(found, 60, seed=1)) == {
        "short": 30,
        "long": 30,
    }


def test_answers_are_spread_over_the_scores_of_a_model(logs: Path) -> None:
    drawn = draw_answers(lengthy(logs, (90, 90, 90)), 60, seed=1)
    thirds = Counter(answer.final // 30 for answer in drawn if len(answer.text) == 20)
    assert thirds == {0: 10, 1: 10, 2: 10}
    middles = draw_answers(lengthy(logs, (0, 0, 90)), 2, seed=1)  # of each half
    assert [answer.final for answer in middles] == [22, 67]


def test_each_answer_has_its_twins_and_those_that_equal_it_are_counted_by_language(
    logs: Path,
) -> None:
    first, *_ = read_judged_answers([str(logs)], [])
    given = [
        ("en", "Perhaps it is. It rains a lot here. The sun is rare. Snow is not."),
        ("en", "Well"),
        ("zh", "好"),
        ("en", "It is so. It rains a lot here. The sun is rare. Snow is not."),
    ]
    found = [
        replace(first, id=f"q{place}", model="m", language=language, text=text)
        for place, (language, text) in enumerate(given)
    ]
    run_of = _Run(_rated, "x", (1, 5), {})
    samples, equal = _samples(run_of, found, [KINDS["shuffled"], KINDS["confident"]], 0)
    # The one word of two answers can be neither shuffled nor made surer.
    assert [sample.id for sample in samples] == [
        "0:original",
        "0:shuffled",
        "0:confident",
        "3:original",
        "3:shuffled",
    ]
    assert equal == {
        "shuffled/en": 1,
        "confident/en": 2,
        "shuffled/zh": 1,
        "confident/zh": 1,
    }
    for sample in samples:
        facts = sample.metadata or {}
        place = int(str(sample.id)[0])
        assert (facts["pair"], facts["question"], facts["model"]) == (place, f"q{place}", "m")
        assert f"{place}:{facts['twin']}" == sample.id
        length = len(facts["response"]) / len(given[place][1])
        assert 2 ** facts["doublings"] == pytest.approx(length)
        if facts["twin"] == "original":
            assert facts["response"] == given[place][1]
        else:
            assert facts["response"] != given[place][1]


def test_another_answer_is_the_next_one_to_another_question_in_its_language(logs: Path) -> None:
    first, *_ = read_judged_answers([str(logs)], [])
    given = [("q0", "en"), ("q0", "en"), ("q1", "zh"), ("q2", "en"), ("q3", "fr")]
    found = [
        replace(first, id=id, language=language, text=f"text {place}")
        for place, (id, language) in enumerate(given)
    ]
    others = [_other_text(found, place) for place in range(5)]
    assert others == ["text 3", "text 3", "", "text 0", ""]


def test_a_response_is_replaced_in_its_prompt_and_its_facts(logs: Path) -> None:
    first, *_ = read_judged_answers([str(logs)], [])
    asked = first.sample.model_copy(
        update={"input": "Rate: OLD\nAgain: OLD", "metadata": {"response": "OLD", "rating": 3}}
    )
    sample = _rated(replace(first, text="OLD", sample=asked), "NEW", "7")
    assert (sample.id, sample.input) == ("7", "Rate: NEW\nAgain: NEW")
    assert sample.metadata == {"response": "NEW", "rating": 3}
    assert sample.target == asked.target


def test_the_same_seed_draws_the_same(logs: Path) -> None:
    def drawn(seed: int) -> list[str]:
        task = judge_twins(answers=str(logs), n=10, seed=seed)
        return [str(sample.id) + str(sample.input) for sample in task.dataset]

    assert drawn(1) == drawn(1) != drawn(2)


def test_an_answer_that_is_drawn_again_has_different_twins(tmp_path: Path) -> None:
    sentences = " ".join(f"Sentence {number} says this." for number in range(12))
    answers(tmp_path, "one", longer=sentences)
    task = judge_twins(answers=str(tmp_path), kinds="padded_half", n=90)
    texts = defaultdict[str, list[str]](list)
    for sample in task.dataset:
        facts = sample.metadata or {}
        if facts["twin"] == "padded_half":
            texts[facts["question"]].append(facts["answer"])
    assert {len(drawn) for drawn in texts.values()} == {2, 3}
    assert sum(len(set(drawn)) > 1 for drawn in texts.values()) > len(texts) / 2


def test_a_report_names_what_padding_pays_and_corrects_the_lead(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for file in logs.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    board = make_leaderboard(read_answers([str(folder)], JUDGE_TASKS), rounds=200)
    [fact] = [fact for fact in board.rankings[0].judge_checks if fact.check == "padded"]
    assert fact.verdict == "not checked" and fact.run and fact.run.folder == str(folder)
    assert tells(length_sentence(board.rankings[0]), "lead of ... vanish ... not measured")

    twins(folder, folder, n=20)
    ranking = make_leaderboard(read_answers([str(folder)], JUDGE_TASKS), rounds=200).rankings[0]
    verdicts = {fact.verdict for fact in ranking.judge_checks if fact.check == "padded"}
    assert verdicts <= {"failed", "unclear"}
    [lead] = ranking.leads_by_length
    assert lead.lead > 0.9 and lead.doublings > 0.9 and lead.verdict == "lost"
    assert lead.without is not None and lead.without.value < 0.4
    assert tells(length_sentence(ranking), "Padding moves ... for each doubling")
    assert "not measured" not in length_sentence(ranking)
    no_lead = length_sentence(replace(ranking, leads_by_length=()))
    assert tells(no_lead, "Padding moves ... for each doubling") and "lead" not in no_lead


def test_a_judge_that_pays_nothing_passes_and_the_lead_is_kept(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for file in logs.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    twins(folder, folder, paid=0.0, n=20)
    ranking = make_leaderboard(read_answers([str(folder)], JUDGE_TASKS), rounds=200).rankings[0]
    checks = [fact for fact in ranking.judge_checks if fact.check == "padded"]
    assert [fact.verdict for fact in checks] == ["passed"] * len(PADDED)
    [lead] = ranking.leads_by_length
    assert lead.verdict == "keeps" and not math.isnan(lead.tipping)
    output = CliRunner().invoke(main, ["judges", str(folder)]).output
    assert tells(output, "Padding moves mockllm/judge ... 20 answers")


def test_answers_and_twins_without_a_score_are_counted(logs: Path, tmp_path: Path) -> None:
    task = judge_twins(answers=str(logs), n=6)
    run(task, tmp_path, model="none", grader=Script(lambda messages: "Well.").model("judge"))
    output = CliRunner().invoke(main, ["judges", str(tmp_path)]).output
    assert tells(output, "No score: 18 answers and twins.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"answers": None}, "answers"),
        ({"answers": "nowhere"}, "nowhere"),
        ({"kinds": "paded"}, "paded"),
        ({"n": 0}, "n"),
    ],
)
def test_bad_input_is_refused_before_any_call(
    logs: Path, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        judge_twins(**{"answers": str(logs), **arguments})


def test_logs_without_judged_answers_are_refused(few_twins: EvalLog, logs: Path) -> None:
    with pytest.raises(InputError, match=r"(?s)none that can be judged again.*are twins"):
        judge_twins(answers=few_twins.location)
    with pytest.raises(InputError, match="no twin"):
        judge_twins(answers=str(logs), kinds="wrong_number", n=1, seed=1)


# --- answers that other scorers scored ---

QUESTIONS = 4
SHORT = "An answer is a text that is given to you. It is of use."


def graded(folder: Path, given: Scorer | list[Scorer], name: str = "one", **facts: Any) -> EvalLog:
    """A log of a task that is not ours, with answers in English of no stated language."""
    questions = [
        Sample(id=place, input=f"What is {place}?", target="a", metadata={"answer": "x", **facts})
        for place in range(QUESTIONS)
    ]
    model = Script(lambda messages: f"{messages[-1].text} {SHORT}").model(name)
    task = Task(MemoryDataset(questions), solver=generate(), scorer=given, name="foreign")
    return run(task, folder, model=model, grader=grader())


def grader() -> Any:
    """A grader of inspect-ai that is content only with answers that repeat themselves."""

    def say(messages: list[ChatMessage]) -> Reply:
        assert "x" not in messages[-1].text.split()  # the sample's own metadata, not the twin's
        return f"GRADE: {'C' if is_padded(messages) else 'I'}"

    return Script(say).model("judge")


@pytest.mark.parametrize("given", [model_graded_qa, model_graded_fact])
def test_graded_answers_are_graded_again_by_the_same_prompt(given: Any, tmp_path: Path) -> None:
    template = "Look, {extra}: {question} {answer} {criterion} {instructions}"
    first = graded(tmp_path, model_graded_qa(template=template), extra="this")
    assert first.status == "success"
    # the log names another judge; the twins are given to the one of their own run
    assert first.eval.scorers is not None
    first.eval.scorers[0].name = f"inspect_ai/{given.__name__}"
    first.eval.scorers[0].options = {
        "template": template,
        "partial_credit": True,
        "model": "mockllm/other",
    }
    for sample in first.samples or []:
        assert sample.scores is not None
        sample.scores = {given.__name__: sample.scores["model_graded_qa"]}
    file = tmp_path / "graded" / "log.eval"
    file.parent.mkdir()
    write_eval_log(first, str(file))

    script = Script(lambda messages: f"GRADE: {'C' if is_padded(messages) else 'P'}")
    log = run(
        judge_twins(answers=str(file), kinds="padded,flattery,truncated"),
        tmp_path,
        model="none",
        grader=script.model("judge"),
    )
    rows = metric_values(log, "judged_again")
    assert rows["padded_double"] == 0.5 and rows["flattery"] == 0.0
    assert len(script.seen) == 3 * QUESTIONS * 5  # each answer three times
    assert all(seen[-1].text.startswith("Look, this: What is") for seen in script.seen)
    found = read_twins(log)
    assert found.scale == (0.0, 1.0) and given.__name__ in found.judged_by
    assert found.judges == ("mockllm/judge",)
    assert all(kind.small < 0.05 for kind in found.kinds)
    output = CliRunner().invoke(main, ["judges", log.location, "--all"]).output
    assert tells(output, "Scores: 0 to 1 ... " + given.__name__)


def test_rated_responses_are_rated_again_by_the_model_under_test(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = tmp_path / "labels.csv"
    rows = [f"q{place},What is {place}?,{SHORT} {place},3,ref {place}" for place in range(12)]
    bench.write_text("\n".join(["id,prompt,response,rating,reference", *rows]), "utf-8")

    def say(messages: list[ChatMessage]) -> Reply:
        return f'{{"score": {4 if is_padded(messages) else 2}}}'

    rated = run(
        judge_rating(bench=str(bench), scale=[1, 5]), tmp_path, model=Script(say).model("judge")
    )
    assert rated.status == "success"
    script = Script(say)
    log = run(judge_twins(answers=rated.location, n=12), tmp_path, model=script.model("judge"))
    values = metric_values(log, "rating_agreement")
    assert values["padded_half"] == values["padded_double"] == 2.0
    found = read_twins(log)
    assert found.scale == (1.0, 5.0) and found.judges == ("mockllm/judge",)
    output = CliRunner().invoke(main, ["judges", log.location, "--all"]).output
    assert tells(output, "Scores: 1 to 5") and "Spearman" not in output
    assert "ref 3" in "".join(seen[-1].text for seen in script.seen)

    with pytest.raises(InputError, match="are twins"):
        judge_twins(answers=log.location)
    first, *_ = rated.samples or []
    first.metadata["response"] = "It is not in its prompt."
    write_eval_log(rated, str(tmp_path / "odd.eval"))
    judge_twins(answers=str(tmp_path / "odd.eval"))
    assert "1 answer of 12" in caplog.text


@scorer(metrics=[])
def own_graded(highest: int = 7) -> Scorer:
    """A scorer of a user, on a scale of its own."""

    async def score(state: TaskState, target: Target) -> Score:
        assert state.metadata == {"answer": "x"}
        return Score(
            value=highest if any(words in state.output.completion for words in RESTATED) else 1
        )

    return score


def test_a_scorer_of_a_user_scores_again_what_it_scored(tmp_path: Path) -> None:
    first = graded(tmp_path, own_graded(highest=9))
    log = twins(tmp_path, Path(first.location), kinds="padded_double")
    assert metric_values(log, "judged_again")["padded_double"] == 8.0


@pytest.mark.parametrize(("values", "scale"), [(("P", "C"), [0.0, 1.0]), ((2.0, 6.0), [2.0, 6.0])])
def test_the_scale_is_that_of_grades_or_of_the_scores_that_were_given(
    values: tuple[str | float, ...], scale: list[float], tmp_path: Path
) -> None:
    first = graded(tmp_path, model_graded_qa())
    for place, sample in enumerate(first.samples or []):
        assert sample.scores is not None
        sample.scores["model_graded_qa"].value = values[place % 2]
    write_eval_log(first, first.location)
    task = judge_twins(answers=first.location)
    assert task.metadata is not None and task.metadata["scale"] == scale


def test_twins_of_another_scorer_do_not_correct_a_ranking(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for file in logs.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    first = graded(tmp_path / "foreign", model_graded_qa())
    run(judge_twins(answers=first.location), folder, model="none", grader=grader())
    ranking = make_leaderboard(read_answers([str(folder)], JUDGE_TASKS), rounds=200).rankings[0]
    assert ranking.judge_shifts is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (includes(), "scored by includes, not by a judge"),
        (model_graded_qa(include_history=True), "include_history"),
        (model_graded_qa(template="no_such.txt {answer}"), ""),
    ],
)
def test_what_cannot_be_judged_again_is_refused(
    given: Scorer, message: str, tmp_path: Path
) -> None:
    log = graded(tmp_path, given)
    if not message:
        assert log.eval.scorers is not None and log.eval.scorers[0].options is not None
        log.eval.scorers[0].options["template"] = "lost.txt"
        write_eval_log(log, log.location)
        message = r"template.*lost\.txt"
    with pytest.raises(InputError, match=rf"(?s)model_graded_fact.*{message}"):
        judge_twins(answers=log.location)


def test_a_scorer_that_is_not_installed_is_refused(tmp_path: Path) -> None:
    log = graded(tmp_path, own_graded())
    assert log.eval.scorers is not None
    log.eval.scorers[0].name = "elsewhere/own_graded"
    write_eval_log(log, log.location)
    with pytest.raises(InputError, match="own_graded cannot be made again"):
        judge_twins(answers=log.location)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ("pair_verdict", "by pair_verdict, not by a judge of single answers"),
        ("urs_inspect/human_rating", "by human_rating, not by a judge"),
    ],
)
def test_judges_of_pairs_and_people_are_no_graders(
    found: str, message: str, tmp_path: Path
) -> None:
    log = graded(tmp_path, own_graded())
    assert log.eval.scorers is not None
    log.eval.scorers[0].name = found
    write_eval_log(log, log.location)
    with pytest.raises(InputError, match=message):
        judge_twins(answers=log.location)


def test_answers_without_a_text_or_a_number_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = graded(tmp_path, model_graded_qa())
    first, second, *_ = log.samples or []
    first.output = ModelOutput.from_content("one", " ")
    assert second.scores is not None
    second.scores["model_graded_qa"].value = {"a": 1, "b": 0}
    write_eval_log(log, log.location)
    judge_twins(answers=log.location)
    assert f"2 answers of {QUESTIONS}" in caplog.text


def test_intents_are_judged_again_in_the_language_of_the_log(tmp_path: Path) -> None:
    asked: list[str] = []

    def say(messages: list[ChatMessage]) -> Reply:
        asked.append(messages[0].text)
        return '{"Final Score": 5}'

    grader = Script(say).model("judge")
    model = Script("A plain answer of some length. It says enough.").model("one")
    task = urs(dataset="sample", language="en", intents="leisure", judge_language="zh")
    run(task, tmp_path / "logs", model=model, grader=grader)
    before = set(asked)
    asked.clear()
    task = judge_twins(answers=str(tmp_path / "logs"), n=3)
    log = run(task, tmp_path / "twins", model="none", grader=grader)
    assert set(asked) == before
    assert all("评" in prompt for prompt in asked)
    assert "zh" in read_twins(log).judged_by


RUBRIC = "name: mine\nversion: '1'\n"
FRAME = "{{ question }} {{ reference }} {{ answer }} {{ record_example }} {{ key }} First."


@pytest.fixture
def ruled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EvalLog:
    """A log of answers, judged by files whose paths are relative to the folder."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "rubric.yaml").write_text(RUBRIC, "utf-8")
    (home / "frame.jinja").write_text(FRAME, "utf-8")
    monkeypatch.chdir(home)
    model = Script("A plain answer of some length. It says enough.").model("one")
    task = urs(
        dataset="sample",
        language="en",
        intents="leisure",
        rubric="rubric.yaml",
        prompt="frame.jinja",
        judge_language="zh",
    )
    log = run(task, tmp_path / "logs", model=model, grader=judge())
    assert log.status == "success"
    (tmp_path / "away").mkdir()
    return log


def test_files_that_the_log_names_must_be_there(
    ruled: EvalLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path / "away")
    with pytest.raises(InputError, match=r"^rubric: .*rubric\.yaml"):
        judge_twins(answers=ruled.location)
    monkeypatch.chdir(tmp_path / "home")
    script = Script('{"Final Score": 5}')
    task = judge_twins(answers=ruled.location, n=3)
    log = run(task, tmp_path / "logs", model="none", grader=script.model("judge"))
    assert all(seen[-1].text.endswith("First.") for seen in script.seen)
    assert "rubric.yaml" in read_twins(log).judged_by
    ranking = make_leaderboard(read_answers([str(tmp_path / "logs")], JUDGE_TASKS), rounds=200)
    assert ranking.rankings[0].judge_shifts is not None  # the same rubric, prompt and language


def test_a_prompt_that_was_edited_since_is_refused(ruled: EvalLog, tmp_path: Path) -> None:
    (tmp_path / "home" / "frame.jinja").write_text(FRAME.replace("First", "Last"), "utf-8")
    sha256 = r"\(sha256 \w{8}\)"
    with pytest.raises(InputError, match=rf"^answers: .*frame\.jinja {sha256} .*{sha256}"):
        judge_twins(answers=ruled.location)

    assert ruled.eval.metadata is not None
    ruled.eval.metadata["rubric_sha256"] = None
    for sample in ruled.samples or []:
        for score in (sample.scores or {}).values():
            (score.metadata or {}).pop("prompt_sha256", None)
    write_eval_log(ruled, ruled.location)
    assert judge_twins(answers=ruled.location).dataset  # older logs have no hash


def test_prompts_of_answers_that_were_scored_again_count_not_the_rubric_of_the_run(
    ruled: EvalLog, tmp_path: Path
) -> None:
    assert ruled.eval.metadata is not None
    ruled.eval.metadata["rubric_sha256"] = "0" * 64
    ruled.eval.task_args["rubric"] = None  # scored again with another rubric than the run had
    write_eval_log(ruled, ruled.location)
    assert judge_twins(answers=ruled.location).dataset
    (tmp_path / "home" / "frame.jinja").write_text(FRAME.replace("First", "Last"), "utf-8")
    with pytest.raises(InputError, match=r"^answers: .*frame\.jinja"):
        judge_twins(answers=ruled.location)


def test_a_rubric_that_ratings_were_not_made_by_is_refused(tmp_path: Path) -> None:
    columns = "id,prompt,response,rating,reference,intent,language"
    rows = [f"q{place},What is {place}?,{SHORT},3,ref,leisure,en" for place in range(12)]
    bench = tmp_path / "labels.csv"
    bench.write_text("\n".join([columns, *rows]), "utf-8")
    rubric = tmp_path / "rubric.yaml"
    rubric.write_text(RUBRIC, "utf-8")
    model = Script('{"Final Score": 5}').model("judge")
    task = judge_rating(bench=str(bench), rubric=str(rubric), scale=[1, 10])
    log = run(task, tmp_path, model=model)
    assert log.status == "success"
    assert judge_twins(answers=log.location).dataset
    rubric.write_text(RUBRIC.replace("1", "2"), "utf-8")
    with pytest.raises(InputError, match=r"^answers: .*rubric\.yaml"):
        judge_twins(answers=log.location)


def of_kinds(log: EvalLog, *, spread: dict[str, int]) -> tuple[Twins, str]:
    """The log with 40 twins of each kind, that shift by so many points up and down, in words."""
    assert log.eval.metadata is not None
    log.eval.metadata["equal_to_original"] = {"negated/en": 5, "negated/zh": 1, "order/en": 2}
    shifts = {
        kind: [points * (-1.0) ** place for place in range(40)] for kind, points in spread.items()
    }
    found = twins_of(log, shifted(shifts))
    return found, " ".join(twins_section(found).notes)


def test_a_long_prompt_of_a_scorer_without_blanks_is_cut(few_twins: EvalLog) -> None:
    found = twins_of(few_twins, shifted({"order": [0.0]}))
    long = replace(found, judged_by=f"my_scorer(instructions='{'指' * 200}')")
    assert tells(twins_section(long).notes, "by my_scorer(instructions='指指 ... 指... Log:")


def test_of_several_logs_of_twins_the_one_of_most_answers_is_first(few_twins: EvalLog) -> None:
    found, _ = of_kinds(few_twins, spread={"order": 1})
    few = replace(found, answers=3, kinds=())
    sections = twins_sections([few, found])
    assert len(sections) == 2
    assert sections[0].tables[0].data["twins"].tolist() == [40]


def test_kinds_without_any_twin_are_counted(few_twins: EvalLog) -> None:
    found, words = of_kinds(few_twins, spread={"order": 0})
    assert [kind.kind for kind in found.kinds] == ["order"]
    assert found.left_out == {"order": 2, "negated": 6}
    assert tells(words, "order 2 ... negated 6")
    _, words = of_kinds(few_twins, spread={})
    assert tells(words, "order 2 ... negated 6")


def test_ways_of_judging_are_not_mixed(logs: Path, tmp_path: Path) -> None:
    log = graded(tmp_path, model_graded_qa())
    with pytest.raises(InputError, match=r"intent_judge \(2 logs\).*model_graded_qa"):
        judge_twins(answers=[str(logs), log.location])


@pytest.mark.parametrize(
    ("scorer", "known", "name"),
    [
        ("intent_judge", True, "p/grader"),
        ("p/style", True, "p/grader"),
        ("rating_agreement", True, "p/tested"),
        ("intent_judge", False, ""),
        ("rating_agreement", False, ""),
    ],
)
def test_the_judge_of_twins_has_the_role_or_is_the_model_under_test_of_ratings(
    scorer: str, known: bool, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "roles_known", lambda: known)
    monkeypatch.setattr(module, "models_with", lambda role: [f"p/{role}", "p/other"])
    monkeypatch.setattr(module, "get_model", lambda: "p/tested")
    assert module._judge_name(Judging(scorer)) == name


def test_columns_of_the_viewer() -> None:
    viewer = _viewer("rating_agreement.rating", (1.0, 5.0))
    check_golden("twins_viewer", "".join(f"- {line}\n" for line in lines_of(viewer)))
