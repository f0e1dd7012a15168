"""URS assistants: language models beside search engines and translators."""

import random
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.solver import Solver, generate
from pydantic import GetPydanticSchema

from urs_inspect._arguments import (
    ALL,
    Count,
    Names,
    Natural,
    Options,
    Text,
    checked,
    split_names,
)
from urs_inspect._util import InputError, choices
from urs_inspect.datasets import UrsCase
from urs_inspect.datasets._published import load_published_urs
from urs_inspect.datasets._references import named
from urs_inspect.logs._scores import ASSISTANT
from urs_inspect.rubrics import load_rubric
from urs_inspect.scorers import intent_judge, judge_outcome
from urs_inspect.scorers._metrics import HEADLINE
from urs_inspect.solvers._preflight import preflight_setup
from urs_inspect.studies._assistants import answer_from_pages, first_page, translation
from urs_inspect.studies._backends import asks_for_translation
from urs_inspect.tasks._urs_cases import case_to_sample, choose_cases
from urs_inspect.tasks._viewer import intent_viewer
from urs_inspect.tasks.urs import URS_VERSION

_INTENTS = {"factual": "factual_qa", "translation": "text_assistant"}
_TABLES = {"factual": 14, "translation": 15}
_OPTIONS = {
    "model": (),
    "search": ("search",),
    "rag": ("search", "pages"),
    "translator": ("translator",),
}
"""Kind of assistant -> its options, which it needs unless they have a default."""
_EXAMPLES = {
    "search": "folder:<path> or web_search:<provider>",
    "translator": "glossary:<file> or model",
}
_FACTUAL = 57
"""Cases of Factual QA in Table 14."""


class AssistantOptions(Options):
    """Who answers, and with what."""

    kind: Literal["model", "search", "rag", "translator"] = "model"
    search: Text | None = None  # search engine of `search` and `rag`
    translator: Text | None = None  # of `translator`
    pages: Count = 5  # that `rag` reads at most


Assistant = Annotated[
    str | dict[str, Any], GetPydanticSchema(lambda _, handler: handler(AssistantOptions))
]
"""Becomes `AssistantOptions`."""


@task
@checked
def urs_assistants(
    assistant: Assistant = "model",
    cases: Names | Count | None = None,
    dataset: Text = "urs",
    language: Names = ALL,
    references: Text | None = None,
    prompt: Text | None = None,
    seed: Natural = 0,
) -> Task:
    """Answers by a search engine, a model with its pages, or a translator, judged as usual.

    Tables 14 and 15 of the URS paper (Appendix D.6) compare GPT-4 and GPT-3.5 with a search engine
    on 57 random cases of Factual QA, and with a translator on the 8 requests for a translation
    among the cases of Text Assistant.

    Args:
        assistant: `model`: as in `urs`; `search`: the first page; `rag`: the model answers from the
            first pages only; `translator`. All but `model` need more, as in `{kind: rag, search:
            folder:<path>}`: `search`, the search engine: `folder:<path>` with pages as text,
            Markdown or HTML, `web_search:<provider>` of the harness (tavily, google, exa), or one
            that was registered; `pages`, which `rag` reads at most (5); `translator`:
            `glossary:<file>` with translations made elsewhere, `model` for the model with the role
            `translator`, or one that was registered. For `search`, and a translator that is no
            model, use `--model none`.
        cases: `factual` (57 random ones) or how many of these, `translation`, or ids of cases,
            separated by commas; by default what the assistant is for, `factual` for `model`.
        dataset: `urs` (1,846 published cases), `sample` (42 embedded ones), or the path of a file
            of cases.
        language: `all`, or languages of the cases: `en`, `zh`.
        references: Reference answers in place of those of the data: a file of `urs-inspect
            references`, or the log of a run of `urs_references`.
        prompt: Path of a Jinja file that replaces the frame of the judge's prompt.
        seed: Seed of the choice of factual cases.

    Returns:
        A task with one sample per chosen case, judged by `intent_judge`.

    Raises:
        InputError: If an argument or a file cannot be used.
    """
    loaded = load_rubric(None, prompt)
    asked_of = AssistantOptions.model_validate(assistant)
    answer = _solver(asked_of)
    usual = "factual"
    if asked_of.kind == "translator":
        usual = "translation"
    kind = usual if cases is None else _kind(cases)
    intents = _INTENTS.get(kind, ALL)
    chosen = choose_cases(loaded, dataset, language, intents, seed=seed, references=references)
    if isinstance(cases, int):
        taken = _draw(chosen.cases, cases, seed)
    elif kind == "factual":
        taken = _draw(chosen.cases, _FACTUAL, seed)
    elif kind == "translation":
        taken = _requests(chosen.cases)
    else:
        taken = _by_id(chosen.cases, cases or [])
    if asked_of.kind != "model":
        _refuse_conversations(taken, asked_of.kind)
    given = asked_of.search or asked_of.translator
    table = _TABLES[usual if kind == "ids" else kind]
    asked = ["grader", "translator"] if asked_of.kind == "translator" else ["grader"]
    return Task(
        dataset=MemoryDataset(
            [case_to_sample(case, loaded) for case in taken], name=chosen.data.name
        ),
        solver=answer,
        scorer=[intent_judge(prompt=prompt), judge_outcome()],
        version=URS_VERSION,
        headline_metric=HEADLINE,
        display_name="URS assistants",
        metadata={
            **chosen.facts(),
            ASSISTANT: (
                "" if given is None else f"{asked_of.kind} ({given})"
            ),  # empty for the model alone
            "cases": kind,
            f"published in the URS paper, Table {table}": dict(
                load_published_urs().table(table).rows
            ),
        },
        viewer=intent_viewer(loaded, "URS assistants", taken),
        setup=preflight_setup(asked),
    )


