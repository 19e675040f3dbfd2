"""One GTP line in, one reply out: finds the handler, runs it and turns every exception into a reply.

The reply of an analysis continues after its handler has returned, until the next line comes; every other reply is
complete.  I/O and threads are in `session`, the search is in `engine`.  Tests and programs that want GTP without pipes
use `GtpServer.handle_line`.

A person who types into the terminal is told on stderr what this is, how to play, and what was wrong with a line; the
replies on stdout stay those of the protocol.
"""

import re
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from gtp_engine.errors import TengenError, shown
from gtp_engine.gtp.args import Args, color_or_none
from gtp_engine.gtp.protocol import Command, GtpError, Reply, SendPiece, decode_line, encode_reply, parse_line
from gtp_engine.gtp.registry import CommandSpec, enabled_commands
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.streams import MAX_LINE_BYTES, write_log

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
program (docs/front-ends.md). gtp-engine --help lists all commands, gtp-engine gtp --help-all all options."""

_VERTEX: Final = re.compile(r"(?i:[a-hj-z]\d{1,2}|pass)")
_HELP_WORDS: Final = ("help", "?", "h", "man", "usage")
_END_WORDS: Final = ("exit", "bye", "q", "end")


def advice(command: Command, *, is_known: bool) -> str:
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
        return _how_to_play(vertices[0] if vertices else "D4") if not _is_move(words) else ""
    if name == "genmove":
        return "" if words and color_or_none(words[0]) is not None else "genmove needs a color: genmove b or genmove w."
    return "" if is_known else f"There is no command {shown(command.name)}; help explains how to play."


def _is_move(words: tuple[str, ...]) -> bool:
    return len(words) == 2 and color_or_none(words[0]) is not None and _VERTEX.fullmatch(words[1]) is not None


def _how_to_play(vertex: str) -> str:
    vertex = vertex.lower() if vertex.lower() == "pass" else vertex.upper()
    return f"play b {vertex} plays it for Black, play w {vertex} for White; genmove w lets the engine answer."


if TYPE_CHECKING:
    from gtp_engine.config import Config
    from gtp_engine.engine import Choice, Engine

OGS_ANNOUNCEMENT: Final = "MALKOVICH lines for gtp2ogs follow, in the format of KataGo."
"""The line of the log before the first such line: gtp2ogs parses KataGo's format once a line has named KataGo."""

GOGUI: Final = "gogui"
TERMINAL: Final = "terminal"
"""Who may watch stderr while the engine searches."""

GOGUI_CLEAR: Final = "gogui-gfx: CLEAR"
"""The line of the log that ends GoGui's live graphics, before the reply: nothing of them stays on the board."""

ID_SEARCH_LENGTH: Final = 100
"""Characters at the start of an overlong line that are searched for its id."""

FIRST_LINE_TIMEOUT: Final = 2.0
"""Seconds that `handle_line` waits for the first line of a streaming reply, which may never come."""


