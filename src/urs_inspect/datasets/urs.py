"""The URS cases: the published file, the embedded sample, or a user's own."""

from pathlib import Path

from urs_inspect.datasets.cases import UrsData
from urs_inspect.datasets.pinned import URS
from urs_inspect.datasets.sources import fetch
from urs_inspect.datasets.tabular import Vocabulary, read_cases
from urs_inspect.errors import InputError

_SAMPLE = Path(__file__).parent / "urs_sample.jsonl"


def load_urs(dataset: str, vocabulary: Vocabulary, *, lenient: bool = False, need_references: bool = True) -> UrsData:
    """Load cases by name or path.

    Args:
        dataset: `urs` for the 1,846 published cases (URS paper, Table 2), `sample` for the 42 embedded ones, or
            the path of a CSV or JSON Lines file.
        vocabulary: How labels in the file become ids of the rubric.
        lenient: Leave faulty rows of a user's file out instead of refusing it.
        need_references: Whether every row of a user's file needs a reference answer.

    Returns:
        The cases, in the order of the file. Published cases are called `urs_0001` to `urs_1846` by row.

    Raises:
        InputError: If the data cannot be had or a row is faulty.
    """
    if dataset == "urs":
        return read_cases(fetch(URS), "urs", vocabulary, id_prefix="urs")
    if dataset == "sample":
        return read_cases(_SAMPLE, "sample", vocabulary, id_prefix="sample")
    if not dataset.lower().endswith((".csv", ".jsonl")):
        raise InputError(f"unknown dataset '{dataset}'; allowed: urs, sample, or the path of a .csv or .jsonl file")
    path = Path(dataset).expanduser()
    return read_cases(path, dataset, vocabulary, id_prefix=path.stem, lenient=lenient, need_references=need_references)
