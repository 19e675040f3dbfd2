"""Commands about the session and the program: handshake, caches, random seed, KGS's game_over and chat."""

import time
from typing import Final

from gtp_engine import __version__
from gtp_engine.config.katago import GTP_VERSION
from gtp_engine.config.sections import MAX_LEVEL
from gtp_engine.protocols.gtp.protocol import Command, GtpError, parse_integer
from gtp_engine.protocols.gtp.server import GtpServer, command

PROTOCOL_VERSION: Final = "2"


@command("protocol_version", "", "Version of the protocol: 2.")
def protocol_version(server: GtpServer, args: Command) -> str:
    """Return the protocol version; some controllers send this command just to interrupt a search."""
    return PROTOCOL_VERSION


@command("name", "", "Name of the engine.")
def name(server: GtpServer, args: Command) -> str:
    """Return the name, which front ends use to choose a dialect (option gtp.name)."""
    return server.config.gtp.name


@command("version", "", "Version of the engine.")
def version(server: GtpServer, args: Command) -> str:
    """Return the version, which some front ends compare with another engine's (option gtp.version)."""
    return server.config.gtp.version or GTP_VERSION


def _introduction(server: GtpServer) -> str:
    """Return name and version for people."""
    return f"{server.config.gtp.name} {server.config.gtp.version or __version__}"


@command("list_commands", "", "All commands, one per line.")
def list_commands(server: GtpServer, args: Command) -> str:
    """Return the names of all commands in alphabetical order."""
    return "\n".join(server.commands)


@command("known_command", "[COMMAND]", "Whether a command exists: true or false.")
def known_command(server: GtpServer, args: Command) -> str:
    """Return "true" or "false"; without an argument "false", as GNU Go does."""
    return "true" if len(args) and server.find(args[0]) else "false"


@command("quit", "", "End the session.")
def quit_session(server: GtpServer, args: Command) -> None:
    """Reply, then end the session."""
    server.finished = True


@command("cputime", "", "Processor time used so far, in seconds.")
@command("gomill-cpu_time", "", "The same as cputime, for gomill.")
def cputime(server: GtpServer, args: Command) -> str:
    """Return the seconds of processor time of this process, all threads together."""
    return f"{time.process_time():.3f}"


@command("gomill-describe_engine", "", "Name, version and settings as text.")
def gomill_describe_engine(server: GtpServer, args: Command) -> str:
    """Return a few lines for the head of a match report."""
    config = server.current_config
    lines = [_introduction(server), f"search: {config.search.search}"]
    if config.play.level != MAX_LEVEL:  # its own search ignores the visits
        lines.append(f"level: {config.play.level}")
    elif config.search.visits:
        lines.append(f"visits per move: {config.search.visits}")
    return "\n".join(lines)


@command("clear_cache", "", "Clear the search tree and all cached results.")
def clear_cache(server: GtpServer, args: Command) -> None:
    """Clear all that the next search would reuse."""
    server.engine.clear_cache()


@command("tengen-ready", "", "Wait until the engine is compiled, which takes up to a minute at a first start.")
def ready(server: GtpServer, args: Command) -> None:
    """Return once moves are chosen by searches of full size; matches send this before their first game."""
    server.engine.kernels.wait(server.cancel)


@command("get_random_seed", "", "Seed of the random numbers.")
def get_random_seed(server: GtpServer, args: Command) -> str:
    """Return the seed."""
    return str(server.engine.seed)


@command("set_random_seed", "SEED", "Set the seed of the random numbers.", syntax="invalid seed", exact=True)
def set_random_seed(server: GtpServer, args: Command) -> None:
    """Set the seed, an integer of at most 18 digits."""
    seed = parse_integer(args[0], failure="invalid seed")
    server.engine.set_seed(seed)


@command("kgs-game_over", "", "Sent by kgsGtp when a game has ended or was adjourned.")
def kgs_game_over(server: GtpServer, args: Command) -> None:
    """Do nothing: the game may be resumed."""


@command("kgs-chat", "KIND NAME [MESSAGE...]", "Answer a chat message on KGS.", option="kgs_chat")
def kgs_chat(server: GtpServer, args: Command) -> str:
    """Return a line with name and version, to any message."""
    if args[0] not in ("game", "private"):
        raise GtpError("syntax error: expected kgs-chat game|private NAME MESSAGE")
    return f"I am {_introduction(server)}, a program. Have a good game!"
