"""Battles between models in logs of `mad`, lists of votes, and people's votes about ballots."""

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from logging import getLogger
from pathlib import Path
from typing import Any

from inspect_ai import score
from inspect_ai.log import EvalLog, EvalSample, write_eval_log
from inspect_ai.scorer import Scorer

from urs_inspect._util import (
    InputError,
    check_new_file,
    choices,
    counted,
    file_kind,
    read_yaml_file,
    writing,
)
from urs_inspect.annotation._agreement import Agreement, agreement, majorities
from urs_inspect.annotation._campaign import BALLOT_KEY, LOG_SUFFIXES, load_ballots
from urs_inspect.annotation._votes import read_votes, vote_files
from urs_inspect.datasets._rows import Row, read_table, shown
from urs_inspect.discrepancy._ballots import Ballot, collect_ballots
from urs_inspect.logs._comparisons import choice_of, holds_choices
from urs_inspect.logs._files import (
    about_copies,
    about_damaged,
    copies_of_files,
    finished_headers,
    local_path,
    log_files,
    read_log,
)
from urs_inspect.logs._scores import value_of
from urs_inspect.scorers import human_choice
from urs_inspect.scorers._pair_choice import AWAITING
from urs_inspect.stats._battles import OUTCOMES, Battle, Battles, battles_of, outcome_of


@dataclass(frozen=True)
class Vote:
    """A battle, and what identifies its copies."""

    battle: Battle
    identity: str = ""  # shared with the same vote in another file; empty if it is not known
    key: str = ""  # its ballot and epoch, in a log
    copied: bool = False  # whether it was taken over from an earlier run
    # of the first and second model; texts where they are known
    responses: tuple[Any, ...] = (None, None)
    facts: "Facts" = ()


Facts = tuple[Mapping[str, Any], ...]
"""What is recorded about a comparison; of two mappings with the same key the first counts."""

_MOST_GROUPS = 30
_NO_GROUPS = (
    "id",
    "instruction",
    "instruction_id",
    "reference",
    "model_a",
    "model_b",
    "response_a",
    "response_b",
    "winner",
    "output",
)
"""Keys that say what was asked and compared and how it ended, and divide nothing."""


def _unrepeated(files: Iterable[Sequence[Vote]], say: Callable[[str], None]) -> Iterator[Vote]:
    """Skip votes that an earlier file holds as often; equal votes of one file are two votes."""
    held: Counter[str] = Counter()
    repeated = 0
    for votes in files:
        here: Counter[str] = Counter()
        for vote in votes:
            here[vote.identity] += 1
            if vote.identity and here[vote.identity] <= held[vote.identity]:
                repeated += 1
            else:
                yield vote
        held |= here
    if repeated:
        say(f"left out {counted(repeated, 'vote')} that an earlier file holds as well")


def _once(votes: Sequence[Vote]) -> list[Vote]:
    """Votes without those that a run took over from an earlier one and that occur already."""
    known = {vote.key for vote in votes if not vote.copied}
    kept: list[Vote] = []
    for vote in votes:
        if not vote.copied or vote.key not in known:
            kept.append(vote)
        known.add(vote.key)
    return kept


def _of_run(votes: Sequence[Vote], run: str) -> Iterator[Vote]:
    """Verdicts with the id of their run, if it is known, as identity.

    A log that was judged again has other verdicts, and then all of them count beside the first.
    """
    identities = "\n".join(sorted(vote.identity for vote in votes))
    verdicts = hashlib.sha256(identities.encode()).hexdigest()
    for vote in votes:
        yield replace(vote, identity=f"{run}/{verdicts}/{vote.identity}" if run else "")


logger = getLogger(__name__)

SUFFIXES = (".json", ".jsonl", ".csv")
"""Kinds of files that votes are read from."""

_NEEDED = ("model_a", "model_b", "winner")
_LEFT_OUT = "none"
_MEANINGS = ("model_a", "model_b", "tie", _LEFT_OUT)


@dataclass(frozen=True)
class VoteColumns:
    """What the columns and the winners of a published list of votes mean."""

    columns: Mapping[str, str]  # model_a, model_b or winner -> name of its column
    # winner in the list -> model_a, model_b, tie, or none for a vote that does not count
    winners: Mapping[str, str]


