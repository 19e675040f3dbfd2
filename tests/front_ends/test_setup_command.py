"""The command `gtp-engine setup`: asking, dry runs, the engine's options."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gtp_engine.cli import cli
from gtp_engine.people.front_ends import engine_program


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "settings.json"
    path.write_text('{"engines.list": []}')
    return path


def run(*arguments: str, answer: str = "") -> Result:
    return CliRunner().invoke(cli, ["setup", *arguments], input=answer, prog_name="gtp-engine")


def sabaki(settings: Path, *arguments: str, answer: str = "") -> Result:
    return run("sabaki", "--file", str(settings), "--command", "/opt/gtp-engine", *arguments, answer=answer)


def engines(settings: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(settings.read_text())["engines.list"]
    return found


def test_an_existing_file_is_changed_only_after_a_yes(settings: Path) -> None:
    for answer, count in (("", 0), ("n\n", 0), ("y\n", 1)):
        result = sabaki(settings, answer=answer)
        assert (result.exit_code != 0, len(engines(settings))) == (count == 0, count)
        assert ("--yes changes the files without asking" in result.stderr) == (count == 0)
    assert "Backup: " in result.stdout and "Sabaki is set up." in result.stdout
    assert sabaki(settings).stdout == "Sabaki is already set up.\n"


def test_yes_and_dry_run_do_not_ask(settings: Path) -> None:
    result = sabaki(settings, "--dry-run")
    assert (result.exit_code, engines(settings)) == (0, [])
    assert '+      "name": "Tengen",' in result.stdout
    assert sabaki(settings, "--yes", "--label", "My engine").exit_code == 0
    assert engines(settings)[0]["name"] == "My engine"


def test_the_engines_options_become_arguments(settings: Path) -> None:
    (settings.parent / "net.onnx").touch()
    flags = ["--model", "net.onnx", "--human-model", "best", "--level", "5k", "--no-resign", "--ponder"]
    sabaki(settings, "--yes", *flags)
    model = (settings.parent / "net.onnx").as_posix()
    words = engines(settings)[0]["args"].split()
    assert sorted(words) == sorted(["--model", model, *flags[2:]])
    assert words[words.index("--model") + 1] == model


def test_the_log_is_given_in_full_although_it_does_not_exist_yet(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program, which starts the engine in another folder, wrote it there or nowhere."""
    home = settings.parent / "home"
    monkeypatch.setenv("USERPROFILE" if sys.platform == "win32" else "HOME", str(home))
    sabaki(settings, "--yes", "--log", "tengen.log", "--model", "best")
    assert engines(settings)[0]["args"] == f"--model best --log {(settings.parent / 'tengen.log').as_posix()}"
    sabaki(settings, "--yes", "--log", "~/tengen.log")
    assert engines(settings)[0]["args"] == f"--log {(home / 'tengen.log').as_posix()}"


def test_options_of_analyses_are_written_for_katrain() -> None:
    result = run("katrain", "--print", "--command", "/opt/gtp-engine", "--analysis-visits", "100", "--model", "best")
    assert "analysis --model best --analysis-visits 100\n" in result.stdout


def test_print_writes_nothing(settings: Path) -> None:
    result = run("cgos", "--print", "--command", "/opt/gtp-engine", "--visits", "100")
    assert "  CommandLine = /opt/gtp-engine --rules cgos --visits 100\n" in result.stdout
    bot = run("ogs", "--print", "--command", "/x").stdout
    assert '"--rules",\n            "chinese-ogs",\n            "--ogs-chat"' in bot, "with the server's rules and chat"
    assert run("ogs", "--print", "--rules", "japanese", "--command", "/x").stdout.count("japanese") == 1
    assert list(settings.parent.iterdir()) == [settings]


def test_new_files_need_no_question(settings: Path) -> None:
    assert run("kgs", "--command", "/opt/gtp-engine").exit_code == 0
    assert "engine=/opt/gtp-engine\n" in (settings.parent / "kgs.properties").read_text()


@pytest.mark.usefixtures("no_home")
def test_a_user_without_home_directory_gets_a_bots_file(settings: Path) -> None:
    assert run("ogs", "--command", "/opt/gtp-engine").exit_code == 0
    assert (settings.parent / "gtp2ogs.json5").exists()
    assert sabaki(settings, "--yes").exit_code == 0
    for program in ("sabaki", "gogui", "katrain"):
        refused = run(program, "--command", "/opt/gtp-engine")
        assert (refused.exit_code, "there is no home directory; name the settings" in refused.stderr) == (2, True)


def test_the_command_is_the_full_path_of_this_installation() -> None:
    program = Path(engine_program())
    assert program.is_absolute() and program.is_file() and program.stem == "gtp-engine"
