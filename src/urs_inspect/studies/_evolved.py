"""`evolved`: whether a generator's reply gave an instruction that can go into a pool."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    mean,
    metric,
    scorer,
)
from inspect_ai.solver import TaskState

from urs_inspect.discrepancy._pools import Evolution, NearDuplicate, PoolItem, child_id
from urs_inspect.scorers._metrics import count_rows, facts_of
from urs_inspect.studies._evolution import EVOLUTION


@metric(scores="unreduced")
def evolution_report() -> Metric:
    """Counts of an evolution, in all, by generator and by round.

    Rows: `asked` (instructions asked for, with one more call after a reply that cannot be used),
    `usable` (replies with an instruction), `kept` (in the pool), `near-duplicates` (usable but not
    kept); `usable share generator=<name>` (of those asked of it, failed calls included), `kept
    generator=<name>`, `kept round=<number>`; `failures <mode>`.
    """

    def compute(scores: list[SampleScore]) -> Value:
        first: dict[str, SampleScore] = {}
        for score in scores:  # of several epochs, the first makes the pool
            first.setdefault(str(score.sample_id), score)
        samples = list(first.values())
        usable = [score for score in samples if facts_of(score).get("outcome") == "usable"]
        kept, repeats = _replay(samples)
        rows = {
            "asked": len(samples),
            "usable": len(usable),
            "kept": len(kept),
            "near-duplicates": len(repeats),
        }
        asked_of = _by_generator(samples)
        usable_of = _by_generator(usable)
        shares = {
            f"usable share generator={name}": usable_of[name] / asked_of[name]
            for name in sorted(asked_of)
        }
        writers = Counter(item.generator for item in kept)
        rounds = Counter(item.round for item in kept)
        numbers = sorted({int((score.sample_metadata or {}).get("round", 0)) for score in samples})
        return {
            **{name: float(value) for name, value in rows.items()},
            **shares,
            **{f"kept generator={name}": float(writers[name]) for name in sorted(asked_of)},
            **{f"kept round={number}": float(rounds[number]) for number in numbers},
            **count_rows(
                "failures",
                (mode for score in samples if (mode := facts_of(score).get("failure_mode"))),
            ),
        }

    return compute


def _by_generator(scores: Iterable[SampleScore]) -> Counter[str]:
    return Counter(str(facts_of(score).get("generator", "")) for score in scores)


def _replay(scores: Sequence[SampleScore]) -> tuple[list[PoolItem], dict[str, NearDuplicate]]:
    """Evolve again, without a model, from what the samples say.

    The pool file was made from the same.
    """
    threshold = min(
        (float((score.sample_metadata or {}).get("duplicates", 1.0)) for score in scores),
        default=1.0,
    )
    seeds: dict[str, PoolItem] = {}
    children: dict[int, list[PoolItem]] = {}
    for score in scores:
        sample = score.sample_metadata or {}
        facts = facts_of(score)
        seed = str(sample.get("seed", ""))
        number = int(sample.get("round", 0))
        if "seed_instruction" in facts:
            seeds.setdefault(seed, PoolItem(seed, facts["seed_instruction"], "", "", "", seed))
        if facts.get("outcome") == "usable":
            text = score.score.answer or ""
            writer = str(facts.get("generator", ""))
            item = PoolItem(
                child_id(seed, number), text, "", "", "", seed, generator=writer, round=number
            )
            children.setdefault(number, []).append(item)
    evolution = Evolution(list(seeds.values()), threshold)
    repeats: dict[str, NearDuplicate] = {}
    for number in sorted(children):
        repeats |= evolution.settle(children[number])
    return evolution.kept, repeats


_NO_REPLY = "call_failed"


@scorer(metrics=[{"usable": [mean()]}, evolution_report()])
def evolved() -> Scorer:
    """Report the result of each call of a generator.

    The value `usable` is 1 for an instruction that may go into the pool, 0 for a reply that holds
    none, and NaN, with a reason, where no reply came. The metadata name the generator and why a
    reply cannot be used; from them, and from the instructions themselves, `evolution_report` counts
    what was kept.
    """

    async def score(state: TaskState, target: Target) -> Score:
        record: dict[str, Any] = state.store.get(
            EVOLUTION, {"usable": False, "mode": _NO_REPLY, "detail": "No call."}
        )
        usable = bool(record["usable"])
        mode = str(record.get("mode", ""))
        facts = {
            "outcome": (
                "usable"
                if usable
                else f"refused_{mode}"
                if mode != _NO_REPLY
                else f"unscored_{mode}"
            ),
            "generator": record.get("generator", ""),
            "failure_mode": mode,
            "calls": int(record.get("calls", 0)),
            "prompt_version": record.get("prompt_version", ""),
            "prompt_sha256": record.get("prompt_sha256", ""),
        }
        if state.metadata.get("parent") == state.metadata.get("seed"):
            facts["seed_instruction"] = state.input_text
        return Score(
            value={"usable": 1.0 if usable else math.nan if mode == _NO_REPLY else 0.0},
            answer=str(record["instruction"]) if usable else "",
            explanation=_explain(state, record),
            reason=(
                None
                if usable
                else "no_response"
                if mode == _NO_REPLY
                else "invalid_response_format"
            ),
            metadata=facts,
        )

    return score


def _explain(state: TaskState, record: dict[str, Any]) -> str:
    parts = [f"Generator: `{record.get('generator', '')}`", f"### Given\n\n{state.input_text}"]
    if not record["usable"]:
        return "\n\n".join([*parts, f"**No instruction: {record['mode']}.** {record['detail']}"])
    parts.append(f"### New\n\n{record['instruction']}")
    return "\n\n".join([*parts, f"### Answer\n\n{record['answer']}"] if record["answer"] else parts)
