"""Logs -> one table of answers, a row for each log, question and epoch."""

import json
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd
from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary, read_eval_log_sample_summaries
from inspect_ai.model import ModelConfig

from urs_inspect._util import InputError
from urs_inspect.logs.files import finished_headers, latest_runs, read_log, short_name
from urs_inspect.logs.naming import distinct_names, sounds_secret
from urs_inspect.logs.scores import judgements, prompts_digest
from urs_inspect.reports.intent.answer_rows import Row, answer_row, needs_whole, role_models, whole_characters
from urs_inspect.reports.intent.report import Run

_LIMITS = ("limit", "epochs", "sample_id", "sample_shuffle", "message_limit", "token_limit", "time_limit")
_RUNTIME = (
    "max_connections",
    "adaptive_connections",
    "max_retries",
    "timeout",
    "attempt_timeout",
    "stream_idle_timeout",
    "batch",
    "cache",
)
"""Settings that change how fast a run is, and not what comes out of it."""
_LOGIN = re.compile(r"(?<=//)[^/@\s]+@")


def run_command(log: EvalLog, judges: Sequence[str]) -> str:
    """The command that repeats a run, with nothing in it whose name sounds like a secret.

    Args:
        log: Header of its log.
        judges: The judges whose scores count. Where they are not those of the run, the log was judged later, and a
            second command says so.

    Returns:
        One command, or two joined by `&&`, quoted for a shell.
    """
    spec = log.eval
    words = ["inspect", "eval", spec.task_file or spec.task, "--model", spec.model.replace("none/none", "none")]
    if spec.model_base_url:
        words += ["--model-base-url", _shown(spec.model_base_url)]
    words += _pairs("-M", spec.model_args)
    for role, models in (spec.model_roles or {}).items():
        words += ["--model-role", f"{role}={_role(models)}"]
    words += _pairs("-T", spec.task_args_passed)
    if spec.solver:
        words += ["--solver", spec.solver, *_pairs("-S", spec.solver_args_passed or {})]
    words += _flags(
        {name: getattr(spec.config, name) for name in _LIMITS if name != "epochs" or spec.config.epochs != 1}
    )
    words += _flags({name: value for name, value in model_settings(log).items() if name not in log.eval.model_args})
    command = shlex.join(words)
    known = {name for names in role_models(log).values() for name in names} or {spec.model}
    if not judges or set(judges) <= known:
        return command
    again = ["inspect", "score", "LOG", "--scorer", "urs_inspect/intent_judge", "--model-role"]
    role = judges[0] if len(judges) == 1 else f"[{', '.join(judges)}]"
    return f"{command} && {shlex.join([*again, f'grader={role}', '--action', 'append'])}"


def model_settings(log: EvalLog) -> dict[str, Any]:
    """Settings of the model under test that may change its answers: temperature, effort and so on."""
    given = {**log.eval.model_args, **log.eval.model_generate_config.model_dump(exclude_none=True)}
    return {name: value for name, value in given.items() if name not in _RUNTIME and not sounds_secret(name)}


def _pairs(flag: str, values: Mapping[str, Any]) -> list[str]:
    return [
        word for name, value in values.items() if not sounds_secret(name) for word in (flag, f"{name}={_shown(value)}")
    ]


def _flags(values: Mapping[str, Any]) -> list[str]:
    return [
        word
        for name, value in values.items()
        if value is not None and value is not False and _clean(value) != {}
        for word in (f"--{name.replace('_', '-')}", *([] if value is True else [_shown(value)]))
    ]


def _role(models: ModelConfig | list[ModelConfig]) -> str:
    several = models if isinstance(models, list) else [models]
    return _model(several[0]) if len(several) == 1 else f"[{', '.join(map(_model, several))}]"


def _model(model: ModelConfig) -> str:
    """A model by its name, or as a mapping where it has settings of its own."""
    settings = {**model.config.model_dump(exclude_none=True), "base_url": model.base_url, "model_args": model.args}
    kept = {name: value for name, value in settings.items() if value and not sounds_secret(name)}
    if not kept:
        return model.model
    return _shown({"model": model.model, **kept})


def _shown(value: Any) -> str:
    """A value as the command line takes it."""
    if isinstance(value, str):
        return _LOGIN.sub("", value)
    if isinstance(value, tuple):
        return "-".join(map(str, value))
    if isinstance(value, list) and all(isinstance(one, (str, int, float)) for one in value):
        return ",".join(_shown(str(one)) for one in value)
    return json.dumps(_clean(value), ensure_ascii=False)


def _clean(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _clean(one) for name, one in value.items() if not sounds_secret(str(name))}
    if isinstance(value, (list, tuple)):
        return [_clean(one) for one in value]
    return _LOGIN.sub("", value) if isinstance(value, str) else value


