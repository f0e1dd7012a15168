"""How a SaMer model is run and trained: the argument `samer` of tasks, and settings of commands."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_serializer, model_validator

from urs_inspect._arguments import Cosine, Count, Flag, Natural, Options, Positive, Text
from urs_inspect.samer._checkpoint import Dtype
from urs_inspect.samer._conversation import Bos, Overlong
from urs_inspect.samer._evaluation import WeightsAt


def is_address(model: str) -> bool:
    """Whether a model is a server's address and not a folder."""
    return model.startswith(("http://", "https://"))


class VllmOptions(Options):
    """Arguments of `vllm.LLM` that tasks, scorers and commands take."""

    gpu_memory_utilization: Cosine | None = None
    tensor_parallel_size: Count | None = None
    max_num_batched_tokens: Count | None = None

    @model_serializer
    def _given(self) -> dict[str, Any]:
        return {name: value for name, value in self if value is not None}


class RunOptions(Options):
    """How a SaMer model is run."""

    engine: Text = "auto"
    weights_at: WeightsAt | None = None  # by default where the heads' file says, else `response`
    bos: Bos = "single"
    overlong: Overlong = "shorten"
    max_length: Count | None = None  # tokens; by default the model's limit
    folder: Text | None = None  # for a server on another machine: its tokeniser and heads
    dtype: Dtype = "auto"  # of an engine in this process; a server chooses its own
    description: Text | None = None  # of a reward model: a file that says what its outputs mean
    engine_options: VllmOptions | None = None  # of vLLM in this process


class _Model(Options):
    model: Text  # folder of a checkpoint, or address of a vLLM server


class SamerOptions(RunOptions, _Model):
    """A SaMer model and how it is run; equal ones share one engine."""

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        options = self.engine_options
        if options is None:
            return self
        if is_address(self.model):
            raise ValueError("engine_options: a server has its own; give them to `vllm serve`")
        if self.engine not in {"auto", "vllm"}:
            raise ValueError(f"engine_options: only with engine vllm, not {self.engine}")
        return self

    def given(self) -> dict[str, Any]:
        """What is not left to the engine, besides the model and the engine itself."""
        return self.model_dump(exclude={"model", "engine"}, exclude_defaults=True)


class BulkOptions(RunOptions):
    """How the rows of files are evaluated."""

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
