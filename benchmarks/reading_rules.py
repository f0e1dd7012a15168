"""Which lenient rule of reading makes how many replies readable: each rule is turned off, and
changed readings counted.

python -m benchmarks.reading_rules [--fuzz N]

Replies, in columns:

- `structured` and `plain`: of the simulated judge, about the embedded cases, with a schema and
  without;
- `verdicts`: the texts of verdicts on pairs by GPT-4, Claude, GPT-3.5, Bard, Vicuna (PRD), GPT-4
  (QLoRA), and GPT-4, ChatGPT and LLaMA2 (LLMBar), in the directory `real_judges` of
  URS_INSPECT_DATA_DIR, read as they stand;
- `last lines`: the last line of each of these, if it is short, as what a record gives as the
  winner;
- `numbers`: the scores with which Vicuna begins, as scores of a record;
- `fuzz`: replies of the test suite, which are made of every accepted form and say nothing of how
  often each occurs.

The prompts of the real judges are not ours: none asks for a JSON record, so that they show the
words of judges and not how often a record is faulty.
"""

import argparse
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from inspect_ai.util import JSONSchema
from tests.judging.replies import RUBRIC, Written, written_replies

from urs_inspect.datasets import Vocabulary, load_urs
from urs_inspect.judging import (
    JudgeFailure,
    PromptBuilder,
    read_reply,
    read_verdict,
)
from urs_inspect.judging import _objects as objects
from urs_inspect.judging import _replies as replies
from urs_inspect.judging import _score_reply as score_reply
from urs_inspect.judging import _verdicts as verdict_reply
from urs_inspect.judging._keys import KEY
from urs_inspect.providers._simulated_judgement import in_schema
from urs_inspect.providers._simulation import simulate_judge

LONGEST_WORD = 60
NEVER = re.compile(r"(?!)")


@dataclass(frozen=True)
class Rule:
    """A lenient rule, and what takes the place of a name of a module while it is off."""

    name: str
    module: ModuleType
    attribute: str
    off: Any


def _without(module: ModuleType, attribute: str, part: str, instead: str = "") -> re.Pattern[str]:
    """The pattern of a module without a part of it."""
    pattern: re.Pattern[str] = getattr(module, attribute)
    if part not in pattern.pattern:
        raise ValueError(f"{module.__name__}.{attribute} has no part {part!r}")
    return re.compile(pattern.pattern.replace(part, instead), pattern.flags)


def rules() -> list[Rule]:
    """All rules that can be turned off by themselves."""

    def cut(name: str, module: ModuleType, attribute: str, part: str, instead: str = "") -> Rule:
        return Rule(name, module, attribute, _without(module, attribute, part, instead))

    return [
        Rule("characters of full width, curly quotes", objects, "_TO_ASCII", {}),
        Rule("Python's dictionaries, commas at the end", objects, "_as_json", str),
        Rule("pairs that are no JSON", objects, "_loose_pairs", lambda text: iter(())),
        Rule("a score inside an object", score_reply, "unwrap", lambda value: value),
        Rule(
            "objects in a list that name a criterion",
            score_reply,
            "_named",
            lambda pairs, rubric: None,
        ),
        Rule("scores inside a wrapping object", score_reply, "MAX_HEIGHT", 1),
        cut("8/10, 8 out of 10", score_reply, "_NUMBER", r"(?:/|\b(?:out\s+)?of\b)", "(?!)"),
        cut("8.0", score_reply, "_NUMBER", r"(?:\.(\d{1,99}))?", r"(?:(?!)(\d))?"),
        Rule("null, n/a, 无 in place of a score", score_reply, "_ABSENT", frozenset({""})),
        Rule("other names for a rating than score", replies, "_RATING", {"score": "score"}),
        cut(
            "Response 1, Assistant 1",
            verdict_reply,
            "_WORD",
            "response|answer|assistant|回答|助手|回复",
            "(?!)",
        ),
        cut("a and b", verdict_reply, "_WORD", "1|a)|(?P<second>2|b)", "1)|(?P<second>2)"),
        cut("first and second", verdict_reply, "_WORD", "first|第", "第"),
        cut(
            "words for a tie but tie",
            verdict_reply,
            "_WORD",
            "|equal|draw|same|both|neither|平局|平手|相当",
        ),
        cut("1 is better", verdict_reply, "_TAIL", "(?:is|was)", "(?!)"),
        cut(
            "1 (more complete)",
            verdict_reply,
            "_TAIL",
            r"(?:\((?P<inside>",
            r"(?:(?!)\((?P<inside>",
        ),
        Rule("verdicts in broken objects", verdict_reply, "_loose_entries", lambda text: []),
        Rule("a winner in broken objects", verdict_reply, "_loose_winners", lambda text: []),
        Rule("winner: 1, without quotation marks", verdict_reply, "_BARE_WINNER", NEVER),
        Rule("one object a dimension", verdict_reply, "_BETWEEN", NEVER),
    ]


