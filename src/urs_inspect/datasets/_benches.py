"""Benchmarks of judges, by name or as a user's file: pairs and responses with labels by people."""

import hashlib
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from logging import getLogger
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from urs_inspect._util import InputError, choices, file_kind
from urs_inspect.datasets._cases import Vocabulary
from urs_inspect.datasets._columns import (
    LABEL,
    PAIR_KEYS,
    PREFERENCES,
    PROMPT,
    RATING,
    RATING_KEYS,
    ColumnMap,
    Preference,
    guess_columns,
    left_out_note,
    majority,
    read_column_map,
)
from urs_inspect.datasets._conversations import MESSAGES, Conversation, hint_of, question_of
from urs_inspect.datasets._rows import (
    READABLE,
    Build,
    Fields,
    data_file,
    label_key,
    read_own,
    read_published,
    read_table,
    shown,
)
from urs_inspect.datasets._sources import SOURCES

__all__ = ["PREFERENCES", "Preference"]
logger = getLogger(__name__)


@dataclass(frozen=True)
class PairCase:
    """Two responses to one prompt, and which is better.

    Attributes:
        id: Id of the case, its own in the benchmark.
        prompt: What the responses answer.
        response_a: The first response, in the order of the file.
        response_b: The second response.
        label: Which is better overall: `a`, `b` or `tie`.
        group: Subset or scenario that the case is reported in.
        dimensions: Labels by dimension; empty where there are none.
        conversation: The prompt as several messages, of which `prompt` is what a judge is shown;
            None if it is one text.
    """

    id: str
    prompt: str
    response_a: str
    response_b: str
    label: Preference
    group: str
    dimensions: Mapping[str, Preference] = field(default_factory=dict)
    conversation: Conversation | None = None


@dataclass(frozen=True)
class PairData:
    """A pairwise benchmark.

    Attributes:
        name: Its name, or the path of a user's file.
        sha256: SHA-256 of the file, or of the hashes of several; it covers `columns` where given.
        cases: The cases, in the order of the file.
        skipped: One line for each row that is no case, with the reason.
        labels: Whose labels they are; empty for a user's file.
    """

    name: str
    sha256: str
    cases: tuple[PairCase, ...]
    skipped: tuple[str, ...] = ()
    labels: str = ""

    @property
    def has_ties(self) -> bool:
        """Whether any label is a tie, so that a judge may answer with one."""
        return any(case.label == "tie" or "tie" in case.dimensions.values() for case in self.cases)


@dataclass(frozen=True)
class RatingCase:
    """One response and the rating that people, or a reference judge, gave it.

    Attributes:
        id: Id of the case, its own in the benchmark.
        prompt: What the response answers; equal prompts form one cluster, unless `cluster` is
            given.
        response: The response.
        rating: Its rating, on the scale of the benchmark.
        group: Category that the case is reported in.
        reference: Reference answer that may be shown to a judge; empty if there is none.
        intent: Id of its intent in a rubric; empty if it has none.
        language: Code of its language in the rubric; empty if it has none.
        cluster: What cases on the same question share where their prompts differ; else empty.
    """

    id: str
    prompt: str
    response: str
    rating: float
    group: str
    reference: str = ""
    intent: str = ""
    language: str = ""
    cluster: str = ""


@dataclass(frozen=True)
class RatingData:
    """A single-rating benchmark.

    Attributes:
        name: Its name, or the path of a user's file.
        sha256: SHA-256 of the file, or of the hashes of several; it covers `columns` where given.
        scale: Lowest and highest possible rating.
        cases: The cases, in the order of the file.
        skipped: One line for each row that is no case, with the reason.
        labels: Whose labels they are; empty for a user's file.
    """

    name: str
    sha256: str
    scale: tuple[float, float]
    cases: tuple[RatingCase, ...]
    skipped: tuple[str, ...] = ()
    labels: str = ""


_Case = TypeVar("_Case", PairCase, RatingCase)
_NO_TIES = "/no_ties"
_ReadPair = Build[PairCase]


