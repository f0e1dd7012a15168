"""Annotation of pairs to train SaMer on: the task, and which pairs are kept."""

import math
from collections.abc import Iterator
from logging import getLogger
from pathlib import Path
from typing import Annotated, Any, Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.scorer import mean as mean_metric
from inspect_ai.solver import TaskState
from inspect_ai.viewer import ViewerConfig

from urs_inspect._arguments import Text, checked, one_of
from urs_inspect._util import InputError, choices
from urs_inspect.judging._reply_counts import BY_JUDGE, UnkeyedWatch, header_rows, summed
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer._annotate_pair import CLASSIFIER, annotate_pair, second_answer
from urs_inspect.samer._pair_annotation import ANNOTATION
from urs_inspect.samer._pairs import TrainingPair, read_rows, read_training
from urs_inspect.samer._sources import SOURCES, Mapped, Skipped, map_records
from urs_inspect.scorers._metrics import count_rows, facts_of, mean
from urs_inspect.solvers._preflight import preflight_setup
from urs_inspect.solvers._role_models import GRADER
from urs_inspect.tasks._viewer import SHARE, sample_list

logger = getLogger(__name__)

SAMER_ANNOTATE_VERSION = "3-B"
"""Comparability and interface of the task."""
PAIRS = "pairs"
"""Source of files in the training format, whose dimensions are annotated anew."""


@task
@checked
def samer_annotate(
    data: Text,
    source: Annotated[str, one_of(lambda: (PAIRS, *SOURCES))] = PAIRS,
    orders: Literal["both", "ab"] = "both",
    scenario: Literal["missing", "verify"] = "missing",
) -> Task:
    """Annotate pairs by SaMer's method, and keep those with the known winner.

    Prompts are classified, and pairs annotated on their scenario's dimensions.

    Run it with `--model none --model-role grader=...` (SaMer paper, sections 3.1 to 3.3 and A2). A
    model with the role `classifier` names scenarios in the grader's place, if there is one. Records
    of `lmsys_chat` have one response: the second one is written by `--model`. `urs-inspect samer
    annotate LOGS FILE` writes what was kept.

    Args:
        data: Path of a JSON Lines file with the records.
        source: What they are: `pairs` (the training format), `helpsteer2`, `ultrafeedback`,
            `pku_saferlhf`, `shp2`, `chatbot_arena`, `lmsys_chat`, `synthetic_gptj` or
            `preference_collection`.
        orders: `both`: each pair is shown in both orders, and a preference that changes is a tie;
            `ab`: once.
        scenario: `missing`: a model names the scenario where the record has none; `verify`: always,
            and pairs of which it names another one are not kept.

    Returns:
        A task with one sample per usable record of the file.

    Raises:
        InputError: If an argument or the file cannot be used, or no record in it is usable.
    """
    path = Path(data).expanduser()
    skipped: list[Skipped] = []
    samples = [_sample(item) for item in _items(path, source, skipped)]
    for record in skipped:
        logger.info(f"skipped: {path}: record {record.place}: {record.reason}")
    if not samples:
        raise InputError(f"{path}: no usable record of '{source}' in it ({len(skipped)} skipped)")
    return Task(
        dataset=MemoryDataset(samples, name=path.stem),
        solver=[second_answer(), annotate_pair(orders, scenario)],
        scorer=annotated_pair(),
        version=SAMER_ANNOTATE_VERSION,
        headline_metric="annotated_pair.agrees",
        display_name=f"SaMer annotation: {source}",
        metadata={"source": source, "skipped": len(skipped), "taxonomy": load_taxonomy().version},
        viewer=_viewer(),
        setup=preflight_setup([GRADER, CLASSIFIER]),
    )


def _items(path: Path, source: str, skipped: list[Skipped]) -> Iterator[Mapped]:
    if source == PAIRS:
        yield from read_training(path, load_taxonomy())
        return
    try:
        yield from map_records(source, (row for _, row in read_rows(path)), skipped)
    except InputError as error:
        if str(error).startswith(f"{path}:"):
            raise
        raise InputError(
            f"{path}: {error}; allowed sources: {choices((PAIRS, *SOURCES))}"
        ) from error


def _sample(item: Mapped) -> Sample:
    facts: dict[str, Any] = {
        "prompt": item.prompt,
        "source": item.source,
        "scenario": "",
        "label": "",
    }
    if isinstance(item, TrainingPair):
        facts |= {"response_a": item.response_a, "response_b": item.response_b}
        facts |= {"scenario": item.scenario, "label": item.winner or ""}
    else:
        facts["response"] = item.response
    return Sample(id=item.id, input=item.prompt, target=facts["label"], metadata=facts)


