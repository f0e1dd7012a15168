"""URS assistants: language models beside search engines and translators."""

import random

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.solver import Solver, generate

from urs_inspect._util import InputError
from urs_inspect.assistants import asks_for_translation
from urs_inspect.datasets import UrsCase
from urs_inspect.datasets.published import load_published_urs
from urs_inspect.logs.scores import ASSISTANT
from urs_inspect.rubrics import load_rubric
from urs_inspect.scorers import intent_judge, judge_outcome
from urs_inspect.scorers.metrics import HEADLINE
from urs_inspect.solvers.assistants import answer_from_pages, first_page, translation
from urs_inspect.solvers.preflight import preflight_setup
from urs_inspect.tasks import arguments
from urs_inspect.tasks.urs import URS_VERSION, case_to_sample, data_facts
from urs_inspect.tasks.urs_cases import choose_cases
from urs_inspect.tasks.viewer import intent_viewer

_ASSISTANTS = ("model", "search", "rag", "translator")
_CASES = ("factual", "translation")
_FACTUAL, _TEXT = "factual_qa", "text_assistant"


@task
def urs_assistants(
    assistant: str = "model",
    search: str | None = None,
    translator: str | None = None,
    cases: str | None = None,
    count: int = 57,
    pages: int = 5,
    ids: str | list[str] | None = None,
    dataset: str = "urs",
    language: str | list[str] = arguments.ALL,
    references: str | None = None,
    prompt: str | None = None,
    judge_language: str | None = None,
    judge_attempts: int = 2,
    judge_temperature: float | None = 0.0,
    judge_cache: bool = False,
    preflight: bool = True,
    seed: int = 0,
) -> Task:
    """Answers by a search engine, a model that has read its pages, or a translator, judged as those of models are.

    Tables 14 and 15 of the URS paper (Appendix D.6) compare GPT-4 and GPT-3.5 with a search engine on 57 random cases
    of Factual QA, and with a translator on the 8 requests for a translation among the cases of Text Assistant.

    Args:
        assistant: `model`: as in `urs`; `search`: the first page; `rag`: the model answers from the first pages only;
            `translator`. For `search`, and a translator that is no model, use `--model none`.
        search: Search engine of `search` and `rag`: `folder:<path>` with pages as text, Markdown or HTML;
            `web_search:<provider>` of the harness (tavily, google, exa); or one that was registered.
        translator: Translator of `translator`: `glossary:<file>` with translations made elsewhere, `model` for the
            model with the role `translator`, or one that was registered.
        cases: `factual` or `translation`; by default what the assistant is for, `factual` for `model`.
        count: Number of factual cases.
        pages: Pages that `rag` reads at most.
        ids: Ids of cases in place of that choice.
        dataset: As for `urs`, here and below.
        language: Languages of the cases.
        references: Reference answers in place of those of the data.
        prompt: Frame of the judge's prompt.
        judge_language: Language of the judge's prompt.
        judge_attempts: How often a judge is asked at most.
        judge_temperature: Temperature of the judge.
        judge_cache: Let the harness answer repeated judgements from its cache.
        preflight: As for `urs`.
        seed: Seed of the choice of factual cases.

    Returns:
        The task.
    """
    loaded = load_rubric(None, arguments.optional_text(prompt, "prompt"))
    kind = arguments.one_of(assistant, "assistant", _ASSISTANTS)
    of_kind = _kind_of_cases(kind, cases)
    chosen = choose_cases(
        loaded,
        dataset=dataset,
        language=language,
        intents=[_FACTUAL if of_kind == "factual" else _TEXT] if ids is None else arguments.ALL,
        seed=seed,
        lenient=False,
        references=references,
    )
    size = arguments.whole(count, "count", least=1)
    judge = intent_judge(
        prompt=prompt,
        judge_language=judge_language,
        attempts=judge_attempts,
        temperature=judge_temperature,
        cache=arguments.flag(judge_cache, "judge_cache"),
    )
    answer = _solver(kind, search, translator, arguments.whole(pages, "pages", least=1))
    data, found = chosen.load()
    taken = _by_id(found, ids) if ids is not None else _taken(found, of_kind, size, seed)
    return Task(
        dataset=MemoryDataset([case_to_sample(case, loaded) for case in taken], name=data.name),
        solver=answer,
        scorer=[judge, judge_outcome()],
        version=URS_VERSION,
        headline_metric=HEADLINE,
        display_name="URS assistants",
        metadata={
            **data_facts(data, loaded),
            ASSISTANT: _name(kind, search, translator),
            "cases": of_kind if ids is None else "ids",
            **_published(of_kind),
        },
        viewer=intent_viewer(loaded, "URS assistants"),
        setup=preflight_setup(preflight, ["grader", *(["translator"] if kind == "translator" else [])]),
    )


def _name(assistant: str, search: object, translator: object) -> str:
    """Who answers, for logs and tables; empty for the model alone."""
    given = search if search is not None else translator
    return "" if given is None else f"{assistant} ({given})"


def _published(cases: str) -> dict[str, object]:
    number = 14 if cases == "factual" else 15
    return {f"published in the URS paper, Table {number}": dict(load_published_urs().table(number).rows)}


def _kind_of_cases(assistant: str, cases: object) -> str:
    if cases is None:
        return "translation" if assistant == "translator" else "factual"
    return arguments.one_of(cases, "cases", _CASES)


def _solver(assistant: str, search: object, translator: object, pages: int) -> Solver:
    needed = {"search": ("search", search), "rag": ("search", search), "translator": ("translator", translator)}
    for name, given in (("search", search), ("translator", translator)):
        if given is not None and needed.get(assistant, ("", None))[0] != name:
            raise InputError(f"{name}: assistant={assistant} does not use it")
    if assistant == "model":
        return generate()
    name, given = needed[assistant]
    example = "folder:<path> or web_search:<provider>" if name == "search" else "glossary:<file> or model"
    if given is None:
        raise InputError(f"assistant={assistant} needs -T {name}=..., such as {example}")
    backend = arguments.text(given, name)
    if assistant == "translator":
        return translation(backend)
    return first_page(backend) if assistant == "search" else answer_from_pages(backend, pages)


def _taken(cases: list[UrsCase], kind: str, count: int, seed: int) -> list[UrsCase]:
    if kind == "translation":
        found = [case for case in cases if asks_for_translation(case.question)]
        if not found:
            raise InputError("cases=translation: no case of Text Assistant asks for a translation")
        return found
    if count > len(cases):
        raise InputError(f"count: {count} cases of Factual QA were asked for, the data has {len(cases)}")
    # The order of the cases is fixed, so that the choice depends on the seed alone.
    return random.Random(seed).sample(sorted(cases, key=lambda case: case.id), count)  # noqa: S311 - no secret


def _by_id(cases: list[UrsCase], ids: str | list[str]) -> list[UrsCase]:
    named = [one.strip() for one in (ids.split(",") if isinstance(ids, str) else ids)]
    known = {case.id: case for case in cases}
    if missing := [one for one in named if one not in known]:
        raise InputError(f"ids: the data has no case {', '.join(missing[:5])}")
    return [known[one] for one in dict.fromkeys(named)]
