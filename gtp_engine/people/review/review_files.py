"""Reviews of many files: which to review, where the results go, and what could not be reviewed.

For GAME.sgf there are GAME.review.sgf, GAME.review.html and GAME.review.json, for the second of several games in it
GAME-game2.review.sgf and so on.  While a game is being reviewed, GAME.review.part keeps what has been found; a game
whose JSON has the right key is finished and is not searched again.  Its files are written again only if one is missing,
or if marks of territory are now wanted and were not before, or the other way around.

`open_searcher` has all that needs networks done in other processes, or on a Ray cluster (`workers`): groups of
positions are searched, and reviews are completed.  Each worker has networks of its own.
"""

import json
import pickle
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from glob import escape
from itertools import chain, count
from pathlib import Path
from threading import Event, Lock
from typing import Any, Final

from gtp_engine.base.errors import TengenError, WorkerError
from gtp_engine.base.files import json_of, write_whole
from gtp_engine.base.machine import available_cores, free_memory_mib, own_memory_mib
from gtp_engine.base.streams import Log
from gtp_engine.base.workers import open_workers
from gtp_engine.base.workers.worker_pool import WorkerJob, WorkerPlace, WorkerPool, ignore_note
from gtp_engine.config import Config
from gtp_engine.engine.level_table import HUMAN_MODEL
from gtp_engine.go.rules import Rules
from gtp_engine.nn.loading import load_evaluator
from gtp_engine.nn.named_networks import model_path
from gtp_engine.nn.network_files import find_networks
from gtp_engine.nn.plug_ins import ROLLOUT_WEIGHTS
from gtp_engine.people.review.annotations import annotated, is_own_output
from gtp_engine.people.review.finished_reviews import page_of
from gtp_engine.people.review.game_analysis import (
    PROGRESS_INTERVAL,
    Effort,
    GameAnalysis,
    OnProgress,
    PositionGroup,
    SavedWork,
    seeded,
)
from gtp_engine.people.review.game_line import read_game
from gtp_engine.people.review.game_review import Finding, GameReview, new_review
from gtp_engine.people.review.lessons import People, completed, open_people
from gtp_engine.sgf import read_sgf_file
from gtp_engine.sgf.collection import game_in, records_in

SUFFIX: Final = ".review"
STDIN_NAME: Final = "stdin"

WORKER_THREADS: Final = 2
"""Cores of each worker, unless the number of workers or that of the network's threads is given."""

_SEARCHES_MIB: Final = 256
"""Memory of a worker beside what this process holds, its networks too: 200 and 240 MiB with those that ship."""

_PACKED_LEVEL: Final = 3
"""Of zlib; a higher one takes longer than it saves."""

_MOST_AT_ONCE: Final = 256
"""Games that are under way where workers may join."""

_KINDS: Final = ("sgf", "html", "json")
_WITH_TERRITORY: Final = "-territory"
"""Added to the key in the JSON of a review whose record has marks of territory."""


@dataclass(frozen=True)
class RecordSource:
    """A record to review: its name for messages, its bytes, and the common beginning of the results' paths."""

    name: str
    read: Callable[[], bytes]
    target: Path


@dataclass(frozen=True)
class ReviewOutcome:
    """What became of a source: the content of its JSON file, or why it could not be reviewed.

    With neither, the source is a review itself and was skipped.
    """

    source: RecordSource
    result: dict[str, Any] | None = None
    failure: str | None = None


@dataclass(frozen=True)
class Terms:
    """How records are read and written: rules and komi for those that name none, `game` of several in a file.

    Reviews are made for the `player` of this name, if it is given.  With `territory` the last position is marked with
    it; with `variations` they are reviewed too.
    """

    rules: Rules
    komi: float | None = None
    game: int | None = None
    territory: bool = False
    variations: bool = False
    player: str | None = None


def sources_of(paths: Sequence[Path], out: Path | None) -> list[RecordSource]:
    """Return the records of files and folders (with all folders in them), without reviews made earlier.

    Results go beside the record, or below `out`, where those of a folder keep their place in it; of records with one
    name the second becomes NAME-2.
    """
    found: dict[Path, RecordSource] = {}
    targets: set[Path] = set()
    for path in paths:
        root = path if path.is_dir() else path.parent
        for file in records_in(path) if path.is_dir() else [path]:
            if file not in found and not (path.is_dir() and file.stem.endswith(SUFFIX)):
                wanted = (root if out is None else out) / file.relative_to(root).with_suffix("")
                others = (wanted.with_name(f"{wanted.name}-{number}") for number in count(2))
                target = next(name for name in chain([wanted], others) if name not in targets)
                targets.add(target)
                found[file] = RecordSource(str(file), partial(read_sgf_file, str(file), is_named=False), target)
    return list(found.values())


