"""Commands in this process."""

from tests.cli.conftest import facts, refused, run, said  # noqa: F401 - fixtures
from tests.logs.test_battles import ballots  # noqa: F401 - a fixture
from tests.tasks.test_mad_people import awaiting, ballot_log, folder, judged  # noqa: F401 - fixtures
