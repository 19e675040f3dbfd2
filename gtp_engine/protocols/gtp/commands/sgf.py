"""Commands that read and write game records.

File names may contain spaces and may be quoted (GoGui does so), but cannot contain `#`, which starts a comment.
"""

from gtp_engine.base.errors import SgfError, shown_path
from gtp_engine.base.files import expanded, write_whole
from gtp_engine.protocols.gtp.protocol import Command, GtpError
from gtp_engine.protocols.gtp.server import GtpServer, command
from gtp_engine.sgf import read_sgf_file


@command("loadsgf", "FILE [MOVE_NUMBER]", syntax="missing filename", option="files")
def loadsgf(server: GtpServer, args: Command) -> None:
    """Load the main line of an SGF file, with its size, komi and rules, up to the position before that move."""
    name, move_number = _read_arguments(args)
    engine = server.engine
    try:
        engine.load_sgf(read_sgf_file(str(expanded(name)) if name else name), move_number)
    except SgfError as error:
        raise GtpError(f"cannot load file: {error}") from error


@command("printsgf", "[FILE]")
def printsgf(server: GtpServer, args: Command) -> str:
    """Print the game as SGF, or write it to a file."""
    text = server.engine.to_sgf(server.cancel)
    name = _unquote(args.text)
    if name in ("", "-"):
        return text
    if not server.config.gtp.files:
        raise GtpError(
            "cannot open a file: access to files is off (option gtp.files); printsgf without a name prints the record"
        )
    try:
        write_whole(expanded(name), text)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise GtpError(f"cannot open {shown_path(name)}: {reason}") from error
    return ""


def _read_arguments(args: Command) -> tuple[str, int | None]:
    """Return the file name and the move number, which is the last word if that is a number and not the only word."""
    last = args[-1]
    if len(args) > 1 and last.isascii() and last.isdigit() and len(last) < 10:
        name = args.text[: -len(last)].rstrip(" ")
        if int(last) < 1:
            raise GtpError("cannot load file: the move number must be 1 or more")
        return _unquote(name), int(last)
    return _unquote(args.text), None


def _unquote(name: str) -> str:
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name