class GtpServer:
    """The state of a GTP session apart from the game: configuration and commands.

    `finished` becomes true with `quit`; `explanation` is a line about the last move that the engine chose,
    `last_choice` is that move, until its colour has played.  `reply` and `cancel` are the reply and the cancel token of
    the running command (else the last one): handlers use `reply` to send more than their text, and pass `cancel` to
    every engine method that searches.  `after_reply` is what a handler has left for when its reply has been sent: a
    search beside the thread that replies would delay it.  `watching` is who watches stderr while the engine searches:
    GOGUI once it has asked for its menu, TERMINAL, or "".  In a terminal, the log also explains what a person should
    have typed instead of a line that failed.

    `engine_provider` returns the engine and may block while it is loading; it is called only by commands that
    need the engine.  An exception it raises fails the command, not the session.  `log` receives lines for the user.
    Lines of more than `longest` bytes are refused.
    """

    def __init__(
        self,
        config: "Config",
        engine_provider: Callable[[], "Engine"],
        log: Callable[[str], None] = write_log,
        *,
        longest: int = MAX_LINE_BYTES,
    ) -> None:
        self._longest: Final = longest
        self.config = config
        self.commands = enabled_commands(config.gtp)
        self.log = log
        self.finished = False
        self.explanation = ""
        self.last_choice: Choice | None = None
        self.watching = ""
        self.reply = _ended_reply()
        self.cancel = CancelToken()
        self.after_reply: Callable[[], None] | None = None
        self._engine_provider = engine_provider
        self._engine: Engine | None = None
        if config.gtp.ogs_chat:
            log(OGS_ANNOUNCEMENT)

    @property
    def engine(self) -> "Engine":
        """The engine; waits until it is loaded, and raises the error that made loading fail."""
        if self._engine is None:
            self._engine = self._engine_provider()
        return self._engine

    @property
    def current_config(self) -> "Config":
        """The configuration with the changes made since the start; does not wait for the engine."""
        return self.config if self._engine is None else self._engine.config

    def interrupt(self) -> None:
        """End what the last command left running, because a line has come: a streaming reply at once, pondering soon.

        Does not wait for a search to end; a command that needs one does.
        """
        self.reply.interrupt()
        self.cancel.cancel()

    def answer(self, raw: bytes, send: SendPiece, cancel: CancelToken | None = None) -> None:
        """Answer one line as received, without its newline; pieces of the reply go to `send` as they come.

        `cancel` ends the command's searches early, from any thread, even before the command has begun.
        """
        line = decode_line(raw)
        if len(raw) > self._longest:
            self.interrupt()
            self._refuse_too_long(line, send)
        else:
            self.answer_line(line, send, cancel)

    def answer_line(self, line: str, send: SendPiece, cancel: CancelToken | None = None) -> None:
        """Answer one line; nothing is sent where GTP gives no reply (an empty line, a comment)."""
        self.interrupt()
        command = parse_line(line)
        if command is not None:
            self.cancel = cancel or CancelToken()
            self._execute(command, Reply(send, command.id))

    def handle_bytes(self, raw: bytes) -> bytes:
        """Return the complete reply to one line as received, without its newline; b"" where GTP gives none."""
        pieces: list[str] = []
        self.answer(raw, pieces.append)
        self._end_soon()
        return encode_reply("".join(pieces))

    def handle_line(self, line: str) -> str:
        """Return the complete reply to one line, or "" where GTP gives none (an empty line, a comment).

        A reply that would continue until the next line is ended after its first report.
        """
        pieces: list[str] = []
        self.answer_line(line, pieces.append)
        self._end_soon()
        return "".join(pieces)

    def find(self, name: str) -> CommandSpec | None:
        """Return the command called `name`, exactly or else in lower case, or None."""
        return self.commands.get(name) or self.commands.get(name.lower())

    def _execute(self, command: Command, reply: Reply) -> None:
        """Run one command; an exception becomes a failure response, an unexpected one also a traceback in the log."""
        self.reply, self.after_reply = reply, None
        try:
            text = self._run(command)
            if text is not None:
                reply.end(text)
            if self.after_reply is not None:
                self.after_reply()
        except TengenError as error:
            self._fail(str(error))
            if self.watching == TERMINAL and (words := advice(command, is_known=self.find(command.name) is not None)):
                self.log(words)
        except Exception as error:
            self.log(f"internal error in {shown(command.name)}:\n{traceback.format_exc().rstrip()}")
            self._fail(f"internal error: {type(error).__name__}: {shown(str(error))}")

    def _fail(self, message: str) -> None:
        if self.reply.is_open or self.reply.is_ended:  # too late for a `?` response
            self.log(message)
        self.reply.end(message, ok=False)

    def _run(self, command: Command) -> str | None:
        spec = self.find(command.name)
        if spec is None:
            raise GtpError("unknown command")
        args = Args(command.words, command.text)
        spec.check_count(args)
        return spec.handler(self, args)

    def _end_soon(self) -> None:
        """End a streaming reply after its first line."""
        if not self.reply.is_ended:
            self.reply.wait_for_line(FIRST_LINE_TIMEOUT)
            self.interrupt()

    def _refuse_too_long(self, line: str, send: SendPiece) -> None:
        if parse_line(line) is None:  # only blanks or a comment
            return
        command = parse_line(line[:ID_SEARCH_LENGTH])
        reply = Reply(send, None if command is None else command.id)
        reply.end(f"line too long: the limit is {self._longest} bytes", ok=False)


def _ended_reply() -> Reply:
    """Return a reply that has ended, for the time before the first command."""
    reply = Reply(lambda text: None)
    reply.end()
    return reply
