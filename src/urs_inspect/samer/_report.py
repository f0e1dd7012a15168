"""Logs scored with SaMer -> weights and scores of dimensions by scenario (SaMer paper, Figure 4);
annotated pairs.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from inspect_ai.log import EvalLog, EvalSample

from urs_inspect.judging._scores import last_score
from urs_inspect.samer._pairs import TrainingPair
from urs_inspect.stats import Estimate, mean_interval

_GROUPS = ("scenario", "intent", "group")
_NO_GROUP = "all"
_SAME_NUMBERS = frozenset({"engine"})  # all engines give the same

_Weights = dict[str, float]
_Setup = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class DimensionScore:
    """The scores of one dimension, over the samples for which the model selected it."""

    mean: Estimate  # with its interval, 0 to 1, epochs of a sample averaged first
    selected: float  # share of the evaluated samples for which it was selected


@dataclass(frozen=True)
class ScenarioWeights:
    """Weights that one model gave in one scenario."""

    scenario: str  # for other benchmarks the intent or group of the samples
    responses: int
    # Dimension -> mean weight, the largest first; a dimension that was not selected for a response
    # counts as 0 there, so that they add up to 1.
    weights: dict[str, float]
    # The model and how it was run, as far as that changes weights; empty if the logs do not say.
    samer: dict[str, str] = field(default_factory=dict)


def read_dimensions(log: EvalLog) -> dict[str, DimensionScore]:
    """Read the scores of the dimensions, and `overall`, from a log scored by `samer`.

    If it was scored several times, the last score of a sample counts. `overall` comes first, then
    the dimensions in the order of the taxonomy; empty if nothing was scored.
    """
    rows: list[tuple[str, str, float]] = []
    for sample in log.samples or []:
        for name, value in _dimensions(sample).items():
            rows.append((name, str(sample.id), value))
    scores = pd.DataFrame(rows, columns=["name", "sample", "score"])
    counts = scores["name"].value_counts()
    found = {}
    for dimension, own in scores.groupby("name", sort=False):
        means = own.groupby("sample", sort=False)["score"].mean().tolist()
        share = len(own) / counts["overall"]
        found[str(dimension)] = DimensionScore(mean_interval(means, scale=(0.0, 1.0)), share)
    return found


def _dimensions(sample: EvalSample) -> dict[str, float]:
    """Overall score and those of the selected dimensions; empty if the sample was not evaluated."""
    score = last_score(sample, "samer")
    given = {}
    if score and isinstance(score.value, dict):
        given = score.value
    known = {
        str(name): float(value)
        for name, value in given.items()
        if _is_number(value) and not math.isnan(value)
    }
    if "overall" in known:
        return known
    return {}


def read_weights(logs: Iterable[EvalLog]) -> list[ScenarioWeights]:
    """Average the weights by model, the way it was run, and scenario, in the order of their names.

    Args:
        logs: Logs with scores whose metadata hold `weights`: dimension -> weight of a response, or
            a list of these; and `samer`: the model and how it was run. Of several scores of a
            sample by the same model, in one log or in copies of it, the last one counts.
    """
    found: dict[tuple[_Setup, str], dict[str, list[_Weights]]] = {}
    for log in logs:
        for sample in log.samples or []:
            facts = sample.metadata or {}
            scenario = next((str(facts[key]) for key in _GROUPS if facts.get(key)), _NO_GROUP)
            sample_key = sample.uuid or f"{log.eval.eval_id} {sample.id} {sample.epoch}"
            for setup, weights in _weights(sample):
                found.setdefault((setup, scenario), {})[sample_key] = weights
    return [
        _averaged(scenario, [one for weights in samples.values() for one in weights], dict(setup))
        for (setup, scenario), samples in sorted(found.items())
    ]


def differing(found: Iterable[ScenarioWeights]) -> list[str]:
    """Names of the settings in which the models of some results differ, `model` first."""
    setups = [one.samer for one in found]
    names = dict.fromkeys(["model", *(name for setup in setups for name in setup)])
    return [name for name in names if len({setup.get(name) for setup in setups}) > 1]


def _averaged(scenario: str, responses: list[_Weights], samer: dict[str, str]) -> ScenarioWeights:
    means = pd.DataFrame(responses).fillna(0.0).mean().sort_index()
    largest_first = means[means > 0].sort_values(ascending=False, kind="stable")
    weights = {str(name): float(mean) for name, mean in largest_first.items()}
    return ScenarioWeights(scenario, len(responses), weights, samer)


def _weights(sample: EvalSample) -> Iterator[tuple[_Setup, list[_Weights]]]:
    """For each score how the model was set up and the weights of its responses, if it has any."""
    for score in (sample.scores or {}).values():
        facts: dict[str, Any] = score.metadata or {}
        given = facts.get("weights")
        sound = [
            {str(name): float(value) for name, value in one.items()}
            for one in (given if isinstance(given, list) else [given])
            if isinstance(one, dict) and one and all(map(_is_number, one.values()))
        ]
        setup = facts.get("samer")
        named = setup.items() if isinstance(setup, dict) else ()
        kept = [(str(name), str(value)) for name, value in named if name not in _SAME_NUMBERS]
        if sound:
            yield tuple(sorted(kept)), sound


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# --- pairs to train on ---


@dataclass(frozen=True)
class Annotations:
    """What several logs of annotation hold."""

    kept: tuple[TrainingPair, ...]  # pairs to train on; of a pair in several logs, the first
    pairs: int  # in the logs
    annotated: int  # those whose annotation could be read
    labelled: int  # annotated pairs whose winner was known before
    agreeing: int  # labelled pairs whose annotated winner is the known one


def read_annotations(logs: Iterable[EvalLog]) -> Annotations:
    """Collect annotated pairs from finished logs; those of other tasks count for nothing."""
    seen: dict[str, dict[str, object]] = {}
    for log in logs:
        for sample in log.samples or []:
            score = (sample.scores or {}).get("annotated_pair")
            if score is not None:
                seen.setdefault(str(sample.id), score.metadata or {})
    annotated = [facts for facts in seen.values() if facts.get("annotated")]
    labelled = [facts for facts in annotated if facts.get("label")]
    records = [facts["record"] for facts in annotated if facts.get("kept")]
    return Annotations(
        kept=tuple(TrainingPair(**record) for record in records if isinstance(record, dict)),
        pairs=len(seen),
        annotated=len(annotated),
        labelled=len(labelled),
        agreeing=sum(bool(facts.get("agrees")) for facts in labelled),
    )
