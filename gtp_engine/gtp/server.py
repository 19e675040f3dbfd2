"""One GTP line in, one reply out: finds the handler, runs it and turns every exception into a reply.

No I/O and no threads (`session` has them), no search (`engine` has it).  Tests and programs that want GTP
without pipes use `GtpServer.handle_line`.
"""

import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

from gtp_engine.errors import TengenError, shown
from gtp_engine.gtp.args import Args
from gtp_engine.gtp.protocol import (
    MAX_LINE_BYTES,
    Command,
    GtpError,
    Response,
    decode_line,
    encode_reply,
    parse_line,
)
from gtp_engine.gtp.registry import CommandSpec, enabled_commands

if TYPE_CHECKING:
    from gtp_engine.config import Config
    from gtp_engine.engine import Engine

ID_SEARCH_LENGTH = 100
"""Characters of a line too long to be read that are searched for its id."""


def write_log(text: str) -> None:
    """Write one line to stderr; a closed stderr is no reason to end a game."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text + "\n")  # in one piece: threads write here too
        sys.stderr.flush()
    except (OSError, ValueError):
        return


class GtpServer:
    """The state of a GTP session apart from the game: configuration and commands.

    `finished` becomes true with `quit`; `explanation` is a line about the last move the engine chose.
    `engine_provider` returns the engine and may block while it is loading; it is called only by commands that
    need the engine.  An exception it raises fails the command, not the session.  `log` takes lines for the user.
    """

    def __init__(
        self,
        config: "Config",
        engine_provider: Callable[[], "Engine"],
        log: Callable[[str], None] = write_log,
    ) -> None:
        self.config = config
        self.commands = enabled_commands(config.gtp)
        self.log = log
        self.finished = False
        self.explanation = ""
        self._engine_provider = engine_provider
        self._engine: Engine | None = None

    @property
    def engine(self) -> "Engine":
        """The engine; waits until it is loaded and raises whatever made loading it fail."""
        if self._engine is None:
            self._engine = self._engine_provider()
        return self._engine

    def stop(self) -> None:
        """End a running search; may be called from any thread, does nothing while the engine is loading."""
        if self._engine is not None:
            self._engine.stop()

    def handle_bytes(self, raw: bytes) -> bytes:
        """Return the complete reply to one line as received, without its newline; b"" where GTP gives none."""
        line = decode_line(raw)
        if len(raw) > MAX_LINE_BYTES:
            return encode_reply(self._too_long(line))
        return encode_reply(self.handle_line(line))

    def handle_line(self, line: str) -> str:
        """Return the complete reply to one line, or "" where GTP gives none (an empty line, a comment)."""
        command = parse_line(line)
        return "" if command is None else self.execute(command).format()

    def execute(self, command: Command) -> Response:
        """Run one command; every exception becomes a failure response, a bug's also a traceback in the log."""
        try:
            return Response(self._run(command), ok=True, id=command.id)
        except TengenError as error:
            return Response(str(error), ok=False, id=command.id)
        except Exception as error:
            self.log(f"internal error in {shown(command.name)}:\n{traceback.format_exc().rstrip()}")
            summary = f"internal error: {type(error).__name__}: {shown(str(error))}"
            return Response(summary, ok=False, id=command.id)

    def find(self, name: str) -> CommandSpec | None:
        """Return the command called `name`, exactly or else in lower case, or None."""
        return self.commands.get(name) or self.commands.get(name.lower())

    def _run(self, command: Command) -> str:
        spec = self.find(command.name)
        if spec is None:
            raise GtpError("unknown command")
        args = Args(command.words, command.text)
        spec.check_count(args)
        return spec.handler(self, args)

    def _too_long(self, line: str) -> str:
        if parse_line(line) is None:  # a comment or blanks, however long
            return ""
        command = parse_line(line[:ID_SEARCH_LENGTH])
        identifier = None if command is None else command.id
        return Response(f"line too long: the limit is {MAX_LINE_BYTES} bytes", ok=False, id=identifier).format()
