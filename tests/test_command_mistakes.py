r"""What commands say of mistakes: replayed from transcripts in `data/commands`, blank lines between stories.

    ; what this is about                a comment
    ;needs torch                        the story is left out where this package is missing
    ;file game.sgf (;SZ[9])             a file in the folder in which the commands are given; \n is the end of a line
    ;folder games                       a folder in it
    ;network tiny.bin.gz                a network of KataGo's
    ;wheel other.whl other/__init__.py  a package of one empty file
    ;owned place games.jsonl            another process writes to this folder, or only to the file in it
    $ gtp-engine match --alpha 0.1      a command
    ! Error: --alpha and --beta belong to --sprt ELO0 ELO1      what it says

A command that refuses something ends with status 2, has nothing on its standard output, and leaves all files as they
are.  In texts `<any>` stands for any text; quotation marks and ends of lines, which click sets by itself, do not count.
"""

import contextlib
import re
import shlex
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from nn.katago_files import NetworkFile

from gtp_engine.base.files import owning
from gtp_engine.cli import cli

FOLDER = Path(__file__).parent / "data" / "commands"
STORIES = {
    f"{path.stem}: {text.partition(chr(10))[0].removeprefix('; ')}": text
    for path in sorted(FOLDER.glob("*.txt"))
    for text in path.read_text("utf-8").strip().split("\n\n")
}


def prepare(words: str) -> contextlib.AbstractContextManager[None]:
    """Make what a line names in the current folder; return a context that lasts for the story."""
    kind, name, *rest = words.split(" ", 2)
    if kind == ";needs":
        pytest.importorskip(name)
    elif kind == ";folder":
        Path(name).mkdir()
    elif kind == ";file":
        Path(name).write_text("".join(rest).replace("\\n", "\n"), encoding="utf-8")
    elif kind == ";network":
        Path(name).write_bytes(NetworkFile(15).bytes(gzipped=True))
    elif kind == ";wheel":
        with zipfile.ZipFile(name, "w") as archive:
            archive.writestr(rest[0], "")
    elif kind == ";owned":
        return owning(Path(name), file=rest[0] if rest else None)
    else:
        assert kind == ";", words
    return contextlib.nullcontext()


def said(command: str) -> str:
    """Return what a command says from "Error: " on; AssertionError if it does anything else."""
    before = {path: path.is_file() and path.read_bytes() for path in Path.cwd().rglob("*")}
    name, *words = shlex.split(command)
    result = CliRunner().invoke(cli, words, prog_name=name)
    assert (result.exit_code, result.stdout) == (2, ""), f"{command}\n{result.output}"
    assert {path: path.is_file() and path.read_bytes() for path in Path.cwd().rglob("*")} == before, command
    usage, error, text = " ".join(result.stderr.split()).partition("Error: ")
    assert re.fullmatch("(Usage: .*)?", usage), f"{command} begins with something\n{usage}"
    return error + text


def is_like(got: str, expected: str) -> bool:
    pattern = re.escape(expected.replace("'", "")).replace("<any>", ".*")
    return re.fullmatch(pattern, got.replace("'", "")) is not None


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_mistakes(story: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENGEN_DATA_DIR", str(tmp_path))
    got = ""
    with contextlib.ExitStack() as stack:
        for line in story.splitlines():
            if line.startswith("$ "):
                got = said(line.removeprefix("$ "))
            elif line.startswith("! "):
                assert is_like(got, line.removeprefix("! ")), f"{line}\ngot: {got}"
            else:
                stack.enter_context(prepare(line))
