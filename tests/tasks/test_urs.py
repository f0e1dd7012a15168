"""`urs` from start to end: what a run reports, against the same numbers worked out from its
samples.
"""

import io
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean, stdev

import pytest
from inspect_ai import Epochs
from inspect_ai._display.core.results import task_scores
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, EvalResults, EvalSample
from rich.console import Console
from scipy.stats import t as student

from tests.reports.answer_rows import model_of, ranking_of_log
from tests.tasks.scripted import Script, between, metric_values, number, run, samples_of
from urs_inspect import urs
from urs_inspect.datasets import Vocabulary, in_proportion, load_urs
from urs_inspect.rubrics import Rubric, load_rubric

GROUPS = [
    "Ask for Advice",
    "Factual QA",
    "Leisure",
    "Seek Creativity",
    "Solve Problem",
    "Text Assistant",
]
PARTS = ["Solve Problem: api", "Solve Problem: solve_professional_problem"]
LANGUAGES = ["en", "zh"]
CELLS = [f"{group} {language}" for group in GROUPS for language in LANGUAGES]
KINDS = [(intent, language) for intent in load_rubric().intents for language in LANGUAGES]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    """The embedded sample, answered and judged by the simulation: scores that differ from case to
    case.
    """
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
        if value := value_of(sample):
            final, facts = number(value["final"]), sample.metadata
            found["final"].append(final)
            found[facts["intent_group"]].append(final)
            found[facts["language"]].append(final)
            found[f"{facts['intent_group']} {facts['language']}"].append(final)
            if facts["intent_group"] == "Solve Problem":
                found[f"Solve Problem: {facts['intent']}"].append(final)
    return found


def value_of(sample: EvalSample) -> Mapping[str, object]:
    value = (sample.scores or {})["intent_judge"].value
    return value if isinstance(value, dict) else {}


# The run


def test_embedded_sample_runs_to_the_end_and_its_log_says_what_was_run(
    simulated: EvalLog, rubric: Rubric
):
    assert simulated.status == "success"
    assert len(samples_of(simulated)) == len(finals(simulated)["final"]) == 42
    assert metric_values(simulated, "judge_outcome") == {"judged": 42}
    assert (simulated.eval.task, simulated.eval.task_version) == ("urs_inspect/urs", "3-D")
    assert (simulated.eval.task_args["dataset"], simulated.eval.dataset.name) == (
        "sample",
        "sample",
    )
    facts = simulated.eval.metadata or {}
    assert (facts["rubric"], facts["rubric_sha256"]) == ("urs 2", rubric.sha256)
    assert facts["languages"] == {
        code: language.name for code, language in rubric.languages.items()
    }
    assert re.fullmatch("[0-9a-f]{64}", str(facts["dataset_sha256"]))
    assert "references" not in facts
    assert simulated.results is not None and simulated.results.headline is not None
    headline = simulated.results.headline
    assert (headline.scorer, headline.score, headline.metric) == (
        "intent_judge",
        "intent_judge",
        "final",
    )


def test_the_header_has_the_final_score_intents_and_languages(simulated: EvalLog):
    metrics, values = metric_values(simulated, "intent_judge"), finals(simulated)

    assert list(metrics) == [
        "final",
        "low",
        "high",
        "stderr",
        *sorted(GROUPS),
        *LANGUAGES,
    ]
    half_width = float(student.ppf(0.975, 41)) * stdev(values["final"]) / math.sqrt(42)
    assert metrics["high"] - metrics["final"] == pytest.approx(metrics["final"] - metrics["low"])
    assert metrics["high"] - metrics["final"] == pytest.approx(half_width)
    assert metrics["stderr"] == pytest.approx(stdev(values["final"]) / math.sqrt(42))
    assert metrics["stderr"] > 0  # the scores do differ, so that the tests here can fail
    for name in ("final", *GROUPS, *LANGUAGES):
        assert metrics[name] == pytest.approx(fmean(values[name])), name
    assert simulated.results is not None
    assert [result.name for result in simulated.results.scores] == ["intent_judge", "judge_outcome"]


def test_the_terminal_shows_the_header_whole_and_the_final_score_first(simulated: EvalLog):
    assert simulated.results is not None
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(*task_scores(simulated.results.scores))
    lines = [line.split() for line in console.export_text().splitlines() if line.strip()]
    assert lines[1][:2] == ["final", f"{metric_values(simulated, 'intent_judge')['final']:.3f}"]
    assert [line[0] for line in lines[2:5]] == ["low", "high", "stderr"]
    assert len(lines) <= 24 - 10  # which the harness needs for the run and its tokens
    assert not any("…" in word for line in lines for word in line)


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
        epochs=Epochs(2, ["mean", "max"]),
    )

    assert log.status == "success"
    assert metric_values(log, "judge_outcome") == {"judged": 84, "unkeyed": 84}
    mean, largest = [
        result for result in (log.results or EvalResults()).scores if result.name == "intent_judge"
    ]
    # Each question is given 4 and 6: mean 5 for all 42, so that no interval is reported; the
    # deviation within a question is sqrt(((4 - 5)^2 + (6 - 5)^2) / (2 - 1)) = sqrt(2).
    names = ["final", *GROUPS, *LANGUAGES]
    assert (mean.reducer, largest.reducer) == ("mean", "max")
    assert {name: metric.value for name, metric in mean.metrics.items()} == dict.fromkeys(
        names, 5.0
    )
    assert {name: metric.value for name, metric in largest.metrics.items()} == dict.fromkeys(
        names, 6.0
    )
    assert mean.scored_samples == 42
    assert model_of(ranking_of_log(log)).epoch_deviation == pytest.approx(math.sqrt(2))


