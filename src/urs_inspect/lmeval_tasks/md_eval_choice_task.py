"""MD-Eval as a task class of lm-eval: the probabilities of three letters are the verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

from urs_inspect.judging import JudgePrompt
from urs_inspect.judging.pair_reply import First, final_verdict, unswap
from urs_inspect.judging.prompts import LETTERS, letter_prompt, orders_of
from urs_inspect.lmeval_tasks.md_eval_task import PairTask, longer_of
from urs_inspect.lmeval_tasks.measured_task import Measure

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

    def __init__(self, config: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        self.measures = (*_MEASURES, _FLIPPED) if self.options.md_eval_orders == "both" else _MEASURES

    def prompts(self, doc: Mapping[str, Any]) -> Sequence[JudgePrompt]:
        """The prompts about a pair."""
        responses = (doc["response_a"], doc["response_b"])
        return [letter_prompt(doc["prompt"], *responses[:: 1 if first == "a" else -1]) for first in self._firsts(doc)]

    def values(self, doc: Mapping[str, Any], results: Sequence[tuple[float, bool]]) -> Mapping[str, Any]:
        """The metrics of a pair."""
        firsts, size = self._firsts(doc), len(LETTERS)
        chances = [[chance for chance, _ in results[place * size :][:size]] for place in range(len(firsts))]
        verdicts = [_verdict(each, first) for each, first in zip(chances, firsts, strict=True)]
        final = final_verdict(verdicts)
        found = {
            "acc": float(final == doc["label"]),
            "baseline_longest": float(longer_of(doc) == doc["label"]),
            "chose_first": sum(map(str.__eq__, verdicts, firsts)) / len(firsts),
            "chose_tie": verdicts.count("tie") / len(firsts),
        }
        return {**found, "flipped": float(len(set(verdicts)) > 1)} if len(firsts) > 1 else found

    def _firsts(self, doc: Mapping[str, Any]) -> list[First]:
        return orders_of(self.options.md_eval_orders, doc["id"], self.options.md_eval_seed)


def _verdict(chances: Sequence[float], first: First) -> str:
    """The verdict about a and b; a tie where two letters are exactly as probable."""
    most = [shown for chance, shown in zip(chances, LETTERS.values(), strict=True) if chance == max(chances)]
    return unswap(most[0] if len(most) == 1 else "tie", first)