AS_THEY_ARE = VoteColumns({}, {})


def read_vote_columns(path: Path) -> VoteColumns:
    """Read a YAML file with the keys `columns` and `winners`, each optional."""
    raw = read_yaml_file(path, "columns")
    if not isinstance(raw, dict) or not raw.keys() <= {"columns", "winners"}:
        raise InputError(f"{path}: must hold a mapping with the keys columns and winners")
    columns = _texts(raw.get("columns"), f"{path}: columns")
    winners = _texts(raw.get("winners"), f"{path}: winners")
    _refuse_unknown(f"{path}: columns: unknown key", columns, _NEEDED)
    _refuse_unknown(f"{path}: winners: unknown meaning", winners.values(), _MEANINGS)
    return VoteColumns(columns, winners)


def _refuse_unknown(what: str, given: Iterable[str], allowed: Collection[str]) -> None:
    for name in given:
        if name not in allowed:
            raise InputError(f"{what} '{name}'; allowed: {choices(allowed)}")


def _texts(given: object, place: str) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InputError(f"{place}: must be a mapping of names to texts")
    texts = {}
    for name, value in given.items():
        text = _LEFT_OUT
        if value is not None:
            text = str(value)
        texts[str(name)] = text
    return texts


_BETWEEN = "-vs-"
_LONGEST_NAME = 200
_ARENA_VOTER = "arena_user"
"""Name of voters of the Chatbot Arena in the annotations of the MAD paper."""
_ORIGIN = ("judge", "annotator", "source", "id")
_SUBJECT = ("id", "instruction", "question_id", "response_1")


def read_vote_list(
    path: Path, names: VoteColumns = AS_THEY_ARE, say: Callable[[str], None] = logger.warning
) -> list[Vote]:
    """Read a file of votes.

    It is `.json` with a list or one object per line, `.jsonl`, or `.csv` with a header. Three
    layouts are read: rows with `model_a`, `model_b` and `winner`; the same with the instruction
    inside `data`, as the MAD paper published its annotations; and files `<model>-vs-<model>.jsonl`
    whose rows have the winner in `output`, as it published the votes of Chatbot Arena. Votes on one
    instruction (the column `instruction`, the one inside `data`, else `question_id`) are one
    cluster; without any of these each vote is a cluster of its own. `names` says what other columns
    and winners mean.
    """
    rows, faults = read_table(path, ())
    votes = []
    left_out = 0
    for row in rows:
        try:
            named = _named(row, names)
            if named is None:
                left_out += 1
            else:
                votes.append(_vote(path, named))
        except InputError as error:
            faults.append(f"{path}: {row.place}: {error}")
    if faults:
        first, *others = faults
        more = ""
        if others:
            more = f" (and {counted(len(others), 'more such fault')})"
        raise InputError(f"{first}{more}")
    if left_out:
        say(
            f"{path}: left out {counted(left_out, 'vote')} with a winner that --columns calls"
            f" {_LEFT_OUT}"
        )
    if not votes:
        raise InputError(f"{path}: no votes; rows with model_a, model_b and winner are expected")
    return votes


def _named(row: Row, names: VoteColumns) -> Row | None:
    """A row under the names of columns and winners that are read; None if it does not count."""
    values = dict(row.values)
    for key, column in names.columns.items():
        if column not in row.values:
            raise InputError(f"the column '{column}' is missing, which --columns names for {key}")
        values[key] = row.values[column]
    meaning = names.winners.get(str(values.get("winner")))
    if meaning == _LEFT_OUT:
        return None
    if meaning is not None:
        values["winner"] = meaning
    return replace(row, values=values)


def checked_name(value: object, key: str) -> str:
    """The name of a model, refused if it is no text of 1 to 200 printable characters."""
    name = ""
    if isinstance(value, str):
        name = _name(value)
    if not name:
        raise InputError(
            f"{key} must be the name of a model, up to {_LONGEST_NAME} printable characters, is"
            f" {shown(value)}"
        )
    return name


@lru_cache(maxsize=1024)  # many votes are about few models
def _name(value: str) -> str:
    if value.isprintable() and len(value) <= _LONGEST_NAME:
        return value.strip()
    return ""


