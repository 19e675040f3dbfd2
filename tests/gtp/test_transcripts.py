"""The commands of each front end, replayed against the engine: every byte of the replies is compared."""

from pathlib import Path
from typing import Any

import pytest
from fake_evaluators import FakeEvaluator
from gtp.transcripts import Transcript, read_transcript, replay, replay_file

from gtp_engine.engine import Engine

FILES = sorted((Path(__file__).parent.parent / "data" / "gtp").glob("*.gtp"))


def make_engine(transcript: Transcript) -> Any:
    return Engine(transcript.config, log=print, evaluator=FakeEvaluator() if transcript.has_network else None)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_transcript(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for record in path.parent.glob("*.sgf"):
        (tmp_path / record.name).write_bytes(record.read_bytes())
    replay_file(path, make_engine)


@pytest.mark.parametrize(
    "text",
    [
        "> name\n= Leela\n",
        "> name\n= Tengen\n> \n= Tengen\n",
        "> name\n",
        "> list_commands\n= <vertex>\n",
        "> 1 name\n= Tengen\n",
        "> name\n=Tengen\n",
    ],
)
def test_a_wrong_transcript_fails(text: str) -> None:
    with pytest.raises(AssertionError, match=r"expected|more output"):
        replay(read_transcript(text), make_engine)
