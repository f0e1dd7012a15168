"""Benchmarks of judges: published files, their rows, and files of the user."""

import csv
import hashlib
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.datasets.conftest import Publish, WriteRows
from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.datasets import (
    PAIR_BENCHES,
    RATING_BENCHES,
    SOURCES,
    PairCase,
    PairData,
    RatingCase,
    RatingData,
    Vocabulary,
    load_md_eval,
    load_pairs,
    load_ratings,
)
from urs_inspect.datasets._benches import Unwrapped, assign_sides, unwrap
from urs_inspect.datasets._sources import sha256_of
from urs_inspect.rubrics import Rubric
from urs_inspect.rubrics._taxonomy import load_taxonomy

# Texts are wrapped like in the files of prometheus-eval.
TASK = "###Task Description:\nRate what stands below from 1 to 5.\n\n"
RUBRICS = "###Score Rubrics:\n[Is it good?]\nScore 1: No.\nScore 5: Yes.\n\n###Feedback: "
PROMPT = "###The instruction to evaluate:"
RESPONSE = "###Response to evaluate:"
REFERENCE = "###Reference Answer (Score 5):"


def wrap(prompt: str, response: str, reference: str | None = None) -> str:
    shown = "" if reference is None else f"{REFERENCE}\n{reference}\n\n"
    return f"{TASK}{PROMPT}\n{prompt}\n\n{RESPONSE}\n{response}\n\n{shown}{RUBRICS}"


def load(bench: str) -> PairData | RatingData:
    if bench == "md_eval":
        taxonomy = load_taxonomy()
        return load_md_eval(taxonomy.dimension, taxonomy.scenarios)
    return load_ratings(bench) if bench in RATING_BENCHES else load_pairs(bench)


def changed(row: dict[str, object], **changes: object) -> dict[str, object]:
    """The row with the changes; `...` leaves a column out."""
    return {key: value for key, value in {**row, **changes}.items() if value is not ...}


# --- sides and wrapped instructions ---


@pytest.mark.parametrize(
    ("case_id", "better"),
    # First bytes of the SHA-256 of the ids: 14, c7, a2, 3b; an odd one puts the better response
    # second.
    [("hhh_0001", "a"), ("x_0001", "b"), ("x_0002", "a"), ("alpaca_eval_0001", "b")],
)
def test_the_side_depends_on_the_id_alone(case_id: str, better: str) -> None:
    assert assign_sides(case_id, "good", "bad").better == better
    assert assign_sides(case_id, "bad", "good").better == better


@given(case_id=st.text(st.characters(exclude_categories=["Cs"])), better=st.text(), worse=st.text())
def test_the_label_points_at_the_better_response(case_id: str, better: str, worse: str) -> None:
    sides = assign_sides(case_id, better, worse)
    assert (sides.response_a, sides.response_b) == (
        (better, worse) if sides.better == "a" else (worse, better)
    )


def test_sides_are_balanced() -> None:
    # 10,000 fair coins have a standard deviation of sqrt(10,000 / 4) = 50; four of them are 200.
    firsts = sum(
        assign_sides(f"case_{number:05d}", "good", "bad").better == "a" for number in range(10_000)
    )
    assert abs(firsts - 5000) < 200


texts = st.text(max_size=200).filter(lambda text: "###" not in text and text.strip())


@given(prompt=texts, response=texts, reference=st.none() | texts)
@example(
    prompt="# A\n\n### Score\n\nwhat?",
    response="###Answer:\n\n1.\n\n###Feedback: fine\nScore 5",
    reference=None,
)
@example(prompt="Why?", response="", reference=None)
def test_wrapped_texts_come_out_without_their_edges(
    prompt: str, response: str, reference: str | None
) -> None:
    assert unwrap(wrap(prompt, response, reference)) == Unwrapped(prompt.strip(), response.strip())


@pytest.mark.parametrize(
    ("instruction", "error"),
    [
        ("Why?", f"has the heading '{PROMPT}' 0 times, must have it once"),
        (
            wrap("p", "r").replace(RUBRICS, ""),
            "has the heading '###Score Rubrics:' 0 times, must have it once",
        ),
        # A response that imitates a heading: where it ends is not certain, so it is not guessed.
        (
            wrap("p", f"r\n\n{RESPONSE}\nbetter"),
            f"has the heading '{RESPONSE}' 2 times, must have it once",
        ),
        (
            wrap("p", f"r\n\n{REFERENCE}\nbetter", "x"),
            f"has the heading '{REFERENCE}' 2 times, must have it once",
        ),
        (
            f"{RESPONSE}\nr\n\n{PROMPT}\np\n\n{RUBRICS}",
            f"must have the headings in the order: {PROMPT}, {RESPONSE}, ",
        ),
        (wrap(" \n", "r"), f"nothing stands under the heading '{PROMPT}'"),
    ],
)
def test_an_instruction_of_another_form_is_refused(instruction: str, error: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(error)}"):
        unwrap(instruction)


# --- rows of published files ---

