"""Many files of rows in, one Parquet file each out: in this process, or by workers on Ray."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any

from urs_inspect._util import InputError
from urs_inspect.datasets._sources import sha256_of
from urs_inspect.samer._bulk import (
    SUFFIXES,
    BulkInput,
    BulkReport,
    check_rows,
    model_identity,
    read_rows,
    score_file,
)
from urs_inspect.samer._bulk_results import difference, partial_path, remove_partial
from urs_inspect.samer._checkpoint import fingerprint
from urs_inspect.samer._engines.protocol import Engine, one_line, open_with_spec
from urs_inspect.samer._engines.registry import engine_for, open_engine
from urs_inspect.samer._judgement import engine_facts, facts_of
from urs_inspect.samer._options import SamerOptions, is_address
from urs_inspect.samer._packages import missing_package

Partition = tuple[Path, Path]  # a file of rows, and the Parquet file for its results
_READERS = 16  # files that are looked at together, because a network's disk answers late
# seconds that a partition waits for a worker that is about to end, as those of a driver that was
# killed
_WAIT = 60.0
_RETRIES = 2  # of a partition whose worker ended
_SUMMED = ("rows", "resumed", "total", "no_response", "shortened", "empty_selection")


def find_partitions(pattern: Path, folder: Path) -> list[Partition]:
    """The files of a folder or a pattern, and for each its results in `folder`.

    Each file is checked by its first row.
    """
    paths = _files_of_rows(pattern)
    if not paths:
        raise InputError(
            f"'{pattern}': no file {' or '.join(SUFFIXES)}; expected a folder or a quoted pattern"
        )
    if folder.is_file() or folder.resolve() in {path.resolve().parent for path in paths}:
        raise InputError(f"{folder}: the results of many files need a folder of their own")
    names_out = Counter(path.stem for path in paths)
    if twice := [str(path) for path in paths if names_out[path.stem] > 1]:
        raise InputError(f"{' and '.join(twice[:2])} would be written to the same file in {folder}")
    with ThreadPoolExecutor(_READERS) as threads:
        faults = list(filter(None, threads.map(_first_row_fault, paths)))
    if faults:
        raise InputError(
            f"{len(faults):,} of {len(paths):,} files cannot be used: {'; '.join(faults)}"
        )
    return [(path, folder.absolute() / f"{path.stem}.parquet") for path in paths]


def _files_of_rows(pattern: Path) -> list[Path]:
    """The files of rows in a folder, or of a pattern, without hidden ones."""
    whole = pattern.absolute()
    if whole.is_dir():
        names = whole.iterdir()
    else:
        names = Path(whole.anchor).glob(str(whole.relative_to(whole.anchor)))
    return sorted(
        path for path in names if path.suffix.lower() in SUFFIXES and path.name[0] not in "._"
    )


def _first_row_fault(path: Path) -> str:
    """What is wrong with a file by its first row; empty if nothing is."""
    try:
        next(read_rows(path), None)
    except InputError as error:
        return str(error)
    return ""


def unfinished(
    partitions: Sequence[Partition], facts: Mapping[str, Any], *, overwrite: bool
) -> list[Partition]:
    """The partitions without results of this model and input.

    Other results are refused unless they may be replaced.
    """
    with ThreadPoolExecutor(_READERS) as threads:
        origins = threads.map(partial(_other, facts=facts), partitions)
        others = dict(zip(partitions, origins, strict=True))
    for (_, out), other in others.items():
        if other and not overwrite:
            raise InputError(
                f"{out} was made from {other}; name another folder, or add --overwrite"
            )
        if other == "":
            remove_partial(partial_path(out))  # of a process that was killed before it came to this
    return [partition for partition, other in others.items() if other != ""]


def _other(partition: Partition, facts: Mapping[str, Any]) -> str | None:
    """What results were made from instead of this model and input.

    Empty if from these, None if there are none.
    """
    source, out = partition
    if not out.exists():
        return None
    try:
        schema = import_module("pyarrow.parquet").read_schema(out)
        made_from = json.loads(schema.metadata[b"urs_inspect"])
    except (OSError, ValueError, TypeError, KeyError):
        return "something else, which has no facts of SaMer"
    made_from["input"] = made_from.pop("input_sha256", None)
    return difference({**facts, "input": sha256_of(source)}, made_from)


def merged(reports: Sequence[BulkReport]) -> BulkReport:
    """One report of all rows."""
    failures = sum((Counter(report.failures) for report in reports), Counter[str]())
    sums = {name: sum(map(attrgetter(name), reports)) for name in _SUMMED}
    return BulkReport(failures=dict(failures), **sums)


class Scorer:
    """Scores files with one engine.

    It has the engine's `own` options, its `facts` if known, and `settings` of `score_file`.
    """

    def __init__(
        self,
        choice: SamerOptions,
        own: dict[str, Any],
        facts: dict[str, Any],
        settings: dict[str, Any],
    ) -> None:
        self.choice = choice
        self.own = own
        self.facts = facts
        self.settings = settings
        # one event loop for all files, to which a server's connections belong
        self._runner = asyncio.Runner()
        self._engine: Engine | None = None

    def load(self) -> Engine:
        """The engine, loaded at the first call; then all facts are known."""
        if self._engine is None:
            engine = open_engine(self.choice, **self.own)
            facts = {**engine_facts(engine), **self._runner.run(model_identity(engine))}
            if self.facts and (other := difference(self.facts, facts)):
                raise InputError(f"a worker has {other}")
            self._engine = engine
            self.facts = facts
        return self._engine

    def score(self, rows: BulkInput, out: Path, **more: Any) -> BulkReport:
        """Score a file."""
        engine = self.load()
        scoring = score_file(rows, out, engine, **self.settings, **more)
        return self._runner.run(scoring)

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[str]]:
        """Score a batch of one partition as Ray hands it over.

        Returns its source, report, error, and whether that ends all.
        """
        source, out = map(Path, batch["item"][0])
        report = None
        error = ""
        stops = False
        try:
            rows = check_rows(source, least=0)
            # what goes wrong from here on is not the partition's fault: the others would meet it
            # too
            stops = True
            self.load()
            if _other((source, out), self.facts) == "":
                # by a worker that was killed before it could say so, or remove what it kept
                remove_partial(partial_path(out))
            else:
                report = asdict(self.score(rows, out, wait=_WAIT, ahead=1))
        except Exception as problem:
            if isinstance(problem, InputError):
                error = str(problem)
            else:
                error = one_line(problem, named=True)
        ends_all = stops and bool(error)
        return {"result": [json.dumps((str(source), report, error, ends_all))]}

    def close(self) -> None:
        """Give back what the engine holds."""
        if self._engine is not None:
            self._runner.run(self._engine.close())
        self._runner.close()


def score_partitions(
    partitions: Sequence[Partition], scorer: Scorer, ray: Any
) -> Iterator[tuple[Any, str]]:
    """The `BulkReport` of each partition as it ends, or the error.

    `ray` is None, or address (or None) and workers.
    """
    names = [[str(source), str(out)] for source, out in partitions]
    left = {source for source, _ in names}
    alone = (scorer({"item": [pair]}) for pair in names)
    with closing(_on_ray(names, scorer, *ray) if ray and names else alone) as ends:
        for end in ends:
            source, report, error, stops = json.loads(end["result"][0])
            left.remove(source)
            if stops:
                raise InputError(f"{source}: {error}")
            yield report and BulkReport(**report), error
    yield from (
        (None, f"{source}: its worker ended {1 + _RETRIES} times") for source in sorted(left)
    )


# ## Ray


def settled(
    choice: SamerOptions, on_ray: bool
) -> tuple[SamerOptions, dict[str, Any], dict[str, Any]]:
    """A choice, options and facts for a scorer; on Ray they leave nothing to a worker's machine."""
    if not on_ray:
        return choice, {}, {}
    if find_spec("ray") is None:
        raise missing_package("-S ray=...", ImportError(name="ray"))
    if is_address(choice.model):
        raise InputError(
            "-S ray=... starts an engine in each worker; leave it out for a server, which has its"
            " own"
        )
    options = choice.engine_options
    if options and (options.tensor_parallel_size or 1) > 1:
        raise InputError(
            "-S ray=... gives each worker one GPU; leave out tensor_parallel_size, or ray"
        )
    name = engine_for(choice)
    checkpoint, spec = open_with_spec(choice, on_cpu=name == "transformers")
    changes = {"engine": name, "dtype": spec.dtype, "max_length": spec.max_length}
    if spec.reward is None:
        changes["weights_at"] = spec.weights_at
    facts = {**facts_of(name, spec), "fingerprint": fingerprint(checkpoint.folder)}
    own = {}
    if name == "transformers":
        own["device"] = "cpu"
    return choice.model_copy(update=changes), own, facts


