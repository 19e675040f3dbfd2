"""What `gtp-engine setup` writes for each program: everything else is kept, damaged files are left alone."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gtp_engine.base.errors import ConfigError
from gtp_engine.people.front_ends import FRONT_ENDS, Change, EngineCommand, apply, difference, programs
from gtp_engine.people.front_ends.front_end import quoted

COMMAND = EngineCommand("/opt/my engine/gtp-engine", ("--model", "/nets/a b.onnx", "--level", "5k"), platform="linux")
SIMPLE = EngineCommand("/opt/gtp-engine", ("--level", "5k"), platform="linux")
FILES = {
    "sabaki": ".config/Sabaki/settings.json", "gogui": ".gogui-prefs", "katrain": ".katrain/config.json",
    "lizzie": "config.txt", "ogs": "gtp2ogs.json5", "kgs": "kgs.properties", "cgos": "cgos.cfg"
}  # fmt: skip


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have home and the current folder where the test's files are, as on Linux."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(programs, "sys", SimpleNamespace(platform="linux"))
    for name in ("APPDATA", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


def change(name: str, command: EngineCommand, file: Path | None = None) -> Change:
    return FRONT_ENDS[name].change(command, (file or FRONT_ENDS[name].usual_file()).absolute())


def set_up(name: str, command: EngineCommand = COMMAND, file: Path | None = None) -> Any:
    """Write a program's configuration and return the backup, None without an older file."""
    return apply(change(name, command, file))


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


SABAKI_ENTRY = {"name": "Tengen", "path": COMMAND.program, "args": '--model "/nets/a b.onnx" --level 5k'}
SABAKI_OTHERS = [{"name": "GNU Go", "path": "/usr/games/gnugo", "args": "--mode gtp", "commands": "komi 7"}]


class TestSabaki:
    def test_an_entry_is_added_and_everything_else_is_kept(self, tmp_path: Path) -> None:
        path = write(tmp_path / FILES["sabaki"], {"a": "ü", "engines.list": SABAKI_OTHERS, "z": [1.5]})
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())  # as Notepad saves it
        backup = set_up("sabaki")
        expected = {"a": "ü", "engines.list": [{**SABAKI_ENTRY, "commands": ""}, *SABAKI_OTHERS], "z": [1.5]}
        assert json.loads(path.read_text(encoding="utf-8")) == expected
        assert list(json.loads(path.read_text(encoding="utf-8"))) == ["a", "engines.list", "z"]
        assert json.loads(backup.read_text(encoding="utf-8-sig"))["engines.list"] == SABAKI_OTHERS

    def test_an_older_entry_is_replaced_in_its_place(self, tmp_path: Path) -> None:
        older = {"name": "Tengen", "path": "/old", "args": "", "commands": "x", "id": 7}
        path = write(tmp_path / FILES["sabaki"], {"engines.list": [*SABAKI_OTHERS, older]})
        set_up("sabaki")
        assert json.loads(path.read_text())["engines.list"][1] == {**SABAKI_ENTRY, "commands": "x", "id": 7}
        again = change("sabaki", COMMAND)
        assert again.old == again.new, "a second time changes nothing"

    @pytest.mark.parametrize(
        ("platform", "variable", "folder"),
        [
            ("linux", None, ".config/Sabaki"), ("linux", "XDG_CONFIG_HOME", "own/Sabaki"),
            ("darwin", None, "Library/Application Support/Sabaki"),
            ("win32", None, "AppData/Roaming/Sabaki"), ("win32", "APPDATA", "own/Sabaki"),
        ],
    )  # fmt: skip
    def test_the_folder_is_the_platforms(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, variable: str | None, folder: str
    ) -> None:
        monkeypatch.setattr(programs, "sys", SimpleNamespace(platform=platform))
        if variable is not None:
            monkeypatch.setenv(variable, str(tmp_path / "own"))
        (tmp_path / folder).mkdir(parents=True)
        assert set_up("sabaki") is None
        assert (tmp_path / folder / "settings.json").is_file()

    def test_a_sabaki_whose_settings_are_elsewhere_is_not_set_up(self, tmp_path: Path) -> None:
        """A portable build for Windows and Flatpak have other folders, and read no file in this one."""
        with pytest.raises(ConfigError, match=r"no folder .*Sabaki.*--file FILE, or enter by hand what --print shows"):
            set_up("sabaki")
        assert [*tmp_path.rglob("*")] == []
        set_up("sabaki", file=tmp_path / "portable" / "settings.json")
        assert (tmp_path / "portable" / "settings.json").is_file()


