"""Arguments of tasks: their types, the decorator that checks them, and what each task refuses."""

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.resources import files
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import pytest
import yaml
from inspect_ai import Task
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.viewer import TaskSamplesView

from tests.servers import ChatServer
from tests.tasks.commands import refused, succeed
from tests.tasks.contests import pool_file
from tests.telling import tells
from urs_inspect import _arguments, tasks
from urs_inspect._arguments import (
    Confidence,
    Cosine,
    Count,
    Flag,
    Lengths,
    Names,
    Natural,
    Paths,
    Samer,
    Scale,
    Similarities,
    SimilarityOptions,
    Temperature,
    Text,
    check,
    checked,
    names,
    one_of,
    required,
    samer_arguments,
)
from urs_inspect._satellites import at, satellites
from urs_inspect._util import InputError
from urs_inspect.tasks._viewer import sample_list
from urs_inspect.tasks.urs import URS_VERSION

WHOLE = "must be a whole number of at least"
PLACES = "must be a path, or paths separated by commas"
NAMES = "must be 'all', a name, or names separated by commas"
BOUNDS = "must be its lowest and highest value, such as 1,5"
Word = Literal["ab", "both"]

READ: list[tuple[Any, object, object]] = [
    (Flag, True, True),
    (Text, "a", "a"),
    (Text | None, None, None),
    (Count, 1, 1),
    (Natural, 0, 0),
    (Count | None, None, None),
    (Confidence, 0.501, 0.501),
    (Temperature | None, 2, 2.0),
    (Names, "a, b", "a, b"),
    (Names, ["a"], ["a"]),
    (Paths, "a, b", ["a", "b"]),
    (Paths, ["a,b"], ["a,b"]),
    (Scale, "1,5", (1.0, 5.0)),
    (Scale, "1-5", (1.0, 5.0)),
    (Scale, [0, 2.5], (0.0, 2.5)),
    (Word, "both", "both"),
    (Samer | None, None, None),
    (Similarities, "lexical", SimilarityOptions(name="lexical")),
]

REFUSED: list[tuple[Any, object, str]] = [
    *(
        (Flag, value, f"x: must be true or false, got {value!r}")
        for value in (1, 0, "maybe", "true", None)
    ),
    *(
        (Text, value, f"x: must be a text, got {value!r}")
        for value in (5, "", " \u200b", None, True, ["a"])
    ),
    *(
        (Count, value, f"x: {WHOLE} 1, got {value!r}")
        for value in (0, -1, True, "3", 2.0, None, [1])
    ),
    (Count | None, "3", f"x: {WHOLE} 1, got '3'"),
    *((Natural, value, f"x: {WHOLE} 0, got {value!r}") for value in (-1, False, "soon")),
    (Confidence, 0.5, "x: must be a number of at least 0.501 and at most 0.9999, got 0.5"),
    (Confidence, 1, "x: must be a number of at least 0.501 and at most 0.9999, got 1"),
    (Confidence, float("nan"), "x: must be a number of at least 0.501 and at most 0.9999, got nan"),
    *(
        (Cosine, value, "x: must be a number above 0 and at most 1")
        for value in (0, 1.5, float("nan"), "0.9", True)
    ),
    *((Temperature, value, "x: must be a number from 0 to 2") for value in ("hot", -1, 2.1, True)),
    *((Names, value, f"x: {NAMES}, got {value!r}") for value in (False, 7, [], [1])),
    *((Paths, value, f"x: {PLACES}, got {value!r}") for value in (3, [], "", ["a", 3], "a,,b")),
    *(
        (Scale, value, f"x: {BOUNDS}, got {value!r}")
        for value in ("five", [1, 3, 5], "1", [1, True], 5)
    ),
    *(
        (Lengths, value, "x: must be numbers and ranges such as 2-20 or 2-9,15")
        for value in (True, 2.5, [False], None)
    ),
    (Word, "ba", "x: unknown value 'ba'; allowed: "),
    (Word | None, 3, "x: unknown value 3; allowed: "),
    (
        Samer,
        7,
        (
            "x: must be a text, or options: model, engine, weights_at, bos, overlong, max_length,"
            " folder, dtype"
        ),
    ),
    (Samer, "", "x: model: must be a text, got ''"),
    (Samer, {}, "x: model: is missing"),
    (Samer, {"model": 7}, "x: model: must be a text, got 7"),
    (
        Samer,
        {"model": "D", "dtype": "half"},
        "x: dtype: unknown value 'half'; allowed: auto, float32, bfloat16, float1",
    ),
    (Samer, {"model": "D", "max_length": True}, f"x: max_length: {WHOLE} 1, got True"),
    (
        Samer,
        {"model": "D", "dtyp": "half"},
        "x: unknown option dtyp; allowed: model, engine, weights_at",
    ),
    (
        Similarities,
        {"name": "openai/m", "base_url": "u"},
        "x: unknown option base_url; allowed: name, url",
    ),
]


