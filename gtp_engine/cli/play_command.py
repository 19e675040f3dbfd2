"""The command `gtp-engine play`: a game in the terminal."""

import random
import sys
from dataclasses import dataclass, replace
from typing import Final

import click

from gtp_engine.base.streams import discard, trouble_of
from gtp_engine.cli.options import (
    ConfigCommand,
    UserPath,
    config_options,
    given_text,
    language_option,
    settings_options,
)
from gtp_engine.cli.record_commands import ChosenPosition
from gtp_engine.config import Config
from gtp_engine.config.option import Section, option
from gtp_engine.go.clock import parse_time
from gtp_engine.go.constants import MAX_SIZE, MIN_SIZE
from gtp_engine.go.coords import parse_color

_RANDOM_COLOR: Final = "random"


_USUAL: Final = ("play.level", "game.rules", "game.komi", "time.time_per_move", "search.visits", "network.model")
"""Options of the engine that matter in a game against a person."""


@dataclass(frozen=True)
class NewGame(Section, name="new_game"):
    """A game that does not come from a record."""

    size: int | None = option(None, "Lines of the board; not set: 19.", unit="lines", bounds=(MIN_SIZE, MAX_SIZE))
    handicap: int = option(0, "Handicap stones for Black, with komi 0.5; 1: no stones, only this komi.", unit="stones")
    free_handicap: bool = option(False, "Let Black choose where to place the handicap stones.")
    time: str = option("none", unit="time")
    """Clock of both players: 10m, 10m+3x30s (byo-yomi), 10m+15/5m (Canadian), 5m+10s (Fischer) or none; a number
    without a unit counts seconds."""


@click.command("play", cls=ConfigCommand, usual=_USUAL)
@click.option(
    "--color",
    type=click.Choice(["black", "white", _RANDOM_COLOR], case_sensitive=False),
    help="Your colour. [default: black; in a loaded game, the one that the record gives you]",
)
@settings_options(NewGame, "new_game", is_own=True)
@click.option(
    "--load",
    "record",
    type=UserPath(dir_okay=False),
    help="Continue the game in a record; --rules and --komi apply if it names none.",
)
@settings_options(ChosenPosition, "place", only=("game",), is_own=True)
@language_option
@config_options()
def play_command(
    color: str | None, record: str | None, new_game: NewGame, place: ChosenPosition, config: Config
) -> None:
    """Play against the engine in this terminal.

    Type moves as coordinates, or move the cursor with the arrow keys and press Enter. During a game `help` lists the
    other commands: undo, hint, score, pass, resign, save and more.
    """
    from gtp_engine.people.play import GameSettings, SharedEngines
    from gtp_engine.people.terminal.typed_command import read_record

    number, board = place.game, given_text("game.board_size")
    if new_game.size is not None and board is not None:
        raise click.UsageError("--size with --board-size: both are the lines of the board; leave one out")
    data = None
    if record is not None:
        given = {"size": new_game.size, "board-size": board, "handicap": new_game.handicap}
        given["free-handicap"] = new_game.free_handicap
        if wrong := [f"--{name}" for name, value in given.items() if value]:
            raise click.UsageError(f"{wrong[0]} with --load: the record decides board and handicap; leave it out")
        data = read_record(record, number)  # a mistake is reported before the network is loaded
    elif number is not None:
        raise click.UsageError("--game without --load: name the file with the game")
    if new_game.free_handicap and new_game.handicap in (0, 1):
        raise click.UsageError("--free-handicap without stones: add how many, as in --handicap 4")
    if color is not None:
        color = random.choice(("black", "white")) if color.lower() == _RANDOM_COLOR else color
    settings = GameSettings(
        human=parse_color(color or "black"),
        width=new_game.size or config.game.board_size or 0,
        rules=config.game.rules,
        komi=config.game.komi,
        handicap=new_game.handicap,
        has_free_handicap=new_game.free_handicap,
        time=parse_time(new_game.time),
    )
    from gtp_engine.people.terminal.displays import open_display
    from gtp_engine.people.terminal.terminal_game import TerminalGame

    with SharedEngines(config) as engines:  # `doctor` shows network and processor
        width, height = (settings.width, None) if settings.width else engines.first_board()
        settings = replace(settings, width=width, height=height)
        engines.load_kernels()
        with engines.new_engine() as engine, open_display() as display:
            chosen = [key for key in ("play.level", "new_game.time") if given_text(key) is not None]
            game = TerminalGame(engine, settings, display, chosen)
            if data is not None:
                game.load(data, human=None if color is None else settings.human)
            farewell = game.run()
    try:
        click.echo(farewell, nl=bool(farewell))  # flushes what the display has left, too
    except OSError as error:
        trouble = trouble_of(sys.stdout, error)
        discard(sys.stdout)
        if trouble:
            raise
