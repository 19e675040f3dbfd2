"""The table of GTP commands, and what runs them: one line in, one reply out.

A handler is a function `(server, args) -> text of the reply`, entered into the table by a decorator; None is an empty
text, unless the handler has set `server.reply.interrupted`: then a background job finishes the reply.

    @command("play", "COLOR VERTEX", "Play a stone or a pass.", exact=True)
    def play(server: GtpServer, args: Command) -> None: ...

The usage is for readers and for `CommandSpec.check_count`: plain words are required, words in brackets are optional,
`...` stands for any number.  `list_commands`, `known_command`, the tables in the documentation and the checks on the
number of arguments all come from this table.

`GtpServer` finds the handler, runs it and turns every exception into a reply.  The reply of an analysis continues after
its handler has returned, until the next line comes; every other reply is complete.  I/O and threads are in `session`,
the search is in `engine`.  Tests and programs that want GTP without pipes use `GtpServer.handle_line`.
"""

import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from gtp_engine.base.errors import TengenError, shown
from gtp_engine.base.streams import MAX_LINE_BYTES, Log, write_log
from gtp_engine.config import Config
from gtp_engine.protocols.gtp.protocol import Command, GtpError, Reply, SendPiece, decode_line, parse_line
from gtp_engine.search.limits import CancelToken

if TYPE_CHECKING:  # importing the engine takes as long as the rest of the handshake
    from gtp_engine.engine import Choice, Engine

Handler: TypeAlias = Callable[["GtpServer", Command], str | None]

Advise: TypeAlias = Callable[[Command, bool], str]

GOGUI: Final = "gogui"
TERMINAL: Final = "terminal"
"""Who may watch stderr while the engine searches."""

OGS_ANNOUNCEMENT: Final = "MALKOVICH lines for gtp2ogs follow, in the format of KataGo."
"""The line of the log before the first such line: gtp2ogs parses KataGo's format once a line has named KataGo."""

ID_SEARCH_LENGTH: Final = 100
"""Characters at the start of an overlong line that are searched for its id."""

FIRST_LINE_TIMEOUT: Final = 2.0
"""Seconds that `handle_line` waits for the first line of a streaming reply, which may never come."""

