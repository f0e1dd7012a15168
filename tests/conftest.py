"""Fixtures that every room of the tests shares."""

import gc
import os
import ssl

# Before anything imports NumPy or torch: matrices as small as those of the tests are slower on
# several threads, and much slower where every process of the suite has as many threads as the
# machine has cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# For each run the harness starts a server through which the run can be controlled; no test does.
os.environ.setdefault("INSPECT_EVAL_CTL_SERVER", "false")

from collections.abc import Callable, Iterator
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings
from inspect_ai._util.logger import init_logger

from urs_inspect.judging import PromptBuilder
from urs_inspect.rubrics import Rubric, load_rubric
from urs_inspect.solvers import _preflight as preflight
from urs_inspect.solvers import _structured as structured

if find_spec("urs_inspect.samer"):
    from tests.samer.engines import own_engines, stub_engine  # noqa: F401

settings.register_profile("ci", max_examples=30, deadline=None, database=None)
settings.register_profile("thorough", max_examples=500, deadline=None)
settings.load_profile("ci")  # another one: pytest --hypothesis-profile=thorough


_LONGEST = (
    *("judges/test_twins_task", "comparison/test_trust", "comparison/test_people"),
    *("tasks/test_mad", "tasks/test_mad_people", "adjusting/test_prior_of_votes"),
    "solvers/test_model_calls",
    *("reports/test_statistics", "agreement/test_levels", "samer/test_reward"),
    *(
        "tasks/test_urs",
        "tasks/test_judge_pairwise",
        "estimating/test_estimate",
        "answer_pages/test_written_pages",
    ),
    *("annotation/test_voting_page", "rating/test_rating_page", "reports/test_page"),
    *("samer/test_transformers_engine", "reports/test_crossval", "tasks/test_faults"),
    *(
        "cli/test_probe",
        "test_import",
        "viewer/test_inspect_view",
        "viewer/test_samer_view",
        "viewer/test_mad_view",
    ),
    *(
        "scorers/test_samer",
        "tasks/test_urs_crossval",
        "tasks/test_killed",
        "tasks/test_mad_killed",
    ),
    *("lmeval_tasks/test_command", "estimating/test_commands", "cli/test_start"),
    *("cli/test_reports", "cli/test_first_screen", "reports/test_judge_checks"),
    *("reports/test_corrected", "judging/test_sanitize", "reports/test_cautions"),
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that no process has one of them left when the
    others are finished.
    """
    order = {config.rootpath / "tests" / f"{name}.py": place for place, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: order.get(item.path, len(order)))


def pytest_collection_finish() -> None:
    """Collect garbage less often, and not what was imported, which takes a quarter of the time of
    short runs.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


@pytest.fixture(autouse=True, scope="session")
def _log_level_of_runs() -> None:
    """The harness keeps the log level of the first run of a process, which may be that of an
    estimate.
    """
    init_logger("warning")


@pytest.fixture(autouse=True, scope="session")
def _distributions_read_once() -> Iterator[None]:
    """The harness reads the files of all installed packages for every run.

    They do not change between two tests.
    """
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(
            "inspect_ai._util.package.packages_distributions",
            cache(metadata.packages_distributions),
        )
        yield


@pytest.fixture(autouse=True, scope="session")
def _logs_without_threads() -> Iterator[None]:
    """The harness starts twelve threads to compress each sample of a log, which takes ten times as
    long as to compress a small one.
    """
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("inspect_ai._util.zipfile._ZSTD_THREADS", 0, raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def _certificates_read_once() -> Iterator[None]:
    """Keep the certificates that each client of a server reads again, which is slow.

    The servers of these tests speak plain HTTP, so that no client needs a context of its own.
    """
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(autouse=True)
def _own_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep logs and caches of tests out of the user's."""
    monkeypatch.setenv("URS_INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "inspect-cache"))
    monkeypatch.delenv("URS_INSPECT_DATA_DIR", raising=False)
    monkeypatch.delenv("URS_INSPECT_PREFLIGHT", raising=False)
    monkeypatch.setattr(preflight, "_checked", {})  # a port may be that of another test's server
    structured.takes_schema.clear()


@pytest.fixture
def no_preflight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models get no tiny request before a run."""
    monkeypatch.setenv("URS_INSPECT_PREFLIGHT", "false")


_DATA_DIR = os.environ.get("URS_INSPECT_DATA_DIR")


@pytest.fixture
def data_dir(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The published data, which the suite must be given because it may not be bundled."""
    if not _DATA_DIR:
        pytest.skip("needs the published data: set URS_INSPECT_DATA_DIR")
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", _DATA_DIR)
    return Path(_DATA_DIR)


@pytest.fixture(scope="session")
def rubric() -> Rubric:
    """The built-in rubric."""
    return load_rubric()


@pytest.fixture(scope="session")
def prompts(rubric: Rubric) -> PromptBuilder:
    """Prompts from the built-in rubric."""
    return PromptBuilder(rubric)


def _judged(tmp_path_factory: pytest.TempPathFactory, judge: Callable[[Path], object]) -> Path:
    folder = tmp_path_factory.mktemp("judged")
    judge(folder)
    return folder / "logs"


@pytest.fixture(scope="session")
def pair_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of judges of eight labelled pairs, on the whole; no test changes them."""
    from tests.reports.pairs import judge_pairs

    return _judged(tmp_path_factory, judge_pairs)


@pytest.fixture(scope="session")
def joint_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of judges of the same pairs on dimensions and the whole; no test changes them."""
    from tests.reports.pairs import judge_dimensions

    return _judged(tmp_path_factory, judge_dimensions)


@pytest.fixture(scope="session")
def rating_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of judges that rate twelve responses; no test changes them."""
    from tests.reports.ratings import judge_ratings

    return _judged(tmp_path_factory, judge_ratings)


@pytest.fixture(scope="session")
def rubric_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a judge that rates with the rubric; no test changes it."""
    from tests.reports.ratings import judge_with_rubric

    return _judged(tmp_path_factory, judge_with_rubric)
