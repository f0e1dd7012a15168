"""Logs scored with SaMer -> weights and scores of dimensions by scenario (SaMer paper, Figure 4); pairs; training."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
from inspect_ai.log import EvalLog, EvalSample

from urs_inspect._util import InputError
from urs_inspect.logs.scores import last_score
from urs_inspect.samer.training.pairs import TrainingPair
from urs_inspect.stats import Estimate, mean_interval

_GROUPS = ("scenario", "intent", "group")
_NO_GROUP = "all"
_SAME_NUMBERS = frozenset({"engine"})  # all engines give the same

_Weights = Mapping[str, float]
_Setup = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class DimensionScore:
    """The scores of one dimension, over the samples for which the model selected it.

    Attributes:
        mean: Their mean with its interval, 0 to 1, epochs of a sample averaged first.
        selected: Share of the evaluated samples for which it was selected.
    """

    mean: Estimate
    selected: float


@dataclass(frozen=True)
class ScenarioWeights:
    """Weights that one model gave in one scenario.

    Attributes:
        scenario: The scenario; for other benchmarks the intent or group of the samples.
        responses: Number of evaluated responses.
        weights: Dimension -> mean weight, the largest first; a dimension that was not selected for a response counts as
            0 there, so that they add up to 1.
        samer: The model and how it was run, as far as that changes weights; empty if the logs do not say.
    """

    scenario: str
    responses: int
    weights: dict[str, float]
    samer: dict[str, str] = field(default_factory=dict)


def read_dimensions(log: EvalLog) -> dict[str, DimensionScore]:
    """Read the scores of the dimensions, and `overall`, from a log scored by `samer`.

    If it was scored several times, the last score of a sample counts.

    Returns:
        Dimension -> its scores, `overall` first, in the order of the taxonomy; empty if nothing was scored.
    """
    evaluated = 0
    samples: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    counts: dict[str, int] = defaultdict(int)
    for sample in log.samples or []:
        known = _dimensions(sample)
        evaluated += bool(known)
        for name, value in known.items():
            counts[name] += 1
            samples[name][str(sample.id)].append(value)
    return {
        name: DimensionScore(_mean(list(values.values())), counts[name] / evaluated) for name, values in samples.items()
    }


def _dimensions(sample: EvalSample) -> dict[str, float]:
    """Overall score and those of the selected dimensions; empty if the sample was not evaluated."""
    score = last_score(sample, "samer")
    value = score.value if score else None
    known = {
        str(name): float(one)
        for name, one in (value.items() if isinstance(value, dict) else ())
        if _is_number(one) and isinstance(one, (int, float)) and not math.isnan(one)
    }
    return known if "overall" in known else {}


def _mean(samples: Sequence[Sequence[float]]) -> Estimate:
    return mean_interval([math.fsum(values) / len(values) for values in samples], scale=(0.0, 1.0))


def read_weights(logs: Iterable[EvalLog]) -> list[ScenarioWeights]:
    """Average the weights by model, the way it was run, and scenario.

    Args:
        logs: Logs with scores whose metadata hold `weights`: dimension -> weight of a response, or a list of these; and
            `samer`: the model and how it was run. Of several scores of a sample by the same model, in one log or in
            copies of it, the last one counts.

    Returns:
        Models in the order of their names, and of each the scenarios in the order of theirs; empty if no score has
        weights.
    """
    found: dict[tuple[_Setup, str], dict[str, list[_Weights]]] = {}
    for log in logs:
        for sample in log.samples or []:
            sample_key = sample.uuid or f"{log.eval.eval_id} {sample.id} {sample.epoch}"
            for setup, weights in _weights(sample):
                found.setdefault((setup, _scenario(sample)), {})[sample_key] = weights
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
    sums: dict[str, float] = {}
    for weights in responses:
        for dimension, weight in weights.items():
            sums[dimension] = sums.get(dimension, 0.0) + weight
    means = ((name, total / len(responses)) for name, total in sums.items() if total > 0)
    return ScenarioWeights(scenario, len(responses), dict(sorted(means, key=lambda pair: (-pair[1], pair[0]))), samer)


def _scenario(sample: EvalSample) -> str:
    facts = sample.metadata or {}
    return next((str(facts[key]) for key in _GROUPS if facts.get(key)), _NO_GROUP)


def _weights(sample: EvalSample) -> Iterator[tuple[_Setup, list[_Weights]]]:
    """For each score how the model was set up and the weights of its responses, if it has any."""
    for score in (sample.scores or {}).values():
        facts = score.metadata or {}
        given: Any = facts.get("weights")
        sound = [_sound(one) for one in (given if isinstance(given, list) else [given]) if _is_weights(one)]
        if sound:
            setup: Any = facts.get("samer")
            yield _setup(setup if isinstance(setup, dict) else {}), sound


def _setup(facts: Mapping[str, Any]) -> _Setup:
    return tuple(sorted((str(name), str(value)) for name, value in facts.items() if name not in _SAME_NUMBERS))


def _is_weights(given: object) -> bool:
    return isinstance(given, dict) and bool(given) and all(_is_number(value) for value in given.values())


def _sound(given: Mapping[Any, Any]) -> _Weights:
    return {str(name): float(value) for name, value in given.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# --- pairs to train on ---


_SCORER = "annotated_pair"


@dataclass(frozen=True)
class Annotations:
    """What several logs of annotation hold.

    Attributes:
        kept: Pairs to train on; of a pair in several logs, the first.
        pairs: Pairs in the logs.
        annotated: Those whose annotation could be read.
        labelled: Annotated pairs whose winner was known before.
        agreeing: Labelled pairs whose annotated winner is the known one.
    """

    kept: tuple[TrainingPair, ...]
    pairs: int
    annotated: int
    labelled: int
    agreeing: int


def read_annotations(logs: Iterable[EvalLog]) -> Annotations:
    """Collect annotated pairs.

    Args:
        logs: Finished logs; those of other tasks count for nothing.

    Returns:
        The pairs and counts.
    """
    seen: dict[str, dict[str, object]] = {}
    for log in logs:
        for sample in log.samples or []:
            score = (sample.scores or {}).get(_SCORER)
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


# --- a picture of a training ---


_LOSSES = {"selection": "Eq. 1", "dimensions": "Eq. 2", "overall": "Eq. 3"}
"""Losses of an epoch, and their equations in the SaMer paper."""


class _Accuracy(Protocol):
    @property
    def overall(self) -> float: ...
    @property
    def dimensions(self) -> float: ...


class Epoch(Protocol):
    """An epoch of the phase `predictor` or `joint`, with mean losses; only those of `joint` are drawn."""

    @property
    def phase(self) -> str: ...  # noqa: D102
    @property
    def epoch(self) -> int: ...  # noqa: D102
    @property
    def selection(self) -> float: ...  # noqa: D102
    @property
    def dimensions(self) -> float: ...  # noqa: D102
    @property
    def overall(self) -> float: ...  # noqa: D102
    @property
    def held_out(self) -> _Accuracy | None: ...  # noqa: D102


def draw_learning_curves(history: Sequence[Epoch], path: Path) -> None:
    """Draw losses, as shares of those of the first epoch, and held-out accuracies over epochs as SVG.

    Raises:
        InputError: If Altair is missing.
    """
    try:
        altair, vl_convert = import_module("altair"), import_module("vl_convert")
    except ImportError as error:
        raise InputError(
            f"learning curves need altair, which cannot be imported ({error}): pip install 'urs-inspect[viz]'"
        ) from error
    joint = [record for record in history if record.phase == "joint"]
    losses, accuracies = list[tuple[int, str, float]](), list[tuple[int, str, float]]()
    for record in joint:
        for name, label in _LOSSES.items():
            first = getattr(joint[0], name)
            losses.append((record.epoch, label, getattr(record, name) / first if first else 0.0))
        for name in ("overall", "dimensions") if record.held_out is not None else ():
            accuracies.append((record.epoch, name, 100 * getattr(record.held_out, name)))

    def curves(rows: list[tuple[int, str, float]], heading: str) -> Any:
        data = pd.DataFrame(rows, columns=["epoch", "part", "value"])
        return (
            altair.Chart(data, width=300, height=220)
            .mark_line(point=True)
            .encode(
                x=altair.X("epoch:Q", axis=altair.Axis(values=sorted(set(data["epoch"])), format="d")),
                y=altair.Y("value:Q", title=heading, scale=altair.Scale(zero=False)),
                color=altair.Color("part:N", title=None, sort=None),
            )
        )

    panels = [curves(losses, "training loss, first epoch = 1"), curves(accuracies, "held-out accuracy, %")]
    chart = altair.hconcat(*panels).resolve_scale(color="independent")
    path.write_text(vl_convert.vegalite_to_svg(chart.to_dict()), encoding="utf-8")