@pytest.mark.parametrize(("hint", "value", "expected"), READ)
def test_values_that_fit_are_read(hint: Any, value: object, expected: object) -> None:
    assert check("x", value, hint) == expected


@pytest.mark.satellites
@pytest.mark.parametrize(("hint", "value", "message"), REFUSED)
def test_look_alikes_are_refused_with_name_value_and_what_is_allowed(
    hint: Any, value: object, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        check("x", value, hint)
    assert str(caught.value).startswith(message)


def test_names_become_ids_without_repetition() -> None:
    assert names("all", "x") is None and names(["all"], "x") is None
    assert names("b, a,b", "x", str.upper) == ["B", "A"]

    def find(name: str) -> str:
        raise InputError(f"unknown name '{name}'")

    with pytest.raises(InputError, match=r"x: unknown name 'b' \(or 'all'\)"):
        names("b", "x", find)


@checked
def example(
    size: Count, word: Word = "ab", other: "str | None" = None, samer: Samer | None = None
) -> tuple[object, ...]:
    """The docstring."""
    return size, word, other, samer


def test_the_decorator_keeps_the_signature_and_hands_on_what_was_read() -> None:
    assert list(signature(example).parameters) == ["size", "word", "other", "samer"]
    assert signature(example).parameters["word"].default == "ab"
    assert (example.__name__, example.__doc__) == ("example", "The docstring.")
    assert example(3, "both", "x") == (3, "both", "x", None)


def test_the_argument_samer_is_a_folder_or_an_object_of_options() -> None:
    from urs_inspect.samer._options import SamerOptions

    assert example(3, samer="DIR")[-1] == SamerOptions(model="DIR")
    given = {"model": "DIR", "dtype": "bfloat16"}
    assert example(3, samer=given)[-1] == SamerOptions(model="DIR", dtype="bfloat16")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0}, f"size: {WHOLE} 1, got 0"),
        ({}, "example: ... 'size'; arguments: size, word, other, samer"),
        (
            {"size": 1, "sizes": 2},
            "example: ... 'sizes'; arguments: size, word,",
        ),
        (
            {"size": 1, "dtype": "x"},
            "dtype: ... -T samer='{model: DIR, dtype: ...}'",
        ),
    ],
)
def test_the_decorator_refuses(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        example(**arguments)
    assert tells(caught.value, message)


def test_without_the_folder_of_samer_its_argument_names_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_arguments, "_samer_options", lambda: None)
    with pytest.raises(InputError, match="the folder `samer` of urs_inspect is missing"):
        samer_arguments("DIR", wanted=True, condition="judge=samer")


def test_words_that_only_the_program_knows() -> None:
    allowed = ["a"]
    hint = Annotated[str, one_of(lambda: allowed)]
    allowed.append("b")
    assert check("word", "b", hint) == "b"
    with pytest.raises(InputError, match="word: unknown value 'c'; allowed: a, b"):
        check("word", "c", hint)


# ## Tasks


ADDRESSES = {name: f"tasks:{name}" for name in tasks.__all__}
for _satellite in satellites():
    ADDRESSES.update(_satellite.tasks)


def task_named(name: str) -> Any:
    """The task of that name, of core or a satellite."""
    return at(ADDRESSES[name])


@pytest.mark.parametrize("name", ADDRESSES)
def test_every_task_is_checked_and_has_docs_for_each_argument(name: str) -> None:
    task = task_named(name)
    with pytest.raises(InputError, match="unexpected keyword argument 'nonsense'"):
        task(**dict.fromkeys([*_required(task), "nonsense"], "x"))
    for parameter in signature(task).parameters:
        assert f"        {parameter}: " in task.__doc__, parameter
    assert "s for `urs`" not in task.__doc__  # a user sees one task at a time
    assert len(signature(task).parameters) <= 16


