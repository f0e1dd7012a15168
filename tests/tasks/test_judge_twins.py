"""`judge_twins`: answers of a log and their twins before one judge; what reports make of it."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage

from tests.tasks.scripted import Reply, Script, metric_values, run
from tests.telling import tells
from urs_inspect import judge_twins, urs
from urs_inspect._util import InputError
from urs_inspect.cli import main
from urs_inspect.judging._twins import PADDED
from urs_inspect.reports.numbers._answers import read_answers
from urs_inspect.reports.numbers._judge_checks import (
    FAILED,
    JUDGE_TASKS,
    NOT_CHECKED,
    PASSED,
    TWINS,
    verdict_of,
)
from urs_inspect.reports.numbers._leaderboard import make_leaderboard
from urs_inspect.reports.numbers._twins import read_twins
from urs_inspect.reports.words._lengths import length_sentence

RESTATED = ("In other words", "换句话说")


def judge(paid: float = 1.0) -> Any:
    """A judge that gives 5, a point more to good answers, and pays for answers that repeat."""

    def say(messages: list[ChatMessage]) -> Reply:
        text = messages[-1].text
        final = 5 + ("good" in text) + paid * any(words in text for words in RESTATED)
        return f'{{"Final Score": {final:g}}}'

    return Script(say).model("judge")


def answers(folder: Path, *names: str, longer: str = "") -> None:
    """Logs of `urs` whose answers differ by question; the first model writes more."""
    for place, name in enumerate(names):
        more = longer if not place else ""

        def say(messages: list[ChatMessage], more: str = more, place: int = place) -> Reply:
            quality = "good" if not place else "plain"
            return f"A {quality} answer of some length. It is about {messages[-1].text[:40]}.{more}"

        run(urs(dataset="sample"), folder, model=Script(say).model(name), grader=judge())


def twins(folder: Path, logs: Path, paid: float = 1.0, **arguments: Any) -> EvalLog:
    task = judge_twins(answers=str(logs), **arguments)
    return run(task, folder, model="none", grader=judge(paid))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    answers(folder, "one", "two", longer=" And this says a lot more of the same." * 4)
    return folder


def test_the_shift_of_each_kind_is_in_the_header_and_the_log(logs: Path, tmp_path: Path) -> None:
    log = twins(tmp_path, logs, kinds="all", n=12)
    rows = metric_values(log, "intent_judge")
    assert len(rows) <= 15
    assert rows["padded_double"] == rows["padded_half"] == 1.0
    assert rows["flattery"] == 0.0 and rows["per doubling"] > 0.8
    samples = log.samples or []
    kinds = Counter(str((sample.metadata or {})["twin"]) for sample in samples)
    assert kinds["original"] == kinds["padded_double"] == 12
    found = read_twins(log)
    by_kind = {kind.kind: kind for kind in found.kinds}
    assert by_kind["padded_double"].verdict == "no interval"  # all shifts are equal
    assert by_kind["flattery"].verdict == "adds nothing"
    assert by_kind["truncated"].verdict == "costs nothing"
    assert found.answers == 12
    originals = [sample for sample in samples if (sample.metadata or {})["twin"] == "original"]
    models = Counter(str((sample.metadata or {})["model"]) for sample in originals)
    assert models == {"mockllm/one": 6, "mockllm/two": 6}


def test_answers_are_spread_over_scores_and_the_same_seed_draws_the_same(logs: Path) -> None:
    def drawn(seed: int) -> list[str]:
        task = judge_twins(answers=str(logs), n=10, seed=seed)
        return [str(sample.id) + str(sample.input) for sample in task.dataset]

    assert drawn(1) == drawn(1) != drawn(2)


def test_a_report_names_what_padding_pays_and_corrects_the_lead(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for file in logs.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    board = make_leaderboard(read_answers([str(folder)], JUDGE_TASKS), rounds=200)
    [fact] = [fact for fact in board.rankings[0].judge_checks if fact.check == TWINS]
    assert verdict_of(fact) == NOT_CHECKED and str(folder) in fact.source
    assert tells(length_sentence(board.rankings[0]), "lead of ... vanish ... not measured")

    twins(folder, folder, n=40)
    ranking = make_leaderboard(read_answers([str(folder)], JUDGE_TASKS), rounds=200).rankings[0]
    verdicts = {verdict_of(fact) for fact in ranking.judge_checks if fact.check == TWINS}
    assert verdicts <= {FAILED, "unclear"}
    [lead] = ranking.leads_by_length
    assert lead.lead > 0.9 and lead.doublings > 0.9 and lead.verdict == "lost"
    assert lead.without is not None and lead.without.value < 0.4
    assert tells(length_sentence(ranking), "Padding moves ... for each doubling")
    assert "not measured" not in length_sentence(ranking)


def test_a_judge_that_pays_nothing_passes_and_the_lead_is_kept(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for file in logs.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    twins(folder, folder, paid=0.0, n=40)
    ranking = make_leaderboard(read_answers([str(folder)], JUDGE_TASKS), rounds=200).rankings[0]
    checks = [fact for fact in ranking.judge_checks if fact.check == TWINS]
    assert [verdict_of(fact) for fact in checks] == [PASSED] * len(PADDED)
    [lead] = ranking.leads_by_length
    assert lead.verdict == "keeps" and not math.isnan(lead.tipping)
    output = CliRunner().invoke(main, ["judges", str(folder)]).output
    assert tells(output, "Padding moves mockllm/judge ... 40 answers")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"answers": None}, "answers"),
        ({"answers": "nowhere"}, "nowhere"),
        ({"kinds": "paded"}, "paded"),
        ({"n": 0}, "n"),
    ],
)
def test_bad_input_is_refused_before_any_call(
    logs: Path, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        judge_twins(**{"answers": str(logs), **arguments})


def test_logs_without_judged_answers_are_refused(tmp_path: Path, logs: Path) -> None:
    log = twins(tmp_path, logs, n=6)
    with pytest.raises(
        InputError, match=r"(?s)none that intent_judge scored.*no answers of a model"
    ):
        judge_twins(answers=log.location)
    with pytest.raises(InputError, match="no twin"):
        judge_twins(answers=str(logs), kinds="wrong_number", n=1, seed=3)
