"""Logs scored with SaMer -> weights and scores of dimensions by scenario (SaMer paper, Figure 4), model by model."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.log import EvalLog, EvalSample

from urs_inspect.logs.scores import last_score
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