@pytest.mark.parametrize("value", [0, False, "", [], 0.0])
def test_only_what_was_not_given_is_missing(value: object) -> None:
    assert required(value, "bench", "a, b") is value
    with pytest.raises(InputError, match=r"^bench: .*-T bench=.*a, b$"):
        required(None, "bench", "a, b")


def _required(task: Callable[..., Task]) -> list[str]:
    return [name for name, one in signature(task).parameters.items() if one.default is one.empty]


DECLARED: dict[str, Any] = yaml.safe_load(
    (files("urs_inspect") / "eval.yaml").read_text(encoding="utf-8")
)
BENCHES = {"judge_pairwise": "autoj", "judge_rating": "vicuna"}


@pytest.mark.data
@pytest.mark.parametrize("declared", DECLARED["tasks"], ids=lambda declared: declared["name"])
def test_a_task_has_the_version_and_size_that_are_declared(
    declared: dict[str, Any], data_dir: Path
) -> None:
    name = declared["name"]
    task = task_named(name)(**({"bench": BENCHES[name]} if name in BENCHES else {}))
    module = import_module(task_named(name).__module__)
    assert task.version == getattr(module, f"{name.upper()}_VERSION", URS_VERSION)
    assert task.version <= DECLARED["version"]
    assert len(task.dataset) == declared["dataset_samples"]


