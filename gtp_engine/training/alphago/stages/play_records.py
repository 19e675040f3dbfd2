"""Game records for training: a network plays against itself by sampling its policy and writes SGF files.

Games are played until both sides pass, so the result is the area score of the final position.  A game that repeats in a
cycle, or exceeds the move limit of a rollout, has no result (RE[Void]).  With `stop_decided` a game ends once the
network is sure of the winner, and the other side resigns.

Files are named `<seed>-<number>.sgf`.
"""

import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import numpy as np

from gtp_engine.base.errors import SgfError, counted, shown_path
from gtp_engine.base.files import write_whole, writing
from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.steps import never
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.go.rules import PRESETS
from gtp_engine.nn.metadata import KATAGO_ENCODER, read_metadata
from gtp_engine.nn.network_evaluator import uncached_evaluator
from gtp_engine.nn.onnx_model import OnnxModel, runtimes_here
from gtp_engine.sgf import format_sgf, parse_sgf, read_sgf_file, record_to_game
from gtp_engine.sgf.values import VOID
from gtp_engine.training.alphago.stages.game_records import RecordsError
from gtp_engine.training.alphago.stages.policy_players import logits_of, plan_of, policy_player
from gtp_engine.training.alphago.stages.stage_settings import RecordSettings
from gtp_engine.training.selfplay.plans import GamePlan, draw_opening_length
from gtp_engine.training.selfplay.policy_games import PlayedGame, PolicyGames, Temperatures

_NAME: Final = re.compile(r"(\d+)-(\d+)\.sgf")


def load_player(
    path: Path, *, batch: int, threads: int = 0, provider: str = "auto", precision: str = "auto"
) -> Evaluator:
    """Return a player for a network file, KataGo's policy and value or AlphaGo's policy; raises ModelError."""
    info = read_metadata(path)
    runtime, *_ = runtimes_here(provider, precision, [info.precision])
    model = OnnxModel(path, runtime, threads=threads, batch=batch)
    return uncached_evaluator(model) if info.encoder == KATAGO_ENCODER else policy_player(logits_of(model), info.name)


def play_records(
    player: Evaluator, folder: Path, settings: RecordSettings, bar: ProgressBar, is_stopped: Callable[[], bool] = never
) -> tuple[int, int]:
    """Play until the folder holds `settings.games`, or `is_stopped`; return how many it held before, and holds now.

    The seed is the first from `settings.seed` on above those of the records.  Raises RecordsError if the folder holds
    games with other settings, and where nothing can be written.
    """
    with writing(folder, RecordsError, "records to"):
        folder.mkdir(parents=True, exist_ok=True)
    names = [found for entry in folder.iterdir() if (found := _NAME.fullmatch(entry.name))]
    _check_terms(sorted(folder / name[0] for name in names), settings)
    seed = max([settings.seed, *(int(name[1]) + 1 for name in names)])
    count, began = len(names), time.monotonic()
    games = _games(player, settings, max(0, settings.games - count), seed)
    while games.playing and not is_stopped():
        games.evaluate()
        balances = games.evaluation.win_black - games.evaluation.loss_black
        balance = {played.number: float(balances[row]) for row, played in enumerate(games.playing)}
        for played in games.play():
            result, name = result_of(played, balance[played.number]), player.info.name
            text = format_sgf(played.game, black_name=name, white_name=name, result=result)
            path = folder / f"{seed}-{played.number:06}.sgf"
            with writing(path, RecordsError, "record"):
                write_whole(path, text + "\n")
            count += 1
        speed = (count - len(names)) / (time.monotonic() - began)
        bar.update(count / settings.games, f"{counted(count, 'game')}, {speed:.1f}/s")
    return len(names), count


def _check_terms(records: Iterable[Path], settings: RecordSettings) -> None:
    """Raise RecordsError if the records of a folder have another board, other rules or another komi.

    The first record that can be read stands for all; training leaves the others out.
    """
    wanted = (settings.size, settings.size, PRESETS[settings.rules], settings.komi)
    for path in records:
        try:
            game = record_to_game(parse_sgf(read_sgf_file(str(path))))
        except SgfError:
            continue
        if (game.width, game.height, game.rules, game.komi) != wanted:
            terms = f"{game.rules.preset_name() or 'other'} rules and komi {game.komi:g}"
            raise RecordsError(
                f"the games in {shown_path(path.parent)} are on {game.width}x{game.height}, with {terms}",
                expected=f"{settings.size}x{settings.size}, {settings.rules} rules and komi {settings.komi:g}",
                advice="give the settings that they were played with, or another folder",
            )
        return


def result_of(played: PlayedGame, balance: float = 0.0) -> str:
    """Return a game's result as SGF's RE; `balance` is the player's last value for Black, −1 to 1."""
    if played.game.is_over:
        return str(played.game.score())
    if played.is_decided and not played.game.has_no_result:
        return "B+R" if balance > 0 else "W+R"
    return VOID


def _games(player: Evaluator, settings: RecordSettings, count: int, seed: int) -> PolicyGames:
    """Return so many games of a player with itself."""

    def plan(rng: np.random.Generator, width: int, height: int) -> GamePlan:
        opening = draw_opening_length(rng, width, height)
        return plan_of(settings, opening_length=opening)._replace(stops_when_decided=settings.stop_decided)

    return PolicyGames(
        player,
        settings.size,
        settings.size,
        numbers=range(count),
        batch=settings.parallel_games,
        rng=np.random.default_rng(seed),
        planner=plan,
        temperatures=Temperatures(rest=settings.temperature),
    )
