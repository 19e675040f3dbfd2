"""Commands carried out in forks of this process, which has imported what they need: killed, refused, run again."""

import atexit
import contextlib
import errno
import hashlib
import io
import json
import os
import random
import re
import shlex
import shutil
import signal
import sys
import threading
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from busy_machine import bound, is_over
from faults.faulty_writes import STDOUT, SUITS, Writes

T = TypeVar("T")

LONGEST: Final = 120.0
"""Seconds after which a command is taken to hang, where nothing else waits for the processors."""

Check = Callable[[Path], None]


@dataclass(frozen=True)
class Miniature:
    """A command at its smallest, in a folder that `prepare` fills; `{box}` stands for that folder.

    `check` looks at what is there in the end, `kept(box, output)` at what has been said to be there at any moment.
    `stands_in` replaces what costs too much, in the process of the command.  `same` files have the same content after
    every way to the end.
    """

    words: str
    typed: str = ""
    prepare: Check = lambda box: None
    check: Check = lambda box: None
    kept: Callable[[Path, str], None] = lambda box, output: None
    stands_in: Callable[[], None] = lambda: None
    same: tuple[str, ...] = ()
    status: int = 0
    writes: bool = True
    named_anew: bool = False
    """Whether it begins a file of its own each time, so that only the number of files counts."""
    again: Callable[[Path], str | None] = lambda box: None
    """The words with which it goes on from what is there, where those are others."""
    by_chance: tuple[str, ...] = ()
    """Beginnings of names of files that may be missing in the end: games decide it, or the log says that they are."""
    is_slow: bool = False
    """Whether a run takes seconds, so that only `scripts/inject_faults` carries it out."""


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    output: str
    errors: str
    writes: list[tuple[str, str]]
    states: list[tuple[int, str, str]]
    """For each state between two writes: the number of the write, the digest of the state, the output so far."""
    elsewhere: list[str]
    late: float = 0.0
    """Seconds from the last signal to the end; 0 if it had ended before."""


class Box:
    """The folder in which a command runs, always at the same place, and copies of its states."""

    def __init__(self, folder: Path) -> None:
        self.path: Final = folder / "box"
        self._states: Final = folder / "states"
        self._states.mkdir()
        self.path.mkdir()

    def save(self) -> str:
        """Keep a copy of what is in the box; return its digest."""
        name = digest_of(self.path)
        place = self.copy(name)
        if not place.exists():
            shutil.copytree(self.path, place, symlinks=True)
        return name

    def copy(self, name: str) -> Path:
        """Return the folder with a copy, which is not to be changed."""
        return self._states / name

    def restore(self, name: str) -> None:
        """Fill the box with a copy."""
        shutil.rmtree(self.path)
        shutil.copytree(self.copy(name), self.path, symlinks=True)


def files_in(box: Path) -> list[str]:
    """Return the files that matter: neither locks nor those that a kill left unfinished."""
    found = sorted(str(path.relative_to(box)) for path in box.rglob("*") if path.is_file())
    return [name for name in found if not name.endswith((".lock", ".part"))]


def digest_of(box: Path) -> str:
    """Return what distinguishes states of the box."""
    found = hashlib.sha256()
    for path in sorted(box.rglob("*")):
        found.update(f"{path.relative_to(box)}\n{path.is_dir()}\n".encode())
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()[:20]


