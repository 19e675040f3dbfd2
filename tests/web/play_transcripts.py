r"""Replays transcripts of `/play`: files with what a page sends and receives.

    ; what this is about                      a comment
    ;saved aaaaaaaaaaaaaaaa {"sgf":"(;SZ[9])"}    a game on the disk, with these values of `saved_game`
    ;restart                                  the server ends, and another one begins with the same games
    ;page two                                 the lines that follow are another page's; the first one is "one"
    ;files 0                                  so many games are on the disk now
    > {"do":"undo"}                           a line that is sent, as it is
    ? {"size":1}                              a line that is sent: the last one with these fields
    < {"type":"game","phase":"playing"}       the next of this type, with these fields (null: none)

A game is awaited until the engine does not think; messages of other types that come before are left out.  For texts
`<any>` stands for any text (alone for any value that is not empty), `<vertex>` for a vertex or pass, `<game>` for the
id of the game that was heard of last, `<base64 TEXT>` for TEXT in base 64, in UTF-8, or in another encoding as in
`<base64:cp932 TEXT>`.
"""

import base64
import contextlib
import json
import re
from pathlib import Path
from typing import Any, Final

from aiohttp import ClientWebSocketResponse
from busy_machine import bound
from web.serving import RolloutSource, saved_game, serving

from gtp_engine.people.web.saved_games import SavedGames

FOLDER: Final = Path(__file__).parent.parent / "data" / "play"

_PATTERNS: Final = {"<any>": ".*", "<vertex>": "(?:[A-HJ-Z][0-9]{1,2}|pass)"}


async def received(socket: ClientWebSocketResponse, kind: str = "game") -> dict[str, Any]:
    """Return the next message of a kind; a game is awaited until the engine does not think."""
    while True:
        message: dict[str, Any] = await socket.receive_json(timeout=bound(60))
        if message["type"] == kind and not message.get("thinking") and not message.get("is_engine_turn"):
            return message


class _Replay:
    """A transcript that is being replayed, with the games in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder: Final = folder
        self._game = ""
        self._sent: Any = None

    async def run(self, lines: list[str]) -> list[str]:
        """Follow the lines up to a restart with a server; return those that follow it."""
        async with serving(RolloutSource(), games=self._folder) as client, contextlib.AsyncExitStack() as stack:
            pages: dict[str, ClientWebSocketResponse] = {}
            page = "one"
            for place, line in enumerate(lines):
                kind, _, text = line.partition(" ")
                if kind == ";restart":
                    return lines[place + 1 :]
                if kind == ";saved":
                    name, _, values = text.partition(" ")
                    SavedGames(self._folder).save(name, saved_game(**json.loads(values)))
                elif kind == ";files":
                    assert len(list(self._folder.glob("*"))) == int(text)
                elif kind == ";page":
                    page = text
                elif kind in ("<", ">", "?"):
                    if page not in pages:
                        pages[page] = await stack.enter_async_context(client.ws_connect("/play"))
                    await self._follow(pages[page], kind, text)
                else:
                    assert not line or kind == ";", line
        return []

    async def _follow(self, socket: ClientWebSocketResponse, kind: str, text: str) -> None:
        """Send a line, or compare a message with it."""
        if kind != "<":
            values = _filled(text, self._game)
            self._sent = self._sent | values if kind == "?" else values
            await socket.send_str(self._sent if isinstance(self._sent, str) else json.dumps(self._sent))
            return
        expected = json.loads(text)
        got = await received(socket, expected["type"])
        if got["type"] == "game":
            self._game = got["id"]
        expected = _encoded(expected, self._game)
        assert _is_like(got, expected), f"{self._sent}\nexpected: {expected}\ngot:      {got}"


def _is_like(got: Any, expected: Any) -> bool:
    """Return whether values are the expected ones, and objects have the expected fields; null is none."""
    if isinstance(got, dict) and isinstance(expected, dict):
        return all(_is_like(got.get(name), value) for name, value in expected.items())
    if isinstance(got, list) and isinstance(expected, list):
        return len(got) == len(expected) and all(map(_is_like, got, expected))
    if expected == "<any>":
        return bool(got)
    if not isinstance(got, str) or not isinstance(expected, str):
        return bool(got == expected)
    pattern = re.escape(expected)
    for placeholder, meaning in _PATTERNS.items():
        pattern = pattern.replace(re.escape(placeholder), meaning)
    return re.fullmatch(pattern, got, re.DOTALL) is not None


def _filled(text: str, game: str) -> Any:
    """Return what a line sends; one that is no JSON is sent as it is."""
    try:
        return _encoded(json.loads(text), game)
    except ValueError:
        return text


def _encoded(value: Any, game: str) -> Any:
    """Return values with the texts in base 64 and the id of the game for what stands for them."""
    if isinstance(value, dict):
        return {name: _encoded(each, game) for name, each in value.items()}
    if isinstance(value, list):
        return [_encoded(each, game) for each in value]
    if not isinstance(value, str):
        return value
    if found := re.fullmatch(r"<base64(?::(\S+))? (.*)>", value, re.DOTALL):
        return base64.b64encode(found[2].encode(found[1] or "utf-8")).decode("ascii")
    return value.replace("<game>", game)


async def replay(path: Path, folder: Path) -> None:
    """Replay a transcript; AssertionError says what was sent before the first message that differs."""
    replaying, lines = _Replay(folder), path.read_text(encoding="utf-8").splitlines()
    while lines:
        lines = await replaying.run(lines)
