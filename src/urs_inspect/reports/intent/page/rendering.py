"""Report -> page."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from urs_inspect._util import counted
from urs_inspect.datasets.published import PUBLISHED_SCORES, load_published_urs
from urs_inspect.logs.scores import SIMULATED
from urs_inspect.reports.intent.page import tables
from urs_inspect.reports.intent.page import tables as formats
from urs_inspect.reports.intent.page import tables as words
from urs_inspect.reports.intent.page.drawings import Drawings, draw
from urs_inspect.reports.intent.page.tables import Name, short_names, split_name
from urs_inspect.reports.intent.report import UNSCORED_ALERT, Block, IntentReport
from urs_inspect.rubrics import load_rubric
from urs_inspect.stats.bootstrap import fewest_clusters

_STYLE = Path(__file__).parent / "page.css"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True)
class Ranking:
    """A block with what its part of the page needs.

    Attributes:
        block: The block.
        key: What its ids begin with.
        number: Its number from 1.
        names: Model -> its name in two parts.
        short: Model -> its name where space is rare.
        bests: Intents and languages with their numbers of questions, and who is best there.
        headline: What it says at a glance.
        drawings: Its figures.
        matrix: Every model beside every other one.
        simulated: Models and judges that are simulations.
    """

    block: Block
    key: str
    number: int
    names: dict[str, Name]
    short: dict[str, str]
    bests: list[tuple[str, int, Markup]]
    headline: words.Headline
    drawings: Drawings
    matrix: tuple[tables.MatrixRow, ...]
    simulated: tuple[str, ...]


def render_page(report: IntentReport) -> str:
    """Make a report one HTML page that needs nothing beside itself: no script, no font, no picture, no network.

    Args:
        report: The report.

    Returns:
        The page; the same report always gives the same.

    Raises:
        InputError: If matplotlib, which draws the figures, is missing.
    """
    page = (
        _environment()
        .get_template("page.html.jinja")
        .render(
            report=report,
            rankings=[_ranking(report, block, number) for number, block in enumerate(report.blocks, start=1)],
            policy=_POLICY,
            style=Markup(_STYLE.read_text(encoding="utf-8")),  # noqa: S704 (our own file)
            published=load_published_urs(),
            published_scores=PUBLISHED_SCORES,
            rubric=load_rubric(),
            fewest=fewest_clusters(report.level),
            methods=words.methods(report.level),
        )
    )
    # A log may hold halves of characters, which no file can.
    return page.rstrip().encode("utf-8", "replace").decode("utf-8") + "\n"


def _ranking(report: IntentReport, block: Block, number: int) -> Ranking:
    key = f"r{number}"
    models = [model.model for model in block.models]
    names = [*(model.model for model in block.models), *block.conditions.judges]
    return Ranking(
        block=block,
        key=key,
        number=number,
        names={model: split_name(model) for model in models},
        short=short_names(models),
        bests=words.column_sentences(block),
        headline=words.headline(block),
        drawings=draw(block, key, report.level),
        matrix=tables.matrix(block),
        simulated=tuple(dict.fromkeys(name for name in names if name.startswith(SIMULATED))),
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("urs_inspect.reports.intent.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    functions: dict[str, Any] = {
        "mean": formats.mean_text,
        "interval": formats.interval_text,
        "signed": formats.signed_text,
        "signed_interval": formats.signed_interval,
        "p_value": formats.p_text,
        "ranks": formats.rank_text,
        "unscored": formats.unscored_text,
        "count": formats.count_text,
        "share": formats.share_text,
        "money": formats.money_text,
        "duration": formats.duration_text,
        "level": formats.level_text,
        "counted": counted,
        "verdict": words.verdict,
        "split_name": split_name,
    }
    environment.filters |= functions
    environment.globals |= {
        "dash": formats.NONE,
        "alert": formats.ALERT,
        "unscored_alert": UNSCORED_ALERT,
        "marked": words.MARKED,
        "simulation": SIMULATED,
        "leaderboard": tables.leaderboard,
        "languages": tables.languages,
        "parts": tables.parts,
        "countries": tables.countries,
        "criteria": tables.criteria,
        "column_tests": tables.column_tests,
        "outcomes": tables.outcomes,
        "several_judgements": tables.several_judgements,
        "most_in_words": tables.MOST_IN_WORDS,
    }
    return environment
