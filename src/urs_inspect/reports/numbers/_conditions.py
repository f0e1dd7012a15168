"""May results be compared: their conditions, how they differ, and which models may be ranked
together.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pandas as pd

Shown = Sequence[Mapping[str, str]]
"""Condition -> the fact that shows it; of the conditions of one mapping the first that differs is
reported.
"""
Prompts = dict[tuple[str, str], str]
"""Intent and language -> judge language and hash of the prompt, joined by "/"."""
_Name = TypeVar("_Name")
_Results = TypeVar("_Results")
_SHOWN: Shown = (
    {"task": "task"},
    {"version": "task_version"},
    {"content": "data"},
    {"rubric": "rubric"},
    {"panel": "judges"},
    {"references": "references"},
)


@dataclass(frozen=True)
class Difference:
    """A condition that is another one than that of the first results, and what shows it."""

    name: str
    ours: Any
    theirs: Any  # of the first results


@dataclass(frozen=True)
class OtherPrompts:
    """Prompts that are not those of the first block."""

    kinds: int  # of cases that both have


@dataclass(frozen=True)
class OtherQuestions:
    """Too few questions in common with the first block."""

    common: int
    first: int  # questions of the first block
    most: int  # that a model of one of the two was asked
    model: str  # this model


Reason = Difference | OtherPrompts | OtherQuestions
"""Why models are not in the first block."""


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
        """What is equal where scores compare, but for prompts, which may be about other intents and
        languages.
        """
        return tuple(self._facts()[name] for group in _SHOWN for name in group)

    @property
    def data(self) -> str:
        """The dataset, and the first digits of its hash."""
        if not self.dataset_sha256:
            return self.dataset
        return f"{self.dataset} (sha256 {self.dataset_sha256[:8]})"

    def differences(self, first: "Conditions") -> list[Difference]:
        """Why scores may not be compared with the first ones."""
        return differences(self._facts(), first._facts(), _SHOWN)

    def _facts(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "version": version_number(self.task_version),
            "task_version": self.task_version,
            "content": self.dataset_sha256 or self.dataset,
            "data": self.data,
            "rubric": self.rubric,
            "references": self.references,
            "panel": tuple(sorted(self.judges)),
            "judges": ", ".join(self.judges),
        }


def conditions_of(answers: pd.DataFrame) -> Conditions:
    """The conditions of the answers of one log, in the columns of `reports.numbers._answers`."""
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
    judged = answers[answers["prompt_sha256"] != ""]
    columns = judged[["intent", "language", "judge_language", "prompt_sha256"]]
    known = columns.drop_duplicates()
    prompts = {}
    for intent, language, judge_language, sha256 in known.itertuples(index=False):
        prompts[str(intent), str(language)] = f"{judge_language}/{sha256}"
    return prompts


def digest_of(prompts: Prompts) -> str:
    """First digits of a hash over prompts."""
    named = sorted({f"{intent}/{prompt}" for (intent, _), prompt in prompts.items()})
    digest = hashlib.sha256("\n".join(named).encode())
    return digest.hexdigest()[:8]


def version_number(version: str) -> str:
    """The part of a task's version that changes when scores do: `1` of `1-A`."""
    return version.partition("-")[0]


def differences(
    mine: Mapping[str, Any], first: Mapping[str, Any], shown: Shown
) -> list[Difference]:
    """Why results may not be compared with the first ones; empty if they may."""
    found = []
    for group in shown:
        for name, fact in group.items():
            if mine[name] != first[name]:
                found.append(Difference(name, mine[fact], first[fact]))
                break
    return found


def changed(mine: Mapping[_Name, str], first: Mapping[_Name, str]) -> list[_Name]:
    """Names that both have with other values, such as hashes of contents or prompts."""
    return [name for name, value in mine.items() if first.get(name, value) != value]


def comparable_groups(
    results: Iterable[_Results], differ: Callable[[Sequence[_Results], _Results], object]
) -> list[list[_Results]]:
    """Put each of the results to the first group that it does not differ from."""
    groups: list[list[_Results]] = []
    for result in results:
        group = next((group for group in groups if not differ(group, result)), None)
        if group is None:
            groups.append([result])
        else:
            group.append(result)
    return groups


# --- models that may be ranked together ---

SHARE = 2
"""A block covers at least half of the questions that any of its models was asked: else one short
run would decide over which questions all others are ranked.
"""


@dataclass(frozen=True)
class Unlike:
    """How models that are ranked together were not asked and judged alike."""

    # model -> percent of its judgements with structured output; empty where all are alike
    structured: dict[str, int]
    # model -> number of questions that it attempted; empty where all are the same questions
    attempted: dict[str, int]
    common: int  # questions that all attempted


@dataclass(frozen=True)
class BlockAnswers:
    """Answers of models that may be ranked together."""

    conditions: Conditions
    differs_from_first: tuple[Reason, ...]  # why they are not in it; empty for the first block
    table: (
        pd.DataFrame
    )  # rows of the table of answers about the questions that all models attempted
    models: tuple[str, ...]
    unlike: Unlike