class Sides(NamedTuple):
    """Two responses in their order, and which of them is the better one."""

    response_a: str
    response_b: str
    better: Preference


def assign_sides(case_id: str, better: str, worse: str) -> Sides:
    """Order two responses by the lowest bit of the first byte of the SHA-256 of the case's id.

    A benchmark that lists the better response first would make any judge that prefers the first one
    look good. The hash puts the better one first in about half of the cases, the same ones on every
    machine and in every run.
    """
    if hashlib.sha256(case_id.encode()).digest()[0] & 1:
        return Sides(worse, better, "b")
    return Sides(better, worse, "a")


# --- rows of prometheus-eval, whose instruction holds prompt and response ---

_PROMPT = "###The instruction to evaluate:"
_RESPONSE = "###Response to evaluate:"
_REFERENCE = "###Reference Answer (Score 5):"
_RUBRICS = "###Score Rubrics:"
_SCALE = (1.0, 5.0)


class Unwrapped(NamedTuple):
    """Prompt and response of an instruction."""

    prompt: str
    response: str


def unwrap(instruction: str) -> Unwrapped:
    """Take prompt and response out of an instruction, without white space at their edges.

    The predictions that were published with SaMer show the texts stripped like this. Reference
    answer and score rubrics are left out: the paper shows them to no judge (section 5.2). A
    response may be empty. A heading that is missing, repeated or in the wrong place raises
    `InputError`, because it is then not certain where the response ends.
    """
    headings = [_PROMPT, _RESPONSE, _RUBRICS]
    if _REFERENCE in instruction:
        headings.insert(2, _REFERENCE)
    for heading in headings:
        if (count := instruction.count(heading)) != 1:
            raise InputError(f"has the heading '{heading}' {count} times, must have it once")
    places = [instruction.index(heading) for heading in headings]
    if places != sorted(places):
        raise InputError(f"must have the headings in the order: {', '.join(headings)}")
    prompt = instruction[places[0] + len(_PROMPT) : places[1]].strip()
    response = instruction[places[1] + len(_RESPONSE) : places[2]].strip()
    if not prompt:
        raise InputError(f"nothing stands under the heading '{_PROMPT}'")
    return Unwrapped(prompt, response)


def _unwrapped(fields: Fields, column: str) -> Unwrapped:
    if text := fields.text(column):
        try:
            return unwrap(text)
        except InputError as error:
            fields.note(column, str(error))
    return Unwrapped("", "")


def _wrapped_pair(fields: Fields, case_id: str, group: str, *, tie: bool = False) -> PairCase:
    """A chosen and a rejected instruction; the id decides which response comes first."""
    chosen = _unwrapped(fields, "chosen_instruction")
    rejected = _unwrapped(fields, "rejected_instruction")
    if not fields.problems and chosen.prompt != rejected.prompt:
        fields.note("rejected_instruction", "has another prompt than 'chosen_instruction'")
    first, second, better = assign_sides(case_id, chosen.response, rejected.response)
    return PairCase(case_id, chosen.prompt, first, second, "tie" if tie else better, group)


def _wrapped_rating(fields: Fields, case_id: str, column: str, group: str) -> RatingCase:
    """An instruction, and a rating from 1 to 5 or a list of them whose mean counts."""
    texts = _unwrapped(fields, "instruction")
    return RatingCase(case_id, texts.prompt, texts.response, fields.rating(column, *_SCALE), group)


# --- pairs ---

_PROMPT_LANGUAGE = "en"
"""Language of the prompts of judges of pairs, and of ratings without a rubric."""