def _on_ray(
    names: list[Any], scorer: Scorer, address: str | None, workers: int
) -> Generator[Mapping[str, Any]]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # 0: it listens on loopback alone
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "1" if address else "0"
    ray = import_module("ray")
    data = import_module("ray.data")
    dashboard = {}
    if not address:
        dashboard["include_dashboard"] = False
    on_gpu = scorer.choice.engine == "vllm"
    try:
        ray.init(address or "local", log_to_driver=False, **dashboard)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise InputError(f"Ray cannot be started or reached: {one_line(error)}") from error
    try:
        data.DataContext.get_current().max_errored_blocks = -1  # the end of one is not that of all
        scored = data.from_items(names, override_num_blocks=len(names)).map_batches(
            Scorer,
            batch_size=1,
            fn_constructor_args=(scorer.choice, scorer.own, scorer.facts, scorer.settings),
            compute=data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=1),
            max_task_retries=_RETRIES,
            **_share(ray, "GPU" if on_gpu else "CPU", workers),
        )
        yield from scored.iter_batches(batch_size=1)
    finally:
        ray.shutdown()


def _share(ray: Any, kind: str, workers: int) -> dict[str, int]:
    """What each worker takes: a GPU, or as many CPUs as leave room for the others."""
    nodes = []
    for node in ray.nodes():
        if node["Alive"]:
            nodes.append(int(node["Resources"].get(kind, 0)))
    for share in range(max(nodes) if kind == "CPU" else 1, 0, -1):
        if sum(node // share for node in nodes) >= workers:
            return {f"num_{kind.lower()}s": share}
    raise InputError(f"each of {workers} workers needs a {kind}, and Ray has {sum(nodes)}")
