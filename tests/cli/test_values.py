"""Options of the form name=value."""

import pytest

from urs_inspect._util import InputError
from urs_inspect.cli._values import named_values


def test_values_are_yaml_and_of_a_name_given_twice_the_last_counts() -> None:
    given = ["a=1", "b-c=x=y", "d=[1, two]", "e=", "f={g: true}", "h=0.5", "a=2"]
    assert named_values(given, "-S") == {
        "a": 2,
        "b_c": "x=y",
        "d": [1, "two"],
        "e": None,
        "f": {"g": True},
        "h": 0.5,
    }
    assert named_values([], "-S") == {}


@pytest.mark.parametrize("given", ["a", "=1", "", "a=[", "a={b: ]"])
def test_what_is_no_name_with_a_value_is_refused_under_its_option(given: str) -> None:
    with pytest.raises(InputError) as caught:
        named_values(["fine=1", given], "-T")
    assert caught.value.message.startswith("-T: ")
    assert f"'{given}'" in caught.value.message
