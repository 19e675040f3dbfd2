"""Tengen, a Go engine: rules, search, a GTP server, and this small Python API.

    from gtp_engine import Rules, Game, Engine

The names below are imported on first use, so that `import gtp_engine` is fast and a GTP session can answer `name`
before numpy and numba are loaded.  Everything else in the package may change between versions.  Errors raised on
purpose are `TengenError`s; an argument of another kind than its annotation says is an `ArgumentError`.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from gtp_engine.base.former_names import FormerModules

__version__ = "1.0.0"

_MODULES: Final = {
    name: module
    for module, names in {
        # playing
        "engine": "Engine Choice",
        "search.limits": "CancelToken",
        "config": "Config",
        "go.clock": "TimeSettings TimeLeft",
        "nn.loading": "load_evaluator",
        "people": "play review",
        "arena.match.runner": "run_match",
        "arena.match.settings": "MatchSettings",
        "arena.match.records": "MatchFolder",
        "arena.tournament.tournament_runner": "run_tournament",
        # other engines, and what all engines find
        "protocols.client.gtp_engines": "GtpEngine SimpleGtpEngine",
        "protocols.client.analysis_engines": "AnalysisEngine SimpleAnalysisEngine",
        "engine.answers": "Limit PlayResult Analysis MoveAnalysis PositionEvaluation",
        "protocols.client.simple": "AnalysisStream",
        "protocols.client": "AsyncAnalysis",
        # networks and evaluators of one's own
        "evaluation.evaluator": "Evaluator FunctionEvaluator Seen Guess",
        "evaluation.evaluator_info": "EvaluatorInfo",
        "nn.metadata": "NetworkInfo read_metadata write_metadata",
        "nn.encoding": "encode",
        "protocols.gtp.session": "serve_gtp",
        # the game
        "go.game": "Game",
        "go.rules": "Rules",
        "go.scoring": "Score",
        "go.coords": "Move Color Point BLACK WHITE EMPTY PASS parse_vertex format_vertex",
        # game records
        "sgf.game_tree": "GameTree GameNode",
        "sgf.collection": "read_headers",
        # errors
        "base.errors": "TengenError ArgumentError BoardNotEmptyError CannotUndoError CommandFailedError ConfigError "
        "EngineBusyError EngineDiedError EngineError EngineStartError EngineTimeoutError GameStateError HandicapError "
        "IllegalMoveError InvalidColorError InvalidSizeError InvalidVertexError KomiError LimitError ModelError "
        "RulesError SgfError TaskError TimeSettingsError WorkerError",
    }.items()
    for name in names.split()
}
"""Where each public name is defined, below this package."""

if TYPE_CHECKING:
    from gtp_engine.arena.match.records import MatchFolder as MatchFolder
    from gtp_engine.arena.match.runner import run_match as run_match
    from gtp_engine.arena.match.settings import MatchSettings as MatchSettings
    from gtp_engine.arena.tournament.tournament_runner import run_tournament as run_tournament
    from gtp_engine.base.errors import *  # noqa: F403
    from gtp_engine.config import Config as Config
    from gtp_engine.engine import Choice as Choice
    from gtp_engine.engine import Engine as Engine
    from gtp_engine.engine.answers import Analysis as Analysis
    from gtp_engine.engine.answers import Limit as Limit
    from gtp_engine.engine.answers import MoveAnalysis as MoveAnalysis
    from gtp_engine.engine.answers import PlayResult as PlayResult
    from gtp_engine.engine.answers import PositionEvaluation as PositionEvaluation
    from gtp_engine.evaluation.evaluator import Evaluator as Evaluator
    from gtp_engine.evaluation.evaluator import FunctionEvaluator as FunctionEvaluator
    from gtp_engine.evaluation.evaluator import Guess as Guess
    from gtp_engine.evaluation.evaluator import Seen as Seen
    from gtp_engine.evaluation.evaluator_info import EvaluatorInfo as EvaluatorInfo
    from gtp_engine.go.clock import TimeLeft as TimeLeft
    from gtp_engine.go.clock import TimeSettings as TimeSettings
    from gtp_engine.go.coords import *  # noqa: F403
    from gtp_engine.go.game import Game as Game
    from gtp_engine.go.rules import Rules as Rules
    from gtp_engine.go.scoring import Score as Score
    from gtp_engine.nn.encoding import encode as encode
    from gtp_engine.nn.loading import load_evaluator as load_evaluator
    from gtp_engine.nn.metadata import NetworkInfo as NetworkInfo
    from gtp_engine.nn.metadata import read_metadata as read_metadata
    from gtp_engine.nn.metadata import write_metadata as write_metadata
    from gtp_engine.people import play as play
    from gtp_engine.people import review as review
    from gtp_engine.protocols.client import AsyncAnalysis as AsyncAnalysis
    from gtp_engine.protocols.client.analysis_engines import AnalysisEngine as AnalysisEngine
    from gtp_engine.protocols.client.analysis_engines import SimpleAnalysisEngine as SimpleAnalysisEngine
    from gtp_engine.protocols.client.gtp_engines import GtpEngine as GtpEngine
    from gtp_engine.protocols.client.gtp_engines import SimpleGtpEngine as SimpleGtpEngine
    from gtp_engine.protocols.client.simple import AnalysisStream as AnalysisStream
    from gtp_engine.protocols.gtp.session import serve_gtp as serve_gtp
    from gtp_engine.search.limits import CancelToken as CancelToken
    from gtp_engine.sgf.collection import read_headers as read_headers
    from gtp_engine.sgf.game_tree import GameNode as GameNode
    from gtp_engine.sgf.game_tree import GameTree as GameTree
else:  # type checkers read the imports
    __all__ = ["__version__", *_MODULES]

_PACKAGES: Final = {"play": "people.play", "review": "people.review"}
"""Public names that are packages themselves, and where they are."""

sys.meta_path.insert(0, FormerModules(__name__, _PACKAGES, gone="3.0"))


def __getattr__(name: str) -> Any:
    """Import a public name on its first use (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _PACKAGES:
        return import_module(f"{__name__}.{_PACKAGES[name]}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
