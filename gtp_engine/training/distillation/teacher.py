"""The networks of a worker: the teacher, whose evaluations label the games, and the player of some of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.files import sha256_of
from gtp_engine.machine import describe_machine
from gtp_engine.nn.metadata import read_info
from gtp_engine.nn.network_evaluator import uncached_evaluator
from gtp_engine.nn.onnx_model import OnnxModel, installed_providers
from gtp_engine.nn.providers import choose_runtimes
from gtp_engine.selfplay.move_policy import MovePolicy, NetworkMoves, SearchMoves


class TeacherInfo(NamedTuple):
    """The teacher as shards record it, and whether it knows playout doubling advantages."""

    name: str
    sha256: str
    licence: str
    knows_advantage: bool = False


class Teacher(Protocol):
    """A network file and how it is run, a dataclass; called, it returns the evaluator.  It is pickled for workers."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def path(self) -> Path: ...  # noqa: D102

    def __call__(self) -> Evaluator:
        """Return an evaluator of this network, for one thread; raises ModelError."""
        ...

    def info(self) -> TeacherInfo:
        """Return the metadata of the file; the hash is that of the file it was converted from, if that is recorded."""
        ...


@dataclass(frozen=True)
class Player:
    """A network that plays by its policy or, with more than one of `visits`, by a search; called, it returns the moves.

    It is pickled for workers.
    """

    network: Callable[[], Evaluator]
    visits: int = 1
    seed: int = 1

    def __call__(self) -> MovePolicy:
        """Return what gives the moves, for one thread; raises what the network's maker raises."""
        evaluator = self.network()
        if self.visits == 1:
            return NetworkMoves(evaluator)
        return SearchMoves(evaluator, self.visits, seed=self.seed)


@dataclass(frozen=True)
class OnnxTeacher:
    """A network file that ONNX Runtime runs, see `Teacher`.

    `batch` is the number of positions of a call; `threads` 0 means all cores; `looks` is as in `uncached_evaluator`.
    """

    path: Path
    batch: int
    threads: int = 0
    provider: str = "auto"
    precision: str = "auto"
    looks: int = 1

    def __call__(self) -> Evaluator:
        """Return an evaluator; see `Teacher`."""
        info = read_info(self.path)
        runtime = choose_runtimes(
            self.provider,
            self.precision,
            networks=[info.precision],
            available=installed_providers(),
            simd=describe_machine()["simd"],
        )[0]
        model = OnnxModel(self.path, runtime, threads=self.threads, batch=self.batch)
        return uncached_evaluator(model, looks=self.looks)

    def info(self) -> TeacherInfo:
        """Return the metadata of the file; see `Teacher`."""
        info = read_info(self.path)
        sha256 = info.source_sha256 or sha256_of(self.path)
        return TeacherInfo(info.name, sha256, info.license, info.advantages)