def _kind(cases: str | int | list[str]) -> str:
    """`factual`, `translation`, or `ids` where cases are named by their ids."""
    if isinstance(cases, int):
        return "factual"
    if isinstance(cases, str) and cases in _INTENTS:
        return cases
    return "ids"


def _refuse_conversations(cases: Sequence[UrsCase], assistant: str) -> None:
    if talks := [case.id for case in cases if case.conversation is not None]:
        raise InputError(
            f"dataset: {assistant} asks one text, and of these cases {named(talks)} are"
            " conversations"
        )


def _solver(asked_of: AssistantOptions) -> Solver:
    kind = asked_of.kind
    taken = _OPTIONS[kind]
    for name in asked_of.model_fields_set - {"kind", *taken}:
        allowed = choices(taken) or "no option"
        raise InputError(f"assistant: {name}: not of the kind {kind}, which takes {allowed}")
    for name in taken:
        if getattr(asked_of, name) is None:
            raise InputError(
                f"assistant: {kind} needs the option {name}, as -T assistant='{{kind: {kind},"
                f" {name}: ...}}', such as {_EXAMPLES[name]}"
            )
    match kind:
        case "model":
            return generate()
        case "translator":
            return translation(str(asked_of.translator))
        case "search":
            return first_page(str(asked_of.search))
        case "rag":
            return answer_from_pages(str(asked_of.search), asked_of.pages)


def _requests(cases: list[UrsCase]) -> list[UrsCase]:
    """The cases that ask for a translation."""
    requests = [case for case in cases if asks_for_translation(case.question)]
    if not requests:
        raise InputError("cases=translation: no case of Text Assistant asks for a translation")
    return requests


def _draw(cases: list[UrsCase], count: int, seed: int) -> list[UrsCase]:
    """So many of the factual cases."""
    if count > len(cases):
        raise InputError(
            f"cases: {count} cases of Factual QA were asked for, the data has {len(cases)}; name"
            f" how many, as -T cases={len(cases)}"
        )
    # The order of the cases is fixed, so that the choice depends on the seed alone.
    return random.Random(seed).sample(sorted(cases, key=lambda case: case.id), count)  # noqa: S311 - no secret


def _by_id(cases: list[UrsCase], ids: str | list[str]) -> list[UrsCase]:
    wanted = [name.strip() for name in split_names(ids)]
    known = {case.id: case for case in cases}
    if missing := [name for name in wanted if name not in known]:
        raise InputError(
            f"cases: must be {choices(_INTENTS)}, or ids of cases; the data has no case"
            f" {choices(missing[:5])}"
        )
    return [known[name] for name in dict.fromkeys(wanted)]
