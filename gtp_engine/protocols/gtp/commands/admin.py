"""Commands about the session and the program: handshake, caches, random seed, KGS's game_over and chat."""

import time

from gtp_engine import __version__
from gtp_engine.config.katago import GTP_VERSION
from gtp_engine.config.sections import MAX_LEVEL
from gtp_engine.protocols.gtp.protocol import Command, GtpError, parse_integer
from gtp_engine.protocols.gtp.server import GtpServer, command


@command("protocol_version", "")
def protocol_version(server: GtpServer, args: Command) -> str:
    """Version of the protocol: 2; some controllers send this command just to interrupt a search."""
    return "2"


@command("name", "")
def name(server: GtpServer, args: Command) -> str:
    """Name of the engine, by which front ends choose a dialect (option gtp.name)."""
    return server.config.gtp.name


@command("version", "")
def version(server: GtpServer, args: Command) -> str:
    """Version of the engine, which some front ends compare with another engine's (option gtp.version)."""
    return server.config.gtp.version or GTP_VERSION


def _introduction(server: GtpServer) -> str:
    """Return name and version for people."""
    return f"{server.config.gtp.name} {server.config.gtp.version or __version__}"


@command("list_commands", "")
def list_commands(server: GtpServer, args: Command) -> str:
    """All commands in alphabetical order, one per line."""
    return "\n".join(server.commands)


@command("known_command", "[COMMAND]")
def known_command(server: GtpServer, args: Command) -> str:
    """Whether a command exists: true or false; false without a name, as in GNU Go."""
    return "true" if len(args) and server.find(args[0]) else "false"


@command("quit", "")
def quit_session(server: GtpServer, args: Command) -> None:
    """Reply, then end the session."""
    server.finished = True


@command("cputime", "")
@command("gomill-cpu_time", "", "The same as cputime, for gomill.")
def cputime(server: GtpServer, args: Command) -> str:
    """Processor time used so far, in seconds, of all threads together."""
    return f"{time.process_time():.3f}"


@command("gomill-describe_engine", "")
def gomill_describe_engine(server: GtpServer, args: Command) -> str:
    """Name, version and settings as text, for the head of a match report."""
    config = server.current_config
    lines = [_introduction(server), f"search: {config.search.search}"]
    if config.play.level != MAX_LEVEL:  # its own search ignores the visits
        lines.append(f"level: {config.play.level}")
    elif config.search.visits:
        lines.append(f"visits per move: {config.search.visits}")
    return "\n".join(lines)


@command("clear_cache", "")
def clear_cache(server: GtpServer, args: Command) -> None:
    """Clear the search tree and all cached results."""
    server.engine.clear_cache()


@command("tengen-ready", "")
def ready(server: GtpServer, args: Command) -> None:
    """Wait until the engine is compiled, up to a minute at a first start; matches send it before their first game."""
    server.engine.kernels.wait(server.cancel)


@command("get_random_seed", "")
def get_random_seed(server: GtpServer, args: Command) -> str:
    """Seed of the random numbers."""
    return str(server.engine.seed)


@command("set_random_seed", "SEED", syntax="invalid seed", exact=True)
def set_random_seed(server: GtpServer, args: Command) -> None:
    """Set the seed of the random numbers, an integer of at most 18 digits."""
    seed = parse_integer(args[0], failure="invalid seed")
    server.engine.set_seed(seed)


@command("kgs-game_over", "")
def kgs_game_over(server: GtpServer, args: Command) -> None:
    """Sent by kgsGtp when a game has ended or was adjourned; changes nothing, as it may be resumed."""


@command("kgs-chat", "KIND NAME [MESSAGE...]", option="kgs_chat")
def kgs_chat(server: GtpServer, args: Command) -> str:
    """Answer any chat message on KGS with name and version."""
    if args[0] not in ("game", "private"):
        raise GtpError("syntax error: expected kgs-chat game|private NAME MESSAGE")
    return f"I am {_introduction(server)}, a program. Have a good game!"
