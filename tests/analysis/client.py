"""A client of the analysis protocol: sends queries and reads the responses."""

import json
import os
import queue
import threading
import time
from functools import partial
from typing import IO, Any, Final

from busy_machine import bound, wait_for_readers

from gtp_engine.config import Config
from gtp_engine.protocols.analysis.server import run_session

TIMEOUT: Final = 60
"""Seconds to wait for a response before a test fails."""

QUERY: Final[dict[str, Any]] = {
    "id": "q",
    "moves": [],
    "rules": "chinese",
    "komi": 7.5,
    "boardXSize": 9,
    "boardYSize": 9,
}


def query(**fields: Any) -> dict[str, Any]:
    """Return a query for the empty 9×9 board with these fields changed; None leaves a field out."""
    return {name: value for name, value in {**QUERY, **fields}.items() if value is not None}


class Client:
    """Speaks to a server through two binary streams; it begins to read after `silence` seconds."""

    def __init__(
        self, to_server: IO[bytes], from_server: IO[bytes], *, timeout: float = TIMEOUT, silence: float = 0.0
    ) -> None:
        self._out = to_server
        self._in = from_server
        self._timeout = timeout
        self._silence = silence
        self._responses: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, data: dict[str, Any] | str | bytes) -> None:
        """Send one line."""
        line = json.dumps(data) if isinstance(data, dict) else data
        self._out.write((line.encode() if isinstance(line, str) else line) + b"\n")
        self._out.flush()

    def receive(self) -> dict[str, Any]:
        """Return the next response; fails at the end of the output."""
        response = self._responses.get(timeout=bound(self._timeout))
        assert response is not None, "the output has ended"
        return response

    def ask(self, data: dict[str, Any] | str | bytes) -> dict[str, Any]:
        """Send one line and return the next response."""
        self.send(data)
        return self.receive()

    def finish(self) -> list[dict[str, Any]]:
        """End the input and return all responses until the output ends."""
        self._out.close()
        return list(iter(lambda: self._responses.get(timeout=bound(self._timeout)), None))

    def join(self) -> None:
        """Wait for the end of the output."""
        self._reader.join(bound(self._timeout))

    def _read(self) -> None:
        time.sleep(self._silence)
        try:
            for line in self._in:
                self._responses.put(json.loads(line))
        finally:
            self._responses.put(None)


class SessionClient(Client):
    """A client of a session in this process, which ends with the `with` block at the latest."""

    def __init__(self, backend: Any, *values: str, silence: float = 0.0, **options: Any) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        super().__init__(os.fdopen(ours_out, "wb"), os.fdopen(ours_in, "rb"), silence=silence)
        config = Config().with_values({"gtp.version": "1.2.3", **dict(value.split("=") for value in values)})
        self.log: list[str] = []
        self.error: Exception | None = None
        self._streams = os.fdopen(theirs_in, "rb", buffering=0), os.fdopen(theirs_out, "wb", buffering=0)
        load = getattr(backend, "load", backend)
        self._session = partial(run_session, config, load, *self._streams, log=self.log.append, **options)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self) -> "SessionClient":
        return self

    def __exit__(self, *_: object) -> None:
        if not self._out.closed:
            if self._thread.is_alive():  # a session that failed reads no more
                self.send({"id": "end", "action": "terminate_all"})
            self._out.close()
        self.wait()
        self.join()
        self._in.close()
        wait_for_readers()
        self._streams[0].close()

    def wait(self) -> None:
        """Wait for the session to end."""
        self._thread.join(bound(TIMEOUT))
        assert not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._session()
        except Exception as error:
            self.error = error
        self._streams[1].close()
