"""`urs` from start to end: what a run reports, against the same numbers worked out from its samples."""

import io
import json
import math
import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean, stdev

import pytest
from inspect_ai import Epochs, Task, task
from inspect_ai._display.core.results import task_scores
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, EvalSample, EvalScore, resolve_sample_attachments
from inspect_ai.model import ChatMessage
from inspect_ai.scorer import match
from inspect_ai.solver import generate
from rich.console import Console
from scipy.stats import t as student

from tests.reports.answer_rows import model_of, ranking_of_log
from tests.tasks.scripted import (
    Script,
    between,
    metric_values,
    number,
    record,
    run,
    run_all,
    samples_of,
)
from urs_inspect import urs
from urs_inspect.datasets import UrsCase
from urs_inspect.rubrics import Rubric, load_rubric
from urs_inspect.tasks.urs_cases import case_to_sample

GROUPS = ["Ask for Advice", "Factual QA", "Leisure", "Seek Creativity", "Solve Problem", "Text Assistant"]
PARTS = ["Solve Problem: api", "Solve Problem: solve_professional_problem"]
LANGUAGES = ["en", "zh"]
CELLS = [f"{group} {language}" for group in GROUPS for language in LANGUAGES]
KINDS = [(intent, language) for intent in load_rubric().intents for language in LANGUAGES]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    """The embedded sample, answered and judged by the simulation: scores that differ from case to case."""
    return run(
        urs(dataset="sample"),
        tmp_path_factory.mktemp("simulated"),
        model="urs_simulation/weak",
        grader="urs_simulation/judge",
    )


def finals(log: EvalLog) -> dict[str, list[float]]:
    """Final scores by every name under which they are reported."""
    found: dict[str, list[float]] = defaultdict(list)
    for sample in samples_of(log):
        assert sample.scores is not None
        value = sample.scores["intent_judge"].value
        if isinstance(value, dict):
            final, facts = number(value["final"]), sample.metadata
            found["final"].append(final)
            found[facts["intent_group"]].append(final)
            found[facts["language"]].append(final)
            found[f"{facts['intent_group']} {facts['language']}"].append(final)
            if facts["intent_group"] == "Solve Problem":
                found[f"Solve Problem: {facts['intent']}"].append(final)
    return found


def half_width(values: list[float]) -> float:
    """Half the width of the 95% interval of a mean: t(n - 1) * s / sqrt(n)."""
    return float(student.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values))


def result_of(log: EvalLog, name: str) -> EvalScore:
    assert log.results is not None
    [result] = [result for result in log.results.scores if result.name == name]
    return result


def sent_to_judge(sample: EvalSample) -> list[ChatMessage]:
    """What the only call of a judge was sent; the log keeps long texts apart."""
    events = resolve_sample_attachments(sample).events
    [judging] = [event for event in events if isinstance(event, ModelEvent) and event.role == "grader"]
    return judging.input


# The run


def test_embedded_sample_runs_to_the_end_with_every_case_scored(simulated: EvalLog):
    assert simulated.status == "success"
    assert len(samples_of(simulated)) == 42
    assert all(sample.error is None and sample.scores for sample in samples_of(simulated))
    assert metric_values(simulated, "judge_outcome") == {"judged": 42}
    assert len(finals(simulated)["final"]) == 42


def test_log_says_what_was_run(simulated: EvalLog, rubric: Rubric):
    assert simulated.eval.task == "urs_inspect/urs"
    assert simulated.eval.task_version == "2-B"
    assert simulated.eval.task_args["dataset"] == "sample"
    assert simulated.eval.metadata is not None
    assert simulated.eval.metadata["rubric"] == "urs 2"
    assert simulated.eval.metadata["rubric_sha256"] == rubric.sha256
    assert re.fullmatch("[0-9a-f]{64}", str(simulated.eval.metadata["dataset_sha256"]))
    assert simulated.eval.dataset.name == "sample"


def test_headline_is_the_mean_of_the_final_score(simulated: EvalLog):
    assert simulated.results is not None
    headline = simulated.results.headline
    assert headline is not None
    assert (headline.scorer, headline.score, headline.metric) == ("intent_judge", "intent_judge", "final")


def test_static_part_of_the_prompt_is_one_text_for_each_intent_and_language(simulated: EvalLog):
    texts: dict[tuple[str, str], set[str]] = defaultdict(set)
    hashes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for sample in samples_of(simulated):
        kind = (sample.metadata["intent"], sample.metadata["language"])
        texts[kind].add(sent_to_judge(sample)[0].text)
        assert sample.scores is not None
        hashes[kind].add((sample.scores["intent_judge"].metadata or {})["prompt_sha256"])

    assert all(len(found) == 1 for found in (*texts.values(), *hashes.values()))
    assert len({text for found in texts.values() for text in found}) == len(texts) == 14


