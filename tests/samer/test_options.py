"""How a model is run and trained: what is usual, and what does not fit together."""

import re
from typing import Any

import pytest

from tests.cli.conftest import Said
from tests.telling import tells
from urs_inspect._arguments import check
from urs_inspect._util import InputError
from urs_inspect.samer._options import (
    BulkOptions,
    RunOptions,
    SamerOptions,
    TrainingSettings,
    VectorSettings,
    VllmOptions,
    is_address,
)

RUN = {
    "engine": "auto",
    "weights_at": None,
    "bos": "single",
    "overlong": "shorten",
    "max_length": None,
    "folder": None,
    "dtype": "auto",
    "description": None,
    "engine_options": None,
}
VECTORS = {"backbone": "minilm", "layout": "beside", "dtype": "bfloat16"}
# Those of the SaMer paper where it names one.
TRAINING = {
    **VECTORS,
    "loss": "paper",
    "epochs": 3,
    "learning_rate": 5e-5,
    "held_out": 0.1,
    "seed": 0,
    "predictor_epochs": 1,
    "batch": 32,
    "narrowing": 1,
    "patience": 2,
    "weights_at": None,
    "device": "cpu",
}


@pytest.mark.parametrize(
    ("made", "usual"),
    [
        (RunOptions(), RUN),
        (SamerOptions(model="m"), {**RUN, "model": "m"}),
        (
            BulkOptions(),
            {**RUN, "timeout": None, "keep_failures": False, "ray": None, "workers": 1},
        ),
        (VectorSettings(), VECTORS),
        (TrainingSettings(), TRAINING),
    ],
)
def test_what_is_usual(made: Any, usual: dict[str, Any]) -> None:
    assert made.model_dump() == usual


def test_the_help_of_train_names_what_is_usual(said: Said) -> None:
    text = said("samer", "train", "--help")
    names = (
        *("loss", "epochs", "learning_rate", "held_out", "seed", "predictor_epochs", "batch"),
        *("narrowing", "patience", "device", "backbone", "layout", "dtype"),
    )
    for name in names:
        [value] = re.findall(rf"\b{name}\s\(([^,;)]+)", text)
        given = TRAINING[name]
        assert (float(value) if isinstance(given, (int, float)) else value) == given, name


@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("http://host:1", True),
        ("https://host", True),
        ("ftp://host", False),
        ("folder", False),
        ("./http", False),
    ],
)
def test_addresses_are_of_the_web(model: str, address: bool) -> None:
    assert is_address(model) is address


VLLM = {"gpu_memory_utilization": 0.5}


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"engine_options": VLLM}, None),
        ({"engine_options": VLLM, "engine": "vllm"}, None),
        ({"engine": "transformers"}, None),
        ({"engine_options": VLLM, "engine": "transformers"}, "engine_options ... transformers"),
        ({"engine_options": VLLM, "engine": "server"}, "engine_options ... server"),
        ({"engine_options": VLLM, "model": "http://h"}, "engine_options ... vllm serve"),
        ({"engine_options": VLLM, "model": "https://h"}, "engine_options ... vllm serve"),
        ({"engine_options": {"gpu_memory_utilization": 1.5}}, "gpu_memory_utilization"),
        ({"engine_options": {"quantization": "fp8"}}, "quantization"),
        ({"max_length": 0}, "max_length"),
    ],
)
def test_options_of_vllm_are_for_vllm_in_this_process(
    given: dict[str, Any], refused: str | None
) -> None:
    if refused is None:
        check("samer", {"model": "m", **given}, SamerOptions)
        return
    with pytest.raises(InputError) as caught:
        check("samer", {"model": "m", **given}, SamerOptions)
    assert tells(str(caught.value), refused)


@pytest.mark.parametrize(
    ("setting", "allowed"),
    [
        ({"held_out": 0}, True), ({"held_out": 0.999}, True), ({"held_out": 1}, False),
        ({"held_out": -0.1}, False), ({"epochs": 0}, False), ({"epochs": 1}, True),
        ({"patience": 0}, True), ({"predictor_epochs": 0}, True), ({"batch": 0}, False),
        ({"learning_rate": 0}, False), ({"seed": -1}, False), ({"loss": "other"}, False),
    ],
)  # fmt: skip
def test_settings_of_training_have_limits(setting: dict[str, Any], allowed: bool) -> None:
    if allowed:
        check("-S", setting, TrainingSettings)
        return
    with pytest.raises(InputError):
        check("-S", setting, TrainingSettings)


def test_only_what_was_given_is_handed_on() -> None:
    options = {**VLLM, "tensor_parallel_size": None}
    made = SamerOptions(model="m", engine="vllm", bos="double", engine_options=options)  # type: ignore[arg-type]
    assert made.given() == {"bos": "double", "engine_options": VLLM}
    assert SamerOptions(model="m", engine="server").given() == {}
    assert VllmOptions().model_dump() == {}
