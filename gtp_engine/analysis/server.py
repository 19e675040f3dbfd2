"""One line of JSON in; responses out through `send`, at once or when the analysis is done.

I/O and threads are in `session`, the search is in `worker`.  Every line is answered, however malformed, and the server
continues.
"""

import json
import traceback
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Final, NoReturn

from gtp_engine.analysis.backend import Backend
from gtp_engine.analysis.fields import Fields, QueryError
from gtp_engine.analysis.query import Query, parse_query
from gtp_engine.analysis.results import no_results
from gtp_engine.analysis.schedule import Job, Schedule, Send
from gtp_engine.config import Config
from gtp_engine.errors import problem, shown, shown_json
from gtp_engine.streams import MAX_LINE_BYTES

_LARGEST_TURN: Final = 2**31 - 1


class AnalysisServer:
    """Parses lines and schedules queries; the searching thread calls `backend` after loading it.

    With `most_positions`, a query that would make more positions wait at once is refused.
    """

    def __init__(
        self,
        config: Config,
        schedule: Schedule,
        send: Send,
        backend: Callable[[], Backend],
        log: Callable[[str], None],
        version: str,
        most_positions: int | None = None,
    ) -> None:
        self._config: Final = config
        self._schedule: Final = schedule
        self._send: Final = send
        self._backend: Final = backend
        self._log: Final = log
        self._version: Final = version
        self._most_positions: Final = most_positions
        self._actions: Final[dict[str, Callable[[dict[str, Any]], None]]] = {
            "query_version": self._query_version,
            "query_models": self._query_models,
            "clear_cache": self._clear_caches,
            "terminate": self._terminate,
            "terminate_all": self._terminate,
        }

    def handle_bytes(self, raw: bytes) -> None:
        """Handle one line as received; an empty one is ignored."""
        if not raw.strip():
            return
        try:
            self._handle(self._parse(raw))
        except QueryError as error:
            self._send({"error": str(error)})
        except Exception as error:
            self._log(f"internal error in a line of the controller:\n{traceback.format_exc().rstrip()}")
            self._send({"error": f"internal error: {type(error).__name__}: {shown(str(error))}"})

    def _parse(self, raw: bytes) -> dict[str, Any]:
        """Return the JSON object in a line, whose id is a string; raises QueryError."""
        if len(raw) > MAX_LINE_BYTES:
            raise QueryError("", f"line too long: the limit is {MAX_LINE_BYTES} bytes")
        text = raw.decode("utf-8-sig", errors="replace").strip()
        try:
            data = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        except (ValueError, RecursionError) as error:
            raise QueryError("", f"could not parse input line as json request: {error}: {shown(text)}") from None
        if not isinstance(data, dict):
            raise QueryError("", problem(f"request {shown(text)}", expected="a JSON object"))
        if not isinstance(data.get("id"), str):
            raise QueryError("", problem(f"request {shown(text)}", expected='a text as its field "id"'))
        return data

    def _handle(self, data: dict[str, Any]) -> None:
        try:
            if "action" in data:
                self._act(data)
            else:
                query, warnings = parse_query(data, self._config)
                for warning in warnings:
                    self._send({"id": query.id, "field": warning.field, "warning": warning.message})
                self._add(query)
        except QueryError as error:
            self._send({"id": data["id"], "field": error.field, "error": str(error)})

    def _add(self, query: Query) -> None:
        """Schedule a query; raises QueryError if too many positions wait."""
        most, positions = self._most_positions, self._schedule.positions() + len(query.turns)
        if most is not None and positions > most:
            raise QueryError("analyzeTurns", problem(f"{positions} positions at once", expected=f"{most} at most"))
        self._schedule.add(query)

    def _act(self, data: dict[str, Any]) -> None:
        action = data["action"]
        handler = self._actions.get(action) if isinstance(action, str) else None
        if handler is None:
            raise QueryError("action", problem(f"action {shown_json(action)}", expected=" or ".join(self._actions)))
        handler(data)

    def _query_version(self, data: Mapping[str, Any]) -> None:
        self._send({**data, "version": self._version, "git_hash": "<omitted>"})

    def _query_models(self, data: Mapping[str, Any]) -> None:
        self._schedule.call(lambda: self._send({**data, "models": self._backend().models()}))

    def _clear_caches(self, data: Mapping[str, Any]) -> None:
        def clear() -> None:
            self._backend().clear_cache()
            self._send(dict(data))

        self._schedule.call(clear)

    def _terminate(self, data: Mapping[str, Any]) -> None:
        fields = Fields(data)
        query_id = fields.value("terminateId")
        is_all = data["action"] == "terminate_all"
        if not is_all and not isinstance(query_id, str):
            raise fields.error("terminateId", "a text")
        turns = set(fields.integers("turnNumbers", 0, _LARGEST_TURN)) if "turnNumbers" in fields else None

        def is_meant(job: Job) -> bool:
            return (is_all or job.query.id == query_id) and (turns is None or job.turn.number in turns)

        for job in self._schedule.terminate(is_meant):
            self._send(no_results(job.query, job.turn.number))
        self._send(dict(data))


def _finite(text: str) -> float:
    """Return a number as a float; refuse one that is too large."""
    number = float(text)
    return number if isfinite(number) else _refuse(shown(text))


def _refuse(constant: str) -> NoReturn:
    """Refuse NaN, Infinity and numbers too large for a float."""
    raise ValueError(f"{constant} is not a JSON number")
