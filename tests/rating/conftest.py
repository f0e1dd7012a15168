"""Commands in this process, and a browser."""

from tests.annotation.conftest import browser  # noqa: F401 - a fixture
from tests.cli.conftest import refused, run, said  # noqa: F401 - fixtures
