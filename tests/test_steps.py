"""Long work: settings that it goes on with, and chains of commands, of which one that fails is the last."""

import hashlib
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from busy_machine import bound, is_over
from click.testing import CliRunner

from gtp_engine.base.errors import ConfigError
from gtp_engine.base.steps import Step, carry_out_all, check_same, differences, engine_command, open_folder
from gtp_engine.cli import cli


def writes(path: Path, text: str) -> tuple[object, ...]:
    return sys.executable, "-c", f"open({str(path)!r}, 'a').write({text!r})"


@pytest.mark.parametrize(
    ("began", "now", "found"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}, ""),
        ({"b": 2, "a": 1}, {"b": 3, "a": "x"}, "a 1 there, 'x' now; b 2 there, 3 now"),
        ({"a": 1}, {"a": 1, "option of later": 2}, ""),
        ({"a": 1, "option of before": 2}, {"a": 1}, ""),
        ({"a": 1, "limit": 5}, {"a": 1, "limit": 6}, ""),
        ({"a": 1}, {"a": 1, "stage": "value"}, "stage None there, 'value' now"),
    ],
)
def test_work_goes_on_with_its_own_settings(began: dict[str, Any], now: dict[str, Any], found: str) -> None:
    assert differences(began, now, free=("limit",), needed=("stage",)) == found
    message = re.escape(f"the run there has other settings ({found}): expected")
    with pytest.raises(ConfigError, match=message) if found else nullcontext():
        check_same(began, now, free=("limit",), needed=("stage",))


@pytest.mark.parametrize("group", ["train", "alphago"])
def test_a_chain_whose_folder_cannot_be_made_says_so(tmp_path: Path, group: str) -> None:
    pytest.importorskip("torch", reason="training needs PyTorch")
    (tmp_path / "file").touch()
    found = CliRunner().invoke(cli, [group, "chain", str(tmp_path / "file" / "chain")])
    assert found.exit_code == 2 and found.stderr.splitlines()[-1].startswith("Error: cannot write to '")
    assert found.stderr.endswith("file/chain': Not a directory; make room there, or name another folder\n")


def test_another_chain_does_not_continue_in_a_folder(tmp_path: Path) -> None:
    teacher, folder = tmp_path / "a.onnx", tmp_path / "chain"
    teacher.write_bytes(b"a")
    for _ in range(2):
        open_folder(folder, "gtp-engine train chain", teacher)
    began = r"\): expected the settings that it began with; give these, or another folder$"
    with pytest.raises(ConfigError, match="train chain' there, 'gtp-engine train chain --tiny' now" + began):
        open_folder(folder, "gtp-engine train chain --tiny", teacher)
    teacher.write_bytes(b"b")
    a, b = (hashlib.sha256(content).hexdigest() for content in (b"a", b"b"))
    with pytest.raises(ConfigError, match=f"teacher with the SHA-256 '{a}' there, '{b}' now" + began):
        open_folder(folder, "gtp-engine train chain", teacher)
    with pytest.raises(ConfigError, match=r"cannot open the teacher '.*b.onnx': No such file"):
        open_folder(folder, "gtp-engine train chain", tmp_path / "b.onnx")
    (folder / "chain.json").write_text("{")
    with pytest.raises(ConfigError, match=r"chain '.*chain.json' is damaged; delete it"):
        open_folder(folder, "gtp-engine train chain", teacher)


def test_commands_run_in_order_and_products_are_built_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    product, log = tmp_path / "product", tmp_path / "log"
    steps = [Step("Make it", writes(product, "x"), product), Step("Go on", writes(log, "y"))]
    carry_out_all(steps)
    first = capfd.readouterr().err
    carry_out_all(steps)
    second = capfd.readouterr().err
    assert (product.read_text(), log.read_text()) == ("x", "yy")
    assert "1/2  Make it\n" in first and shlex.join(map(str, steps[0].command)) in first
    assert f"1/2  Make it\n{product} exists already.\n" in second


def test_a_command_that_fails_ends_the_chain(tmp_path: Path) -> None:
    after = tmp_path / "after"
    fails = Step("Fail", (sys.executable, "-c", "raise SystemExit(3)"), tmp_path / "product")
    steps = [fails, Step("Never", writes(after, "x"))]
    with pytest.raises(SystemExit, match="3"):
        carry_out_all(steps)
    assert not after.exists()


def test_a_command_without_its_product_ends_the_chain(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    product = tmp_path / "product"
    with pytest.raises(SystemExit, match="1"):
        carry_out_all([Step("Nothing", (sys.executable, "-c", ""), product)] * 2)
    said = capfd.readouterr().err
    assert f"{product} is missing" in said and "2/2" not in said


SLOW_TO_END = """
import signal, sys, time
from pathlib import Path

def end(*_):
    time.sleep(0.5)  # writing a checkpoint
    Path("saved").touch()
    sys.exit(130)

for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, end)
Path("begun").touch()
time.sleep(60)
"""
CHAIN_OF_IT = """
import sys
from gtp_engine.base.steps import Step, carry_out_all

carry_out_all([Step("Slow to end", (sys.executable, "-c", sys.argv[1]))])
"""


@pytest.mark.skipif(os.name == "nt", reason="there are no process groups")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("send", "number"), [("killpg", signal.SIGINT), ("kill", signal.SIGTERM)])
def test_a_chain_that_is_interrupted_waits_for_the_checkpoint_of_its_command(
    tmp_path: Path, send: str, number: int
) -> None:
    chain = [sys.executable, "-c", CHAIN_OF_IT, SLOW_TO_END]
    with subprocess.Popen(chain, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None
            time.sleep(0.05)
        getattr(os, send)(process.pid, number)
        _, said = process.communicate(timeout=bound(60))
    assert (tmp_path / "saved").exists() and process.returncode and said.endswith("KeyboardInterrupt\n")


@pytest.mark.skipif(os.name == "nt", reason="there are no signals")
def test_sigterm_while_a_command_is_started_ends_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Popen(subprocess.Popen[bytes]):
        def __init__(self, command: list[str]) -> None:
            super().__init__(command)
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("gtp_engine.base.steps.subprocess.Popen", Popen)
    after, handler = tmp_path / "after", signal.getsignal(signal.SIGTERM)
    steps = [Step("Long", (sys.executable, "-c", "import time; time.sleep(60)")), Step("Never", writes(after, "x"))]
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        carry_out_all(steps)
    assert not is_over(began, 30) and not after.exists()
    assert signal.getsignal(signal.SIGTERM) is handler


def test_the_engine_as_a_player_of_matches() -> None:
    command = shlex.split(engine_command("--model", Path("a b"), "--visits", 5))
    assert command == [sys.executable, "-m", "gtp_engine", "--model", "a b", "--visits", "5"]