# The metrics


def test_the_header_begins_with_the_final_score_and_its_bounds(simulated: EvalLog):
    values, metrics = finals(simulated)["final"], metric_values(simulated, "intent_judge")

    assert list(metrics)[:4] == ["final", "low", "high", "stderr"]
    assert metrics["final"] == pytest.approx(fmean(values))
    assert metrics["stderr"] == pytest.approx(stdev(values) / math.sqrt(42))
    assert metrics["low"] == pytest.approx(fmean(values) - half_width(values))
    assert metrics["high"] == pytest.approx(fmean(values) + half_width(values))
    assert metrics["stderr"] > 0  # the scores do differ, so that the tests here can fail


def test_the_header_has_intents_languages_and_criteria_and_nothing_else(simulated: EvalLog, rubric: Rubric):
    metrics, values = metric_values(simulated, "intent_judge"), finals(simulated)

    assert list(metrics)[4:] == [*sorted(GROUPS), *sorted(LANGUAGES), *rubric.criteria]
    for name in (*GROUPS, *LANGUAGES):
        assert metrics[name] == pytest.approx(fmean(values[name])), name
    assert simulated.results is not None
    assert [result.name for result in simulated.results.scores] == ["intent_judge", "judge_outcome"]
    assert sum(len(result.metrics) for result in simulated.results.scores) <= 25


def test_the_terminal_shows_the_header_whole_and_the_final_score_first(simulated: EvalLog):
    assert simulated.results is not None
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(*task_scores(simulated.results.scores))
    lines = [line.split() for line in console.export_text().splitlines() if line.strip()]
    assert lines[1][:2] == ["final", f"{metric_values(simulated, 'intent_judge')['final']:.3f}"]
    assert [line[0] for line in lines[2:5]] == ["low", "high", "stderr"]
    assert len(lines) <= 40 - 15  # which the harness needs for the run and its tokens
    assert not any("…" in word for line in lines for word in line)


@pytest.mark.parametrize("criterion", load_rubric().criteria)
def test_every_criterion_has_its_mean_over_the_cases_of_its_intents(criterion: str, simulated: EvalLog, rubric: Rubric):
    values = []
    for sample in samples_of(simulated):
        assert sample.scores is not None
        value = sample.scores["intent_judge"].value
        assert isinstance(value, dict)
        if criterion in rubric.intents[sample.metadata["intent"]].criteria:
            values.append(number(value[criterion]))
        else:
            assert math.isnan(number(value[criterion]))

    assert metric_values(simulated, "intent_judge")[criterion] == pytest.approx(fmean(values))


def test_what_left_the_header_is_read_from_the_log(simulated: EvalLog):
    found, values = model_of(ranking_of_log(simulated)), finals(simulated)

    cells = {key.replace("/", " "): estimate for key, estimate in found.by_cell.items()}
    estimates = {**found.by_group, **found.by_language, **cells, **found.by_part}
    assert estimates.keys() == {*GROUPS, *LANGUAGES, *CELLS, *PARTS}
    for name, estimate in estimates.items():
        assert estimate.value == pytest.approx(fmean(values[name])), name
        assert math.isnan(estimate.low) == (estimate.n < 6 or len(set(values[name])) == 1), name
    assert {name for name, estimate in estimates.items() if estimate.n < 6} < set(CELLS)
    for criterion, estimate in found.by_criterion.items():
        assert estimate.value == pytest.approx(metric_values(simulated, "intent_judge")[criterion])


def test_api_counts_in_solve_problem_and_is_reported_by_itself(simulated: EvalLog):
    values, metrics = finals(simulated), metric_values(simulated, "intent_judge")
    found = model_of(ranking_of_log(simulated))

    assert [len(values[name]) for name in ("Solve Problem", *PARTS)] == [12, 6, 6]
    one, other = (found.by_part[name].value for name in PARTS)
    assert metrics["Solve Problem"] == pytest.approx((one + other) / 2)
    assert one != other


def test_share_of_self_judged_answers_is_read_from_the_log(simulated: EvalLog, tmp_path: Path):
    model = Script(lambda messages: record(6, intent="factual_qa") if len(messages) == 2 else "An answer.")
    log = run(urs(dataset="sample"), tmp_path, model=model.model("subject"), grader=None, limit=4)
    assert [model_of(ranking_of_log(found)).self_judged for found in (simulated, log)] == [0.0, 1.0]


# Epochs


