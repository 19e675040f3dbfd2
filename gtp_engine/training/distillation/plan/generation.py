"""Games of many workers, whose positions one device evaluates: the data of a plan."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from gtp_engine.errors import ConfigError, problem, shown_path
from gtp_engine.machine import available_cores
from gtp_engine.progress import ProgressBar
from gtp_engine.selfplay.move_policy import SEARCH_BATCH
from gtp_engine.selfplay.varied_plans import planner_for
from gtp_engine.training.distillation.data_folder import DataFolder, FolderSettings
from gtp_engine.training.distillation.evaluation_server import EvaluationServer, RemoteTeacher
from gtp_engine.training.distillation.game_variety import parse_sizes
from gtp_engine.training.distillation.generate import Goal, Tally, fill, format_tally
from gtp_engine.training.distillation.labelled_games import SelfPlaySettings
from gtp_engine.training.distillation.plan.settings import PlanSettings
from gtp_engine.training.distillation.shards import BoardSides
from gtp_engine.training.distillation.teacher import Player, TeacherInfo
from gtp_engine.training.distillation.torch_evaluator import TorchModel
from gtp_engine.training.distillation.workers import Makers, blocks_of_processes

_WORKERS_OF_A_CORE: Final = 2
"""One waits for the device while the other encodes."""
_TEACHER, _PLAYER = 0, 1
"""The numbers of the networks at the server."""


class Generated(NamedTuple):
    """What a part has generated."""

    positions: int
    """All in the folder, those of earlier parts included."""
    positions_per_second: float


def open_folder(settings: PlanSettings, folder: Path, teacher: TorchModel) -> DataFolder:
    """Return the folder that positions go to, uncompressed.

    Raises ShardError where it cannot be read or written, and ConfigError if another teacher labelled its positions.
    """
    info = teacher.info
    data = DataFolder(
        folder,
        TeacherInfo(info.name, info.source_sha256, info.license, info.advantages),
        least_seed=settings.seed,
        settings=FolderSettings(held_out=settings.held_out, compressed=False),
    )
    others = [name for digest, name in data.teachers.items() if digest != info.source_sha256]
    if others:
        raise ConfigError(
            problem(
                f"teacher {info.name}",
                expected=f"{others[0]}, by which the positions in {shown_path(folder)} were labelled",
                advice="give that file, or another folder",
            )
        )
    return data


def generate(
    settings: PlanSettings,
    data: DataFolder,
    teacher: TorchModel,
    player: TorchModel | None,
    *,
    is_enough: Callable[[Counter[BoardSides]], bool],
    meanwhile: Callable[[], None],
    bar: ProgressBar,
) -> Generated:
    """Generate positions into `data` until `is_enough`, which is asked every second about those of each board.

    `meanwhile` is called once, while the first worker compiles the kernels.  Raises WorkerError, and ShardError where a
    shard cannot be written; the positions so far are then in the folder.
    """
    server = EvaluationServer([teacher] if player is None else [teacher, player])
    count = settings.workers or _WORKERS_OF_A_CORE * available_cores()
    workers = [_makers(server, settings, has_player=player is not None) for _ in range(count)]
    shares = parse_sizes(settings.sizes)
    games = SelfPlaySettings(
        shares,
        data.seed,
        settings.games,
        planner=planner_for(knows_advantage=teacher.info.advantages),
        player_share=settings.player_share,
    )

    def progress(data: DataFolder, tally: Tally) -> None:
        bar.update(0.0, f"{data.positions:,} positions, {tally.rate:,.0f}/s")

    with server, blocks_of_processes(workers, games) as blocks:
        meanwhile()
        tally = fill(data, blocks, Goal(), progress=progress, is_stopped=lambda: is_enough(data.kept))
    bar.log(format_tally(data, tally))
    return Generated(data.positions, tally.rate)


def _makers(server: EvaluationServer, settings: PlanSettings, *, has_player: bool) -> Makers:
    """Return the networks of a worker, which all ask the server."""
    area = max(width * height for width, height in parse_sizes(settings.sizes))
    rows = max(settings.games, SEARCH_BATCH)
    teacher = RemoteTeacher(server.port(_TEACHER, rows=rows, area=area), settings.looks)
    if not has_player:
        return Makers(teacher)
    asked = RemoteTeacher(server.port(_PLAYER, rows=rows, area=area))
    return Makers(teacher, Player(asked, settings.visits, settings.seed))
