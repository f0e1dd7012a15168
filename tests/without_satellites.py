"""Whether each part stands without the others: deletes satellites in a copy of the repository and
tests what is left there.

    python -m tests.without_satellites            # all of them: the tests of core
    python -m tests.without_satellites NAME ...   # some
    python -m tests.without_satellites --today    # one, another one every day

After some, the tests of the other satellites run, and those of commands and of what is registered,
exported or imported: these find satellites by name. All other tests of core are left out, as they
run without any satellite when all are deleted, and would take most of the time.
Left out are as well tests that name a deleted satellite or one of its tasks, or have the mark
`satellites`, and those that need a browser.
"""

import argparse
import ast
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path

from urs_inspect._satellites import SATELLITES, satellites

ROOT = Path(__file__).parents[1]
_COPIED = ("src", "tests", "benchmarks", "configs", "docs")
_USUAL_WORDS = {
    "agreement",
    "embedding",
    "importing",
    "judges",
    "rating",
    "scale",
}  # also in names of tests of core
_FINDS_SATELLITES = ("tests/cli", "tests/test_api.py", "tests/test_import.py")
_MARKED = "not vllm and not ray and not browser and not satellites"


def main() -> None:
    """Test what is left without the satellites that are named; exits as pytest does."""
    parser = argparse.ArgumentParser(description="Test what is left without satellites.")
    parser.add_argument("names", nargs="*", choices=[[], *SATELLITES], metavar="NAME")
    parser.add_argument("--today", action="store_true", help="the satellite whose turn it is")
    parser.add_argument("--pytest", default="", metavar="OPTIONS", help="handed to pytest")
    given = parser.parse_args()
    if given.today:
        given.names.append(_satellite_of(datetime.now()))
    gone = given.names or SATELLITES
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        _copy_without(gone, copy)
        needing = list(_modules_that_import(gone, copy))
        listed = ", ".join(needing) or "none"
        sys.stdout.write(f"without {', '.join(gone)}; left out, as they import it: {listed}\n")
        sys.stdout.flush()
        command = [sys.executable, "-m", "pytest", "-q", "-m", _MARKED]
        command += ["-k", _not_named(gone)]
        command += [f"--ignore={module}" for module in needing]
        command += _tests_that_matter(gone)
        environment = os.environ | {"PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}"}
        ended = subprocess.run(
            [*command, *shlex.split(given.pytest)], cwd=copy, env=environment, check=False
        )
    sys.exit(ended.returncode)


def _satellite_of(day: datetime) -> str:
    """The satellite whose turn it is on a day."""
    return SATELLITES[day.timetuple().tm_yday % len(SATELLITES)]


def _tests_that_matter(gone: Collection[str]) -> list[str]:
    """What pytest is given: all tests of core, or those that the module's docstring names."""
    left = [f"tests/{name}" for name in SATELLITES if name not in gone]
    if left:
        return [*_FINDS_SATELLITES, *left]
    return []


def _copy_without(gone: Collection[str], copy: Path) -> None:
    for part in _COPIED:
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.iterdir():
        if file.is_file() or file.is_symlink():
            shutil.copy(file, copy, follow_symlinks=False)
    registry = copy / "src" / "urs_inspect" / "_satellites.py"
    text = registry.read_text(encoding="utf-8")
    for name in gone:
        shutil.rmtree(copy / "src" / "urs_inspect" / name)
        shutil.rmtree(copy / "tests" / name)
        text = text.replace(f'    "{name}",\n', "")
    registry.write_text(text, encoding="utf-8")


def _modules_that_import(gone: Collection[str], copy: Path) -> Iterator[str]:
    """Modules of tests that import a satellite when they are loaded, themselves or by
    another module of the tests or benchmarks.
    """
    imports = {}
    for folder in ("tests", "benchmarks"):
        for file in (copy / folder).rglob("*.py"):
            module = ".".join(file.relative_to(copy).with_suffix("").parts)
            imports[module] = set(_imported(file))
    reached = {f"{root}.{name}" for root in ("urs_inspect", "tests") for name in gone}
    while True:
        more = {module for module, names in imports.items() if names & reached} - reached
        if not more:
            break
        reached |= more
    for module in sorted(reached & imports.keys()):
        if module.rpartition(".")[2].startswith("test_"):
            yield f"{module.replace('.', '/')}.py"


def _imported(file: Path) -> Iterator[str]:
    """The modules that a module imports when it is loaded, with the packages that they are in."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in tree.body:
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        parts = node.module.split(".")
        yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _not_named(gone: Collection[str]) -> str:
    """The expression of pytest that leaves out tests named after satellites or their tasks."""
    words = set(gone)
    for name, satellite in zip(SATELLITES, satellites(), strict=True):
        if name in gone:
            words |= set(satellite.tasks)
    return " and ".join(f"not {word}" for word in sorted(words - _USUAL_WORDS))


if __name__ == "__main__":
    main()
