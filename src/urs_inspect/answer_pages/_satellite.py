"""What the pages of answers add: an option of `urs-inspect report`."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    offers={"files beside reports": {"answers": "answer_pages._option:Answers"}},
)
