"""What a release ships: every file of the package, and in the metadata every library that it
imports.
"""

import ast
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from urs_inspect.datasets._sources import SOURCES

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "urs_inspect"
FILES = {
    path.relative_to(ROOT / "src").as_posix()
    for path in SOURCE.rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}
LARGEST = 1_000_000
"""Bytes that a shipped file may have."""
DECLARED: dict[str, Any] = yaml.safe_load((SOURCE / "eval.yaml").read_text("utf-8"))
REGISTER = sorted(path.parent.name for path in ROOT.glob("register/*/eval.yaml"))


@pytest.fixture(scope="module")
def source_distribution(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist of this checkout, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    built = build("sdist", ROOT, folder)
    with tarfile.open(built) as archive:
        archive.extractall(folder, filter="data")
    return folder / built.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(source_distribution: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a wheel built from the sdist, by name."""
    with zipfile.ZipFile(
        build("wheel", source_distribution, tmp_path_factory.mktemp("wheel"))
    ) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def build(target: str, project: Path, folder: Path) -> Path:
    """Build one distribution of a project."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [built] = [path for path in folder.iterdir() if path.is_file()]
    return built


def test_the_source_distribution_holds_every_file_of_the_package(source_distribution: Path) -> None:
    source = source_distribution / "src"
    assert {
        path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()
    } == FILES
    assert len(FILES) > 100


def test_a_wheel_built_from_the_source_distribution_holds_every_file_and_nothing_else(
    wheel: dict[str, bytes],
) -> None:
    shipped = {name for name in wheel if ".dist-info/" not in name}
    assert shipped == FILES
    assert {"LICENSE", "NOTICE", "entry_points.txt"} <= {
        name.rpartition("/")[2] for name in wheel.keys() - shipped
    }


@pytest.mark.satellites
def test_the_source_distribution_holds_what_people_look_for_at_its_top(
    source_distribution: Path,
) -> None:
    for name in (
        "CITATION.cff",
        "SECURITY.md",
        "CHANGELOG.md",
        "register/urs/eval.yaml",
        "tests/test_packaging.py",
    ):
        assert (source_distribution / name).is_file(), name


def test_nothing_that_is_shipped_is_large_or_names_this_machine(
    source_distribution: Path, wheel: dict[str, bytes]
) -> None:
    files = [path for path in source_distribution.rglob("*") if path.is_file()]
    shipped = {
        str(path.relative_to(source_distribution)): path.read_bytes() for path in files
    } | wheel
    paths = {
        str(path).encode() for path in (ROOT, Path.home(), Path(sys.prefix)) if len(path.parts) > 2
    }
    assert paths
    assert not {name for name, content in shipped.items() if len(content) > LARGEST}
    assert not {name for name, content in shipped.items() if any(path in content for path in paths)}


def test_every_library_that_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    requirements = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    declared = {normal(re.split(r"[^\w.-]", requirement)[0]) for requirement in requirements}
    distributions = packages_distributions()
    undeclared = {
        f"{path.relative_to(SOURCE)}: {module}"
        for path in sorted(SOURCE.rglob("*.py"))
        for module in imported(ast.parse(path.read_text("utf-8")))
        - {
            *sys.stdlib_module_names,
            "urs_inspect",
        }
        if declared.isdisjoint(map(normal, distributions.get(module, [module])))
    }
    assert not undeclared


def test_the_imports_of_a_file_are_found_wherever_they_stand() -> None:
    lines = [
        "import a.b as c, d",
        "from e.f import g",
        "from . import h",
        "def i():",
        "    import j",
    ]
    assert imported(ast.parse("\n".join(lines))) == {"a", "d", "e", "j"}


def imported(tree: ast.Module) -> set[str]:
    """Top-level modules that a file imports, at once or later."""
    nodes = list(ast.walk(tree))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named = {
        node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
    }
    return {name.partition(".")[0] for name in plain | named}


def normal(name: str) -> str:
    """The name of a distribution as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_published_file_is_an_external_asset_with_its_hash() -> None:
    assets = {asset["source"]: asset for asset in DECLARED["external_assets"]}
    assert assets.keys() == {source.url for source in SOURCES.values()}
    for source in SOURCES.values():
        asset = assets[source.url]
        # The schema of inspect_evals has this name for a download whose hash is checked.
        assert (asset["fetch_method"], asset["state"]) == ("download_and_verify", "pinned")
        assert source.expected in asset["comment"]
        assert source.licence in asset["comment"]


@pytest.mark.parametrize("name", REGISTER)
def test_an_entry_of_the_register_is_about_one_task_that_exists(name: str) -> None:
    entry = yaml.safe_load((ROOT / "register" / name / "eval.yaml").read_text("utf-8"))
    [task] = entry["tasks"]
    module = ast.parse((ROOT / task["task_path"]).read_text("utf-8"))
    assert name == task["name"]
    assert name in {
        node.name
        for node in module.body
        if isinstance(node, ast.FunctionDef) and "task" in map(ast.unparse, node.decorator_list)
    }
    sizes = {each["name"]: each["dataset_samples"] for each in DECLARED["tasks"]}
    assert task.get("dataset_samples") == sizes.get(name)
    assert (
        len(entry["description"].split()) <= 80
    )  # the most that the register's instructions allow


@pytest.mark.parametrize("name", ["", *REGISTER])
def test_the_schema_of_inspect_evals_accepts_our_entries(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    reason = "inspect-evals is not installed; `make test-package` runs this with it"
    schema = pytest.importorskip("inspect_evals.metadata", reason=reason)
    if not name:
        declared = schema.InternalEvalMetadata(**DECLARED, id="urs_inspect")
        assert {task.name for task in declared.maintenance_tasks} == {"urs_probe", "urs_references"}
        return
    text = (ROOT / "register" / name / "eval.yaml").read_text("utf-8")
    assert schema.ExternalEvalMetadata(**yaml.safe_load(text), id=name).package == "urs-inspect"
    assert not caplog.records  # it warns where an entry has several tasks


@pytest.mark.satellites
def test_messages_and_pages_name_extras_that_exist() -> None:
    extras = set(
        tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
            "optional-dependencies"
        ]
    )
    pages = [*SOURCE.rglob("*.py"), ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {
        extra
        for page in pages
        for found in re.findall(
            r"pip install '(?:urs-inspect|\.)\[([^]]+)\]'", page.read_text("utf-8")
        )
        for extra in found.split(",")
    }
    assert {"samer", "viz", "lm-eval"} <= named <= extras
