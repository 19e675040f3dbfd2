"""Tengen, a Go engine: rules, search, a GTP server, and this small Python API.

    from gtp_engine import Rules, Game, Engine

The names below are imported on first use, so that `import gtp_engine` is fast and a GTP session can answer `name`
before numpy and numba are loaded.  Everything else in the package may change between versions.
"""

import sys
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from gtp_engine.base.former_names import FormerModules

__version__ = "1.0.0"

if TYPE_CHECKING:
    from gtp_engine.arena.match.records import MatchFolder
    from gtp_engine.arena.match.runner import run_match
    from gtp_engine.arena.match.settings import MatchSettings
    from gtp_engine.base.errors import (
        ArgumentError,
        BoardNotEmptyError,
        CannotUndoError,
        CommandFailedError,
        ConfigError,
        EngineBusyError,
        EngineDiedError,
        EngineError,
        EngineStartError,
        EngineTimeoutError,
        GameStateError,
        HandicapError,
        IllegalMoveError,
        InvalidColorError,
        InvalidSizeError,
        InvalidVertexError,
        KomiError,
        LimitError,
        ModelError,
        RulesError,
        SgfError,
        TaskError,
        TengenError,
        TimeSettingsError,
        WorkerError,
    )
    from gtp_engine.config import Config
    from gtp_engine.engine import Choice, Engine
    from gtp_engine.engine.answers import Analysis, Limit, MoveAnalysis, PlayResult, PositionEvaluation
    from gtp_engine.evaluation.evaluator import Evaluator, FunctionEvaluator, Guess, Seen
    from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
    from gtp_engine.go.clock import TimeLeft, TimeSettings
    from gtp_engine.go.coords import BLACK, EMPTY, PASS, WHITE, Color, Move, Point, format_vertex, parse_vertex
    from gtp_engine.go.game import Game
    from gtp_engine.go.rules import Rules
    from gtp_engine.go.scoring import Score
    from gtp_engine.nn.encoding import encode
    from gtp_engine.nn.loading import load_evaluator
    from gtp_engine.nn.metadata import NetworkInfo, read_metadata, write_metadata
    from gtp_engine.people import play, review
    from gtp_engine.protocols.client import AsyncAnalysis
    from gtp_engine.protocols.client.analysis_engines import AnalysisEngine, SimpleAnalysisEngine
    from gtp_engine.protocols.client.gtp_engines import GtpEngine, SimpleGtpEngine
    from gtp_engine.protocols.client.simple import AnalysisStream
    from gtp_engine.protocols.gtp.session import serve_gtp
    from gtp_engine.search.limits import CancelToken
    from gtp_engine.sgf.collection import read_headers
    from gtp_engine.sgf.game_tree import GameNode, GameTree

__all__ = [
    "__version__",
    # playing
    "Engine",
    "Choice",
    "CancelToken",
    "Config",
    "TimeSettings",
    "TimeLeft",
    "load_evaluator",
    "play",
    "review",
    "run_match",
    "MatchSettings",
    "MatchFolder",
    # other engines, and what all engines find
    "GtpEngine",
    "AnalysisEngine",
    "SimpleGtpEngine",
    "SimpleAnalysisEngine",
    "Limit",
    "PlayResult",
    "Analysis",
    "MoveAnalysis",
    "PositionEvaluation",
    "AnalysisStream",
    "AsyncAnalysis",
    # networks and evaluators of one's own
    "Evaluator",
    "EvaluatorInfo",
    "FunctionEvaluator",
    "Seen",
    "Guess",
    "NetworkInfo",
    "read_metadata",
    "write_metadata",
    "encode",
    "serve_gtp",
    # the game
    "Game",
    "Rules",
    "Score",
    "Move",
    "Color",
    "Point",
    "BLACK",
    "WHITE",
    "EMPTY",
    "PASS",
    "parse_vertex",
    "format_vertex",
    # game records
    "GameTree",
    "GameNode",
    "read_headers",
    # errors
    "TengenError",
    "ArgumentError",
    "BoardNotEmptyError",
    "CannotUndoError",
    "CommandFailedError",
    "ConfigError",
    "EngineBusyError",
    "EngineDiedError",
    "EngineError",
    "EngineStartError",
    "EngineTimeoutError",
    "GameStateError",
    "HandicapError",
    "IllegalMoveError",
    "InvalidColorError",
    "InvalidSizeError",
    "InvalidVertexError",
    "KomiError",
    "LimitError",
    "ModelError",
    "RulesError",
    "SgfError",
    "TaskError",
    "TimeSettingsError",
    "WorkerError",
]

_MODULES: Final = {
    name: module
    for module, names in {
        "arena.match.records": "MatchFolder",
        "arena.match.runner": "run_match",
        "arena.match.settings": "MatchSettings",
        "config": "Config",
        "engine": "Choice Engine",
        "engine.answers": "Limit PlayResult Analysis MoveAnalysis PositionEvaluation",
        "evaluation.evaluator": "Evaluator FunctionEvaluator Seen Guess",
        "evaluation.evaluator_info": "EvaluatorInfo",
        "go.clock": "TimeLeft TimeSettings",
        "go.coords": "BLACK WHITE EMPTY PASS Move Color Point format_vertex parse_vertex",
        "go.game": "Game",
        "go.rules": "Rules",
        "go.scoring": "Score",
        "nn.encoding": "encode",
        "nn.loading": "load_evaluator",
        "nn.metadata": "NetworkInfo read_metadata write_metadata",
        "protocols.client": "AsyncAnalysis",
        "protocols.client.analysis_engines": "SimpleAnalysisEngine AnalysisEngine",
        "protocols.client.gtp_engines": "SimpleGtpEngine GtpEngine",
        "protocols.client.simple": "AnalysisStream",
        "protocols.gtp.session": "serve_gtp",
        "search.limits": "CancelToken",
        "sgf.collection": "read_headers",
        "sgf.game_tree": "GameNode GameTree",
    }.items()
    for name in names.split()
}
"""Where each public name is defined, below this package; the other names are in `base.errors`."""

_PACKAGES: Final = {"play": "people.play", "review": "people.review"}
"""Public names that are packages themselves, and where they are."""

_FORMER: Final[dict[str, tuple[str, str]]] = {}
"""Former public names, which still work: the name now, and the version without the former one."""

sys.meta_path.insert(0, FormerModules(__name__, _PACKAGES, gone="3.0"))


def __getattr__(name: str) -> Any:
    """Import a public name on its first use (PEP 562)."""
    if name in _FORMER:
        now, gone = _FORMER[name]
        message = f"gtp_engine.{name} is now {now}; the former name goes with version {gone}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        name = now
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _PACKAGES:
        return import_module(f"{__name__}.{_PACKAGES[name]}")
    value = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'base.errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
