"""Which models may be ranked together."""

from dataclasses import dataclass, field

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.logs.scores import prompts_digest
from urs_inspect.reports.answers import version_number

_SHARE = 2
"""A block covers at least half of the questions that any of its models was asked: else one short run would decide over
which questions all others are ranked."""

Prompts = dict[tuple[str, str], str]
"""Intent and language -> judge language and hash of the prompt, joined by "/"."""


@dataclass(frozen=True)
class Conditions:
    """What must be equal for two models to stand in one ranking."""

    judges: tuple[str, ...]  # of a panel all
    dataset: str
    dataset_sha256: str  # empty if unknown
    rubric: str  # name and version
    prompts: str  # first digits of a hash over the prompts of all intents and judge languages
    references: str  # empty for those of the data
    task_version: str
    task: str = "urs_inspect/urs"


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
            _key(self.entries[0].conditions) == _key(entry.conditions)
            and _agree(self.prompts, entry.prompts)
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
        model, conditions, prompts = str(rows["model"].iloc[0]), _conditions(rows), _prompts(rows)
        # Logs of one model about other questions, as one for each language, are one run in parts.
        whole = next(
            (
                entry
                for entry in entries
                if (entry.model, _key(entry.conditions)) == (model, _key(conditions)) and _agree(entry.prompts, prompts)
            ),
            None,
        )
        if whole is None:
            entries.append(whole := _Entry(model, conditions, {}, [], set()))
        whole.prompts |= prompts
        whole.tables.append(rows)
        whole.questions |= set(rows["question"].unique())
    return entries


def _conditions(rows: pd.DataFrame) -> Conditions:
    first = rows.iloc[0]
    judged = rows.loc[rows["judges"] != "", "judge_finals"]
    rubrics = rows.loc[rows["rubric"] != "", "rubric"].mode()
    return Conditions(
        judges=tuple(judged.iloc[0]) if len(judged) else (),
        dataset=str(first["dataset"]),
        dataset_sha256=str(first["dataset_sha256"]),
        rubric=str(rubrics.iloc[0]) if len(rubrics) else "",
        prompts="",
        references=str(first["references"]),
        task_version=str(first["task_version"]),
        task=str(first["task"]),
    )


def _prompts(rows: pd.DataFrame) -> Prompts:
    known = rows.loc[rows["prompt_sha256"] != "", ["intent", "language", "judge_language", "prompt_sha256"]]
    return {
        (str(intent), str(language)): f"{judge_language}/{sha256}"
        for intent, language, judge_language, sha256 in known.drop_duplicates().itertuples(index=False)
    }


def _key(conditions: Conditions) -> tuple[object, ...]:
    return (
        conditions.task,
        version_number(conditions.task_version),
        conditions.dataset_sha256 or conditions.dataset,
        conditions.rubric,
        tuple(sorted(conditions.judges)),
        conditions.references,
    )


def _agree(prompts: Prompts, others: Prompts) -> bool:
    return all(others.get(kind, prompt) == prompt for kind, prompt in prompts.items())


def _answers(block: _Block, first: _Block) -> BlockAnswers:
    table = pd.concat([rows for entry in block.entries for rows in entry.tables], ignore_index=True)
    digest = prompts_digest(f"{intent}/{prompt}" for (intent, _), prompt in block.prompts.items())
    conditions = Conditions(**{**vars(block.entries[0].conditions), "prompts": digest})
    return BlockAnswers(
        conditions=conditions,
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
    mine, theirs = block.entries[0].conditions, first.entries[0].conditions
    reasons = []
    if mine.task != theirs.task:
        reasons.append(f"Another task: {mine.task}, not {theirs.task}.")
    if version_number(mine.task_version) != version_number(theirs.task_version):
        reasons.append(
            f"Another version of the task, whose scores do not compare: {mine.task_version}, not {theirs.task_version}."
        )
    if (mine.dataset_sha256 or mine.dataset) != (theirs.dataset_sha256 or theirs.dataset):
        reasons.append(f"Other data: {_data(mine)}, not {_data(theirs)}.")
    if mine.rubric != theirs.rubric:
        reasons.append(f"Another rubric: {mine.rubric or 'not known'}, not {theirs.rubric or 'not known'}.")
    if sorted(mine.judges) != sorted(theirs.judges):
        reasons.append(f"Other judges: {_judges(mine)}, not {_judges(theirs)}.")
    if mine.references != theirs.references:
        reasons.append(f"Other references: {_references(mine)}, not {_references(theirs)}.")
    if not _agree(first.prompts, block.prompts):
        other = sum(block.prompts.get(kind, prompt) != prompt for kind, prompt in first.prompts.items())
        reasons.append(f"Judged with other prompts: they differ for {other} of the kinds of cases that both have.")
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


def _data(conditions: Conditions) -> str:
    digits = f" (sha256 {conditions.dataset_sha256[:8]})" if conditions.dataset_sha256 else ""
    return f"{conditions.dataset}{digits}"


def _judges(conditions: Conditions) -> str:
    return ", ".join(conditions.judges) or "none"


def _references(conditions: Conditions) -> str:
    return conditions.references or "those of the data"
