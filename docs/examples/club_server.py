"""A bot for twenty players at once: each connection is a game on 9x9, and all share one network in memory.

python club_server.py 4242      then, for each player:      nc localhost 4242

A line is a move such as E5, `pass`, `undo`, `score` or `resign`; the answer is the bot's move, and the board.
"""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor

from gtp_engine import BLACK, Config, TengenError
from gtp_engine.people.play import GameSession, GameSettings, SharedEngines

PLAYERS = 20


def answer(session: GameSession, line: str) -> str:
    """Return what the bot says to a line."""
    match line.strip().lower():
        case "undo":
            session.undo()
        case "resign":
            session.resign()
        case "score":
            return str(session.estimate().score)
        case move:
            session.play(move)
            if session.is_engine_turn and not session.result:
                session.engine_move()
    return session.result or session.game.diagram()


class Club:
    """The games of all players.  A game has a thread of its own, since one thread at a time may use an engine."""

    def __init__(self, engines: SharedEngines) -> None:
        self.engines = engines
        self.places = asyncio.Semaphore(PLAYERS)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Play with one player until the connection ends."""
        async with self.places:
            loop = asyncio.get_running_loop()
            with ThreadPoolExecutor(1) as thread:
                engine = self.engines.new_engine()
                session = await loop.run_in_executor(
                    thread, GameSession.start, engine, GameSettings(human=BLACK, width=9)
                )
                while line := (await reader.readline()).decode("utf-8", "replace"):
                    try:
                        said = await loop.run_in_executor(thread, answer, session, line)
                    except TengenError as error:  # an illegal move, or no move at all: the message says which
                        said = str(error)
                    writer.write(f"{said}\n\n".encode())
                    await writer.drain()
                await loop.run_in_executor(thread, engine.close)
        writer.close()


async def main(port: int) -> None:
    """Serve until Ctrl-C."""
    with SharedEngines(Config().with_values({"search.visits": 100}), print) as engines:
        server = await asyncio.start_server(Club(engines).serve, "127.0.0.1", port)
        async with server:
            await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
