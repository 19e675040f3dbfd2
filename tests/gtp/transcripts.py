"""Replays GTP transcripts: files with the lines of a controller and the exact replies of the engine.

    ; GoGui sets up a position                a comment
    ;set search.visits=10                     sets an option of the configuration
    ;crlf                                     lines are sent with CR LF
    ;network fake                             a FakeEvaluator evaluates positions
    > 1 boardsize 9                           a line that is sent, as it is (`> ` alone: an empty line)
    =1                                        the lines of its reply; the blank line that ends it is left out
    > showboard
    = Move 1, ...
        A B C D

Blank lines of the file mean nothing.  A reply without text stands for "= " with its space.  `= <stream>` stands for the
"=" alone on its line that begins a stream, and any number of lines with `info`: how far a search gets is a matter of
time.  In replies `<move>` stands for any vertex, pass or resign, `<vertex>` for any vertex, `<number>` for any decimal
number, `<moves>` and `<numbers>` for several, `<version>` for ours, `<blanks>` for some or none, `<line>` for a line of
any text, `<text>` for any lines.

The whole input is sent at once, as by a controller that does not wait, and the whole output is compared.
"""

import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gtp_engine import Config, __version__
from gtp_engine.protocols.gtp.server import GtpServer
from gtp_engine.protocols.gtp.session import run_session

_VERTEX: Final = "[A-HJ-Z][0-9]{1,2}"
_MOVE: Final = f"(?:{_VERTEX}|pass|resign)"
_NUMBER: Final = "-?[0-9]+(?:\\.[0-9]+)?(?:e[+-][0-9]+)?"
_STREAM: Final = " <stream>"
_PLACEHOLDERS: Final = {
    "<move>": _MOVE,
    "<vertex>": _VERTEX,
    "<moves>": f"{_MOVE}(?: {_MOVE})*",
    "<number>": _NUMBER,
    "<numbers>": f"{_NUMBER}(?: {_NUMBER})*",
    "<version>": re.escape(__version__),
    "<blanks>": " *",
    "<line>": "[^\n]+",
    "<text>": "[^\n]+(?:\n[^\n]+)*",
    "<info>": "(?:info [^\n]+\n)*?",
}


@dataclass
class Step:
    """One line that is sent and the text of its reply ("" for none)."""

    sent: str
    reply: str = ""

    @property
    def pattern(self) -> str:
        """A regular expression for the bytes of the reply as text."""
        if not self.reply:
            return ""
        first, newline, rest = self.reply.partition("\n")
        if first.endswith(_STREAM):
            text = f"{first.removesuffix(_STREAM)}\n<info>{rest}{newline}\n"
        else:
            text = f"{first if ' ' in first else first + ' '}{newline}{rest}\n\n"
        for placeholder in _PLACEHOLDERS:
            text = text.replace(placeholder, f"\0{placeholder[1:-1]}\0")
        escaped = re.escape(text)
        for placeholder, pattern in _PLACEHOLDERS.items():
            escaped = escaped.replace(re.escape(f"\0{placeholder[1:-1]}\0"), pattern)
        return escaped


@dataclass
class Transcript:
    """A transcript as read: the configuration, the end of lines, the steps."""

    config: Config = field(default_factory=Config)
    has_network: bool = False
    line_end: str = "\n"
    steps: list[Step] = field(default_factory=list)


def read_transcript(text: str) -> Transcript:
    """Return the transcript in `text`; the format is in the docstring of the module."""
    transcript = Transcript()
    for line in text.splitlines():
        if line.startswith(";set "):
            key, _, value = line.removeprefix(";set ").partition("=")
            transcript.config = transcript.config.with_values({key.strip(): value.strip()})
        elif line.startswith(";network fake"):
            transcript.has_network = True
        elif line.startswith(";crlf"):
            transcript.line_end = "\r\n"
        elif line.startswith(">"):
            transcript.steps.append(Step(line[2:]))
        elif line.strip() and not line.startswith(";"):
            step = transcript.steps[-1]
            step.reply = f"{step.reply}\n{line}" if step.reply else line
    return transcript


def replay(transcript: Transcript, make_engine: Callable[[Transcript], Any]) -> None:
    """Send the lines to an engine and compare its output; AssertionError names the first step that differs."""
    sent = "".join(step.sent + transcript.line_end for step in transcript.steps)
    stdout = io.BytesIO()
    server = GtpServer(transcript.config, lambda: make_engine(transcript), print)
    run_session(server, io.BytesIO(sent.encode("utf-8")), stdout)
    output = stdout.getvalue().decode("utf-8")
    position = 0
    for number, step in enumerate(transcript.steps):
        match = re.compile(step.pattern).match(output, position)
        if not match:
            got = output[position:].partition("\n\n")[0]
            raise AssertionError(f"line {number + 1}: {step.sent!r}\nexpected: {step.reply!r}\ngot:      {got!r}")
        position = match.end()
    assert output[position:] == "", f"more output than expected: {output[position:]!r}"


def replay_file(path: Path, make_engine: Callable[[Transcript], Any]) -> None:
    """Replay the transcript in a file."""
    replay(read_transcript(path.read_text(encoding="utf-8")), make_engine)
