"""Usage of models and judges, in all and judge by judge."""

from typing import Any

from tests.logs.test_scores import numbers
from tests.reports.judged_logs import tokens
from urs_inspect.estimating._actual_use import summed
from urs_inspect.estimating._lengths import usage_by_judge
from urs_inspect.logs._scores import Usage


def test_usage_of_several_samples_is_summed_by_model() -> None:
    found = summed([{"m": tokens(1, 2), "n": tokens(5, 6)}, {"m": tokens(10, 20)}, {}])
    assert {name: (used.input_tokens, used.output_tokens) for name, used in found.items()} == {
        "m": (11, 22),
        "n": (5, 6),
    }


def test_usage_of_a_panel_is_told_by_judge_where_the_parts_add_up() -> None:
    models = {"j/one": tokens(100, 10), "j/two": tokens(200, 20)}
    judges = list(models)

    def parts(together: Usage, names: list[str] = judges) -> dict[str, Any] | None:
        found = usage_by_judge("p/model", names, models, Usage(7, 7, 7), together)
        if found is None:
            return None
        return {name: numbers(usage)[:2] for name, usage in found.items()}

    assert parts(Usage(300, 30)) == {"j/one": (100, 10), "j/two": (200, 20)}
    assert parts(Usage(300.4, 29.6)) == {"j/one": (100, 10), "j/two": (200, 20)}
    assert parts(Usage(301, 30)) is None
    assert parts(Usage(300, 31)) is None
    assert parts(Usage(200, 20), ["j/one", "j/one"]) is None
    assert parts(Usage(100, 10), ["j/one", "j/one"]) is None  # which of the two used what
    assert parts(Usage(100, 10), ["j/one", "never called"]) == {
        "j/one": (100, 10),
        "never called": (0, 0),
    }


def test_a_judge_that_answered_as_well_is_told_without_its_answers() -> None:
    models = {"p/model": tokens(150, 15, 1.5), "j/two": tokens(200, 20, 2.0)}
    judges = ["p/model", "j/two"]
    own = Usage(50, 5, 0.5)
    found = usage_by_judge("p/model", judges, models, own, Usage(300, 30, 3.0))
    assert found is not None
    assert {name: numbers(usage) for name, usage in found.items()} == {
        "p/model": (100, 10, 1),
        "j/two": (200, 20, 2),
    }
