"""URS assistants: language models beside search engines and translators."""

import random
from collections.abc import Sequence
from typing import Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.solver import Solver, generate

from urs_inspect._arguments import (
    ALL,
    Count,
    JudgeCall,
    JudgeCallOptions,
    Names,
    Natural,
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


@task
@checked
def urs_assistants(
    assistant: Literal["model", "search", "rag", "translator"] = "model",
    search: Text | None = None,
    translator: Text | None = None,
    cases: Names | None = None,
    count: Count = 57,
    pages: Count = 5,
    dataset: Text = "urs",
    language: Names = ALL,
    references: Text | None = None,
    prompt: Text | None = None,
    judge_language: Text | None = None,
    judge_calls: JudgeCall | None = None,
    seed: Natural = 0,
) -> Task:
    """Answers by a search engine, a model with its pages, or a translator, judged as usual.

    Tables 14 and 15 of the URS paper (Appendix D.6) compare GPT-4 and GPT-3.5 with a search engine
    on 57 random cases of Factual QA, and with a translator on the 8 requests for a translation
    among the cases of Text Assistant.

    Args:
        assistant: `model`: as in `urs`; `search`: the first page; `rag`: the model answers from the
            first pages only; `translator`. For `search`, and a translator that is no model, use
            `--model none`.
        search: Search engine of `search` and `rag`: `folder:<path>` with pages as text, Markdown or
            HTML; `web_search:<provider>` of the harness (tavily, google, exa); or one that was
            registered.
        translator: Translator of `translator`: `glossary:<file>` with translations made elsewhere,
            `model` for the model with the role `translator`, or one that was registered.
        cases: `factual`, `translation`, or ids of cases, separated by commas; by default what the
            assistant is for, `factual` for `model`.
        count: Number of factual cases.
        pages: Pages that `rag` reads at most.
        dataset: `urs` (1,846 published cases), `sample` (42 embedded ones), or the path of a file
            of cases.
        language: `all`, or languages of the cases: `en`, `zh`.
        references: Reference answers in place of those of the data: a file of `urs-inspect
            references`, or the log of a run of `urs_references`.
        prompt: Path of a Jinja file that replaces the frame of the judge's prompt.
        judge_language: Language of the judge's prompt; by default that of each case.
        judge_calls: How judges are called, by default `{attempts: 2, temperature: 0}`: `attempts`,
            how often one is asked at most when its reply cannot be read; `temperature`, unless the
            role sets one, null for the provider's default.
        seed: Seed of the choice of factual cases.
    """
    loaded = load_rubric(None, prompt)
    calls = JudgeCallOptions.read(judge_calls)
    kind = _kind(cases, assistant)
    judge = intent_judge(
        prompt=prompt,
        judge_language=judge_language,
        attempts=calls.attempts,
        temperature=calls.temperature,
    )
    answer = _solver(assistant, search, translator, pages)
    intents = ALL if kind is None else _INTENTS[kind]
    chosen = choose_cases(loaded, dataset, language, intents, seed=seed, references=references)
    if kind is None:
        taken = _by_id(chosen.cases, cases or [])
    else:
        taken = _draw(chosen.cases, kind, count, seed)
    if assistant != "model":
        _refuse_conversations(taken, assistant)
    given = search if search is not None else translator
    table = _TABLES[kind or _usual_kind(assistant)]
    asked = ["grader"]
    if assistant == "translator":
        asked.append("translator")
    return Task(
        dataset=MemoryDataset(
            [case_to_sample(case, loaded) for case in taken], name=chosen.data.name
        ),
        solver=answer,
        scorer=[judge, judge_outcome()],
        version=URS_VERSION,
        headline_metric=HEADLINE,
        display_name="URS assistants",
        metadata={
            **chosen.facts(),
            ASSISTANT: (
                "" if given is None else f"{assistant} ({given})"
            ),  # empty for the model alone
            "cases": kind or "ids",
            f"published in the URS paper, Table {table}": dict(
                load_published_urs().table(table).rows
            ),
        },
        viewer=intent_viewer(loaded, "URS assistants", taken),
        setup=preflight_setup(asked),
    )


def _kind(cases: str | list[str] | None, assistant: str) -> str | None:
    """The kind of the cases; None where they are named by their ids."""
    if cases is None:
        return _usual_kind(assistant)
    return cases if isinstance(cases, str) and cases in _INTENTS else None


def _usual_kind(assistant: str) -> str:
    """What the assistant is for."""
    return "translation" if assistant == "translator" else "factual"


def _refuse_conversations(cases: Sequence[UrsCase], assistant: str) -> None:
    if talks := [case.id for case in cases if case.conversation is not None]:
        raise InputError(
            f"dataset: assistant={assistant} asks one text, and of these cases {named(talks)} are"
            " conversations"
        )


def _solver(assistant: str, search: str | None, translator: str | None, pages: int) -> Solver:
    for name, value, users in (
        ("search", search, ("search", "rag")),
        ("translator", translator, ("translator",)),
    ):
        if value is not None and assistant not in users:
            raise InputError(f"{name}: assistant={assistant} does not use it")
    if assistant == "model":
        return generate()
    if assistant == "translator":
        if translator is None:
            raise InputError(
                f"assistant={assistant} needs -T translator=..., such as glossary:<file> or model"
            )
        return translation(translator)
    if search is None:
        form = "search=..., such as folder:<path> or web_search:<provider>"
        raise InputError(f"assistant={assistant} needs -T {form}")
    return first_page(search) if assistant == "search" else answer_from_pages(search, pages)


def _draw(cases: list[UrsCase], kind: str, count: int, seed: int) -> list[UrsCase]:
    if kind == "translation":
        requests = [case for case in cases if asks_for_translation(case.question)]
        if not requests:
            raise InputError("cases=translation: no case of Text Assistant asks for a translation")
        return requests
    if count > len(cases):
        raise InputError(
            f"count: {count} cases of Factual QA were asked for, the data has {len(cases)}"
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
