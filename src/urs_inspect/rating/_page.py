"""The page where people rate: what it shows of an answer, and the ratings that it sends."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from markupsafe import Markup
from pydantic import BaseModel, Field

from urs_inspect.annotation._pages import LANGUAGES, Page, Reply, Seconds, material, texts
from urs_inspect.rating._campaign import RatingCampaign, RatingSession
from urs_inspect.rating._queue import ToRate
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, Rubric

_PACKAGE = "urs_inspect.rating"

Score = Annotated[int, Field(strict=True, ge=LOWEST, le=HIGHEST)]


class RateBody(BaseModel):
    """A rating as the page sends it."""

    answer: str = Field(max_length=100)
    final: Score
    criteria: dict[str, Score] = Field(default_factory=dict, max_length=100)
    seconds: Seconds


class CannotTellBody(BaseModel):
    """That an answer cannot be rated by this person, as the page sends it."""

    answer: str = Field(max_length=100)
    seconds: Seconds


class RatingPage(Page[RatingCampaign]):
    """The page where people say how good an answer is."""

    package = _PACKAGE
    part = "answer.html.jinja"
    decision = "rating"
    material = "answers"

    def shown(self, session: RatingSession, language: str) -> dict[str, Any]:
        """The answer to rate, if there is one, its scales, and how far this person is."""
        item = session.current
        campaign = self.campaign
        shown: dict[str, Any] = {
            "session": session,
            "item": item,
            "done": session.done,
            "total": session.total,
        }
        if item is None:
            return shown
        rubric = campaign.rubric
        answer = item.answer
        code = language
        if language not in rubric.languages:
            code = next(iter(rubric.languages))
        scales = []
        for name in campaign.criteria(answer):
            term = rubric.criteria[name][code]
            scales.append((name, term.name, term.definition))
        scales.append((FINAL, rubric.languages[code].final.name, ""))
        reference = None
        if campaign.plan.reference:
            reference = material(answer.reference)
        return shown | {
            "instruction": material(answer.instruction),
            "answer": material(answer.text),
            "reference": reference,
            "intent": rubric.intents[answer.intent].text[code],
            "scales": scales,
            "bands": list(zip(rubric.bands, _bands(rubric, code, reference), strict=True)),
            "rubric_language": code,
            "scores": range(LOWEST, HIGHEST + 1),
            "given": _scores_before(session, item),
        }

    def agreement(self) -> dict[str, Any]:
        """How far the raters agree."""
        found, reading = self.campaign.report()
        return {
            "found": found,
            "total": len(self.campaign.queue),
            "faults": len(reading.errors),
            "others": len(reading.ratings) - found.ratings,
        }

    def add_decisions(self, app: FastAPI, reply: Reply) -> None:
        """Let people rate, or say that they cannot tell."""

        @app.post("/rate/{annotator}/cast")
        def rate(request: Request, annotator: str, body: RateBody) -> Response:
            session = self.campaign.session(annotator)
            session.rate(body.answer, body.final, body.criteria, body.seconds)
            return reply(request, session)

        @app.post("/rate/{annotator}/cannot_tell")
        def cannot_tell(request: Request, annotator: str, body: CannotTellBody) -> Response:
            session = self.campaign.session(annotator)
            session.cannot_tell(body.answer, body.seconds)
            return reply(request, session)


def _bands(rubric: Rubric, code: str, reference: Markup | None) -> Sequence[str]:
    """What the bands of scores mean, in the words for answers without a reference if it is None."""
    bands = rubric.languages[code].bands
    if reference is not None or code not in LANGUAGES:
        return bands
    others = {
        text["band"]: text["instead"] for text in texts(code, _PACKAGE)["bands_without_reference"]
    }
    return [others.get(band, band) for band in bands]


def _scores_before(session: RatingSession, item: ToRate) -> dict[str, int]:
    """The scores of a rating that was just taken back, so that one can be changed."""
    before = session.taken_back
    if before is None or before.about != item.id or before.cannot_tell:
        return {}
    return {FINAL: before.final, **before.criteria}
