"""What rating adds: a campaign of `urs-inspect annotate`, and a scorer."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    registers=("rating._scorer",),
    offers={"campaigns of annotate": {"rate": "rating._command:Rating"}},
)
