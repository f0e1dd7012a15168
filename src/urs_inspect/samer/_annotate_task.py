"""Annotation of pairs to train SaMer on."""

from collections.abc import Iterator
from logging import getLogger
from pathlib import Path
from typing import Annotated, Any, Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.viewer import ViewerConfig

from urs_inspect._arguments import Text, checked, one_of
from urs_inspect._util import InputError, choices
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer._annotate_pair import CLASSIFIER, annotate_pair, second_answer
from urs_inspect.samer._annotated_pair import annotated_pair
from urs_inspect.samer._sources import SOURCES, Mapped, Skipped, map_records
from urs_inspect.samer._training.pairs import TrainingPair, read_rows, read_training
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
