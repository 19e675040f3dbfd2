"""Shows a running tournament: a line for each game, the leader beside the bar, and its files kept up to date."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from gtp_engine.errors import counted
from gtp_engine.files import replacing
from gtp_engine.match.records import GameRecord
from gtp_engine.match.settings import MatchError
from gtp_engine.progress import ProgressBar
from gtp_engine.tournament.page import page_of
from gtp_engine.tournament.standings import tables_of, to_json
from gtp_engine.tournament.tournament_file import Description, Pairing


class TournamentProgress:
    """Reports games on `bar`, and writes index.html and results.json in `folder` after each of them."""

    def __init__(self, description: Description, folder: Path, title: str, bar: ProgressBar) -> None:
        self._description: Final = description
        self._folder: Final = folder
        self._title: Final = title
        self._bar: Final = bar
        self._results: dict[Pairing, list[GameRecord]] = {}

    def begin(self, results: Mapping[Pairing, Sequence[GameRecord]]) -> None:
        """Show the games that were played before."""
        self._results = {pairing: list(records) for pairing, records in results.items()}
        self._update()

    def game_over(self, pairing: Pairing, record: GameRecord) -> None:
        """Show one more finished game."""
        self._results[pairing].append(record)
        names = [self._description.entrants[place].name for place in (pairing.first, pairing.second)]
        black, white = names if record.black == "first" else reversed(names)
        condition = self._description.conditions[pairing.condition].title
        line = f"{condition}: {black} (B) – {white} (W) {record.result}, {counted(record.moves, 'move')}"
        self._bar.log(f"{line} {record.detail}".rstrip())
        self._update()

    def _update(self) -> None:
        played = sum(len(records) for records in self._results.values())
        tables = tables_of(self._description, self._results)
        leader = self._description.entrants[tables[0].order[0]].name
        self._bar.update(played, counted(played, "game") + (f", {leader} leads" if played else ""))
        files = {
            "index.html": page_of(self._title, self._description, tables),
            "results.json": json.dumps(to_json(self._description, tables, self._results), indent=1) + "\n",
        }
        try:
            for name, text in files.items():
                with replacing(self._folder / name) as path:
                    path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise MatchError(f"cannot write to {self._folder}: {error.strerror}") from error
