"""The parts of this package that its core does without: a folder each, and one line here.

A satellite's module `_satellite` says in names what it adds: commands, tasks, judges. Core imports
no satellite; it looks up here what is there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

SATELLITES = (
    "adjusting",
    "agreement",
    "answer_pages",
    "checking",
    "comparison",
    "embedding",
    "estimating",
    "importing",
    "judges",
    "lmeval_tasks",
    "rating",
    "samer",
    "scale",
    "studies",
    "survey",
)

POINTS = {
    "adjustments of rankings": "an `Adjustment` (`cli/_rank.py`), by the name of its option",
    "arguments of tasks": "the model of an argument of tasks, by its name",
    "campaigns of annotate": "a `CampaignKind` (`cli/_annotate.py`)",
    "changes of answers": "reads the logs of a task that has answers judged again, by its name",
    "evaluators of answers": "makes an `AnswerEvaluator` (`judging/_answer_evaluators.py`)",
    "files beside reports": "writes more files of `report`, by the name of its option",
    "importable files": "recognises a table that can be imported as logs (`Importable`)",
    "judges of pairs": "makes a `LocalJudge` (`solvers/_local_judges.py`), by the judge's name",
    "kinds of files": "kinds of files that `check` knows: kind -> columns, reader, command",
    "priors of votes": "the class of a `Prior` (`discrepancy/_allocation.py`), and what reads one",
    "scorers": "makes a `LocalScorer` (`tasks/_local_scorer.py`), by the scorer's name",
    "similarities": "makes a similarity of `mad`, by its name",
    "simulated replies": "replies to a prompt that simulated models do not know otherwise",
}
"""Extension points, of core or a satellite -> what is at the addresses that are offered there."""


@dataclass(frozen=True)
class Satellite:
    """What a satellite adds. All values are names, so that looking imports nothing heavy.

    An address is `module:name`, where `module` is below `urs_inspect`.
    """

    registers: tuple[str, ...] = ()
    """Modules whose import makes tasks, solvers and scorers known to inspect-ai."""
    tasks: Mapping[str, str] = field(default_factory=dict)
    """Name of a task -> its address."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Name that the package exports -> its address."""
    commands: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=dict)
    """Group of the help -> command -> its address and its line in the help."""
    offers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """One of `POINTS` -> name -> address."""


@dataclass(frozen=True)
class Importable:
    """What a satellite recognises in a table and makes logs of, for one that checks files."""

    kind: str
    judged: bool  # whether a column names a judge
    contents: Mapping[str, Any]  # what was counted
    advice: str  # the command that makes them


@cache
def satellites() -> tuple[Satellite, ...]:
    """What each satellite adds, in the order of their names."""
    modules = [import_module(f"urs_inspect.{name}._satellite") for name in SATELLITES]
    return tuple(module.SATELLITE for module in modules)


def offered(point: str) -> dict[str, str]:
    """Name -> address of what all satellites offer to an extension point, one of `POINTS`."""
    if point not in POINTS:
        raise KeyError(point)  # else a name that is spelt wrong would offer nothing
    addresses: dict[str, str] = {}
    for satellite in satellites():
        addresses.update(satellite.offers.get(point, {}))
    return addresses


def at(address: str) -> Any:
    """What is at an address such as `samer._training_commands:samer`; imports its module."""
    module, _, name = address.partition(":")
    return getattr(import_module(f"urs_inspect.{module}"), name)
