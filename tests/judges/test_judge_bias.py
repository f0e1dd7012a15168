"""What judges prefer beside people, from logs of battles and of labelled pairs."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from inspect_ai.log import EvalSample, read_eval_log
from inspect_ai.scorer import SampleScore, Score

from tests.reports.mad_logs import sample, write_log
from tests.telling import tells
from urs_inspect.cli import main
from urs_inspect.cli._first_screen import LINES
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.judges import ShownPair, judge_bias
from urs_inspect.judges._bias_regression import LENGTH, LISTS, OWN, PLACE, answer_doublings
from urs_inspect.judges._bias_report import bias_section, bias_sentence
from urs_inspect.judges._biases import (
    DatasetBiases,
    battle_biases,
    own_models,
    pair_biases,
)
from urs_inspect.judges._judges import read_judges
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.reports.layout._tables import Section

OWN_MODEL = "openai/gpt-5"
MODELS = (OWN_MODEL, "anthropic/claude-5", "meta/llama-5")
JUDGE = "openai/gpt-5-judge"
QUESTIONS = 40
WORDS = {1.0: "a", 0.5: "tie", 0.0: "b"}


def answers(seed: int = 0) -> list[Ballot]:
    """Comparisons of three models; their lengths and lists vary."""
    generator = np.random.default_rng(seed)
    ballots = []
    for question in range(QUESTIONS):
        texts = {}
        for model in MODELS:
            lines = ["word " * int(generator.integers(5, 60))]
            lines += ["- item"] * int(generator.integers(0, 6))
            texts[model] = "\n".join(lines)
        for pair in combinations(MODELS, 2):
            responses = {model: texts[model] for model in pair}
            ballots.append(Ballot.between(f"q{question}", f"Ask {question}?", responses))
    return ballots


def first_always(ballot: Ballot) -> Mapping[str, str | None]:
    """A judge that prefers what comes first."""
    return {"a": "a", "b": "b"}


def own_always(ballot: Ballot) -> Mapping[str, str | None]:
    """A judge that prefers its own model, and else what comes second."""
    if OWN_MODEL in (ballot.model_a, ballot.model_b):
        won = "a" if ballot.model_a == OWN_MODEL else "b"
        return {"a": won, "b": won}
    return {"a": "b", "b": "a"}


def battle(
    ballot: Ballot, verdicts: Mapping[str, str | None], votes: Mapping[str, int] | None
) -> EvalSample:
    facts: dict[str, Any] = {"model_a": ballot.model_a, "model_b": ballot.model_b}
    scores = {
        "pair_choice": Score(
            value={"outcome": 0.5}, metadata={**facts, "orders": {JUDGE: dict(verdicts)}}
        )
    }
    if votes is not None:
        outcome = {"a": 1.0, "tie": 0.5, "b": 0.0}[max(votes, key=lambda name: votes[name])]
        scores["human_choice"] = Score(
            value={"outcome": outcome}, metadata={**facts, "votes": dict(votes)}
        )
    return sample(ballot.id, {"ballot": ballot.to_dict()}, scores)


def coin_votes(ballots: Iterable[Ballot], seed: int = 1) -> list[dict[str, int]]:
    """Three votes on each, none of which has read the answers."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in ballots:
        a, tie, b = generator.multinomial(3, [0.4, 0.2, 0.4])
        found.append({"a": int(a), "tie": int(tie), "b": int(b)})
    return found


def written(path: Path, judge: Any, *, people: bool = True) -> Path:
    ballots = answers()
    votes = coin_votes(ballots) if people else [None] * len(ballots)
    samples = [
        battle(ballot, judge(ballot), cast) for ballot, cast in zip(ballots, votes, strict=True)
    ]
    return write_log(path, *samples)


def read(path: Path) -> DatasetBiases:
    [found] = battle_biases([read_eval_log(str(path))])
    return found


def by_hand(judge: Any) -> tuple[list[ShownPair], list[ShownPair]]:
    """Rows of the judge and of the votes, in both orders."""
    ballots = answers()
    verdicts = []
    votes = []
    for ballot, cast in zip(ballots, coin_votes(ballots), strict=True):
        for first, won in judge(ballot).items():
            names = [ballot.model_a, ballot.model_b]
            texts = [ballot.response_a, ballot.response_b]
            if first == "b":
                names.reverse()
                texts.reverse()
            length, lists = answer_doublings(*texts)
            shown = ShownPair(
                ballot.id, ballot.instruction, float(won == first), length, lists, *names
            )
            verdicts.append(shown)
            for choice, count in cast.items():
                outcome = 0.5 if choice == "tie" else float(choice == first)
                votes += [replace(shown, outcome=outcome)] * count
    return verdicts, votes


def judges(log: Path, *options: str) -> str:
    """What the command prints about a log."""
    result = CliRunner().invoke(main, ["judges", str(log), *options])
    assert result.exit_code == 0, result.output
    return result.output


