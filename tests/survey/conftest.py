"""What other rooms' tests share."""

from tests.cli.conftest import facts, refused, run, said
from tests.datasets.conftest import publish, vocabulary, write_rows

__all__ = ["facts", "publish", "refused", "run", "said", "vocabulary", "write_rows"]