@dataclass(frozen=True)
class _PairColumns:
    """Columns of a file whose rows are pairs in their order."""

    prompt: str
    response_a: str
    response_b: str
    label: str  # a column of one label, or of a list with one of each rater
    labels: Mapping[str, Preference]
    # where it gives none, pairs are grouped by how many raters agree
    group: Callable[[Fields], str] = lambda fields: ""
    dimensions: Callable[[Fields], Mapping[str, Preference]] = lambda fields: {}

    def __call__(self, fields: Fields, case_id: str) -> PairCase:
        prompt, conversation = question_of(fields, self.prompt, _PROMPT_LANGUAGE)
        agreed = majority(fields.several_labels(self.label, self.labels))
        return PairCase(
            id=case_id,
            prompt=prompt,
            response_a=fields.text(self.response_a, blank=True),  # no answer is an answer
            response_b=fields.text(self.response_b, blank=True),
            label=agreed.label,
            group=self.group(fields) or agreed.agreement or "all",
            dimensions=self.dimensions(fields),
            conversation=conversation,
        )


def _alpaca_eval(fields: Fields, case_id: str) -> PairCase:
    """Against the published schema, not run on the file."""
    tie = fields.has("tie") and fields.label("tie", {"0": False, "1": True})
    group = fields.optional("dataset", "all").strip()
    return _wrapped_pair(fields, case_id, group, tie=tie)


def _preference_bench(fields: Fields, case_id: str) -> PairCase:
    """Against the published schema, not run on the file."""
    return _wrapped_pair(fields, case_id, "all")


def _hhh(fields: Fields, case_id: str) -> PairCase:
    """The groups are the columns of the SaMer paper's Table 3."""
    group = fields.one_of("source", ("helpful", "harmless", "honest", "other"))
    return _wrapped_pair(fields, case_id, group)


def _llmbar(subset: str) -> _PairColumns:
    return _PairColumns(
        "input", "output_1", "output_2", "label", {"1": "a", "2": "b"}, lambda fields: subset
    )


def _as_published(fields: Fields, mapping: ColumnMap, texts: Iterable[str], label: str) -> str:
    """Have a row read as a mapping says; why it is left out, or an empty text.

    Responses that are no text and rows without a label are left out, as is a label that the
    mapping gives no meaning.
    """
    mapping.apply(fields)
    for key in texts:
        value = fields.values.get(key, "")
        if not isinstance(value, str):
            return f"'{choices(mapping.columns.get(key, (key,)))}' is no text but {shown(value)}"
    value = fields.values.get(label)
    given = value if isinstance(value, list) else [value]
    given = [part for part in given if not _is_blank(part)]
    wanted = [part for part in given if mapping.labels.get(label_key(part), "") is not None]
    if not wanted:
        if given:
            return f"{label} {shown(given[0])}"
        return f"no {label}"
    fields.values[label] = wanted if isinstance(value, list) else value
    return ""


def _is_blank(label: object) -> bool:
    if isinstance(label, str):
        return not label.strip()
    return label is None or (isinstance(label, float) and math.isnan(label))


def _mapped_pair(mapping: ColumnMap, columns: _PairColumns) -> _ReadPair:
    """Pairs under other names, with the labels of the mapping if it has any."""
    meanings = {name: meaning for name, meaning in mapping.labels.items() if meaning is not None}
    named = replace(columns, labels=meanings or columns.labels)

    def read(fields: Fields, case_id: str) -> PairCase | str:
        texts = (named.response_a, named.response_b)
        return _as_published(fields, mapping, texts, named.label) or named(fields, case_id)

    return read


_PANDA_LM = _mapped_pair(
    ColumnMap(
        {
            PROMPT: ("instruction", "input"),
            "response_a": ("response1",),
            "response_b": ("response2",),
            LABEL: ("annotator1", "annotator2", "annotator3"),
        },
        {"1": "a", "2": "b", "0": "tie"},
    ),
    _PairColumns(PROMPT, "response_a", "response_b", LABEL, {}),
)
"""The label is that of most of the three people; a few responses are no text."""


