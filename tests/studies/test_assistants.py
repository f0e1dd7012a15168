"""Search engines and translators as solvers, without a run, and what the task takes."""

import asyncio
import inspect
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageUser,
    ContentText,
    ModelName,
    ModelOutput,
    UrlCitation,
)
from inspect_ai.solver import TaskState

from tests.reports.json_files import write_rows
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.datasets._published import load_published_urs
from urs_inspect.studies import AssistantError, Page, register_search, register_translator
from urs_inspect.studies import _assistants as module
from urs_inspect.studies import _assistants_task as task_module
from urs_inspect.studies._addition_task import urs_addition
from urs_inspect.studies._assistants import (
    BECAUSE,
    PAGES,
    REQUEST,
    WITHOUT_ANSWER,
    ModelTranslator,
    WebSearch,
    answer_from_pages,
    first_page,
    translation,
)
from urs_inspect.studies._assistants_task import AssistantOptions, urs_assistants
from urs_inspect.studies._evolve_task import evolve


class Finding:
    """Finds as many pages as it has; or fails."""

    name = "finding"

    def __init__(self, *texts: str, fails: bool = False) -> None:
        self.pages = [Page(f"Title {n}", f"u{n}", text) for n, text in enumerate(texts, start=1)]
        self.fails = fails
        self.asked: list[tuple[str, int]] = []

    async def search(self, query: str, count: int) -> Sequence[Page]:
        self.asked.append((query, count))
        if self.fails:
            raise TimeoutError("no reply")
        return self.pages[:count]

    async def translate(self, text: str, language: str) -> str:
        if self.fails:
            raise TimeoutError("no reply")
        return f"{language}: {text}"


def solved(solver: Any, question: str, language: str = "en") -> tuple[TaskState, list[str]]:
    """The state after a solver, and what the model was shown."""
    shown: list[str] = []
    state = TaskState(
        model=ModelName("mockllm/model"),
        sample_id="s",
        epoch=1,
        input=question,
        messages=[ChatMessageUser(content=question)],
        metadata={"language": language},
    )

    async def generate(given: TaskState, **_: Any) -> TaskState:
        shown.extend(message.text for message in given.messages)
        given.output = ModelOutput.from_content("m", "From the pages.")
        given.messages.append(given.output.message)
        return given

    return asyncio.run(solver(state, generate)), shown


def known(engine: Finding) -> str:
    register_search("finding", lambda given: engine)
    register_translator("finding", lambda given: engine)
    return "finding"


@pytest.mark.parametrize(
    ("longest", "text"), [(20_000, "first page"), (5, "first"), (10, "first page")]
)
def test_the_first_page_is_the_answer_and_cut_where_told(longest: int, text: str) -> None:
    engine = Finding("first page", "second page")
    state, shown = solved(first_page(known(engine), longest), "Why?")
    assert engine.asked == [("Why?", 1)] and not shown
    assert state.output.completion == f"Title 1\n\n{text}" and state.output.model == "finding"
    assert [type(message) for message in state.messages] == [ChatMessageUser, ChatMessageAssistant]
    assert state.messages[-1].text == state.output.completion
    assert [page["url"] for page in state.store.get(PAGES)] == ["u1"]
    assert WITHOUT_ANSWER not in state.metadata


@pytest.mark.parametrize(
    ("engine", "how", "reason"),
    [
        (Finding(), "found_nothing", "no page"),
        (Finding(fails=True), "failed", "TimeoutError: no reply"),
    ],
)
@pytest.mark.parametrize("solver", [first_page, answer_from_pages])
def test_a_search_without_pages_leaves_no_answer(
    solver: Any, engine: Finding, how: str, reason: str
) -> None:
    state, shown = solved(solver(known(engine)), "Why?")
    assert not state.output.choices and not shown
    assert state.metadata[WITHOUT_ANSWER] == how
    assert tells(state.metadata[BECAUSE], f"finding: ... {reason}")
    assert state.output.error == state.metadata[BECAUSE]
    assert state.metadata["language"] == "en"
    assert [message.text for message in state.messages] == ["Why?"]


@pytest.mark.parametrize(("language", "words"), [("en", "page"), ("zh", "只根据"), ("", "page")])
def test_a_model_sees_so_many_pages_and_the_judge_sees_none(language: str, words: str) -> None:
    engine = Finding("one " * 10 + "END", "two", "three")
    state, shown = solved(answer_from_pages(known(engine), 2, 20), "Why?", language)
    assert engine.asked == [("Why?", 2)]
    text = "\n".join(shown)
    assert words in text and ("只根据" in text) == (language == "zh")
    assert "two" in text and "three" not in text and "END" not in text and "Why?" in text
    assert [message.text for message in state.messages] == ["Why?", "From the pages."]
    assert state.output.completion == "From the pages."
    assert len(state.store.get(PAGES)) == 2