def _vote(path: Path, row: Row) -> Vote:
    values = row.values
    if "ballot" in values and "winner" not in values:
        raise InputError(
            "a vote on a comparison; name the log or file with the comparisons, and beside it this"
            " file"
        )
    is_arena = "output" in values and "winner" not in values
    if is_arena:
        first, second = _models_of_file(path)
        winner = values["output"]
        known = {"judge": _ARENA_VOTER, "source": path.name, **values}
    else:
        first, second = _models_of_row(values)
        winner = values["winner"]
        known = values
    if first == second:
        raise InputError(f"'{first}' is compared with itself; two models are needed")
    try:
        outcome = outcome_of(winner, first, second)
    except InputError as error:
        raise InputError(
            f"{error}; `urs-inspect rank --columns FILE.yaml` can say what it means"
        ) from None
    battle = Battle(first, second, outcome, _cluster(path, row))
    content = {**_data(row), **known}
    responses = tuple(
        content.get(f"response_{number}", content.get(f"response_{side}"))
        for number, side in ((1, "a"), (2, "b"))
    )
    identity = _identity(battle, known, content, *responses)
    return Vote(battle, identity, responses=responses, facts=(known, content))


def _models_of_file(path: Path) -> tuple[str, str]:
    names = path.stem.split(_BETWEEN)
    if len(names) != 2:
        raise InputError(
            f"a vote with 'output' stands in a file named <model>{_BETWEEN}<model>.jsonl"
        )
    return checked_name(names[0], "the file name"), checked_name(names[1], "the file name")


def _models_of_row(values: Mapping[str, Any]) -> tuple[str, str]:
    for key in _NEEDED:
        if key not in values:
            raise InputError(f"'{key}' is missing; a vote needs model_a, model_b and winner")
    return _models(values)


def _models(values: Mapping[str, Any]) -> tuple[str, str]:
    return (
        checked_name(values.get("model_a"), "model_a"),
        checked_name(values.get("model_b"), "model_b"),
    )


def _identity(
    battle: Battle,
    values: Mapping[str, Any],
    content: Mapping[str, Any],
    first: object,
    second: object,
) -> str:
    """The models with their responses, the winner, the instruction, and the voter or source.

    The order of the responses and the time are no part of it, since copies of a vote differ in
    these. Empty if the file does not name the voter or the subject.
    """
    origin = [values.get(key) for key in _ORIGIN]
    subject = [content.get(key) for key in _SUBJECT]
    if not any(origin) or not any(subject):
        return ""
    sides = [
        [battle.first, first, battle.outcome],
        [battle.second, second, 1 - battle.outcome],
    ]
    if battle.second < battle.first:
        sides.reverse()
    # A conversation's first turn is what files without the column have.
    turn = content.get("turn") or 1
    asked = [turn, content.get("question_id"), content.get("instruction")]
    return repr([*origin, *asked, sides])  # much faster than JSON


def _data(row: Row) -> dict[str, Any]:
    data = row.values.get("data")
    if isinstance(data, dict):
        return data
    return {}


def _cluster(path: Path, row: Row) -> str:
    for values in (row.values, _data(row)):
        instruction = values.get("instruction")
        if isinstance(instruction, str) and instruction.strip():
            return _instruction_cluster(instruction)
    question = row.values.get("question_id")
    if question in {None, ""} or isinstance(question, float):
        return f"{path} {row.place}"
    return f"question {question}"


def _instruction_cluster(instruction: str) -> str:
    """The cluster of battles over the same instruction."""
    return f"instruction {instruction.strip()}"


_LOG = ".eval"
_TASK = "mad"


@dataclass(frozen=True)
class HumanBattles:
    """People's votes about ballots."""

    battles: Battles  # one per ballot with a majority (a shared one is a tie)
    agreement: Agreement
    replaced: int  # votes that the same person replaced later; the last one counts
    undecided: int  # ballots with votes of which none is a choice
    unknown: int  # votes about other ballots, which do not count
    faults: tuple[str, ...]  # lines that are no votes, with their place, which do not count
    asked: Mapping[str, Ballot]  # all ballots, by id
    outcomes: Mapping[str, float]  # of the ballots with a majority, by id

    def facts(self) -> list[Facts]:
        """What is recorded about the comparison of each battle."""
        return [(self.asked[name].to_dict(),) for name in self.outcomes]

    def responses(self) -> list[tuple[str, str]]:
        """The responses of the first and second model of each battle."""
        ballots = [self.asked[name] for name in self.outcomes]
        return [(ballot.response_a, ballot.response_b) for ballot in ballots]


