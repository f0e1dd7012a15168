"""What tasks about pairs of responses have in common: a case makes several requests."""

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.api.instance import Instance
from pydantic import Field

from datasets import Dataset
from urs_inspect._util import InputError
from urs_inspect.datasets import PairCase, load_md_eval
from urs_inspect.judging import JudgePrompt
from urs_inspect.judging.prompts import Orders, Protocol
from urs_inspect.lmeval_tasks.measured_task import MeasuredTask
from urs_inspect.lmeval_tasks.metrics import Part
from urs_inspect.lmeval_tasks.settings import Options, read_options
from urs_inspect.samer import load_taxonomy
from urs_inspect.stats import longer_response
from urs_inspect.stats.bootstrap import number_clusters

_START = "md_eval_"


class MdEvalOptions(Options):
    """How pairs are judged; the arguments of the task of inspect-ai.

    Attributes:
        md_eval_protocol: `joint`: one reply with all verdicts; `per_dimension`: one call a dimension and one overall;
            `overall`: overall only. Not for `md_eval_mc`, which is about the overall verdict.
        md_eval_orders: `ab` as in the data, `seeded` by a coin for each pair, `both`: twice, where disagreement is a
            tie.
        md_eval_scenarios: `all`, or scenarios, as a list or separated by commas.
        md_eval_seed: Seed of the coin.
    """

    md_eval_protocol: Protocol = "joint"
    md_eval_orders: Orders = "ab"
    md_eval_scenarios: str | list[str] = "all"
    md_eval_seed: int = Field(default=0, ge=0)


def md_eval_options(metadata: dict[str, Any] | None) -> MdEvalOptions:
    """Read the options.

    Raises:
        InputError: If one is not allowed.
    """
    return read_options(MdEvalOptions, _START, metadata)


def load_pairs(need: str | None = None, ties: bool = True, **metadata: Any) -> dict[str, Dataset]:
    """Load pairs, in the order of the task of inspect-ai, so that the same `--limit` takes the same pairs.

    Args:
        need: Need that the scenarios serve; None for all.
        ties: Whether pairs are kept whose label is a tie.
        metadata: The task's metadata, of which options of MD-Eval are used.

    Returns:
        The split `test`; `names` and `labels` are dimensions and who is better on them, `cluster` is a number that
        pairs with the same prompt share.

    Raises:
        InputError: If the data cannot be had, or an option is not allowed or leaves no pair.
    """
    options = md_eval_options(metadata)
    taxonomy = load_taxonomy()
    wanted = _scenarios(options.md_eval_scenarios)
    needs = {name: scenario.need for name, scenario in taxonomy.scenarios.items() if name in wanted}
    data = load_md_eval(taxonomy.dimension, tuple(taxonomy.scenarios))
    cases = [case for case in data.cases if case.group in needs and need in (None, needs[case.group])]
    cases = [case for case in cases if ties or case.label != "tie"]
    if not cases:
        raise InputError(f"--metadata: md_eval_scenarios: no pair of the need '{need}' has one of {sorted(wanted)}")
    clusters = number_clusters([case.prompt for case in cases])

    def row(case: PairCase, cluster: int) -> dict[str, Any]:
        return {
            "id": case.id,
            "scenario": case.group,
            "need": needs[case.group],
            "prompt": case.prompt,
            "response_a": case.response_a,
            "response_b": case.response_b,
            "label": case.label,
            "names": list(case.dimensions),
            "labels": list(case.dimensions.values()),
            "cluster": cluster,
            "dataset_sha256": data.sha256,
        }

    rows = [row(case, int(cluster)) for case, cluster in zip(cases, clusters, strict=True)]
    return {"test": Dataset.from_list(rows)}


def _scenarios(value: str | list[str]) -> set[str]:
    taxonomy = load_taxonomy()
    given = value.split(",") if isinstance(value, str) else value
    names = [name.strip() for name in given]
    return set(taxonomy.scenarios) if names == ["all"] else {taxonomy.scenario_id(name) for name in names}


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
