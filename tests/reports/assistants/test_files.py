"""Models and assistants as files."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.reports.assistants.logs import NOTHING, SEARCH, write_assistant
from urs_inspect.errors import InputError
from urs_inspect.reports.assistants.answers import read_assistants
from urs_inspect.reports.assistants.comparison import compare_assistants
from urs_inspect.reports.assistants.files import write_files


def test_numbers_names_and_warnings_are_in_the_files(tmp_path: Path) -> None:
    write_assistant(tmp_path / "m.eval", {"a": 9.0, "b": 5.0}, model="urs_simulation/a|b")
    write_assistant(tmp_path / "s.eval", {"a": 4.0, "b": NOTHING}, SEARCH)
    report = compare_assistants(read_assistants([str(tmp_path)]), rounds=50)
    files = write_files(report, tmp_path / "out")
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    rows = list(csv.DictReader(io.StringIO(texts["assistants.csv"])))
    assert [(row["mean"], row["low"], row["scored"], row["became"]) for row in rows] == [
        ("9.0", "", "2", "scored 2"),
        ("4.0", "", "1", "scored 1, found nothing 1"),
    ]
    [gap] = csv.DictReader(io.StringIO(texts["assistants_differences.csv"]))
    assert (gap["difference"], gap["n"], gap["p"], gap["apart"]) == ("5.0", "1", "", "false")
    assert "urs\\_simulation/a\\|b" in texts["assistants.md"] and "SIMULATION" in texts["assistants.md"]
    found = json.loads(texts["assistants.json"])
    assert found["comparisons"][0]["common"] == 1 and found["rounds"] == 50
    # The same again replaces it; a file of somebody else's does not.
    assert write_files(report, tmp_path / "out") == files
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "assistants.md").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds assistants\.md"):
        write_files(report, tmp_path / "other")