@dataclass(frozen=True)
class RankedBattles:
    """The battles that `urs-inspect rank` ranks, with what is known of each."""

    sources: Sequence[str]  # files and directories that they were read from
    battles: Battles
    # of the first and second model of each battle; texts where they are known
    responses: Sequence[tuple[Any, Any]]
    people: HumanBattles | None  # if these are people's votes about ballots
    by: str | None  # name of what divides the battles, if anything does
    groups: tuple[str, ...]  # of each battle, empty where it has none; none without `by`


def read_battles(
    paths: Iterable[str | Path], say: Callable[[str], None] = logger.warning
) -> Battles:
    """Read battles from logs and plain votes, in the order of the paths.

    Files of a directory are read by name. An unparsed verdict is no battle. If a log was judged
    several times, the last judgement counts; if it has people's choices, only these do. A
    comparison that a run took over from an earlier one counts once, and so do a file that is named
    or copied twice and a vote or verdict that several files hold; two equal votes of one file are
    two.
    """
    votes = read_counted_votes(paths, say)
    return battles_of(vote.battle for vote in votes)


def read_counted_votes(
    paths: Iterable[str | Path],
    say: Callable[[str], None] = logger.warning,
    names: VoteColumns = AS_THEY_ARE,
) -> list[Vote]:
    """The votes and verdicts that `read_battles` makes battles of, in their order.

    `names` says what columns and winners of lists of votes mean.
    """
    named = [str(path) for path in paths]
    skipped = list[str]()
    files = _distinct(named, skipped)
    waiting: list[str] = []
    read = [list(_read(file, say, waiting, names)) for file in files]
    votes = _once(list(_unrepeated(read, say)))
    if not votes:
        what = f"no comparison with a verdict in: {choices(named)}"
        if waiting:
            ballots_wait = counted(len(waiting), "comparison waits", "comparisons wait")
            what += f"; {ballots_wait} for people's votes: name their files beside the log"
        raise InputError("\n".join([what, *skipped]))
    for sentence in skipped:
        say(sentence)
    return votes


def groups_of(
    facts: Sequence[Facts], key: str, say: Callable[[str], None] = logger.warning
) -> tuple[str, ...]:
    """The group of each comparison: the value of a key of its facts, empty where it has none.

    Args:
        facts: What is recorded about each comparison.
        key: Name of the facts by which comparisons are divided.
        say: Gets a sentence on comparisons without a group.

    Returns:
        The groups, in the order of the comparisons.

    Raises:
        InputError: If no comparison has a value, or there are more than 30 values.
    """
    groups = tuple(_fact(one, key) for one in facts)
    values = {group for group in groups if group}
    dividing = _dividing(facts)
    if not values:
        allowed = f"allowed: {choices(dividing) or 'none, there is nothing else to divide them by'}"
        raise InputError(f"by: no comparison has a value of '{key}'; {allowed}")
    if len(values) > _MOST_GROUPS:
        raise InputError(
            f"by: '{key}' has {len(values):,} values; at most {_MOST_GROUPS} are allowed"
        )
    others = [name for name in dividing if name != key]
    if len(values) == 1 and others:
        say(f"by: all comparisons have the same {key}; they differ in {choices(others)}")
    without = counted(groups.count(""), "comparison")
    if "" in groups:
        say(f"by: {without} without '{key}' count only in the overall ranking")
    return groups


def _fact(facts: Facts, key: str) -> str:
    """The value of a key as text; empty if there is none, or it is no text, number or boolean."""
    values = [known.get(key) for known in facts]
    texts = []
    for value in values:
        if isinstance(value, (str, int, float)):
            texts.append(str(value).strip())
    return next(filter(None, texts), "")