TASK = "urs"
"""The task whose logs these are."""
_UNUSED = {"events", "messages", "store", "error_retries"}
_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True)
class JudgedLog:
    """A log of judged answers.

    Attributes:
        log: Its header.
        rows: A row for each sample, as from `answer_row`.
        judges: The judges whose scores count.
        prompts: Intent and language of cases -> judge language and hash of the prompt, joined by "/".
        settings: Settings of the model that may change its answers, name -> value.
        references: Where the reference answers come from; empty for those of the data.
        questions: Ids of the questions.
    """

    log: EvalLog
    rows: list[Row]
    judges: tuple[str, ...]
    prompts: Mapping[tuple[str, str], str]
    settings: dict[str, str]
    references: str
    questions: frozenset[str]

    @property
    def file(self) -> str:
        """Where it is."""
        return self.log.location

    @property
    def run_id(self) -> str:
        """What all files of its run have in common; empty if that is not known."""
        return self.log.eval.eval_id or ""

    @property
    def of(self) -> str:
        """Its model."""
        return self.log.eval.model

    def replaces(self, other: "JudgedLog") -> bool:
        """Whether it has answers of the same model to some of the same questions under the same conditions."""
        return (
            self._conditions == other._conditions
            and not self.questions.isdisjoint(other.questions)
            and all(self.prompts.get(kind, prompt) == prompt for kind, prompt in other.prompts.items())
        )

    @property
    def _conditions(self) -> tuple[object, ...]:
        spec = self.log.eval
        facts = spec.metadata or {}
        return (
            (spec.model, self.settings, spec.task, version_number(str(spec.task_version))),
            facts.get("dataset_sha256") or facts.get("dataset", spec.dataset.name),
            facts.get("rubric"),
            (self.references, sorted(self.judges)),
        )


def read_judged_log(log: EvalLog, left_out: list[str]) -> JudgedLog | None:
    """Read the answers of a log.

    Args:
        log: Header of a finished log.
        left_out: Gets a sentence about what is left out, with counts.

    Returns:
        The answers; None if the log has none that `intent_judge` scored.
    """
    name, spec = short_name(log.location), log.eval
    try:
        summaries = read_eval_log_sample_summaries(log.location)
    except Exception as error:  # whatever a damaged file does to its reader
        left_out.append(f"{name} was left out: its samples cannot be read: {type(error).__name__}: {error}.")
        return None
    if not any(map(judgements, summaries)):
        left_out.append(f"{name} was left out: none of its {len(summaries)} samples was scored by intent_judge.")
        return None
    whole = _whole_samples(log, summaries)
    rows = [answer_row(one, log, whole.get((str(one.id), one.epoch))) for one in summaries]
    judges = _commonest(row["judges"] for row in rows if row["judges"])
    kept = _of_judges(rows, judges or "", name, left_out)
    prompts = _prompts(kept)
    kept = _of_prompts(kept, prompts, name, left_out)
    return JudgedLog(
        log=log,
        rows=kept,
        judges=tuple(next((row["judge_finals"] for row in kept if row["judges"]), {})),
        prompts=prompts,
        settings=_settings(log),
        references=_references(spec.metadata or {}),
        questions=frozenset(row["question"] for row in kept),
    )


def version_number(version: str) -> str:
    """The part of a task's version that changes when scores do: `1` of `1-A`."""
    return version.partition("-")[0]


def _whole_samples(log: EvalLog, summaries: Iterable[EvalSampleSummary]) -> dict[tuple[str, int], EvalSample]:
    """Samples as a whole, if a summary lacks something that is needed."""
    if not any(needs_whole(one, log) for one in summaries):
        return {}
    try:
        samples = read_log(log.location, without=_UNUSED).samples or []
    except InputError:  # what the summaries say is better than nothing
        return {}
    return {(str(one.id), one.epoch): one for one in samples}


def _of_judges(rows: list[Row], judges: str, name: str, left_out: list[str]) -> list[Row]:
    kept = [row for row in rows if row["judges"] in ("", judges)]
    if len(kept) < len(rows):
        others = ", ".join(sorted({row["judges"] for row in rows} - {"", judges}))
        left_out.append(
            f"{len(rows) - len(kept)} of {len(rows)} answers of {name} were left out: they were judged by {others}, "
            f"the others by {judges}."
        )
    return kept


def _prompts(rows: Iterable[Row]) -> dict[tuple[str, str], str]:
    seen: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        if row["prompt_sha256"]:
            seen.setdefault((row["intent"], row["language"]), Counter())[_prompt(row)] += 1
    return {kind: counts.most_common(1)[0][0] for kind, counts in seen.items()}


def _of_prompts(rows: list[Row], prompts: Mapping[tuple[str, str], str], name: str, left_out: list[str]) -> list[Row]:
    kept = [row for row in rows if not row["prompt_sha256"] or prompts[row["intent"], row["language"]] == _prompt(row)]
    if len(kept) < len(rows):
        left_out.append(
            f"{len(rows) - len(kept)} of {len(rows)} answers of {name} were left out: they were judged with another "
            "prompt than the others of their intent and language."
        )
    return kept


def _prompt(row: Row) -> str:
    return f"{row['judge_language']}/{row['prompt_sha256']}"


