"""MD-Eval as task classes of lm-eval.

Verdicts that the model under test writes, or probabilities of three letters.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from lm_eval.api.instance import Instance
from pydantic import Field

from datasets import Dataset
from urs_inspect._arguments import split_names
from urs_inspect._util import InputError
from urs_inspect.datasets import load_md_eval
from urs_inspect.judging._frames import Frame, JudgePrompt, template_frame
from urs_inspect.judging._pair_reply import (
    First,
    PairOutcome,
    PairReply,
    compare_with_labels,
    final_verdict,
    read_pair_reply,
    unswap,
)
from urs_inspect.judging._prompts import (
    PAIR_MATERIALS,
    Orders,
    Protocol,
    orders_of,
    pair_calls,
    pair_prompt,
)
from urs_inspect.judging._verdicts import OVERALL, Shown
from urs_inspect.lmeval_tasks._measured_task import (
    Measure,
    MeasuredTask,
    Part,
    ratio,
    ratio_high,
    ratio_low,
)
from urs_inspect.lmeval_tasks._settings import Options, read_options
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.stats import longer_response
from urs_inspect.stats._bootstrap import number_clusters

_Call = tuple[First, tuple[str, ...], JudgePrompt]

LETTERS: Mapping[str, Shown] = {"A": "1", "B": "2", "C": "tie"}
"""Letter -> the better response as shown.

