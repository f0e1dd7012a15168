"""May results be compared: their conditions, how they differ, and which models may be ranked
together.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pandas as pd

from urs_inspect.logs._naming import version_number

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


def differences(
    mine: Mapping[str, Any], first: Mapping[str, Any], shown: Shown
) -> list[Difference]:
    """Why results may not be compared with the first ones; empty if they may."""
    found = []
    for group in shown:
        other = [name for name in group if mine[name] != first[name]]
        if other:
            fact = group[other[0]]
            found.append(Difference(other[0], mine[fact], first[fact]))
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
class _Block:
    """Models that may be ranked together; at first one model of one log."""

    models: tuple[str, ...]  # the one with the most questions first
    conditions: Conditions  # of the first model
    prompts: Prompts
    table: pd.DataFrame
    questions: frozenset[str]  # that all models were asked
    most: int  # questions that the first model was asked

    def judged_like(self, other: "_Block") -> bool:
        """Whether the conditions and the prompts for the same kinds of cases are the same."""
        if self.conditions.key != other.conditions.key:
            return False
        return not changed(self.prompts, other.prompts)

    def joined(self, other: "_Block", questions: frozenset[str]) -> "_Block":
        """Both together, over these questions."""
        return replace(
            self,
            models=tuple(dict.fromkeys((*self.models, *other.models))),
            prompts={**self.prompts, **other.prompts},
            table=pd.concat([self.table, other.table], ignore_index=True),
            questions=questions,
            most=max(self.most, len(questions)),
        )


def blocks_of(table: pd.DataFrame) -> tuple[BlockAnswers, ...]:
    """Divide answers into blocks of models that may be ranked together.

    Scores compare only where the task and its version, the data, the rubric, the judges, the
    references and the prompts for the same intents and languages are the same. Models of a block
    are ranked over the questions that all of them attempted, with or without a score. From the
    model with the most questions down, each joins the first block of which it leaves at least half
    as many questions as the block's largest model has; otherwise it begins another one. The block
    of most models comes first, then that of most questions; the order of the rows does not matter.
    """
    runs: list[_Block] = []
    for _, rows in table.groupby("log", sort=True):
        _join_run(runs, rows)
    blocks: list[_Block] = []
    for run in sorted(runs, key=lambda run: (-run.most, run.models)):
        _join_block(blocks, run)
    blocks.sort(key=lambda block: (len(block.models), len(block.questions)), reverse=True)
    return tuple(_answers(block, blocks[0]) for block in blocks)


def _join_run(runs: list[_Block], rows: pd.DataFrame) -> None:
    """Add a log to its run; a run may be in parts, about other questions, as one for each
    language.
    """
    questions = frozenset(rows["question"])
    log = _Block(
        models=(str(rows["model"].iloc[0]),),
        conditions=conditions_of(rows),
        prompts=prompts_of(rows),
        table=rows,
        questions=questions,
        most=len(questions),
    )
    for place, run in enumerate(runs):
        if run.models == log.models and run.judged_like(log):
            runs[place] = run.joined(log, run.questions | questions)
            return
    runs.append(log)


def _join_block(blocks: list[_Block], run: _Block) -> None:
    """Add a run to the first block that it fits."""
    for place, block in enumerate(blocks):
        common = block.questions & run.questions
        if block.judged_like(run) and SHARE * len(common) >= block.most:
            blocks[place] = block.joined(run, common)
            return
    blocks.append(run)


def _answers(block: _Block, first: _Block) -> BlockAnswers:
    by_model = block.table.groupby("model", sort=False)
    attempted = by_model["question"].nunique()
    percent = (100 * by_model["structured"].mean()).dropna().round()
    attempted_by_all = block.table[block.table["question"].isin(block.questions)]
    return BlockAnswers(
        conditions=replace(block.conditions, prompts=digest_of(block.prompts)),
        differs_from_first=() if block is first else tuple(_reasons(block, first)),
        table=attempted_by_all.reset_index(drop=True),
        models=block.models,
        unlike=Unlike(
            structured=_unless_alike(percent),
            attempted=_unless_alike(attempted, len(block.questions)),
            common=len(block.questions),
        ),
    )


def _unless_alike(numbers: "pd.Series[Any]", *others: int) -> dict[str, int]:
    """Model -> number; empty if all are the same, and these other numbers as well."""
    if len({*numbers, *others}) < 2:
        return {}
    return {str(model): int(number) for model, number in numbers.items()}


def _reasons(block: _Block, first: _Block) -> list[Reason]:
    reasons: list[Reason] = [*block.conditions.differences(first.conditions)]
    other_prompts = changed(block.prompts, first.prompts)
    if other_prompts:
        reasons.append(OtherPrompts(len(other_prompts)))
    if reasons:
        return reasons
    largest = max(block, first, key=lambda block: block.most)
    common = len(block.questions & first.questions)
    return [OtherQuestions(common, len(first.questions), largest.most, largest.models[0])]