INTENTS = (
    "factual_qa, solve_professional_problem, text_assistant, api, ask_for_advice, seek_creativity,"
    " leisure"
)
PAIR_TASKS = ("md_eval", "judge_pairwise", "mad")
ROW = {
    "prompt": "P?",
    "response": "R.",
    "rating": 3,
    "group": "g",
    "language": "en",
    "intent": "leisure",
}
BAD: list[tuple[str, Mapping[str, object], str]] = [
    ("urs", {"language": ["en", "fr"]}, "language: unknown language 'fr'; allowed: en, zh"),
    (
        "urs",
        {"dataset": "urs", "language": "fr"},
        "language: unknown language 'fr'; allowed: en, zh (or",
    ),  # before the data is fetched
    ("urs", {"dataset": "urs", "judge_language": "fr"}, "judge_language: unknown language 'fr'"),
    (
        "urs",
        {"dataset": "urs", "intents": "leisure,gossip"},
        f"intents: unknown intent 'gossip'; allowed: {INTENTS}",
    ),
    ("urs", {"dataset": "absent.csv"}, "no data file 'absent.csv'"),
    (
        "urs",
        {"judge_calls": {"attempts": "often"}},
        "judge_calls: attempts: must be a whole number",
    ),
    (
        "urs",
        {"judge_attempts": 3},
        "judge_attempts: is no longer an argument; use -T judge_calls='{attempts: ...}'",
    ),
    (
        "urs",
        {"preflight": False},
        "preflight: is no longer an argument; use the environment variable URS_INSPECT_PREFLIGHT",
    ),
    ("urs", {"dataset": "absent.jsonl"}, "dataset: no data file 'absent.jsonl'"),
    ("urs", {"references": "absent.jsonl"}, "references: no data file 'absent.jsonl'"),
    ("urs", {"references": "absent.eval"}, "references: no log 'absent.eval'"),
    ("urs_probe", {"per_kind": 0}, "per_kind: must be a whole number of at least 1"),
    ("urs", {"rubric": "absent.yaml"}, "absent.yaml"),
    ("urs", {"prompt": "absent.jinja"}, "absent.jinja"),
    ("urs", {"scorer": "samr"}, "scorer: unknown value 'samr'; allowed: judge, samer, both"),
    (
        "urs",
        {"scorer": "samer"},
        "scorer=samer or both needs samer: the folder of a checkpoint, or the address",
    ),
    ("urs", {"samer": "DIR"}, "samer: only with scorer=samer or both"),
    ("urs", {"scorer": "both", "samer": "/absent"}, "samer '/absent': no such folder"),
    (
        "urs",
        {"judge_cache": True},
        "judge_cache: is no longer an argument; use --model-role 'grader={model: <judge>",
    ),
    (
        "urs_addition",
        {"lengths": "2-x"},
        "lengths: must be numbers and ranges such as 2-20 or 2-9,15; got '2-x'",
    ),
    ("urs_addition", {"lengths": []}, "lengths: must be numbers and ranges"),
    ("urs_addition", {"lengths": ""}, "lengths: must be numbers and ranges"),
    ("urs_addition", {"lengths": "9-2"}, "lengths: must be numbers and ranges"),
    ("urs_addition", {"lengths": "1-5"}, "lengths: must be from 2 to 100, got 1"),
    ("urs_addition", {"per_length": 5000}, "per_length: must be from 1 to 1000, got 5000"),
    ("urs_addition", {"language": "fr"}, "language: unknown value 'fr'; allowed: en, zh"),
    (
        "urs_assistants",
        {"assistant": "oracle"},
        "assistant: kind: unknown value 'oracle'; allowed: model, search, rag",
    ),
    ("urs_assistants", {"assistant": "search"}, "assistant: search needs the option search"),
    (
        "urs_assistants",
        {"assistant": {"kind": "rag", "search": "folder:/nowhere/at/all"}},
        "no folder",
    ),
    (
        "urs_assistants",
        {"assistant": {"kind": "search", "search": "web_search:bing"}},
        "allowed: tavily, google, exa",
    ),
    (
        "urs_assistants",
        {"assistant": "translator"},
        "assistant: translator needs the option translator",
    ),
    (
        "urs_assistants",
        {"assistant": {"kind": "translator", "translator": "glossary:none.jsonl"}},
        "no file",
    ),
    (
        "urs_assistants",
        {"assistant": {"search": "folder:x"}},
        "assistant: search: not of the kind",
    ),
    ("urs_assistants", {"cases": 5000}, "cases: 5000 cases of Factual QA"),
    ("urs_assistants", {"cases": "sample_factual_qa_en_1,nope"}, "the data has no case nope"),
    (
        "urs_case_review",
        {"intents": "leisure"},
        "intents: is no longer an argument; use `--sample-id`, or a file of these cases",
    ),
    ("urs_assistants", {"count": 3}, "count: is no longer an argument; use -T cases=<number>"),
    (
        "urs_assistants",
        {"search": "folder:x"},
        "search: is no longer an argument; use -T assistant='{kind: ..., search: ...}'",
    ),
    ("judge_twins", {"judge_language": "en"}, "judge_language: is no longer an argument; use -T"),
    (
        "urs_assistants",
        {"judge_language": "zh"},
        "judge_language: is no longer an argument; use `inspect score LOG --scorer"
        " urs_inspect/intent_judge -S judge_language=...",
    ),
    (
        "urs_assistants",
        {"judge_calls": {"attempts": 3}},
        "judge_calls: is no longer an argument; use `inspect score LOG --scorer",
    ),
    (
        "urs_case_review",
        {"judge_language": "zh"},
        "judge_language: is no longer an argument; use `inspect score LOG --scorer"
        " urs_inspect/case_review -S judge_language=...",
    ),
    ("judge_rating", {"seed": 1}, "seed: is no longer an argument; use `--sample-shuffle"),
    ("urs_case_review", {"seed": 1}, "seed: is no longer an argument; use `--sample-shuffle"),
    ("urs_assistants", {"ids": "a"}, "ids: is no longer an argument; use -T cases=<ids>"),
    ("mad", {"scenario": "coding"}, "scenario: is no longer an argument; use the column scenario"),
    ("urs_crossval", {}, "answers: is required, as -T answers=...; allowed: logs with answers"),
    (
        "urs_crossval",
        {"answers": "x"},
        "references: is required, as -T references=...; allowed: files, logs or 'dataset'",
    ),
    ("md_eval", {"judge": "baseline/best"}, "baseline/copy_overall"),
    ("md_eval", {"scenarios": "small_talk"}, "scenarios: unknown scenario 'small_talk'"),
    (
        "judge_pairwise",
        {"bench": None},
        "bench: is required, as -T bench=...; allowed: hhh, llmbar, llmbar/Natural",
    ),
    ("judge_pairwise", {"bench": "hhh", "judge": "baseline/best"}, "baseline/longest"),
    ("judge_pairwise", {"bench": "absent.jsonl"}, "bench: no data file 'absent.jsonl'"),
    (
        "judge_rating",
        {},
        "bench: is required, as -T bench=...; allowed: vicuna, flask, feedback_bench, mt_bench,",
    ),
    ("judge_rating", {"bench": "bench.jsonl"}, "scale: "),
    (
        "judge_rating",
        {"bench": "bench.jsonl", "scale": "1,5.5"},
        "scale: a judge rates in whole numbers, got 1 to 5.5",
    ),
    (
        "judge_rating",
        {"bench": "bench.jsonl", "scale": "5,1"},
        "scale: must have a lowest rating below a highest",
    ),
    ("judge_rating", {"bench": "bench.jsonl", "rubric": "urs"}, "column 'reference' is empty"),
    *((name, {"judge": "samer"}, "judge=samer or reward_model needs samer") for name in PAIR_TASKS),
    *(
        (name, {"judge": "samer", "samer": "/absent"}, "samer '/absent': no such folder")
        for name in PAIR_TASKS
    ),
    *(
        (name, {"judge": "baseline/first", "samer": "/x"}, "samer: only with judge=samer")
        for name in PAIR_TASKS
    ),
    ("mad", {"k": 99}, "k=99 is more than the 42 instructions of the pool 'sample'"),
    ("mad", {"pool": "sample", "responses": "x"}, "pool: not together with responses"),
    ("mad", {"pool": "absent.jsonl"}, "pool: no data file 'absent.jsonl'"),
    ("mad", {"pool": None, "responses": "absent"}, "responses: no log 'absent'"),
    (
        "mad",
        {"target": {"model": "one", "coarse": "absent"}},
        "target: no file or directory 'absent'",
    ),
    ("mad", {"judge": "baseline/copy_overall"}, "judge: unknown judge 'baseline/copy_overall'"),
    (
        "mad",
        {"selection": {"set_similarity": "median"}},
        "selection: set_similarity: unknown value 'median'; allowed: max, mean",
    ),
    (
        "mad",
        {"selection": {"max_length_ratio": 0.5}},
        "max_length_ratio: must be a number of at least 1",
    ),
    ("mad", {"target": "one"}, "target: coarse: is missing"),
    (
        "mad",
        {"judge": "me"},
        "judge: unknown judge 'me'; allowed: grader, human, samer, reward_model, baseline/",
    ),
    (
        "mad",
        {"judge": "human", "allocation": {"prior": "log.eval"}},
        "prior: allocation=uniform does not look at ratings",
    ),
    ("mad", {"similarity": "magic"}, "unknown similarity 'magic'; allowed: lexical, llm"),
    (
        "mad",
        {"similarity": {"name": "lexical", "url": "u"}},
        "url: only for openai/<model>, not for 'lexical'",
    ),
    (
        "mad",
        {"width": 2},
        "width: is no longer an argument; use -T target='{model: <model>, coarse: <log>, width: ",
    ),
    (
        "mad",
        {"target": {"model": "m", "coarse": "x", "width": 0}},
        "target: width: must be a whole number of at least 1",
    ),
    (
        "mad",
        {"similarity_url": "u"},
        "similarity_url: is no longer an argument; use -T similarity='{name: openai/",
    ),
    (
        "mad",
        {"selection": {"lam": float("nan")}},
        "selection: lam: must be a number of at least 0, got nan",
    ),
    (
        "mad",
        {"selection": "best"},
        "selection: method: unknown value 'best'; allowed: mad, random, kl, cross_entropy",
    ),
    ("mad", {"allocation": "greedy"}, "allocation: rule: unknown value 'greedy'; allowed: "),
    ("mad", {"orders": "random"}, "orders: unknown value 'random'; allowed: ab, seeded, both"),
    ("mad", {"judge_language": "fr"}, "judge_language: unknown value 'fr'; allowed: en, zh"),
    ("mad", {"previous": "absent.eval"}, "previous: no log 'absent.eval'"),
    (
        "mad",
        {"coarse": "absent.eval"},
        "coarse: is no longer an argument; use -T target='{model: <model>, coarse: ...}'",
    ),
    ("mad", {"target": {"coarse": "absent.eval"}}, "target: model: is missing"),
    ("mad", {"lam": 0.5}, "lam: is no longer an argument; use -T selection='{lam: ...}'"),
    (
        "mad",
        {"prior": "log.eval"},
        "prior: is no longer an argument; use -T allocation='{rule: adaptive, prior: ...}'",
    ),
    (
        "evolve",
        {"scenario": "poetry"},
        "scenario: unknown value 'poetry'; allowed: understanding, reasoning, writing",
    ),
    ("evolve", {"output": "pool.csv"}, "output: must be the name of a .jsonl file"),
    ("evolve", {"output": "no/such/folder/pool.jsonl"}, "output: no folder"),
    ("evolve", {"seeds": "nothing.jsonl"}, "seeds: no data file 'nothing.jsonl'"),
    (
        "samer_annotate",
        {"source": "hhh"},
        "source: unknown value 'hhh'; allowed: pairs, helpsteer2",
    ),
    ("samer_annotate", {"orders": "ba"}, "orders: unknown value 'ba'; allowed: "),
    (
        "samer_annotate",
        {"scenario": "never"},
        "scenario: unknown value 'never'; allowed: missing, verify",
    ),
]
USUAL: dict[str, dict[str, object]] = {
    **{
        name: {"dataset": "sample"}
        for name in ("urs", "urs_probe", "urs_assistants", "urs_case_review")
    },
    "judge_pairwise": {"bench": "absent.jsonl"},
    "mad": {"pool": "sample"},
    "evolve": {"seeds": "seeds.csv", "scenario": "coding", "output": "pool.jsonl"},
    "samer_annotate": {"data": "bench.jsonl"},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "seeds.csv").write_text("id,instruction\na,Why?\n", encoding="utf-8")
    (tmp_path / "bench.jsonl").write_text(json.dumps(ROW) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.satellites
@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    BAD,
    ids=[f"{name} {json.dumps(given)}" for name, given, _ in BAD],
)
def test_a_task_refuses_what_only_it_can_judge(
    name: str,
    arguments: Mapping[str, object],
    message: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "inspect_ai.util.download", lambda *_, **__: pytest.fail("data was fetched")
    )
    given = {**USUAL.get(name, {}), **arguments}
    with pytest.raises(InputError) as caught:
        task_named(name)(**given)
    assert message in str(caught.value)


