"""Prints how the source reads: density, size of functions, public surface, options.

python benchmarks/house_size.py [DIRECTORY ...]

Figures for comparison with other packages, such as inspect_ai/scorer or arviz_stats. The number of
lines is no goal: fewer lines are easily had by squeezing, and then read worse.
"""

import ast
import inspect
import io
import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "urs_inspect"
MAX_BRANCHES = 12

_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_DOCUMENTED = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BRANCHES = (
    ast.If,
    ast.For,
    ast.While,
    ast.ExceptHandler,
    ast.IfExp,
    ast.BoolOp,
    ast.comprehension,
)


@dataclass
class Figures:
    """What was counted in a tree of Python files."""

    files: int = 0
    lines: int = 0
    tokens: int = 0
    code_lines: int = 0
    docstring_lines: int = 0
    tuple_assignments: int = 0
    spliced_literals: int = 0
    nested_comprehensions: int = 0
    conditional_expressions: int = 0
    branching_functions: int = 0
    public_names: int = 0


def measure(directory: Path) -> Figures:
    """Count over all Python files below a directory."""
    figures = Figures()
    for path in sorted(directory.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        figures.files += 1
        figures.lines += text.count("\n")
        _count_lines(figures, text, _docstring_lines(tree))
        for node in ast.walk(tree):
            _count_node(figures, node)
        if not _is_private(path.relative_to(directory)):
            figures.public_names += sum(map(_is_public, tree.body))
    return figures


def _docstring_lines(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            lines.update(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return lines


def _count_lines(figures: Figures, text: str, docstring_lines: set[int]) -> None:
    code_lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _NO_CODE or token.start[0] in docstring_lines:
            continue
        figures.tokens += 1
        code_lines.update(range(token.start[0], token.end[0] + 1))
    figures.code_lines += len(code_lines)
    figures.docstring_lines += len(docstring_lines)


def _count_node(figures: Figures, node: ast.AST) -> None:
    figures.tuple_assignments += _is_tuple_assignment(node)
    figures.spliced_literals += _spliced_literals(node)
    figures.conditional_expressions += isinstance(node, ast.IfExp)
    if isinstance(node, _COMPREHENSIONS):
        figures.nested_comprehensions += len(node.generators) > 1
    if isinstance(node, _FUNCTIONS):
        branches = sum(isinstance(part, _BRANCHES) for part in ast.walk(node))
        figures.branching_functions += branches > MAX_BRANCHES


def _is_tuple_assignment(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple)
        and isinstance(node.value, ast.Tuple)
    )


def _spliced_literals(node: ast.AST) -> int:
    """How many literals or conditional expressions are unpacked into a literal."""
    if isinstance(node, ast.Dict):
        unpacked = [value for key, value in zip(node.keys, node.values, strict=True) if key is None]
        return sum(isinstance(value, (ast.Dict, ast.IfExp)) for value in unpacked)
    if isinstance(node, (ast.List, ast.Tuple)):
        starred = [part.value for part in node.elts if isinstance(part, ast.Starred)]
        return sum(isinstance(value, (ast.Tuple, ast.List, ast.IfExp)) for value in starred)
    return 0


def _is_private(path: Path) -> bool:
    return any(part.startswith("_") and part != "__init__.py" for part in path.parts)


def _is_public(node: ast.stmt) -> bool:
    return isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and not node.name.startswith("_")


def print_figures(directory: Path) -> None:
    """Print the figures of one directory."""
    figures = measure(directory)
    thousands = max(figures.code_lines, 1) / 1000
    rows = {
        "files": f"{figures.files:,}",
        "lines": f"{figures.lines:,}",
        "code lines": f"{figures.code_lines:,}",
        "docstring lines": f"{figures.docstring_lines:,}",
        "code tokens": f"{figures.tokens:,}",
        "tokens a code line": f"{figures.tokens / max(figures.code_lines, 1):.2f}",
        "tuple assignments per 1,000": f"{figures.tuple_assignments / thousands:.1f}",
        "spliced literals per 1,000": f"{figures.spliced_literals / thousands:.1f}",
        "nested comprehensions per 1,000": f"{figures.nested_comprehensions / thousands:.1f}",
        "conditional expressions per 1,000": f"{figures.conditional_expressions / thousands:.1f}",
        f"functions with more than {MAX_BRANCHES} branches": f"{figures.branching_functions:,}",
        "public names in public modules": f"{figures.public_names:,}",
    }
    print(directory.name)
    for name, value in rows.items():
        print(f"  {name:38}{value:>9}")


def print_core() -> None:
    """Print how many of the tokens are left without the satellites."""
    from urs_inspect._satellites import SATELLITES

    satellites = sum(measure(SOURCE / name).tokens for name in SATELLITES)
    print(f"  {'code tokens of core':38}{measure(SOURCE).tokens - satellites:>9,}")


def print_options() -> None:
    """Print how many options the commands have and how many arguments the tasks."""
    import click

    from urs_inspect import tasks
    from urs_inspect._satellites import at, satellites
    from urs_inspect.cli import main as command

    def options(group: click.Command) -> int:
        """Count the options of a command, or of all commands of a group."""
        own = sum(isinstance(parameter, click.Option) for parameter in group.params)
        if not isinstance(group, click.Group):
            return own
        context = click.Context(group)
        for name in group.list_commands(context):
            subcommand = group.get_command(context, name)
            if subcommand is not None:
                own += options(subcommand)
        return own

    arguments = 0
    made = [getattr(tasks, name) for name in tasks.__all__]
    for satellite in satellites():
        made += [at(address) for address in satellite.tasks.values()]
    for task in made:
        arguments += len(inspect.signature(task).parameters)
    print(f"  {'options of commands':38}{options(command):>9,}")
    print(f"  {'arguments of tasks':38}{arguments:>9,}")


def main() -> None:
    """Measure the directories that are named, or else this package."""
    directories = [Path(name) for name in sys.argv[1:]]
    for directory in directories or [SOURCE]:
        print_figures(directory)
    if not directories:
        print_core()
        print_options()


if __name__ == "__main__":
    main()