def test_unscored_cases_are_left_out_of_means_and_counted(tmp_path: Path):
    def leisure_only(messages) -> str:
        return (
            "no scores"
            if re.search("Leisure|休闲", messages[0].text) is None
            else '{"Final Score": 9}'
        )

    subject, judge = Script("An answer."), Script(leisure_only)
    task = urs(dataset="sample", judge_calls={"attempts": 1})
    log = run(task, tmp_path, model=subject.model("subject"), grader=judge.model())

    assert log.status == "success"
    assert metric_values(log, "judge_outcome") == {
        "judged": 6,
        "unscored_unparseable": 36,
        "unkeyed": 6,
    }
    # No case has a criterion: the judge gave the final score alone.
    assert metric_values(log, "intent_judge") == dict.fromkeys(["final", "Leisure", "en", "zh"], 9)
    questions = {sample.input for sample in samples_of(log)}
    assert {tuple(message.text for message in messages) for messages in subject.seen} == {
        (q,) for q in questions
    }
    assert {
        between(seen[1].text, "<answer_to_rate>", "</answer_to_rate>") for seen in judge.seen
    } == {"An answer."}
    assert len(judge.seen) == 42
    assert len({seen[0].text for seen in judge.seen}) == len(
        KINDS
    )  # one text for each, which providers can cache


# Order, limit, selection


def test_order_depends_on_the_seed_alone_and_its_beginning_holds_every_kind():
    def kind(sample: Sample) -> tuple[str, str]:
        return (sample.metadata or {})["intent"], (sample.metadata or {})["language"]

    tasks = [urs(dataset="sample", seed=seed) for seed in (0, 0, 1)]
    ids = [[sample.id for sample in task.dataset] for task in tasks]
    assert ids[0] == ids[1] != ids[2]
    assert set(ids[0]) == set(ids[2])
    # 42 cases of 14 kinds, three of each: the first fourteen hold one of each.
    assert Counter(map(kind, list(tasks[0].dataset)[:14])) == Counter(KINDS)


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        ({"language": "CN"}, [kind for kind in KINDS if kind[1] == "zh"]),
        ({"language": ["en", "zh"], "intents": "all"}, KINDS),
        (
            {"intents": "leisure, ask_for_advice"},
            [k for k in KINDS if k[0] in ("leisure", "ask_for_advice")],
        ),
        ({"intents": ["leisure", "leisure"]}, [("leisure", "en"), ("leisure", "zh")]),
        ({"intents": "API", "language": "en"}, [("api", "en")]),
    ],
)
def test_language_and_intents_select_cases(arguments, kinds: list[tuple[str, str]]):
    samples = list(urs(dataset="sample", **arguments).dataset)

    assert Counter(
        (s.metadata["intent"], s.metadata["language"]) for s in samples if s.metadata
    ) == Counter(kinds * 3)


# The published data


@pytest.mark.data
def test_published_rows_are_all_asked(data_dir: Path):
    samples = list(urs().dataset)
    assert sorted(str(sample.id) for sample in samples) == [f"urs_{n:04d}" for n in range(1, 1847)]
    facts = [sample.metadata or {} for sample in samples]
    # URS paper, Table 2, with API counted in Solve Problem.
    counts = {
        "Factual QA": 573,
        "Solve Problem": 528,
        "Ask for Advice": 269,
        "Seek Creativity": 193,
    }
    assert Counter(fact["intent_group"] for fact in facts) == {
        **counts,
        "Leisure": 159,
        "Text Assistant": 124,
    }
    assert Counter(fact["language"] for fact in facts) == {"en": 1014, "zh": 832}


@pytest.mark.data
def test_published_rows_in_proportion_are_scored(data_dir: Path, rubric: Rubric, tmp_path: Path):
    published = load_urs("urs", Vocabulary(rubric.intent_id, rubric.language_code))
    ids = [case.id for case in in_proportion(published.cases, 0)[:84]]
    models = {"model": "urs_simulation/weak", "grader": "urs_simulation/judge"}
    log = run(urs(), tmp_path, **models, sample_id=ids)

    assert log.status == "success"
    assert metric_values(log, "judge_outcome") == {"judged": 84}
    assert sorted(str(sample.id) for sample in samples_of(log)) == sorted(ids)
    values, metrics = finals(log), metric_values(log, "intent_judge")
    for name in ("final", *GROUPS, *LANGUAGES):
        assert metrics[name] == pytest.approx(fmean(values[name])), name
    # What is not in the header is read from the log.
    found = model_of(ranking_of_log(log))
    parts = {cell.replace("/", " "): mean for cell, mean in found.by_cell.items()} | found.by_part
    assert parts.keys() == {*CELLS, *PARTS}
    for name, estimate in parts.items():
        assert estimate.value == pytest.approx(fmean(values[name])), name
