"""What README and docs state that can be checked: links, names of tasks, commands and their
options, and examples.
"""

import inspect
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from inspect_ai import eval as inspect_eval

from urs_inspect import tasks
from urs_inspect._satellites import at, satellites
from urs_inspect.cli import main
from urs_inspect.tasks import urs

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
APPENDIX = sorted((DOCS / "appendix").glob("*.md"))
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *APPENDIX]
ADDRESSES = {name: f"tasks:{name}" for name in tasks.__all__}
for _satellite in satellites():
    ADDRESSES.update(_satellite.tasks)
TASKS = list(ADDRESSES)


def lines_of_code(page: Path) -> Iterator[str]:
    """Lines of fenced and indented blocks, without trailing comments."""
    fenced = False
    for line in page.read_text("utf-8").splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield re.sub(r"\s+#.*", "", line).strip()


def examples(start: str) -> list[tuple[str, str]]:
    return [
        (page.name, line)
        for page in PAGES
        for line in lines_of_code(page)
        if line.startswith(start)
    ]


def block(page: str, after: str) -> str:
    """The first fenced block of a page behind a text."""
    text = (ROOT / page).read_text("utf-8")
    found = re.search(r"^```\w*\n(.*?)^```", text[text.index(after) :], re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page, made as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8")) <= 9_000


@pytest.mark.satellites
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if re.match(r"https?:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if target == ROOT / "docs" / "api.md" and not target.exists():
            continue  # written with the Python interface
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_list_for_language_models_names_every_page_and_links_to_files() -> None:
    title, summary, *rest = (ROOT / "docs" / "llms.txt").read_text("utf-8").strip().split("\n\n")
    assert re.fullmatch(r"# .+", title) and re.fullmatch(r"> .+", summary)
    sections = "\n\n".join(rest).split("## ")[1:]
    lines = [line for section in sections for line in section.strip().splitlines()[2:]]
    links = [re.fullmatch(r"- \[[^]]+\]\(([^)#]+)\): .+", line) for line in lines]
    targets = [link[1] for link in links if link]
    assert len(targets) == len(lines)
    assert [target for target in targets if not (ROOT / "docs" / target).is_file()] == []
    assert {page.relative_to(DOCS).as_posix() for page in PAGES[1:]} <= set(targets)


def test_guides_are_short() -> None:
    """The pages of the site that are neither evidence, reference, project nor appendix."""
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    groups = re.split(r"\n  - ", navigation.partition("\n\n")[0])
    guides = [
        page
        for group in groups
        if group.startswith(("Measure", "Trust", "Extend"))
        for page in re.findall(r"[\w/]+\.md", group)
    ]
    lengths = {page: len((DOCS / page).read_text("utf-8").split()) for page in guides}
    assert len(lengths) > 8
    assert {page: words for page, words in lengths.items() if words > 1200} == {}


@pytest.mark.satellites
def test_readme_lists_every_task_and_command() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert isinstance(main, click.Group)
    context = click.Context(main)
    assert set(TASKS) == set(re.findall(r"^\| `(\w+)` \| .* \| \[", readme, re.MULTILINE))
    listed = re.findall(r"^\| `urs-inspect (\w+)` \|", readme, re.MULTILINE)
    assert set(listed) == set(main.list_commands(context))


@pytest.mark.satellites
@pytest.mark.parametrize(("page", "line"), examples("urs-inspect "))
def test_commands_and_their_options_exist(page: str, line: str) -> None:
    words = shlex.split(line.split(" > ")[0])[1:]
    command: click.Command = main
    while isinstance(command, click.Group):
        name, *words = words
        if "|" in name:  # `annotate|embed|train` names several
            return
        found = command.get_command(click.Context(command), name)
        assert found is not None, f"{page}: {line}"
        command = found
    known = {
        option
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    assert {word for word in words if re.match(r"--?[a-zA-Z]", word)} <= known, f"{page}: {line}"


@pytest.mark.satellites
@pytest.mark.parametrize(("page", "line"), examples("inspect eval"))
def test_tasks_and_their_arguments_exist(page: str, line: str) -> None:
    words = shlex.split(line)
    named = [word.removeprefix("urs_inspect/") for word in words if word.startswith("urs_inspect/")]
    assert named or "--run-config" in words or any(".py@" in word for word in words), line
    for task in named:
        assert task in TASKS, f"{page}: {line}"
        allowed = inspect.signature(at(ADDRESSES[task])).parameters
        given = {value.partition("=")[0] for option, value in pairwise(words) if option == "-T"}
        assert given <= set(allowed), f"{page}: {line}"


COMPLAINTS = """question,reference_ans,user_intent,language
My parcel arrived broken.,"I am sorry. Please keep the parcel; we send a new one today, free of charge.",complaint,en
I was charged twice.,"I am sorry about that. The second charge is refunded within three days.",complaint,en
"""


@pytest.mark.parametrize(
    ("name", "cases"),
    [
        ("support-desk.yaml", COMPLAINTS),
        ("urs_de.yaml", block("docs/appendix/german_rubric.md", "`fragen.csv`")),
    ],
)
def test_rubrics_of_the_documentation_judge_answers(name: str, cases: str, tmp_path: Path) -> None:
    page = "docs/appendix/german_rubric.md" if name == "urs_de.yaml" else "docs/extending.md"
    for file in (name, *re.findall(r"frame: (\S+)", block(page, f"`{name}`"))):
        (tmp_path / file).write_text(block(page, f"`{file}`"), "utf-8")
    (tmp_path / "cases.csv").write_text(cases, "utf-8")
    [log] = inspect_eval(
        urs(dataset=str(tmp_path / "cases.csv"), rubric=str(tmp_path / name)),
        model="urs_simulation/strong",
        model_roles={"grader": "urs_simulation/judge"},
        log_dir=str(tmp_path / "logs"),
        display="none",
        log_realtime=False,
    )
    assert log.status == "success"
    assert log.samples is not None
    assert log.results is not None
    for sample in log.samples:
        assert sample.scores is not None
        assert [
            judge["unkeyed"] for judge in (sample.scores["intent_judge"].metadata or {})["judges"]
        ] == [False]
    [metrics] = [score.metrics for score in log.results.scores if score.name == "intent_judge"]
    if name == "urs_de.yaml":
        assert f"`final` {metrics['final'].value:.3f}" in (ROOT / page).read_text("utf-8")


def test_readme_shows_what_the_commands_above_it_print(tmp_path: Path) -> None:
    result = block("README.md", "prints (SIMULATED)")
    [line] = [
        line
        for page, line in examples("inspect eval urs_inspect/urs -T dataset=sample")
        if page == "README.md" and "quality-8" in line
    ]
    models = shlex.split(line)[shlex.split(line).index("--model") + 1].split(",")
    inspect_eval(
        urs(dataset="sample"),
        log_dir=str(tmp_path),
        model=models,
        model_roles={"grader": "urs_simulation/judge"},
        display="none",
        log_realtime=False,
    )
    printed = CliRunner().invoke(main, ["report", str(tmp_path)], env={"COLUMNS": "100"}).output
    words = " ".join(printed.split())
    for part in result.split("\n...\n"):
        assert " ".join(part.split()) in words
