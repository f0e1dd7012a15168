"""MD-Eval as a task class of lm-eval: the model under test writes its verdicts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from urs_inspect.judging import OVERALL, JudgePrompt
from urs_inspect.judging.pair_reply import First, PairOutcome, PairReply, compare_with_labels, read_pair_reply
from urs_inspect.judging.prompts import orders_of, pair_calls
from urs_inspect.lmeval_tasks.measured_task import Measure
from urs_inspect.lmeval_tasks.metrics import ratio, ratio_high, ratio_low
from urs_inspect.lmeval_tasks.pair_task import PairTask, longer_of, part
from urs_inspect.samer import load_taxonomy

_Call = tuple[First, tuple[str, ...], JudgePrompt]


def _no_tie(doc: Mapping[str, Any]) -> bool:
    return bool(doc["label"] != "tie")


def _serves(need: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda doc: _no_tie(doc) and doc["need"] == need


def _measures(dimensions: bool, both: bool) -> tuple[Measure, ...]:
    found = [
        Measure("overall_accuracy_all", about=_no_tie),
        Measure("overall_accuracy", about=_no_tie, sure=False),
        Measure("overall_three_way_all"),
        Measure("overall_unread", higher_is_better=False),
        Measure("overall_longer_preference", sure=False, higher_is_better=None),
        Measure("overall_first_preference", ratio, higher_is_better=None),
        Measure("baseline_longest_overall_accuracy", about=_no_tie, higher_is_better=None),
    ]
    found += [Measure(f"overall_accuracy_all_need_{need}", about=_serves(need)) for need in load_taxonomy().needs]
    if dimensions:
        for name, higher in (("accuracy_all", True), ("accuracy", True), ("unread", False)):
            found.append(Measure(f"dimension_{name}", ratio, higher_is_better=higher))
        found.append(Measure("dimension_accuracy_all_ci_lower", ratio_low))
        found.append(Measure("dimension_accuracy_all_ci_upper", ratio_high))
        found.append(Measure("baseline_longest_dimension_accuracy", ratio, higher_is_better=None))
    if both:
        found.append(Measure("overall_flips", sure=False, higher_is_better=False))
        found += [Measure("dimension_flips", ratio, higher_is_better=False)] if dimensions else []
    return tuple(found)


class MdEvalTask(PairTask):
    """Pairs of responses, judged on the dimensions of their scenario and as a whole (SaMer paper, section 5.4).

    Args:
        config: The task's file.
    """

    VERSION = 1.1

    def __init__(self, config: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        self.measures = _measures(self.options.md_eval_protocol != "overall", self.options.md_eval_orders == "both")

    def prompts(self, doc: Mapping[str, Any]) -> Sequence[JudgePrompt]:
        """The prompts about a pair."""
        return [prompt for _, _, prompt in self._calls(doc)]

    def values(self, doc: Mapping[str, Any], results: Sequence[str]) -> Mapping[str, Any]:
        """The metrics of a pair."""
        readings = [
            read_pair_reply(PairReply(first, asked, text, key=prompt.key))
            for (first, asked, prompt), text in zip(self._calls(doc), results, strict=True)
        ]
        labels = dict(zip(doc["names"], doc["labels"], strict=True))
        outcome = compare_with_labels({**labels, OVERALL: doc["label"]}, readings)
        found = {**_overall(doc, outcome), **_dimensions(doc, outcome)}
        return {name: value for name, value in found.items() if name in self.aggregation()}

    def _calls(self, doc: Mapping[str, Any]) -> list[_Call]:
        protocol, orders = self.options.md_eval_protocol, self.options.md_eval_orders
        facts = {**doc, "dimensions": dict(zip(doc["names"], doc["labels"], strict=True))}
        firsts = orders_of(orders, doc["id"], self.options.md_eval_seed)
        return [call for first in firsts for call in pair_calls(protocol, facts, first, ties=True)]


def _overall(doc: Mapping[str, Any], outcome: PairOutcome) -> dict[str, Any]:
    label, verdict, longer = doc["label"], outcome.verdicts[OVERALL], longer_of(doc)
    sided = {first: given[OVERALL] for first, given in outcome.orders.items() if given[OVERALL] in ("a", "b")}
    found: dict[str, Any] = {
        "overall_three_way_all": float(verdict == label),
        "overall_unread": float(verdict is None),
        "overall_first_preference": part(doc, sum(first == given for first, given in sided.items()), len(sided)),
    }
    if label != "tie":
        right = float(verdict == label)
        found |= {"overall_accuracy_all": right, f"overall_accuracy_all_need_{doc['need']}": right}
        found["baseline_longest_overall_accuracy"] = float(longer == label)
        if verdict is not None:
            found["overall_accuracy"] = right
    if verdict in ("a", "b"):
        found["overall_longer_preference"] = float(longer == verdict)
    if verdict is not None:
        found["overall_flips"] = float(_flipped(outcome, OVERALL))
    return found


def _dimensions(doc: Mapping[str, Any], outcome: PairOutcome) -> dict[str, Any]:
    names = [name for name in outcome.labels if name != OVERALL]
    sided = [name for name in names if outcome.labels[name] != "tie"]
    read = [name for name in names if outcome.verdicts[name] is not None]
    right = sum(outcome.verdicts[name] == outcome.labels[name] for name in sided)
    longer = longer_of(doc)
    accuracy = part(doc, right, len(sided))
    baseline = sum(outcome.labels[name] == longer for name in sided)
    return {
        "dimension_accuracy_all": accuracy,
        "dimension_accuracy_all_ci_lower": accuracy,
        "dimension_accuracy_all_ci_upper": accuracy,
        "dimension_accuracy": part(doc, right, sum(name in read for name in sided)),
        "dimension_unread": part(doc, len(names) - len(read), len(names)),
        "baseline_longest_dimension_accuracy": part(doc, baseline, len(sided)),
        "dimension_flips": part(doc, sum(_flipped(outcome, name) for name in read), len(read)),
    }


def _flipped(outcome: PairOutcome, name: str) -> bool:
    return len({given[name] for given in outcome.orders.values()}) > 1