# --- the table ---


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One command of the table.

    `syntax` are the words that start the error for a missing argument, `exact` whether surplus arguments are an error,
    and `option` the flag of GtpConfig without which the command does not exist.
    """

    name: str
    usage: str
    summary: str
    handler: Handler
    syntax: str
    exact: bool
    option: str | None

    @property
    def call(self) -> str:
        """Name and arguments, as a user writes them."""
        return f"{self.name} {self.usage}".rstrip()

    def check_count(self, args: Command) -> None:
        """Raise GtpError when there are too few arguments, or too many for a command that takes exactly its own.

        Most commands ignore surplus arguments, as GNU Go does, because some front ends send them (qGo's `undo 0`).
        Those that set something from their arguments are exact, as in KataGo: in `komi 7 5` or `play b D4 E4` each word
        may be the one that was meant.
        """
        if len(args) < len(_OPTIONAL.sub("", self.usage).split()):
            raise GtpError(f"{self.syntax}: too few arguments, expected {self.call}")
        if self.exact and "..." not in self.usage and len(args) > len(self.usage.split()):
            raise GtpError(f"syntax error: too many arguments, expected {self.call}")


SYNTAX_ERROR: Final = "syntax error"

_MISSING: Final = {
    "COLOR": "invalid color",
    "VERTEX": "invalid coordinate",
    "COLOR VERTEX": "invalid color or coordinate",
}
"""The `syntax` of commands by their usage, in GNU Go's words; that of others is `SYNTAX_ERROR`."""

_OPTIONAL: Final = re.compile(r"\[[^]]*\](\.\.\.)?")

COMMANDS: Final[dict[str, CommandSpec]] = {}
"""Every command by name, filled by `@command`: `gtp_engine.protocols.gtp` imports the modules of `commands`."""


def command(
    name: str, usage: str, text: str = "", *, syntax: str | None = None, exact: bool = False, option: str | None = None
) -> Callable[[Handler], Handler]:
    """Return a decorator that enters a handler into the table; for the parameters see CommandSpec.

    The summary is the text, by default that of the handler's docstring.
    """

    def register(handler: Handler) -> Handler:
        if name in COMMANDS:
            raise ValueError(f"GTP command {name} is defined twice")
        words, summary = syntax or _MISSING.get(usage, SYNTAX_ERROR), text or (handler.__doc__ or "").partition("\n")[0]
        COMMANDS[name] = CommandSpec(name, usage, summary, handler, words, exact, option)
        return handler

    return register


# --- the server ---


class GtpServer:
    """The state of a GTP session apart from the game: configuration and commands.

    `finished` becomes true with `quit`; `explanation` is a line about the last move that the engine chose,
    `last_choice` is that move, until its colour has played.  `reply` and `cancel` are the reply and the cancel token of
    the running command (else the last one): handlers use `reply` to send more than their text, and pass `cancel` to
    every engine method that searches.  `after_reply` is what a handler has left for when its reply has been sent: a
    search beside the thread that replies would delay it.  `watching` is who watches stderr while the engine searches:
    GOGUI once it has asked for its menu, TERMINAL, or "".

    `advise`, in a terminal, returns what a person should have typed instead of a command that failed, given whether
    there is such a command; it goes to the log.

    `engine_provider` returns the engine and may block while it is loading; it is called only by commands that
    need the engine.  An exception it raises fails the command, not the session.  `log` receives lines for the user.
    Lines of more than `longest` bytes are refused.
    """

    def __init__(
        self,
        config: Config,
        engine_provider: Callable[[], "Engine"],
        log: Log = write_log,
        *,
        longest: int = MAX_LINE_BYTES,
        advise: Advise | None = None,
    ) -> None:
        self._longest: Final = longest
        self.config = config
        self.commands = {
            name: spec for name, spec in sorted(COMMANDS.items()) if not spec.option or getattr(config.gtp, spec.option)
        }
        self.log = log
        self.finished = False
        self.explanation = ""
        self.last_choice: Choice | None = None
        self.advise: Final = advise
        self.watching = "" if advise is None else TERMINAL
        self.reply = Reply(lambda text: None)
        self.reply.end()
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
    def current_config(self) -> Config:
        """The configuration with the changes made since the start; does not wait for the engine."""
        return self.config if self._engine is None else self._engine.config

    def interrupt(self) -> None:
        """End what the last command left running, because a line has come: a streaming reply at once, pondering soon.

        Does not wait for a search to end; a command that needs one does.
        """
        self.reply.interrupt()
        self.cancel.cancel()

    def answer(self, raw: bytes, send: SendPiece, cancel: CancelToken | None = None) -> None:
        """Answer one line as received, without its newline; pieces of the reply go to `send` as they come, if any.

        `cancel` ends the command's searches early, from any thread, even before the command has begun.
        """
        self.interrupt()
        line = decode_line(raw)
        command = parse_line(line)
        if command is None:  # only blanks or a comment
            return
        if len(raw) > self._longest:
            start = parse_line(line[:ID_SEARCH_LENGTH])
            reply = Reply(send, None if start is None else start.id)
            reply.end(f"line too long: the limit is {self._longest} bytes", ok=False)
            return
        self.cancel = cancel or CancelToken()
        self._execute(command, Reply(send, command.id))

    def handle_line(self, line: str) -> str:
        """Return the complete reply to one line, or "" where GTP gives none (an empty line, a comment).

        A reply that would continue until the next line is ended after its first report.
        """
        pieces: list[str] = []
        line = re.sub("[\ud800-\udc7f\udd00-\udfff]", "\ufffd", line)  # surrogates that stand for no byte
        self.answer(line.encode("utf-8", "surrogateescape"), pieces.append)
        if not self.reply.is_ended:
            self.reply.wait_for_line(FIRST_LINE_TIMEOUT)
            self.interrupt()
        return "".join(pieces)

    def find(self, name: str) -> CommandSpec | None:
        """Return the command called `name`, exactly or else in lower case, or None."""
        return self.commands.get(name) or self.commands.get(name.lower())

    def _execute(self, command: Command, reply: Reply) -> None:
        """Run one command; an exception becomes a failure response, an unexpected one also a traceback in the log."""
        self.reply, self.after_reply = reply, None
        try:
            spec = self.find(command.name)
            if spec is None:
                raise GtpError("unknown command")
            spec.check_count(command)
            text = spec.handler(self, command)
            if text is not None or reply.interrupted is None:
                reply.end(text or "")
            if self.after_reply is not None:
                self.after_reply()
        except TengenError as error:
            self._fail(str(error))
            if self.advise is not None and (words := self.advise(command, self.find(command.name) is not None)):
                self.log(words)
        except Exception as error:
            self.log(f"internal error in {shown(command.name)}:\n{traceback.format_exc().rstrip()}")
            self._fail(f"internal error: {type(error).__name__}: {shown(str(error))}")

    def _fail(self, message: str) -> None:
        if self.reply.is_open or self.reply.is_ended:  # too late for a `?` response
            self.log(message)
        self.reply.end(message, ok=False)
