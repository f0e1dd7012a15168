"""The argument `samer` of tasks: a model and how it is run; and settings of training."""

from typing import Annotated, Any, Literal

from pydantic import Field

from urs_inspect._arguments import Count, Flag, Natural, Options, Positive, Text
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
    # of vLLM in this process, such as `gpu_memory_utilization`; `EngineChoice` checks them
    engine_options: Any = None


class BulkOptions(SamerOptions):
    """A SaMer model and how it evaluates the rows of files."""

    timeout: Positive | None = None  # seconds for one of five attempts at a row, of a server
    keep_failures: Flag = False  # whether rows without an answer count as failures
    ray: Text | None = None  # `local`, `auto` or the address of a cluster; None without Ray
    workers: Count = 1  # engines on Ray


class VectorSettings(Options):
    """What makes vectors, and how."""

    backbone: Text = "minilm"  # a directory with a Llama, or the name of an embedding model
    # of an embedding model: the vectors of query and response side by side, or one of both as text
    layout: Literal["beside", "joined"] = "beside"
    dtype: Literal["bfloat16", "float32"] = "bfloat16"  # of a Llama; its heads are served in it


class TrainingSettings(VectorSettings):
    """Settings of training that are seldom changed; the defaults are the paper's."""

    loss: Literal["paper", "released"] = "paper"  # of the paper, or of its released code
    epochs: Count = 3
    learning_rate: Positive = 5e-5
    held_out: Annotated[float, Field(ge=0, lt=1)] = 0.1  # share of the prompts
    seed: Natural = 0
    predictor_epochs: Natural = 1  # warm-up epochs of the predictor alone
    batch: Count = 32  # pairs a step
    narrowing: Count = 1  # divides the widths of the layers
    # epochs without a better accuracy before training ends; 0 runs all epochs
    patience: Natural = 2
    weights_at: WeightsAt | None = None  # by default where the loss reads them
    device: Text = "cpu"
