"""Kill workers and nodes of a Ray cluster at random, and compare what comes out with the work of one process.

The cluster has four nodes of one core, all on this machine.  Reviews, self-play and matches take turns, with evaluators
and engines of the tests, which take next to no time: what counts is how often they are killed.  Every 5 to 30 seconds
a worker is killed, or stopped, so that it hangs until it is ended after half a minute at least; or a node is killed,
which another one replaces some seconds later.  Prints each of these, a line for each round, and a summary; the exit
code is 1 if anything is missing, double, or not the same.
"""

import argparse
import contextlib
import hashlib
import os
import random
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fake_evaluators import FakeEvaluator
from puct_support import AreaEvaluator
from ray_support import small_cluster

from gtp_engine import Config, Game, Move, Rules
from gtp_engine.arena.match.records import MatchFolder
from gtp_engine.arena.match.runner import job_of_games, run_match
from gtp_engine.arena.match.settings import MatchSettings
from gtp_engine.base.worker_process import join_command
from gtp_engine.base.workers import open_workers
from gtp_engine.base.workers.worker_pool import WorkerJob, WorkerPlace
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.people.review.game_analysis import GROUP, Effort, GameAnalysis, seeded
from gtp_engine.people.review.review_files import (
    FileReviewer,
    PooledSearcher,
    ReviewWorkerMaker,
    SharesDone,
    Terms,
    review_all,
    sources_of,
)
from gtp_engine.sgf import format_sgf
from gtp_engine.training.distillation.labelled_games import LabelledBlock, SelfPlaySettings
from gtp_engine.training.distillation.workers import Makers, job_of, pooled_blocks

NODES = 4
RECORDS, MOVES, BLOCKS, GAMES = 6, 24, 20, 30
"""Work of a round."""
PAUSES = (5.0, 30.0)
SHARES = {"kills node": 0.25, "stops worker": 0.15, "kills worker": 0.6}
HANGING_MINUTES = 0.5
OPTIONS = {"object_store_memory": 200_000_000}

CONFIG = seeded(Config().with_values({"search.threads": 1}))
EFFORT = Effort(visits=4)
SELFPLAY = SelfPlaySettings({(9, 9): 1.0}, seed=1, batch=4)
ENGINE = join_command([sys.executable, str(Path(__file__).resolve().parents[1] / "scripted_engine.py")])
MATCH = MatchSettings(
    first=f"{ENGINE} --black wait:0.5 --white wait:0.5",
    second=f"{ENGINE} --black wait:0.3 --white wait:0.7",
    games=GAMES, size=7, komi=0.5, random_plies=12, parallel=8, referee="board",
)  # fmt: skip
"""The engines pass after a while, so that random moves decide each game."""


class Killer:
    """Kills workers and nodes, and counts them; in the main thread, where alone Ray can start nodes."""

    def __init__(self, cluster: Any, seed: int) -> None:
        self.counts: Counter[str] = Counter()
        self._cluster = cluster
        self._chance = random.Random(seed)

    def run(self, over: threading.Event) -> None:
        """Kill and stop at random until it is over."""
        while not over.wait(self._chance.uniform(*PAUSES)):
            (what,) = self._chance.choices([*SHARES], [*SHARES.values()])
            if what == "kills node":
                self._kill_node(what)
            else:
                self._signal(what, signal.SIGSTOP if what == "stops worker" else signal.SIGKILL)

    def _note(self, what: str, name: object) -> None:
        say(f"{what} {name}")
        self.counts[what] += 1

    def _kill_node(self, what: str) -> None:
        node = self._chance.choice(sorted(self._cluster.worker_nodes, key=lambda each: each.unique_id))
        self._note(what, node.node_id[:6])
        self._cluster.remove_node(node, allow_graceful=False)
        time.sleep(self._chance.uniform(0.0, 8.0))
        while len(self._cluster.worker_nodes) < NODES:
            try:
                self._cluster.add_node(num_cpus=1, **OPTIONS)
            except Exception as error:  # Ray's own, where the machine is busy
                say(f"a node could not be started: {error}")

    def _signal(self, what: str, number: int) -> None:
        raylets = {each.process.pid for node in self._cluster.worker_nodes for each in node.all_processes["raylet"]}
        workers = [
            pid for pid, parent, title in processes() if parent in raylets and title.startswith("ray::RayWorker")
        ]
        if workers:
            worker = self._chance.choice(workers)
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, number)
                self._note(what, worker)


def processes() -> Iterator[tuple[int, int, str]]:
    """Yield id, parent and title of each process."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            title = (folder / "cmdline").read_bytes().split(b"\0")[0].decode(errors="replace")
            yield int(folder.name), int((folder / "stat").read_text().rpartition(")")[2].split()[1]), title


def say(text: str) -> None:
    """Print a line with the time."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def write_records(folder: Path) -> None:
    """Write records of random moves."""
    for number in range(RECORDS):
        chance, game = random.Random(number), Game(9, 9)
        while len(game.moves) < MOVES:
            game.play(Move(game.to_play, chance.choice(game.legal_points(game.to_play))))
        (folder / f"{number:03}.sgf").write_text(format_sgf(game))


def area_evaluator(place: WorkerPlace) -> AreaEvaluator:
    """Return the evaluator of the reviews."""
    return AreaEvaluator()


def no_people(place: WorkerPlace, evaluator: Evaluator) -> None:
    """Return no network of what people play."""


