"""Benchmarks of judges: pairs and responses with labels of people, by name."""

import hashlib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from urs_inspect._util import InputError, choices
from urs_inspect.datasets.cases import Vocabulary
from urs_inspect.datasets.judged import PairCase, PairData, Preference, RatingCase, RatingData
from urs_inspect.datasets.rows import READABLE, Fields, read_own, read_published
from urs_inspect.datasets.sources import (
    ALPACA_EVAL,
    AUTOJ,
    FEEDBACK_BENCH,
    FLASK,
    HHH,
    LLMBAR,
    MT_BENCH,
    PREFERENCE_BENCH,
    VICUNA,
)


class Sides(NamedTuple):
    """Two responses in their order, and which of them is the better one."""

    response_a: str
    response_b: str
    better: Preference


def assign_sides(case_id: str, better: str, worse: str) -> Sides:
    """Order two responses by the lowest bit of the first byte of the SHA-256 of the case's id.

    A bench that lists the better response first would make any judge that prefers the first one look good. The
    hash puts the better one first in about half of the cases, the same ones on every machine and in every run.
    """
    if hashlib.sha256(case_id.encode()).digest()[0] & 1:
        return Sides(worse, better, "b")
    return Sides(better, worse, "a")


_PROMPT = "###The instruction to evaluate:"
_RESPONSE = "###Response to evaluate:"
_REFERENCE = "###Reference Answer (Score 5):"
_RUBRICS = "###Score Rubrics:"


class Bare(NamedTuple):
    """The texts that were wrapped."""

    prompt: str
    response: str


def unwrap(instruction: str) -> Bare:
    """Take prompt and response out of an instruction, without white space at their edges.

    The predictions that were published with SaMer show the texts stripped like this. Reference answer and score
    rubrics are left behind: the paper shows them to no judge (section 5.2). A response may be empty.

    Raises:
        InputError: If a heading is missing, there twice or in the wrong place, so that it is not certain where the
            response ends.
    """
    headings = [_PROMPT, _RESPONSE, *([_REFERENCE] if _REFERENCE in instruction else []), _RUBRICS]
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
    return Bare(prompt, response)


def unwrapped(fields: Fields, column: str) -> Bare:
    """Read a column that holds a wrapped instruction; what is wrong with it is noted."""
    if text := fields.text(column):
        try:
            return unwrap(text)
        except InputError as error:
            fields.note(column, str(error))
    return Bare("", "")


def wrapped_pair(fields: Fields, row_id: str, group: str, *, tie: bool = False) -> PairCase:
    """Read a row of a chosen and a rejected instruction; the id decides which response comes first.

    Args:
        fields: The row, with the columns `chosen_instruction` and `rejected_instruction`.
        row_id: Its id.
        group: Its group.
        tie: Whether neither was preferred.
    """
    chosen = unwrapped(fields, "chosen_instruction")
    rejected = unwrapped(fields, "rejected_instruction")
    if not fields.problems and chosen.prompt != rejected.prompt:
        fields.note("rejected_instruction", "has another prompt than 'chosen_instruction'")
    first, second, better = assign_sides(row_id, chosen.response, rejected.response)
    return PairCase(row_id, chosen.prompt, first, second, "tie" if tie else better, group)


def wrapped_rating(fields: Fields, row_id: str, column: str, scale: tuple[float, float], group: str) -> RatingCase:
    """Read a row of an `instruction` and its ratings.

    Args:
        fields: The row.
        row_id: Its id.
        column: The column of the rating, or of a list of ratings whose mean counts.
        scale: Lowest and highest possible rating.
        group: Its group.
    """
    bare = unwrapped(fields, "instruction")
    return RatingCase(row_id, bare.prompt, bare.response, fields.rating(column, *scale), group)


_PREFERENCES: Mapping[str, int] = {"1": 1, "2": 2, "0": 0, "1.5": 0}
_TIES: Mapping[str, bool] = {"0": False, "1": True}


