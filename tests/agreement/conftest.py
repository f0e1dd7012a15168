"""Commands in this process, as the tests of core run them."""

from tests.cli.conftest import facts, refused, run, said  # noqa: F401 - fixtures
