"""The argument `samer` of tasks: a model and how it is run."""

from typing import Any

from urs_inspect._arguments import Count, Options, Text
from urs_inspect.samer._checkpoint import Dtype
from urs_inspect.samer._conversation import Bos, Overlong
from urs_inspect.samer._evaluation import WeightsAt


class SamerOptions(Options):
    """A SaMer model and how it is run."""

    model: Text  # folder of a checkpoint, or address of a vLLM server
    engine: Text = "auto"
    weights_at: WeightsAt | None = None  # by default where the heads' file says, else `response`
    bos: Bos = "single"
    overlong: Overlong = "shorten"
    max_length: Count | None = None  # tokens; by default the model's limit
    folder: Text | None = None  # for a server on another machine: its tokeniser and heads
    dtype: Dtype = "auto"
    description: Text | None = None  # of a reward model: a file that says what its outputs mean
    engine_options: dict[str, Any] | None = (
        None  # of vLLM in this process, such as `gpu_memory_utilization`
    )
