"""The URS cases of a run: which, in which order, and against which references."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import chain
from logging import getLogger
from typing import Any, TypedDict, Unpack

from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalConfig, read_eval_log

from urs_inspect._arguments import ALL, command_options, names
from urs_inspect._util import InputError
from urs_inspect.datasets import UrsCase, UrsData, Vocabulary, in_proportion, load_urs, select
from urs_inspect.datasets._references import References, unusable, with_references
from urs_inspect.logs._responses import read_references
from urs_inspect.rubrics import Rubric
from urs_inspect.scorers._metrics import CLUSTER
from urs_inspect.solvers._conversations import chat_of

logger = getLogger(__name__)

_SOME_CASES = (
    "A run of some cases needs references for these alone where `inspect eval` chooses them by"
    " `--limit` or `--sample-id`, without `--sample-shuffle` or `--run-config`; in a script, name a"
    " file of these cases as `dataset`"
)


@dataclass(frozen=True)
class ChosenCases:
    """Cases in the order of the run, with what they come from.

    No references are those of the data.
    """

    data: UrsData
    rubric: Rubric
    cases: list[UrsCase]
    references: References | None = None

    def dataset(self) -> MemoryDataset:
        """The cases as samples."""
        return MemoryDataset(
            [case_to_sample(case, self.rubric) for case in self.cases], name=self.data.name
        )

    def facts(self) -> dict[str, object]:
        """What identifies data, rubric and references of a run, for the log."""
        data = self.data
        references = self.references
        facts = {
            "dataset": data.name,
            "dataset_sha256": data.sha256,
            "dataset_skipped_rows": len(data.skipped),
            **rubric_facts(self.rubric),
        }
        if references is not None:
            facts["references"] = references.label
            facts["references_sha256"] = references.sha256
        return facts


def rubric_facts(rubric: Rubric) -> dict[str, object]:
    """What identifies the rubric of a run, and the names of its languages by code, for the log."""
    return {
        "rubric": f"{rubric.name} {rubric.version}",
        "rubric_sha256": rubric.sha256,
        "languages": {code: language.name for code, language in rubric.languages.items()},
    }


class _Reading(TypedDict, total=False):
    """How a user's file is read."""

    lenient: bool
    cluster: str | None


def choose_cases(
    rubric: Rubric,
    dataset: str,
    language: str | list[str] = ALL,
    intents: str | list[str] = ALL,
    *,
    seed: int = 0,
    references: str | None = None,
    need_references: bool = True,
    only_asked: bool = False,
    **reading: Unpack[_Reading],
) -> ChosenCases:
    """Read the cases that a task is about; all arguments are checked before data is fetched.

    With `only_asked`, cases that the running command leaves out need none of the given
    `references`; where some have none, those cases are not among the chosen ones. `reading` is as
    for `load_urs`.
    """
    languages = names(language, "language", rubric.language_code)
    chosen = names(intents, "intents", rubric.intent_id)
    given = None if references is None else read_references(references)
    vocabulary = Vocabulary(rubric.intent_id, rubric.language_code)
    needed = need_references and given is None
    data = load_urs(dataset, vocabulary, need_references=needed, **reading)
    if data.skipped:
        logger.warning(
            f"{len(data.skipped)} faulty rows of {data.name} were skipped, the first:"
            f" {data.skipped[0]}"
        )
    cases = in_proportion(select(data.cases, languages=languages, intents=chosen), seed)
    if given is not None:
        cases = _with_references(given, cases, only_asked)
    return ChosenCases(data, rubric, cases, given)


def case_to_sample(case: UrsCase, rubric: Rubric) -> Sample:
    """Map a case to a sample.

    The model is asked the question without edge whitespace, a conversation as messages.
    """
    metadata = {
        "intent": case.intent,
        "intent_group": rubric.intents[case.intent].group,
        "language": case.language,
    }
    if case.country:
        metadata["country"] = case.country
    if case.cluster:
        metadata[CLUSTER] = case.cluster
    return Sample(
        id=case.id,
        input=case.question.strip() if case.conversation is None else chat_of(case.conversation),
        target=case.reference.strip(),
        metadata=metadata,
    )


def _with_references(
    references: References, cases: list[UrsCase], only_asked: bool
) -> list[UrsCase]:
    if not only_asked or not unusable(cases, references):
        return with_references(cases, references)
    try:
        return with_references(asked_cases(cases), references)
    except InputError as error:
        raise InputError(f"{error}. {_SOME_CASES}") from error


def asked_cases(cases: Sequence[UrsCase]) -> list[UrsCase]:
    """The cases that `--limit` or `--sample-id` of the running command leaves.

    Also those that come before them.

    The harness's choice from these is the one from all. All cases if there would be none, or where
    the choice is not known: in scripts, where samples are shuffled, or where a configuration file
    may change it.
    """
    choices = _choices()
    if not choices or not all(limit or ids for limit, ids in choices):
        return list(cases)
    stop = max(limit for limit, _ in choices)
    patterns = list(chain.from_iterable(ids for _, ids in choices))
    return [
        case
        for place, case in enumerate(cases)
        if place < stop or any(fnmatch(case.id, pattern) for pattern in patterns)
    ] or list(cases)


def _choices() -> list[tuple[int, tuple[str, ...]]]:
    """Of each run that the running command may make tasks for.

    Where its limit ends, 0 for none, and chosen ids.
    """
    options = command_options()
    if "limit" in options:
        return [_choice_of_options(options)]
    return [
        _choice_of_log(read_eval_log(log, header_only=True).eval.config)
        for log in options.get("log_files", ())
    ]


def _choice_of_options(options: Mapping[str, Any]) -> tuple[int, tuple[str, ...]]:
    if options.get("sample_shuffle") or options.get("run_config"):
        return 0, ()
    limit = str(options["limit"] or "").rpartition("-")[2]
    return int(limit) if limit.isdecimal() else 0, _patterns(
        str(options.get("sample_id") or "").split(",")
    )


def _choice_of_log(config: EvalConfig) -> tuple[int, tuple[str, ...]]:
    if config.sample_shuffle not in (None, False):
        return 0, ()
    limit = config.limit[1] if isinstance(config.limit, tuple) else config.limit
    ids = config.sample_id if isinstance(config.sample_id, list) else [config.sample_id or ""]
    return limit or 0, _patterns(map(str, ids))


def _patterns(ids: Iterable[str]) -> tuple[str, ...]:
    """Ids with and without the task before the colon, with which the harness lets them begin."""
    patterns: list[str] = []
    for name in map(str.strip, ids):
        _, _, without_task = name.partition(":")
        patterns += [part for part in (name, without_task) if part]
    return tuple(dict.fromkeys(patterns))
