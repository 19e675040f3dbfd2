"""The documents are true: examples run, generated parts are up to date, and what they name exists."""

import ast
import doctest
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import pytest
from documents import ROOT, cli_commands, commands_of, documents, with_generated_parts
from test_layers import FLOORS

from gtp_engine import Config
from gtp_engine.cli import cli
from gtp_engine.engine import Engine
from gtp_engine.nn.network_catalogue import PUBLISHED

DOCUMENTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in documents()}
README = DOCUMENTS["README.md"]
INSTALL = "\n    python -m pip install . && gtp-engine serve --open\n"
INSTALL_AND_TEST = '\n    python -m pip install -e ".[test]" && python -m pytest -n auto\n'

PATH = re.compile(r"^(?:gtp_engine|tests|scripts|models|docs|\.ci)/[\w./*-]*$")
"""What in a document is the path of a file or folder of the project."""


def test_the_documents_stay_short() -> None:
    """Readers finish them; measurements are in the notes."""
    pages = {name: text for name, text in DOCUMENTS.items() if name.startswith("docs/")}
    assert len(README.splitlines()) <= 120
    assert len(pages) <= 15
    assert sum(len(text.splitlines()) for text in pages.values()) <= 1900


LONGEST_SENTENCE = 30
"""Words."""


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name != "CHANGELOG.md"])
def test_sentences_are_short(name: str) -> None:
    """Outside of tables, code and generated parts."""
    text = re.sub(r"<!-- (\w+) -->.*?<!-- /\1 -->", "", without_code(DOCUMENTS[name]), flags=re.DOTALL)
    prose = re.sub(r"^(?: {4}|[|#!]).*$", "\n", text, flags=re.MULTILINE)
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:- |\d+\. ))", re.sub(r"\]\([^)]*\)", "]", prose))
    assert long_sentences(paragraphs) == []


def long_sentences(paragraphs: Iterable[str]) -> list[str]:
    """Return the sentences with too many words."""
    sentences = [found for text in paragraphs for found in re.split(r"(?<=[.!?])\**\s+", " ".join(text.split()))]
    return [found for found in sentences if len(found.split()) > LONGEST_SENTENCE]


def test_helps_of_options_have_short_sentences_and_name_other_options_by_their_flags() -> None:
    options = Config.options()
    assert long_sentences(option.help for option in options) == []
    keys = re.compile("|".join(rf"\b{one.name}\b|\b{one.key}\b" for one in options if "_" in one.name))
    assert [option.flag for option in options if keys.search(option.help)] == []


def test_the_readme_has_the_two_commands_that_install() -> None:
    assert f"Install and open the board in the browser:\n{INSTALL}" in README
    assert f"Install and pass the tests:\n{INSTALL_AND_TEST}" in README
    assert INSTALL_AND_TEST.strip() in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name, text in DOCUMENTS.items() if ">>> " in text])
def test_the_python_examples_run(name: str) -> None:
    """All examples of a document are one session."""
    code = "\n".join(re.findall(r"```python\n(>>> .*?)```", DOCUMENTS[name], re.DOTALL))
    test = doctest.DocTestParser().get_doctest(code, {}, name, name, 0)
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert result.attempted > 3
    assert result.failed == 0


@pytest.mark.parametrize("name", [name for name, text in DOCUMENTS.items() if "<!-- /" in text])
def test_the_generated_parts_are_up_to_date(name: str) -> None:
    assert with_generated_parts(DOCUMENTS[name]) == DOCUMENTS[name], "run scripts/update_docs"


# --- what documents name exists ---


def test_relative_links_lead_somewhere() -> None:
    for name in DOCUMENTS:
        broken = [link for link in links(DOCUMENTS[name]) if not is_target((ROOT / name).parent, name, link)]
        assert broken == [], name


def test_every_page_is_in_the_index() -> None:
    pages = {name.removeprefix("docs/") for name in DOCUMENTS if name.startswith("docs/")} - {"README.md"}
    assert {link.partition("#")[0] for link in links(DOCUMENTS["docs/README.md"])} >= pages
    assert "docs/README.md" in links(README)


def links(text: str) -> list[str]:
    """Return the targets of a document's links to files and headings of the project."""
    targets = re.findall(r"\]\(([^)\s]+)\)", without_code(text))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def is_target(folder: Path, name: str, link: str) -> bool:
    """Return whether a link in the document `name`, in `folder`, leads to a file, and to a heading if it names one."""
    path, _, anchor = link.partition("#")
    target = (folder / path).resolve() if path else ROOT / name
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not anchor or anchor in anchors(target.read_text(encoding="utf-8"))