def load_alpaca_eval() -> PairData:
    """Load the pairs of `judge_bench/alpaca_eval.json`.

    Rows, in a JSON list or one a line, are those of prometheus-eval, with the columns `chosen_instruction`,
    `rejected_instruction` and `tie` (0 or 1), or annotations of AlpacaEval's `alpaca_eval_gpt4`, with `instruction`,
    `output_1`, `output_2`, `preference` (1, 2, or 0 or 1.5 for a tie) and optionally `dataset`. Written against
    these published schemas, not run on the real file.

    Returns:
        The pairs in the order of the file, grouped by `dataset`. The id decides which response comes first,
        because the file always lists the chosen one, or the reference model, first. Rows whose preference is null,
        which GPT-4 did not decide, are left out and listed in `skipped`. An empty response is kept.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """
    skipped: list[str] = []

    def build(fields: Fields, row_id: str) -> PairCase | None:
        group = fields.optional("dataset", "all").strip()
        if fields.has("chosen_instruction"):
            return wrapped_pair(fields, row_id, group, tie=fields.has("tie") and fields.label("tie", _TIES))
        preference = fields.values.get("preference", 0)
        if preference is None or (isinstance(preference, float) and math.isnan(preference)):
            skipped.append(f"{row_id}: no preference")
            return None
        return _annotated(fields, row_id, group)

    cases, sha256 = read_published(ALPACA_EVAL, build, "alpaca_eval")
    return PairData("alpaca_eval", sha256, cases, tuple(skipped))


def _annotated(fields: Fields, row_id: str, group: str) -> PairCase:
    prompt = fields.text("instruction")
    first, second = (fields.text(column, blank=True) for column in ("output_1", "output_2"))  # no answer is an answer
    preference = fields.label("preference", _PREFERENCES)
    better, worse = (second, first) if preference == 2 else (first, second)
    response_a, response_b, label = assign_sides(row_id, better, worse)
    return PairCase(row_id, prompt, response_a, response_b, label if preference else "tie", group)


_LABELS: Mapping[str, Preference] = {"0": "a", "1": "b", "2": "tie"}


def load_autoj(*, ties: bool = True) -> PairData:
    """Load the pairs: 1,392 with ties, 1,019 without (SaMer paper, Table 3, `w/ TIE` and `w/o TIE`).

    Args:
        ties: Whether pairs without a preference are kept. Without them a judge must not answer so.

    Returns:
        The pairs in the order of the file, grouped by scenario; ids are the same with and without ties. One of the
        responses is empty, as published.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """

    def build(fields: Fields, row_id: str) -> PairCase | None:
        case = PairCase(
            id=row_id,
            prompt=fields.text("prompt"),
            response_a=fields.text("response 1", blank=True),
            response_b=fields.text("response 2", blank=True),
            label=fields.label("label", _LABELS),
            group=fields.text("scenario"),
        )
        return case if ties or case.label != "tie" else None

    cases, sha256 = read_published(AUTOJ, build, "autoj")
    return PairData("autoj" if ties else "autoj/no_ties", sha256, cases)


SCALE = (1.0, 5.0)


def load_feedback_bench() -> RatingData:
    """Load the responses of `judge_bench/feedback_collection_ood_test.json`.

    Rows, in a JSON list or one a line, are those of prometheus-eval, with the columns `instruction` and
    `gpt4_score`, or those of the set on Hugging Face, with `orig_instruction`, `orig_response` and `orig_score`.
    Written against these published schemas, not run on the real file. Rubrics and reference answers are left out, as
    in the SaMer paper (section 5.2).

    Returns:
        The responses in the order of the file, in one group.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """
    cases, sha256 = read_published(FEEDBACK_BENCH, _case, "feedback_bench")
    return RatingData("feedback_bench", sha256, SCALE, cases)


def _case(fields: Fields, row_id: str) -> RatingCase:
    if not fields.has("orig_response"):
        return wrapped_rating(fields, row_id, "gpt4_score", SCALE, "all")
    return RatingCase(
        id=row_id,
        prompt=fields.text("orig_instruction"),
        response=fields.text("orig_response", blank=True),
        rating=fields.rating("orig_score", *SCALE),
        group="all",
    )


