"""No line does two things at once: forms that read worse than the lines they save."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "urs_inspect"
MOST = 0
"""Squeezed lines that are left; the number only falls."""
_LITERALS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.IfExp)
_DISPLAYS = (ast.List, ast.Tuple, ast.Set)


def squeezed(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and kind of each form that should be several lines, or an `if`."""
    for node in ast.walk(tree):
        yield from _assignments(node)
        yield from _spliced_literals(node)
        yield from _loops_over_one(node)
        yield from _odd_products(node)


def _assignments(node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.Assign(targets=[ast.Tuple() as names], value=ast.Tuple() as values):
            if not _is_swap(names, values):
                yield node.lineno, "tuple assignment"


def _spliced_literals(node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.Starred(value=value) if isinstance(value, _LITERALS):
            yield node.lineno, "literal spliced into a literal"
        case ast.Dict(keys=keys, values=parts):
            for key, part in zip(keys, parts, strict=True):
                if key is None and isinstance(part, _LITERALS):
                    yield part.lineno, "literal spliced into a literal"


def _loops_over_one(node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.For(iter=iterated) | ast.comprehension(iter=iterated):
            if isinstance(iterated, _DISPLAYS) and len(iterated.elts) == 1:
                yield iterated.lineno, "loop over one element"


def _odd_products(node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            if (_is_text(left) and _is_truth(right)) or (_is_text(right) and _is_truth(left)):
                yield node.lineno, "text multiplied by a condition"
            if _is_zero(left) or _is_zero(right):
                yield node.lineno, "number multiplied by zero"


def _is_swap(names: ast.Tuple, values: ast.Tuple) -> bool:
    """Whether a later value uses an earlier name, so that two lines would not do the same."""
    assigned = {ast.unparse(name) for name in names.elts}
    used = {ast.unparse(part) for value in values.elts for part in ast.walk(value)}
    return bool(assigned & used)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_truth(node: ast.expr) -> bool:
    return isinstance(node, (ast.Compare, ast.BoolOp)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


@pytest.mark.parametrize(
    "line",
    [
        "a, b = 1, 2",
        "a = [1, *(2, 3)]",
        "a = {1: 2, **{3: 4}}",
        "a = [1, *([2] if b else [])]",
        "for a in [b]:\n    print(a)",
        "a = 'dis' * (b < 0)",
        "a = b + 0 * c",
    ],
)
def test_a_squeezed_line_is_found(line: str) -> None:
    assert list(squeezed(ast.parse(line)))


@pytest.mark.parametrize(
    "line", ["a, b = b, a", "a, b = c", "a = [*b]", "for a in b:\n    pass", "a = '-' * 20"]
)
def test_a_plain_line_is_not(line: str) -> None:
    assert not list(squeezed(ast.parse(line)))


def test_no_line_of_the_source_is_squeezed() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {kind}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, kind in squeezed(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert len(found) <= MOST, "\n".join(found)
