"""Importing the package is light, its plain rooms need no harness, and the harness finds its
door.
"""

import ast
import inspect
import json
import subprocess
import sys
from importlib import import_module
from importlib.metadata import entry_points, version
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import urs_inspect
from urs_inspect._satellites import POINTS, SATELLITES, at, offered, satellites
from urs_inspect.cli import main

SOURCE = Path(urs_inspect.__file__).parent
PLAIN_ROOMS = (
    "datasets",
    "discrepancy",
    "embedding",
    "judging",
    "rubrics",
    "samer",
    "scale",
    "stats",
)
HEAVY = ("torch", "vllm", "transformers", "lm_eval", "inspect_ai")
HEAVIER_THAN_NEEDED = (
    *HEAVY,
    "pandas",
    "numpy",
    "scipy",
    "evalica",
    "openai",
    "anthropic",
    "httpx",
)


def module_names(room: str) -> list[str]:
    """The modules of a room, by their files."""
    names = []
    for path in sorted((SOURCE / room).rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


HEAVY_ROOMS = (
    "urs_inspect.samer._neural",  # imported by name, and only where torch is wanted
    "urs_inspect.samer._annotate",
    "urs_inspect.samer._pair_judge",
    "urs_inspect.samer._report",
    "urs_inspect.samer._scorer",
    "urs_inspect.samer._scoring_commands",
    "urs_inspect.samer._viewer",
)
"""What needs torch or the harness; contracts of import-linter say who may import it."""

PLAIN_MODULES = [
    *(
        name
        for room in PLAIN_ROOMS
        for name in module_names(room)
        if not name.startswith(HEAVY_ROOMS)
    ),
    "urs_inspect._util",
]


def loaded_after(statement: str, *, offline: bool = False) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after a statement."""
    cut = "import socket; socket.socket.connect = socket.getaddrinfo = None" if offline else "pass"
    script = (
        f"{cut}\n{statement}\nimport json, sys\nprint(json.dumps([name.partition('.')[0] for name"
        " in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_importing_the_package_loads_nothing_heavy_and_calls_nobody() -> None:
    loaded = loaded_after("import urs_inspect", offline=True)
    assert "urs_inspect" in loaded
    assert loaded.isdisjoint(HEAVIER_THAN_NEEDED)


@pytest.mark.parametrize(
    "statement", ["import urs_inspect.cli", "from urs_inspect.cli import main; main(['--help'])"]
)
def test_the_command_and_its_help_load_no_command_and_nothing_heavy(statement: str) -> None:
    lines = [
        "import contextlib, io",
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):",
    ]
    loaded = loaded_after("\n".join([*lines, f"    {statement}"]), offline=True)
    assert "click" in loaded
    assert loaded.isdisjoint(
        (*HEAVIER_THAN_NEEDED, "fastapi", "jinja2", "pydantic", "rich", "yaml")
    )


@pytest.mark.satellites
def test_the_help_lists_every_command_by_purpose_with_a_whole_line() -> None:
    shown = (
        CliRunner()
        .invoke(main, ["--help"], terminal_width=80)
        .output.partition("\nResults:\n")[2]
        .partition("\nStart with:\n")[0]
        .splitlines()
    )
    lines = dict(line.strip().split(maxsplit=1) for line in shown if line.startswith("  "))
    assert [line for line in shown if line and not line.startswith(" ")] == [
        "Before a run:", "Judges:", "People:", "Data:", "SaMer:",
    ]  # fmt: skip
    assert list(lines) == main.list_commands(click.Context(main)) and len(lines) > 10
    assert all(line.endswith(".") and "..." not in line for line in lines.values())
    # Every command that a module holds is listed.
    modules = [
        import_module(name)
        for name in [*module_names("cli"), *filter(_holds_commands, module_names(""))]
        if name != "urs_inspect.cli"
    ]
    held = {
        command.name
        for module in modules
        for command in vars(module).values()
        if isinstance(command, click.Command)
        and command.callback
        and command.callback.__module__ == module.__name__
    }
    subcommands = {
        name
        for command in (main.get_command(click.Context(main), name) for name in lines)
        if isinstance(command, click.Group)
        for name in command.commands
    }
    assert set(lines) <= held <= set(lines) | subcommands


def _holds_commands(module: str) -> bool:
    return module.endswith("_commands")


def test_an_unknown_command_is_refused() -> None:
    result = CliRunner().invoke(main, ["nope"])
    assert result.exit_code == 2 and "'nope'" in result.output


ALONE = """
import json, sys
from importlib import import_module

before = set()
for name in sys.argv[1:]:
    room = ".".join(name.split(".")[:2])
    for own in [each for each in sys.modules if f"{each}.".startswith(f"{room}.")]:
        del sys.modules[own]  # a module must not rest on what others of its room have imported
    import_module(name)
    loaded = {each.partition(".")[0] for each in sys.modules}
    print(json.dumps([name, sorted(loaded - before)]), flush=True)
    before = loaded
"""


def test_a_plain_module_can_be_imported_alone_and_needs_no_harness() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE, *PLAIN_MODULES], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = dict(json.loads(line) for line in done.stdout.splitlines())
    assert list(loaded) == PLAIN_MODULES
    assert {name: heavy for name in loaded if (heavy := set(loaded[name]) & set(HEAVY))} == {}


@pytest.mark.satellites
def test_the_plain_rooms_were_found() -> None:
    assert {f"urs_inspect.{room}" for room in PLAIN_ROOMS} < set(PLAIN_MODULES)
    assert len(PLAIN_MODULES) > 12


def test_the_sample_can_be_judged_and_rated_without_the_harness() -> None:
    loaded = loaded_after(
        "import json\n"
        "from urs_inspect.datasets import Vocabulary, in_proportion, load_urs\n"
        "from urs_inspect.judging import PromptBuilder, read_reply\n"
        "from urs_inspect.stats import mean_interval\n"
        "from urs_inspect.stats._bootstrap import pooled_deviation\n"
        "from urs_inspect.rubrics import load_rubric\n"
        "rubric = load_rubric()\n"
        "data = load_urs('sample', Vocabulary(rubric.intent_id, rubric.language_code))\n"
        "case = in_proportion(data.cases, 0)[0]\n"
        "PromptBuilder(rubric).build(case.intent, case.language, question='q',"
        " reference='r', answer='a')\n"
        "reply = json.dumps({rubric.languages['en'].final.name: 7})\n"
        "assert read_reply(reply, rubric, rubric.intents[case.intent].criteria).final =="
        " 7\n"
        "mean_interval([1, 2, 3]); pooled_deviation([[1, 2]])",
        offline=True,
    )
    assert loaded.isdisjoint(HEAVY)


WORDS_CALL = {
    "datasets": set[str](),
    "rubrics": set[str](),
    "logs": {"short_names"},
    "stats": {"fewest_clusters"},
    "reports.numbers": {
        "column_key",  # names and order of columns
        "in_order",
        "means_frame",
        "cost_of_1000",
        "total_cost",
    },
}
"""What `reports.words` may call of the rooms that read and compute; else it takes their types,
results and constants.
"""


@pytest.mark.parametrize("room", WORDS_CALL)
def test_words_of_reports_take_results_and_neither_read_nor_compute_them(room: str) -> None:
    called = set[str]()
    for file in (SOURCE / "reports" / "words").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not any(name.name.startswith("urs_inspect") for name in node.names), file
            elif isinstance(node, ast.ImportFrom):
                assert node.module is not None
                if not f"{node.module}.".startswith(f"urs_inspect.{room}."):
                    continue
                module = import_module(node.module)
                values = {name.name: getattr(module, name.name) for name in node.names}
                called.update(name for name in values if inspect.isroutine(values[name]))
    assert called == WORDS_CALL[room]


def test_tasks_are_loaded_when_they_are_first_used() -> None:
    from urs_inspect import tasks

    assert urs_inspect.urs is tasks.urs
    assert urs_inspect.urs_probe is tasks.urs_probe
    assert "inspect_ai" in loaded_after("import urs_inspect; urs_inspect.urs")


def test_every_public_name_exists_and_no_other() -> None:
    for name in urs_inspect.__all__:
        assert getattr(urs_inspect, name) is not None
    with pytest.raises(AttributeError, match="module 'urs_inspect' has no attribute 'nope'"):
        urs_inspect.nope  # noqa: B018


def test_the_version_is_that_of_the_installed_package() -> None:
    assert urs_inspect.__version__ == version("urs-inspect")


def test_the_harness_finds_the_one_door() -> None:
    [door] = entry_points(group="inspect_ai", name="urs_inspect")
    assert door.value == "urs_inspect._registry"
    registry = door.load()
    assert registry.__name__ == "urs_inspect._registry"


REGISTERED = {
    "task": (
        "evolve judge_pairwise judge_rating judge_twins mad md_eval samer_annotate urs urs_addition"
        " urs_assistants urs_case_review urs_crossval urs_probe urs_references"
    ),
    "solver": (
        "annotate_pair answer_from_pages first_page recorded_answer translation compare_pair"
        " contest evolve_instruction give_rating null_answer preflight second_answer"
    ),
    "scorer": (
        "annotated_pair case_review crossval_cell crossval_judge exact_sum reference_outcome"
        " evolved human_choice human_rating intent_judge judge_outcome judged_again pair_choice"
        " pair_verdict rating_agreement reward_model samer samer_outcome"
    ),
    "metric": (
        "addition_report case_review_report crossval_report reference_report annotation_report"
        " competition_report evolution_report group_finals intent_report judge_report"
        " outcome_counts rated_mean rating_report ratings samer_report"
        " twin_shifts"
    ),
    "modelapi": "urs_simulation",
}


@pytest.mark.satellites
def test_the_door_registers_everything_under_the_name_of_the_package_and_nothing_else() -> None:
    from inspect_ai._util.registry import registry_find, registry_info

    import urs_inspect._registry  # noqa: F401

    values = registry_find(lambda info: info.name.startswith("urs_inspect/"))
    infos = [registry_info(value) for value in values]
    listed = {
        f"urs_inspect/{name}": kind for kind, names in REGISTERED.items() for name in names.split()
    }
    # The hook that closes SaMer's engines is registered when an engine is used.
    found = {info.name: info.type for info in infos if info.type != "hooks"}
    found.pop("urs_inspect/urs_estimate", None)  # likewise, by `urs-inspect estimate`
    assert found == listed


def test_what_satellites_offer_goes_to_extension_points_that_there_are() -> None:
    points = {point for satellite in satellites() for point in satellite.offers}
    assert points <= set(POINTS)
    with pytest.raises(KeyError, match="judges of pears"):
        offered("judges of pears")
    for addresses in map(offered, POINTS):
        for address in addresses.values():
            assert at(address) is not None


@pytest.mark.satellites
def test_the_architecture_names_every_extension_point_and_satellite() -> None:
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text("utf-8")
    for point in POINTS:
        assert f"| {point} |" in page
    for name in SATELLITES:
        assert f"| `{name}/` |" in page


def test_the_package_says_that_it_is_typed() -> None:
    assert (SOURCE / "py.typed").is_file()
