"""Which models may be ranked together."""

from dataclasses import dataclass, field, replace

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.reports.conditions import Conditions, Prompts, changed, conditions_of, digest_of, prompts_of

_SHARE = 2
"""A block covers at least half of the questions that any of its models was asked: else one short run would decide over
which questions all others are ranked."""


@dataclass(frozen=True)
class BlockAnswers:
    """Answers of models that may be ranked together."""

    conditions: Conditions
    differs_from_first: tuple[str, ...]  # reasons why they are not in the first block; empty for the first
    table: pd.DataFrame  # rows of the table of answers about the questions that all models attempted
    models: tuple[str, ...]
    notes: tuple[str, ...]  # about the choice of questions


@dataclass
class _Entry:
    """What one model did under one set of conditions."""

    model: str
    conditions: Conditions
    prompts: Prompts
    tables: list[pd.DataFrame]
    questions: set[str]


@dataclass
class _Block:
    entries: list[_Entry] = field(default_factory=list)
    prompts: Prompts = field(default_factory=dict)
    questions: set[str] = field(default_factory=set)

    def takes(self, entry: _Entry) -> bool:
        return (
            self.entries[0].conditions.key == entry.conditions.key
            and not changed(self.prompts, entry.prompts)
            and _SHARE * len(self.questions & entry.questions) >= len(self.most.questions)
        )

    @property
    def most(self) -> _Entry:
        """The one with the most questions: entries come in that order."""
        return self.entries[0]

    def add(self, entry: _Entry) -> None:
        self.questions = self.questions & entry.questions if self.entries else set(entry.questions)
        self.entries.append(entry)
        self.prompts |= entry.prompts


def blocks_of(table: pd.DataFrame) -> tuple[BlockAnswers, ...]:
    """Divide answers into blocks of models that may be ranked together.

    Scores compare only where the task and its version, the data, the rubric, the judges, the references and the
    prompts for the same intents and languages are the same. Models of a block are ranked over the questions that all of
    them attempted, with or without a score. From the model with the most questions down, each joins the first block of
    which it leaves at least half as many questions as the block's largest model has; otherwise it begins another one.
    The block of most models comes first, then that of most questions; the order of the rows does not matter.
    """
    blocks: list[_Block] = []
    for entry in sorted(_entries(table), key=lambda entry: (-len(entry.questions), entry.model)):
        block = next((block for block in blocks if block.takes(entry)), None)
        if block is None:
            blocks.append(block := _Block())
        block.add(entry)
    blocks.sort(key=lambda block: (-len(block.entries), -len(block.questions)))
    return tuple(_answers(block, blocks[0]) for block in blocks)


def _entries(table: pd.DataFrame) -> list[_Entry]:
    entries: list[_Entry] = []
    for _, rows in table.groupby("log", sort=True):
        model, conditions, prompts = str(rows["model"].iloc[0]), conditions_of(rows), prompts_of(rows)
        # Logs of one model about other questions, as one for each language, are one run in parts.
        whole = next(
            (
                entry
                for entry in entries
                if (entry.model, entry.conditions.key) == (model, conditions.key)
                and not changed(entry.prompts, prompts)
            ),
            None,
        )
        if whole is None:
            entries.append(whole := _Entry(model, conditions, {}, [], set()))
        whole.prompts |= prompts
        whole.tables.append(rows)
        whole.questions |= set(rows["question"].unique())
    return entries


def _answers(block: _Block, first: _Block) -> BlockAnswers:
    table = pd.concat([rows for entry in block.entries for rows in entry.tables], ignore_index=True)
    return BlockAnswers(
        conditions=replace(block.entries[0].conditions, prompts=digest_of(block.prompts)),
        differs_from_first=() if block is first else tuple(_reasons(block, first)),
        table=table[table["question"].isin(block.questions)].reset_index(drop=True),
        models=tuple(entry.model for entry in block.entries),
        notes=tuple(_notes(block)),
    )


def _notes(block: _Block) -> list[str]:
    if all(entry.questions == block.questions for entry in block.entries):
        return []
    attempted = ", ".join(f"{entry.model} {len(entry.questions):,}" for entry in block.entries)
    return [
        f"Ranked over the {counted(len(block.questions), 'question')} that all {len(block.entries)} models attempted; "
        f"attempted were: {attempted}. Leave out the log of a model that attempted few to rank the others over more."
    ]


def _reasons(block: _Block, first: _Block) -> list[str]:
    reasons = block.entries[0].conditions.differences(first.entries[0].conditions)
    if other := changed(block.prompts, first.prompts):
        reasons.append(f"Judged with other prompts: they differ for {len(other)} of the kinds of cases that both have.")
    return reasons or [_too_few_in_common(block, first)]


def _too_few_in_common(block: _Block, first: _Block) -> str:
    common, theirs = len(block.questions & first.questions), len(first.questions)
    if not common:
        return f"No question in common with the first ranking, which is over {counted(theirs, 'question')}."
    asked = f"Asked {common:,} of the {theirs:,} questions of the first ranking"
    if _SHARE * common < theirs:
        return f"{asked}, fewer than half."
    most = max(block.most, first.most, key=lambda entry: len(entry.questions))
    return (
        f"{asked}; all together would be ranked over fewer than half of the {len(most.questions):,} that {most.model} "
        "was asked."
    )