AUTOJ: dict[str, object] = {
    "scenario": "chitchat", "label": 0, "prompt": "Hi", "response 1": "Hello", "response 2": ""
}  # fmt: skip
CHOSEN: dict[str, object] = {
    "chosen_instruction": wrap("Why?", "good", "best"), "rejected_instruction": wrap("Why?", "bad", "best")
}  # fmt: skip
HHH = {**CHOSEN, "source": "other"}
LLMBAR: dict[str, object] = {
    "input": "Why?",
    "output_1": "Because.",
    "output_2": "It is so.",
    "label": 2,
}
MD_EVAL: dict[str, object] = {
    "prompt": "Why?", "response_a": "Because.", "response_b": "It is so.", "winner": "model_b",
    "scenario": "chitchat", "annotation": {"Clarity": "model_a", "Logic": "tie"},
}  # fmt: skip
FLASK: dict[str, object] = {
    "criteria": "Logic", "instruction": wrap("Why?", "So.", "x"), "human_score": [5, 2, 2], "gpt4_score": [1]
}  # fmt: skip
FEEDBACK: dict[str, object] = {"instruction": wrap("Why?", "So.", "x"), "gpt4_score": 4}
VICUNA: dict[str, object] = {
    "category": "generic", "instruction": wrap("Why?", "So.", "x"), "gpt4_score": [5, 4, 4]
}  # fmt: skip


def dialogue(opening: str, reply: str, last: str) -> dict[str, object]:
    text = (
        f"Continue this dialogue.\nUser: {opening}\n\nAssistant:{reply}\n\nUser:"
        f" {last}\n\nAssistant:"
    )
    return {"category": "writing", "instruction": wrap(text, "Yes.", "So."), "gpt4_score": [3]}


# First bytes of hashes, an odd one puts the better response second: hhh_0001 14,
# preference_bench_0001 35, _0002 e6, alpaca_eval_0001 3b, _0002 79, _0003 69.
CASES: list[tuple[str, list[dict[str, object]], list[tuple[object, ...]]]] = [
    ("hhh", [HHH], [("Why?", "good", "bad", "a", "other")]),
    (
        "autoj",
        [changed(AUTOJ, label=label) for label in (0, 1, 2)],
        [("Hi", "Hello", "", label, "chitchat") for label in ("a", "b", "tie")],
    ),
    (
        "llmbar/Manual",
        [LLMBAR, changed(LLMBAR, label=1, output_2="")],
        [("Why?", "Because.", "It is so.", "b", "Manual"), ("Why?", "Because.", "", "a", "Manual")],
    ),
    (
        "preference_bench",
        [CHOSEN, CHOSEN],
        [("Why?", "bad", "good", "b", "all"), ("Why?", "good", "bad", "a", "all")],
    ),
    (
        "alpaca_eval",
        [changed(CHOSEN, tie=0), changed(CHOSEN, tie=1), CHOSEN],
        [("Why?", "bad", "good", label, "all") for label in ("b", "tie", "b")],
    ),
    (
        "alpaca_eval",
        [changed(CHOSEN, rejected_instruction=wrap("Why?", ""), dataset="koala")],
        [("Why?", "", "good", "b", "koala")],
    ),
    (
        "md_eval",
        [MD_EVAL, changed(MD_EVAL, annotation={"Attractiveness": "model_b"})],
        [
            ("Why?", "Because.", "It is so.", "b", "chitchat", {"Clarity": "a", "Logic": "tie"}),
            ("Why?", "Because.", "It is so.", "b", "chitchat", {"Engagement": "b"}),
        ],
    ),
    # (5 + 2 + 2) / 3 = 3, (4 + 5) / 2 = 4.5
    (
        "flask",
        [FLASK, changed(FLASK, criteria=..., human_score=["4", "5"])],
        [("Why?", "So.", 3, "Logic"), ("Why?", "So.", 4.5, "all")],
    ),
    ("feedback_bench", [FEEDBACK], [("Why?", "So.", 4, "all")]),
    (
        "vicuna",
        [VICUNA, changed(VICUNA, gpt4_score=[1], category="math")],
        [("Why?", "So.", 13 / 3, "generic"), ("Why?", "So.", 1, "math")],
    ),
]


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize(("bench", "rows", "expected"), CASES, ids=[case[0] for case in CASES])
def test_rows_become_cases(
    bench: str,
    rows: list[dict[str, object]],
    expected: list[tuple[object, ...]],
    lines: bool,
    publish: Publish,
) -> None:
    path = publish(bench, "\n".join(map(json.dumps, rows)) if lines else rows)
    data = load(bench)
    kind: Any = PairCase if isinstance(data, PairData) else RatingCase
    prefix = bench.lower().replace("/", "_")
    assert data.cases == tuple(
        kind(f"{prefix}_{n:04d}", *values) for n, values in enumerate(expected, start=1)
    )
    assert (data.name, data.sha256, data.skipped) == (bench, sha256_of(path), ())
    if isinstance(data, RatingData):
        assert data.scale == (1, 5)


