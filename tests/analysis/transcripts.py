"""Replays transcripts of the analysis protocol: files with the lines of a controller and the exact responses.

    ; what this is about                      a comment
    ;query {"id":"q","moves":[],...}          the query that the next lines change
    > {"id":"v","action":"query_version"}     a line that is sent, as it is
    ? {"komi":401}                            a line that is sent: the query with these fields; null leaves one out
    < {"id":"q","field":"komi", …             a response to it, whole

Blank lines of the file mean nothing.  In responses `<version>` stands for a version.  The next line is sent when these
responses have come, so that their order is certain.
"""

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent.parent / "data" / "analysis"

ON_STDOUT_ONLY: Final = ("settings", "warnings")
"""Transcripts of what a WebSocket shows otherwise, or is not configured for."""


@dataclass
class Step:
    """A line that is sent and the responses to it."""

    sent: str
    responses: list[str] = field(default_factory=list)


def read_steps(name: str) -> list[Step]:
    """Return the steps of a transcript."""
    steps: list[Step] = []
    query: dict[str, Any] = {}
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        kind, text = line[:2], line[2:]
        if line.startswith(";query "):
            query = json.loads(line.removeprefix(";query "))
        elif kind in ("> ", ">"):
            steps.append(Step(text))
        elif kind == "? ":
            fields = query | json.loads(text)
            steps.append(Step(json.dumps({key: value for key, value in fields.items() if value is not None})))
        elif kind == "< ":
            steps[-1].responses.append(text)
        else:
            assert not line or line.startswith(";"), line
    return steps


async def replay(name: str, send: Callable[[str], Awaitable[None]], receive: Callable[[], Awaitable[str]]) -> None:
    """Send the lines and compare the responses; AssertionError names the first line that is answered otherwise."""
    for step in read_steps(name):
        await send(step.sent)
        for expected in step.responses:
            pattern = re.escape(expected).replace("<version>", '[^"]+')
            got = await receive()
            assert re.fullmatch(pattern, got), f"{step.sent}\nexpected: {expected}\ngot:      {got}"