# ## Through the harness: one refusal per task


HARNESS: list[tuple[str, tuple[str, ...], str]] = [
    (
        "urs",
        ("dataset=sample", "language=no"),
        f"language: {NAMES}, got False",
    ),  # which YAML reads as false
    ("urs_probe", ("seed=soon",), f"seed: {WHOLE} 0, got 'soon'"),
    ("urs_references", ("lenient=maybe",), "lenient: must be true or false, got 'maybe'"),
    ("urs_addition", ("lengths=2-x",), "lengths: must be numbers and ranges"),
    ("urs_assistants", ("assistant={pages: 0}",), f"assistant: pages: {WHOLE} 1, got 0"),
    (
        "urs_case_review",
        ("dataset=x.csv", "judge_calls={temperature: hot}"),
        "judge_calls: temperature: must be a number from 0 to 2",
    ),
    (
        "urs_case_review",
        (),
        "urs_case_review: missing a required argument: 'dataset'; arguments: dataset, rubric",
    ),
    (
        "urs_crossval",
        ("unanswered=maybe",),
        "unanswered: unknown value 'maybe'; allowed: refuse, unscored",
    ),
    (
        "md_eval",
        ("protocol=single",),
        "protocol: unknown value 'single'; allowed: joint, per_dimension, overall",
    ),
    (
        "md_eval",
        ("judge=samer", "samer=DIR", "engine=vllm"),
        "engine: is no longer an argument; use -T samer='{model",
    ),
    ("judge_pairwise", ("bench=7",), "bench: must be a text, got 7"),
    ("judge_rating", ("bench=x.jsonl", "scale=five"), f"scale: {BOUNDS}, got 'five'"),
    (
        "mad",
        ("pool=sample", "allocation={confidence: 1}"),
        "allocation: confidence: must be a number of at least 0.501 and at most 0.9999",
    ),
    ("evolve", ("seeds=x.csv", "scenario=coding", "rounds=0"), f"rounds: {WHOLE} 1, got 0"),
    ("samer_annotate", ("data=5",), "data: must be a text, got 5"),
]