def test_rows_that_are_no_case_are_skipped_and_move_no_id(publish: Publish) -> None:
    publish("md_eval", [changed(MD_EVAL, response_a=None, response_b=None), MD_EVAL])
    data = load("md_eval")
    assert [case.id for case in data.cases] == ["md_eval_0002"]
    assert data.skipped == (Telling("md_eval_0001: ... null"),)
    publish("autoj", [changed(AUTOJ, label=label) for label in (2, 1)])
    assert [case.id for case in load_pairs("autoj/no_ties").cases] == ["autoj_0002"]


def test_the_cluster_of_a_dialogue_is_what_the_user_says(publish: Publish) -> None:
    replies = [
        ("Why?\n\nTell me.", "So.", "And then?"),
        ("Why?\n\nTell me.", "Because.\n\nUser: is.", "And then?"),
    ]
    publish("mt_bench", [dialogue(*texts) for texts in (*replies, ("How?", "So.", "Shorter."))])
    clusters = [case.cluster for case in load_ratings("mt_bench").cases]
    assert clusters == [*["Why?\n\nTell me.\n\nAnd then?"] * 2, "How?\n\nShorter."]


def test_all_of_llmbar_is_one_benchmark_with_a_hash_of_the_hashes(publish: Publish) -> None:
    counts = {"Natural": 100, "Neighbor": 134, "GPTInst": 92, "GPTOut": 47, "Manual": 46}
    paths = [publish(f"llmbar/{subset}", [LLMBAR] * count) for subset, count in counts.items()]
    data = load_pairs("llmbar")
    assert Counter(case.group for case in data.cases) == counts  # 419
    assert len({case.id for case in data.cases}) == 419
    assert data.sha256 == hashlib.sha256("".join(map(sha256_of, paths)).encode()).hexdigest()
    assert data.name == "llmbar"


INVALID = [
    ("alpaca_eval", changed(CHOSEN, tie=2), "'tie': unknown label 2; allowed: 0, 1"),
    ("autoj", changed(AUTOJ, label=3), "'label': unknown label 3; allowed: 0, 1, 2"),
    ("autoj", changed(AUTOJ, label=False), "'label': unknown label false; allowed: 0, 1, 2"),
    ("autoj", changed(AUTOJ, prompt=""), "'prompt': empty"),
    ("autoj", changed(AUTOJ, scenario=None), "'scenario': must be text, is null"),
    (
        "feedback_bench",
        changed(FEEDBACK, gpt4_score=7),
        "'gpt4_score': must be a number from 1 to 5",
    ),
    (
        "feedback_bench",
        changed(FEEDBACK, gpt4_score="good"),
        "'gpt4_score': must be a number from 1 to 5, is ",
    ),
    ("feedback_bench", {}, "'instruction': missing; column 'gpt4_score': missing"),
    (
        "flask",
        changed(FLASK, human_score=[True]),
        "'human_score': must be a number from 1 to 5, is [true]",
    ),
    ("flask", changed(FLASK, criteria=7), "'criteria': must be text, is 7"),
    (
        "hhh",
        changed(HHH, source="x"),
        "'source': unknown source 'x'; allowed: helpful, harmless, honest, other",
    ),
    ("hhh", changed(HHH, chosen_instruction="good"), "'chosen_instruction': has the heading "),
    (
        "hhh",
        changed(HHH, rejected_instruction=wrap("Who?", "bad")),
        "'rejected_instruction': has another prompt than ",
    ),
    ("llmbar/Manual", changed(LLMBAR, label=0), "'label': unknown label 0; allowed: 1, 2"),
    ("mt_bench", VICUNA, "'instruction': holds no dialogue in which the user speaks twice"),
    (
        "preference_bench",
        {},
        "'chosen_instruction': missing; column 'rejected_instruction': missing",
    ),
    (
        "vicuna",
        changed(VICUNA, gpt4_score=[5, 6, 4]),
        "'gpt4_score': must be a number from 1 to 5, is [5, 6, ",
    ),
    (
        "md_eval",
        changed(MD_EVAL, annotation={"Clarity": "c"}),
        "'annotation': 'Clarity': unknown label \"c\"; allowed: ",
    ),
    ("md_eval", changed(MD_EVAL, winner=...), "'winner': missing; allowed: model_a, model_b, tie"),
    (
        "md_eval",
        changed(MD_EVAL, annotation={"Beauty": "tie"}),
        "'annotation': unknown dimension 'Beauty'; allowed: ",
    ),
    (
        "md_eval",
        changed(MD_EVAL, annotation={"Engagement": "tie", "Attractiveness": "tie"}),
        "'annotation': 'Attr",
    ),
    (
        "md_eval",
        changed(MD_EVAL, annotation="none"),
        "'annotation': must be an object of names and labels, is ",
    ),
    (
        "md_eval",
        changed(MD_EVAL, scenario="x"),
        "'scenario': unknown scenario 'x'; allowed: writing_legal_document, ",
    ),
    ("md_eval", changed(MD_EVAL, response_b=None), "'response_b': must be text, is null"),
    ("md_eval", changed(MD_EVAL, response_a=...), "'response_a': missing"),
]