def _viewer() -> ViewerConfig:
    """Annotated pairs, the known winner (the target), the annotated one (the answer), and what is
    kept.
    """
    labels = {"agrees": "Agrees", "kept": "Kept"}
    return sample_list(
        "Annotation",
        ["input", "target", "answer", *(f"annotated_pair.{key}" for key in labels)],
        labels=labels,
        scales=dict.fromkeys(labels, SHARE),
        sort=[],
    )


# ## Which pairs are kept


@metric(scores="unreduced")
def annotation_report() -> Metric:
    """Counts of an annotation.

    Rows: `pairs`; `annotated` (with an overall winner and a dimension); `kept`; `share kept` of the
    annotated ones with a known label (SaMer paper, section A2: 78 %); `unlabelled`; `other
    scenario` (the data named another one); `kept scenario=<id>`; `failures <mode>`; counts of the
    judge's replies without the key, asked again and so on.
    """

    def compute(scores: list[SampleScore]) -> Value:
        facts = list(map(facts_of, scores))
        annotated = [fact for fact in facts if fact.get("annotated")]
        labelled = [fact for fact in annotated if fact.get("label")]
        kept = [fact for fact in facts if fact.get("kept")]
        return {
            "pairs": float(len(facts)),
            "annotated": float(len(annotated)),
            "kept": float(len(kept)),
            "share kept": mean([float(bool(fact["agrees"])) for fact in labelled]),
            "unlabelled": float(len(annotated) - len(labelled)),
            "other scenario": float(sum(bool(fact.get("other_scenario")) for fact in annotated)),
            **count_rows("kept", (f"scenario={fact['record']['scenario']}" for fact in kept)),
            **count_rows("failures", (mode for fact in facts for mode in fact.get("failures", ()))),
            **header_rows(summed(facts)),
        }

    return compute


@scorer(metrics=[{"kept": [mean_metric()], "agrees": [mean_metric()]}, annotation_report()])
def annotated_pair() -> Scorer:
    """Keep annotated pairs whose overall winner is the known one.

    Source: SaMer paper, section A2, after STaR.

    The value `agrees` is 1 where the annotated winner is the known one, ties included, 0 where it
    is not, NaN where none is known. `kept` is 1 for pairs to train on: those that agree, and those
    without a known winner, whose annotated one then stands for it, as in the paper's LMSYS part; 0
    for others, also where a verified scenario turned out to be another; NaN, with a reason, where
    the annotation could not be read. The metadata hold the pair in the training format.
    """
    watch = UnkeyedWatch()

    async def score(state: TaskState, target: Target) -> Score:
        facts = state.metadata
        record: dict[str, Any] = state.store.get(ANNOTATION, {"failures": ["call_failed"]})
        winner = record.get("winner")
        dimensions = record.get("dimensions") or {}
        label = facts.get("label") or ""
        scenario = record.get("scenario") or ""
        about_calls = {name: value for name, value in record.items() if "temperature_" in name}
        about_calls[BY_JUDGE] = record.get(BY_JUDGE, {})
        for warning in watch.note(about_calls):
            logger.warning(warning)
        if winner is None or not dimensions:
            return Score(
                value={"kept": math.nan, "agrees": math.nan},
                answer="unread",
                explanation=_explain(record, label),
                reason=(
                    "no_response"
                    if "call_failed" in record["failures"]
                    else "invalid_response_format"
                ),
                metadata={
                    "annotated": False,
                    "kept": False,
                    "failures": list(record["failures"]),
                    **about_calls,
                },
            )
        other = bool(facts.get("scenario")) and facts["scenario"] != scenario
        agrees = None
        if label:
            agrees = winner == label
        kept = agrees is not False and not other
        return Score(
            value={"kept": float(kept), "agrees": math.nan if agrees is None else float(agrees)},
            answer=winner,
            explanation=_explain(record, label),
            metadata={
                "annotated": True,
                "kept": kept,
                "agrees": agrees,
                "label": label,
                "other_scenario": other,
                "failures": list(record["failures"]),
                **about_calls,
                "record": {
                    "id": str(state.sample_id),
                    "prompt": facts["prompt"],
                    "response_a": facts["response_a"],
                    "response_b": facts["response_b"],
                    "winner": winner,
                    "scenario": scenario,
                    "dimensions": dimensions,
                    "source": facts.get("source", ""),
                },
            },
        )

    return score


def _explain(record: dict[str, Any], label: str) -> str:
    lines = [f"Scenario: {record.get('scenario') or 'not known'}"]
    if record["failures"]:
        lines.append(f"Failures: {', '.join(record['failures'])}")
    rows = [
        ("Overall", record.get("winner") or "unread"),
        *(record.get("dimensions") or {}).items(),
    ]
    table = ["| | preferred |", "|---|---|", *(f"| {name} | {side} |" for name, side in rows)]
    return "\n\n".join([*lines, f"Known winner: {label or 'none'}", "\n".join(table)])