@dataclass(frozen=True)
class _Entry:
    """What one model did under one set of conditions."""

    model: str
    conditions: Conditions
    prompts: Prompts
    table: pd.DataFrame
    questions: frozenset[str]


@dataclass(frozen=True)
class _Block:
    """Models that may be ranked together, the one with the most questions first."""

    entries: Sequence[_Entry]

    @property
    def most(self) -> _Entry:
        return self.entries[0]

    @property
    def prompts(self) -> Prompts:
        prompts: dict[tuple[str, str], str] = {}
        for entry in self.entries:
            prompts |= entry.prompts
        return prompts

    @property
    def questions(self) -> frozenset[str]:
        return frozenset.intersection(*(entry.questions for entry in self.entries))

    def takes(self, entry: _Entry) -> bool:
        if self.most.conditions.key != entry.conditions.key:
            return False
        if changed(self.prompts, entry.prompts):
            return False
        common = len(self.questions & entry.questions)
        return SHARE * common >= len(self.most.questions)


def blocks_of(table: pd.DataFrame) -> tuple[BlockAnswers, ...]:
    """Divide answers into blocks of models that may be ranked together.

    Scores compare only where the task and its version, the data, the rubric, the judges, the
    references and the prompts for the same intents and languages are the same. Models of a block
    are ranked over the questions that all of them attempted, with or without a score. From the
    model with the most questions down, each joins the first block of which it leaves at least half
    as many questions as the block's largest model has; otherwise it begins another one. The block
    of most models comes first, then that of most questions; the order of the rows does not matter.
    """
    entries = sorted(_entries(table), key=lambda entry: (-len(entry.questions), entry.model))
    groups = comparable_groups(entries, lambda group, entry: not _Block(group).takes(entry))

    def size(block: _Block) -> tuple[int, int]:
        return len(block.entries), len(block.questions)

    blocks = sorted(map(_Block, groups), key=size, reverse=True)
    return tuple(_answers(block, blocks[0]) for block in blocks)


def _entries(table: pd.DataFrame) -> list[_Entry]:
    """The runs, in one log or in parts: logs of one model about other questions, as one for each
    language.
    """
    logs = []
    for _, rows in table.groupby("log", sort=True):
        entry = _Entry(
            model=str(rows["model"].iloc[0]),
            conditions=conditions_of(rows),
            prompts=prompts_of(rows),
            table=rows,
            questions=frozenset(rows["question"]),
        )
        logs.append(entry)

    def differ(parts: Sequence[_Entry], log: _Entry) -> bool:
        first = parts[0]
        if first.model != log.model or first.conditions.key != log.conditions.key:
            return True
        return bool(changed(_Block(parts).prompts, log.prompts))

    return [_joined(parts) for parts in comparable_groups(logs, differ)]


def _joined(parts: Sequence[_Entry]) -> _Entry:
    """The logs of a run as one."""
    questions = frozenset[str]().union(*(part.questions for part in parts))
    table = pd.concat([part.table for part in parts])
    return replace(parts[0], prompts=_Block(parts).prompts, table=table, questions=questions)


def _answers(block: _Block, first: _Block) -> BlockAnswers:
    table = pd.concat([entry.table for entry in block.entries], ignore_index=True)
    attempted_by_all = table[table["question"].isin(block.questions)]
    differs: list[Reason] = []
    if block is not first:
        differs = _reasons(block, first)
    return BlockAnswers(
        conditions=replace(block.most.conditions, prompts=digest_of(block.prompts)),
        differs_from_first=tuple(differs),
        table=attempted_by_all.reset_index(drop=True),
        models=tuple(entry.model for entry in block.entries),
        unlike=Unlike(_structured(block), _attempted(block), len(block.questions)),
    )


def _structured(block: _Block) -> dict[str, int]:
    percent: dict[str, int] = {}
    for entry in block.entries:
        share = float(entry.table["structured"].mean())
        if not math.isnan(share):
            percent[entry.model] = round(100 * share)
    if len(set(percent.values())) < 2:
        return {}
    return percent


def _attempted(block: _Block) -> dict[str, int]:
    if all(entry.questions == block.questions for entry in block.entries):
        return {}
    return {entry.model: len(entry.questions) for entry in block.entries}


def _reasons(block: _Block, first: _Block) -> list[Reason]:
    reasons: list[Reason] = [*block.most.conditions.differences(first.most.conditions)]
    other_prompts = changed(block.prompts, first.prompts)
    if other_prompts:
        reasons.append(OtherPrompts(len(other_prompts)))
    if reasons:
        return reasons
    most = max(block.most, first.most, key=lambda entry: len(entry.questions))
    common = len(block.questions & first.questions)
    return [OtherQuestions(common, len(first.questions), len(most.questions), most.model)]
