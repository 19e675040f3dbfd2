"""KataGo's command line: the forms in which programs start `katago`, its files, and the commands beside `gtp`."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from busy_machine import bound
from click.testing import CliRunner, Result
from nn.katago_files import NetworkFile

import gtp_engine
from gtp_engine import Config, ModelError, __version__
from gtp_engine.cli import cli
from gtp_engine.config import NetworkConfig
from gtp_engine.nn.evaluators import with_imported_model
from gtp_engine.nn.metadata import read_metadata
from gtp_engine.nn.named_networks import user_folder
from gtp_engine.nn.onnx_export.convert import imported_copy


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty current folder; that of the user's networks is in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENGEN_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


def run(line: str, text: str | None = None) -> Result:
    """Return the result of a command line; no argument of it has blanks."""
    return CliRunner().invoke(cli, line.split(), prog_name="gtp-engine", input=text)


@pytest.fixture
def started(here: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[Config, str]]:
    """Return a function that returns configuration and log of the server that a command line starts."""
    configs: list[Config] = []

    def serve(config: Config, *_: Any, **__: Any) -> int:
        configs.append(config)
        return 0

    monkeypatch.setattr("gtp_engine.protocols.gtp.session.serve", serve)
    monkeypatch.setattr("gtp_engine.protocols.analysis.server.serve", serve)

    def start(line: str) -> tuple[Config, str]:
        result = run(line)
        assert result.exit_code == 0, result.output
        return configs.pop(), result.stderr

    return start


# --- the forms


FORMS = {
    "KataGo's README, LizzieYzy: gtp": "gtp -model n.bin.gz -config gtp.cfg",
    "KataGo's README: human-like": "gtp -model n.bin.gz -human-model h.bin.gz -config gtp.cfg",
    "KataGo's README: analysis": "analysis -model n.gz -config a.cfg",
    "Analysis_Engine.md": "analysis -config a.cfg -model n.bin.gz",
    "two hyphens": "gtp --model n.bin.gz --config gtp.cfg --override-config maxVisits=9",
    "several files": "gtp -model n.bin.gz -config gtp.cfg -config more.cfg",
    "KaTrain 1.20": "analysis -model n.bin.gz -human-model h.bin.gz -config a.cfg -override-config homeDataDir=/home",
    "Ogatak": "analysis -config a.cfg -model n.bin.gz -quit-without-waiting",
    "LizzieYzy: analysis": "analysis -model n.bin.gz -config a.cfg -quit-without-waiting "
    "-override-config numSearchThreadsPerAnalysisThread=3",
    "several overrides": "gtp -model n.gz -config gtp.cfg -override-config maxVisits=8 -override-config maxVisits=9",
    "a version for Lizzie": "gtp -model n.bin.gz -config gtp.cfg -override-version 0.17",
    "no command": "-model n.bin.gz -config gtp.cfg",
}


@pytest.mark.parametrize("line", FORMS.values(), ids=FORMS)
def test_forms_in_which_katago_is_started(started: Callable[[str], tuple[Config, str]], here: Path, line: str) -> None:
    (here / "gtp.cfg").write_text("rules = japanese\nmaxVisits = 7\nnumSearchThreads = 6\nlogDir = logs\n")
    (here / "a.cfg").write_text("maxVisits = 700\nnumAnalysisThreads = 2\nlogDir = logs\n")
    (here / "more.cfg").write_text("maxVisits = 5\n")
    config, log = started(line)
    assert (config.network.model or "").startswith("n.")
    assert config.network.human_model == ("h.bin.gz" if "-human-model" in line else None)
    if line.startswith("analysis"):
        assert (config.analysis.analysis_visits, config.analysis.parallel) == (700, 4)
        assert "numAnalysisThreads" in log
    else:
        visits = 9 if "maxVisits=9" in line else 5 if "more.cfg" in line else 7
        assert (config.search.visits, config.game.rules) == (visits, "japanese")
        assert "numSearchThreads (--network-threads" in log
    assert "WARNING" not in log
    assert not (here / "logs").exists()


def test_files_of_both_kinds_and_flags_in_their_order(started: Callable[[str], tuple[Config, str]], here: Path) -> None:
    (here / "Ours.TOML").write_text("[search]\nvisits = 1\n[time]\nlag = 3.0\n[puct]\nlcb = false\n")
    (here / "gtp.cfg").write_text("maxVisits = 2\nlagBuffer = 2\nmaxTime = 2\n")
    config, _ = started("gtp --config Ours.TOML -config gtp.cfg -override-config maxTime=4 --lag 5")
    assert (config.search.visits, config.time.lag, config.time.max_time) == (2, 5.0, 4.0)
    assert not config.puct.lcb


def test_an_analysis_takes_them_in_the_same_order(started: Callable[[str], tuple[Config, str]], here: Path) -> None:
    (here / "a.cfg").write_text("maxVisits = 1\nmaxTime = 1\nanalysisPVLen = 1\nreportAnalysisWinratesAs = WHITE\n")
    overrides = "-override-config homeDataDir=/home/me/.katrain,maxTime=2,analysisPVLen=2"
    config, log = started(f"analysis -config a.cfg -analysis-threads 12 {overrides} --pv-length 3")
    analysis = config.analysis
    assert (analysis.analysis_visits, analysis.analysis_time, analysis.pv_length) == (1, 2.0, 3)
    assert (analysis.parallel, analysis.perspective) == (12, "white")
    assert "homeDataDir (the variable TENGEN_DATA_DIR)" in log


@pytest.mark.parametrize(
    ("line", "komi"),
    [
        ("gtp", None),
        ("gtp --override-config maxVisits=9", 7.5),
        ("gtp -config files/a.cfg", 7.5),
        ("gtp -override-config rules=japanese", 6.5),
        ("gtp -override-config maxVisits=9 --komi 5.5", 5.5),
        ("gtp -override-config maxVisits=9 --komi 0", 0),
    ],
)
def test_the_komi_is_katagos_on_every_board_where_its_configuration_is_read(
    started: Callable[[str], tuple[Config, str]], here: Path, line: str, komi: float | None
) -> None:
    (here / "files").mkdir(exist_ok=True)
    (here / "files" / "a.cfg").write_text("rules = chinese\n")
    assert started(line)[0].game.komi == komi


@pytest.mark.parametrize(
    ("line", "name", "version"),
    [
        ("gtp", "Tengen", None),
        ("gtp --model n.onnx", "Tengen", None),
        ("gtp -model n.bin.gz", "KataGo-compatible Tengen", None),
        ("gtp -model n.bin.gz -override-version 1.9", "KataGo-compatible Tengen", "1.9"),
        ("gtp -model n.bin.gz --name Other --version 2", "Other", "2"),
    ],
)
def test_programs_that_ask_for_katago_are_told_that_they_may_go_on(
    started: Callable[[str], tuple[Config, str]], line: str, name: str, version: str | None
) -> None:
    """Lizzie looks for the word KataGo at the beginning, LizzieYzy for kata, and both for a number in the version."""
    config, _ = started(line)
    assert (config.gtp.name, config.gtp.version) == (name, version)


def test_a_program_named_katago_uses_the_files_beside_it(
    started: Callable[[str], tuple[Config, str]], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = here / "KataGo"
    folder.mkdir()
    (folder / "default_gtp.cfg").write_text("maxVisits = 3\n")
    (folder / "default_model.bin.gz").write_bytes(b"")
    (folder / "other.bin.gz").write_bytes(b"")
    shutil.copytree(folder, here / "home" / ".katago")
    assert started("gtp")[0].network.model is None
    monkeypatch.setattr(sys, "argv", [str(folder / "KataGo"), "gtp"])
    config, _ = started("gtp")
    assert (config.network.model, config.search.visits) == (str(folder / "default_model.bin.gz"), 3)
    assert config.gtp.name.startswith("KataGo")
    assert started("gtp -model default_model.bin.gz")[0].network.model == str(folder / "default_model.bin.gz")
    (here / "other.bin.gz").write_bytes(b"")
    assert started("gtp -model other.bin.gz")[0].network.model == "other.bin.gz"
    config, _ = started("analysis")
    assert (config.network.model, config.analysis) == (str(folder / "default_model.bin.gz"), Config().analysis)
    shutil.rmtree(folder)
    assert started("gtp")[0].network.model == str(here / "home" / ".katago" / "default_model.bin.gz")


# --- networks in KataGo's format


def test_a_network_of_katagos_is_imported_once_and_found_again(here: Path) -> None:
    lines: list[str] = []
    source = here / "default_model.bin.gz"
    source.write_bytes(NetworkFile(15).bytes(gzipped=True))
    copy = imported_copy(source, log=lines.append)
    assert (len(lines), copy.parent) == (2, user_folder())
    assert read_metadata(copy).origin == "default_model.bin.gz"
    written = copy.stat().st_mtime_ns
    assert imported_copy(source, log=lines.append) == copy
    moved = here / "elsewhere.bin.gz"
    shutil.copy(source, moved)
    assert imported_copy(moved, log=lines.append) == copy, "by content"
    assert (copy.stat().st_mtime_ns, len(lines)) == (written, 2)
    assert with_imported_model(NetworkConfig(model=str(source))).model == str(copy)
    source.write_bytes(NetworkFile(16).bytes(gzipped=True))
    other = imported_copy(source, log=lines.append)
    assert other != copy and len(lines) == 4, "another network of the same name"
    copy.write_bytes(b"damaged")
    assert (imported_copy(moved, log=lines.append).stem, len(lines)) == ("elsewhere" + copy.stem[-9:], 6)


def test_the_file_is_not_read_again_while_it_is_the_same(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = here / "net.bin.gz"
    source.write_bytes(NetworkFile(15).bytes(gzipped=True))
    copy = imported_copy(source, log=print)
    monkeypatch.setattr("gtp_engine.nn.onnx_export.convert.sha256_of", None)
    assert imported_copy(source, log=print) == copy
    os.utime(source, ns=(1, 1))
    with pytest.raises(TypeError):
        imported_copy(source, log=print)


def test_a_damaged_file_leaves_nothing_behind(here: Path) -> None:
    (here / "net.bin.gz").write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"^net\.bin\.gz: "):
        imported_copy(here / "net.bin.gz", log=print)
    assert not user_folder().exists()


@pytest.mark.parametrize("model", ["missing.bin.gz", "net.onnx", "b18", None])
def test_other_names_stay_as_they_are(here: Path, model: str | None) -> None:
    (here / "net.onnx").write_bytes(b"")
    assert with_imported_model(NetworkConfig(model=model)).model == model


# --- the other commands


def test_version() -> None:
    assert run("version").output == (
        f"gtp-engine {__version__}\nAccepts the command line and config files of KataGo 1.17.2.\n"
    )


@pytest.mark.parametrize(
    "line",
    ["help", "-help", "--help", "-h", "gtp -help", "gtp -h", "analysis -help", "benchmark -help", "genconfig -help"],
)
def test_help_as_katago_is_asked_for_it(line: str) -> None:
    assert "Usage: gtp-engine" in run(line).output


def test_benchmark_as_katago_is_asked_for_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr("gtp_engine.arena.benchmark.run_benchmark", lambda **values: asked.update(values) or {})
    line = "benchmark -model n.onnx -config gtp.cfg -v 800 -threads 1,2 -n 3 -time 5 -tune -override-config a=b --json"
    result = run(line)
    assert (result.exit_code, result.stdout) == (0, "{}\n"), result.output
    assert asked["network"].model == "n.onnx"
    assert result.stderr == (
        "Without effect here: config, visits, threads, numpositions, time, tune, override_config; the benchmark tries "
        "threads and batch sizes by itself, with positions of its own.\n"
    )


@pytest.mark.parametrize(
    ("answers", "settings"),
    [
        ("japanese\nn\n\nn\n", {"rules": "japanese", "ponderingEnabled": "false"}),
        ("no rules\naga\ny\nvisits\n\ny\n\n", {"maxVisits": "500", "maxTimePondering": "60.0"}),
        ("aga\ny\nplayouts\n0\n\nn\n", {"maxPlayouts": "300", "ponderingEnabled": "false"}),
        ("aga\ny\nseconds\n0\n\ny\n9\n", {"maxTime": "10.0", "maxTimePondering": "9.0"}),
    ],
)  # fmt: skip
def test_genconfig_writes_what_is_answered(
    started: Callable[[str], tuple[Config, str]], here: Path, answers: str, settings: dict[str, str]
) -> None:
    from gtp_engine.config.katago import read_katago_config

    result = run("genconfig -model n.bin.gz -output mine.cfg", answers)
    assert result.exit_code == 0, result.output
    assert result.output.endswith("Play with it: gtp-engine gtp -model n.bin.gz -config mine.cfg\n")
    expected = {"rules": "aga", "ponderingEnabled": "true", "allowResignation": "true"} | settings
    assert read_katago_config("mine.cfg") == expected
    assert "WARNING" not in started("gtp -config mine.cfg")[1]
    assert "Replace it?" in run("genconfig -output mine.cfg", "n\n").output
    assert read_katago_config("mine.cfg") == expected


def test_genconfig_without_answers_writes_nothing(here: Path) -> None:
    assert run("genconfig", "").exit_code == 130
    assert not (here / "gtp.cfg").exists()


# --- programs, replayed

LIZZIEYZY = (Path(__file__).parent / "data" / "katago" / "lizzieyzy.gtp").read_text("utf-8").strip()
"""What LizzieYzy sends to KataGo at its start, and then to analyse, to play and to show a policy (`Leelaz.java`)."""


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_lizzieyzy_meets_katago_behind_a_link_of_that_name(here: Path) -> None:
    (here / "default_model.bin.gz").write_bytes(NetworkFile(15).bytes(gzipped=True))
    (here / "katago.cfg").write_text("rules = japanese\nmaxVisits = 20\nnumSearchThreads = 4\nlogDir = logs\n")
    program = here / "katago"
    program.write_text(f"#!{sys.executable}\nfrom gtp_engine.cli import main\nmain()\n")
    program.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(Path(gtp_engine.__file__).parent.parent)}
    command = [str(program), "gtp", "-model", "default_model.bin.gz", "-config", "katago.cfg"]
    done = subprocess.run(command, input=LIZZIEYZY, capture_output=True, text=True, env=environment, timeout=bound(300))
    replies = done.stdout.split("\n\n")[:-1]
    assert done.returncode == 0, done.stderr
    assert len(replies) == len(LIZZIEYZY.split("\n"))
    assert all(reply.startswith("=") for reply in replies), done.stdout
    name, version = (reply.split()[1] for reply in replies[:2])
    assert name.lower().startswith("kata") and int(version.split(".")[1]) > 10  # how LizzieYzy reads them
    assert {"kata-analyze", "kata-genmove_analyze", "kata-raw-nn", "stop"} <= set(replies[2].split())
    assert "\nplay " in replies[14] and "info move" in replies[14] and "ownership" in replies[14]
    assert "Imported as" in done.stderr and "numSearchThreads (" in done.stderr
    assert not (here / "logs").exists()