def test_epochs_report_the_mean_of_each_question_and_the_deviation_between_epochs(tmp_path: Path):
    seen: Counter[str] = Counter()

    def four_then_six(messages) -> str:
        seen[messages[1].text] += 1
        return json.dumps({"Final Score": 2 + 2 * seen[messages[1].text]})

    log = run(
        urs(dataset="sample"),
        tmp_path,
        model=Script("An answer.").model("subject"),
        grader=Script(four_then_six).model(),
        epochs=2,
    )

    assert log.status == "success"
    assert Counter((sample.id, sample.epoch) for sample in samples_of(log)).most_common(1)[0][1] == 1
    assert len(samples_of(log)) == 84
    assert metric_values(log, "judge_outcome") == {"judged": 84}
    # Each question is given 4 and 6: mean 5 for all 42, so that no interval is reported; the deviation within a
    # question is sqrt(((4 - 5)^2 + (6 - 5)^2) / (2 - 1)) = sqrt(2).
    assert metric_values(log, "intent_judge") == dict.fromkeys(["final", *GROUPS, *LANGUAGES], 5.0)
    found = model_of(ranking_of_log(log))
    assert found.epoch_deviation == pytest.approx(math.sqrt(2))
    assert {estimate.value for estimate in (*found.by_cell.values(), *found.by_part.values())} == {5.0}
    assert result_of(log, "intent_judge").scored_samples == 42


def test_epochs_with_another_reducer_keep_every_metric(tmp_path: Path):
    log = run(
        urs(dataset="sample"),
        tmp_path,
        model="urs_simulation/weak",
        grader="urs_simulation/judge",
        epochs=Epochs(2, ["mean", "max"]),
        limit=14,
    )

    assert log.status == "success"
    assert log.results is not None
    assert [result.reducer for result in log.results.scores if result.name == "intent_judge"] == ["mean", "max"]


# Cases without a score


def test_run_without_a_single_score_ends_with_success(tmp_path: Path):
    log = run(
        urs(dataset="sample", judge_attempts=1),
        tmp_path,
        model=Script("An answer.").model("subject"),
        grader=Script("no scores").model(),
    )

    assert log.status == "success"
    assert metric_values(log, "judge_outcome") == {"unscored_unparseable": 42}
    assert log.results is not None
    assert log.results.headline is not None
    assert math.isnan(metric_values(log, "intent_judge")["final"])
    result = result_of(log, "intent_judge")
    assert (result.scored_samples, result.unscored_samples) == (0, 42)


def test_unscored_cases_are_left_out_of_means_and_counted(tmp_path: Path):
    def leisure_only(messages) -> str:
        return "no scores" if re.search("Leisure|休闲", messages[0].text) is None else '{"Final Score": 9}'

    log = run(
        urs(dataset="sample", judge_attempts=1),
        tmp_path,
        model=Script("An answer.").model("subject"),
        grader=Script(leisure_only).model(),
    )

    assert metric_values(log, "judge_outcome") == {"judged": 6, "unscored_unparseable": 36}
    assert metric_values(log, "intent_judge")["final"] == 9
    # No case has a criterion: the judge gave the final score alone.
    assert metric_values(log, "intent_judge").keys() == {"final", "Leisure", "en", "zh"}


def test_empty_answers_count_with_the_lowest_score(tmp_path: Path):
    judge = Script(record(9))
    log = run(urs(dataset="sample"), tmp_path, model=Script(" \n").model("subject"), grader=judge.model(), limit=14)

    assert judge.seen == []
    assert metric_values(log, "judge_outcome") == {"no_response": 14}
    assert metric_values(log, "intent_judge")["final"] == 1
    assert metric_values(log, "intent_judge")["factuality"] == 1


# Order, limit, selection


def test_limit_takes_intents_and_languages_in_proportion(tmp_path: Path):
    # 42 cases of 14 kinds, three of each: the first fourteen hold one of each.
    log = run(urs(dataset="sample"), tmp_path, model="urs_simulation/weak", grader="urs_simulation/judge", limit=14)

    kinds = Counter((sample.metadata["intent"], sample.metadata["language"]) for sample in samples_of(log))
    assert kinds == Counter(KINDS)