def _dividing(facts: Sequence[Facts]) -> list[str]:
    """Keys that have some values, but few."""
    values: dict[str, set[str]] = defaultdict(set)
    for of_comparison in facts:
        for key in set(chain.from_iterable(of_comparison)):
            values[key].add(_fact(of_comparison, key))
    return sorted(
        key
        for key, texts in values.items()
        if key not in _NO_GROUPS and 1 < len(texts - {""}) <= _MOST_GROUPS
    )


def _distinct(named: Sequence[str], skipped: list[str]) -> list[str]:
    """Finished logs of `mad` and other files in the order of their names, each once.

    Of copies only the first one counts.
    """
    files: dict[str, str] = {}
    for file in _files(named):
        files.setdefault(str(Path(local_path(file)).resolve()), file)
    logs = [path for path, file in files.items() if _is_log(file)]
    finished = finished_headers(logs, skipped, _TASK, also_foreign=True)
    kept = {log.location for log in finished}
    others = [path for path in files if path not in logs]
    copies = copies_of_files(others)
    if copies:
        skipped.append(about_copies(copies))
    kept.update(path for path in others if path not in copies)
    return [file for path, file in files.items() if path in kept]


def read_human_battles(
    paths: Iterable[str | Path],
    votes: Iterable[str | Path],
    say: Callable[[str], None] = logger.warning,
) -> HumanBattles:
    """Read majorities of people's votes about ballots, in the order of the ballots.

    Judges' verdicts do not count.
    """
    named = [str(path) for path in paths]
    votes = list(votes)
    skipped = list[str]()
    objects = [
        (file, ballot.to_dict())
        for file in _distinct(named, skipped)
        for ballot in load_ballots(Path(file))
    ]
    ballots = {ballot.id: ballot for ballot in collect_ballots(objects)}
    if not ballots:
        raise InputError("\n".join([f"no comparison in: {choices(named)}", *skipped]))
    for sentence in skipped:
        say(sentence)
    reading = read_votes(vote_files(votes))
    known, unknown = reading.about(ballots)
    with_votes = {majority.ballot: majority.outcome for majority in majorities(known)}
    outcomes: dict[str, float] = {}
    battles = []
    for ballot in ballots.values():
        outcome = with_votes.get(ballot.id, math.nan)
        if math.isnan(outcome):
            continue
        outcomes[ballot.id] = outcome
        cluster = _instruction_cluster(ballot.instruction)
        battles.append(Battle(ballot.model_a, ballot.model_b, outcome, cluster))
    if not known and not unknown and not reading.errors:
        raise InputError(f"no votes yet in: {choices(map(str, votes))}")
    if not battles:
        raise InputError(
            f"no vote decides any of the {len(ballots)} comparisons in {choices(named)}:"
            f" {len(known)} votes are about them, {len(unknown)} about others,"
            f" {len(reading.errors)} lines are no votes"
        )
    return HumanBattles(
        battles=battles_of(battles),
        agreement=agreement(known),
        replaced=reading.replaced,
        undecided=len(with_votes) - len(battles),
        unknown=len(unknown),
        faults=reading.errors,
        asked=ballots,
        outcomes=outcomes,
    )


def holds_ballot_votes(path: str | Path) -> bool:
    """Whether a file or directory is one of people's votes about ballots, as `annotate` keeps them.

    The file of a person who has not voted yet is empty, and the last line of one may be torn.
    """
    place = Path(path)
    if not place.is_dir():
        is_empty = place.is_file() and not place.stat().st_size
        return place.suffix.lower() == ".jsonl" and (is_empty or bool(_begins_with_vote(place)))
    files = sorted(place.glob("*.jsonl"))
    if not files or log_files([str(place)]):
        return False
    begins = [_begins_with_vote(file) for file in files]
    return True in begins or False not in begins


