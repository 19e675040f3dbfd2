import torch

from gtp_engine import Config, Engine, Limit, write_metadata


class Network(torch.nn.Module):
    def __init__(self, channels: int = 16) -> None:
        super().__init__()
        self.trunk = torch.nn.Conv2d(22, channels, 3, padding=1)
        self.from_globals = torch.nn.Linear(19, channels)
        self.moves, self.owner = torch.nn.Conv2d(channels, 1, 1), torch.nn.Conv2d(channels, 1, 1)
        self.passing, self.value = torch.nn.Linear(channels, 1), torch.nn.Linear(channels, 3)
        self.misc = torch.nn.Linear(channels, 6)

    def forward(self, spatial: torch.Tensor, globals_: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = torch.relu(self.trunk(spatial) + self.from_globals(globals_)[:, :, None, None])
        mean = x.mean((2, 3))
        policy = torch.cat([self.moves(x).flatten(2), self.passing(mean)[:, :, None]], 2)
        return policy, self.value(mean), self.misc(mean), self.owner(x).flatten(1)


torch.manual_seed(1)
torch.onnx.export(
    Network().eval(),
    (torch.zeros(1, 22, 9, 9), torch.zeros(1, 19)),
    "mine.onnx",
    input_names=["spatial", "globals"],
    output_names=["policy", "value", "misc", "ownership"],
    dynamic_axes={"spatial": {0: "batch", 2: "height", 3: "width"}, "globals": {0: "batch"}},
    dynamo=False,
)
write_metadata("mine.onnx", encoder="katago-v7", name="mine", sizes="2-19", model_version=14, license="MIT")

config = Config().with_values({"network.model": "mine.onnx", "game.board_size": 9, "search.visits": 20})
with Engine(config) as engine:
    print(engine.analyse(engine.game, Limit(visits=20)))
    while not engine.game.is_over and len(engine.game.moves) < 4:
        engine.genmove()
    print(engine.game)