@dataclass(frozen=True)
class FileReviewer:
    """Reviews records, in any number of threads if the searcher of `analysis` allows it.

    `complete` adds to a review what `lessons.completed` adds, with the same networks; by default that is called here.
    """

    analysis: GameAnalysis
    terms: Terms
    people: People | None = None
    complete: Callable[[GameReview], GameReview] | None = None

    def review(self, source: RecordSource, progress: OnProgress) -> ReviewOutcome:
        """Review a record, write its files and return the outcome; raises WorkerError.

        Whatever else goes wrong is the record's own matter.
        """
        try:
            return self._review(source, progress)
        except (WorkerError, CancelledError):
            raise
        except OSError as error:
            return ReviewOutcome(source, failure=error.strerror or str(error))
        except TengenError as error:
            return ReviewOutcome(source, failure=str(error))
        except Exception as error:
            return ReviewOutcome(source, failure=f"{type(error).__name__}: {error}")

    def _review(self, source: RecordSource, progress: OnProgress) -> ReviewOutcome:
        terms, whole = self.terms, source.read()
        data = game_in(whole, terms.game)
        if data != whole:  # of several games
            source = replace(source, target=source.target.with_name(f"{source.target.name}-game{terms.game}"))
        if is_own_output(data):
            return ReviewOutcome(source)
        line = read_game(data, rules=terms.rules, komi=terms.komi, variations=terms.variations)
        people = None if self.people is None else self.people.name
        key = self.analysis.key(data, line, *(name for name in (terms.player, people) if name is not None))
        whole_key = key + _WITH_TERRITORY if terms.territory else key
        finished = _finished(source.target, key)
        has_all = finished is not None and all(_path(source.target, kind).exists() for kind in _KINDS)
        if finished is not None and has_all and finished["key"] == whole_key:
            return ReviewOutcome(source, finished)
        source.target.parent.mkdir(parents=True, exist_ok=True)
        saved = SavedWork(_path(source.target, "part"), key)
        if finished is None:
            findings = self.analysis.run(line, saved, progress)
        else:
            findings = [
                Finding.from_json(each) for part in (finished, *finished["variations"]) for each in part["positions"]
            ]
        review = replace(new_review(line, findings, self.analysis.network(line)), player=terms.player)
        if finished is None:
            review = self.complete(review) if self.complete else completed(review, self.analysis, self.people)
        result = {**(finished or review.to_json()), "key": whole_key}
        write_files(source.target, data, review, result, territory=terms.territory)
        saved.remove()
        return ReviewOutcome(source, result)


def review_all(
    reviewer: FileReviewer, sources: Sequence[RecordSource], show: OnProgress, *, at_once: int = 1
) -> Generator[ReviewOutcome]:
    """Yield the outcome of each source as it is done, with `at_once` of them under way, each in a thread.

    `show` receives the number of sources done, fractions included, and a text.  If the iteration ends early, so do the
    other reviews, within seconds.  Raises WorkerError.
    """
    shares, lock, is_stopped = [0.0] * len(sources), Lock(), Event()

    def review(number: int) -> ReviewOutcome:
        def progress(share: float, text: str) -> None:
            if is_stopped.is_set():
                raise CancelledError
            with lock:
                shares[number] = share
                show(sum(shares), f"{Path(sources[number].name).name}: {text}")

        outcome = reviewer.review(sources[number], progress)
        progress(1.0, "done")
        return outcome

    if at_once == 1:
        yield from map(review, range(len(sources)))
        return
    threads = ThreadPoolExecutor(at_once)
    futures = [threads.submit(review, number) for number in range(len(sources))]
    try:
        yield from (future.result() for future in as_completed(futures))
    finally:
        is_stopped.set()
        threads.shutdown(wait=False, cancel_futures=True)  # the searcher may have to end before the threads can


# Workers


def review_worker(config: Config, effort: Effort, place: WorkerPlace) -> Callable[[bytes], Any]:
    """Return the worker of a place, with the networks of `config`, which has their paths on the machine that sends it.

    Raises ModelError.
    """
    network = config.network
    model, human = (path and str(place.path(Path(path))) for path in (network.model, network.human_model))
    config = replace(config, network=replace(network, model=model, human_model=human))
    strong = load_evaluator(config.network, log=ignore_note)
    return worker_with(GameAnalysis(config, strong, effort), lambda: open_people(config, strong, ignore_note))