def test_order_depends_on_the_seed_alone():
    ids = [[sample.id for sample in urs(dataset="sample", seed=seed).dataset] for seed in (0, 0, 1)]

    assert ids[0] == ids[1] != ids[2]
    assert set(ids[0]) == set(ids[2])
    assert len(set(ids[0])) == 42


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        ({"language": "en"}, [kind for kind in KINDS if kind[1] == "en"]),
        ({"language": "CN"}, [kind for kind in KINDS if kind[1] == "zh"]),
        ({"language": ["en", "zh"]}, KINDS),
        ({"language": "all", "intents": "all"}, KINDS),
        ({"intents": "leisure, ask_for_advice"}, [k for k in KINDS if k[0] in ("leisure", "ask_for_advice")]),
        ({"intents": ["leisure", "leisure"]}, [("leisure", "en"), ("leisure", "zh")]),
        ({"intents": "Solve_Professional_Problem"}, [k for k in KINDS if k[0] == "solve_professional_problem"]),
        ({"intents": "API", "language": "en"}, [("api", "en")]),
    ],
)
def test_language_and_intents_select_cases(arguments, kinds: list[tuple[str, str]]):
    samples = list(urs(dataset="sample", **arguments).dataset)

    assert Counter((s.metadata["intent"], s.metadata["language"]) for s in samples if s.metadata) == Counter(kinds * 3)


def test_case_becomes_a_sample_without_edge_whitespace_and_with_its_own_id(rubric: Rubric):
    case = UrsCase(id="urs_0007", question="\n Why? \t", reference=" Because.\n", intent="api", language="zh")
    sample = case_to_sample(case, rubric)

    assert sample.id == "urs_0007"
    assert sample.input == "Why?"
    assert sample.target == "Because."
    assert sample.metadata == {"intent": "api", "intent_group": "Solve Problem", "language": "zh"}


# Among other tasks


@task
def sums() -> Task:
    return Task(dataset=MemoryDataset([Sample(input="1 + 1?", target="2")]), solver=generate(), scorer=match())


def test_runs_beside_another_task(tmp_path: Path):
    model = Script(lambda messages: '{"Final Score": 4}' if len(messages) == 2 else "2")
    logs = run_all(
        [urs(dataset="sample"), sums()], tmp_path, model=model.model("subject"), grader=model.model("judge"), limit=7
    )

    by_task = {log.eval.task.rpartition("/")[2]: log for log in logs}
    assert {name: log.status for name, log in by_task.items()} == {"urs": "success", "sums": "success"}
    assert metric_values(by_task["urs"], "intent_judge")["final"] == 4
    assert metric_values(by_task["sums"], "match")["accuracy"] == 1


def test_answers_are_asked_for_with_the_question_alone(tmp_path: Path):
    subject = Script("An answer.")
    log = run(urs(dataset="sample"), tmp_path, model=subject.model("subject"), grader="urs_simulation/judge", limit=5)

    questions = {sample.input for sample in samples_of(log)}
    assert {tuple(message.text for message in messages) for messages in subject.seen} == {(q,) for q in questions}
    for sample in samples_of(log):
        assert between(sent_to_judge(sample)[1].text, "<answer_to_rate>", "</answer_to_rate>") == "An answer."


# The published data


@pytest.fixture
def published(data_dir: Path) -> Task:
    """The task over the 1,846 rows."""
    return urs()


@pytest.mark.data
def test_published_rows_are_all_scored(published: Task, tmp_path: Path):
    log = run(published, tmp_path, model="urs_simulation/weak", grader="urs_simulation/judge")

    assert log.status == "success"
    assert metric_values(log, "judge_outcome") == {"judged": 1846}
    assert sorted(str(sample.id) for sample in samples_of(log)) == [f"urs_{n:04d}" for n in range(1, 1847)]
    values, metrics = finals(log), metric_values(log, "intent_judge")
    # URS paper, Table 2, with API counted in Solve Problem.
    counts = {"Factual QA": 573, "Solve Problem": 528, "Ask for Advice": 269, "Seek Creativity": 193}
    assert {name: len(values[name]) for name in GROUPS} == {**counts, "Leisure": 159, "Text Assistant": 124}
    assert {name: len(values[name]) for name in LANGUAGES} == {"en": 1014, "zh": 832}
    for name in (*GROUPS, *LANGUAGES):
        assert metrics[name] == pytest.approx(fmean(values[name])), name
    found = model_of(ranking_of_log(log))
    parts = {cell.replace("/", " "): mean for cell, mean in found.by_cell.items()} | found.by_part
    assert parts.keys() == {*CELLS, *PARTS}
    for name, estimate in parts.items():
        assert estimate.value == pytest.approx(fmean(values[name])), name
    assert metric_values(log, "intent_judge")["final"] == pytest.approx(fmean(values["final"]))


@pytest.mark.data
def test_first_seventy_published_rows_hold_every_kind_in_proportion(published: Task):
    def kind(sample: Sample) -> tuple[str, str]:
        assert sample.metadata is not None
        return sample.metadata["intent"], sample.metadata["language"]

    samples = list(published.dataset)
    everywhere, first = Counter(map(kind, samples)), Counter(map(kind, samples[:70]))
    for name, count in everywhere.items():
        assert abs(first[name] - 70 * count / 1846) <= 1, name