@contextmanager
def off(rule: Rule) -> Iterator[None]:
    """Turn a rule off."""
    kept = getattr(rule.module, rule.attribute)
    setattr(rule.module, rule.attribute, rule.off)
    try:
        yield
    finally:
        setattr(rule.module, rule.attribute, kept)


Readings = Callable[[], list[Any]]


def simulated(by_schema: bool) -> Readings:
    """Replies of the simulated judge about the embedded cases."""
    builder = PromptBuilder(RUBRIC)
    vocabulary = Vocabulary(RUBRIC.intent_id, RUBRIC.language_code)
    written: list[tuple[str, Sequence[str]]] = []
    for case in load_urs("sample", vocabulary).cases:
        prompt = builder.build(
            case.intent,
            case.language,
            question=case.question,
            reference=case.reference,
            answer=case.reference[:200],
        )
        schema = prompt.schema or {}
        names = [name for name in schema["properties"] if name not in ("analysis", KEY)]
        reply = simulate_judge(f"{prompt.instructions}\n\n{prompt.case}", names)
        if by_schema:
            reply = in_schema(reply, JSONSchema.model_validate(schema))
        written.append((reply, RUBRIC.intents[case.intent].criteria))
    return lambda: [read_reply(reply, RUBRIC, criteria) for reply, criteria in written]


def fuzzed(count: int) -> Readings:
    """Replies of the test suite."""
    drawn: list[Written] = []

    @seed(1)
    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(written_replies())
    def draw(written: Written) -> None:
        drawn.append(written)

    draw()
    return lambda: [read_reply(written.text, RUBRIC, written.criteria) for written in drawn]


def verdict_texts(data: Path) -> list[str]:
    """Texts of verdicts by real judges."""
    texts: list[str] = []
    for folder, pattern in (("prd", "ratings-*/*.jsonl"), ("qlora", "*reviewer*.jsonl")):
        for file in sorted((data / folder).glob(pattern)):
            for line in file.read_text(encoding="utf-8").splitlines():
                text = json.loads(line).get("text")
                if isinstance(text, str) and text.strip():
                    texts.append(text)
    for file in sorted((data / "llmbar").glob("**/result.json")):
        for row in json.loads(file.read_text(encoding="utf-8")):
            texts += [
                text for text in _strings(row["results"]) if len(text) > len("content_filter")
            ]
    return texts


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1].strip()


def corpora(data: Path | None, fuzz: int) -> dict[str, Readings]:
    """Name of a column -> what is read."""
    columns = {"structured": simulated(True), "plain": simulated(False), "fuzz": fuzzed(fuzz)}
    if data is None:
        return columns
    texts = verdict_texts(data / "real_judges")
    lines = [line for line in map(_last_line, texts) if len(line) <= LONGEST_WORD]
    numbers: list[str] = []
    for text in texts:
        if match := re.fullmatch(r"(\S{1,6})[ ,]+(\S{1,6})", text.strip().splitlines()[0].strip()):
            numbers += match.groups()
    columns["verdicts"] = lambda: [read_verdict(text) for text in texts]
    columns["last lines"] = lambda: [verdict_reply.read_word(line) for line in lines]
    columns["numbers"] = lambda: [score_reply.read_number("final", number) for number in numbers]
    return columns


def main() -> None:
    """Print a table: how many replies are read otherwise without each rule."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fuzz", type=int, default=300)
    given_data = os.environ.get("URS_INSPECT_DATA_DIR")
    columns = corpora(Path(given_data) if given_data else None, parser.parse_args().fuzz)
    whole: Mapping[str, list[Any]] = {name: read() for name, read in columns.items()}
    print("| without the rule | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    print("| replies | " + " | ".join(f"{len(results):,}" for results in whole.values()) + " |")
    readable = [sum(_is_read(result) for result in results) for results in whole.values()]
    print("| read | " + " | ".join(f"{count:,}" for count in readable) + " |", flush=True)
    for rule in rules():
        changed: list[int] = []
        with off(rule):
            for name, read in columns.items():
                changed.append(
                    sum(now != before for now, before in zip(read(), whole[name], strict=True))
                )
        print(
            f"| {rule.name} | " + " | ".join(f"{count:,}" for count in changed) + " |", flush=True
        )


def _is_read(result: Any) -> bool:
    return result is not None and not isinstance(result, JudgeFailure)


if __name__ == "__main__":
    main()