@pytest.mark.parametrize(("name", "arguments", "message"), HARNESS)
def test_the_command_ends_with_one_line_before_any_call(
    name: str,
    arguments: tuple[str, ...],
    message: str,
    server: ChatServer,
    tmp_path: Path,
    monkeypatch,
    capsys,
) -> None:
    refusal = refused(
        *("eval", f"urs_inspect/{name}", "--model", "openai-api/local/subject", "--display", "log"),
        *("--model-role", "grader=openai-api/local/judge", "--log-dir", str(tmp_path / "logs")),
        *(part for argument in arguments for part in ("-T", argument)),
        monkeypatch=monkeypatch,
        capsys=capsys,
    )
    assert refusal.status == 1
    [line] = refusal.error.strip().splitlines()
    assert line.startswith(f"Error: {message}")
    assert server.count() == 0 and not list((tmp_path / "logs").glob("*"))


def test_former_arguments_are_found_among_the_options_of_the_command() -> None:
    @click.command()
    @click.option("-T", multiple=True)
    def command(t: tuple[str, ...]) -> None: ...

    assert command.callback is not None
    command.callback.__module__ = "inspect_ai._cli.eval"
    with (
        command.make_context("eval", ["-T", "samer=DIR", "-T", "bos=double"]),
        pytest.raises(InputError, match=r"bos: .*no longer"),
    ):
        example(1)


