"""The package's public names: all there, nothing else, and importing the package loads none of them."""

import subprocess
import sys

import pytest

import gtp_engine

EXPECTED = [
    "__version__",
    "Engine",
    "Choice",
    "CancelToken",
    "Config",
    "TimeSettings",
    "load_evaluator",
    "play",
    "review",
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
    "Evaluator",
    "EvaluatorInfo",
    "FunctionEvaluator",
    "Seen",
    "Guess",
    "NetworkInfo",
    "read_metadata",
    "write_metadata",
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
    "GameTree",
    "GameNode",
    "TengenError",
    "ArgumentError",
    "BoardNotEmptyError",
    "CannotUndoError",
    "CommandFailedError",
    "ConfigError",
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


def test_all_lists_the_public_names() -> None:
    assert gtp_engine.__all__ == EXPECTED


@pytest.mark.parametrize("name", EXPECTED)
def test_every_public_name_can_be_loaded(name: str) -> None:
    assert getattr(gtp_engine, name) is not None
    assert name in dir(gtp_engine)


def test_every_deliberate_error_is_public() -> None:
    from gtp_engine import errors

    deliberate = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.TengenError)
    }
    assert deliberate == {name for name in gtp_engine.__all__ if name.endswith("Error")}


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="'gtp_engine' has no attribute 'Board'"):
        _ = gtp_engine.Board


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = "{'numpy', 'numba', 'onnxruntime', 'rich', 'click'}"
    code = f"import gtp_engine, sys; print(sorted({heavy} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
