"""Commands in this process, as the tests of core run them."""

from tests.cli.conftest import run, start  # noqa: F401 - fixtures
