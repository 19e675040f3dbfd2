"""A server that is attacked in all ways at once still lets a well-behaved client play."""

import asyncio
import statistics

import pytest
from busy_machine import bound
from web.attacks import ATTACKS, KINDS, seconds_under, server
from web.serving import TOKEN

from gtp_engine.people.web.play_socket import _Page


def test_the_floods_have_every_kind_of_request() -> None:
    page = _Page.__new__(_Page)
    kinds = page.commands()
    assert set(KINDS) == {*kinds, "no such kind"}


@pytest.mark.long
def test_moves_come_within_a_second_under_attack() -> None:
    """A message kept everyone waiting for 17 seconds, 256 idle connections for 30 (scripts/attack_server)."""
    names = [name for name in ATTACKS if name != "nothing"]

    async def test(port: int) -> None:
        async for attacks, seconds in seconds_under(port, TOKEN, [names[first::3] for first in range(3)], 1.0):
            assert statistics.median(seconds) < bound(1.0), (attacks, seconds)

    with server(TOKEN) as (port, _):
        asyncio.run(test(port))
