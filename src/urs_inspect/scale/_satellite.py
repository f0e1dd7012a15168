"""What work on many machines adds: selection from the partitions of a pool."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite()