_JUDGE_BENCH = _PairColumns(
    "question",
    "response_A",
    "response_B",
    "label",
    {"a>b": "a", "b>a": "b"},
    lambda row: row.text("source").partition("-")[0],
)
"""One response is right and the other wrong; grouped by the benchmark that it comes from."""
_CRITIQUE_PAIR = _PairColumns(
    "question",
    "response_1",
    "response_2",
    "label",
    {"0": "a", "1": "b"},
    lambda row: row.text("category"),
)
"""Chinese questions, grouped by category."""
_PARTS = {
    name: tuple(each for each in SOURCES if each.startswith(f"{name}/"))
    for name in ("llmbar", "case_study", "judge_bench", "critique_llm", "critique_llm_ratings")
}
"""Benchmarks that consist of several files."""
_AUTOJ = _PairColumns(
    "prompt",
    "response 1",
    "response 2",
    "label",
    {"0": "a", "1": "b", "2": "tie"},
    lambda row: row.text("scenario"),
)

PAIR_BENCHES: Mapping[str, _ReadPair | None] = MappingProxyType(
    {
        "hhh": _hhh,  # 221 pairs without ties
        "llmbar": None,  # all five: 419 pairs without ties
        # 100, 134, 92, 47 and 46 pairs
        **{name: _llmbar(name.partition("/")[2]) for name in _PARTS["llmbar"]},
        "autoj": _AUTOJ,  # 1,392 pairs in 58 scenarios (SaMer paper, Table 3, `w/ TIE`)
        # the 1,019 of them that are no tie (`w/o TIE`), under the same ids
        f"autoj{_NO_TIES}": _AUTOJ,
        "preference_bench": _preference_bench,
        "alpaca_eval": _alpaca_eval,
        "fair_eval": _llmbar("all"),  # 66 pairs
        "llm_eval_2": _llmbar("all"),  # 200 pairs, of which one has an empty answer
        "mt_bench_people": _llmbar("all"),  # 200 pairs
        "case_study": None,  # all five: 315 pairs
        **{name: _llmbar(name.partition("/")[2]) for name in _PARTS["case_study"]},
        "panda_lm": _PANDA_LM,  # 993 pairs, each by three people
        "judge_bench": None,  # both: 620 pairs without ties
        **dict.fromkeys(_PARTS["judge_bench"], _JUDGE_BENCH),
        "critique_llm": None,  # both: 200 pairs without ties
        **dict.fromkeys(_PARTS["critique_llm"], _CRITIQUE_PAIR),
    }
)
"""Published pairs by name: how a row is read."""


def load_pairs(
    bench: str,
    *,
    dimension: Callable[[str], str] | None = None,
    columns: str | Mapping[str, Any] | None = None,
) -> PairData:
    """Load labelled pairs by name or path.

    Args:
        bench: A name in `PAIR_BENCHES`, or the path of a `.csv` file with a header, a `.jsonl`
            file with one object per line or a `.json` file with a list of objects. Columns: prompt
            (or messages, a list of `{role, content}`), response_a and response_b (which may be
            empty), label (a, b or tie; also model_a, model_b, 1, 2; or a list with one of each
            rater, of which most count), and optionally id, group, and dimensions, an object of
            dimensions and labels (in CSV: as JSON in a cell).
        dimension: Turns the name of a dimension in a user's file into that of a taxonomy, or raises
            `InputError`; without it any name is allowed.
        columns: What the columns and labels of a user's file mean: a mapping from those above to
            names in the file (a list of the parts of a prompt, or of raters' labels; null for one
            that is not to be read), and `labels` to a, b, tie or none; or the path of a YAML file
            with one. Rows with a response that is no text, and without a label, are then left out.

    Returns:
        The pairs in the order of the file. `<name>_0001` is the id of a first row without one. Its
        group is how many raters agree, or `all`. With `columns` the hash covers them too.

    Raises:
        InputError: If there is no such benchmark, its file is unavailable, or naming file, row and
            column of every error (of the first 20, if there are more).

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from urs_inspect.datasets import load_pairs
        >>> row = '{"prompt": "2 + 2?", "response_a": "4", "response_b": "5", "label": "a"}'
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "pairs.jsonl")
        ...     _ = path.write_text(row, encoding="utf-8")
        ...     pairs = load_pairs(str(path))
        >>> pairs.cases[0].id, pairs.cases[0].label
        ('pairs_0001', 'a')
    """
    mapping = read_column_map(columns, PAIR_KEYS)
    if bench not in PAIR_BENCHES:
        return _own_pairs(_own_path(bench, PAIR_BENCHES), bench, dimension, mapping)
    _refuse_mapping(bench, mapping)
    if (read := PAIR_BENCHES[bench]) is not None:
        return _published_pairs(bench, read)
    parts = [load_pairs(name) for name in _PARTS[bench]]
    return PairData(
        bench,
        _sha256_of_parts(parts),
        tuple(chain(*(part.cases for part in parts))),
        labels=labels_of(bench),
    )


