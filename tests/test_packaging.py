"""What a release ships: every file of the package, and in the metadata every library that it imports."""

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

import pytest
import yaml

from urs_inspect.datasets.sources import SOURCES

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "urs_inspect"
FILES = {
    path.relative_to(ROOT / "src").as_posix()
    for path in SOURCE.rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}


@pytest.fixture(scope="module")
def source_distribution(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist of this checkout, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    built = build("sdist", ROOT, folder)
    with tarfile.open(built) as archive:
        archive.extractall(folder, filter="data")
    return folder / built.name.removesuffix(".tar.gz")


def build(target: str, project: Path, folder: Path) -> Path:
    """Build one distribution of a project."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [built] = [path for path in folder.iterdir() if path.is_file()]
    return built


def test_the_source_distribution_holds_every_file_of_the_package(source_distribution: Path) -> None:
    source = source_distribution / "src"
    assert {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()} == FILES
    assert len(FILES) > 100


def test_a_wheel_built_from_the_source_distribution_holds_every_file(source_distribution: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(build("wheel", source_distribution, tmp_path)) as archive:
        shipped = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert shipped == FILES


def test_every_library_that_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    requirements = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    declared = {normal(re.split(r"[^\w.-]", requirement)[0]) for requirement in requirements}
    distributions = packages_distributions()
    undeclared = {
        f"{path.relative_to(SOURCE)}: {module}"
        for path in sorted(SOURCE.rglob("*.py"))
        for module in imported(ast.parse(path.read_text("utf-8"))) - {*sys.stdlib_module_names, "urs_inspect"}
        if declared.isdisjoint(map(normal, distributions.get(module, [module])))
    }
    assert not undeclared


def test_the_imports_of_a_file_are_found_wherever_they_stand() -> None:
    lines = ["import a.b as c, d", "from e.f import g", "from . import h", "def i():", "    import j"]
    assert imported(ast.parse("\n".join(lines))) == {"a", "d", "e", "j"}


def imported(tree: ast.Module) -> set[str]:
    """Top-level modules that a file imports, at once or later."""
    nodes = list(ast.walk(tree))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.partition(".")[0] for name in plain | named}


def normal(name: str) -> str:
    """The name of a distribution as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_external_asset_says_how_it_is_fetched() -> None:
    assets = yaml.safe_load((SOURCE / "eval.yaml").read_text("utf-8"))["external_assets"]
    assert assets
    for asset in assets:
        # The schema of inspect_evals asks for these, and has this name for a download whose hash is checked.
        assert {"type", "source", "fetch_method", "state"} <= set(asset)
        assert asset["fetch_method"] == "download_and_verify"
        assert asset["source"] in {source.url for source in SOURCES.values()}


def test_messages_and_pages_name_extras_that_exist() -> None:
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"])
    pages = [*SOURCE.rglob("*.py"), ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    named = {
        extra
        for page in pages
        for found in re.findall(r"pip install '(?:urs-inspect|\.)\[([^]]+)\]'", page.read_text("utf-8"))
        for extra in found.split(",")
    }
    assert {"samer", "viz", "lm-eval"} <= named <= extras
