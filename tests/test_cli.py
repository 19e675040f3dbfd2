"""The command line: flags from the configuration, precedence, errors, start-up, and what a newcomer reads."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from busy_machine import bound
from click.testing import CliRunner, Result
from documents import commands_of
from puct_support import AreaEvaluator

from gtp_engine import MatchSettings, __version__
from gtp_engine.arena.match.settings import Sprt
from gtp_engine.base.errors import ConfigError
from gtp_engine.cli import cli
from gtp_engine.cli.options import build_config
from gtp_engine.config import Config


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), prog_name="gtp-engine")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Config]:
    """Collect the configurations GTP sessions would have been started with, and start none."""
    configs: list[Config] = []

    def serve(config: Config, *_: Any, advise: object) -> int:
        assert advise is None
        configs.append(config)
        return 0

    monkeypatch.setattr("gtp_engine.protocols.gtp.session.serve", serve)
    return configs


class TestDefaultCommand:
    """`gtp-engine` alone, with or without flags, is `gtp-engine gtp`."""

    @pytest.mark.parametrize("arguments", [[], ["--visits", "7"], ["gtp", "--visits", "7"]])
    def test_starts_gtp(self, served: list[Config], arguments: list[str]) -> None:
        assert invoke(*arguments).exit_code == 0
        (config,) = served
        assert config.search.visits == (7 if arguments else 0)

    def test_version_alone_is_ours_and_with_other_flags_gtps(self, served: list[Config]) -> None:
        assert (invoke("--version").output, served) == (f"gtp-engine {__version__}\n", [])
        assert invoke("--version", "0.17", "--name", "Leela Zero").exit_code == 0
        assert (served[0].gtp.version, served[0].gtp.name) == ("0.17", "Leela Zero")

    def test_exit_status_of_the_session_is_passed_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gtp_engine.protocols.gtp.session.serve", lambda *_, advise: 7)
        assert invoke().exit_code == 7


class TestConfiguration:
    """Every option is a flag; a flag wins over the file, the file over the default."""

    def test_flag_wins_over_file_and_file_over_default(self, served: list[Config], tmp_path: Path) -> None:
        file = tmp_path / "tengen.toml"
        file.write_text('[game]\nrules = "japanese"\n[search]\nvisits = 50\n[play]\nresign = false\n')
        for flags, resign in (([], False), (["--resign"], True)):
            assert invoke("--config", str(file), "--visits", "60", *flags).exit_code == 0
            config = served.pop()
            assert (config.game.rules, config.search.visits, config.play.resign) == ("japanese", 60, resign)
            assert config.search.threads == Config().search.threads

    def test_build_config_takes_text_and_ignores_other_parameters(self) -> None:
        config = build_config(Config(), {"search__visits": "5", "play__resign": False, "as_json": True})
        assert (config.search.visits, config.play.resign) == (5, False)
        with pytest.raises(ConfigError, match=r"--threads -1"):
            build_config(Config(), {"search__threads": "-1"})


class TestConfigCommand:
    """`gtp-engine config` prints a file that `--config` reads."""

    def test_flags_are_set_in_it_and_read_back(self, served: list[Config], tmp_path: Path) -> None:
        file = tmp_path / "tengen.toml"
        file.write_text(invoke("config", "--rules", "aga", "--visits", "9").output)
        assert tomllib.loads(file.read_text())["search"] == {"visits": 9}
        invoke("--config", str(file))
        assert (served[0].game.rules, served[0].search.visits) == ("aga", 9)


class TestHelp:
    """Help says what a newcomer has to know."""

    def test_top_level_says_what_to_do(self) -> None:
        text = invoke("--help").output
        for words in ("Sabaki", "speaks GTP", "gtp-engine --rules japanese", "benchmark", "doctor", "match", "warmup"):
            assert words in text

    @pytest.mark.parametrize("command", [name for name, _ in commands_of(cli)])
    def test_each_command_explains_itself(self, command: str) -> None:
        text = invoke(command, "-h").output
        assert f"Usage: gtp-engine {command}" in text and "\\b" not in text and len(text.splitlines()) > 5

    @pytest.mark.parametrize("command", ["play", "gtp", "serve"])
    def test_the_help_of_a_command_can_be_read(self, command: str) -> None:
        text = invoke(command, "--help").output
        assert len(text.splitlines()) < 120
        whole = invoke(command, "--help-all").output
        flags = re.compile(r"^  (--[a-z0-9-]+)", re.MULTILINE)
        more = len({*flags.findall(whole)} - {*flags.findall(text)})
        assert f"{more} more options, by subject: gtp-engine {command} --help-all" in " ".join(text.split())
        assert "--threads" in whole and "--threads" not in text

    def test_help_as_a_word(self) -> None:
        assert invoke("help").output == invoke("--help").output
        assert invoke("help", "play").output == invoke("play", "--help").output


def test_engines_of_one_name_are_told_apart() -> None:
    from gtp_engine.cli.match_commands import _different_names

    def named(first: str, second: str, other: str = "Tengen") -> list[str]:
        return [
            *_different_names(MatchSettings(first=first, second=second), {"first": "Tengen", "second": other}).values()
        ]

    assert named("a", "b", "GNU Go") == ["Tengen", "GNU Go"]
    assert named("gtp-engine --visits 9", "gtp-engine --visits 99") == ["Tengen (9)", "Tengen (99)"]
    assert named("gtp-engine", "gtp-engine --seed 4") == ["Tengen (as it is)", "Tengen (--seed 4)"]
    assert named("gtp-engine", "gtp-engine") == ["Tengen (first)", "Tengen (second)"]


class TestMatchCommand:
    """Flags become match settings; what the runner does with them is tested there."""

    @pytest.fixture
    def settings(self, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
        seen: list[Any] = []
        monkeypatch.setattr("gtp_engine.arena.match.runner.run_match", lambda match, *_, **__: seen.append(match) or [])
        return seen

    def match(self, folder: Path, *arguments: str) -> Result:
        return invoke("match", "--first", "a", "--second", "b", "--out", str(folder), *arguments)

    @pytest.mark.parametrize(
        ("flags", "expected"),
        [
            ("", {"komi": 7.5, "main_time": 0, "overtime": 0, "overtime_stones": 0, "increment": 0, "sprt": None}),
            ("--rules japanese", {"komi": 6.5}),
            ("--rules japanese --komi 0.5", {"komi": 0.5}),
            ("--openings games", {"openings": str(Path("games").resolve())}),
            ("--time-per-move 1.5", {"main_time": 0, "overtime": 1.5, "overtime_stones": 1, "increment": 0}),
            (
                "--main-time 60 --overtime 30 --overtime-stones 5",
                {"main_time": 60, "overtime": 30, "overtime_stones": 5},
            ),
            ("--main-time 60 --increment 2", {"main_time": 60, "overtime": 0, "increment": 2}),
            ("--sprt -5 30.5 --beta 0.1", {"sprt": Sprt(-5, 30.5, alpha=0.05, beta=0.1)}),
        ],
    )
    def test_flags_become_settings(
        self, settings: list[Any], tmp_path: Path, flags: str, expected: dict[str, Any]
    ) -> None:
        shown = self.match(tmp_path, *flags.split()).stdout
        (match,) = settings
        assert {name: getattr(match, name) for name in expected} == expected
        test = "SPRT           LLR +0.00 of -2.25 … +2.89 after 0 pairs, Elo -5 against +30.5: undecided"
        assert (test in shown) == ("sprt" in flags)

    def test_plot_is_written(self, settings: list[Any], tmp_path: Path) -> None:
        pytest.importorskip("matplotlib", reason="plots need the extra [plot]")
        assert self.match(tmp_path / "match", "--plot", str(tmp_path / "plot.svg")).exit_code == 0
        assert (tmp_path / "plot.svg").read_text().startswith("<?xml")

    def test_result_as_table_and_json(self, settings: list[Any], tmp_path: Path) -> None:
        assert "first  against  second" in self.match(tmp_path).stdout
        result = json.loads(self.match(tmp_path, "--first-name", "new", "--second-name", "old", "--json").stdout)
        assert (result["games"], result["first"], result["second"]) == (0, "new", "old")


def test_a_problem_is_solved_in_a_region_for_the_side_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.nn.evaluators.evaluator_of", lambda *_: AreaEvaluator())
    record, target = str(tmp_path / "a.sgf"), tmp_path / "b.sgf"
    Path(record).write_text("(;SZ[5:7]AB[ab][bb][cb][ca]AW[ac][bc][cc][dc][db][da])")
    for first, says in (("black", "A7 B7 A7 pass pass (93%): best\n"), ("white", "No move succeeds.\n")):
        flags = ["--region", "A7:B7", "--visits", "2", "--sgf", str(target), "--first", first]
        solved = invoke("solve", record, *flags)
        assert says in solved.stdout and "searching with 8 visits" in solved.stderr
        assert f"\n(;{first[0].upper()}[aa]" in target.read_text()


def test_warmup_says_when_it_is_ready() -> None:
    assert re.fullmatch(r"Ready after \d+\.\d s\.\n", invoke("warmup", "--search", "rave").stdout)


def test_importing_the_command_line_loads_nothing_heavy() -> None:
    heavy = {"numpy", "numba", "onnxruntime", "rich", "torch"}
    code = f"import gtp_engine.cli, sys; print(sorted({heavy} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("command", [["gtp", "--search", "uct"], ["score", "-"], ["review", "-"]])
def test_a_closed_stdin_is_empty(command: list[str]) -> None:
    shell = ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "gtp_engine", *command]
    closed = subprocess.run(shell, capture_output=True, text=True, check=False)
    empty = subprocess.run(shell[4:], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert "Traceback" not in closed.stderr
    assert (closed.returncode, closed.stdout) == (empty.returncode, empty.stdout)


def test_an_interrupted_command_says_so_and_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gtp_engine.people.doctor.examine", interrupted)
    result = invoke("doctor")
    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    monkeypatch.delitem(sys.modules, "gtp_engine.people.web.bridge", raising=False)
    result = invoke("connect", "localhost")
    assert (result.exit_code, result.stdout) == (2, "")
    assert re.fullmatch(r"Error: this command needs aiohttp; run `.* aiohttp`\n", result.stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
@pytest.mark.parametrize(
    "command", [["--version"], ["version"], ["--help"], ["config"], ["models", "list"], ["doctor"]]
)
def test_a_full_disk_gets_one_sentence(command: list[str]) -> None:
    with open("/dev/full", "w") as output:
        run = [sys.executable, "-m", "gtp_engine", *command]
        done = subprocess.run(run, stdout=output, stderr=subprocess.PIPE, text=True, timeout=bound(60), check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "Error: the output: No space left on device"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["--version", "config"])
def test_a_reader_that_has_gone_is_no_reason_to_complain(command: str) -> None:
    run = subprocess.Popen(
        [sys.executable, "-m", "gtp_engine", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert run.stdout is not None and run.stderr is not None
    run.stdout.close()
    assert run.stderr.read() == b""
    run.stderr.close()
    assert run.wait(bound(60)) == 1
