"""Kills, full disks, broken disks, no descriptors, closed pipes: nothing is lost, nothing double, no traceback.

Each command is carried out in forks, at its smallest: what a kill leaves at each of its writes is looked at, and it is
run again after one of them; one of its writes is refused.  `scripts/inject_faults` tries all.
"""

import sys
from importlib.util import find_spec
from itertools import takewhile

import pytest
from documents import cli_commands
from faults.run_faults import results


def test_every_command_is_tried() -> None:
    """A new command needs a line in `miniatures`."""
    from faults.miniatures import PLAIN, SEARCHES, TRAINING

    assert sorted([*PLAIN, *SEARCHES, *TRAINING]) == sorted(name for name, _ in cli_commands())


ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, and reads descriptors in /proc")


@ON_LINUX
@pytest.mark.long
def test_commands_end_at_any_moment() -> None:
    """SIGTERM left unfinished files, and `serve` did not end at all while a thread was at work."""
    found = [*results("SEARCHES", "SIGTERM:4", "gtp", "score", "serve", "review")]
    assert len(found) == 4 and [each["faults"] for each in found if each["faults"]] == []


@ON_LINUX
@pytest.mark.long
def test_faults() -> None:
    """One process tries all groups, as each needs what those before it have loaded."""
    needs = {"PLAIN": (), "SEARCHES": ("mcp",), "TRAINING": ("torch", "matplotlib")}
    groups = list(takewhile(lambda group: all(map(find_spec, needs[group])), needs))
    found = [*results(",".join(groups), "0")]
    assert found and [each["faults"] for each in found if each["faults"]] == []
    assert sum(each["writes"] for each in found) > 20 * len(groups), "writes are counted"
    if len(groups) < len(needs):
        pytest.skip(f"only {', '.join(groups)}: one of {', '.join(needs[[*needs][len(groups)]])} is missing")