def worker_with(analysis: GameAnalysis, people: Callable[[], People | None]) -> Callable[[bytes], Any]:
    """Return what searches groups of positions and completes reviews with `people`, opened then; tasks are `packed`."""
    people_once = cache(people)

    def do(task: bytes) -> Any:
        asked = unpacked(task)
        if isinstance(asked, PositionGroup):
            return analysis.search_group(asked)
        return packed(completed(asked, analysis, people_once()))

    return do


def _files_of(model: Path, human: Path) -> list[Path]:
    """Return the paths of all files of the networks; raises ModelError."""
    found = {file for files in find_networks(model).values() for each in files.networks for file in each.paths.values()}
    if (weights := model / ROLLOUT_WEIGHTS).exists():
        found.add(weights)
    if human.exists():
        found |= {human} if human.is_dir() else set(human.parent.glob(f"{escape(human.stem)}*"))
    return sorted(found)


def packed(value: PositionGroup | GameReview) -> bytes:
    """Return a value for another process: 32 positions late in a game take a fifth of a megabyte, plain ones 1.2."""
    return zlib.compress(pickle.dumps(value), _PACKED_LEVEL)


def unpacked(data: bytes) -> Any:
    """Return what `packed` was given."""
    return pickle.loads(zlib.decompress(data))


@dataclass(frozen=True)
class PooledSearcher:
    """A searcher that hands all to a pool's workers; several games may be reviewed `at_once`, in threads."""

    pool: WorkerPool[bytes, Any]
    at_once: int

    def search(self, groups: Iterable[PositionGroup], tell: Callable[[float], None]) -> Iterator[list[Finding]]:
        """Have all groups searched at once; see `game_analysis.Searcher`.  Raises what `WorkerPool.submit` says."""
        answers = [self.pool.submit(packed(group)) for group in groups]
        try:
            for answer in answers:
                while not wait((answer,), PROGRESS_INTERVAL).done:
                    tell(0.0)
                yield answer.result()
        finally:
            for answer in answers:
                answer.cancel()

    def complete(self, review: GameReview) -> GameReview:
        """Return a review that a worker has completed."""
        found: GameReview = unpacked(self.pool.submit(packed(review)).result())
        return found


@contextmanager
def open_searcher(
    config: Config,
    effort: Effort,
    *,
    games: int,
    workers: int | None = None,
    address: str | None = None,
    note: Log = ignore_note,
) -> Iterator[PooledSearcher | None]:
    """Yield what hands work to workers with the networks of `config`; None if this process should do it.

    Without a number of workers there are as many as cores, games and free memory allow, or as the Ray cluster at an
    address has cores for.  Raises ModelError and WorkerError.
    """
    network, cores, config = config.network, available_cores(), seeded(config)
    threads = network.network_threads or WORKER_THREADS
    if address is None:
        free, own = free_memory_mib(), own_memory_mib()
        room = games if free is None or own is None else free // (own + _SEARCHES_MIB)
        workers = workers or max(1, min(games, cores // WORKER_THREADS, room))
        if workers == 1:
            yield None
            return
        threads = network.network_threads or max(1, cores // workers)
    model, human = model_path(network.model), model_path(network.human_model or HUMAN_MODEL)
    human_model = str(human) if human.exists() else network.human_model
    network = replace(network, model=str(model), human_model=human_model, network_threads=threads)
    maker = partial(review_worker, replace(config, network=network), effort)
    job = WorkerJob("review", [maker], _files_of(model, human) if address else (), threads)
    with open_workers(job, workers, address, note=note) as pool:
        yield PooledSearcher(pool, at_once=min(games, _MOST_AT_ONCE) if address else pool.workers + 1)


# Files


def write_files(target: Path, data: bytes, review: GameReview, result: dict[str, Any], *, territory: bool) -> None:
    """Write the annotated record, the page and, last, the JSON, each whole or not at all."""
    contents = {
        "sgf": annotated(data, review, territory=territory),
        "html": page_of(result, title=target.name).encode("utf-8"),
        "json": (json.dumps(result, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8"),
    }
    for kind, content in contents.items():
        write_whole(_path(target, kind), content)


def _path(target: Path, kind: str) -> Path:
    return target.with_name(f"{target.name}{SUFFIX}.{kind}")


def _finished(target: Path, key: str) -> dict[str, Any] | None:
    """Return the content of a finished review's JSON, None if there is none with this key."""
    try:
        result = json_of(_path(target, "json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    known = isinstance(result, dict) and str(result.get("key")).removesuffix(_WITH_TERRITORY) == key
    return result if known else None
