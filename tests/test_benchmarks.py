"""`python -m benchmarks`, with the quickest entries at their smallest sizes."""

import argparse
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest
from benchmarks import (
    __main__,
    adjusted_ratings,
    judge_bias,
    ppi_coverage,
    report_coverage,
    samer_throughput,
    scale_plan,
    soak,
)

from tests.reports.judged_logs import answered, judgement, write_judged
from tests.telling import tells
from urs_inspect import judges


def test_ratios_are_collected_in_one_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "benchmarks.md"
    __main__.main(["--quick", "--output", str(page), "reply_parsing"])
    text = page.read_text(encoding="utf-8")
    assert text.strip() == capsys.readouterr().out.strip()
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| reading")]
    assert len(rows) == 2
    for _, _, ours, floor, ratio, *_ in rows:
        quotient = float(ours.removesuffix(" CPU s")) / float(floor.removesuffix(" CPU s"))
        assert float(ratio.strip("*")) == pytest.approx(quotient, rel=0.02)
    assert "Python 3." in text and "numpy" in text and str(Path.home()) not in text


def test_nothing_is_written_when_a_benchmark_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(module: str, *arguments: str, **given: object) -> None:
        raise subprocess.CalledProcessError(3, module)

    monkeypatch.setattr(__main__, "in_process", fail)
    with pytest.raises(SystemExit, match="1 of 1 benchmarks failed"):
        __main__.main(["--output", str(tmp_path / "page.md"), "compare_speed"])
    assert not list(tmp_path.iterdir())


def rows_of(table: str) -> list[list[str]]:
    """Cells of the rows of all Markdown tables in a text, without their headings."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    below = {number + 1 for number, line in enumerate(lines) if line.startswith("|---")}
    kept = [
        line
        for number, line in enumerate(lines, 1)
        if number not in below and number + 1 not in below
    ]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in kept]


def test_the_benchmark_of_reports_prints_panels_users_and_intents(
    capsys: pytest.CaptureFixture[str],
):
    with pytest.raises(SystemExit):
        report_coverage.main(["panels", "users", "intents", "--simulations", "2", "--seed", "7"])
    rows = rows_of(capsys.readouterr().out)
    assert len(rows) == 2 * len(report_coverage.FAILURES) + len(report_coverage.USERS) + 2 * len(
        report_coverage.LEADS
    )
    panels = rows[: 2 * len(report_coverage.FAILURES)]
    assert {row[0] for row in panels} == {*report_coverage.FAILURES}
    assert all(float(row[2].rstrip("%")) <= float(row[3].rstrip("%")) for row in panels)
    with pytest.raises(SystemExit, match="2"):
        report_coverage.main(["panel"])


def test_the_benchmark_of_ratings_prints_lenient_and_strict_raters(
    capsys: pytest.CaptureFixture[str],
):
    ppi_coverage.raters_table(argparse.Namespace(simulations=2, rounds=20, seed=7))
    rows = rows_of(capsys.readouterr().out)
    assert [row[0] for row in rows] == [*ppi_coverage.RATERS.values()]
    assert [row[1] for row in rows][-1] == "0" and "confounded" in rows[-1][3]


def test_the_benchmark_of_ratings_prints_the_ranks_of_one_table():
    rows = rows_of("\n".join(adjusted_ratings.ranks_table(2, 7)))
    assert [int(row[0]) for row in rows] == [
        study.models for study in adjusted_ratings.RANK_STUDIES
    ]
    for row in rows:
        assert float(row[4].rstrip("%")) <= float(row[3].rstrip("%"))


def test_ways_of_samer_are_measured_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []

    def measured(
        module: str, *words: str, variables: dict[str, str], limit: float
    ) -> dict[str, object]:
        asked.append(words[-1])
        assert variables["HF_HUB_OFFLINE"] == variables["TRANSFORMERS_OFFLINE"] == "1"
        if asked == ["reference", "transformers"]:
            raise subprocess.TimeoutExpired(module, limit)
        return asdict(samer_throughput.Result(2.0, 2.0, 4, 400, 0.0, [0.5] * 4))

    monkeypatch.setattr(samer_throughput, "in_process", measured)
    words = [
        "--items",
        "4",
        "--repeats",
        "1",
        "--ways",
        "reference",
        "transformers",
        "--budget",
        "512",
    ]
    given = samer_throughput.options_of(words)
    assert list(samer_throughput.measure_ways(given, words, tmp_path)) == ["reference"]
    written = (tmp_path / "model" / "config.json").stat().st_mtime_ns
    assert list(samer_throughput.measure_ways(given, words, tmp_path)) == [
        "reference",
        "transformers",
    ]
    assert asked == ["reference", "transformers", "transformers"]
    assert (tmp_path / "model" / "config.json").stat().st_mtime_ns == written
    with pytest.raises(SystemExit, match="another items"):
        samer_throughput.measure_ways(
            samer_throughput.options_of([*words, "--items", "5"]), words, tmp_path
        )

    found = samer_throughput.measure(tmp_path / "model", "transformers", given)
    assert found.items == len(found.overall) == 4 and found.tokens > 200
    shape = samer_throughput.SHAPES["8b"]
    assert samer_throughput.parameters_of(shape) == pytest.approx(6.98e9, rel=0.001)
    options = [
        samer_throughput.engine_options(way, 512, eager=True) for way in ("transformers", "vllm")
    ]
    assert options[0] == {"batch_tokens": 512} and options[1]["max_num_batched_tokens"] == 512


def test_a_plan_grows_with_its_job_and_names_what_saturates_first():
    given = {name: one.default for name, one in scale_plan.INPUTS.items()}
    [passes, *_] = scale_plan.scoring(given)
    assert passes.hours == pytest.approx(2 * 7e9 * 1e8 * 350 / (8 * 989e12 * 0.4) / 3600)
    [half, *_] = scale_plan.scoring(given | {"gpus": 16})
    assert half.hours == pytest.approx(passes.hours / 2)
    vectors = scale_plan.competition(given)[1].amount
    assert vectors == f"{101 * 1e7 * 1536 * 2 / 1e9:,.0f} GB"
    assert "Saturates first: GPUs" in scale_plan.plan(given)
    assert "no price given" in scale_plan.plan(given) and "7,000 at the given" in scale_plan.plan(
        given | {"price-in": 7, "answers": 1e6, "prompt": 1000}
    )


def test_the_soak_finds_lost_and_wrong_scores(tmp_path: Path):
    scores = {f"case-{number:06}": 1 + number for number in range(4)}
    write_judged(
        tmp_path / "one.eval", *(answered(name, judgement(score)) for name, score in scores.items())
    )
    assert not soak.check(tmp_path, scores)
    assert tells(soak.check(tmp_path, scores | {"case-000002": 9}), "0 cases ... 0 twice, 1 with")
    assert "1 cases missing" in soak.check(tmp_path, scores | {"case-000009": 9})


@pytest.mark.usefixtures("data_dir")
def test_published_judges_are_biased_as_the_page_says():
    found = judge_bias.read_vicuna()
    people = found[judge_bias.PEOPLE]
    flagged = {
        who: set(judges.judge_bias(found[who], people, {who}).flagged) for who in judge_bias.JUDGES
    }
    # By an independent fit of decided verdicts only Claude's taste for length is above people's.
    assert {who for who, names in flagged.items() if "length" in names} == {"claude"}
    assert {who for who, names in flagged.items() if "own" in names} == {"gpt4"}
    assert "place" not in flagged["gpt35"] and "place" in flagged["bard"]
