"""What is run for an item, where it is read, and what becomes of replies.

Many callers of one model.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import replace

import anyio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.samer.pooling_server import step_rows, vector
from urs_inspect.samer._conversation import Encoded
from urs_inspect.samer._engines.protocol import (
    Batching,
    EngineFailure,
    Outcome,
    QueryResponse,
    Reading,
    ReplyError,
    Scored,
    StepPooling,
    readings,
)
from urs_inspect.samer._evaluation import RawOutputs

EOT, HIDDEN = 9, 6
POOLING = StepPooling(EOT, HIDDEN)

# 9 closes a turn: query 1 2 9, response 3 9.
ENCODED = Encoded((1, 2, 9, 3, 9), (1, 2, 9), is_prefix=True)


def test_one_pass_gives_both_vectors_and_a_query_that_is_no_prefix_needs_two() -> None:
    assert readings(ENCODED) == [Reading(ENCODED.ids, (2, 4))]
    apart = replace(ENCODED, query_ids=(1, 7, 9), is_prefix=False)
    assert readings(apart) == [Reading((1, 7, 9), (2,)), Reading(ENCODED.ids, (4,))]
    assert POOLING.size(ENCODED.ids) == (2, HIDDEN)  # two ends of turn


@settings(max_examples=40)
@given(
    st.lists(st.integers(1, 9), max_size=6), st.lists(st.integers(1, 9), max_size=6), st.booleans()
)
def test_any_turns_give_the_vectors_at_both_ends(
    query: list[int], response: list[int], is_prefix: bool
) -> None:
    """Ends of turn anywhere in the query, as system turns make them, or in the response."""
    query_ids = (*query, EOT)
    ids = (*query_ids, *response, EOT) if is_prefix else (7, *query_ids, *response, EOT)
    encoded = Encoded(ids, query_ids, is_prefix)
    replies = [step_rows(reading.ids, EOT, HIDDEN) for reading in readings(encoded)]
    expected = [vector(query_ids, HIDDEN), vector(ids, HIDDEN)]
    np.testing.assert_array_equal(POOLING.pair(encoded, replies), expected)


def test_replies_that_cannot_be_read() -> None:
    valid = np.zeros((2, HIDDEN), np.float32)
    POOLING.pair(ENCODED, [valid])
    for wrong in (
        [],
        [valid, valid],
        [valid[:1]],
        [valid[:, 1:]],
        [valid[0]],
        [np.zeros((0, HIDDEN), np.float32)],
    ):
        with pytest.raises(ReplyError) as caught:
            POOLING.pair(ENCODED, wrong)
        assert caught.value.mode == "wrong_shape"
    for broken in (np.nan, np.inf, -np.inf):
        spoiled = valid.copy()
        spoiled[1, 3] = broken
        with pytest.raises(ReplyError) as caught:
            POOLING.pair(ENCODED, [spoiled])
        assert caught.value.mode == "not_finite"


# ## Batching


def scored(item: QueryResponse) -> Scored:
    values = np.array([float(item.query)], np.float32)
    return Scored(RawOutputs(values, values, values))


def items(*numbers: int) -> list[QueryResponse]:
    return [QueryResponse(str(number), "") for number in numbers]


def values(outcomes: Sequence[Outcome]) -> list[float]:
    return [float(one.raw.scores[0]) for one in outcomes if isinstance(one, Scored)]


class Model:
    """Notes the sizes of its batches and takes a while."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.threads: set[int] = set()
        self.running = 0

    def __call__(self, batch: Sequence[QueryResponse]) -> list[Outcome]:
        self.running += 1
        assert self.running == 1, "two calls at once"
        self.sizes.append(len(batch))
        self.threads.add(threading.get_ident())
        time.sleep(0.01)
        self.running -= 1
        return [scored(item) for item in batch]


def test_callers_share_batches_and_each_gets_its_own() -> None:
    model = Model()
    results: dict[int, list[float]] = {}

    async def main() -> None:
        batching = Batching(model)

        async def ask(number: int) -> None:
            results[number] = values(await batching.score(items(number, number + 100)))

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(ask, number)

    anyio.run(main)
    assert results == {number: [number, number + 100] for number in range(20)}
    assert sum(model.sizes) == 40
    assert len(model.sizes) <= 3
    assert threading.get_ident() not in model.threads


@pytest.mark.parametrize(("limit", "sizes"), [(1, [1] * 7), (3, [3, 3, 1]), (100, [7])])
def test_a_batch_is_no_larger_than_its_limit(limit: int, sizes: list[int]) -> None:
    model = Model()
    batching = Batching(model, limit)
    assert values(anyio.run(batching.score, items(*range(7)))) == list(range(7))
    assert model.sizes == sizes
    assert anyio.run(batching.score, []) == []  # in another event loop


def test_an_item_that_makes_the_model_raise_fails_alone() -> None:
    def touchy(batch: Sequence[QueryResponse]) -> list[Outcome]:
        if any(item.query == "2" for item in batch):
            raise ValueError("not\n 2")
        return [scored(item) for item in batch]

    outcomes = anyio.run(Batching(touchy).score, items(1, 2, 3))
    assert outcomes[1] == EngineFailure("error", "ValueError: not 2")
    assert values(outcomes) == [1, 3]


def test_too_few_outcomes_are_a_fault_and_not_a_shift() -> None:
    outcomes = anyio.run(Batching(lambda batch: []).score, items(1, 2))
    assert outcomes == [EngineFailure("error", "RuntimeError: 0 outcomes for 1 items")] * 2


def test_a_caller_that_gives_up_takes_nothing_from_the_others() -> None:
    model = Model()
    results: list[float] = []

    async def main() -> None:
        batching = Batching(model)

        async def impatient() -> None:
            with anyio.move_on_after(0.002):
                await batching.score(items(1))

        async def patient() -> None:
            results.extend(values(await batching.score(items(2))))

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(impatient)
                group.start_soon(patient)
        assert batching._waiting == []

    anyio.run(main)
    assert results == [2] * 5
