"""What must be known of the answers of a ranking: how they were chosen, cut, judged and counted."""

from urs_inspect._util import counted
from urs_inspect.reports._texts import listed
from urs_inspect.reports.numbers._conditions import Unlike
from urs_inspect.reports.numbers._leaderboard import AboutAnswers, Ranking
from urs_inspect.reports.words._comparison import missing_notes


def ranking_notes(ranking: Ranking) -> list[str]:
    """What must be known of the answers of a ranking, one sentence each."""
    about = ranking.about_answers
    notes = unlike_notes(ranking.unlike)
    if about.without_share and ranking.traffic is not None:
        notes.append(
            f"{about.without_share:,} of {ranking.asked + about.without_share:,} questions are of"
            f" kinds without a share in {ranking.traffic.source} and do not count."
        )
    notes += missing_notes(ranking)
    notes += _about_clusters(about, ranking.asked)
    notes += _about_texts(about)
    notes += _about_temperatures(about)
    if 0 < about.without_country < ranking.asked:
        notes.append(
            f"{about.without_country:,} of {ranking.asked:,} questions name no country; they count"
            " everywhere but by country."
        )
    if about.silent_judges:
        notes.append(
            f"{listed(about.silent_judges)} scored no answer: this ranking is by the other judges"
            " of the panel alone."
        )
    return notes


def unlike_notes(unlike: Unlike) -> list[str]:
    """How models were not asked and judged alike, one sentence each."""
    notes = []
    if unlike.structured:
        shares = ", ".join(f"{model} {percent} %" for model, percent in unlike.structured.items())
        notes.append(
            "Judged with structured output in part: the same judge may score otherwise with it than"
            f" without. Share of judgements with it: {shares}. Judge all models with `-T"
            " structured=false`, or all with `true`, to compare them alike."
        )
    if unlike.attempted:
        attempted = ", ".join(f"{model} {count:,}" for model, count in unlike.attempted.items())
        notes.append(
            f"Ranked over the {counted(unlike.common, 'question')} that all"
            f" {len(unlike.attempted)} models attempted; attempted were: {attempted}. Leave out the"
            " log of a model that attempted few to rank the others over more."
        )
    return notes


def _about_clusters(about: AboutAnswers, questions: int) -> list[str]:
    """How many clusters the questions come from, where some are named."""
    notes = []
    if about.clusters:
        notes.append(
            f"The {counted(questions, 'question')} come from {counted(about.clusters, 'cluster')},"
            " such as their users: all intervals and tests are over clusters."
        )
    if about.in_several_clusters:
        notes.append(
            "Logs name different clusters for"
            f" {counted(about.in_several_clusters, 'question')}; for each, one of them counts."
        )
    return notes


def _about_texts(about: AboutAnswers) -> list[str]:
    """How many answers were cut off, and of how many questions a judge saw only a part."""
    notes = []
    if about.cut_off:
        named = ", ".join(f"{model} {count:,}" for model, count in about.cut_off.items())
        notes.append(
            f"{sum(about.cut_off.values()):,} of {about.answers:,} answers were cut off at the"
            f" token limit: {named}. --max-tokens gives a model more room."
        )
    if about.not_shown:
        named = "; ".join(f"{what}: {count:,}" for what, count in about.not_shown.items())
        notes.append(
            f"For {sum(about.not_shown.values()):,} of {about.answers:,} answers the judge could"
            f" not see a part of the question, which its prompt names ({named})."
        )
    return notes


def _about_temperatures(about: AboutAnswers) -> list[str]:
    """Temperatures of judges that differ or were not sent."""
    notes = []
    if about.temperature_not_sent:
        notes.append(
            f"For {about.temperature_not_sent:,} of {about.answers:,} answers the temperature that"
            " was requested of a judge was not sent by its provider's client: that judge ran at its"
            " default temperature."
        )
    if len(about.temperatures) > 1:
        notes.append(f"Judges ran at different temperatures: {', '.join(about.temperatures)}.")
    return notes