KATRAIN = {"general": {"version": "1.20.0"}, "engine": {"backend": "", "katago": "x", "altcommand": ""}, "ai": {}}


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (COMMAND, "exec '/opt/my engine/gtp-engine' analysis --model '/nets/a b.onnx' --level 5k"),
        (EngineCommand("C:\\my engine\\g.exe", platform="win32"), '"C:\\my engine\\g.exe" analysis'),
    ],
)
def test_in_katrain_the_engine_is_the_custom_command(tmp_path: Path, command: EngineCommand, line: str) -> None:
    path = write(tmp_path / ".katrain/config.json", KATRAIN)
    set_up("katrain", command)
    engine = {"backend": "custom", "katago": "x", "altcommand": line}
    assert json.loads(path.read_text()) == {**KATRAIN, "engine": engine}


class TestLizzie:
    def settings(self, *commands: str) -> dict[str, Any]:
        return {"leelaz": {"engine-command": "./leelaz", "engine-command-list": list(commands)}, "ui": {"x": 1}}

    def commands(self, home: Path) -> list[str]:
        found = json.loads((home / "config.txt").read_text())
        assert (found["leelaz"]["engine-command"], found["ui"]) == ("./leelaz", {"x": 1})
        return list(found["leelaz"]["engine-command-list"])

    def test_without_its_first_engine_lizzie_does_not_start_so_ours_is_the_first(self, tmp_path: Path) -> None:
        path = write(tmp_path / "config.txt", self.settings("a"))
        for command in (SIMPLE, EngineCommand("/opt/gtp-engine")):
            set_up("lizzie", command)
            leelaz = json.loads(path.read_text())["leelaz"]
            assert leelaz == {"engine-command": " ".join(command.words), "engine-command-list": ["a"]}

    def test_a_first_engine_is_kept_where_it_can_start(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        python = Path(sys.executable)
        monkeypatch.setenv("PATH", str(python.parent))
        (tmp_path / "a b").touch()
        (tmp_path / "k.exe").touch()
        for line in ('"./a b" --gtp', "k x", f'"{python}" x', f"{python.name} x"):
            settings = self.settings()
            settings["leelaz"]["engine-command"] = line
            write(tmp_path / "config.txt", settings)
            set_up("lizzie", SIMPLE)
            assert json.loads((tmp_path / "config.txt").read_text())["leelaz"]["engine-command"] == line
        set_up("lizzie", EngineCommand(python.name, ("--new",)))
        assert json.loads((tmp_path / "config.txt").read_text())["leelaz"]["engine-command"] == f"{python.name} --new"

    @pytest.mark.parametrize(
        ("before", "number"), [((), 0), (("a",), 1), (("a", " ", "c"), 1), (("a", "/opt/gtp-engine --x"), 1)]
    )
    def test_the_command_gets_a_place_of_its_own(self, tmp_path: Path, before: tuple[str, ...], number: int) -> None:
        (tmp_path / "leelaz").touch()
        write(tmp_path / "config.txt", self.settings(*before))
        set_up("lizzie", SIMPLE)
        after = self.commands(tmp_path)
        assert after[number] == "/opt/gtp-engine --level 5k"
        assert after[:number] + after[number + 1 :] == [*before[:number], *before[number + 1 :]]

    def test_nine_engines_are_the_most(self, tmp_path: Path) -> None:
        (tmp_path / "leelaz").touch()
        write(tmp_path / "config.txt", self.settings(*"abcdefghi"))
        with pytest.raises(ConfigError, match="has 9 engines"):
            set_up("lizzie")

    def test_blanks_are_quoted(self) -> None:
        line = '"/opt/my engine/gtp-engine" --model "/nets/a b.onnx" --level 5k'
        assert FRONT_ENDS["lizzie"].printed(COMMAND) == f"Engine command: {line}"
        assert quoted(("a b", "", "c")) == '"a b" "" c'
        with pytest.raises(ConfigError, match="expected no double quote"):
            quoted(('a"b',))


class TestGoGui:
    PREFIX = "net.sf.gogui.gui.program."

    def programs(self, home: Path) -> list[str]:
        lines = (home / ".gogui-prefs").read_text(encoding="utf-8").splitlines()
        return [line.removeprefix(self.PREFIX) for line in lines if line.startswith(self.PREFIX)]

    def test_a_program_is_added(self, tmp_path: Path) -> None:
        set_up("gogui")
        assert self.programs(tmp_path) == [
            "size=1", '0.command=\\"/opt/my engine/gtp-engine\\" --model \\"/nets/a b.onnx\\" --level 5k',
            "0.label=Tengen", "0.name=Tengen", "0.version=", "0.working-directory="
        ]  # fmt: skip

    def test_the_rest_is_kept_and_an_older_program_of_ours_is_replaced(self, tmp_path: Path) -> None:
        write(tmp_path / ".gogui-prefs", "#FilePreferences\nnet.sf.gogui.gogui.imagesize=24\n")
        set_up("gogui")
        set_up("gogui", EngineCommand("/gnugo", label="GNU Go"))
        path = tmp_path / ".gogui-prefs"
        path.write_text(path.read_text().replace("0.version=", "0.version=2"))
        set_up("gogui", SIMPLE)
        found = self.programs(tmp_path)
        wanted = {"size=2", "0.version=2", "1.command=/gnugo", "0.command=/opt/gtp-engine --level 5k"}
        assert wanted < set(found) and len(found) == 11
        text = (tmp_path / ".gogui-prefs").read_text()
        assert text.startswith("#FilePreferences\nnet.sf.gogui.gogui.imagesize=24\n")

    @pytest.mark.parametrize("size", ["x", "999999999"])
    def test_a_damaged_file_is_refused(self, tmp_path: Path, size: str) -> None:
        path = write(tmp_path / ".gogui-prefs", f"{self.PREFIX}size={size}\n")
        with pytest.raises(ConfigError, match="expected a number up to 1000"):
            set_up("gogui")
        assert path.read_text() == f"{self.PREFIX}size={size}\n"


FILLED_IN = {
    "ogs": ('apikey: "FILL ME IN"', 'apikey: "k3y"'),
    "kgs": ("password=FILL ME IN", "password=s3cret\nrules.time=5:00"),
    "cgos": ("ServerPassword = FILL_ME_IN", "ServerPassword = s3cret"),
}


class TestServers:
    def test_ogs_names_every_word_of_the_command(self, tmp_path: Path) -> None:
        set_up("ogs")
        text = (tmp_path / "gtp2ogs.json5").read_text()
        assert '"/opt/my engine/gtp-engine",\n            "--model",\n            "/nets/a b.onnx"' in text
        assert 'apikey: "FILL ME IN"' in text

    @pytest.mark.parametrize(
        ("name", "line"),
        [("kgs", "engine=/opt/gtp-engine --level 5k"), ("cgos", "  CommandLine = /opt/gtp-engine --level 5k")],
    )
    def test_kgs_and_cgos(self, tmp_path: Path, name: str, line: str) -> None:
        set_up(name, SIMPLE)
        assert line in (tmp_path / FILES[name]).read_text().splitlines()
        for program in ("/opt/my engine/gtp-engine", "/opt/o'neil/gtp-engine"):
            with pytest.raises(ConfigError, match=r"cannot pass on .*/opt/"):
                set_up(name, EngineCommand(program))

    @pytest.mark.parametrize(
        ("program", "line"),
        [
            ("C:\\go\\gtp-engine.exe", "engine=C:\\\\go\\\\gtp-engine.exe\n"),
            ("/home/jörg/gtp-engine", "engine=/home/j\\u00f6rg/gtp-engine\n"),
        ],
    )
    def test_properties_are_escaped(self, program: str, line: str) -> None:
        assert line in FRONT_ENDS["kgs"].printed(EngineCommand(program))

    @pytest.mark.parametrize("name", FILLED_IN)
    def test_a_second_time_keeps_what_the_user_filled_in(self, tmp_path: Path, name: str) -> None:
        """It proposed the file without the key or password."""
        path, (before, after) = tmp_path / FILES[name], FILLED_IN[name]
        set_up(name, SIMPLE)
        assert path.stat().st_mode & 0o777 == 0o600, "others can read the key or password"
        completed = write(path, path.read_text().replace(before, after)).read_text()
        assert after in completed
        again = change(name, SIMPLE)
        assert again.old == again.new == completed
        other = EngineCommand("/opt/gtp-engine", ("--level", "3d"), platform="linux")
        shown = difference(change(name, other))
        assert shown.startswith(f"--- {path}\n+++ {path}\n")
        assert "3d" in shown and "k3y" not in shown and "s3cret" not in shown
        set_up(name, other)
        assert path.read_text() == completed.replace("5k", "3d")

    @pytest.mark.parametrize(
        "line", ["password s3cret", "password\ts3cret", "password = s3cret", "engine=x --token s3cret"]
    )
    def test_the_difference_hides_secrets_in_every_form(self, tmp_path: Path, line: str) -> None:
        """Java's properties also separate a name and its value by a blank."""
        write(tmp_path / "kgs.properties", f"name bot\n{line}\nroom Computer Go\n")
        shown = difference(change("kgs", SIMPLE))
        assert "s3cret" not in shown
        assert "name bot" in shown and "room Computer Go" in shown

    @pytest.mark.parametrize(
        ("name", "old", "new"),
        [
            (
                "ogs",
                "{ // command: ['x']\n 'apikey': 'it\\'s', ending_bot: {command: []}, bot: /* 1 */ {command:['b']}}",
                "{ // command: ['x']\n 'apikey': 'it\\'s', ending_bot: {command: []}, bot: /* 1 */ {command:[\n"
                '            "/opt/gtp-engine",\n            "--level",\n            "5k"\n        ]}}',
            ),
            (
                "kgs",
                "#engine=1\r\nname: x\r\nengine : /old \\\r\n  --mode gtp\r\nenginex=2\r\n",
                "#engine=1\r\nname: x\r\nengine : /opt/gtp-engine --level 5k\r\nenginex=2\r\n",
            ),
            ("kgs", "engine=a\nengine=b\n", "engine=a\nengine=/opt/gtp-engine --level 5k\n"),
            ("kgs", "name=x\n", "name=x\n\nengine=/opt/gtp-engine --level 5k\n"),
            ("kgs", "\n", FRONT_ENDS["kgs"].printed(SIMPLE) + "\n"),
            (
                "cgos",
                "GTPEngine:\n#CommandLine=a\n CommandLine=b\n\nGTPEngine:\n CommandLine = /opt/gtp-engine\r\n x = 1",
                "GTPEngine:\n#CommandLine=a\n CommandLine=b\n\nGTPEngine:\n"
                " CommandLine = /opt/gtp-engine --level 5k\r\n x = 1",
            ),
        ],
    )
    def test_only_the_command_of_a_file_changes(self, tmp_path: Path, name: str, old: str, new: str) -> None:
        (tmp_path / FILES[name]).write_bytes(old.encode())
        set_up(name, SIMPLE)
        assert (tmp_path / FILES[name]).read_bytes().decode() == new

    @pytest.mark.parametrize(
        ("name", "text", "has"),
        [
            ("ogs", '{apikey: "k3y", bot: {manager: "pool"}, command: []}', "no list bot.command"),
            ("cgos", "Common:\n  CommandLine = x\n", "0 lines CommandLine in sections GTPEngine"),
            ("cgos", "GTPEngine:\nCommandLine = a\n" * 2, "2 lines CommandLine in sections GTPEngine"),
        ],
    )
    def test_a_file_without_a_place_for_the_command_is_left_alone(
        self, tmp_path: Path, name: str, text: str, has: str
    ) -> None:
        path = write(tmp_path / FILES[name], text)
        with pytest.raises(ConfigError, match=rf"{path.name}' has {has}: expected one engine's command; enter by hand"):
            set_up(name, SIMPLE)
        assert path.read_text() == text


BAD = {
    "empty": b"", "cut off": b'{"engines.list": [', "another kind": b"[1, 2]",
    "a key twice": b'{"leelaz": {}, "leelaz": {}, "engine": {}, "general": {}}',
    "wrong parts": b'{"engines.list": {}, "leelaz": 1, "engine": [], "general": {}}',
    "wrong entries": b'{"engines.list": [1], "leelaz": {"engine-command-list": [1]}, "engine": 1, "general": 1}',
    "deep": b"[" * 100_000, "bytes": b"\xff\xfe\x00",
}  # fmt: skip


@pytest.mark.parametrize("name", ["sabaki", "katrain", "lizzie"])
@pytest.mark.parametrize("kind", BAD)
def test_damaged_files_are_reported_and_left_alone(tmp_path: Path, name: str, kind: str) -> None:
    path, content = tmp_path / FILES[name], BAD[kind]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ConfigError) as error:
        set_up(name)
    assert path.name in str(error.value)
    assert path.read_bytes() == content
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(("name", "advice"), [("katrain", "start KaTrain once"), ("lizzie", "name the file: --file")])
def test_programs_without_settings_have_to_be_started_first(tmp_path: Path, name: str, advice: str) -> None:
    with pytest.raises(ConfigError, match=advice):
        set_up(name)
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link_and_rights_stay(tmp_path: Path) -> None:
    real = write(tmp_path / "dotfiles/sabaki.json", {})
    real.chmod(0o600)
    link = tmp_path / FILES["sabaki"]
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    set_up("sabaki")
    assert link.is_symlink() and "Tengen" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o600


