"""The pool of a competition: which instructions, and whose answers are there already."""

import random
from dataclasses import replace

from urs_inspect.datasets import UrsData, Vocabulary, in_proportion, load_urs
from urs_inspect.discrepancy.pools.pool import Instruction, Pool
from urs_inspect.discrepancy.pools.pool_file import load_pool_file
from urs_inspect.errors import InputError
from urs_inspect.judging.choice_prompt import comparison_scenarios
from urs_inspect.reports import read_pool
from urs_inspect.rubrics import load_rubric
from urs_inspect.tasks import arguments

_POOLS = ("urs", "sample")


def competition_pool(pool: object, responses: object, pool_size: object, seed: int) -> Pool:
    """Read the instructions of a competition, with the answers that logs hold.

    Args:
        pool: `urs`, `sample` or the path of a file; None for `urs`, or for the instructions of the logs.
        responses: Logs, or directories of logs, with answers; None for none.
        pool_size: How many instructions are taken; None for all.
        seed: Seed of the draw.

    Returns:
        The pool.

    Raises:
        InputError: If an argument is out of range, both pool and responses are given, or a file cannot be read.
    """
    size = None if pool_size is None else arguments.whole(pool_size, "pool_size", least=1)
    if responses is not None:
        if pool is not None:
            raise InputError("pool: not together with responses, whose instructions are the pool")
        return _reduced(read_pool(arguments.paths(responses, "responses")), size, seed)
    name = "urs" if pool is None else arguments.text(pool, "pool")
    if name in _POOLS:
        rubric = load_rubric()
        data = load_urs(name, Vocabulary(rubric.intent_id, rubric.language_code))
        return _pool_of(data, size, seed)
    title, sha256, instructions = load_pool_file(name, scenarios=comparison_scenarios())
    return _reduced(Pool(title, sha256, instructions, {}), size, seed)


def _pool_of(data: UrsData, size: int | None, seed: int) -> Pool:
    cases = in_proportion(data.cases, seed)[:size]
    return Pool(
        data.name,
        data.sha256,
        tuple(Instruction(case.id, case.question.strip(), case.reference.strip(), case.language) for case in cases),
        {},
    )


def _reduced(pool: Pool, size: int | None, seed: int) -> Pool:
    if size is None or size >= len(pool.instructions):
        return pool
    kept = sorted(random.Random(seed).sample(range(len(pool.instructions)), size))  # noqa: S311 - a draw, no secret
    return replace(pool, instructions=tuple(pool.instructions[place] for place in kept))