def _sha256_of_parts(parts: Iterable[PairData | RatingData]) -> str:
    return hashlib.sha256("".join(part.sha256 for part in parts).encode()).hexdigest()


def labels_of(bench: str) -> str:
    """Whose labels a published benchmark has; empty for a user's file."""
    names = _PARTS.get(bench, (bench.removesuffix(_NO_TIES),))
    if names[0] in SOURCES:
        return SOURCES[names[0]].labels
    return ""


def load_md_eval(dimension: Callable[[str], str], scenarios: Collection[str]) -> PairData:
    """Load the published MD-Eval, 350 rows; the paper counts 360.

    Args:
        dimension: Turns the name of a dimension, or an alias, into that of the taxonomy; raises
            `InputError` for any other.
        scenarios: Ids of the scenarios.

    Returns:
        The pairs in the order of the file, called `md_eval_0001` to `md_eval_0350` by row, grouped
        by scenario. A row without any response, of which there is one, is listed in `skipped`.

    Raises:
        InputError: If the file is unavailable, or a label, dimension or scenario in it is not
            allowed.
    """
    labels: Mapping[str, Preference] = {"model_a": "a", "model_b": "b", "tie": "tie"}
    columns = _PairColumns(
        "prompt",
        "response_a",
        "response_b",
        "winner",
        labels,
        lambda fields: fields.one_of("scenario", scenarios),
        lambda fields: fields.labels("annotation", labels, dimension),
    )

    def read(fields: Fields, case_id: str) -> PairCase | str:
        responses = [fields.values.get(name, "") for name in ("response_a", "response_b")]
        if responses == [None, None]:
            return "both responses are null"
        return columns(fields, case_id)

    return _published_pairs("md_eval", read)


def _published_pairs(bench: str, read: _ReadPair) -> PairData:
    name = bench.removesuffix(_NO_TIES)
    found = read_published(SOURCES[name], read, name.lower().replace("/", "_"))
    cases = found.cases
    if bench.endswith(_NO_TIES):
        cases = tuple(case for case in cases if case.label != "tie")
    return PairData(bench, found.sha256, cases, found.skipped, labels_of(name))


def _refuse_mapping(bench: str, mapping: ColumnMap | None) -> None:
    if mapping is not None:
        raise InputError(f"columns: '{bench}' is read as published; give a file of your own")


def _own_pairs(
    path: Path, name: str, dimension: Callable[[str], str] | None, mapping: ColumnMap | None
) -> PairData:
    labels: Mapping[str, Preference] = {
        "a": "a", "b": "b", "tie": "tie", "model_a": "a", "model_b": "b", "1": "a", "2": "b"
    }  # fmt: skip
    required = ("response_a", "response_b", LABEL)
    columns = _PairColumns(
        PROMPT,
        *required,
        labels,
        lambda fields: fields.optional("group").strip(),
        lambda fields: (
            {} if fields.blank("dimensions") else fields.labels("dimensions", labels, dimension)
        ),
    )
    read: _ReadPair = columns if mapping is None else _mapped_pair(mapping, columns)

    def build(fields: Fields, number: str) -> PairCase | str:
        case = read(fields, number)
        if isinstance(case, str):
            return case
        return replace(case, id=fields.identifier(number))

    return PairData(name, *_read_mapped(path, required, build, mapping, "pairs"))


