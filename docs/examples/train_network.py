"""Trains a small network on game records of 9x9, exports it, and plays with it: `train_network.py FOLDER`."""

import random
import sys

import torch
from torch.nn import Conv2d, Linear, ReLU, Sequential
from torch.nn.functional import cross_entropy

from gtp_engine import Config, Engine, Game, GameTree, encode, write_metadata

SIZE, CHANNELS, BATCH = 9, 32, 64


class Network(torch.nn.Module):
    """Two convolutions; the outputs are those of docs/own-networks.md."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.rules = Conv2d(22, CHANNELS, 3, padding=1), Linear(19, CHANNELS)
        self.second = Sequential(ReLU(), Conv2d(CHANNELS, CHANNELS, 3, padding=1), ReLU())
        self.points, self.values = Conv2d(CHANNELS, 2, 1), Linear(CHANNELS, 1 + 3 + 6)

    def forward(self, spatial: torch.Tensor, globals_: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return policy [B, 1, H * W + 1], value [B, 3], misc [B, 6] and ownership [B, H * W]."""
        x = self.second(self.first(spatial) + self.rules(globals_)[:, :, None, None])
        passing, value, misc = self.values(x.mean((2, 3))).split([1, 3, 6], 1)
        moves, owner = self.points(x).flatten(2).split(1, 1)
        return torch.cat([moves, passing[:, :, None]], 2), value, misc, owner[:, 0]


def samples(folder: str) -> list[tuple[Game, int, int]]:
    """Return positions, each with the index of the move played there and whether its side won (0) or lost (1)."""
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


def train(network: Network, data: list[tuple[Game, int, int]], steps: int) -> float:
    """Train by Adam on random batches; return the loss of the last one."""
    optimizer, loss = torch.optim.Adam(network.parameters(), 3e-3), torch.zeros(1)
    for _ in range(steps):
        games, moves, results = zip(*random.sample(data, min(BATCH, len(data))), strict=True)
        policy, value, _, _ = network(*map(torch.from_numpy, encode(games)))
        loss = cross_entropy(policy[:, 0], torch.tensor(moves)) + cross_entropy(value, torch.tensor(results))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main(folder: str, steps: int = 2000) -> None:
    """Train, write the network as one file that describes itself, and let it play against itself."""
    network, data = Network(), samples(folder)
    print(f"{len(data)} positions, loss {train(network, data, steps):.2f}")
    inputs, free = (torch.zeros(1, 22, SIZE, SIZE), torch.zeros(1, 19)), {0: "batch", 2: "height", 3: "width"}
    names, outputs = ["spatial", "globals"], ["policy", "value", "misc", "ownership"]
    axes = dict(zip(names, (free, {0: "batch"}), strict=True))
    how = {"input_names": names, "output_names": outputs, "dynamic_axes": axes}
    torch.onnx.export(network.eval(), inputs, "own.onnx", dynamo=False, **how)
    write_metadata("own.onnx", encoder="katago-v7", name="own", sizes="2-19", model_version=14, license="MIT")
    settings = {"network.model": "own.onnx", "game.board_size": SIZE, "search.visits": 50}
    with Engine(Config().with_values(settings)) as engine:
        for _ in range(10):
            engine.genmove()
        print(engine.game)


if __name__ == "__main__":
    main(sys.argv[1])
