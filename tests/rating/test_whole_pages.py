"""The pages for ratings, whole, in many situations."""

from pathlib import Path
from typing import Any

from tests.annotation.test_pages import shape
from tests.annotation.test_whole_pages import Shown
from tests.rating.samples import answer, campaign
from urs_inspect.annotation._pages import texts
from urs_inspect.rating._campaign import RatingCampaign, RatingSession
from urs_inspect.rating._page import RatingPage
from urs_inspect.rating._queue import draw
from urs_inspect.rubrics import load_rubric


def current(session: RatingSession) -> str:
    item = session.current
    assert item is not None
    return item.id


def test_pages_for_ratings(tmp_path: Path) -> None:
    shown = Shown()
    number = 0

    def opened(**options: Any) -> RatingCampaign:
        nonlocal number
        number += 1
        answers = [answer(0, intent="leisure"), answer(1, intent="api")]
        return campaign(tmp_path / str(number), of=answers, **options)

    def rated(session: RatingSession, final: int, seconds: float = 2.0) -> str:
        about = current(session)
        item = session.current
        assert item is not None
        wanted = session.campaign.criteria(item.answer)
        session.rate(about, final, dict.fromkeys(wanted, final - 1), seconds)
        return about

    made = opened(checks=1.0)
    page = RatingPage(made)
    session = made.session("ann")
    for language in ("en", "zh"):
        shown.add(f"the first answer, {language}", page.session_page(session, language))
    about = rated(session, 7)
    session.undo(about)
    shown.add("taken back", page.session_fragment(session, "en"))
    rated(session, 8)
    session.cannot_tell(current(session), 1.0)
    shown.add("a check", page.session_fragment(session, "en"))
    rated(session, 5)
    shown.add("all done", page.session_fragment(session, "en"))
    shown.add("report", page.report_page("en", "/rate/ann"))
    other = made.session("ben")
    rated(other, 6)
    rated(other, 3)
    shown.add("report of several", page.report_page("en", "/"))
    made.close()
    bare = opened(reference=False, final_only=True)
    for language in ("en", "zh"):
        shown.add(
            f"without reference and criteria, {language}",
            RatingPage(bare).session_page(bare.session("ann"), language),
        )
    bare.close()
    page = RatingPage(bare)
    shown.add("sign in", page.sign_in_page("en", "<ann>"))
    shown.add("a problem", page.problem_page("zh", "reason"))
    shown.check("rating_pages")


def test_a_rubric_without_the_language_of_the_page_is_shown_in_its_own(tmp_path: Path) -> None:
    file = tmp_path / "rubric.yaml"
    file.write_text("name: mine\nversion: '1'\nlanguages: [zh]\n", encoding="utf-8")
    made = RatingCampaign(draw([answer(0)]), load_rubric(str(file)), tmp_path / "ratings")
    page = RatingPage(made).session_page(made.session("ann"), "en")
    made.close()
    assert "How to rate" in page and "综合得分" in page


def test_languages_have_the_same_texts_and_placeholders() -> None:
    package = RatingPage.package
    assert shape(texts("en", package)) == shape(texts("zh", package))
    assert texts("en", package)["title"] != texts("en")["title"]
