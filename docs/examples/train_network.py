"""Trains a small network on game records of 9x9, exports it, and plays with it.  Needs PyTorch.

python train_network.py FOLDER
"""

import random
import sys

import torch
from torch.nn import functional

from gtp_engine import Config, Engine, Game, GameTree, encode, write_metadata

SIZE, CHANNELS, BATCH = 9, 32, 64
Sample = tuple[Game, int, int]
"""A position, the index of the move played there, and whether its side won (0) or lost (1)."""


class Network(torch.nn.Module):
    """Two convolutions; the outputs are those of docs/own-networks.md."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(22, CHANNELS, 3, padding=1)
        self.second = torch.nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
        self.rules = torch.nn.Linear(19, CHANNELS)
        self.points = torch.nn.Conv2d(CHANNELS, 2, 1)
        self.values = torch.nn.Linear(CHANNELS, 1 + 3 + 6)

    def forward(self, spatial: torch.Tensor, globals_: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return policy [B, 1, H * W + 1], value [B, 3], misc [B, 6] and ownership [B, H * W]."""
        x = torch.relu(self.first(spatial) + self.rules(globals_)[:, :, None, None])
        x = torch.relu(self.second(x))
        passing, value, misc = self.values(x.mean((2, 3))).split([1, 3, 6], 1)
        moves, owner = self.points(x).flatten(2).split(1, 1)
        return torch.cat([moves, passing[:, :, None]], 2), value, misc, owner[:, 0]


def samples(folder: str) -> list[Sample]:
    """Return the positions of the games on this size that have a winner."""
    found = []
    for tree in GameTree.load_all(folder, pass_over=lambda error: None):
        record = tree.record
        winner = (record.result or "?")[0]
        if tree.size == (SIZE, SIZE) and winner in "BW":
            game = Game(SIZE, rules=record.rules, komi=record.komi)
            for move in record.moves:
                index = SIZE * SIZE if move.point.is_pass else move.point.xy[1] * SIZE + move.point.xy[0]
                found.append((game.copy(), index, int(winner != move.color.letter)))
                game.play(move, tolerant=True)
    return found


def train(network: Network, data: list[Sample], steps: int) -> float:
    """Train by Adam on random batches; return the loss of the last one."""
    optimizer, loss = torch.optim.Adam(network.parameters(), 3e-3), torch.zeros(1)
    for _ in range(steps):
        games, moves, results = zip(*random.sample(data, min(BATCH, len(data))), strict=True)
        spatial, values = encode(games)
        policy, value, _, _ = network(torch.from_numpy(spatial), torch.from_numpy(values))
        loss = functional.cross_entropy(policy[:, 0], torch.tensor(moves))
        loss = loss + functional.cross_entropy(value, torch.tensor(results))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def export(network: Network, path: str) -> None:
    """Write the network as one file that describes itself."""
    inputs, free = (torch.zeros(1, 22, SIZE, SIZE), torch.zeros(1, 19)), {0: "batch", 2: "height", 3: "width"}
    names, outputs = ["spatial", "globals"], ["policy", "value", "misc", "ownership"]
    axes = {"spatial": free, "globals": {0: "batch"}}
    torch.onnx.export(
        network.eval(), inputs, path, input_names=names, output_names=outputs, dynamic_axes=axes, dynamo=False
    )
    write_metadata(path, encoder="katago-v7", name="own", sizes="2-19", model_version=14, license="MIT")


def main(folder: str, steps: int = 2000) -> None:
    """Train, and let the network play against itself."""
    network, data = Network(), samples(folder)
    print(f"{len(data)} positions, loss {train(network, data, steps):.2f}")
    export(network, "own.onnx")
    with Engine(
        Config().with_values({"network.model": "own.onnx", "game.board_size": SIZE, "search.visits": 50})
    ) as engine:
        for _ in range(10):
            engine.genmove()
        print(engine.game)


if __name__ == "__main__":
    main(sys.argv[1])