def carried_out(
    words: Sequence[str],
    case: Miniature,
    box: Box,
    *,
    at: int | None,
    error: int = 0,
    signals: Sequence[tuple[float, signal.Signals]] = (),
) -> Ended:
    """Carry out a command in a fork; its write number `at` is refused.  Without `at` its states are kept.

    `signals` are those that it gets, and after how many seconds.
    """
    folder = box.path.parent
    out, err, told = (folder / name for name in ("stdout", "stderr", "told"))
    for path in (out, err, told):
        path.write_bytes(b"")
    (folder / "stdin").write_text(case.typed.replace("{box}", str(box.path)), "utf-8")
    sys.stdout.flush()
    sys.stderr.flush()
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # as long as the command has not begun, or has ended
    child = os.fork()
    if child == 0:
        status = 99
        try:
            status = _child(words, case, box, at, error)
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(status)
    signal.signal(signal.SIGINT, before)
    started, waiting, last = time.monotonic(), [*signals], 0.0
    while True:
        done, state = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if waiting and time.monotonic() > started + waiting[0][0] and not (last and _has_pending(child)):
            last = time.monotonic()
            os.kill(child, waiting.pop(0)[1])
        if is_over(started, LONGEST):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError(f"hangs; {err.read_text('utf-8', 'replace')[-2000:]}")
        time.sleep(0.002)
    said = json.loads(told.read_text("utf-8") or "{}")
    return Ended(
        os.waitstatus_to_exitcode(state),
        out.read_text("utf-8", "replace"),
        err.read_text("utf-8", "replace"),
        [tuple(each) for each in said.get("writes", [])],
        [tuple(each) for each in said.get("states", [])],
        said.get("elsewhere", []),
        time.monotonic() - last if last else 0.0,
    )


def _has_pending(process: int) -> bool:
    """Return whether a process has not got a signal yet: two of a kind would be one."""
    return not re.search(r"^ShdPnd:\s*0+$", Path(f"/proc/{process}/status").read_text("utf-8"), re.MULTILINE)


def _child(words: Sequence[str], case: Miniature, box: Box, at: int | None, error: int) -> int:
    """Be the command; return its status."""
    folder = box.path.parent
    for name, number, flags in (("stdin", 0, os.O_RDONLY), ("stdout", 1, os.O_WRONLY), ("stderr", 2, os.O_WRONLY)):
        descriptor = os.open(folder / name, flags | (os.O_APPEND if number else 0))
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(box.path)
    os.environ.update(TENGEN_DATA_DIR=str(box.path / "data"), HOME=str(box.path))
    case.stands_in()
    writes, log, states = Writes(box.path, at=at, error=error), [], []

    def before(what: str, place: str) -> None:
        if at is None:
            log.append((what, place)) if what != "half a write" else None
            states.append((len(log), box.save(), (folder / "stdout").read_text("utf-8", "replace")))

    writes.before = before
    told = os.open(folder / "told", os.O_WRONLY)
    writes.install()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)  # noqa: SIM115
    status = _main(words)
    writes.before = lambda what, place: None
    if at is None:
        box_state = box.save()
        states.append((len(log), box_state, ""))
    text = json.dumps({"writes": log, "states": states, "elsewhere": sorted(set(writes.elsewhere))}).encode()
    while text:
        text = text[_real_write(told, text) :]
    return status


_real_write: Final = os.write


def _main(words: Sequence[str]) -> int:
    """Do what the interpreter does with the command line, up to the end of the process; return the status."""
    from gtp_engine.cli import main

    sys.argv = ["gtp-engine", *words]
    status: Any = 0
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        main()
    except KeyboardInterrupt:  # before its first line
        status = 1
    except SystemExit as end:
        status = end.code or 0
        if isinstance(status, str):
            sys.stderr.write(f"{status}\n")
            status = 1
    except BaseException:
        traceback.print_exc()
        status = 1
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        status = 120
    return int(status)


def require_whole(box: Path) -> None:
    """Require that every file can be read to its end."""
    for name in files_in(box):
        path = box / name
        data = path.read_bytes()
        with _naming(name):
            if path.suffix == ".jsonl":
                for line in data.split(b"\n")[:-1]:
                    json.loads(line)
            elif path.suffix in _WHOLE:
                _WHOLE[path.suffix](data)


