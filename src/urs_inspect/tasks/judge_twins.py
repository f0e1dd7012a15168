"""Judge twins: what does a judge pay for changes that add nothing, and does it notice flaws?"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from logging import getLogger
from random import Random
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric

from urs_inspect._arguments import (
    Count,
    Names,
    Natural,
    Paths,
    Structured,
    Text,
    as_list,
    checked,
    names,
    required,
)
from urs_inspect._util import InputError, choices, counted
from urs_inspect.judging._twins import Kind, Original, chosen_kinds, make_twin
from urs_inspect.logs._responses import JudgedAnswer, read_judged_answers
from urs_inspect.rubrics import load_rubric
from urs_inspect.scorers import intent_judge, judge_outcome
from urs_inspect.scorers._twins import DOUBLINGS, ORIGINAL, PAIR, TWIN, twin_shifts
from urs_inspect.solvers._answers import ANSWER, recorded_answer
from urs_inspect.solvers._preflight import preflight_setup
from urs_inspect.solvers._role_models import GRADER, models_with, roles_known
from urs_inspect.tasks._viewer import twins_viewer

logger = getLogger(__name__)

JUDGE_TWINS_VERSION = "1-A"
"""The number changes when twins or prompts do, the letter when arguments do."""
_FEWEST = 6
"""Answers of a kind below which there is no interval."""


@task
@checked
def judge_twins(
    answers: Paths | None = None,
    kinds: Names = "padded",
    n: Count = 60,
    rubric: Text | None = None,
    prompt: Text | None = None,
    judge_language: Text | None = None,
    structured: Structured = "auto",
    seed: Natural = 0,
) -> Task:
    """Judge answers of your models beside twins of them, made by rule.

    A twin is the same answer with one change that adds nothing for the user (said again, praise,
    an invented authority, an order to the judge) or that is a flaw (a digit changed, a sentence
    negated). The mean difference of twin and original is what the judge pays for the change.

    Run it with `--model none --model-role grader=...`. Each of `n` answers is judged once as it is
    and once for each kind of twin, in random order. A twin that would equal its answer is left out.

    Args:
        answers: Logs, or directories of logs, with answers that `intent_judge` has scored.
        kinds: `all`, `padded` (half as long again, and twice as long), or names of kinds,
            separated by commas.
        n: How many answers, at most, drawn evenly over models and over their scores.
        rubric: Path of a YAML file with intents, criteria or languages of your own.
        prompt: Path of a Jinja file that replaces the frame of the judge's prompt.
        judge_language: Language of the judge's prompt; by default that of each case.
        structured: Whether judges are asked by a JSON schema of their reply: `true`, `false`, or
            `auto`.
        seed: Seed of the choice of answers, of the twins, and of their order.
    """
    loaded = load_rubric(rubric, prompt)
    chosen = chosen_kinds(names(kinds, "kinds"))
    places = as_list(required(answers, "answers", "logs with judged answers, separated by commas"))
    judge = intent_judge(
        rubric=rubric, prompt=prompt, judge_language=judge_language, structured=structured
    )
    notes: list[str] = []
    found = read_judged_answers(places, notes)
    for note in notes:
        logger.warning(f"answers: {note}")
    if unknown := sorted({answer.intent for answer in found} - set(loaded.intents)):
        raise InputError(
            f"answers: judged by intents that are not in the rubric {loaded.name}:"
            f" {choices(unknown)}; name the rubric of that run with -T rubric=FILE"
        )
    taken = draw_answers(found, n, seed)
    pairs = make_pairs(taken, chosen, _judge_name(), seed)
    _announce(pairs, chosen)
    samples = list(pairs.samples())
    Random(seed).shuffle(samples)  # noqa: S311 - an order, not a secret
    first = found[0].log.eval.metadata or {}
    return Task(
        dataset=MemoryDataset(samples, name=str(first.get("dataset", "answers"))),
        solver=recorded_answer(),
        scorer=[judge, judge_outcome()],
        metrics=[twin_shifts([kind.name for kind in chosen])],
        version=JUDGE_TWINS_VERSION,
        headline_metric=HeadlineMetric(scorer="intent_judge", metric=chosen[0].name),
        display_name="Judge twins",
        metadata={
            "dataset": first.get("dataset"),
            "dataset_sha256": first.get("dataset_sha256"),
            "rubric": f"{loaded.name} {loaded.version}",
            "rubric_sha256": loaded.sha256,
            "equal_to_original": {
                f"{kind}/{language}": count for (kind, language), count in pairs.equal.items()
            },
        },
        viewer=twins_viewer(loaded),
        setup=preflight_setup([GRADER], structured=structured),
    )


@dataclass(frozen=True)
class Pairs:
    """Answers and their twins, and how many twins equalled their answer."""

    answers: Sequence[JudgedAnswer]
    twins: Sequence[dict[str, str]]  # of each answer, kind -> text
    equal: Counter[tuple[str, str]]  # kind and language -> twins that were left out

    def samples(self) -> Iterator[Sample]:
        """One sample for each answer with a twin, and for each twin."""
        for place, (answer, twins) in enumerate(zip(self.answers, self.twins, strict=True)):
            if not twins:
                continue
            for kind, text in {ORIGINAL: answer.text, **twins}.items():
                facts = dict(answer.metadata)
                facts |= {TWIN: kind, PAIR: place, ANSWER: text, "model": answer.model}
                facts |= {"question": answer.id, DOUBLINGS: math.log2(len(text) / len(answer.text))}
                yield Sample(
                    id=f"{place}:{kind}", input=answer.input, target=answer.target, metadata=facts
                )


def draw_answers(found: Sequence[JudgedAnswer], n: int, seed: int) -> list[JudgedAnswer]:
    """At most n answers, as many of each model, spread evenly over its scores."""
    by_model: dict[str, list[JudgedAnswer]] = defaultdict(list)
    mixed = list(found)
    Random(seed).shuffle(mixed)  # noqa: S311 - a choice, not a secret
    for answer in mixed:
        by_model[answer.model].append(answer)
    taken = []
    models = sorted(by_model)
    for place, model in enumerate(models):
        ranked = sorted(by_model[model], key=lambda answer: answer.final)  # ties in random order
        share = min(len(ranked), n // len(models) + (place < n % len(models)))
        taken += [ranked[int((step + 0.5) * len(ranked) / share)] for step in range(share)]
    return taken


def make_pairs(
    answers: Sequence[JudgedAnswer], kinds: Sequence[Kind], judge: str, seed: int
) -> Pairs:
    """Twins of answers; `other_answer` takes that to another question in the same language."""
    twins = []
    equal: Counter[tuple[str, str]] = Counter()
    for place, answer in enumerate(answers):
        language = str(answer.metadata.get("language", ""))
        later = [*answers[place + 1 :], *answers[:place]]
        other = next(
            (
                each.text
                for each in later
                if each.id != answer.id and each.metadata.get("language") == language
            ),
            "",
        )
        original = Original(answer.text, language, judge, other)
        own: dict[str, str] = {}
        for kind in kinds:
            twin = make_twin(kind, original, f"{seed}/{answer.model}/{answer.id}/{kind.name}")
            if twin is None:
                equal[kind.name, language] += 1
            else:
                own[kind.name] = twin
        twins.append(own)
    return Pairs(answers, twins, equal)


def _judge_name() -> str:
    """The judge of this run, as far as it is known when the task is made."""
    if not roles_known():
        return ""
    bound: list[Any] = models_with(GRADER)
    return str(bound[0]) if bound else ""


def _announce(pairs: Pairs, kinds: Sequence[Kind]) -> None:
    """Say how many calls a run takes, and what was left out; refuse a run without twins."""
    made = Counter(kind for twins in pairs.twins for kind in twins)
    if not made:
        raise InputError(
            f"kinds: no twin of {counted(len(pairs.answers), 'answer')} differs from its answer"
            f" ({choices(kind.name for kind in kinds)})"
        )
    answers = sum(bool(twins) for twins in pairs.twins)
    logger.warning(
        f"judge_twins: {counted(answers, 'answer')} and {counted(made.total(), 'twin')}:"
        f" {counted(answers + made.total(), 'judge call')}"
    )
    few = [f"{kind.name} ({made[kind.name]})" for kind in kinds if made[kind.name] < _FEWEST]
    if few:
        logger.warning(f"judge_twins: too few twins for an interval: {choices(few)}")