def _commonest(values: Iterable[_Key]) -> _Key | None:
    counted = Counter(values).most_common(1)
    return counted[0][0] if counted else None


def _settings(log: EvalLog) -> dict[str, str]:
    found = {**model_settings(log)}
    if log.eval.solver:
        found["solver"] = log.eval.solver
    return {name: str(value) for name, value in found.items()}


def _references(metadata: Mapping[str, Any]) -> str:
    """Name and first digits of the hash of the references, as the log's metadata name them."""
    given = metadata.get("references") or ""
    if not isinstance(given, Mapping):
        return str(given)
    name = given.get("source") or given.get("name") or ""
    return f"{name} {str(given.get('sha256', ''))[:8]}".strip()


@dataclass(frozen=True)
class Answers:
    """Answers of models, and where they come from.

    Attributes:
        table: One row for each log, question and epoch, with the columns log, model (its name, with the settings in
            which its logs differ), base_model (the name alone), task, question, epoch, intent, group, language,
            country (empty if none), final (1 to 10, NaN if unscored), `criterion/<id>` (NaN where there is none),
            outcome, cut_off (at the token limit),
            judges (joined by ", "), judge_finals (judge -> final score), earlier_finals (those that the
            same judges gave the same answer before), judge_temperatures, self_judged, judge_language, prompt_sha256,
            rubric, dataset, dataset_sha256, references (empty for those of the data), task_version, answer_length
            (characters), input_tokens, output_tokens, judge_input_tokens, judge_output_tokens, cost, judge_cost (US
            dollars), seconds, error (empty if none). Numbers that are not known are NaN. With log, question as id, and
            epoch it joins what `inspect_ai.analysis.samples_df` reads.
        runs: The logs, in the order in which they were made.
        left_out: What was left out and why, a sentence each, with counts.
    """

    table: pd.DataFrame
    runs: tuple[Run, ...]
    left_out: tuple[str, ...]


def read_answers(logs: Iterable[str]) -> Answers:
    """Read the answers in logs that `intent_judge` has scored.

    The last judgement of an answer counts. Of several logs of one model with the same settings, judges, prompts, data
    and references that share questions, the one that was made last counts, unless it asked fewer than half as many
    questions. Logs that did not finish, that cannot be read, and those of this package's other tasks are left out.

    Args:
        logs: Log files and directories.

    Returns:
        The answers; those whose sample failed or that have no score have a row as well.

    Raises:
        InputError: If a name does not exist or nothing is left; the message says what was left out.
    """
    names = list(logs)
    left_out: list[str] = []
    finished = finished_headers(names, left_out, TASK, also_foreign=True)
    judged = [read for log in finished if (read := read_judged_log(log, left_out)) is not None]
    kept = latest_runs(judged, left_out)
    if not kept:
        raise InputError(
            "\n".join([f"no finished log with answers scored by intent_judge in: {', '.join(names)}", *left_out])
        )
    models = [whole_characters(model) for model in _model_names(kept)]
    return Answers(
        table=pd.concat([_frame(*pair) for pair in zip(kept, models, strict=True)], ignore_index=True),
        runs=tuple(_run(*pair) for pair in zip(kept, models, strict=True)),
        left_out=tuple(left_out),
    )


def _model_names(logs: Sequence[JudgedLog]) -> list[str]:
    """Names of the models, with the settings in which the logs of one model differ."""
    settings: dict[str, list[dict[str, str]]] = defaultdict(list)
    for log in logs:
        if log.settings not in settings[log.log.eval.model]:
            settings[log.log.eval.model].append(log.settings)
    shown = {model: distinct_names([(model, facts) for facts in several]) for model, several in settings.items()}
    return [shown[model][settings[model].index(log.settings)] for log in logs for model in [log.log.eval.model]]


def _frame(read: JudgedLog, model: str) -> pd.DataFrame:
    spec = read.log.eval
    facts = spec.metadata or {}
    table = pd.DataFrame(read.rows)
    same = {
        "log": read.file,
        "model": model,
        "base_model": spec.model,
        "task": spec.task,
        "dataset": str(facts.get("dataset", spec.dataset.name or "")),
        "dataset_sha256": str(facts.get("dataset_sha256", "")),
        "references": read.references,
        "task_version": str(spec.task_version),
    }
    plain = {name: whole_characters(value) for name, value in same.items()}
    return table.assign(**plain)[[*plain, *table.columns]]


def _run(read: JudgedLog, model: str) -> Run:
    spec = read.log.eval
    facts = spec.metadata or {}
    return Run(
        log=short_name(read.file),
        model=model,
        judges=read.judges,
        command=run_command(read.log, read.judges),
        created=spec.created,
        dataset_sha256=str(facts.get("dataset_sha256", "")),
        rubric_sha256=str(facts.get("rubric_sha256", "")),
        prompts=prompts_digest(f"{intent}/{prompt}" for (intent, _), prompt in read.prompts.items()),
        package=spec.packages.get("inspect_ai", ""),
        samples=len(read.rows),
    )