def _read_mapped(
    path: Path,
    others: Sequence[str],
    read: Build[_Case],
    mapping: ColumnMap | None,
    kind: str,
) -> tuple[str, tuple[_Case, ...], tuple[str, ...]]:
    """Hash, cases and rows left out of a file; a warning counts and names the latter."""
    known = mapping or ColumnMap({})
    required = [
        either for either in _own_columns(others) if known.columns.keys().isdisjoint(either)
    ]
    try:
        found = read_own(
            path, required, read, hint=_HINT, check=known.check_against, used=known.used
        )
    except InputError as error:
        raise InputError(f"{error}{_guessed(path, kind) if mapping is None else ''}") from error
    if found.left_out:
        rows = len(found.cases) + len(found.left_out)
        logger.warning(left_out_note(path, found.left_out, rows))
    sha256 = found.sha256
    if mapping is not None:
        sha256 = hashlib.sha256(f"{sha256}{mapping.digest}".encode()).hexdigest()
    return sha256, found.cases, found.skipped


def _guessed(path: Path, kind: str) -> str:
    """What `columns` could say of a file with other names, to append to a message; else empty."""
    try:
        guess = guess_columns(kind, read_table(path, ())[0])
    except InputError:
        return ""
    if guess.is_needed:
        return f"\n{path}: say what is what: {guess.argument}"
    return ""


_HINT = hint_of("prompt")


def _own_columns(others: Iterable[str]) -> list[tuple[str, ...]]:
    """Columns that a user's file must have, `messages` in place of the prompt."""
    return [(PROMPT, MESSAGES), *[(column,) for column in others]]


# --- ratings ---

_DIALOGUE = re.compile(
    r"[^\n]*\nUser: (?P<opening>.*?)\n\nAssistant:.*\n\nUser: (?P<last>.*?)\n\nAssistant:",
    re.DOTALL,
)


def _vicuna(fields: Fields, case_id: str) -> RatingCase:
    """The rating is the mean of three by GPT-4."""
    return _wrapped_rating(fields, case_id, "gpt4_score", fields.text("category"))


def _flask(fields: Fields, case_id: str) -> RatingCase:
    """Grouped by skill; the rating is the mean of the people's.

    Against the published schema, not run on the file.
    """
    return _wrapped_rating(
        fields, case_id, "human_score", fields.optional("criteria", "all").strip()
    )


def _feedback_bench(fields: Fields, case_id: str) -> RatingCase:
    """Against the published schema, not run on the file."""
    return _wrapped_rating(fields, case_id, "gpt4_score", "all")


def _mt_bench(fields: Fields, case_id: str) -> RatingCase:
    """As Vicuna; the prompt is a dialogue, and the cluster what the user says in it."""
    case = _vicuna(fields, case_id)
    dialogue = _DIALOGUE.fullmatch(case.prompt)
    if dialogue is None:
        if not fields.problems:
            fields.note("instruction", "holds no dialogue in which the user speaks twice")
        return case
    return replace(case, cluster=f"{dialogue['opening']}\n\n{dialogue['last']}")


def _critique_rating(fields: Fields, case_id: str) -> RatingCase:
    """Answers to Chinese questions, rated by people from 1 to 5."""
    return RatingCase(
        case_id,
        fields.text("question"),
        fields.text("response", blank=True),
        fields.rating("human_score", *_SCALE),
        fields.text("category"),
        reference=fields.optional("reference"),
    )


RATING_BENCHES: Mapping[str, Build[RatingCase] | None] = MappingProxyType(
    {
        "vicuna": _vicuna,
        "flask": _flask,
        "feedback_bench": _feedback_bench,
        "mt_bench": _mt_bench,
        "critique_llm_ratings": None,  # both: 200 ratings
        **dict.fromkeys(_PARTS["critique_llm_ratings"], _critique_rating),
    }
)
"""Published ratings by name: how a row is read."""