def test_backups_replace_no_other_file(tmp_path: Path) -> None:
    write(tmp_path / FILES["sabaki"], {"first": 1})
    set_up("sabaki")
    second = set_up("sabaki", SIMPLE)
    assert second.name == "settings.json.backup2"
    (tmp_path / FILES["sabaki"]).write_bytes(second.read_bytes())
    assert set_up("sabaki", SIMPLE) == second, "the same content needs no other"
    assert "first" in second.with_name("settings.json.backup").read_text()


@pytest.mark.parametrize("name", FRONT_ENDS)
def test_every_front_end_has_something_to_say(name: str, tmp_path: Path) -> None:
    front_end = FRONT_ENDS[name]
    assert "/opt/gtp-engine" in front_end.printed(SIMPLE)
    steps = front_end.next_steps(SIMPLE, tmp_path / FILES[name])
    assert front_end.title and steps.endswith((".", "json5", "properties", "cfg"))


@pytest.mark.parametrize("name", ["ogs", "kgs", "cgos"])
def test_bots_are_warmed_up_with_their_own_options(name: str, tmp_path: Path) -> None:
    """A plain `gtp-engine warmup` compiles for a search with a network, whatever the bot's command says."""
    command = EngineCommand("/opt/my engine/gtp-engine", ("--search", "rave"), platform="linux")
    warmup = "(once: '/opt/my engine/gtp-engine' warmup --search rave)"
    assert warmup in FRONT_ENDS[name].next_steps(command, tmp_path / FILES[name])
