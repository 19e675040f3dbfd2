"""A server that is attacked in all ways at once still lets a well-behaved client play."""

import asyncio
from pathlib import Path

import pytest
from busy_machine import require_once
from web.attacks import ATTACKS, KINDS, SEEDS, Target, seconds_under, send_mutation, server
from web.serving import TOKEN, RolloutSource, connections, serving, until

from gtp_engine.people.web.play_socket import _Page


def test_the_floods_have_every_kind_of_request() -> None:
    page = _Page.__new__(_Page)
    kinds = page.commands()
    assert set(KINDS) == {*kinds, "no such kind"}


async def test_mutations_leave_nothing_behind(tmp_path: Path) -> None:
    """No traceback (`serving` looks for them), no connection, no thread that works on."""
    async with serving(RolloutSource(), token=TOKEN, games=tmp_path) as client:
        assert client.port is not None
        target = Target(client.port, TOKEN, "")
        for first in SEEDS:
            await asyncio.gather(*(send_mutation(target, first + number) for number in range(30)))
        await until(lambda: not connections(client))
        assert (await client.get("/health")).status == 200


@pytest.mark.long
def test_moves_come_within_a_second_under_attack() -> None:
    """A message kept everyone waiting for 17 seconds, 256 idle connections for 30 (scripts/attack_server)."""
    names = [name for name in ATTACKS if name != "nothing"]

    async def longest(port: int, attacks: list[str]) -> float:
        async for _, seconds, beginning in seconds_under(port, TOKEN, [attacks], 1.0):
            return max(sorted(seconds)[1], beginning / 2)
        return 0.0

    with server(TOKEN) as (port, _):
        for first in range(3):
            require_once(lambda first=first: asyncio.run(longest(port, names[first::3])), below=1.0, attempts=5)