def _begins_with_vote(path: Path) -> bool | None:
    """Whether the first line of a file is a vote about a ballot; None if there is none to read."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            first = next((line for line in file if line.strip()), "")
        value = json.loads(first)
    except (OSError, ValueError, RecursionError):
        return None
    return isinstance(value, dict) and {"ballot", "annotator"} <= value.keys()


def _files(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        path = Path(name)
        if not path.exists():
            raise InputError(f"no file or directory '{name}'")
        if not path.is_dir():
            yield name
            continue
        votes = (str(file) for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
        below = log_files([name]) or sorted(votes)  # files of votes where there are no logs
        if not below:
            raise InputError(f"no log and no file of votes ({choices(SUFFIXES)}) in '{name}'")
        yield from below


def _read(
    file: str,
    say: Callable[[str], None],
    waiting: list[str],
    names: VoteColumns,
) -> Iterator[Vote]:
    """The battles of a file; ballots of a log that people are to decide go to `waiting`."""
    if _is_log(file):
        try:
            log = read_log(file)
        except InputError as error:
            say(about_damaged(file, error))
            return
        people = holds_choices(log, people=True)
        if people and holds_choices(log, people=False):
            say(f"{file}: people's choices count (human_choice), a judge's verdicts in it do not")
        samples = log.samples or []
        votes = [_judged(sample, people, log.location) for sample in samples]
        waiting += [file for sample in samples if _awaits_people(sample)]
        yield from _of_run(list(filter(None, votes)), log.eval.eval_id)
    elif Path(file).suffix.lower() in SUFFIXES:
        yield from read_vote_list(Path(file), names, say)
    else:
        raise InputError(
            f"{file}: cannot read {file_kind(Path(file))}; allowed: {choices((_LOG, *SUFFIXES))}"
        )


def _is_log(file: str) -> bool:
    """Whether a file is a log.

    A log in JSON is one object over many lines, which no file of votes is.
    """
    suffix = Path(file).suffix.lower()
    if suffix != ".json":
        return suffix == _LOG
    with Path(file).open("rb") as opened:
        start = opened.read(200).lstrip()
    return start.startswith(b"{") and b'"version"' in start


def _awaits_people(sample: EvalSample) -> bool:
    score = choice_of(sample, people=False)
    facts = (score.metadata if score else None) or {}
    return bool(facts.get("outcome") == AWAITING)


def _judged(sample: EvalSample, people: bool, location: str) -> Vote | None:
    """The battle that a verdict makes; None without one."""
    score = choice_of(sample, people)
    if score is None:
        return None
    outcome = value_of(score, "outcome")
    if outcome not in OUTCOMES:
        return None
    facts = score.metadata or {}
    try:
        first, second = _models(facts)
    except InputError as error:
        raise InputError(f"{location}: sample {sample.id}: {error}") from None
    held = sample.metadata.get(BALLOT_KEY)
    ballot: dict[str, Any] = held if isinstance(held, dict) else {}
    key = ""
    if ballot:
        key = f"{ballot.get('id')}/{sample.epoch}"
    instruction = ballot.get("instruction") or f"of sample {sample.id}"
    return Vote(
        Battle(first, second, outcome, _instruction_cluster(instruction)),
        identity=f"{sample.id}/{sample.epoch}/{outcome}",
        key=key,
        copied=bool(key) and facts.get("previous") is True,
        responses=(ballot.get("response_a"), ballot.get("response_b")),
        facts=(sample.metadata, ballot),
    )


def attach_votes(source: Path, votes: list[str], output: Path) -> None:
    """Write a copy of a finished log of `mad` with the score `human_choice` for every ballot.

    Its ratings are from these scores.
    """
    check_new_file(output, *LOG_SUFFIXES)
    write_copy(scored_copy(read_log(str(source)), human_choice(votes), "human_choice"), output)


def write_copy(log: EvalLog, output: Path) -> None:
    """Write a log to a file that is not there yet: all of it, or none, with an `InputError`."""
    with writing(output):
        try:
            write_eval_log(log, str(output))
        except BaseException:
            output.unlink(missing_ok=True)
            raise


def scored_copy(log: EvalLog, scorer: Scorer, name: str) -> EvalLog:
    """A copy of a finished log with the scores of a scorer that calls no model.

    Its results come first.
    """
    # The models of the run are not set up, which may need keys that are missing.
    bare = log.eval.model_copy(update={"model": "none/none", "model_roles": None})
    without_models = log.model_copy(update={"eval": bare})
    scored: EvalLog = score(without_models, scorer, action="append", display="none")
    scored.eval.model = log.eval.model
    scored.eval.model_roles = log.eval.model_roles
    if scored.results is not None:  # the first one is the headline
        scored.results.scores.sort(key=lambda found: found.name.partition("-")[0] != name)
        scored.results.headline = None
    return scored
