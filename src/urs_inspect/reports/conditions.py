"""May results be compared: the conditions of two sets of results, and in words how they differ."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd

Reasons = Sequence[Mapping[str, str]]
"""Condition -> sentence where it differs; of the conditions of one mapping the first that differs is reported. In a
sentence, `{name}` stands for the value of a condition, and `{first[name]}` for that of the first results."""
Prompts = dict[tuple[str, str], str]
"""Intent and language -> judge language and hash of the prompt, joined by "/"."""
_Name = TypeVar("_Name")
_Results = TypeVar("_Results")
_REASONS: Reasons = (
    {"task": "Another task: {task}, not {first[task]}."},
    {"version": "Another version of the task, whose scores do not compare: {task_version}, not {first[task_version]}."},
    {"content": "Other data: {data}, not {first[data]}."},
    {"rubric": "Another rubric: {rubric}, not {first[rubric]}."},
    {"panel": "Other judges: {judges}, not {first[judges]}."},
    {"references": "Other references: {references}, not {first[references]}."},
)


@dataclass(frozen=True)
class Conditions:
    """What must be equal for scores to compare."""

    judges: tuple[str, ...]  # of a panel all
    dataset: str
    dataset_sha256: str  # empty if unknown
    rubric: str  # name and version
    prompts: str  # first digits of a hash over the prompts of all intents and judge languages
    references: str  # empty for those of the data
    task_version: str
    task: str = "urs_inspect/urs"

    @property
    def key(self) -> tuple[object, ...]:
        """What is equal where scores compare, but for prompts, which may be about other intents and languages."""
        return tuple(self._facts()[name] for reason in _REASONS for name in reason)

    @property
    def data(self) -> str:
        """The dataset, and the first digits of its hash."""
        return f"{self.dataset} (sha256 {self.dataset_sha256[:8]})" if self.dataset_sha256 else self.dataset

    def differences(self, first: "Conditions") -> list[str]:
        """Why scores may not be compared with the first ones, one sentence per reason."""
        return differences(self._facts(), first._facts(), _REASONS)

    def _facts(self) -> dict[str, Any]:
        return {
            **{"task": self.task, "version": version_number(self.task_version), "task_version": self.task_version},
            **{"content": self.dataset_sha256 or self.dataset, "data": self.data},
            **{"rubric": self.rubric or "not known", "references": self.references or "those of the data"},
            **{"panel": tuple(sorted(self.judges)), "judges": ", ".join(self.judges) or "none"},
        }


def conditions_of(answers: pd.DataFrame) -> Conditions:
    """The conditions of the answers of one log, in the columns of `urs_inspect.reports.answers`."""
    judged = answers.loc[answers["judges"] != "", "judge_finals"]
    rubrics = answers.loc[answers["rubric"] != "", "rubric"].mode()
    names = ("dataset", "dataset_sha256", "references", "task_version", "task")
    return Conditions(
        judges=tuple(judged.iloc[0]) if len(judged) else (),
        rubric=str(rubrics.iloc[0]) if len(rubrics) else "",
        prompts=digest_of(prompts_of(answers)),
        **{name: str(answers[name].iloc[0]) for name in names},
    )


def prompts_of(answers: pd.DataFrame) -> Prompts:
    """The prompts with which the answers of one log were judged."""
    known = answers.loc[answers["prompt_sha256"] != "", ["intent", "language", "judge_language", "prompt_sha256"]]
    return {
        (str(intent), str(language)): f"{judge_language}/{sha256}"
        for intent, language, judge_language, sha256 in known.drop_duplicates().itertuples(index=False)
    }


def digest_of(prompts: Prompts) -> str:
    """First digits of a hash over prompts."""
    named = sorted({f"{intent}/{prompt}" for (intent, _), prompt in prompts.items()})
    return hashlib.sha256("\n".join(named).encode()).hexdigest()[:8]


def version_number(version: str) -> str:
    """The part of a task's version that changes when scores do: `1` of `1-A`."""
    return version.partition("-")[0]


def differences(mine: Mapping[str, Any], first: Mapping[str, Any], reasons: Reasons) -> list[str]:
    """Why results may not be compared with the first ones, one sentence per reason; empty if they may."""
    sentences = (
        next((text.format(**mine, first=first) for name, text in parts.items() if mine[name] != first[name]), "")
        for parts in reasons
    )
    return [sentence for sentence in sentences if sentence]


def changed(mine: Mapping[_Name, str], first: Mapping[_Name, str]) -> list[_Name]:
    """Names that both have with other values, such as hashes of contents or prompts."""
    return [name for name, value in mine.items() if first.get(name, value) != value]


def comparable_groups(
    results: Iterable[_Results], differ: Callable[[Sequence[_Results], _Results], object]
) -> list[list[_Results]]:
    """Put each of the results to the first group that it does not differ from.

    Args:
        results: The results, in the order in which they were made.
        differ: Whether results may not be compared with those of a group.
    """
    groups: list[list[_Results]] = []
    for result in results:
        group = next((group for group in groups if not differ(group, result)), None)
        if group is None:
            groups.append([result])
        else:
            group.append(result)
    return groups