def test_battles_beside_each_vote_of_people(tmp_path: Path) -> None:
    found = read(written(tmp_path / "logs" / "one.eval", own_always))
    assert (found.labels, list(found.judges)) == ("people", [JUDGE])
    bias = found.judges[JUDGE]
    expected = judge_bias(*by_hand(own_always), {OWN_MODEL})
    for name in (PLACE, LENGTH, LISTS, OWN):
        one = bias.beyond[name]
        other = expected.beyond[name]
        assert [one.value, one.low, one.n] == pytest.approx([other.value, other.low, other.n])
    assert bias.flagged == (PLACE, OWN)
    assert bias.people[PLACE].value == pytest.approx(0, abs=1e-9)  # both orders
    assert bias.pairs == 3 * QUESTIONS


def test_the_first_screen_has_one_line_on_biases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    log = written(tmp_path / "logs" / "one.eval", first_always)
    screen = judges(log)
    assert tells(screen, f"{JUDGE} ... the first place ... people")
    assert screen.count("--only bias") == 1
    assert len(screen.splitlines()) <= LINES
    tables = judges(log, "--only", "bias")
    assert "own models" in tables and "people" in tables
    assert "Skipped" not in judges(log, "--all")


def test_judges_with_the_same_bias_are_counted(tmp_path: Path) -> None:
    found = read(written(tmp_path / "logs" / "one.eval", first_always))
    more = replace(found, judges={f"{name}-2": bias for name, bias in found.judges.items()})
    sentence = bias_sentence([found, more])
    assert tells(sentence, "2 judges ... the first place ... people")


def test_without_votes_nothing_is_a_bias(tmp_path: Path) -> None:
    log = written(tmp_path / "logs" / "one.eval", first_always, people=False)
    found = read(log)
    assert found.labels == "" and not found.judges[JUDGE].flagged
    assert bias_sentence([found]) == ""
    assert found.judges[JUDGE].judge[PLACE].low > 1
    assert "annotate" in judges(log)


def test_a_copy_with_votes_beside_its_log_counts_once(tmp_path: Path) -> None:
    judged = written(tmp_path / "logs" / "judged.eval", own_always, people=False)
    voted = written(tmp_path / "logs" / "voted.eval", own_always)
    [both] = battle_biases([read_eval_log(str(path)) for path in (judged, voted)])
    assert both.judges[JUDGE].pairs == 3 * QUESTIONS
    assert both.judges[JUDGE].judge[PLACE] == read(voted).judges[JUDGE].judge[PLACE]


def test_each_epoch_has_a_verdict_of_its_own_and_each_text_is_a_pair(tmp_path: Path) -> None:
    ballots = answers()[:30]
    votes = coin_votes(ballots)
    pairs = {one.id for one in ballots}
    first_epoch = [
        battle(one, own_always(one), cast) for one, cast in zip(ballots, votes, strict=True)
    ]
    again = [battle(one, first_always(one), None) for one in ballots]
    same = [battle(one, own_always(one), None) for one in ballots]
    for epoch, samples in ((2, again), (3, same)):
        for one in samples:
            one.epoch = epoch
    found = read(write_log(tmp_path / "logs" / "one.eval", *first_epoch, *again, *same))
    own_rows, cast_votes = (
        [row for row in rows if row.pair in pairs] for rows in by_hand(own_always)
    )
    first_rows = [row for row in by_hand(first_always)[0] if row.pair in pairs]
    expected = judge_bias([*own_rows, *first_rows, *own_rows], cast_votes, {OWN_MODEL})
    bias = found.judges[JUDGE]
    for name in (PLACE, LENGTH, LISTS, OWN):
        for found_one, by_rows in (
            (bias.judge[name], expected.judge[name]),
            (bias.beyond[name], expected.beyond[name]),
        ):
            numbers = [found_one.value, found_one.low, found_one.n]
            assert numbers == pytest.approx([by_rows.value, by_rows.low, by_rows.n])
    assert bias.judge[PLACE].n == 3 * len(own_rows)
    assert bias.pairs == len(ballots)
    # Another run has other answers to the same questions.
    rewritten = [
        battle(replace(one, response_a=f"{one.response_a} and more"), own_always(one), cast)
        for one, cast in zip(ballots, votes, strict=True)
    ]
    written_again = write_log(tmp_path / "logs" / "two.eval", *rewritten)
    logs = [read_eval_log(str(path)) for path in (tmp_path / "logs" / "one.eval", written_again)]
    [both] = battle_biases(logs)
    assert both.judges[JUDGE].pairs == 2 * len(ballots)


