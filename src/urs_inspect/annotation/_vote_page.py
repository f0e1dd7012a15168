"""The page where people vote: what it shows of a pair, and the votes that it sends."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from urs_inspect.annotation._campaign import Campaign, Session, SideChoice
from urs_inspect.annotation._pages import Page, Reply, Seconds, material


class CastBody(BaseModel):
    """A vote as the page sends it: by side, because the page does not know models."""

    ballot: str = Field(max_length=100)
    choice: SideChoice
    seconds: Seconds


class VotePage(Page[Campaign]):
    """The page where people say which of two answers is better."""

    part = "pair.html.jinja"
    decision = "vote"
    material = "pairs"

    def shown(self, session: Session, language: str) -> dict[str, Any]:
        """The pair to vote on, if there is one, and how far this person is."""
        ballot = session.current
        done, total = session.progress
        shown: dict[str, Any] = {"session": session, "ballot": ballot, "done": done, "total": total}
        if ballot is not None:
            sides = [ballot.response_a, ballot.response_b]
            if session.left(ballot.id) == "b":
                sides.reverse()
            shown["answers"] = [material(text) for text in sides]
            shown["instruction"] = material(ballot.instruction)
            shown["reference"] = material(ballot.reference)
        return shown

    def agreement(self) -> dict[str, Any]:
        """How far the voters agree, and how far an allocation is."""
        campaign = self.campaign
        found, reading = campaign.report()
        return {
            "found": found,
            "total": len(campaign.ballots),
            "faults": len(reading.errors),
            "others": len(reading.votes) - found.votes,
            "voting": campaign.queue.state() if campaign.queue else None,
        }

    def add_decisions(self, app: FastAPI, reply: Reply) -> None:
        """Let people vote."""

        @app.post("/vote/{annotator}/cast")
        def cast(request: Request, annotator: str, body: CastBody) -> Response:
            session = self.campaign.session(annotator)
            session.cast(body.ballot, body.choice, body.seconds)
            return reply(request, session)