def load_ratings(
    bench: str,
    *,
    scale: tuple[float, float] | None = None,
    vocabulary: Vocabulary | None = None,
    columns: str | Mapping[str, Any] | None = None,
) -> RatingData:
    """Load rated responses by name or path.

    Args:
        bench: A name in `RATING_BENCHES`, or the path of a `.csv` file with a header, a `.jsonl`
            file with one object per line or a `.json` file with a list of objects. Columns: prompt
            (or messages, a list of `{role, content}`), response (which may be empty), rating (a
            number, or in JSON a list of numbers whose mean counts), and optionally id, group,
            reference, intent and language.
        scale: Lowest and highest possible rating of a user's file, for which it must be given; a
            published benchmark has its own.
        vocabulary: How intents and languages in a user's file become ids of a rubric, which makes
            these two columns obligatory; without it they are read as they are. A published
            benchmark has none.
        columns: What the columns of a user's file mean, as for `load_pairs`; several columns of a
            rating are those of several raters.

    Returns:
        The responses in the order of the file. `<name>_0001` is the id of a first row without one,
        the intent, or `all`, its group.

    Raises:
        InputError: If there is no such benchmark, its file is unavailable, an argument does not
            fit, or naming file, row and column of every error (of the first 20, if there are more).
    """
    mapping = read_column_map(columns, RATING_KEYS)
    if bench not in RATING_BENCHES:
        path = _own_path(bench, RATING_BENCHES)
        if scale is None:
            raise InputError(f"scale: '{bench}' needs one, lowest and highest possible rating")
        return _own_ratings(path, bench, scale, vocabulary, mapping)
    _refuse_mapping(bench, mapping)
    if vocabulary is not None:
        raise InputError(
            f"'{bench}' has no intents and languages; give a file of your own with these columns"
        )
    if scale is not None and scale != _SCALE:
        raise InputError(f"scale: '{bench}' has its own, {_SCALE[0]:g} to {_SCALE[1]:g}")
    read = RATING_BENCHES[bench]
    if read is None:
        parts = [load_ratings(name) for name in _PARTS[bench]]
        whole = tuple(chain(*(part.cases for part in parts)))
        return RatingData(bench, _sha256_of_parts(parts), _SCALE, whole, labels=labels_of(bench))
    found = read_published(SOURCES[bench], read, bench.replace("/", "_"))
    return RatingData(bench, found.sha256, _SCALE, found.cases, labels=labels_of(bench))


def _own_ratings(
    path: Path,
    name: str,
    scale: tuple[float, float],
    vocabulary: Vocabulary | None,
    mapping: ColumnMap | None,
) -> RatingData:
    low, high = scale
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(
            f"scale: must have a lowest rating below a highest, got {low:g} and {high:g}"
        )

    def build(fields: Fields, default_id: str) -> RatingCase | str:
        if mapping is not None:
            reason = _as_published(fields, mapping, ["response"], RATING)
            if reason:
                return reason
        if vocabulary:
            intent = fields.resolved(vocabulary.intent, "intent")
            language = fields.resolved(vocabulary.language, "language")
        else:
            intent = fields.optional("intent")
            language = fields.optional("language")
        prompt, _ = question_of(fields, "prompt", language if vocabulary else _PROMPT_LANGUAGE)
        return RatingCase(
            id=fields.identifier(default_id),
            prompt=prompt,
            response=fields.text("response", blank=True),
            rating=fields.rating(RATING, low, high),
            group=fields.optional("group", intent or "all").strip(),
            reference=fields.optional("reference"),
            intent=intent.strip(),
            language=language.strip(),
        )

    required = ["response", RATING]
    if vocabulary:
        required += ["intent", "language"]
    sha256, cases, skipped = _read_mapped(path, required, build, mapping, "ratings")
    return RatingData(name, sha256, scale, cases, skipped)


def _own_path(bench: str, published: Mapping[str, object]) -> Path:
    if bench.lower().endswith(READABLE):
        return data_file(bench, "bench")
    path = Path(bench)
    if path.suffix and path.is_file():
        raise InputError(f"{bench}: cannot read {file_kind(path)}; allowed: {choices(READABLE)}")
    raise InputError(
        f"unknown benchmark '{bench}'; allowed: {choices(published)}, or the path of a"
        f" {' or '.join(READABLE)} file"
    )
