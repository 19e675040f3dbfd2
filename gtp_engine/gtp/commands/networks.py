"""Commands about the networks: their evaluation of the position without a search, and which are loaded."""

import json
from typing import TYPE_CHECKING, Final

from gtp_engine.clock import read_number
from gtp_engine.errors import problem, shown
from gtp_engine.gtp.args import Args, color_or_none
from gtp_engine.gtp.protocol import GtpError
from gtp_engine.gtp.registry import command

if TYPE_CHECKING:
    from gtp_engine.engine import Engine
    from gtp_engine.gtp.server import GtpServer

_NAME_HUMAN: Final = "start the engine with --human-model FILE"
_SET_PROFILE: Final = "set it with kata-set-param humanSLProfile rank_5k"


@command("kata-raw-nn", "[COLOR] [SYMMETRY] [OPTIMISM]", "The network's evaluation of the position, without a search.")
def kata_raw_nn(server: "GtpServer", args: Args) -> str:
    """Return win probability, score, policy and ownership, White's view, for one symmetry (0 to 7) or all of them."""
    engine = server.engine
    color, symmetries, words = _raw_arguments(engine, args)
    optimism = _optimism(words.pop(0)) if words else None
    if words:
        raise GtpError(f"syntax error: too many arguments, got {shown(words[0])} after the optimism")
    evaluation = engine.raw_evaluation(color, symmetries, optimism)
    from gtp_engine.gtp.analysis_output import format_evaluation  # here: it needs numpy, which comes with the engine

    return format_evaluation(evaluation, symmetries, engine.game, color)


@command("kata-raw-human-nn", "[COLOR] [SYMMETRY]", "The human-like network's evaluation, without a search.")
def kata_raw_human_nn(server: "GtpServer", args: Args) -> str:
    """Return win probability, score, policy and ownership as `kata-raw-nn`, for the profile that is set."""
    engine = server.engine
    if engine.human is None:
        raise GtpError(problem("cannot run kata-raw-human-nn, -human-model was not provided", advice=_NAME_HUMAN))
    if engine.human.info.needs_profile and not engine.config.human.human_profile:
        raise GtpError(
            problem("cannot run kata-raw-human-nn, humanSLProfile parameter was not set", advice=_SET_PROFILE)
        )
    color, symmetries, rest = _raw_arguments(engine, args)
    if rest:
        raise GtpError(f"syntax error: too many arguments, got {shown(rest[0])} after the symmetry")
    evaluation = engine.raw_human_evaluation(color, symmetries)
    from gtp_engine.gtp.analysis_output import format_evaluation  # here: it needs numpy, which comes with the engine

    return format_evaluation(evaluation, symmetries, engine.game, color, is_human=True)


@command("kata-get-models", "", "The loaded networks, as JSON.")
def kata_get_models(server: "GtpServer", args: Args) -> str:
    """Return a list of the networks, with KataGo's keys."""
    loaded = [evaluator for evaluator in (server.engine.evaluator, server.engine.human) if evaluator is not None]
    return json.dumps([evaluator.info.katago_facts() for evaluator in loaded], separators=(",", ":"))


def _raw_arguments(engine: "Engine", args: Args) -> tuple[int, tuple[int, ...], list[str]]:
    """Return the color to play, the symmetries to evaluate and the words that follow them."""
    words = list(args)
    color = engine.game.to_play
    if words and (named := color_or_none(words[0])) is not None:
        color = named
        words.pop(0)
    symmetries = _symmetries(words.pop(0) if words else "all", is_square=engine.game.width == engine.game.height)
    return color, symmetries, words


def _symmetries(word: str, *, is_square: bool) -> tuple[int, ...]:
    """Return the symmetries that a word names; those that exchange rows and columns need a square board."""
    count = 8 if is_square else 4
    if word.lower() == "all":
        return tuple(range(count))
    if word not in map(str, range(count)):
        raise GtpError(problem(f"syntax error: symmetry {shown(word)}", expected=f"0 to {count - 1} or all"))
    return (int(word),)


def _optimism(word: str) -> float:
    value = read_number(word)
    if not 0 <= value <= 1:
        raise GtpError(problem(f"syntax error: optimism {shown(word)}", expected="a number from 0 to 1"))
    return value