def load_flask() -> RatingData:
    """Load the responses of `judge_bench/flask_eval.json`.

    Rows, in a JSON list or one a line, are those of prometheus-eval, with the columns `instruction`, `human_score`
    (a list of ratings from 1 to 5) and `criteria` (the skill). Written against this schema, not run on the real
    file.

    Returns:
        The responses in the order of the file, grouped by skill; the rating is the mean of the people's.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """
    cases, sha256 = read_published(FLASK, _flask_case, "flask")
    return RatingData("flask", sha256, SCALE, cases)


def _flask_case(fields: Fields, row_id: str) -> RatingCase:
    return wrapped_rating(fields, row_id, "human_score", SCALE, fields.optional("criteria", "all").strip())


GROUPS = ("helpful", "harmless", "honest", "other")
"""The columns of the SaMer paper's Table 3."""


def load_hhh() -> PairData:
    """Load the 221 pairs, without ties.

    Returns:
        The pairs in the order of the file, grouped by what they are about. The file names a chosen and a rejected
        response; which of them comes first is decided by a hash of the case's id.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """
    cases, sha256 = read_published(HHH, _hhh_case, "hhh")
    return PairData("hhh", sha256, cases)


def _hhh_case(fields: Fields, row_id: str) -> PairCase:
    return wrapped_pair(fields, row_id, fields.one_of("source", GROUPS))


_LLMBAR_LABELS: Mapping[str, Preference] = {"1": "a", "2": "b"}


def load_llmbar(subset: str | None = None) -> PairData:
    """Load one of the five subsets (of 100, 134, 92, 47 and 46 pairs), or all 419 pairs; there are no ties.

    Args:
        subset: Natural, Neighbor, GPTInst, GPTOut or Manual; all of them unless given.

    Returns:
        The pairs in the order of the files, grouped by subset. The hash of all five is that of their hashes.

    Raises:
        InputError: If there is no such subset, a file cannot be had, or a row is faulty.
    """
    if subset is None:
        parts = [load_llmbar(each) for each in LLMBAR]
        sha256 = hashlib.sha256("".join(part.sha256 for part in parts).encode()).hexdigest()
        return PairData("llmbar", sha256, tuple(case for part in parts for case in part.cases))
    if subset not in LLMBAR:
        raise InputError(f"unknown subset '{subset}' of llmbar; allowed: {choices(LLMBAR)}")

    def build(fields: Fields, row_id: str) -> PairCase:
        return PairCase(
            id=row_id,
            prompt=fields.text("input"),
            response_a=fields.text("output_1", blank=True),
            response_b=fields.text("output_2", blank=True),
            label=fields.label("label", _LLMBAR_LABELS),
            group=subset,
        )

    cases, sha256 = read_published(LLMBAR[subset], build, f"llmbar_{subset.lower()}")
    return PairData(LLMBAR[subset].name, sha256, cases)


_DIALOGUE = re.compile(
    r"[^\n]*\nUser: (?P<opening>.*?)\n\nAssistant:.*\n\nUser: (?P<last>.*?)\n\nAssistant:", re.DOTALL
)


def load_mt_bench() -> RatingData:
    """Load the 320 responses.

    Returns:
        The responses in the order of the file, grouped by category; the rating is the mean of three by GPT-4. The
        prompt is the dialogue so far, with a line that asks to continue it. It holds the reply of the same model to the
        first turn, so the prompts of a dialogue differ; its cluster is what the user says in both turns.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """
    cases, sha256 = read_published(MT_BENCH, _mt_bench_case, "mt_bench")
    return RatingData("mt_bench", sha256, SCALE, cases)


def _mt_bench_case(fields: Fields, row_id: str) -> RatingCase:
    case = wrapped_rating(fields, row_id, "gpt4_score", SCALE, fields.text("category"))
    dialogue = _DIALOGUE.fullmatch(case.prompt)
    if dialogue is None:
        if not fields.problems:
            fields.note("instruction", "holds no dialogue in which the user speaks twice")
        return case
    return replace(case, cluster=f"{dialogue['opening']}\n\n{dialogue['last']}")


_REQUIRED = (("prompt",), ("response_a",), ("response_b",), ("label",))
_OWN_PAIRS_LABELS: Mapping[str, Preference] = {
    "a": "a",
    "b": "b",
    "tie": "tie",
    "model_a": "a",
    "model_b": "b",
    "1": "a",
    "2": "b",
}


