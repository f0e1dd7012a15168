"""What the tasks of lm-evaluation-harness add to core: nothing, they are found by their folder."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite()