@pytest.mark.parametrize(("bench", "row", "error"), INVALID)
def test_an_invalid_row_is_named_with_what_is_allowed(
    bench: str, row: object, error: str, publish: Publish
) -> None:
    good = next(
        rows[0]
        for name, rows, _ in [*CASES, ("mt_bench", [dialogue("a", "b", "c")], [])]
        if name == bench
    )
    path = publish(bench, [good, row, good])
    with pytest.raises(InputError) as caught:
        load(bench)
    [message] = str(caught.value).splitlines()
    assert message.startswith(f"{path}: row 2: column {error}")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("[]", "no usable case"),
        ("", "no usable case"),
        ("[{]", "not JSON"),
        (["row"], "row 1: not a JSON object"),
    ],
)
def test_a_file_without_cases_is_refused(content: object, error: str, publish: Publish) -> None:
    path = publish("md_eval", content)
    with pytest.raises(InputError, match=f"^{re.escape(str(path))}: {error}"):
        load("md_eval")


# --- benchmarks by name ---


@pytest.mark.parametrize(
    ("read", "known", "unknown"),
    [
        (
            load_pairs,
            PAIR_BENCHES,
            ("nope", "HHH", "llmbar/natural", "vicuna", "md_eval", "pairs.yaml", ""),
        ),
        (load_ratings, RATING_BENCHES, ("nope", "Vicuna", "hhh", "ratings.tsv")),
    ],
)
def test_an_unknown_benchmark_is_refused_with_the_known_ones(
    read: Callable[[str], object], known: Collection[str], unknown: tuple[str, ...]
) -> None:
    for bench in unknown:
        with pytest.raises(InputError) as caught:
            read(bench)
        allowed = f"{', '.join(known)}, or the path of a .csv or .jsonl or .json file"
        assert str(caught.value) == f"unknown benchmark '{bench}'; allowed: {allowed}"


def test_every_benchmark_has_a_file_of_its_name() -> None:
    files = set(SOURCES) - {"urs", "md_eval", "real_judges/triviaqa"}
    of_parts = {"llmbar", "case_study", "judge_bench", "critique_llm", "critique_llm_ratings"}
    names = set(PAIR_BENCHES) | set(RATING_BENCHES)
    assert files == names - of_parts - {"autoj/no_ties"}


@pytest.mark.data
@pytest.mark.parametrize(
    ("bench", "pairs", "decided", "longest", "skipped"),
    [
        ("fair_eval", 66, 66, 39, 0),
        ("llm_eval_2", 200, 200, 121, 0),
        ("mt_bench_people", 200, 200, 136, 0),
        ("case_study", 315, 315, 102, 0),
        ("panda_lm", 993, 888, 599, 6),
        ("judge_bench", 620, 620, 279, 0),
        ("critique_llm", 200, 200, 104, 0),
    ],
)
def test_label_sets_of_people_and_verified_ones(
    bench: str, pairs: int, decided: int, longest: int, skipped: int, data_dir: Path
) -> None:
    """`longest` is how often the longer response is the better one, counted beside the package."""
    data = load_pairs(bench)
    assert len(data.cases) == len({case.id for case in data.cases}) == pairs
    assert len(data.skipped) == skipped
    longer = {True: "a", False: "b"}
    found = [case for case in data.cases if case.label != "tie"]
    assert len(found) == decided
    right = [
        case
        for case in found
        if len(case.response_a) != len(case.response_b)
        and longer[len(case.response_a) > len(case.response_b)] == case.label
    ]
    assert len(right) == longest
    assert data.labels == ("right answers, verified" if bench == "judge_bench" else "people")


@pytest.mark.data
def test_ratings_by_people_in_chinese(data_dir: Path) -> None:
    data = load_ratings("critique_llm_ratings")
    assert len(data.cases) == 200 and data.labels == "people"
    assert {case.rating for case in data.cases} <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert sum(bool(case.reference) for case in data.cases) == 100


def test_arguments_that_do_not_fit_a_published_benchmark_are_refused(publish: Publish) -> None:
    publish("flask", [FLASK])
    assert len(load_ratings("flask", scale=(1, 5)).cases) == 1
    with pytest.raises(InputError, match=r"^scale: 'flask'.*1 to 5$"):
        load_ratings("flask", scale=(1, 10))
    with pytest.raises(InputError, match=r"^'flask' has no intents"):
        load_ratings("flask", vocabulary=Vocabulary(str, str))


# --- a user's pairs ---

OWN: dict[str, object] = {
    "prompt": "Why?",
    "response_a": "Because.",
    "response_b": "It is so.",
    "label": "a",
}
LABELS = "allowed: a, b, tie, model_a, model_b, 1, 2"


def own(path: Path, taxonomy: bool = False) -> PairData:
    return load_pairs(str(path), dimension=load_taxonomy().dimension if taxonomy else None)


