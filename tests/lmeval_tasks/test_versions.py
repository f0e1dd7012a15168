from importlib.metadata import requires, version

from packaging.requirements import Requirement


def test_extras_allow_what_is_tested_and_nothing_from_0_5_on() -> None:
    stated = [Requirement(line) for line in requires("urs-inspect") or ()]
    ranges = [one.specifier for one in stated if one.name == "lm-eval"]
    assert ranges
    for allowed in ranges:
        assert version("lm_eval") in allowed and "0.4.13" in allowed
        assert "0.4.12" not in allowed and "0.5.0" not in allowed