def reviews(records: Path, out: Path, address: str | None) -> dict[str, str]:
    """Return a hash of each review."""
    with contextlib.ExitStack() as stack:
        searcher = None
        if address is not None:
            job = WorkerJob("review", [ReviewWorkerMaker(area_evaluator, no_people, CONFIG, EFFORT, GROUP)])
            searcher = PooledSearcher(stack.enter_context(open_workers(job, None, address, note=say)), at_once=RECORDS)
        analysis = GameAnalysis(CONFIG, AreaEvaluator(), EFFORT, searcher=searcher)
        reviewer = FileReviewer(analysis, Terms(Rules()), complete=searcher.complete if searcher else None)
        sources = sources_of([records], out)
        shares = SharesDone(sources, lambda share, text: None)
        outcomes = review_all(reviewer, sources, shares, at_once=searcher.at_once if searcher else 1)
        failures = [outcome.failure for outcome in outcomes if outcome.failure]
    assert not failures, failures
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(out.glob("*.json"))}


def block_hash(block: LabelledBlock) -> str:
    """Return a hash of a block's samples."""
    samples = block.samples
    return hashlib.sha256(
        b"".join(each.tobytes() for each in (samples.game, samples.planes, samples.policy))
    ).hexdigest()


def self_play(address: str) -> list[str]:
    """Return what is wrong with BLOCKS blocks: none may come twice, and each has to be what its worker plays alone."""
    makers = Makers(FakeEvaluator)
    found: defaultdict[int, list[str]] = defaultdict(list)
    with pooled_blocks(job_of([makers], SELFPLAY), None, address, say) as blocks:
        count = 0
        while count < BLOCKS:
            if (block := next(blocks)) is not None:
                count += 1
                found[int(block.samples.game[0] & ~(1 << 31)) >> 24].append(block_hash(block))
    wrong = [] if sum(map(len, found.values())) == BLOCKS else ["blocks are missing"]
    for number, hashes in sorted(found.items()):
        place = WorkerPlace(number >> 8 & 0xFFF, number & 0x7F)
        alone = makers.blocks(SELFPLAY, place)
        if hashes != [block_hash(next(alone)) for _ in hashes]:
            wrong.append(f"worker {place.number}, life {place.life}: other blocks than alone")
    return wrong


def matches(out: Path, address: str | None) -> dict[int, tuple[str, str]]:
    """Return result and moves of each game."""
    folder = MatchFolder(out, MATCH)
    if address is None:
        records = run_match(replace(MATCH, parallel=1), folder)
    else:
        with open_workers(job_of_games([MATCH.first, MATCH.second], threads=1), None, address, note=say) as pool:
            records = run_match(MATCH, folder, pool=pool)
    assert [record.game for record in records] == [*range(1, GAMES + 1)], "each game once"
    return {record.game: (record.result, record.digest) for record in records}


def main() -> int:
    """Run rounds until the time is over; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        return run(Path(name), given.minutes, given.seed)


def run(folder: Path, minutes: float, seed: int) -> int:
    """Compute what one process finds, then let the cluster do it while it is attacked."""
    os.environ.setdefault("TENGEN_WORKER_MINUTES", f"{HANGING_MINUTES}")
    records = folder / "records"
    records.mkdir()
    write_records(records)
    say("one process: reviews")
    wanted_reviews = reviews(records, folder / "alone", None)
    say("one process: games")
    wanted_games = matches(folder / "alone-match", None)
    say("starts the cluster")
    with small_cluster(NODES, **OPTIONS) as cluster:
        rounds = Rounds(folder, cluster.address, minutes, wanted_reviews, wanted_games)
        rounds.start()
        killer = Killer(cluster, seed)
        killer.run(rounds.over)
        rounds.join()
    say(f"{dict(killer.counts)}; done: {dict(rounds.done)}")
    say(f"{len(rounds.wrong)} differences from one process")
    return int(bool(rounds.wrong))


class Rounds(threading.Thread):
    """Does all kinds of work in turn until the time is over; keeps what was wrong."""

    def __init__(
        self, folder: Path, address: str, minutes: float, reviews: dict[str, str], games: dict[int, tuple[str, str]]
    ) -> None:
        super().__init__()
        self.over = threading.Event()
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._folder, self._address, self._seconds = folder, address, 60 * minutes
        self._reviews, self._games = reviews, games

    def run(self) -> None:
        """Work."""
        began = time.monotonic()
        try:
            for number in count():
                if time.monotonic() - began >= self._seconds:
                    break
                self._round(number)
        except BaseException as error:
            self.wrong.append(f"{type(error).__name__}: {error}")
            raise
        finally:
            self.over.set()

    def _round(self, number: int) -> None:
        records, address = self._folder / "records", self._address
        kinds: dict[str, tuple[int, Callable[[], list[str]]]] = {
            "reviews": (
                RECORDS,
                lambda: differences(reviews(records, self._folder / f"r{number}", address), self._reviews),
            ),
            "blocks of self-play": (BLOCKS, lambda: self_play(address)),
            "games": (GAMES, lambda: differences(matches(self._folder / f"m{number}", address), self._games)),
        }
        for kind, (size, work) in kinds.items():
            start = time.monotonic()
            wrong = work()
            self.wrong += wrong
            self.done[kind] += size
            say(f"{size} {kind} in {time.monotonic() - start:.0f} s: {'; '.join(wrong) or 'the same'}")


def differences(found: dict[Any, Any], wanted: dict[Any, Any]) -> list[str]:
    """Return what is missing, too much or different."""
    return [f"{name} differs" for name in sorted({*found, *wanted}, key=str) if found.get(name) != wanted.get(name)]


if __name__ == "__main__":
    sys.exit(main())
