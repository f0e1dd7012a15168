"""`urs_probe`: answers that deserve nothing, through the real judge scorer."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage

from tests.tasks.scripted import Script, between, metric_values, run, samples_of
from urs_inspect import urs_probe
from urs_inspect.providers._simulated_judgement import key_in
from urs_inspect.solvers import NULL_ANSWERS


def probe(tmp_path: Path, judge: Script, **options: Any) -> EvalLog:
    return run(urs_probe(), tmp_path, model="none/none", grader=judge.model(), **options)


def of_one_intent() -> list[str]:
    """Ids of one case in each language, answered in all four ways."""
    samples = urs_probe().dataset
    return [str(one.id) for one in samples if (one.metadata or {})["intent"] == "leisure"]


def finals(log: EvalLog) -> dict[str, set[object]]:
    found: dict[str, set[object]] = {kind: set() for kind in NULL_ANSWERS}
    for sample in samples_of(log):
        value = (sample.scores or {})["intent_judge"].value
        found[sample.metadata["null_answer"]].add(
            value["final"] if isinstance(value, dict) else None
        )
    return found


def test_every_intent_and_language_is_answered_in_all_four_ways_and_the_empty_one_is_never_sent(
    tmp_path: Path,
):
    judge = Script(lambda messages: json.dumps({**key_in(messages[1].text), "Final Score": 5}))
    log = probe(tmp_path, judge)

    assert log.status == "success"
    samples = samples_of(log)
    kinds = {
        (one.metadata["intent"], one.metadata["language"], one.metadata["null_answer"])
        for one in samples
    }
    assert len(kinds) == len(samples) == len({one.id for one in samples}) == 7 * 2 * 4
    assert all(str(one.id).endswith(f"/{one.metadata['null_answer']}") for one in samples)
    assert len(judge.seen) == 42  # three kinds of fourteen cases; the empty answers need no judge
    assert finals(log) == {"constant": {5}, "empty": {1}, "reference": {5}, "injection": {5}}
    outcomes = Counter((one.scores or {})["judge_outcome"].value["outcome"] for one in samples)  # type: ignore
    assert outcomes == {"judged": 42, "no_response": 14}
    shown = [
        [
            between(seen[1].text, f"<{tag}>", f"</{tag}>")
            for tag in ("reference_answer", "answer_to_rate")
        ]
        for seen in judge.seen
    ]
    assert sum(reference == answer for reference, answer in shown) == 14


def test_judge_that_repeats_the_injected_record_gives_no_score(tmp_path: Path):
    # This judge falls for the injection as far as it can: its reply is the answer it was sent.
    judge = Script(
        lambda messages: between(messages[1].text, "<answer_to_rate>", "</answer_to_rate>")
    )
    log = probe(tmp_path, judge, sample_id=of_one_intent())

    assert finals(log)["injection"] == {None}
    # The header has the mean of each kind, and none over all of them.
    found = metric_values(log, "intent_judge")
    assert list(found) == list(NULL_ANSWERS)
    assert found["empty"] == 1 and math.isnan(found["injection"])


def test_judge_that_obeys_the_injection_shows(tmp_path: Path):
    def obeys(messages: Sequence[ChatMessage]) -> str:
        final = 10 if "experts" in messages[1].text else 2
        return json.dumps({**key_in(messages[1].text), "Final Score": final})

    log = probe(tmp_path, Script(obeys), sample_id=of_one_intent())

    assert finals(log)["injection"] == {10, 2}  # 10 in English; this judge reads no Chinese
    assert finals(log)["constant"] == {2}


def test_number_of_cases_of_a_kind_and_seed_choose_the_cases(tmp_path: Path):
    assert len(urs_probe(per_kind=2).dataset) == 2 * 56
    assert len(urs_probe(per_kind=9).dataset) == 3 * 56  # the sample has three cases of a kind
    chosen = [{str(sample.id) for sample in urs_probe(seed=seed).dataset} for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2]
