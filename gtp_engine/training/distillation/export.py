"""From a trained module to a network file: the graph of an imported network, compared with the module."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import new_positions
from gtp_engine.go.constants import PASS
from gtp_engine.go.game import Game
from gtp_engine.networks.katago_format.description import Network
from gtp_engine.networks.onnx_export import build_model, info_of_network
from gtp_engine.nn.encoder import Inputs
from gtp_engine.nn.katago_encoder import KatagoV7Encoder
from gtp_engine.nn.onnx_model import OnnxModel
from gtp_engine.nn.providers import PROVIDERS, Runtime
from gtp_engine.training.core.checkpoint import check_output, write_checked
from gtp_engine.training.nets.architecture import PROPERTY, architecture_of
from gtp_engine.training.nets.network_module import NetworkModule

_CHECKED_BOARDS: Final = ((9, 9), (7, 5))
_CHECKED_POSITIONS: Final = 4
_SEED: Final = 1

Floats = NDArray[np.float32]


def export_network(
    module: NetworkModule, target: Path, *, name: str, origin: str, terms: str, advantages: bool = False
) -> None:
    """Write `module` (on the CPU, in evaluation) to `target`, an ONNX file; `terms` is the licence of the weights.

    `advantages` says whether it was trained with playout doubling advantages.

    A file at `target` is replaced once the new one is complete and agrees with the module.  Raises ModelError, with the
    difference, if it does not.
    """
    model = model_of(module.describe(), name=name, origin=origin, terms=terms, advantages=advantages)
    write_checked(model, target, lambda path: check_file(path, module))


def model_of(network: Network, *, name: str, origin: str, terms: str, advantages: bool = False) -> Any:
    """Return a network as an `onnx.ModelProto` that can be read back."""
    named = replace(network, name=name)
    info = info_of_network(named, origin=origin, terms=terms, sha256="", advantages=advantages)
    model = build_model(named, info)
    model.metadata_props.add(key=PROPERTY, value=architecture_of(named))
    return model


def check_file(path: Path, module: NetworkModule) -> None:
    """Raise ModelError if the outputs of the network file and of `module` differ on random positions."""
    model = OnnxModel(path, Runtime(PROVIDERS["cpu"], "float32"))
    for width, height in _CHECKED_BOARDS:
        spatial, globals_ = random_positions(width, height, _CHECKED_POSITIONS, seed=_SEED)
        with torch.no_grad():
            expected = module.float()(torch.from_numpy(spatial), torch.from_numpy(globals_))
        for name, found, wanted in zip(expected._fields, model.run(spatial, globals_), expected, strict=True):
            assert found is not None, "KataGo's networks have all outputs"
            check_output(found, wanted.numpy(), f"network's {name} on {width}×{height}")
    model.close()


def random_positions(width: int, height: int, count: int, *, seed: int) -> tuple[Floats, Floats]:
    """Return inputs for `count` positions of games of random moves: [count, 22, H, W] and [count, 19]."""
    rng = np.random.default_rng(seed)
    encoder = KatagoV7Encoder(width, height)
    positions = new_positions(1, width, height)
    spatial = np.zeros((count, encoder.planes, height, width), dtype=np.float32)
    globals_ = np.zeros((count, encoder.globals), dtype=np.float32)
    no_symmetry = np.zeros(1, dtype=np.int32)
    for row in range(count):
        game = Game(width, height)
        for _ in range(int(rng.integers(width * height))):
            points = game.legal_points()
            game.play(int(rng.choice(points)) if points else PASS)
        write_game(positions, 0, game)
        inputs = Inputs(spatial[row : row + 1], globals_[row : row + 1])
        encoder.encode(positions, range(1), no_symmetry, inputs)
    return spatial, globals_
