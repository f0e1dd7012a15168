"""Which URS cases a run is about, in which order, and against which references."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from logging import getLogger
from typing import Any

import click
from inspect_ai.log import EvalConfig, read_eval_log

from urs_inspect._util import InputError
from urs_inspect.datasets import UrsCase, UrsData, Vocabulary, in_proportion, load_urs, select
from urs_inspect.datasets.references import References, unusable, with_references
from urs_inspect.logs.references import read_references
from urs_inspect.rubrics import Rubric
from urs_inspect.tasks import arguments

_COMMANDS = ("inspect_ai.", "urs_inspect.")
"""Whose options mean what the harness means by them."""

Choice = tuple[int, tuple[str, ...]]
"""Where a limit ends, 0 for none, and the ids that are chosen."""


def asked_cases(cases: Sequence[UrsCase]) -> list[UrsCase]:
    """The cases that `--limit` or `--sample-id` of the running command leaves, and those that come before them.

    The harness chooses samples after a task is made, and does not tell the task. While `inspect eval`, `eval-set`,
    `eval-retry` or `urs-inspect estimate` runs, their options are known all the same.

    Args:
        cases: All cases, in the order of the task.

    Returns:
        The beginning of the list up to the limit, so that the harness's choice from it is the one from all; or the
        cases with the ids. All cases if there would be none, or where nothing is known: in scripts, where samples are
        shuffled, or where a configuration file may say otherwise.
    """
    choices = _choices()
    if not choices or not all(limit or ids for limit, ids in choices):
        return list(cases)
    stop = max(limit for limit, _ in choices)
    patterns = [pattern for _, ids in choices for pattern in ids]
    return [
        case
        for place, case in enumerate(cases)
        if place < stop or any(fnmatch(case.id, pattern) for pattern in patterns)
    ] or list(cases)


def _choices() -> list[Choice]:
    """The choice of each run that the running command may make tasks for; none where it is not known."""
    context = click.get_current_context(silent=True)
    if context is None or not str(getattr(context.command.callback, "__module__", "")).startswith(_COMMANDS):
        return []
    options = context.params
    if "limit" in options:
        return [_of_options(options)]
    return [_of_config(read_eval_log(log, header_only=True).eval.config) for log in options.get("log_files", ())]


def _of_options(options: Mapping[str, Any]) -> Choice:
    if options.get("sample_shuffle") or options.get("run_config"):
        return 0, ()
    limit = str(options["limit"] or "").rpartition("-")[2]
    return int(limit) if limit.isdecimal() else 0, _patterns(str(options.get("sample_id") or "").split(","))


def _of_config(config: EvalConfig) -> Choice:
    if config.sample_shuffle not in (None, False):
        return 0, ()
    limit = config.limit[1] if isinstance(config.limit, tuple) else config.limit
    ids = config.sample_id if isinstance(config.sample_id, list) else [config.sample_id or ""]
    return limit or 0, _patterns(str(one) for one in ids)


def _patterns(ids: Iterable[str]) -> tuple[str, ...]:
    """Ids with and without the task before the colon, with which the harness lets them begin."""
    named = [one.strip() for one in ids if one.strip()]
    return tuple(dict.fromkeys(part for one in named for part in (one, one.partition(":")[2]) if part))


logger = getLogger(__name__)

_SOME_CASES = (
    "A run of some cases needs references for these alone where `inspect eval` chooses them by `--limit` or "
    "`--sample-id`, without `--sample-shuffle` or `--run-config`; in a script, name a file of these cases as `dataset`"
)


@dataclass(frozen=True)
class CaseChoice:
    """A choice of cases, checked as far as that goes without the data.

    Attributes:
        dataset: As for `load_urs`.
        vocabulary: How labels in the data become ids.
        languages: Languages of the cases; None for all.
        intents: Intents of the cases; None for all.
        seed: Seed of the order.
        lenient: Whether faulty rows of a user's own file are left out.
        references: Reference answers in place of those of the data; None for those.
    """

    dataset: str
    vocabulary: Vocabulary
    languages: list[str] | None
    intents: list[str] | None
    seed: int
    lenient: bool
    references: References | None

    def load(self, *, need_references: bool = True, only_asked: bool = False) -> tuple[UrsData, list[UrsCase]]:
        """Read the data.

        Args:
            need_references: Whether every case needs a reference.
            only_asked: Whether cases that the running command leaves out need none in `references`. Where some have
                none, the cases that are left out are none of the chosen ones.

        Returns:
            The data, and the chosen cases in their order.

        Raises:
            InputError: If the data cannot be had or is faulty, no case is left, or a reference is missing.
        """
        needed = need_references and self.references is None
        data = load_urs(self.dataset, self.vocabulary, lenient=self.lenient, need_references=needed)
        if data.skipped:
            logger.warning(f"{len(data.skipped)} faulty rows of {data.name} were skipped, the first: {data.skipped[0]}")
        ordered = in_proportion(select(data.cases, languages=self.languages, intents=self.intents), self.seed)
        return data, ordered if self.references is None else self._with(self.references, ordered, only_asked)

    def _with(self, references: References, cases: list[UrsCase], only_asked: bool) -> list[UrsCase]:
        if not only_asked or not unusable(cases, references):
            return with_references(cases, references)
        try:
            return with_references(asked_cases(cases), references)
        except InputError as error:
            raise InputError(f"{error}. {_SOME_CASES}") from error


def choose_cases(
    rubric: Rubric,
    *,
    dataset: object,
    language: object,
    intents: object,
    seed: object,
    lenient: object,
    references: object = None,
) -> CaseChoice:
    """Check the arguments of a task that say which cases it is about; `references` is read.

    Raises:
        InputError: If one cannot be used.
    """
    source = arguments.optional_text(references, "references")
    return CaseChoice(
        dataset=arguments.text(dataset, "dataset"),
        vocabulary=Vocabulary(rubric.intent_id, rubric.language_code),
        languages=arguments.names(language, "language", rubric.language_code),
        intents=arguments.names(intents, "intents", rubric.intent_id),
        seed=arguments.whole(seed, "seed", least=0),
        lenient=arguments.flag(lenient, "lenient"),
        references=None if source is None else read_references(source),
    )
