"""What a person who types GTP commands into a terminal reads on stderr: what this is, how to play, what was wrong.

The replies on stdout stay those of the protocol.
"""

import re
from typing import Final

from gtp_engine.base.errors import shown
from gtp_engine.go.coords import is_color
from gtp_engine.protocols.gtp.protocol import Command

WELCOME: Final = """\
Tengen waits for GTP commands, as Go programs send them. Type help for an explanation, quit to end.
To play here in the terminal, start  gtp-engine play  instead;  gtp-engine --help  lists all other commands."""

HELP: Final = """\
  play b D4         put a black stone on D4 (w for White; pass instead of a point passes)
  genmove w         let the engine play a white move; it thinks for some seconds
  showboard         print the board
  undo              take back one move
  boardsize 9       start a new game on a board of 9x9; clear_board starts one on the same board
  komi 6.5          set the komi; fixed_handicap 4 places handicap stones
  final_score       count the game
  loadsgf FILE      load a game; printsgf prints the one on the board
  list_commands     list all commands
  quit              end
gtp-engine play shows a board in the terminal. To play on a graphical board, enter gtp-engine as an engine in a Go
program, as gtp-engine setup does. gtp-engine --help lists all commands, gtp-engine gtp --help-all all options."""

_VERTEX: Final = re.compile(r"(?i:[a-hj-z]\d{1,2}|pass)")
_HELP_WORDS: Final = ("help", "?", "h", "man", "usage")
_END_WORDS: Final = ("exit", "bye", "q", "end")


def advice(command: Command, is_known: bool) -> str:
    """Return what a person should have typed instead of a line that failed, "" if its reply says enough."""
    name, words = command.name.lower(), command.words
    if name in _HELP_WORDS:
        return HELP
    if name in _END_WORDS:
        return "Type quit to end."
    if _VERTEX.fullmatch(name):
        return _how_to_play(name)
    if name == "play":
        vertices = [word for word in words if _VERTEX.fullmatch(word)]
        is_move = len(words) == 2 and is_color(words[0]) and vertices == [words[1]]
        return "" if is_move else _how_to_play(vertices[0] if vertices else "D4")
    if name == "genmove":
        return "" if words and is_color(words[0]) else "genmove needs a color: genmove b or genmove w."
    return "" if is_known else f"There is no command {shown(command.name)}; help explains how to play."


def _how_to_play(vertex: str) -> str:
    vertex = vertex.lower() if vertex.lower() == "pass" else vertex.upper()
    return f"play b {vertex} plays it for Black, play w {vertex} for White; genmove w lets the engine answer."
