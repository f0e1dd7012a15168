"""Logs of verdicts on pairs that judges, or people, gave already."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import ModelConfig

from urs_inspect._util import InputError, choices, counted, write_new_file
from urs_inspect.annotation._votes import UNNAMED, Vote
from urs_inspect.datasets._columns import Preference
from urs_inspect.datasets._rows import Fields, label_key, shown
from urs_inspect.datasets._sources import sha256_of
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.importing._answers import (
    ImportedAnswer,
    Known,
    answer_of,
    free_place,
    log_places,
    made_log,
    sample_ids,
    write_logs,
)
from urs_inspect.importing._files import ImportedFile, needed_text, of_all
from urs_inspect.judging._pair_reply import REPLIES, First, PairReply
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.logs._battles import scored_copy, write_copy
from urs_inspect.logs._files import PACKAGE
from urs_inspect.logs._responses import COMPARE, NO_MODEL
from urs_inspect.scorers import human_choice, pair_choice, pair_verdict

VERDICTS: Mapping[str, Preference] = {
    "a": "a", "1": "a", "model_a": "a", "model_1": "a", "a>b": "a", "first": "a",
    "b": "b", "2": "b", "model_b": "b", "model_2": "b", "b>a": "b", "second": "b",
    "tie": "tie", "tie (bothbad)": "tie", "a=b": "tie",
}  # fmt: skip
"""What a verdict may be, in any case -> the better answer; the name of a model is another."""
_SHOWN_FIRST: Mapping[str, First] = {"a": "a", "ab": "a", "1": "a", "b": "b", "ba": "b", "2": "b"}
_OTHER: Mapping[str | None, Any] = {"a": "b", "b": "a", "tie": "tie", None: None}

Meanings = Mapping[str, Preference | None]
"""What verdicts mean beside `VERDICTS`, by `label_key`; None is no verdict."""


@dataclass(frozen=True)
class ImportedVerdict:
    """A verdict of a judge, or of a person, on two answers, a and b.

    The name of the model of a sorts first, as in a `Ballot`.
    """

    answers: tuple[ImportedAnswer, ImportedAnswer]
    first: First  # which answer was shown first
    judge: str  # of a vote the person, empty if it has no name
    verdict: Preference | None  # None where the file has none
    label: Preference | None  # that of people; None where the file has none
    reason: str
    file: str  # where it stands


Pairs = Mapping[str, tuple[Ballot, list[ImportedVerdict]]]
"""Id of a pair -> the pair, and the verdicts on it."""


def read_pairs_file(
    file: ImportedFile, meanings: Meanings, known: Known, people: bool = False
) -> list[ImportedVerdict]:
    """Read verdicts on pairs of answers; the answer named first was shown first, unless a column
    `first` has b or ba.

    With `people`, the column judge may be missing.
    """
    needed = ("verdict",) if people else ("judge", "verdict")
    file.require(*needed)

    def build(fields: Fields) -> ImportedVerdict | None:
        a = answer_of(fields, known, "_a")
        b = answer_of(fields, known, "_b")
        if a is None or b is None:
            return None
        if a.model == b.model:
            fields.note("", "compares a model with itself")
        first: First = "a"
        if not fields.blank("first"):
            first = fields.label("first", _SHOWN_FIRST)
        verdict = _better(fields, "verdict", meanings)
        label = _better(fields, "label", meanings)
        if a.model > b.model:
            a, b = b, a
            first = _OTHER[first]
            verdict = _OTHER[verdict]
            label = _OTHER[label]
        return ImportedVerdict(
            answers=(a, b),
            first=first,
            judge=fields.name("judge") if people else needed_text(fields, "judge").strip(),
            verdict=verdict,
            label=label,
            reason=fields.written("reason"),
            file=str(file.path),
        )

    return file.read(build)


def _better(fields: Fields, column: str, meanings: Meanings) -> Preference | None:
    """The better answer, by what the file writes; None where it is blank or means none."""
    if fields.blank(column):
        return None
    value = fields.values[column]
    key = label_key(value)
    if key in meanings:
        return meanings[key]
    models: Meanings = {fields.name("model_b"): "b", fields.name("model_a"): "a"}
    better = models.get(str(value).strip()) or VERDICTS.get(key)
    if better is None:
        allowed = f"allowed: {choices(VERDICTS)}, the name of a model"
        more = "--columns '{verdicts: {...}}' says what others mean"
        fields.note(column, f"unknown {column} {{value}}; {allowed}; {more}", shown(value))
    return better


def pairs_of(verdicts: Iterable[ImportedVerdict], ids: Mapping[str, str]) -> Pairs:
    """The verdicts on each pair; `ids` are those of samples, by question."""
    pairs: dict[str, tuple[Ballot, list[ImportedVerdict]]] = {}
    for one in verdicts:
        first = one.answers[0]
        texts = {answer.model: answer.text for answer in one.answers}
        ballot = Ballot.between(ids[first.asked], first.question, texts)
        _, of_pair = pairs.setdefault(ballot.id, (ballot, []))
        of_pair.append(one)
    return pairs


def _named(ballot: Ballot) -> str:
    """A pair as messages call it."""
    return f"{ballot.model_a} and {ballot.model_b} on question '{ballot.instruction_id}'"


def _compared(ballot: Ballot, given: Iterable[ImportedVerdict]) -> EvalSample:
    """A sample of `mad` with the verdicts on a pair, equal ones once."""
    replies: list[dict[str, Any]] = []
    for one in given:
        facts: dict[str, Any] = {"failure": "no_answer", "error": "No verdict."}
        if one.verdict is not None:
            facts = {"verdicts": {OVERALL: one.verdict}}
        reply = PairReply(one.first, (OVERALL,), one.reason, **facts)
        record = {"judge": one.judge, **asdict(reply)}
        if record not in replies:
            replies.append(record)
    return EvalSample(
        id=ballot.id,
        epoch=1,
        input=ballot.instruction,
        target="",
        metadata={"phase": COMPARE, "ballot": ballot.to_dict()},
        store={REPLIES: replies},
    )


def write_verdicts(
    files: Sequence[ImportedFile],
    meanings: Meanings,
    known: Known,
    people: bool,
    output: Path,
    notes: list[str],
) -> str:
    """Write logs of verdicts on pairs, of judges or `people`; returns what was written.

    Raises:
        InputError: If there are two where there must be one: two verdicts of a judge on a
            pair in the same order, two votes of a person on it, or two labels of it.
    """
    paths = [file.path for file in files]
    if people:
        _refuse_copies(paths)
    verdicts = of_all(files, lambda file: read_pairs_file(file, meanings, known, people))
    ids = sample_ids([one.answers[0] for one in verdicts], notes)
    pairs = pairs_of(verdicts, ids)
    if people:
        return _write_votes(pairs, paths, output, notes)
    labels = {name: {one.label for one in of_pair} - {None} for name, (_, of_pair) in pairs.items()}
    twice = [name for name, found in labels.items() if len(found) > 1]
    _refuse(twice, pairs, "two labels", "one label of a pair, in all of its rows")
    logs: dict[str, EvalLog] = {}
    for judge in dict.fromkeys(one.judge for one in verdicts):
        given = [one for one in verdicts if one.judge == judge]
        logs |= _logs_of_judge(judge, pairs_of(given, ids), paths, notes)
    return write_logs(logs, output)


# --- judges ---


def _logs_of_judge(
    judge: str, pairs: Pairs, files: Sequence[Path], notes: list[str]
) -> dict[str, EvalLog]:
    """A log of `mad` with both orders of a pair in one sample; where the files have labels also
    one of labelled pairs, as `judge_pairwise` makes them.
    """
    samples = {name: _compared(ballot, of_pair) for name, (ballot, of_pair) in pairs.items()}
    orders = {name: {one.first for one in of_pair} for name, (_, of_pair) in pairs.items()}
    twice = [name for name in pairs if len(samples[name].store[REPLIES]) > len(orders[name])]
    _refuse(
        twice,
        pairs,
        f"two verdicts of {judge} in the same order",
        "one in each order, in all of FILES; votes of people, several on a pair, need --people",
    )
    single = [name for name, found in orders.items() if len(found) == 1]
    if single:
        notes.append(
            f"{judge}: {len(single):,} of {counted(len(samples), 'pair')} in one order only;"
            " whether the judge prefers a place cannot be seen in these."
        )
    log = made_log(
        f"{PACKAGE}mad",
        NO_MODEL,
        samples.values(),
        files,
        model_roles={"grader": ModelConfig(model=judge)},
    )
    logs = {judge: scored_copy(log, pair_choice(), "pair_choice")}
    labelled = _labelled(pairs, samples)
    if labelled:
        arguments = {"orders": "both" if len(single) < len(samples) else "ab"}
        log = made_log("imported_pairs", judge, labelled, files, task_args=arguments)
        logs[f"{judge} with labels"] = scored_copy(log, pair_verdict(), "pair_verdict")
    return logs


def _refuse(refused: Sequence[str], pairs: Pairs, what: str, allowed: str) -> None:
    """Refuse pairs with two of what there must be one of."""
    if refused:
        ballot, _ = pairs[refused[0]]
        files = {one.file for name in refused for one in pairs[name][1]}
        raise InputError(
            f"{counted(len(refused), 'pair')} with {what}, such as {_named(ballot)}; they are in"
            f" {choices(sorted(files))}; allowed: {allowed}"
        )


def _labelled(pairs: Pairs, samples: Mapping[str, EvalSample]) -> list[EvalSample]:
    """The samples of pairs with a label, as `judge_pairwise` makes them."""
    labelled: list[EvalSample] = []
    for name, (ballot, given) in pairs.items():
        label = next((one.label for one in given if one.label), None)
        if label is None:
            continue
        metadata: dict[str, Any] = {
            "group": str(given[0].answers[0].facts.get("group", "")),
            "prompt": ballot.instruction,
            "response_a": ballot.response_a,
            "response_b": ballot.response_b,
            "label": label,
            "dimensions": {},
        }
        labelled.append(samples[name].model_copy(update={"target": label, "metadata": metadata}))
    return labelled


# --- people ---


def _write_votes(pairs: Pairs, paths: Sequence[Path], output: Path, notes: list[str]) -> str:
    """Write a log of `mad` whose pairs people decided, and a file of their votes."""
    votes = _ballot_votes(pairs)
    blank = sum(len(of_pair) for _, of_pair in pairs.values()) - len(votes)
    if blank:
        notes.append(f"{counted(blank, 'blank vote')}, left out.")
    [place] = log_places(["people"], output)
    file_of_votes = free_place(output, "votes.jsonl")
    write_new_file(file_of_votes, "".join(f"{vote.to_line()}\n" for vote in votes))
    samples = [_compared(ballot, ()) for ballot, _ in pairs.values()]
    log = made_log(f"{PACKAGE}mad", NO_MODEL, samples, paths)
    write_copy(scored_copy(log, human_choice([str(file_of_votes)]), "human_choice"), place)
    ballots = counted(len({vote.ballot for vote in votes}), "pair")
    return (
        f"{counted(len(votes), 'vote')} of people on {ballots} in {place}, one by one in"
        f" {file_of_votes}"
    )


def _refuse_copies(files: Iterable[Path]) -> None:
    """Refuse a file that is there twice, whose votes would count twice."""
    first: dict[str, Path] = {}
    for path in files:
        same = first.setdefault(sha256_of(path), path)
        if same is not path:
            raise InputError(f"{path}: the same votes as {same}; name each file of votes once")


def _ballot_votes(pairs: Pairs) -> list[Vote]:
    """Votes about ballots; those of people without a name are numbered within a ballot.

    A blank vote does not count.

    Raises:
        InputError: If a person who has a name voted twice on a pair.
    """
    votes: list[Vote] = []
    twice: list[str] = []
    for ballot, on_ballot in pairs.values():
        people: Counter[str] = Counter()
        for one in on_ballot:
            if one.verdict is None:
                continue
            people[one.judge] += 1
            person = one.judge or f"{UNNAMED}{people['']}"
            votes.append(Vote(ballot.id, person, one.verdict))
            if one.judge and people[one.judge] == 2:
                twice.append(f"{one.judge} on {_named(ballot)}")
    if twice:
        raise InputError(
            f"{counted(len(twice), 'pair')} with two votes of the same person, such as of"
            f" {twice[0]}; allowed: one"
        )
    return votes