def anchors(text: str) -> set[str]:
    """Return the anchors of a document's headings, as code hosts make them."""
    found: set[str] = set()
    seen: Counter[str] = Counter()
    for heading in re.findall(r"^#+ +(.*)$", without_code(text), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def without_code(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def test_the_files_named_exist() -> None:
    for name in DOCUMENTS:
        named = {word for words in re.findall(r"`([^`\n]+)`", without_code(DOCUMENTS[name])) for word in words.split()}
        paths = {word.rstrip(",.;:") for word in named if PATH.match(word)}
        assert {path for path in paths if not list(ROOT.glob(path))} == set(), name


def test_each_row_of_the_comparison_is_seen() -> None:
    """Its last cell names a test that exists, as pytest does, or a picture."""
    table = (ROOT / "docs" / "notes" / "2026-11-28-comparison.md").read_text(encoding="utf-8").partition("|---")[2]
    for row in re.findall(r"^\| .*", table, re.MULTILINE):
        file, _, name = row.split("|")[-2].strip(" `").partition("::")
        assert name in (ROOT / file).read_text(encoding="utf-8" if name else "latin-1"), row


def recipes() -> dict[str, list[str]]:
    """Return the steps of each recipe in CONTRIBUTING.md, by its title."""
    section = DOCUMENTS["CONTRIBUTING.md"].partition("## Recipes")[2].partition("\n## ")[0]
    titles_and_texts = re.split(r"^\*\*(.+)\*\*$", section, flags=re.MULTILINE)[1:]
    found = dict(zip(titles_and_texts[::2], titles_and_texts[1::2], strict=True))
    return {title: re.split(r"\n\n|^\d+\. ", text, flags=re.MULTILINE) for title, text in found.items()}


@pytest.mark.parametrize("title", recipes())
def test_a_recipe_names_what_its_files_hold(title: str) -> None:
    """A name in a step, such as `PRESETS`, is in a file that this step or an earlier one names."""
    sources = ""
    for step in recipes()[title]:
        words = re.findall(r"`([^`]+)`", step)
        sources += "".join((ROOT / word).read_text(encoding="utf-8") for word in words if (ROOT / word).is_file())
        names = [word for word in words if re.fullmatch(r"_?[A-Za-z]\w*", word)]
        assert [name for name in names if not re.search(rf"\b{name}\b", sources)] == []
    assert sources, "it names files"


def test_there_are_six_recipes() -> None:
    assert len(recipes()) == 6


FILE = re.compile(r"(?<![\w./-])[\w./-]+\.(?:onnx|bin\.gz|toml|sgf|json|jsonl)\b")
"""What in a command is a file that it reads or writes."""


def test_the_readme_names_no_file_that_its_reader_does_not_have() -> None:
    """A name in capitals stands for one of the reader's; what a command writes follows `>`, `-o` or `--out`."""
    blocks = "".join(re.findall(r"^(?: {4}.*\n)+", README, re.MULTILINE))
    written = set(re.findall(r"(?:> |-o |--out )(\S+)", blocks))
    named = {name for name in FILE.findall(blocks) if not Path(name).name.split(".")[0].isupper()}
    assert {name for name in named - written if not (ROOT / name).exists()} == set()


def test_the_commands_named_exist() -> None:
    """Every `gtp-engine` command line names a subcommand and flags that it has."""
    for name in DOCUMENTS:
        for command in command_lines(DOCUMENTS[name]):
            check_command(command)


def command_lines(text: str) -> Iterator[list[str]]:
    """Yield the words after `gtp-engine` of each of its command lines, in code blocks and in inline code."""
    blocks = re.findall(r"^(?: {4}.*\n)+|^```\w*\n.*?^```", text, re.MULTILINE | re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    lines += re.findall(r"`(gtp-engine [^`]*)`", re.sub(r"^ {4}.*$", "", without_code(text), flags=re.MULTILINE))
    for line in lines:
        if "gtp-engine" in line and ">>>" not in line:
            yield from engine_commands(split(line))


def split(line: str) -> list[str]:
    """Return the words of a command line; in prose that is none, an apostrophe may look like an open quote."""
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return line.replace('"', " ").split()


def engine_commands(words: list[str]) -> Iterator[list[str]]:
    """Yield what follows `gtp-engine` among the words of a command line, and in words that are command lines."""
    if "gtp-engine" in words:
        yield words[words.index("gtp-engine") + 1 :]
    for word in words:
        if word.startswith("gtp-engine "):
            yield from engine_commands(word.split())


def check_command(words: list[str]) -> None:
    """Assert that a command line of `gtp-engine`, without that word, names commands and flags that exist."""
    command: click.Command = cli
    while isinstance(command, click.Group) and words and re.fullmatch(r"[a-z-]+", words[0]) and words[0][0] != "-":
        known = dict(commands_of(command))
        assert words[0] in known, f"gtp-engine has no command {words[0]}"
        command, words = known[words[0]], words[1:]
    if command is cli:
        command = cli.commands["gtp"]
    flags = {flag for param in command.params for flag in [*param.opts, *param.secondary_opts]} | {
        "--help",
        "--help-all",
    }
    for word in words:
        if word in (">", "|", "&&", "…"):
            return
        if word.startswith("--"):
            assert word.partition("=")[0] in flags, f"gtp-engine {command.name} has no flag {word}"


def test_the_flags_named_exist() -> None:
    """Flags that stand alone, in inline code."""
    flags = {
        flag for _, command in cli_commands() for param in command.params for flag in param.opts + param.secondary_opts
    }
    flags |= {"--help", "--help-all", "--version"}
    for name in DOCUMENTS:
        assert set(re.findall(r"`(--[a-z0-9-]+)", DOCUMENTS[name])) <= flags, name


def test_the_networks_on_offer_have_their_hashes() -> None:
    """By which a reader can check a download without the engine."""
    rows = re.findall(
        r"^\| `([\w-]+)`.* \| ([\d.]+) \| .* \| `([0-9a-f]{64})` \|$", DOCUMENTS["docs/networks.md"], re.MULTILINE
    )
    assert rows == [(network.name, network.katrain, network.wheel_sha256) for network in PUBLISHED]


def test_the_names_imported_exist() -> None:
    """Read from the sources, as some of them need PyTorch."""
    for name in DOCUMENTS:
        for module, names in re.findall(r"\bfrom (gtp_engine[\w.]*) import (\([^)]*\)|.+)", DOCUMENTS[name]):
            for imported in re.findall(r"\w+", names):
                assert imported in names_of(module), f"{module} has no {imported}"


def names_of(module: str) -> set[str]:
    """Return what a module of the package defines at its top level, or what its `__all__` lists."""
    path = ROOT / module.replace(".", "/")
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    found = set()
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            found |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
            texts = {str(text.value) for text in ast.walk(node) if isinstance(text, ast.Constant)}
            found |= {word for text in texts for word in text.split()}
    return found


def test_the_methods_of_the_engine_exist() -> None:
    table = DOCUMENTS["docs/python-api.md"].partition("| purpose | methods |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", table)
    assert len(named) > 10
    assert {name for name in named if not hasattr(Engine, name)} == set()


# --- the architecture ---


def test_the_source_overview_is_in_the_order_of_the_floors() -> None:
    """The table of docs/architecture.md has a row for each floor, the lowest first, with its rooms."""
    text = DOCUMENTS["docs/architecture.md"].partition("## Source overview")[2].partition("\n## ")[0]
    rows = [re.findall(r"`(\w+)/`", row.split("|")[1]) for row in re.findall(r"^\| `.*$", text, re.MULTILINE)]
    assert [tuple(row) for row in rows] == [*reversed(FLOORS)]


@pytest.mark.parametrize(
    ("words", "is_right"),
    [
        (["--model", "x"], True), (["--modle", "x"], False), (["models", "import", "x", "--out", "y"], True),
        (["models", "import", "--games", "3"], False), (["mach"], False), (["config", ">", "--anything"], True)
    ],
)  # fmt: skip
def test_the_check_of_commands_finds_mistakes(words: list[str], is_right: bool) -> None:
    try:
        check_command(words)
    except AssertionError:
        assert not is_right
    else:
        assert is_right


def test_the_check_of_links_finds_broken_ones() -> None:
    assert is_target(ROOT, "README.md", "docs/options.md#all-options")
    assert is_target(ROOT, "README.md", "#licence")
    assert not is_target(ROOT, "README.md", "docs/options.md#no-such-heading")
    assert not is_target(ROOT, "README.md", "docs/no-such-page.md")