# ## The log


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.samer.checkpoints import tiny_checkpoint

    return tiny_checkpoint(tmp_path_factory.mktemp("samer") / "checkpoint", max_positions=8192)


@pytest.mark.satellites
def test_a_log_holds_arguments_as_given_and_can_be_retried(
    checkpoint: Path, tmp_path: Path
) -> None:
    options = f"samer={{model: {checkpoint}, engine: transformers, dtype: bfloat16}}"
    succeed(
        *(
            "eval",
            "urs_inspect/urs",
            "--model",
            "urs_simulation/weak",
            "-T",
            "dataset=sample",
            "-T",
            "scorer=samer",
        ),
        *("-T", options, "--limit", "1", "--display", "none", "--log-dir", str(tmp_path / "logs")),
        tmp_path=tmp_path,
    )
    [path] = (tmp_path / "logs").glob("*.eval")
    log = read_eval_log(str(path))
    given = {"model": str(checkpoint), "engine": "transformers", "dtype": "bfloat16"}
    assert log.eval.task_args_passed == {"dataset": "sample", "scorer": "samer", "samer": given}
    assert log.eval.task_args == {**defaults(tasks.urs), **log.eval.task_args_passed}
    log.status, log.samples = "error", []
    write_eval_log(log, tmp_path / "broken" / "b.eval")
    again = (
        "eval-retry",
        str(tmp_path / "broken" / "b.eval"),
        "--display",
        "none",
        "--log-dir",
        str(tmp_path / "new"),
    )
    succeed(*again, tmp_path=tmp_path)
    [path] = (tmp_path / "new").glob("*.eval")
    retried = read_eval_log(str(path))
    assert retried.status == "success" and retried.eval.task_args == log.eval.task_args
    [sample] = retried.samples or []
    assert (sample.scores or {})["samer"].metadata["samer"]["dtype"] == "bfloat16"  # type: ignore[index]


def defaults(task: Callable[..., Task]) -> dict[str, object]:
    return {name: one.default for name, one in signature(task).parameters.items()}


@pytest.mark.satellites
def test_mad_records_a_similarity_with_its_address(tmp_path: Path) -> None:
    task = tasks.mad(
        str(pool_file(tmp_path)),
        k=2,
        similarity={"name": "openai/m", "url": "http://127.0.0.1:9/v1"},
    )
    assert (task.metadata or {})["similarity"].startswith("openai/m")


# ## The list of samples in the viewer


@pytest.mark.parametrize("shown", [["input"], ["target", "answer", "input"]])
def test_given_columns_are_shown_once_and_all_others_are_hidden(shown: list[str]) -> None:
    view = sample_list("x", shown, labels={}, scales={}, sort=[])
    assert isinstance(view.task_samples_view, TaskSamplesView)
    columns = view.task_samples_view.columns or []
    assert [column.id for column in columns if column.visible is not False] == [
        "sampleStatus",
        "sampleId",
        *shown,
    ]
    names = [column.id for column in columns]
    assert len(names) == len(set(names))
    assert {"target", "answer", "tokens", "duration", "epoch", "error"} <= set(names)
