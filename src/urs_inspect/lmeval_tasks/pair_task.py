"""What tasks about pairs of responses have in common: a case makes several requests."""

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.api.instance import Instance

from urs_inspect.judging import JudgePrompt
from urs_inspect.lmeval_tasks.md_eval_data import md_eval_options
from urs_inspect.lmeval_tasks.measured_task import MeasuredTask
from urs_inspect.lmeval_tasks.ratios import Part
from urs_inspect.rating import longer_response


class PairTask(MeasuredTask):
    """A task whose cases are put to the model by one prompt or several.

    Args:
        config: The task's file.
    """

    def __init__(self, config: dict[str, Any] | None = None, **kwargs: Any) -> None:
        self.options = md_eval_options((config or {}).get("metadata"))
        super().__init__(config=config, **kwargs)

    def prompts(self, doc: Mapping[str, Any]) -> Sequence[JudgePrompt]:
        """The prompts about a case."""
        raise NotImplementedError

    def fewshot_context(self, doc: dict[str, Any], num_fewshot: int, **kwargs: Any) -> list[str]:
        """What the model is shown, prompt by prompt; instructions are a message of the system."""
        # The task's file takes `instructions` as description and `prompt` as text of the case.
        asked = [{**doc, "instructions": each.instructions, "prompt": each.case} for each in self.prompts(doc)]
        return [super(PairTask, self).fewshot_context(each, num_fewshot, **kwargs) for each in asked]

    def construct_requests(self, doc: dict[str, Any], ctx: list[str], **kwargs: Any) -> list[Instance]:
        """The requests about a case, prompt by prompt, and choice by choice."""
        made: list[Instance] = []
        for context in ctx:
            several = super().construct_requests(doc, context, **kwargs)
            made += several if isinstance(several, list) else [several]
        for place, instance in enumerate(made):
            instance.idx = place
        return made


def longer_of(doc: Mapping[str, Any]) -> str:
    """Which response is longer: `a`, `b` or, of equal length, `tie`."""
    code = longer_response([len(doc["response_a"])], [len(doc["response_b"])])[0]
    return ("a", "b", "tie")[int(code)]


def part(doc: Mapping[str, Any], hits: int, trials: int) -> Part:
    """What a case adds to a ratio."""
    return [hits, trials, doc["cluster"]]
