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
        yield from _conditional_parts(node)


def _assignments(node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.Assign(targets=[ast.Tuple() as names], value=ast.Tuple() as values):
            if not _is_swap(names, values):
                yield node.lineno, "tuple assignment"
        case ast.Assign(targets=[ast.Tuple()], value=ast.IfExp(body=body, orelse=other)):
            if isinstance(body, ast.Tuple) or isinstance(other, ast.Tuple):
                yield node.lineno, "tuple assignment under a condition"
        case ast.Assign(targets=[ast.Tuple()], value=value) if _is_over_display(value):
            yield node.lineno, "tuple assignment from a loop over a literal"


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


def _conditional_parts(node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            if _is_display_or_not(left) or _is_display_or_not(right):
                yield node.lineno, "literal joined under a condition"
        case ast.AugAssign(op=ast.BitOr(), value=value) if _is_display_or_not(value):
            yield node.lineno, "literal joined under a condition"
        case ast.IfExp(body=body, orelse=other):
            if any(isinstance(part, ast.IfExp) for part in (*ast.walk(body), *ast.walk(other))):
                yield node.lineno, "condition in a branch of a condition"


def _is_over_display(node: ast.expr) -> bool:
    """Whether it is a comprehension over a literal list or tuple, or a `map` over one."""
    match node:
        case ast.Call(func=ast.Name(id="map"), args=[_, *iterated]):
            return any(isinstance(part, _DISPLAYS) for part in iterated)
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
            return isinstance(node.generators[0].iter, _DISPLAYS)
    return False


def _is_display_or_not(node: ast.expr) -> bool:
    """Whether it is a literal under a condition."""
    return isinstance(node, ast.IfExp) and (
        isinstance(node.body, (ast.Dict, ast.Set)) or isinstance(node.orelse, (ast.Dict, ast.Set))
    )


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
        "a, b = (c, d) if e else (f, g)",
        "a, b = c() if e else (f, g)",
        "a, b = (c(d) for d in (e, f))",
        "a, b = [c(d) for d in [e, f]]",
        "a, b = map(c, (d, e))",
        "a = b | ({'c': d} if e else {})",
        "a |= {'c': d} if e else {}",
        "a = b if c else d if e else f",
        "a = (b if c else d) if e else f",
        "a = b + (c if d else e) if f else g",
    ],
)
def test_a_squeezed_line_is_found(line: str) -> None:
    assert list(squeezed(ast.parse(line)))


@pytest.mark.parametrize(
    "line",
    [
        "a, b = b, a",
        "a, b = c",
        "a = [*b]",
        "for a in b:\n    pass",
        "a = '-' * 20",
        "a, b = c() if d else e()",
        "a, b = (c(d) for d in e)",
        "a = [c(d) for d in (e, f)]",
        "a, b = map(c, d)",
        "a, b = max((c, d), (e, f))",
        "a = b | (c if d else e)",
        "a = b | {'c': d}",
        "a = b if (c if d else e) else f",
    ],
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
