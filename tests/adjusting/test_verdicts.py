"""A judge's verdicts beside people's votes on the same comparisons."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from inspect_ai.log import EvalSample

from tests.ballot_files import write_ballots
from tests.logs.test_battles import VOTE
from tests.reports.json_files import write_rows
from tests.reports.mad_logs import XY, XZ, YZ, ballot, cast, judged, write_log
from tests.reports.test_rankings import FOUGHT, GROUPS, points, ranked
from tests.stats.fights import fights, rows
from urs_inspect._util import InputError
from urs_inspect.adjusting._adjustments import styles_of
from urs_inspect.adjusting._verdicts import (
    JudgeVerdicts,
    decided_by_both,
    judged_ballots,
    rankings_of_judge,
    read_judge_verdicts,
)
from urs_inspect.logs._battles import HumanBattles, read_human_battles, read_vote_list


def test_a_judge_s_verdicts_about_given_ballots(tmp_path: Path) -> None:
    changed = replace(YZ, response_a="another response")
    unparsed = ballot("Which?", "x", "y")
    of_people = judged(ballot("Who?", "x", "y"), 1.0)
    assert of_people.scores
    of_people.scores["pair_choice"].metadata = {"model_a": "x", "model_b": "y", "judges": ["human"]}
    other = judged(ballot("When?", "x", "y"), 0.0)
    samples = [judged(XY, 1.0, 0.5), judged(YZ, 0.0), judged(unparsed, math.nan), of_people, other]
    samples[0].scores["pair_choice-1"].metadata = {"judges": ["a/judge"]}  # type: ignore[index]
    log = write_log(tmp_path / "judge.eval", *samples)
    wanted = [XZ, unparsed, changed, XY]
    found = read_judge_verdicts(log, wanted)
    assert found.outcomes == {XY.id: 0.5}
    assert found.judges == ("a/judge",)
    assert (found.unparsed, found.missing, found.other_responses, found.other_ballots) == (
        1,
        1,
        1,
        1,
    )


def test_of_several_epochs_the_last_verdict_that_was_parsed_counts(tmp_path: Path) -> None:
    epochs = [
        judged(XY, outcome, epoch=number)
        for number, outcome in enumerate((1.0, 0.0, math.nan), start=1)
    ]
    assert read_judge_verdicts(write_log(tmp_path / "judge.eval", *epochs), [XY]).outcomes == {
        XY.id: 0.0
    }


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([judged(XY)], "no verdict"),
        (
            [judged(XZ, 1.0), judged(YZ, math.nan)],
            (
                "2 comparisons: 1 could not.*0 have other.*1 are about other.*compares: x, y, z.*asked about: x, y, z"
            ),
        ),
    ],
)
def test_a_log_without_a_verdict_about_the_ballots_is_refused(
    tmp_path: Path, samples: list[EvalSample], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_judge_verdicts(write_log(tmp_path / "judge.eval", *samples), [XY, YZ])


def test_a_judge_s_outcomes_stand_beside_people_s_only_where_both_have_one(
    ballots: Path, tmp_path: Path
) -> None:
    votes = cast(
        tmp_path / "v" / "me.jsonl", ("me", XY.id, "a"), ("me", XZ.id, "b"), ("me", YZ.id, "tie")
    )
    found = read_human_battles([ballots], [votes])
    known, by_judge = decided_by_both(found, {XY.id: 0.0, YZ.id: math.nan, "other": 1.0})
    decided = list(found.outcomes)
    assert [decided[place] for place in known.nonzero()[0]] == [XY.id]
    assert rows(by_judge)[0][:3] == ("x", "y", 0.0)
    judged_ones = judged_ballots(found, {XY.id: 0.0, XZ.id: 0.5, "other": 1.0})
    order = [one.id for one in found.asked.values()]
    assert judged_ones.judge[order.index(XZ.id)] == 0.5
    assert judged_ones.people.tolist() == [found.outcomes[name] for name in order]
    names = [
        (judged_ones.players[one], judged_ones.players[other])
        for one, other in zip(judged_ones.first, judged_ones.second, strict=True)
    ]
    assert names == [(one.model_a, one.model_b) for one in found.asked.values()]
    same = [judged_ones.clusters[order.index(one.id)] for one in (XY, XZ, YZ)]
    assert same[0] == same[1] != same[2]


def test_an_instruction_with_other_blanks_around_it_is_the_same_cluster(tmp_path: Path) -> None:
    asked = [ballot(text, "x", "y") for text in ("Why?", " Why?\n", "Why ?")]
    write_ballots(asked, tmp_path / "ballots.jsonl")
    votes = cast(tmp_path / "v" / "me.jsonl", *[("me", one.id, "a") for one in asked])
    found = read_human_battles([tmp_path / "ballots.jsonl"], [votes])
    for first, second, third in (
        judged_ballots(found, {}).clusters,
        [row[3] for row in rows(found.battles)],
    ):
        assert first == second != third


def test_responses_are_needed_only_for_features_of_style(tmp_path: Path) -> None:
    bare = [VOTE, {**VOTE, "response_a": "x", "response_b": "y"}, {**VOTE, "response_1": "x"}]
    votes = read_vote_list(write_rows(tmp_path / "votes.jsonl", *bare))
    assert [vote.responses for vote in votes] == [(None, None), ("x", "y"), ("x", None)]
    with pytest.raises(InputError, match=r"2 of 3 votes in a, b come without"):
        styles_of([vote.responses for vote in votes], ["length"], ["a", "b"])
    assert styles_of([votes[1].responses], ["length"], ["a"]).shape == (1, 1)


def test_people_and_judge_are_compared_on_what_both_decided() -> None:
    people = fights(*FOUGHT)
    names = [f"ballot {number}" for number in range(len(FOUGHT))]
    voted = HumanBattles(
        battles=people,
        agreement=None,  # type: ignore[arg-type]
        replaced=0,
        undecided=0,
        unknown=0,
        faults=(),
        asked={},
        outcomes=dict(zip(names, people.outcome.tolist(), strict=True)),
    )
    # The judge says the contrary, and nothing of the last comparisons of `w` and `y`.
    outcomes = {name: 1 - outcome for name, outcome in voted.outcomes.items()}
    for place in (7, 10):
        del outcomes[names[place]]
    judge = JudgeVerdicts(outcomes, ("p/judge",), 0, 0, 0, 0)
    found = rankings_of_judge("scenario", voted, judge, GROUPS, ranked)
    assert (found.by, found.judges) == ("scenario", ("p/judge",))
    assert list(found.people) == list(found.judge) == ["overall", "w", "x", "y", "z"]
    assert list(found.spearman) == list(found.people)
    kept = np.array([place not in (7, 10) for place in range(len(FOUGHT))])
    for group, by_people in found.people.items():
        of_group = kept & np.array([group in ("overall", name) for name in GROUPS])
        own = [fight for fight, is_kept in zip(FOUGHT, of_group, strict=True) if is_kept]
        turned = [fight.translate(str.maketrans("<>", "><")) for fight in own]
        assert by_people.battles == found.judge[group].battles == len(own)
        assert points(by_people) == pytest.approx(points(ranked(fights(*own))))
        assert points(found.judge[group]) == pytest.approx(points(ranked(fights(*turned))))
    assert found.spearman["x"].value == -1


def test_ballots_of_models_without_votes_are_no_judged_ones(ballots: Path, tmp_path: Path) -> None:
    votes = cast(tmp_path / "v" / "me.jsonl", ("me", XY.id, "a"))
    found = read_human_battles([ballots], [votes])
    assert len(judged_ballots(found, {XZ.id: 1.0}).judge) == 1
