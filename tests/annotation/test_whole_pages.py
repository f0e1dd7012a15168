"""The pages for votes, whole, in many situations."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.annotation.samples import ballot
from tests.reports.golden_files import check_golden
from tests.reports.judged_logs import write_judged
from urs_inspect._util import InputError
from urs_inspect.annotation import _pages as pages
from urs_inspect.annotation._campaign import Campaign, load_plan, page_language
from urs_inspect.annotation._queue import VOTING_KEY, VotingPlan
from urs_inspect.annotation._vote_page import VotePage
from urs_inspect.discrepancy._ballots import Ballot

ASKED = "How do I **sort** a list?"
MADE = (
    Ballot.between(
        "i0", ASKED, {"p/x": "Use `sorted`.", "p/y": "# No\n\n- way"}, reference="Sort."
    ),
    Ballot.between("i1", "怎样泡茶？", {"p/x": "热水", "p/y": ""}, language="zh"),
    Ballot.between("i2", "¿Qué?", {"p/x": "uno", "p/y": "dos"}, language="es"),
)


def plain(page: str) -> str:
    """A page without what only lays it out."""
    body = page.partition("<body")[2].partition("</body>")[0] or page
    lines = [line.strip() for line in f"<body{body}".replace("<body<", "<").splitlines()]
    unmarked = re.compile(r'<label><input type="radio"[^>]*value="(?!1"|10")')
    kept = [line for line in lines if "checked" in line or not unmarked.match(line)]
    return re.sub(r"\n+", "\n", "\n".join(kept)).strip()


class Shown:
    """Pages under their titles, for a golden file."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def add(self, title: str, page: str) -> None:
        """Add a page."""
        language = re.findall(r'<html lang="([^"]*)"', page)
        said = f" (in {language[0]})" if language else ""
        self.parts.append(f"## {title}{said}\n\n```html\n{plain(page)}\n```")

    def check(self, name: str) -> None:
        """Compare with a golden file."""
        check_golden(name, "\n\n".join(self.parts) + "\n")


def test_pages_for_votes(tmp_path: Path) -> None:
    shown = Shown()
    made = Campaign(MADE, tmp_path / "votes")
    page = VotePage(made)
    session = made.session("ann")
    for language in ("en", "zh"):
        shown.add(f"the first pair, {language}", page.session_page(session, language))
    session.cast(MADE[0].id, "left", 3.0)
    shown.add("the second pair", page.session_page(session, "en"))
    session.cast(MADE[1].id, "cannot_tell", 3.0)
    shown.add("a pair in another language", page.session_fragment(session, "en"))
    shown.add("report", page.report_page("en", "/vote/ann"))
    session.cast(MADE[2].id, "tie", 3.0)
    shown.add("all done", page.session_fragment(session, "en"))
    other = made.session("ben")
    for one, side in zip(MADE, ("left", "right", "tie"), strict=True):
        other.cast(one.id, side, 5.0)  # type: ignore[arg-type]
    with (tmp_path / "votes" / "cy.jsonl").open("w", encoding="utf-8") as file:
        file.write('{"ballot": "elsewhere", "annotator": "cy", "choice": "a"}\n[garbage]\n')
    shown.add("report of several", page.report_page("zh", "/"))
    made.close()
    with Planned(tmp_path / "planned", VotingPlan("adaptive", budget=2)) as planned:
        page = VotePage(planned)
        session = planned.session("ann")
        current = session.current
        assert current is not None
        session.cast(current.id, "left", 1.0)
        shown.add("by an allocation", page.session_fragment(session, "en"))
        current = session.current
        assert current is not None
        session.cast(current.id, "right", 1.0)
        shown.add("the budget is spent", page.session_fragment(session, "en"))
        shown.add("report on an allocation", page.report_page("en", "/vote/ann"))
    shown.check("voting_pages")


class Planned:
    """A campaign that is closed at the end."""

    def __init__(self, directory: Path, plan: VotingPlan) -> None:
        made = tuple(
            ballot(number, models=models)
            for number, models in enumerate((("x", "y"), ("x", "z"), ("y", "z")))
        )
        self.campaign = Campaign(made, directory, plan=plan)

    def __enter__(self) -> Campaign:
        return self.campaign

    def __exit__(self, *_: object) -> None:
        self.campaign.close()


def test_pages_beside(tmp_path: Path) -> None:
    shown = Shown()
    made = Campaign(MADE, tmp_path / "votes", ["ann", "ben"])
    anybody = Campaign(MADE, tmp_path / "other")
    makers: dict[str, Callable[[], str]] = {
        "sign in, some people": lambda: VotePage(made).sign_in_page("en", "ben"),
        "sign in, anybody": lambda: VotePage(anybody).sign_in_page("zh"),
        "token": lambda: pages.token_page("en", wrong=False),
        "a wrong token": lambda: pages.token_page("zh", wrong=True),
        "entered": lambda: pages.entered_page("en"),
        "a problem": lambda: VotePage(made).problem_page("en", "no <ballot>"),
    }
    for title, make in makers.items():
        shown.add(title, make())
    for one in (made, anybody):
        one.close()
    shown.check("other_pages")
    with pytest.raises(InputError, match=r"language 'fr' .*allowed: en, zh"):
        pages.token_page("fr", wrong=False)


def test_numbers_of_a_report_are_within_their_range_or_a_dash() -> None:
    assert [pages._percent(share) for share in (1.2, -0.1, 0.126, float("nan"))] == [
        "100%",
        "0%",
        "13%",
        "–",
    ]
    assert (pages._decimal(0.126), pages._decimal(2.25, 1)) == ("0.13", "2.2")
    assert pages._decimal(float("nan")) == "–"


@pytest.mark.parametrize(
    ("languages", "page"), [(["zh"], "zh"), (["zh", "zh"], "zh"), (["zh", "en"], "en"), ([], "en")]
)
def test_a_page_is_chinese_only_for_questions_that_all_are(languages: list[str], page: str) -> None:
    assert page_language(languages) == page


PLAN = VotingPlan("adaptive", budget=2)


def test_a_plan_of_votes_is_in_a_log_that_has_one(tmp_path: Path) -> None:
    assert load_plan(tmp_path / "ballots.jsonl") is None
    for metadata, plan in ((None, None), ({VOTING_KEY: PLAN.to_dict()}, PLAN)):
        log = write_judged(tmp_path / "log.eval", metadata=metadata)
        assert load_plan(Path(log)) == plan
