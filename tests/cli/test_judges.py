"""`urs-inspect judges`."""

import csv
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.reports.pairs import judge_dimensions, judge_pairs
from tests.reports.ratings import judge_ratings, judge_with_rubric
from tests.tasks.scripted import Script, judged, record


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("judges")
    judge_pairs(made)
    return made / "logs"


def row(output: str, *cells: str) -> list[str]:
    """The cells of the one table row that begins with the given ones."""
    [found] = rows(output, *cells)
    return found


def rows(output: str, *cells: str) -> list[list[str]]:
    """The cells of all table rows that begin with the given ones."""
    found = [[cell.strip() for cell in line.strip("│┃ ").split("│")] for line in output.splitlines() if "│" in line]
    return [each for each in found if tuple(each[: len(cells)]) == cells]


def test_judges_and_baselines_are_rows(run: Run, directory: Path) -> None:
    result = run("judges", directory)
    assert result.exit_code == 0, result.output
    assert result.output.count("Dataset:") == 1
    good, longest, second = (
        row(result.output, name, asked)
        for name, asked in (
            ("mockllm/good", "overall, ab"),
            ("baseline/longest", "overall, ab"),
            ("baseline/second", "ab"),
        )
    )
    # pairs; overall accuracy over all with its interval, and over what was read; no columns of dimensions
    assert good[2:] == ["8", "100.0", "100.0"]  # without spread there is no interval
    assert longest[3].startswith("71.4 (")  # 5 / 7
    assert second[3].startswith("14.3 (")  # 1 / 7
    habits = row(result.output, "mockllm/good", "12.5")  # unread: the tie of eight
    # alpha; no flips without both orders; `good` prefers the longer response in 5 of 7 and the first in 6 of 7; the
    # scripted model has no price
    assert [*habits[2:6], habits[6]] == ["1.00", "-", "71.4", "85.7", "-"]
    words = " ".join(result.output.split())
    assert "The labels prefer the longer response in 71.4%." in words
    assert "(all) counts unread verdicts as wrong, and judges are sorted and tested by it" in words
    assert "Baselines without a log are computed in the order 'ab', random with seed 0." in words
    assert "No call has a known cost: mockllm/" in words
    assert "copy_overall" not in words  # nobody was asked about dimensions
    assert "n of m" not in words


def test_tests_are_put_in_words(run: Run, directory: Path) -> None:
    output = run("judges", directory, "--published", "none").output
    # Three tests: good and bad against each other and against the best baseline, `first`. 3 * 2 / 128 = 0.047.
    assert row(output, "mockllm/good", "mockllm/bad")[-4:] == ["7 : 0", "0.016", "0.047", "mockllm/good is better"]
    assert row(output, "mockllm/good", "baseline/first")[-1] == "cannot tell apart"
    assert not rows(output, "mockllm/good", "baseline/longest")
    assert "PUBLISHED" not in output


def test_what_a_log_lacks_is_said(run: Run, tmp_path: Path) -> None:
    from inspect_ai.log import write_eval_log

    logs = judge_pairs(tmp_path)
    for name in ("good", "bad"):
        log = logs[name]
        calls = [event for sample in log.samples or [] for event in sample.events if event.event == "model"]
        for call in calls:
            assert call.output.usage is not None
            call.output.usage.total_cost = 0.002
        if name == "good":
            calls[0].output.usage = None
        else:
            log.samples = (log.samples or [])[:3]
        write_eval_log(log, log.location)
    output = run("judges", tmp_path / "logs").output
    assert row(output, "mockllm/bad", "overall, ab")[2] == "3 of 8"
    words = " ".join(output.split())
    assert "'n of m': judged only some of the pairs" in words
    assert "Calls without a known cost are counted as the mean of the others: mockllm/good 1 of 8." in words
    assert row(output, "mockllm/good", "12.5")[6] == "2.00"  # 1,000 times 0.002 dollars