Letters are one token each, so that none is at a disadvantage.
"""
_MEANINGS = {
    "A": "response 1 is better",
    "B": "response 2 is better",
    "C": "they are about equally good",
}


class MdEvalOptions(Options):
    """How pairs are judged; the arguments of the task of inspect-ai."""

    md_eval_protocol: Protocol = "joint"  # not for `md_eval_mc`, which has the overall verdict only
    # `ab` as in the data, `seeded` by a coin per pair, `both` where disagreement is a tie
    md_eval_orders: Orders = "ab"
    md_eval_scenarios: str | list[str] = "all"
    md_eval_seed: int = Field(default=0, ge=0)


_PREFIXES = ("md_eval_",)


def load_pairs(need: str | None = None, ties: bool = True, **metadata: Any) -> dict[str, Dataset]:
    """The split `test`: pairs in the order of the task of inspect-ai.

    So the same `--limit` takes the same pairs.

    `need` is one that the scenarios serve, None for all; without `ties`, pairs with a tie as label
    are left out. In a row, `labels` are those of the dimensions `names`, and `cluster` is a number
    that pairs with the same prompt share.
    """
    options = read_options(MdEvalOptions, _PREFIXES, metadata)
    taxonomy = load_taxonomy()
    wanted = _scenarios(options.md_eval_scenarios)
    needs = {name: taxonomy.scenarios[name].need for name in wanted}
    data = load_md_eval(taxonomy.dimension, tuple(taxonomy.scenarios))
    cases = [
        case
        for case in data.cases
        if case.group in needs
        and need in (None, needs[case.group])
        and (ties or case.label != "tie")
    ]
    if not cases:
        raise InputError(
            f"--metadata: md_eval_scenarios: no pair of the need '{need}' has one of"
            f" {sorted(wanted)}"
        )
    clusters = number_clusters([case.prompt for case in cases])

    rows = [
        {
            "id": case.id,
            "scenario": case.group,
            "need": needs[case.group],
            "prompt": case.prompt,
            "response_a": case.response_a,
            "response_b": case.response_b,
            "label": case.label,
            "names": list(case.dimensions),
            "labels": list(case.dimensions.values()),
            "cluster": int(cluster),
            "dataset_sha256": data.sha256,
        }
        for case, cluster in zip(cases, clusters, strict=True)
    ]
    return {"test": Dataset.from_list(rows)}


def _scenarios(value: str | list[str]) -> set[str]:
    taxonomy = load_taxonomy()
    names = [name.strip() for name in split_names(value)]
    if names == ["all"]:
        return set(taxonomy.scenarios)
    return {taxonomy.scenario_id(name) for name in names}


class PairTask(MeasuredTask):
    """A task whose cases are put to the model by one prompt or several."""

    def __init__(self, config: dict[str, Any] | None = None, **kwargs: Any) -> None:
        self.options = read_options(MdEvalOptions, _PREFIXES, (config or {}).get("metadata"))
        super().__init__(config=config, **kwargs)

    def prompts(self, doc: Mapping[str, Any]) -> Sequence[JudgePrompt]:
        """The prompts about a case."""
        raise NotImplementedError

    def fewshot_context(self, doc: dict[str, Any], num_fewshot: int, **kwargs: Any) -> list[str]:
        """What the model is shown, prompt by prompt; instructions are a message of the system."""
        # The task's file takes `instructions` as description and `prompt` as text of the case.
        contexts = []
        for prompt in self.prompts(doc):
            asked = {**doc, "instructions": prompt.instructions, "prompt": prompt.case}
            contexts.append(super().fewshot_context(asked, num_fewshot, **kwargs))
        return contexts

    def construct_requests(
        self, doc: dict[str, Any], ctx: list[str], **kwargs: Any
    ) -> list[Instance]:
        """The requests about a case, prompt by prompt, and choice by choice."""
        instances: list[Instance] = []
        for context in ctx:
            made = super().construct_requests(doc, context, **kwargs)
            instances += made if isinstance(made, list) else [made]
        for place, instance in enumerate(instances):
            instance.idx = place
        return instances


def longer_of(doc: Mapping[str, Any]) -> str:
    """Which response is longer: `a`, `b` or, of equal length, `tie`."""
    length_a = len(doc["response_a"])
    length_b = len(doc["response_b"])
    code = longer_response([length_a], [length_b])[0]
    return ("a", "b", "tie")[int(code)]


def part(doc: Mapping[str, Any], hits: int, trials: int) -> Part:
    """What a case adds to a ratio."""
    return [hits, trials, doc["cluster"]]


def _no_tie(doc: Mapping[str, Any]) -> bool:
    return bool(doc["label"] != "tie")


def _serves(need: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda doc: _no_tie(doc) and doc["need"] == need


def _measures(dimensions: bool, both: bool) -> tuple[Measure, ...]:
    measures = [
        Measure("overall_accuracy_all", about=_no_tie),
        Measure("overall_accuracy", about=_no_tie, sure=False),
        Measure("overall_three_way_all"),
        Measure("overall_unread", higher_is_better=False),
        Measure("overall_longer_preference", sure=False, higher_is_better=None),
        Measure("overall_first_preference", ratio, higher_is_better=None),
        Measure("baseline_longest_overall_accuracy", about=_no_tie, higher_is_better=None),
    ]
    measures += [
        Measure(f"overall_accuracy_all_need_{need}", about=_serves(need))
        for need in load_taxonomy().needs
    ]
    if dimensions:
        measures += [
            Measure("dimension_accuracy_all", ratio),
            Measure("dimension_accuracy", ratio),
            Measure("dimension_unread", ratio, higher_is_better=False),
            Measure("dimension_accuracy_all_ci_lower", ratio_low),
            Measure("dimension_accuracy_all_ci_upper", ratio_high),
            Measure("baseline_longest_dimension_accuracy", ratio, higher_is_better=None),
        ]
    if both:
        measures.append(Measure("overall_flips", sure=False, higher_is_better=False))
    if both and dimensions:
        measures.append(Measure("dimension_flips", ratio, higher_is_better=False))
    return tuple(measures)


class MdEvalTask(PairTask):
    """Pairs of responses, judged on the dimensions of their scenario and as a whole.

    SaMer paper, section 5.4.
    """

    VERSION = 1.2

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The metrics of all pairs."""
        dimensions = self.options.md_eval_protocol != "overall"
        return _measures(dimensions, self.options.md_eval_orders == "both")

    def prompts(self, doc: Mapping[str, Any]) -> Sequence[JudgePrompt]:
        """The prompts about a pair."""
        return [prompt for _, _, prompt in self._calls(doc)]

    def values(self, doc: Mapping[str, Any], results: Sequence[str]) -> Mapping[str, Any]:
        """The metrics of a pair."""
        readings = []
        for (first, asked, prompt), text in zip(self._calls(doc), results, strict=True):
            reply = PairReply(first, asked, text, key=prompt.key, needs_key=prompt.needs_key)
            readings.append(read_pair_reply(reply))
        labels = dict(zip(doc["names"], doc["labels"], strict=True))
        outcome = compare_with_labels({**labels, OVERALL: doc["label"]}, readings)
        metrics = {**_overall(doc, outcome), **_dimensions(doc, outcome)}
        return {name: value for name, value in metrics.items() if name in self.aggregation()}

    def _calls(self, doc: Mapping[str, Any]) -> list[_Call]:
        protocol = self.options.md_eval_protocol
        orders = self.options.md_eval_orders
        dimensions = dict(zip(doc["names"], doc["labels"], strict=True))
        facts = {**doc, "dimensions": dimensions}
        firsts = orders_of(orders, doc["id"], self.options.md_eval_seed)
        calls: list[_Call] = []
        for first in firsts:
            calls += pair_calls(protocol, facts, first, ties=True)
        return calls


