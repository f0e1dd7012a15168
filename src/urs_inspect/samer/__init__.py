"""SaMer: its taxonomy, engines, judgements, bulk scoring and training of heads."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urs_inspect.rubrics._taxonomy import Scenario, Taxonomy, load_taxonomy
    from urs_inspect.samer._annotate_task import samer_annotate
    from urs_inspect.samer._bulk import check_rows, score_file
    from urs_inspect.samer._engines import load_engine, register_engine
    from urs_inspect.samer._judgement import judge
    from urs_inspect.samer._scorer import reward_model, samer, samer_outcome

# Loaded on use: `train` needs torch, scorers and the task need the harness.
_MODULES = {
    "rubrics._taxonomy": ("Scenario", "Taxonomy", "load_taxonomy"),
    "samer._annotate_task": ("samer_annotate",),
    "samer._bulk": ("check_rows", "score_file"),
    "samer._engines": ("load_engine", "register_engine"),
    "samer._judgement": ("judge",),
    "samer._neural.trainer": ("train",),
    "samer._scorer": ("reward_model", "samer", "samer_outcome"),
}

__all__ = [
    "Scenario",
    "Taxonomy",
    "check_rows",
    "judge",
    "load_engine",
    "load_taxonomy",
    "register_engine",
    "reward_model",
    "samer",
    "samer_annotate",
    "samer_outcome",
    "score_file",
    "train",  # noqa: F822 - loaded on use
]


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"urs_inspect.{module}"), name)
    raise AttributeError(f"module 'urs_inspect.samer' has no attribute '{name}'")
