"""`evolved`: whether a generator's reply gave an instruction that can go into a pool."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
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

from urs_inspect.scorers._metrics import Reason, count_rows, facts_of
from urs_inspect.studies._evolution import EVOLUTION
from urs_inspect.studies._pool_growth import Evolution, NearDuplicate, PoolItem, child_id


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
            "asked": float(len(samples)),
            "usable": float(len(usable)),
            "kept": float(len(kept)),
            "near-duplicates": float(len(repeats)),
        }
        asked_of = _by_generator(samples)
        usable_of = _by_generator(usable)
        for name in sorted(asked_of):
            rows[f"usable share generator={name}"] = usable_of[name] / asked_of[name]
        writers = Counter(item.generator for item in kept)
        for name in sorted(asked_of):
            rows[f"kept generator={name}"] = float(writers[name])
        rounds = Counter(item.round for item in kept)
        for number in sorted({_about(score)["round"] for score in samples}):
            rows[f"kept round={number}"] = float(rounds[number])
        modes = filter(None, (facts_of(score).get("failure_mode") for score in samples))
        return {**rows, **count_rows("failures", modes)}

    return compute


def _about(score: SampleScore) -> Mapping[str, Any]:
    """The metadata of a sample of `evolve`."""
    return {"duplicates": 1.0, "round": 0, "seed": "", **(score.sample_metadata or {})}


def _by_generator(scores: Iterable[SampleScore]) -> Counter[str]:
    return Counter(str(facts_of(score).get("generator", "")) for score in scores)


def _replay(scores: Sequence[SampleScore]) -> tuple[list[PoolItem], dict[str, NearDuplicate]]:
    """Evolve again, without a model, from what the samples say.

    The pool file was made from the same.
    """
    threshold = min((_about(score)["duplicates"] for score in scores), default=1.0)
    seeds: dict[str, PoolItem] = {}
    children: dict[int, list[PoolItem]] = defaultdict(list)
    for score in scores:
        facts = facts_of(score)
        seed = _about(score)["seed"]
        number = _about(score)["round"]
        if "seed_instruction" in facts:
            seeds.setdefault(seed, PoolItem(seed, facts["seed_instruction"], "", "", "", seed))
        if facts.get("outcome") == "usable":
            item = PoolItem(
                id=child_id(seed, number),
                text=score.score.answer or "",
                reference="",
                intent="",
                language="",
                seed=seed,
                generator=facts["generator"],
                round=number,
            )
            children[number].append(item)
    evolution = Evolution(list(seeds.values()), threshold)
    repeats: dict[str, NearDuplicate] = {}
    for number in sorted(children):
        repeats |= evolution.settle(children[number])
    return evolution.kept, repeats


_NO_REPLY = "call_failed"
_NO_CALL = {"usable": False, "mode": _NO_REPLY, "detail": "No call."}
_OF_CALL = ("generator", "prompt_version", "prompt_sha256")


@scorer(metrics=[{"usable": [mean()]}, evolution_report()])
def evolved() -> Scorer:
    """Report the result of each call of a generator.

    The value `usable` is 1 for an instruction that may go into the pool, 0 for a reply that holds
    none, and NaN, with a reason, where no reply came. The metadata name the generator and why a
    reply cannot be used; from them, and from the instructions themselves, `evolution_report` counts
    what was kept.

    Returns:
        The scorer.
    """

    async def score(state: TaskState, target: Target) -> Score:
        record: dict[str, Any] = state.store.get(EVOLUTION, _NO_CALL)
        mode = str(record.get("mode", ""))
        facts = {
            "outcome": "usable",
            "failure_mode": mode,
            "calls": int(record.get("calls", 0)),
            **{name: record.get(name, "") for name in _OF_CALL},
        }
        value = 1.0
        reason: Reason | None = None
        if mode == _NO_REPLY:
            value = math.nan
            reason = "no_response"
            facts["outcome"] = f"unscored_{mode}"
        elif mode:
            value = 0.0
            reason = "invalid_response_format"
            facts["outcome"] = f"refused_{mode}"
        if state.metadata.get("parent") == state.metadata.get("seed"):
            facts["seed_instruction"] = state.input_text
        return Score(
            value={"usable": value},
            answer=str(record.get("instruction", "")),
            explanation=_explain(state, record),
            reason=reason,
            metadata=facts,
        )

    return score


def _explain(state: TaskState, record: dict[str, Any]) -> str:
    parts = [f"Generator: `{record.get('generator', '')}`", f"### Given\n\n{state.input_text}"]
    if not record["usable"]:
        return "\n\n".join([*parts, f"**No instruction: {record['mode']}.** {record['detail']}"])
    parts.append(f"### New\n\n{record['instruction']}")
    return "\n\n".join([*parts, f"### Answer\n\n{record['answer']}"] if record["answer"] else parts)