def load_own_pairs(path: Path, name: str, *, dimension: Callable[[str], str] | None = None) -> PairData:
    """Read a user's file of labelled pairs.

    Args:
        path: A `.csv` file with a header, or a `.jsonl` file with one object a line. Columns: prompt, response_a and
            response_b (which may be empty), label (a, b or tie; also model_a, model_b, 1, 2), and optionally id,
            group, and dimensions, an object of dimensions and labels (in CSV: as JSON in a cell).
        name: What the data is called in logs.
        dimension: Turns the name of a dimension into that of a taxonomy, or raises `InputError`; without it any
            name will do.

    Returns:
        The pairs in the order of the file; `<name of the file>_0001` is the id of a first row without one, `all`
        the group of rows without one.

    Raises:
        InputError: Naming file, row and column of every fault (of the first 20, if there are more).
    """

    def build(fields: Fields, default_id: str) -> PairCase:
        return PairCase(
            id=fields.identifier(default_id),
            prompt=fields.text("prompt"),
            response_a=fields.text("response_a", blank=True),
            response_b=fields.text("response_b", blank=True),
            label=fields.label("label", _OWN_PAIRS_LABELS),
            group=fields.optional("group", "all").strip(),
            dimensions={} if fields.blank("dimensions") else fields.labels("dimensions", _OWN_PAIRS_LABELS, dimension),
        )

    cases, sha256 = read_own(path, _REQUIRED, build)
    return PairData(name, sha256, cases)


_OWN_RATINGS_REQUIRED = (("prompt",), ("response",), ("rating",))
_URS_REQUIRED = (("intent",), ("language",))


def load_own_ratings(
    path: Path, name: str, scale: tuple[float, float], *, vocabulary: Vocabulary | None = None
) -> RatingData:
    """Read a user's file of rated responses.

    Args:
        path: A `.csv` file with a header, or a `.jsonl` file with one object a line. Columns: prompt, response
            (which may be empty), rating (a number, or in JSON a list of numbers whose mean counts), and optionally id,
            group, reference, intent and language.
        name: What the data is called in logs.
        scale: Lowest and highest possible rating.
        vocabulary: How intents and languages become ids of a rubric, which makes these two columns obligatory;
            without it they are read as they stand.

    Returns:
        The responses in the order of the file; `<name of the file>_0001` is the id of a first row without one, the
        intent, or `all`, the group of rows without one.

    Raises:
        InputError: Naming file, row and column of every fault (of the first 20, if there are more), or if the
            scale is none.
    """
    low, high = scale
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"scale: must have a lowest rating below a highest, got {low:g} and {high:g}")

    def build(fields: Fields, default_id: str) -> RatingCase:
        intent = fields.resolved(vocabulary.intent, "intent") if vocabulary else fields.optional("intent")
        language = fields.resolved(vocabulary.language, "language") if vocabulary else fields.optional("language")
        return RatingCase(
            id=fields.identifier(default_id),
            prompt=fields.text("prompt"),
            response=fields.text("response", blank=True),
            rating=fields.rating("rating", low, high),
            group=fields.optional("group", intent or "all").strip(),
            reference=fields.optional("reference"),
            intent=intent.strip(),
            language=language.strip(),
        )

    cases, sha256 = read_own(
        path, (*_OWN_RATINGS_REQUIRED, *_URS_REQUIRED) if vocabulary else _OWN_RATINGS_REQUIRED, build
    )
    return RatingData(name, sha256, scale, cases)


_PREFERENCE_BENCH_LABELS: Mapping[str, Preference] = {"a": "a", "b": "b"}


def load_preference_bench() -> PairData:
    """Load the pairs of `judge_bench/preference_collection_ood_test.json`.

    Rows, in a JSON list or one a line, are those of prometheus-eval, with the columns `chosen_instruction` and
    `rejected_instruction`, or those of the set on Hugging Face, with `orig_instruction`, `orig_response_A`,
    `orig_response_B` and `orig_preference` (`A` or `B`). Written against these published schemas, not run on the
    real file.

    Returns:
        The pairs in the order of the file, in one group. Of a chosen and a rejected response, the id decides which
        one comes first.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """
    cases, sha256 = read_published(PREFERENCE_BENCH, _preference_bench_case, "preference_bench")
    return PairData("preference_bench", sha256, cases)


