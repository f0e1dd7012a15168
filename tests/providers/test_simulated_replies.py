"""What simulated models reply to prompts of every kind, whole: runs with them are compared."""

from collections.abc import Iterator, Mapping
from typing import Any

import anyio
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model

from tests.reports.golden_files import check_golden
from urs_inspect.datasets import Vocabulary, load_urs
from urs_inspect.datasets._addition import addition_chains, addition_prompt
from urs_inspect.judging import JudgePrompt, PromptBuilder
from urs_inspect.judging._prompts import (
    dimension_prompt,
    joint_prompt,
    overall_prompt,
    rating_prompt,
)
from urs_inspect.rubrics import load_rubric
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.solvers._structured import response_schema

DIMENSIONS = tuple(load_taxonomy().scenarios["chitchat"].dimensions)
ASKED = "How do I bake bread at home?"
GOOD = "To bake bread at home you need flour, water, salt and yeast. " * 3
POOR = "You bake it."
SUM = addition_prompt("en").fill(addition_chains([19], 1, 0)[0])
VOCABULARY = Vocabulary(load_rubric().intent_id, load_rubric().language_code)
EMBEDDED = load_urs("sample", VOCABULARY).cases[3].question


def levelled(model: str, question: str, seed: int = 0) -> str:
    """An answer of a simulated model of known quality."""
    return reply(f"urs_simulation/{model}", question, seed=seed)


def reply(model: str, *texts: str, **config: Any) -> str:
    """What a model replies to a message, perhaps behind a system message."""
    messages: list[Any] = [ChatMessageUser(content=texts[-1])]
    if len(texts) > 1:
        messages.insert(0, ChatMessageSystem(content=texts[0]))

    async def call() -> str:
        given = GenerateConfig(**config)
        found = await get_model(model).generate(messages, config=given)
        return found.completion

    return anyio.run(call)


def judged(prompt: JudgePrompt, model: str = "judge", *, by_schema: bool = False) -> str:
    schema = {}
    if by_schema:
        assert prompt.schema is not None
        schema["response_schema"] = response_schema(prompt.schema)
    return reply(f"urs_simulation/{model}", prompt.instructions, prompt.case, **schema)


def check_replies(name: str, replies: Mapping[str, str]) -> None:
    """Compare replies, each under its title, with `golden/<name>.md`."""
    parts = [f"## {title}\n\n```text\n{text}\n```" for title, text in replies.items()]
    check_golden(name, "\n\n".join(parts) + "\n")


def prompts() -> Iterator[tuple[str, JudgePrompt]]:
    builder = PromptBuilder(load_rubric())
    one, other = levelled("quality-8.5", ASKED), levelled("quality-3", ASKED)
    for title, first, second in (
        ("the better first", GOOD, POOR),
        ("the better second", POOR, GOOD),
        ("equal ones", GOOD, GOOD),
        ("nearly equal ones", GOOD, GOOD[:-3]),
        ("nothing", "", ""),
        ("known levels", one, other),
        ("one known level", one, GOOD),
    ):
        yield f"a pair, {title}", overall_prompt(ASKED, first, second, ties=True)
    yield "a pair without ties", overall_prompt(ASKED, GOOD, GOOD[:-3], ties=False)
    yield "a pair on a dimension", dimension_prompt("chitchat", DIMENSIONS[0], ASKED, POOR, GOOD)
    yield "a pair on all dimensions", joint_prompt("chitchat", DIMENSIONS, ASKED, GOOD, GOOD[:-9])
    for title, response, reference in (
        ("with a reference", GOOD, f"{GOOD} And time."),
        ("without one", GOOD, ""),
        ("that is short", POOR, GOOD),
        ("that is long", GOOD * 9, GOOD),
        ("of a known level", one, GOOD),
    ):
        yield (
            f"a response {title}",
            rating_prompt(ASKED, response, reference, lowest=1, highest=7),
        )
    for title, language, answer in (
        ("good", "en", GOOD),
        ("short", "en", POOR),
        ("of a known level", "en", other),
        ("in Chinese", "zh", "先把面粉和水混合，再揉成面团。"),
    ):
        yield (
            f"an answer that is {title}",
            builder.build(
                "ask_for_advice", language, question=ASKED, reference=GOOD, answer=answer
            ),
        )


def test_what_simulated_models_reply() -> None:
    parts = {}

    def add(title: str, text: str) -> None:
        parts[title] = text

    for title, prompt in prompts():
        add(title, judged(prompt))
    by_name = dict(prompts())
    for name in ("a pair, nearly equal ones", "a response that is short", "an answer that is good"):
        for model in ("strong", "weak", "quality-7"):
            add(f"{name}, by {model}", judged(by_name[name], model))
        add(f"{name}, by a schema", judged(by_name[name], by_schema=True))
    for model in ("strong", "weak", "judge", "quality-2.5", "quality-7"):
        add(f"a question to {model}", reply(f"urs_simulation/{model}", ASKED))
        add(f"a sum to {model}", reply(f"urs_simulation/{model}", SUM))
        add(f"an embedded question to {model}", reply(f"urs_simulation/{model}", EMBEDDED))
    add("a question again with a seed", levelled("quality-7", ASKED, seed=5))
    check_replies("simulated_replies", parts)
