"""Cases of URS and of one's own: files, selection, order."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from urs_inspect._util import InputError
from urs_inspect.datasets._conversations import MESSAGES, Conversation, hint_of, question_of
from urs_inspect.datasets._rows import (
    READABLE,
    Fields,
    build_cases,
    data_file,
    first_errors,
    read_table,
    refuse,
    refuse_ignored,
    told_by_row,
    told_once,
)
from urs_inspect.datasets._sources import URS, fetch, sha256_of


@dataclass(frozen=True)
class UrsCase:
    """One question that a user reported.

    Attributes:
        id: Id of the case, its own in the data.
        question: The question as the user wrote it, white space at its edges included.
        reference: The reference answer, worth 8 of 10 points (URS paper, Tables 9 and 11); empty if
            there is none.
        intent: Id of its intent in the rubric.
        language: Code of its language in the rubric.
        country: Country that the user came from, as the file names it; empty if it names none.
        conversation: The question as several messages, of which `question` is what a judge is
            shown; None if it is one text.
        cluster: What cases that belong together share, such as their user; empty for a case by
            itself.
    """

    id: str
    question: str
    reference: str
    intent: str
    language: str
    country: str = ""
    conversation: Conversation | None = None
    cluster: str = ""


@dataclass(frozen=True)
class UrsData:
    """Cases and where they came from.

    Attributes:
        name: `urs`, `sample`, or the path of a file.
        sha256: SHA-256 of the file.
        cases: The cases, in the order of the file.
        skipped: One line for each row that was left out because the user asked for leniency.
    """

    name: str
    sha256: str
    cases: tuple[UrsCase, ...]
    skipped: tuple[str, ...] = ()


def select(
    cases: Iterable[UrsCase],
    *,
    languages: Sequence[str] | None = None,
    intents: Sequence[str] | None = None,
) -> list[UrsCase]:
    """Keep the cases of some languages and intents.

    Args:
        cases: The cases.
        languages: Codes of languages to keep; None for all.
        intents: Ids of intents to keep; None for all.

    Returns:
        The cases that are kept, in their order.

    Raises:
        InputError: If none is left.

    Examples:
        >>> from urs_inspect.datasets import UrsCase, select
        >>> english = UrsCase("q1", "A joke?", "Knock, knock.", "leisure", "en")
        >>> chinese = UrsCase("q2", "讲个笑话", "好的。", "leisure", "zh")
        >>> [case.id for case in select([english, chinese], languages=["zh"])]
        ['q2']
    """
    kept = [
        case
        for case in cases
        if (languages is None or case.language in languages)
        and (intents is None or case.intent in intents)
    ]
    if not kept:
        raise InputError(f"no case has language {languages or 'any'} and intent {intents or 'any'}")
    return kept


def in_proportion(cases: Sequence[UrsCase], seed: int) -> list[UrsCase]:
    """Order cases so that every beginning of the list holds intents and languages in proportion.

    The published file is sorted by intent, so that its first rows are all of one kind. Within each
    intent and language, cases are shuffled with the seed; the k-th of n then stands at (k + 1/2) /
    n of the list. A prefix of m of the N cases therefore holds m * n / N cases of a kind, give or
    take (1 + (K - 2) * n / N) / 2 where there are K kinds; over the published cases that stays near
    one case.

    Args:
        cases: The cases.
        seed: Seed of the order; the same one gives the same order on every machine.

    Returns:
        All cases in the new order.
    """
    kinds: dict[tuple[str, str], list[UrsCase]] = defaultdict(list)
    for case in cases:
        kinds[case.intent, case.language].append(case)
    placed: list[tuple[float, str, UrsCase]] = []
    for (intent, language), members in sorted(kinds.items()):
        random.Random(f"{seed}/{intent}/{language}").shuffle(members)  # noqa: S311 - an order, not a secret
        placed += [((k + 0.5) / len(members), case.id, case) for k, case in enumerate(members)]
    return [case for _, _, case in sorted(placed, key=lambda place: place[:2])]


# What a case needs, and the column names that are taken for it.
_QUESTION = ("question", MESSAGES)
REFERENCE = ("reference_ans", "reference")
"""Names of the column of reference answers."""
_INTENT = ("user_intent", "intent")
_LANGUAGE = ("language",)
SKIP_INVALID = "Correct the file, or skip invalid rows with -T lenient=true."
"""What follows the faults of a file."""
USER = "user"
"""Column whose values name the clusters of cases, unless another one is named."""
_SAMPLE = Path(__file__).parent / "urs_sample.jsonl"


@dataclass(frozen=True)
class Vocabulary:
    """How labels in a file become ids of the rubric.

    Both raise `InputError` for an unknown label. `Rubric.intent_id` and `Rubric.language_code` are
    such functions.

    Attributes:
        intent: Turns the label of an intent into its id.
        language: Turns the label of a language into its code.
    """

    intent: Callable[[str], str]
    language: Callable[[str], str]


def read_cases(
    path: Path,
    name: str,
    vocabulary: Vocabulary,
    *,
    id_prefix: str,
    lenient: bool = False,
    need_references: bool = True,
    cluster: str | None = None,
) -> UrsData:
    """Read a file of cases.

    Args:
        path: A `.csv` file with a header, or a `.jsonl` file with one object per line; UTF-8, with
            or without BOM. Columns: question (or messages, a list of `{role, content}`),
            reference_ans (or reference), user_intent (or intent), language, and optionally id,
            country and user, which may be blank.
        name: What the data is called in logs.
        vocabulary: How labels become ids.
        id_prefix: Prefix of the ids given to rows without one: `<prefix>_0001` for the first row of
            data.
        lenient: Skip invalid rows and list them, instead of refusing the file.
        need_references: Whether every row needs a reference; else it may be blank, or the column
            missing.
        cluster: Column whose values name the clusters; by default `user`, if there is one.

    Returns:
        The cases in the order of the file.

    Raises:
        InputError: Naming file, row and column of every error (of the first 20, if there are more).
    """

    def build(fields: Fields, default_id: str) -> UrsCase:
        intent = fields.resolved(vocabulary.intent, *_INTENT)
        language = fields.resolved(vocabulary.language, *_LANGUAGE)
        question, conversation = question_of(fields, "question", language)
        without = not need_references and all(fields.blank(column) for column in REFERENCE)
        return UrsCase(
            question=question,
            reference="" if without else fields.text(*REFERENCE),
            intent=intent,
            language=language,
            country=fields.optional("country").strip(),
            id=fields.identifier(default_id),
            conversation=conversation,
            cluster=fields.name(cluster or USER),
        )

    required = [_QUESTION, _INTENT, _LANGUAGE]
    if need_references:
        required.insert(1, REFERENCE)
    if cluster is not None:
        required.append((cluster,))
    rows, unparsed = read_table(path, required)
    refuse_ignored(path, rows, hint_of("question"), also=("prompt", "instruction"))
    cases, faulty, _ = build_cases(rows, build, id_prefix)
    if not lenient:
        refuse([*unparsed, *told_once(path, faulty)], SKIP_INVALID)
    errors = unparsed + told_by_row(path, faulty)
    if not cases:
        raise InputError("\n".join([f"{path}: no usable case", *first_errors(errors)]))
    return UrsData(name, sha256_of(path), tuple(cases), tuple(errors))


def load_urs(
    dataset: str,
    vocabulary: Vocabulary,
    *,
    lenient: bool = False,
    need_references: bool = True,
    cluster: str | None = None,
) -> UrsData:
    """Load cases by name or path.

    Args:
        dataset: `urs` for the 1,846 published cases (URS paper, Table 2), `sample` for the 42
            embedded ones, or the path of a CSV or JSON Lines file.
        vocabulary: How labels in the file become ids of the rubric.
        lenient: Skip invalid rows of a user's file instead of refusing it.
        need_references: Whether every row of a user's file needs a reference answer.
        cluster: Column of a user's file whose values name the clusters of cases; by default `user`,
            if there is one.

    Returns:
        The cases, in the order of the file. Published cases are called `urs_0001` to `urs_1846` by
        row.

    Raises:
        InputError: If the data is unavailable or a row is invalid.

    Examples:
        >>> from urs_inspect.datasets import Vocabulary, load_urs
        >>> from urs_inspect.rubrics import load_rubric
        >>> rubric = load_rubric()
        >>> data = load_urs("sample", Vocabulary(rubric.intent_id, rubric.language_code))
        >>> len(data.cases), data.cases[0].intent
        (42, 'factual_qa')
    """
    if cluster is not None and dataset in ("urs", "sample"):
        raise InputError(
            f"cluster: the cases of '{dataset}' name no users or other clusters; give a file of"
            " your own"
        )
    if dataset == "urs":
        return read_cases(fetch(URS), "urs", vocabulary, id_prefix="urs")
    if dataset == "sample":
        return read_cases(_SAMPLE, "sample", vocabulary, id_prefix="sample")
    if not dataset.lower().endswith(READABLE):
        raise InputError(
            f"unknown dataset '{dataset}'; allowed: urs, sample, or the path of a"
            f" {' or '.join(READABLE)} file"
        )
    path = data_file(dataset, "dataset")
    return read_cases(
        path,
        dataset,
        vocabulary,
        id_prefix=path.stem,
        lenient=lenient,
        need_references=need_references,
        cluster=cluster,
    )
