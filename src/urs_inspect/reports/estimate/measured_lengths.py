"""How long answers and judgements were in logs, model by model."""

import math
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from urs_inspect.errors import InputError
from urs_inspect.rating import student_interval
from urs_inspect.reports.estimate.amount import Amount
from urs_inspect.reports.estimate.judge_tokens import judge_replies
from urs_inspect.reports.estimate.lengths import Lengths
from urs_inspect.reports.intent.answers import read_answers

ByName = dict[str, dict[str, Amount]]
"""Model or judge -> language -> tokens."""


def measured_lengths(
    logs: Iterable[str], otherwise: Lengths, *, models: Sequence[str] = (), judges: Sequence[str] = ()
) -> Lengths:
    """Lengths as measured in logs of `urs`, by model and language.

    A model that is not in the logs counts as the mean of those that are, from the lowest to the highest of them; so
    does a judge. A judge of a panel has what the log counts for it, or an equal share where it counts the panel as a
    whole.

    Args:
        logs: Log files and directories.
        otherwise: Lengths for languages, or all there is, that the logs say nothing about.
        models: The models under test, for what is said about them.
        judges: The judges, likewise.

    Returns:
        Means with their 95% intervals as ranges.

    Raises:
        InputError: If no log can be used.
    """
    names = list(logs)
    found = read_answers(names)
    answers = _by_name(found.table, "base_model", "output_tokens")
    replies, shared = judge_replies(found.table)
    judgements = _by_name(replies, "judge", "tokens")
    if not answers and not judgements:
        raise InputError(f"--from: no usage of tokens in: {', '.join(names)}")
    pooled_answers, pooled_judgements = _pooled(answers), _pooled(judgements)

    def answer(model: str, language: str, reference: Amount) -> Amount:
        measured = answers.get(model, {}).get(language) or pooled_answers.get(language)
        return measured or otherwise.answer(model, language, reference)

    def judgement(judge: str, language: str) -> Amount:
        measured = judgements.get(judge, {}).get(language) or pooled_judgements.get(language)
        return measured or otherwise.judgement(judge, language)

    one_language = len({*pooled_answers, *pooled_judgements}) == 1
    left_out = [
        *(["The logs have answers in one language: lengths in others are assumed as without a log."] * one_language),
        *(f"Left out of --from: {sentence}" for sentence in found.left_out),
    ]
    shares = sorted(shared & set(judges)) if judges else sorted(shared)
    return Lengths(
        answer=answer,
        judgement=judgement,
        verdict=otherwise.verdict,
        about_answers=(*_about("Answers", models, answers, otherwise.about_answers), *left_out),
        about_judgements=(
            *_about("Replies", judges, judgements, otherwise.about_judgements),
            *(
                f"The log counts the panel of {name} as a whole: an equal share of its tokens is taken for each judge."
                for name in shares
            ),
        ),
        about_verdicts=otherwise.about_verdicts,
    )


def _by_name(table: pd.DataFrame, name: str, column: str) -> ByName:
    found: ByName = {}
    for (one, language), values in table.groupby([name, "language"])[column]:
        known = [float(value) for value in values if not math.isnan(value) and value > 0]
        if known:
            estimate = student_interval(known)
            low, high = (estimate.mean if math.isnan(end) else end for end in (estimate.low, estimate.high))
            found.setdefault(str(one), {})[str(language)] = Amount(max(0.0, low), estimate.mean, high)
    return found


def _pooled(measured: Mapping[str, Mapping[str, Amount]]) -> dict[str, Amount]:
    """By language the mean over models, from the lowest to the highest of them."""
    languages = sorted({language for lengths in measured.values() for language in lengths})
    found = {}
    for language in languages:
        parts = [lengths[language] for lengths in measured.values() if language in lengths]
        mean = math.fsum(part.expected for part in parts) / len(parts)
        found[language] = Amount(min(part.low for part in parts), mean, max(part.high for part in parts))
    return found


def _about(what: str, names: Sequence[str], measured: ByName, otherwise: tuple[str, ...]) -> list[str]:
    """Where the lengths of each model come from, a sentence each."""
    if not measured:
        return [f"{what}: the logs count no tokens of them.", *otherwise]
    known = [name for name in dict.fromkeys(names) if name in measured]
    unknown = [name for name in dict.fromkeys(names) if name not in measured]
    lines = [f"{what} of {name} are taken to be as long as measured: {_words(measured[name])}." for name in known]
    if unknown or not names:
        of = f" of {', '.join(unknown)}, which the logs do not have," if unknown else ""
        those, pooled = ", ".join(measured), _words(_pooled(measured))
        lines.append(f"{what}{of} are taken to be as long as those of {those}, pooled: {pooled}.")
    return lines


def _words(lengths: Mapping[str, Amount]) -> str:
    return "; ".join(f"{language} {one.expected:.0f} tokens" for language, one in sorted(lengths.items()))