def error_of(path: Path, taxonomy: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        own(path, taxonomy)
    return str(caught.value)


def test_a_file_is_named_by_its_path_and_numbers_its_cases(
    write_rows: WriteRows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_rows(
        "night shift.jsonl",
        [OWN, changed(OWN, id=" x ", label="tie", group=" hard ", response_b="")],
    )
    data = own(path)
    assert data.cases == (
        PairCase("night shift_0001", "Why?", "Because.", "It is so.", "a", "all"),
        PairCase("x", "Why?", "Because.", "", "tie", "hard"),
    )
    assert (data.name, data.sha256, data.skipped, data.has_ties) == (
        str(path),
        sha256_of(path),
        (),
        True,
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    write_rows("r.JSONL", [OWN_RATING])
    assert load_pairs("~/night shift.jsonl").name == "~/night shift.jsonl"
    assert load_ratings("~/r.JSONL", scale=(1, 10)).name == "~/r.JSONL"


def test_labels_have_several_spellings(write_rows: WriteRows) -> None:
    labels = {"B": "b", " Tie ": "tie", "model_a": "a", "Model_B": "b", 1: "a", 2.0: "b", "1": "a"}
    lines = write_rows("my.jsonl", [changed(OWN, label=label) for label in labels])
    rows = "".join(f"Why?,Because.,,{label}\n" for label in labels).replace("2.0", "2")
    table = write_rows("my.csv", f"prompt,response_a,response_b,label\n{rows}")
    for path in (lines, table):
        assert [case.label for case in own(path).cases] == list(labels.values())


def test_dimensions_may_be_labelled_too(write_rows: WriteRows) -> None:
    dimensions = {"Attractiveness": "model_b", "my own": 1}
    lines = write_rows("my.jsonl", [changed(OWN, dimensions=dimensions)])
    out = io.StringIO(newline="")
    csv.writer(out).writerows([[*OWN, "dimensions"], [*OWN.values(), json.dumps(dimensions)]])
    for path in (lines, write_rows("my.csv", out.getvalue())):
        assert own(path).cases[0].dimensions == {"Attractiveness": "b", "my own": "a"}
    path = write_rows("one.jsonl", [changed(OWN, dimensions={"Attractiveness": "tie"})])
    assert own(path, taxonomy=True).cases[0].dimensions == {"Engagement": "tie"}
    message = error_of(lines, taxonomy=True)
    assert tells(message, f"{lines}: line 1: column 'dimensions': ... 'my own'; allowed: ")
    assert all(dimension in message for dimension in load_taxonomy().dimensions)


@pytest.mark.parametrize("blank", [..., None, "", " "], ids=repr)
def test_optional_columns_may_be_blank(blank: object, write_rows: WriteRows) -> None:
    path = write_rows("my.jsonl", [changed(OWN, id=blank, group=blank, dimensions=blank)])
    assert own(path).cases == (PairCase("my_0001", "Why?", "Because.", "It is so.", "a", "all"),)


OWN_INVALID = [
    *(
        ({"label": label}, f"'label': unknown label {json.dumps(label)}; {LABELS}")
        for label in ("c", 0, 1.5, True, None)
    ),
    ({"label": ...}, f"'label': missing; {LABELS}"),
    ({"response_a": ...}, "'response_a': missing"),
    ({"response_b": None}, "'response_b': must be text, is null"),
    ({"group": 7}, "'group': must be text, is 7"),
    ({"id": "first"}, "'id': 'first' is taken by line 1"),
    ({"dimensions": ["Clarity"]}, "'dimensions': must be an object of names and labels, "),
    ({"dimensions": '{"a": '}, "'dimensions': must be an object of names and labels, "),
    ({"dimensions": {" ": "a"}}, "'dimensions': a name is empty"),
    ({"dimensions": {"a": "a", " a": "b"}}, "'dimensions': ' a' is listed twice"),
    (
        {"prompt": "", "dimensions": {"x": 9}},
        "'prompt': empty; column 'dimensions': 'x': unknown label 9; ",
    ),
]


@pytest.mark.parametrize(("changes", "error"), OWN_INVALID)
def test_an_invalid_row_of_the_user_is_named(
    changes: dict[str, object], error: str, write_rows: WriteRows
) -> None:
    path = write_rows("my.jsonl", [changed(OWN, id="first"), changed(OWN, **changes), OWN])
    message, *advice = error_of(path).splitlines()
    assert message.startswith(f"{path}: line 2: column {error}")
    has_label = "'label': unknown label" in error and changes["label"] is not None
    assert len(advice) == has_label


@pytest.mark.parametrize("column", OWN)
def test_a_column_that_a_csv_header_lacks_is_named(column: str, write_rows: WriteRows) -> None:
    present = [name for name in OWN if name != column]
    path = write_rows("my.csv", f"{','.join(present)}\nx,y,z\n")
    assert tells(error_of(path), f"{path}: line 1: column '{column}' ... {', '.join(present)}")


def test_a_column_that_all_rows_lack_is_named_once_per_file(write_rows: WriteRows) -> None:
    rows = [changed(OWN, label=..., prompt=...)] * 30
    assert error_of(write_rows("my.jsonl", rows)).splitlines() == [
        Telling(
            f"{write_rows('my.jsonl', rows)}: columns 'prompt', 'label' ... all of 30 rows; ... response_a, response_b"
        )
    ]


# --- a user's ratings ---

OWN_RATING: dict[str, object] = {"prompt": "Why?", "response": "Because.", "rating": 7}


def rated(
    path: Path, vocabulary: Vocabulary | None = None, scale: tuple[float, float] | None = (1, 10)
) -> RatingData:
    return load_ratings(str(path), scale=scale, vocabulary=vocabulary)


def rating_error(
    path: Path, vocabulary: Vocabulary | None = None, scale: tuple[float, float] | None = (1, 10)
) -> str:
    with pytest.raises(InputError) as caught:
        rated(path, vocabulary, scale)
    return str(caught.value)


def test_rated_rows_become_cases(write_rows: WriteRows) -> None:
    full = changed(
        OWN_RATING,
        id=9,
        group="g",
        reference=" So.\n",
        intent="anything",
        language="fr",
        rating="1",
    )
    path = write_rows("my.jsonl", [changed(OWN_RATING, response=""), full])
    data = rated(path)
    assert data.cases == (
        RatingCase("my_0001", "Why?", "", 7, "all"),
        RatingCase("9", "Why?", "Because.", 1, "g", " So.\n", "anything", "fr"),
    )
    assert (data.name, data.sha256, data.scale, data.skipped) == (
        str(path),
        sha256_of(path),
        (1, 10),
        (),
    )
    path = write_rows("my.csv", "rating,response,prompt,group\n7,Because.,Why?,\n-0.5,No.,Who?,g\n")
    assert rated(path, scale=(-1, 7)).cases == (
        RatingCase("my_0001", "Why?", "Because.", 7, "all"),
        RatingCase("my_0002", "Who?", "No.", -0.5, "g"),
    )


def test_ratings_are_numbers_of_the_scale_or_lists_of_them(write_rows: WriteRows) -> None:
    given: list[tuple[object, float]] = [
        (1, 1), (10, 10), (7.25, 7.25), ("7.25", 7.25), (" 8 ", 8), ([6, 9, 9], 8), (["6", 7], 6.5)
    ]  # fmt: skip
    path = write_rows("my.jsonl", [changed(OWN_RATING, rating=rating) for rating, _ in given])
    assert [case.rating for case in rated(path).cases] == [value for _, value in given]


def test_a_rating_outside_the_scale_is_named_with_the_scale(write_rows: WriteRows) -> None:
    bad = [
        0,
        11,
        0.99,
        -7,
        math.nan,
        math.inf,
        "",
        "high",
        None,
        True,
        [],
        [7, 11],
        [7, None],
        {"a": 7},
        10**400,
    ]
    path = write_rows("my.jsonl", [changed(OWN_RATING, rating=rating) for rating in bad])
    [message] = rating_error(path).splitlines()
    assert tells(message, f"{path}: lines 1, 2, 3 ... 12 more: column 'rating': ... 1 to 10, is 0")
    for number, rating in enumerate(bad):
        path = write_rows(f"one{number}.jsonl", [OWN_RATING, changed(OWN_RATING, rating=rating)])
        assert tells(rating_error(path), f"{path}: line 2: column 'rating': ... 1 to 10, is ")


def test_invalid_rated_rows_are_named(write_rows: WriteRows) -> None:
    faults: list[tuple[dict[str, object], str]] = [
        ({"rating": ...}, "'rating': missing"),
        ({"response": None}, "'response': must be text, is null"),
        ({"prompt": " "}, "'prompt': empty"),
        ({"reference": 7}, "'reference': must be text, is 7"),
        ({"intent": ["leisure"]}, "'intent': must be text, is [\"leisure\"]"),
    ]
    path = write_rows("my.jsonl", [changed(OWN_RATING, **changes) for changes, _ in faults])
    expected = [
        f"{path}: line {number}: column {error}"
        for number, (_, error) in enumerate(faults, start=1)
    ]
    assert rating_error(path).splitlines() == expected


def test_intents_and_languages_become_ids_of_the_rubric_and_intents_groups(
    write_rows: WriteRows, vocabulary: Vocabulary, rubric: Rubric
) -> None:
    rows = [
        changed(OWN_RATING, intent="Ask_for_Advice", language="CN"),
        changed(OWN_RATING, intent="leisure", language="en", group="mine"),
    ]
    assert rated(write_rows("my.jsonl", rows), vocabulary).cases == (
        RatingCase(
            "my_0001",
            "Why?",
            "Because.",
            7,
            "ask_for_advice",
            intent="ask_for_advice",
            language="zh",
        ),
        RatingCase("my_0002", "Why?", "Because.", 7, "mine", intent="leisure", language="en"),
    )
    rows = [OWN_RATING, changed(OWN_RATING, intent="sport", language="fr")]
    first, second = rating_error(write_rows("my.jsonl", rows), vocabulary).splitlines()
    assert tells(first, "line 1: column 'intent': missing; column 'language': missing")
    assert f"unknown intent 'sport'; allowed: {', '.join(rubric.intents)}" in second
    assert tells(second, "language 'fr'; allowed: en, zh")
    renamed = write_rows("own.jsonl", [changed(OWN_RATING, what="API", language="EN")])
    columns = {"intent": "what", "rating": ["rating"]}
    [case] = load_ratings(str(renamed), scale=(1, 10), vocabulary=vocabulary, columns=columns).cases
    assert (case.intent, case.language, case.group) == ("api", "en", "api")
    table = write_rows("my.csv", "prompt,response,rating\nWhy?,Because.,7\n")
    assert tells(rating_error(table, vocabulary), "line 1: column 'intent' ... prompt")


@pytest.mark.parametrize("scale", [(5, 1), (5, 5), (1, math.inf), (math.nan, 5), None])
def test_a_users_file_needs_a_scale(
    scale: tuple[float, float] | None, write_rows: WriteRows
) -> None:
    message = rating_error(write_rows("my.jsonl", [OWN_RATING]), scale=scale)
    wrong = (
        "needs one, lowest and highest possible rating"
        if scale is None
        else "must have a lowest rating below a "
    )
    assert message.startswith("scale: ") and wrong in message


# --- the published files ---


def raw(data_dir: Path, name: str) -> list[dict[str, Any]]:
    text = (data_dir / SOURCES[name].path).read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = (
        json.loads(text) if text[0] == "[" else [json.loads(row) for row in text.splitlines()]
    )
    return rows


@pytest.mark.data
@pytest.mark.parametrize(
    ("bench", "labels", "groups"),
    [
        ("autoj", {"a": 520, "b": 499, "tie": 373}, [24] * 58),  # 1,392 in 58 scenarios
        ("autoj/no_ties", {"a": 520, "b": 499}, None),  # 1,019
        ("hhh", {"a": 111, "b": 110}, [43, 58, 59, 61]),  # other, harmless, helpful, honest: 221
        ("llmbar/Natural", {"a": 42, "b": 58}, [100]),
        ("llmbar/GPTInst", {"a": 45, "b": 47}, [92]),
        # 350 rows, 8 of them overall ties; the one without responses is a tie. Two scenarios of 5,
        # one of 9, 33 of 10.
        ("md_eval", {"a": 141, "b": 201, "tie": 7}, [5, 5, 9, *[10] * 33]),
    ],
)
def test_published_pairs_are_counted(
    bench: str, labels: dict[str, int], groups: list[int] | None, data_dir: Path
) -> None:
    data = load(bench)
    assert isinstance(data, PairData)
    assert Counter(case.label for case in data.cases) == labels
    assert groups is None or sorted(Counter(case.group for case in data.cases).values()) == groups
    assert (data.name, data.sha256) == (bench, SOURCES[bench.removesuffix("/no_ties")].sha256)
    assert data.has_ties == ("tie" in labels)


@pytest.mark.data
@pytest.mark.parametrize(
    ("bench", "columns"),
    [
        ("autoj", ("prompt", "response 1", "response 2", "scenario")),
        ("llmbar/Natural", ("input", "output_1", "output_2", None)),
        ("llmbar/GPTInst", ("input", "output_1", "output_2", None)),
        ("md_eval", ("prompt", "response_a", "response_b", "scenario")),
    ],
)
def test_published_pairs_hold_their_row_exactly(
    bench: str, columns: tuple[str | None, ...], data_dir: Path
) -> None:
    labels: dict[object, str] = {0: "a", 1: "b", 2: "tie"} if bench == "autoj" else {1: "a", 2: "b"}
    labels |= {"model_a": "a", "model_b": "b", "tie": "tie"}
    rows, data = raw(data_dir, bench), load(bench)
    assert isinstance(data, PairData)
    for case in data.cases:
        row = rows[int(case.id[-4:]) - 1]
        expected = [
            bench.partition("/")[2] if column is None else row[column] for column in columns
        ]
        assert [case.prompt, case.response_a, case.response_b, case.group] == expected
        assert case.label == labels[row["winner" if bench == "md_eval" else "label"]]
        assert list(case.dimensions.values()) == [
            labels[label] for label in row.get("annotation", {}).values()
        ]
        assert len(case.dimensions) == len(row.get("annotation", {}))


@pytest.mark.data
def test_facts_about_the_published_pairs(data_dir: Path) -> None:
    autoj = load_pairs("autoj").cases
    assert len({case.prompt for case in autoj}) == 1182
    assert [case.id for case in autoj if not case.response_b] == [
        "autoj_0569"
    ]  # a model that answered nothing
    assert load_pairs("autoj/no_ties").cases == tuple(case for case in autoj if case.label != "tie")


@pytest.mark.data
def test_facts_about_md_eval(data_dir: Path) -> None:
    data = load("md_eval")
    assert isinstance(data, PairData)
    # 4,475 labels: a 1,468, b 1,780, tie 1,227, of which 13 belong to the row without responses.
    labels = Counter(label for case in data.cases for label in case.dimensions.values())
    assert labels == {"a": 1468, "b": 1780, "tie": 1214}
    assert data.skipped == (Telling("md_eval_0291: ... null"),)
    assert [case.id for case in data.cases] == [
        f"md_eval_{n:04d}" for n in range(1, 351) if n != 291
    ]
    assert {case.group for case in data.cases} == set(load_taxonomy().scenarios)
    names = Counter(name for case in data.cases for name in case.dimensions)
    assert set(names) == set(load_taxonomy().dimensions)
    assert names["Engagement"] == 10  # the file calls it Attractiveness


@pytest.mark.data
def test_facts_about_hhh(data_dir: Path) -> None:
    data = load_pairs("hhh")
    longer = 0
    for case, row in zip(data.cases, raw(data_dir, "hhh"), strict=True):
        texts = (case.response_a, case.response_b)
        chosen, rejected = texts if case.label == "a" else texts[::-1]
        longer += len(chosen) > len(rejected)
        for response, column in (
            (chosen, "chosen_instruction"),
            (rejected, "rejected_instruction"),
        ):
            # What is left of the instruction without prompt and response is the frame: headings and
            # rubrics.
            assert "###" not in case.prompt + response
            assert (
                f"evaluate:\n{case.prompt}\n\n###Response to evaluate:\n{response}\n\n###Score"
                in row[column]
            )
    assert longer == 139  # 62.9 %
    # A judge that always answers `a` must not look good: half of n, give or take three deviations
    # sqrt(n) / 2.
    for group in ("helpful", "harmless", "honest", "other"):
        labels = [case.label for case in data.cases if case.group == group]
        assert abs(labels.count("a") - len(labels) / 2) < 1.5 * len(labels) ** 0.5


@pytest.mark.data
@pytest.mark.parametrize(("bench", "groups", "prompts"), [("vicuna", 9, 80), ("mt_bench", 8, 318)])
def test_published_ratings_are_counted(
    bench: str, groups: int, prompts: int, data_dir: Path
) -> None:
    data = load_ratings(bench)
    assert [case.id for case in data.cases] == [f"{bench}_{n:04d}" for n in range(1, 321)]
    assert (data.name, data.sha256, data.scale) == (bench, SOURCES[bench].sha256, (1, 5))
    assert len({case.group for case in data.cases}) == groups
    # The prompts of MT-Bench hold the models' own first replies, and two are the same twice.
    assert len({case.prompt for case in data.cases}) == prompts
    clusters = Counter(case.cluster or case.prompt for case in data.cases)
    assert sorted(clusters.values()) == [4] * 80
    assert {case.reference for case in data.cases} == {""}  # the paper shows none


@pytest.mark.data
def test_dialogues_are_unwrapped_whole(data_dir: Path) -> None:
    for case, row in zip(load_ratings("mt_bench").cases, raw(data_dir, "mt_bench"), strict=True):
        assert "###Re" not in case.prompt + case.response
        assert case.prompt.endswith("\n\nAssistant:")
        wrapped = (
            f"{case.prompt} \n\n###Response to evaluate:\n{case.response}\n\n###Reference Answer"
            " (Score 5):"
        )
        assert wrapped in row["instruction"]
        assert case.rating == pytest.approx(sum(row["gpt4_score"]) / 3)


# --- conversations, and columns that would be lost ---

TALK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
RATED: dict[str, object] = {"prompt": "Why?", "response": "Because.", "rating": 3}


def without_prompt(row: dict[str, object], **others: object) -> dict[str, object]:
    return {name: value for name, value in row.items() if name != "prompt"} | others


def test_messages_may_stand_in_place_of_the_prompt(write_rows: WriteRows) -> None:
    [pair] = own(write_rows("pairs.jsonl", [without_prompt(OWN, messages=TALK)])).cases
    [rated] = load_ratings(
        str(write_rows("rated.jsonl", [without_prompt(RATED, messages=TALK)])), scale=(1, 5)
    ).cases
    assert pair.conversation is not None and pair.conversation.query == "Why?"
    for case in (pair, rated):
        assert "[System prompt]\nBe brief.\n\n[User]\nWhy?" in case.prompt


@pytest.mark.parametrize(
    "changes", [{"messages": TALK}, {"system": "Be brief."}, {"image": "a.png"}]
)
def test_a_second_prompt_and_columns_that_change_it_are_refused(
    changes: dict[str, object], write_rows: WriteRows
) -> None:
    [column] = changes
    pairs, rated = (
        write_rows("pairs.jsonl", [{**OWN, **changes}]),
        write_rows("rated.jsonl", [{**RATED, **changes}]),
    )
    with pytest.raises(InputError) as caught:
        load_ratings(str(rated), scale=(1, 5))
    for path, error in ((pairs, error_of(pairs)), (rated, str(caught.value))):
        assert error.startswith(f"{path}: line 1: column '{column}'") and "\n" not in error


@pytest.mark.parametrize(
    ("label", "dimensions", "ties"),
    [
        ("a", {}, False),
        ("tie", {}, True),
        ("b", {"clarity": "a", "depth": "tie"}, True),
        ("a", {"clarity": "b"}, False),
    ],
)
def test_a_judge_may_answer_with_a_tie_where_any_label_is_one(
    label: Any, dimensions: dict[str, Any], ties: bool
) -> None:
    plain = PairCase("1", "Why?", "So.", "No.", "a", "all")
    case = PairCase("2", "Why?", "So.", "No.", label, "all", dimensions)
    assert PairData("x", "0", (plain, case)).has_ties == ties