@pytest.mark.parametrize("kind", ["pairs", "dimensions", "ratings", "rubric", "published"])
def test_tables_fit_110_columns(
    run: Run, directory: Path, rated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    if kind == "dimensions":
        judge_dimensions(tmp_path)
    if kind == "rubric":
        judge_with_rubric(tmp_path)
    where = {"pairs": directory, "ratings": rated, "published": directory}.get(kind, tmp_path / "logs")
    monkeypatch.setenv("COLUMNS", "110")
    output = run("judges", where, "--published", "all" if kind == "published" else "none").output
    assert max(len(line) for line in output.splitlines()) <= 110
    assert "…" not in output
    whole = {
        "pairs": "71.4 (",
        "dimensions": "100.0",
        "ratings": "-1.000",
        "rubric": "1.000",
        "published": "82.33",
    }
    assert whole[kind] in output


@pytest.mark.parametrize("kind", ["pairs", "dimensions", "ratings", "rubric"])
@pytest.mark.parametrize("width", [80, 72])
def test_names_and_numbers_can_be_read_on_a_narrow_terminal(
    run: Run, directory: Path, rated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, width: int
) -> None:
    if kind == "dimensions":
        judge_dimensions(tmp_path)
    if kind == "rubric":
        judge_with_rubric(tmp_path)
    where = {"pairs": directory, "ratings": rated}.get(kind, tmp_path / "logs")
    monkeypatch.setenv("COLUMNS", str(width))
    output = run("judges", where, "--published", "none").output
    assert max(len(line) for line in output.splitlines()) <= width
    assert "…" not in output
    for line in output.splitlines():
        if line.startswith("┏"):
            # The first column holds names: no table without one of a readable width.
            assert len(line.split("┳")[0]) > 10
    monkeypatch.setenv("COLUMNS", "200")
    assert sorted(_words(output)) == sorted(_words(run("judges", where, "--published", "none").output))


def _words(output: str) -> str:
    """All letters and digits of tables, in whatever columns and lines they stand."""
    return "".join(letter for line in output.splitlines() if "│" in line for letter in line if letter.isalnum())


@pytest.mark.parametrize(("option", "tables"), [("all", 4), ("matching", 0), ("none", 0)])
def test_published_tables_are_marked(run: Run, directory: Path, option: str, tables: int) -> None:
    output = run("judges", directory, "--published", option).output
    assert output.count("Published, Table") == tables
    assert ("PUBLISHED, NOT MEASURED HERE" in output) == (tables > 0)


def test_published_tables_about_other_data_are_not_shown_unasked(run: Run, directory: Path) -> None:
    assert "PUBLISHED" not in run("judges", directory).output


def test_published_numbers_stand_as_printed(run: Run, directory: Path) -> None:
    output = run("judges", directory, "--published", "all").output
    assert row(output, "SaMer-8B", "75.67") == ["SaMer-8B", "75.67", "82.33"]
    assert row(output, "ArmoRM-8B", "-") == ["ArmoRM-8B", "-", "79.33"]
    assert row(output, "GPT-4o", "0.434")[1:4] == ["0.434", "0.306", "0.263"]


# --- dimensions ---


def test_dimensions_have_a_column_and_tests_of_their_own(run: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    made = tmp_path_factory.mktemp("joint")
    judge_dimensions(made)
    result = run("judges", made / "logs", "--published", "none")
    assert result.exit_code == 0, result.output
    sharp, halo = (row(result.output, f"mockllm/{name}", "joint, ab") for name in ("sharp", "halo"))
    # pairs; accuracy overall and on the dimension that has no ties, over all and over read verdicts
    assert sharp[2:] == ["8", "100.0", "100.0", "100.0", "100.0"]
    assert halo[2:] == ["8", "100.0", "100.0", "0.0", "0.0"]
    told = row(result.output, "baseline/copy_overall", "ab")
    assert told[3:] == ["-", "-", "100.0", "100.0"]
    tables = result.output.split("on the same pairs: ")
    assert [table.splitlines()[0].split(" │")[0].strip() for table in tables[1:]] == [
        "verdicts as a whole",
        "verdicts on dimensions",
    ]
    assert "mockllm/sharp is better" in tables[2] and "is better" not in tables[1]


# --- ratings ---


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("rated")
    judge_ratings(made)
    return made / "logs"


def test_judges_that_rate_have_a_table(run: Run, rated: Path) -> None:
    result = run("judges", rated, "--published", "none")
    assert result.exit_code == 0, result.output
    correlations = {name: row(result.output, f"mockllm/{name}", "12")[2:] for name in ("same", "other", "coarse")}
    assert correlations["same"] == ["1.000"] * 3
    assert correlations["other"][0] == "-1.000"
    rest = {name: row(result.output, f"mockllm/{name}", "-")[2:5] for name in ("same", "coarse")}
    assert rest["same"] == ["+0.00", "0.0", "-"]  # the scripted model has no price
    assert rest["coarse"][1] == "8.3"  # 1 of 12 unread
    assert "By intent" not in result.output


def test_judges_that_rate_are_compared(run: Run, rated: Path) -> None:
    output = run("judges", rated, "--published", "none").output
    # 2 / 2001 = 0.0010, adjusted for three tests 0.0030; twelve responses of both; by Pearson and by Spearman.
    found = rows(output, "mockllm/same", "mockllm/other")
    assert [each[2:] for each in found] == [["+2.000", "<0.001", "0.003", "12", "mockllm/same is better"]] * 2


def test_with_a_rubric_there_is_a_table_by_intent(run: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    made = tmp_path_factory.mktemp("rubric")
    judge_with_rubric(made)
    result = run("judges", made / "logs", "--published", "none")
    assert result.exit_code == 0, result.output
    assert "By intent: mockllm/same" in result.output
    assert row(result.output, "leisure")[1:3] == ["6", "1.00"]
    assert row(result.output, "factual_qa")[1] == "6"


# --- everything else that logs hold ---


def test_more_is_shown_by_group_measure_and_failure(run: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    made = tmp_path_factory.mktemp("details")
    judge_dimensions(made)
    shown = [part for what in ("scenario", "measure", "failure") for part in ("--by", what)]
    output = run("judges", made / "logs", "--published", "none", *shown).output
    for measure in ("three_way", "accuracy_all"):
        whole, dimensions = rows(output, measure)
        assert len(whole) == len(dimensions) == 3  # one column for each judge


def test_groups_and_failures_that_do_not_exist_are_named(run: Run, directory: Path, tmp_path: Path) -> None:
    plain = run("judges", directory, "--published", "none").output
    for what in ("intent", "language"):
        output = run("judges", directory, "--published", "none", "--by", what).output
        [more] = [line for line in output.splitlines() if line and line not in plain.splitlines()]
        assert f"by {what}" in more and "no such groups" in more
    judge_with_rubric(tmp_path)
    output = run("judges", tmp_path / "logs", "--published", "none", "--by", "failure", "--by", "intent").output
    assert "Failures: none." in output
    assert "no such groups" not in output  # there are intents


def test_all_numbers_are_written_and_no_file_is_replaced(
    run: Run, rated: Path, directory: Path, tmp_path: Path
) -> None:
    path = tmp_path / "numbers.csv"
    result = run("judges", rated, directory, "--published", "none", "--csv", path)
    assert result.exit_code == 0, result.output
    with path.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    named = {one["judge"] for one in found}
    assert {"mockllm/good", "baseline/longest", "mockllm/same", "mockllm/coarse"} <= named
    [unread] = [one for one in found if (one["judge"], one["measure"]) == ("mockllm/coarse", "unread")]
    assert float(unread["value"]) == pytest.approx(1 / 12)
    before = path.read_bytes()
    again = run("judges", rated, "--csv", path)
    assert again.exit_code == 1 and "exists" in again.output
    assert path.read_bytes() == before


# --- logs of several kinds ---


def test_pairs_and_ratings_are_shown_and_other_logs_named(
    run: Run, directory: Path, rated: Path, tmp_path: Path
) -> None:
    judged(tmp_path / "foreign", Script(record(5)).model())
    alone = run("judges", directory, rated, "--published", "none").output
    assert alone.count("Dataset:") == 2
    assert "Left out" not in alone
    output = " ".join(run("judges", directory, rated, tmp_path / "foreign", "--published", "none").output.split())
    assert output.count("Dataset:") == 2
    assert (
        "Left out: 1 log has no pairs scored by pair_verdict and no responses scored by rating_agreement (1 of task)."
    ) in output


def test_only_foreign_logs_are_an_error(run: Run, tmp_path: Path) -> None:
    judged(tmp_path / "foreign", Script(record(5)).model())
    result = run("judges", tmp_path / "foreign")
    assert result.exit_code == 1
    assert result.output.startswith("Error: no log that is finished and has pairs scored by pair_verdict or responses")


@pytest.mark.parametrize("argument", ["missing.eval", "."])
def test_without_a_log_there_is_one_line(
    run: Run, argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("judges", argument)
    assert result.exit_code == 1
    assert result.output.startswith("Error: no log")