def test_each_epoch_of_a_labelled_pair_has_a_verdict_of_its_own() -> None:
    verdicts = []
    items = {}
    for pair, epoch in product(range(8), (1, 2)):
        won = "a" if (pair + epoch) % 2 else "b"
        texts = {"response_a": "word " * (pair + 2), "response_b": "word " * 9}
        facts = {"labels": {OVERALL: "a"}, "verdicts": {"a": {OVERALL: won}}}
        score = Score(value=1.0, metadata=facts)
        about = {**texts, "prompt": f"Ask {pair}?"}
        items[f"p{pair}", epoch] = SampleScore(score=score, sample_metadata=about)
        length, lists = answer_doublings(*texts.values())
        shown = ShownPair(f"p{pair}", f"Ask {pair}?", float(won == "a"), length, lists)
        verdicts.append(shown)
    labels = [replace(one, outcome=1.0) for one in verdicts[::2]]
    judge: Any = SimpleNamespace(is_baseline=False, name=JUDGE, items=items)
    rule: Any = SimpleNamespace(is_baseline=True, name="baseline/longest", items=items)
    dataset: Any = SimpleNamespace(dataset="my.jsonl", judges=[judge, rule])
    found = pair_biases(dataset)
    assert found is not None and list(found.judges) == [JUDGE]
    expected = judge_bias(verdicts, labels)
    for name in (PLACE, LENGTH):
        one = found.judges[JUDGE]
        assert one.judge[name].value == pytest.approx(expected.judge[name].value)
        assert one.people[name].value == pytest.approx(expected.people[name].value)
        assert (one.judge[name].n, one.people[name].n) == (16, 8)
    # Without a label, with an unread verdict, or with an empty answer nothing counts.
    uncounted: list[tuple[dict[str, Any], str]] = [
        ({"labels": {}, "verdicts": {"a": {OVERALL: "a"}}}, "text"),
        ({"labels": {OVERALL: "a"}, "verdicts": {"a": {OVERALL: None}}}, "text"),
        ({"labels": {OVERALL: "a"}, "verdicts": {"a": {OVERALL: "a"}}}, " "),
    ]
    for given, text in uncounted:
        about = {"response_a": text, "response_b": "text"}
        score = Score(value=1.0, metadata=given)
        judge.items = {("p", 1): SampleScore(score=score, sample_metadata=about)}
        assert pair_biases(dataset) is None


def test_a_judge_of_other_pairs_than_people_stands_beside_nobody(tmp_path: Path) -> None:
    other = "vendor/other-judge"
    ballots = answers()
    samples = [battle(one, first_always(one), {"a": 1, "b": 0}) for one in ballots[:60]]
    for one in ballots[60:]:
        alone = battle(one, {}, None)
        assert alone.scores
        facts = alone.scores["pair_choice"].metadata
        assert facts
        facts["orders"] = {other: {"a": "a", "b": "b"}}
        samples.append(alone)
    found = read(write_log(tmp_path / "logs" / "one.eval", *samples))
    assert found.labels == "people"
    assert list(found.judges) == [JUDGE]


def test_unread_verdicts_and_empty_answers_do_not_count(tmp_path: Path) -> None:
    ballots = answers()
    empty = Ballot.between("qx", "Ask x?", {MODELS[0]: " ", MODELS[1]: "text"})
    samples = [battle(one, first_always(one), {"a": 1, "b": 0}) for one in ballots[:60]]
    samples.append(battle(empty, {"a": "a", "b": "b"}, {"a": 1, "b": 0}))
    samples.append(battle(ballots[60], {"a": None, "b": None}, {"a": 1, "b": 0}))
    found = read(write_log(tmp_path / "logs" / "one.eval", *samples))
    assert (found.judges[JUDGE].pairs, found.empty) == (60, 1)
    assert any("1 pair" in note for note in bias_section(found).notes)


def test_own_models_are_those_of_the_judge_and_its_maker() -> None:
    assert own_models(JUDGE, MODELS) == {OWN_MODEL}
    assert own_models("vendor/one", {"vendor/one", "vendor/two"}) == {"vendor/one"}
    assert own_models("vendor/one", MODELS) == set()


def marked_cells(section: Section) -> set[tuple[int, str]]:
    return set(section.tables[-1].marked)


def test_what_is_clear_is_marked_and_said(tmp_path: Path) -> None:
    found = read(written(tmp_path / "logs" / "one.eval", own_always))
    section = bias_section(found)
    assert marked_cells(section) == {(0, "first place"), (0, "own models")}
    assert any(tells(note, "the second place ... own models") for note in section.notes)
    labels, judge = section.tables[0].data.to_dict("records")
    assert labels["judge"] == "people" and np.isnan(labels["first place"])
    assert judge["pairs"] == 3 * QUESTIONS


def test_labelled_pairs_in_the_orders_of_the_judge(pair_folder: Path) -> None:
    paths = sorted(str(path) for path in pair_folder.glob("*.eval"))
    [dataset] = read_judges([read_eval_log(path) for path in paths])
    found = pair_biases(dataset)
    assert found is not None and found.labels == "labels"
    assert set(found.judges) == {"mockllm/good", "mockllm/bad"}  # no rules
    good = found.judges["mockllm/good"]
    # It agrees with all labels but the tie, which it did not read.
    assert [good.beyond[name].value for name in (PLACE, LENGTH)] == pytest.approx([0, 0])
    assert good.people[PLACE] == good.judge[PLACE]
    bad = found.judges["mockllm/bad"]
    assert bad.judge[LENGTH].value == pytest.approx(-good.judge[LENGTH].value)
    assert (good.pairs, good.named) == (7, False)