@contextlib.contextmanager
def _naming(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{name} is not whole: {type(error).__name__}: {error}") from error


def _require_end(end: bytes) -> Callable[[bytes], None]:
    def check(data: bytes) -> None:
        assert data.rstrip().endswith(end), f"ends with {data[-20:]!r}"

    return check


def _require_zip(data: bytes) -> None:
    assert zipfile.ZipFile(io.BytesIO(data)).testzip() is None


def _require_onnx(data: bytes) -> None:
    import onnx

    onnx.load_model_from_string(data)
    assert b"tengen.format" in data


_WHOLE: Final[Mapping[str, Callable[[bytes], Any]]] = {
    ".json": json.loads,
    ".sgf": _require_end(b")"),
    ".html": _require_end(b"</html>"),
    ".svg": _require_end(b"</svg>"),
    ".npz": _require_zip,
    ".pt": _require_zip,
    ".onnx": _require_onnx,
    ".cfg": _require_end(b"true"),
}


class Fault(NamedTuple):
    """A fault of a command, and what was wrong then."""

    command: str
    kind: str
    write: str
    problem: str


@dataclass
class Found:
    """What came of the faults of one command."""

    command: str
    writes: int = 0
    runs: int = 0
    states: int = 0
    seconds: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    longest: dict[str, float] = field(default_factory=dict)
    """Seconds from the last signal to the end, by the kind of signals."""
    faults: list[Fault] = field(default_factory=list)

    @contextlib.contextmanager
    def noting(self, kind: str, write: str) -> Iterator[None]:
        """Note as a fault what the block raises."""
        try:
            yield
        except Exception as error:
            self.faults.append(Fault(self.command, kind, write, str(error)))


def try_faults(name: str, case: Miniature, folder: Path, *, most: int | None) -> Found:
    """Kill a command at its writes, refuse each for each reason, and run it again; of each at most `most`, evenly.

    With `most` 0 one kill and one refusal, for a reason that depends on the command; what every kill leaves is looked
    at all the same.
    """
    found = Found(name)
    began = time.process_time() + sum(os.times()[2:4])
    box = Box(folder)
    words = _prepared(name, case, box)
    start, before = box.save(), {path: digest(box.path, path) for path in files_in(box.path)}

    def run(at: int | None = None, error: int = 0, other: str | None = None) -> Ended:
        found.runs += 1
        return carried_out(words if other is None else other.split(), case, box, at=at, error=error)

    clean = run()
    found.writes = sum(place != STDOUT for _, place in clean.writes)
    wanted = {path: digest(box.path, path) for path in files_in(box.path)}
    with found.noting("none", ""):
        said = f"status {clean.status}: {clean.output}{clean.errors}"
        assert clean.status == case.status and "Traceback" not in clean.errors, said
        case.check(box.path)
        require_whole(box.path)
        if not case.writes:
            changed = [f"{what} {place}" for what, place in clean.writes if place != STDOUT] + clean.elsewhere
            changed += sorted(path for path in wanted.keys() | before.keys() if wanted.get(path) != before.get(path))
            assert box.save() == start and changed == [], f"it writes: {changed}"
    if found.faults:
        return found
    end, good = box.save(), {clean.states[-1][1]}

    def again(kind: str, write: str, state: str) -> None:
        """Run the command in a state that a fault has left."""
        if state in good:
            return
        box.restore(state)
        done = run(other=case.again(box.path))
        with found.noting(kind, write):
            assert done.status == case.status, f"again: status {done.status}: {_last(done.errors)}"
            assert "Traceback" not in done.errors, f"again: {done.errors}"
            missing = {each for each in {*wanted} ^ {*files_in(box.path)} if not each.startswith(case.by_chance)}
            assert not missing or (case.named_anew and len(files_in(box.path)) >= len(wanted)), f"again: {missing}"
            require_whole(box.path)
            for path in case.same:
                assert digest(box.path, path) == wanted[path], f"again: {path} differs"
            case.check(box.path)
            good.add(state)

    # Killed: each state between two writes is what a kill leaves.
    written = ["", *(f"{what} {place}" for what, place in clean.writes)]
    kills = {state: (written[min(number, len(clean.writes))], output) for number, state, output in clean.states[::-1]}
    found.states = len(kills)
    for state, (write, output) in kills.items():
        with found.noting("kill", write):
            require_whole(box.copy(state))
            if case.kept is not Miniature.kept:
                box.restore(state)  # the output names files in it
                case.kept(box.path, output)
    for state in spread([*kills], most):
        again("kill", kills[state][0], state)
        found.kinds["kill"] += 1

    # Refused.
    for turn, (error, suits) in enumerate(SUITS.items()):
        kind = errno.errorcode[error]
        numbers = [number for number, each in enumerate(clean.writes) if suits(*each)]
        if most == 0 and turn != len(name) % len(SUITS):
            continue
        for number in spread(numbers, most):
            what, place = clean.writes[number]
            write = f"{what} {place}"
            box.restore(start)
            done = run(number, error)
            found.kinds[kind] += 1
            state = box.save()
            with found.noting(kind, write):
                assert "Traceback" not in done.errors, done.errors
                require_whole(box.path)
                case.kept(box.path, done.output)
                is_there = {*files_in(box.path)} >= {*wanted} or case.named_anew
                is_done = is_there and (place != STDOUT or done.output == clean.output)
                if error == errno.EPIPE:
                    assert done.status in (0, 1), f"status {done.status}: {_last(done.errors)}"
                elif done.status == case.status:
                    assert is_done or os.strerror(error) in done.errors + done.output, (
                        f"nothing is said: {_last(done.errors)!r}"
                    )
                else:
                    assert done.status in (1, 2), f"status {done.status}: {_last(done.errors)}"
                    assert os.strerror(error) in done.errors, f"the reason is missing: {_last(done.errors)!r}"
                again(kind, write, state)
    box.restore(end)
    found.seconds = time.process_time() + sum(os.times()[2:4]) - began
    return found


def _prepared(name: str, case: Miniature, box: Box) -> list[str]:
    """Fill the box for a command; return its words."""
    child = os.fork()  # preparing may start threads
    if child == 0:
        status = 1
        try:
            os.chdir(box.path)
            case.prepare(box.path)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, f"{name} cannot be prepared"
    return [*name.split(), *shlex.split(case.words.replace("{box}", str(box.path)))]


SIGNALS: Final = ("SIGTERM", "SIGTERM twice", "SIGINT", "SIGINT twice")
"""What commands get; a client whose server ends says that it has lost it."""

NO_WRITE: Final = 10**9
"""The number of a write that no command reaches: nothing is refused, and no state kept."""


def try_signals(name: str, case: Miniature, folder: Path, *, moments: int, seed: int = 0) -> Found:
    """Send SIGTERM or SIGINT, once or twice, to a command at random moments, and look at what is there then."""
    found, box, drawn = Found(name), Box(folder), random.Random(f"{seed} {name}")
    words = _prepared(name, case, box)
    start = box.save()
    started = time.monotonic()
    carried_out(words, case, box, at=NO_WRITE)
    length = time.monotonic() - started
    for number in range(moments):
        box.restore(start)
        kind, moment = SIGNALS[number % len(SIGNALS)], drawn.random() * length
        names = [*kind.partition(" ")[:1]] * (2 if kind.endswith("twice") else 1)
        sent = [(moment + 0.1 * turn, signal.Signals[name]) for turn, name in enumerate(names)]
        ended = carried_out(words, case, box, at=NO_WRITE, signals=sent)
        found.runs += 1
        found.kinds[kind] += bool(ended.late)
        found.longest[kind] = max(found.longest.get(kind, 0.0), ended.late)
        with found.noting(kind, f"{moment:.3f} s"):
            assert ended.late < bound(1.0 if len(sent) > 1 else 10.0), f"ended after {ended.late:.1f} s"
            left = [*box.path.rglob("*[!w].part")]  # not those of reviews, which go on there
            assert not left, f"{left} is left"
            assert "Traceback" not in ended.errors, ended.errors
            require_whole(box.path)
            case.kept(box.path, ended.output)
    return found


def _last(text: str) -> str:
    return text.strip().rsplit("\n", 1)[-1]


def digest(box: Path, name: str) -> str:
    """Return what distinguishes contents."""
    return hashlib.sha256((box / name).read_bytes()).hexdigest()


def spread(values: Sequence[T], most: int | None) -> list[T]:
    """Return at most so many values, from the first to the last at even distances."""
    if most is None or len(values) <= most:
        return [*values]
    if most <= 1:
        return [values[len(values) // 2]]
    return [values[round(number * (len(values) - 1) / (most - 1))] for number in range(most)]