def test_a_translator_is_given_text_and_language() -> None:
    question = "Translate into French: Good morning"
    state, shown = solved(translation(known(Finding())), question)
    assert state.output.completion == "French: Good morning" and not shown
    assert state.store.get(REQUEST) == {"text": "Good morning", "language": "French"}
    state, _ = solved(translation(known(Finding(fails=True))), question)
    assert not state.output.choices and state.metadata[WITHOUT_ANSWER] == "failed"
    assert state.store.get(REQUEST)["language"] == "French"


def test_the_web_is_searched_for_so_many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        ContentText(text="t", citations=[UrlCitation(url=f"https://{n}.example")]) for n in range(4)
    ]

    async def tool(query: str) -> Any:
        return found

    monkeypatch.setattr("urs_inspect.studies._assistants.web_search", lambda provider: tool)
    engine = WebSearch("exa")
    pages = asyncio.run(engine.search("Why?", 3))
    assert [page.url for page in pages] == [f"https://{n}.example" for n in range(3)]
    assert [page.text for page in pages] == ["t"] * 3 and "exa" in engine.name
    with pytest.raises(InputError) as caught:
        WebSearch("bing")
    assert tells(str(caught.value), "'bing' ... allowed: tavily, google, exa")


# --- what the task takes ---


@pytest.mark.parametrize(
    ("assistant", "told"),
    [
        ({"kind": "search"}, "search needs ... search"),
        ({"kind": "rag"}, "rag needs ... search"),
        ({"kind": "rag", "pages": 3}, "rag needs ... search"),
        ({"kind": "translator"}, "translator needs ... translator"),
        ({"kind": "model", "search": "folder:x"}, "search: ... model ... no option"),
        ({"kind": "search", "search": "folder:x", "pages": 3}, "pages: ... search"),
        ({"kind": "translator", "translator": "model", "search": "x"}, "search: ... translator"),
        ({"kind": "oracle"}, "kind: ... 'oracle'; allowed: model, search, rag, translator"),
        ({"kind": "search", "search": "folder:"}, "no folder"),
        ({"kind": "translator", "translator": "glossary:gone.jsonl"}, "no file 'gone.jsonl'"),
    ],
)
def test_options_of_another_kind_are_refused(assistant: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        urs_assistants(assistant, dataset="sample", cases=1)
    assert tells(str(caught.value), told)


def task_of(folder: Path, assistant: Any = "model", **options: Any) -> Any:
    asks = "Translate into French: Good day"
    rows = [
        {"id": f"f{n}", "question": f"What is {n}?", "user_intent": "factual_qa"} for n in range(60)
    ]
    rows += [{"id": "t1", "question": asks, "user_intent": "text_assistant"}]
    rows += [{"id": "t2", "question": "Shorten this", "user_intent": "text_assistant"}]
    rows += [{"id": "x", "question": "Which song?", "user_intent": "leisure"}]
    data = folder / "cases.jsonl"
    if not data.exists():
        write_rows(data, *({"language": "en", "reference_ans": "R", **row} for row in rows))
    return urs_assistants(assistant, dataset=str(data), **options)


@pytest.mark.parametrize(
    ("assistant", "cases", "kind", "ids"),
    [
        ("model", None, "factual", 57),
        ("model", 5, "factual", 5),
        ("model", "translation", "translation", ["t1"]),
        ("model", "x, f3,x", "ids", ["x", "f3"]),
        ("model", ["f1", "x"], "ids", ["f1", "x"]),
        ("search", None, "factual", 57),
        ("rag", 2, "factual", 2),
        ("translator", None, "translation", ["t1"]),
        ("translator", "t2", "ids", ["t2"]),
    ],
)
def test_cases_are_those_of_the_assistant_or_chosen(
    tmp_path: Path, assistant: str, cases: Any, kind: str, ids: int | list[str]
) -> None:
    name = known(Finding("page"))
    options: Any = "model"
    if assistant != "model":
        backend = "translator" if assistant == "translator" else "search"
        options = {"kind": assistant, backend: name}
    task = task_of(tmp_path, options, cases=cases)
    found = [str(sample.id) for sample in task.dataset]
    if isinstance(ids, int):
        assert len(set(found)) == ids and all(one.startswith("f") for one in found)
    else:
        assert found == ids
    facts = task.metadata
    assert facts["cases"] == kind
    assert facts["assistant"] == ("" if assistant == "model" else f"{assistant} (finding)")
    table = 15 if kind == "translation" or assistant == "translator" else 14
    [published] = [key for key in facts if key.startswith("published")]
    assert published.endswith(f"Table {table}")
    assert facts[published] == dict(load_published_urs().table(table).rows)


@pytest.mark.parametrize(
    ("cases", "told"),
    [(61, "61 ... 60"), ("f1,gone", "gone"), (["a", "b", "c", "d", "e", "g"], "a, b, c, d, e")],
)
def test_cases_that_are_not_there_are_refused(tmp_path: Path, cases: Any, told: str) -> None:
    with pytest.raises(InputError) as caught:
        task_of(tmp_path, cases=cases)
    assert tells(str(caught.value), told)
    assert "f1" not in str(caught.value) and ", g" not in str(caught.value)


def test_the_choice_is_by_the_seed_and_of_all_cases_whatever_their_order(tmp_path: Path) -> None:
    def ids(**options: Any) -> list[str]:
        return [str(sample.id) for sample in task_of(tmp_path, **options).dataset]

    assert ids(cases=10, seed=1) == ids(cases=10, seed=1) != ids(cases=10, seed=2)
    assert sorted(ids(cases=60)) == sorted(f"f{n}" for n in range(60))
    (tmp_path / "none").mkdir()
    data = write_rows(
        tmp_path / "none" / "cases.jsonl",
        {"question": "Shorten this", "user_intent": "text_assistant", "language": "en",
         "reference_ans": "R"},
    )  # fmt: skip
    with pytest.raises(InputError, match="translation"):
        urs_assistants(dataset=str(data), cases="translation")


def test_usual_arguments() -> None:
    assert AssistantOptions().model_dump() == {
        "kind": "model",
        "search": None,
        "translator": None,
        "pages": 5,
    }
    usual = {
        name: {
            argument.name: argument.default
            for argument in inspect.signature(task).parameters.values()
            if argument.default is not argument.empty
        }
        for name, task in (("addition", urs_addition), ("evolve", evolve))
    }
    assert usual == {
        "addition": {"lengths": "2-20", "per_length": 10, "language": "en", "seed": 0},
        "evolve": {
            "rounds": 10,
            "output": "pool.jsonl",
            "duplicates": 0.9,
            "limit_seeds": None,
            "seed": 0,
        },
    }


@pytest.mark.parametrize(
    ("given", "called"),
    [
        ({"kind": "model"}, ("generate",)),
        ({"kind": "translator", "translator": "glossary:x"}, ("translation", "glossary:x")),
        ({"kind": "search", "search": "folder:x"}, ("first_page", "folder:x")),
        ({"kind": "rag", "search": "folder:x"}, ("answer_from_pages", "folder:x", 5)),
        ({"kind": "rag", "search": "folder:x", "pages": 2}, ("answer_from_pages", "folder:x", 2)),
    ],
)
def test_each_kind_of_assistant_gets_its_own_options(
    given: dict[str, Any], called: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[object, ...]] = []
    for name in ("generate", "translation", "first_page", "answer_from_pages"):
        noted = partial(lambda name, *options: calls.append((name, *options)), name)
        monkeypatch.setattr(task_module, name, noted)
    task_module._solver(AssistantOptions.model_validate(given))
    assert calls == [called]


class Translating:
    """Stands for a model with the role of a translator."""

    def __init__(self, reply: ModelOutput | Exception) -> None:
        self.reply = reply
        self.asked: list[list[str]] = []

    async def generate(self, messages: Sequence[Any], config: Any) -> ModelOutput:
        assert config.temperature == 0
        self.asked.append([f"{message.role}: {message.text}" for message in messages])
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


@pytest.mark.parametrize("role", ["", "own"])
def test_a_model_translates_the_text_and_follows_no_order_in_it(
    role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Translating(ModelOutput.from_content("m", "Guten Tag"))
    roles: list[str] = []

    def models_with(wanted: str) -> list[Translating]:
        roles.append(wanted)
        return [model]

    monkeypatch.setattr(module, "models_with", models_with)
    for known, asked in ((False, 0), (True, 1)):
        monkeypatch.setattr(module, "roles_known", lambda known=known: known)
        roles.clear()
        translator = ModelTranslator(role)
        assert len(roles) == asked  # whether there is a model is found out as early as it can be
    assert (role or "translator") in translator.name
    assert asyncio.run(translator.translate("Good day", "German")) == "Guten Tag"
    [[order, text]] = model.asked
    assert order.startswith("system:") and "German" in order and "Good day" not in order
    assert text == "user: Good day" and set(roles) == {role or "translator"}


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (RuntimeError("down"), "down"),
        (ModelOutput(model="m", choices=[], error="too long"), "too long"),
    ],
)
def test_a_model_that_does_not_translate_says_why(
    reply: ModelOutput | Exception, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "models_with", lambda role: [Translating(reply)])
    with pytest.raises(AssistantError, match=why):
        asyncio.run(ModelTranslator("").translate("Good day", "German"))
