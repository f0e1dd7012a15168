"""Prints how big the software is: files, lines, parameters of the largest tasks, README, exported names.

python benchmarks/house_size.py
"""

import inspect
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("assistants", "annotation", "datasets", "discrepancy", "judging", "rubrics", "samer", "stats")
GOALS = {"src files": 185, "src lines": 30_000, "test files": 180, "test lines": 27_000, "README characters": 12_000}
PARAMETERS = {"mad": 26, "urs": 14}


def main() -> None:
    """Print a table with the goals that there are."""
    import urs_inspect

    rows: list[tuple[str, int, int | None]] = []
    for folder in ("src", "tests"):
        files = [path for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in path.parts]
        name = folder.removesuffix("s")
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
        rows += [
            (f"{name} files", len(files), GOALS[f"{name} files"]),
            (f"{name} lines", lines, GOALS[f"{name} lines"]),
        ]
    for task, most in PARAMETERS.items():
        rows.append((f"parameters of {task}", len(inspect.signature(getattr(urs_inspect, task)).parameters), most))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows.append(("README characters", len(readme), GOALS["README characters"]))
    rows.append(("names exported by urs_inspect", len(urs_inspect.__all__), None))
    for room in ROOMS:
        exported = getattr(import_module(f"urs_inspect.{room}"), "__all__", ())
        rows.append((f"names exported by urs_inspect.{room}", len(exported), None))
    for what, number, goal in rows:
        print(f"{what:42}{number:>8,}" + (f"   at most {goal:>7,}" if goal else ""))


if __name__ == "__main__":
    main()
