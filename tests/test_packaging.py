"""What a release ships: every file of the package, and in the metadata every library that it imports."""

import ast
import re
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import tomllib

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