def _preference_bench_case(fields: Fields, row_id: str) -> PairCase:
    if not fields.has("orig_preference"):
        return wrapped_pair(fields, row_id, "all")
    return PairCase(
        id=row_id,
        prompt=fields.text("orig_instruction"),
        response_a=fields.text("orig_response_A", blank=True),
        response_b=fields.text("orig_response_B", blank=True),
        label=fields.label("orig_preference", _PREFERENCE_BENCH_LABELS),
        group="all",
    )


def load_vicuna() -> RatingData:
    """Load the 320 responses.

    Returns:
        The responses in the order of the file, grouped by category; the rating is the mean of three by GPT-4.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """
    cases, sha256 = read_published(VICUNA, _vicuna_case, "vicuna")
    return RatingData("vicuna", sha256, SCALE, cases)


def _vicuna_case(fields: Fields, row_id: str) -> RatingCase:
    return wrapped_rating(fields, row_id, "gpt4_score", SCALE, fields.text("category"))


PAIR_BENCHES: Mapping[str, Callable[[], PairData]] = MappingProxyType(
    {
        "hhh": load_hhh,
        "llmbar": load_llmbar,
        **{source.name: partial(load_llmbar, subset) for subset, source in LLMBAR.items()},
        "autoj": load_autoj,
        "autoj/no_ties": partial(load_autoj, ties=False),
        "preference_bench": load_preference_bench,
        "alpaca_eval": load_alpaca_eval,
    }
)
"""Loaders of published pairs by name, a subset by `name/subset`."""

RATING_BENCHES: Mapping[str, Callable[[], RatingData]] = MappingProxyType(
    {
        "vicuna": load_vicuna,
        "flask": load_flask,
        "feedback_bench": load_feedback_bench,
        "mt_bench": load_mt_bench,
    }
)
"""Loaders of published ratings by name."""


def load_pairs(bench: str, *, dimension: Callable[[str], str] | None = None) -> PairData:
    """Load labelled pairs by name or path.

    Args:
        bench: A name in `PAIR_BENCHES`, or the path of a `.csv` or `.jsonl` file; see `load_own_pairs`.
        dimension: Turns the name of a dimension in a user's file into that of a taxonomy; see `load_own_pairs`.

    Raises:
        InputError: If there is no such bench, its file cannot be had, or a row is faulty.
    """
    if bench in PAIR_BENCHES:
        return PAIR_BENCHES[bench]()
    return load_own_pairs(_own(bench, PAIR_BENCHES), bench, dimension=dimension)


def load_ratings(
    bench: str, *, scale: tuple[float, float] | None = None, vocabulary: Vocabulary | None = None
) -> RatingData:
    """Load rated responses by name or path.

    Args:
        bench: A name in `RATING_BENCHES`, or the path of a `.csv` or `.jsonl` file; see `load_own_ratings`.
        scale: Lowest and highest possible rating of a user's file, for which it must be given; a published bench
            has its own.
        vocabulary: How intents and languages in a user's file become ids of a rubric; a published bench has none.

    Raises:
        InputError: If there is no such bench, its file cannot be had, a row is faulty, or an argument does not fit.
    """
    if bench not in RATING_BENCHES:
        path = _own(bench, RATING_BENCHES)
        if scale is None:
            raise InputError(f"scale: '{bench}' needs one, lowest and highest possible rating")
        return load_own_ratings(path, bench, scale, vocabulary=vocabulary)
    if vocabulary is not None:
        raise InputError(f"'{bench}' has no intents and languages; give a file of your own with these columns")
    data = RATING_BENCHES[bench]()
    if scale is not None and scale != data.scale:
        raise InputError(f"scale: '{bench}' has its own, {data.scale[0]:g} to {data.scale[1]:g}")
    return data


def _own(bench: str, published: Mapping[str, object]) -> Path:
    if not bench.lower().endswith(READABLE):
        allowed = choices(list(published))
        raise InputError(f"unknown bench '{bench}'; allowed: {allowed}, or the path of a .csv or .jsonl file")
    return Path(bench).expanduser()