def _overall(doc: Mapping[str, Any], outcome: PairOutcome) -> dict[str, Any]:
    label = doc["label"]
    verdict = outcome.verdicts[OVERALL]
    longer = longer_of(doc)
    sided = {
        first: given[OVERALL]
        for first, given in outcome.orders.items()
        if given[OVERALL] in ("a", "b")
    }
    metrics: dict[str, Any] = {
        "overall_three_way_all": float(verdict == label),
        "overall_unread": float(verdict is None),
        "overall_first_preference": part(
            doc, sum(first == given for first, given in sided.items()), len(sided)
        ),
    }
    if label != "tie":
        right = float(verdict == label)
        metrics |= {
            "overall_accuracy_all": right,
            f"overall_accuracy_all_need_{doc['need']}": right,
        }
        metrics["baseline_longest_overall_accuracy"] = float(longer == label)
        if verdict is not None:
            metrics["overall_accuracy"] = right
    if verdict in ("a", "b"):
        metrics["overall_longer_preference"] = float(longer == verdict)
    if verdict is not None:
        metrics["overall_flips"] = float(_flipped(outcome, OVERALL))
    return metrics


def _dimensions(doc: Mapping[str, Any], outcome: PairOutcome) -> dict[str, Any]:
    names = [name for name in outcome.labels if name != OVERALL]
    sided = [name for name in names if outcome.labels[name] != "tie"]
    read = [name for name in names if outcome.verdicts[name] is not None]
    right = sum(outcome.verdicts[name] == outcome.labels[name] for name in sided)
    longer = longer_of(doc)
    accuracy = part(doc, right, len(sided))
    baseline = sum(outcome.labels[name] == longer for name in sided)
    read_and_sided = sum(name in read for name in sided)
    flips = sum(_flipped(outcome, name) for name in read)
    return {
        "dimension_accuracy_all": accuracy,
        "dimension_accuracy_all_ci_lower": accuracy,
        "dimension_accuracy_all_ci_upper": accuracy,
        "dimension_accuracy": part(doc, right, read_and_sided),
        "dimension_unread": part(doc, len(names) - len(read), len(names)),
        "baseline_longest_dimension_accuracy": part(doc, baseline, len(sided)),
        "dimension_flips": part(doc, flips, len(read)),
    }


def _flipped(outcome: PairOutcome, name: str) -> bool:
    return len({given[name] for given in outcome.orders.values()}) > 1


_MEASURES = (
    Measure("acc"),
    Measure("baseline_longest", higher_is_better=None),
    Measure("chose_first", higher_is_better=None),
    Measure("chose_tie", higher_is_better=None),
)
_FLIPPED = Measure("flipped", higher_is_better=False)


class MdEvalChoiceTask(PairTask):
    """Pairs of responses, judged as wholes by the most probable of three letters."""

    VERSION = 1.0

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The metrics of all pairs."""
        if self.options.md_eval_orders == "both":
            return (*_MEASURES, _FLIPPED)
        return _MEASURES

    def prompts(self, doc: Mapping[str, Any]) -> Sequence[JudgePrompt]:
        """The prompts about a pair."""
        prompts = []
        for first in self._firsts(doc):
            shown = [doc["response_a"], doc["response_b"]]
            if first == "b":
                shown.reverse()
            prompts.append(letter_prompt(doc["prompt"], *shown))
        return prompts

    def values(
        self, doc: Mapping[str, Any], results: Sequence[tuple[float, bool]]
    ) -> Mapping[str, Any]:
        """The metrics of a pair."""
        firsts = self._firsts(doc)
        chances_of_calls = [chance for chance, _ in results]
        chances = np.reshape(chances_of_calls, (len(firsts), len(LETTERS)))
        verdicts = list(map(_verdict, chances.tolist(), firsts))
        final = final_verdict(verdicts)
        metrics = {
            "acc": float(final == doc["label"]),
            "baseline_longest": float(longer_of(doc) == doc["label"]),
            "chose_first": sum(map(str.__eq__, verdicts, firsts)) / len(firsts),
            "chose_tie": verdicts.count("tie") / len(firsts),
        }
        if len(firsts) > 1:
            metrics["flipped"] = float(len(set(verdicts)) > 1)
        return metrics

    def _firsts(self, doc: Mapping[str, Any]) -> list[First]:
        return orders_of(self.options.md_eval_orders, doc["id"], self.options.md_eval_seed)


def _verdict(chances: Sequence[float], first: First) -> str:
    """The verdict about a and b; a tie where two letters are exactly as probable."""
    most = [
        shown
        for chance, shown in zip(chances, LETTERS.values(), strict=True)
        if chance == max(chances)
    ]
    return unswap(most[0] if len(most) == 1 else "tie", first)


def letter_prompt(prompt: str, first: str, second: str) -> JudgePrompt:
    """Ask which response is better as a whole, by a letter."""
    return pair_prompt(_letter_frame(), (OVERALL,), prompt, first, second)


@lru_cache(maxsize=1)
def _letter_frame() -> Frame:
    file = Path(__file__).parent / "letter.jinja"
    context = {"letters": list(_MEANINGS.items())}
    return template_frame(file, "pair letter 1", PAIR_MATERIALS, context)
