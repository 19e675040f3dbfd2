"""What the documents take from the code: tables and transcripts between marks such as `<!-- rules -->`.

`scripts/update_docs` rewrites them; `test_docs.py` compares them with what is written.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import click

from gtp_engine import Config, Engine
from gtp_engine.cli import cli
from gtp_engine.config.option import Option
from gtp_engine.go.rules import PRESETS
from gtp_engine.protocols.gtp.server import COMMANDS, GtpServer

ROOT: Final = Path(__file__).parent.parent

SECTIONS: Final = {
    "admin": "Session and engine",
    "setup": "Board, komi, handicap, rules and time",
    "moves": "Playing and scoring",
    "analyze": "Analysis",
    "evaluations": "Evaluation of the position",
    "params": "Settings",
    "sgf": "Game records",
    "gogui": "GoGui",
    "debug": "Board and game state, ladders, eyes and life",
}
"""Heading of each module of GTP commands, in its order."""

TRANSCRIPT_OPTIONS: Final = {"search.search": "rave", "search.visits": "1000", "search.seed": "1"}
"""Options of the session in the README: a search without a network repeats itself on every machine."""


def documents() -> list[Path]:
    """Return every Markdown document of the project, sorted by path, without the notes, which are of their day."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "models").rglob("*.md")])


def with_generated_parts(text: str) -> str:
    """Return a document's text with everything between marks regenerated; raises KeyError for an unknown mark."""
    return re.sub(
        r"(<!-- (\w+) -->\n)(.*?)(<!-- /\2 -->)",
        lambda found: found[1] + GENERATORS[found[2]](found[3]).strip() + "\n" + found[4],
        text,
        flags=re.DOTALL,
    )


def transcript(old: str) -> str:
    """Return a GTP session with the commands of `old` (lines that begin with ">") and the engine's replies."""
    config = Config().with_values(TRANSCRIPT_OPTIONS)
    engine = Engine(config, evaluator=None)
    server = GtpServer(config, lambda: engine)
    commands = re.findall(r"^> (.*)$", old, re.MULTILINE)
    parts = [f"> {command}\n{server.handle_line(command).strip()}\n" for command in commands]
    engine.close()
    return "```\n" + "\n".join(parts) + "```"


def options_table(_: str) -> str:
    """Return the options, one table for each section of the configuration but `puct`, whose many are for experts."""
    blocks = []
    for section in dict.fromkeys(option.section for option in Config.options() if option.section != "puct"):
        rows = [_option_row(option) for option in Config.options() if option.section == section]
        (summary, *_) = (getattr(Config(), section).__doc__ or "").splitlines()
        head = [f"### {section}", "", summary, "", "| flag | default | values | meaning |", "|---|---|---|---|"]
        blocks.append("\n".join([*head, *rows]))
    return "\n\n".join(blocks)


def _option_row(option: Option) -> str:
    negative = f", `{option.flag.replace('--', '--no-')}`" if option.kind is bool else ""
    values = "on or off" if option.kind is bool else option.expectation
    return f"| `{option.flag}`{negative} | {_default(option)} | {values} | {option.help} |"


def _default(option: Option) -> str:
    if option.default in (None, ""):
        return "not set" if option.default is None else "empty"
    if option.kind is bool:
        return "on" if option.default else "off"
    return f"`{option.default}`"


def gtp_commands(_: str) -> str:
    """Return the GTP commands: one table per section, one row per command."""
    blocks = []
    for section, title in SECTIONS.items():
        lines = [f"## {title}", "", "| command | what it does |", "|---|---|"]
        for _, spec in sorted(COMMANDS.items()):
            if spec.handler.__module__.endswith(f".{section}"):
                condition = "" if spec.option is None else f" Only with the option `gtp.{spec.option}`."
                lines.append(f"| `{spec.call}` | {spec.summary}{condition} |")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def commands_table(_: str) -> str:
    """Return the subcommands of `gtp-engine`, one row for each."""
    rows = [f"| `gtp-engine {name}` | {_first_sentence(command)} |" for name, command in cli_commands()]
    return "\n".join(["| command | what it does |", "|---|---|", *rows])


def cli_commands(group: click.Group = cli, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield the commands of a group and of the groups in it, with the words that call them."""
    for word, command in commands_of(group):
        if isinstance(command, click.Group):
            yield from cli_commands(command, f"{name}{word} ")
        else:
            yield f"{name}{word}", command


def commands_of(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    """Yield the commands of a group with their names, sorted by name."""
    context = click.Context(group)
    for name in sorted(group.list_commands(context)):
        command = group.get_command(context, name)
        assert command is not None, name
        yield name, command


def _first_sentence(command: click.Command) -> str:
    return " ".join((command.help or "").split("\n\n")[0].split())


def scripts() -> dict[str, str]:
    """Return the scripts of docs/scripts by their names."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "scripts").glob("*.py"))}


def by_hand(name: str) -> str:
    """Return the same script without this library."""
    return (ROOT / "docs" / "by_hand" / f"{name}.py").read_text(encoding="utf-8")


def line_count(code: str) -> int:
    """Return the lines of a script without blank ones and comments."""
    return len([line for line in code.splitlines() if line.strip() and not line.strip().startswith("#")])


def rules_table(_: str) -> str:
    """Return the rule sets with names, equal ones in one row."""
    rows = ["| name | ko | scoring | tax | suicide | button | handicap bonus | friendly pass | komi |"]
    rows.append("|---|---|---|---|---|---|---|---|---|")
    for rules in dict.fromkeys(PRESETS.values()):
        names = ", ".join(f"`{name}`" for name, preset in PRESETS.items() if preset == rules)
        values = [str(value) for value in (rules.ko, rules.scoring, rules.tax)]
        values += ["yes" if flag else "no" for flag in (rules.suicide, rules.has_button)]
        values += [str(rules.white_handicap_bonus), "yes" if rules.friendly_pass_ok else "no"]
        rows.append(f"| {names} | {' | '.join(values)} | {rules.default_komi()} |")
    return "\n".join(rows)


GENERATORS: Final[dict[str, Callable[[str], str]]] = {
    "transcript": transcript,
    "rules": rules_table,
    "commands": gtp_commands,
    "options": options_table,
    "cli": commands_table,
}
"""What fills the space between the marks of this name, given what stood there before."""


def main() -> None:
    """Write the generated parts of all documents."""
    for path in documents():
        text = path.read_text(encoding="utf-8")
        updated = with_generated_parts(text)
        if updated != text:
            path.write_text(updated, encoding="utf-8")
            print(f"updated {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
