"""A walk at random through games, sizes, tools and keys: no error in the console, and nothing of another game.

TENGEN_WALK_STEPS=5000 TENGEN_WALK_SEED=7 lets it go on for long, another way.
"""

import asyncio
import json
import os
import random
from pathlib import Path

import pytest
from web.browser import Windows, needs_browser, until

from gtp_engine.people.review import game_analysis

pytestmark = needs_browser

STEPS = int(os.environ.get("TENGEN_WALK_STEPS", "20"))
TEST_SECONDS = STEPS + 60
SEED = int(os.environ.get("TENGEN_WALK_SEED", "1"))
WINDOWS = (
    {"width": 1280, "height": 860},
    {"width": 390, "height": 844, "touch": True, "locale": "ja-JP"},
    {"width": 844, "height": 390, "touch": True},
)

RECORDS = (
    "(;SZ[5]KM[0.5]RU[Chinese]RE[B+2];B[cc];W[bb];B[dd];W[aa];B[bc];W[ee])",
    "(;SZ[9]KM[7]PB[Lee]PW[Cho];B[ee];W[ec];B[dg](;W[gd]C[one]LB[cd:A];B[fb](;B[gc])(;W[cc]))(;W[cd];B[gd]))",
    "(;SZ[13:9];B[aa];W[mi];B[])",
    "(;SZ[19]HA[2]AB[dd][pp]RE[W+R];W[qd];B[dp];W[cc];B[];W[dq])",
    "(;SZ[5]KM[0.5]RU[Chinese];B[cc];W[ac];B[bb];W[bd];B[];W[])",
    "(;SZ[9]AB[ab][bb][cb][db][da]AW[ac][bc][cc][dc][ec][eb][ea]C[Black to live.](;B[ba]C[RIGHT])(;B[ca];W[ba]))",
    "(;SZ[7];B[dd]AE[dd];W[cc]AW[aa][ab];PL[W])",
)

WALK = Path(__file__).with_name("walk.js").read_text("utf-8")


@pytest.mark.parametrize("window", WINDOWS, ids=["desktop", "phone", "phone on its side"])
async def test_a_walk_at_random(
    window: dict[str, object], windows: Windows, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Analysis, graph and board were of different games, or drawing ended, after a game of another size was opened."""
    monkeypatch.setattr(game_analysis, "DEFAULT_VISITS", 4)
    monkeypatch.setattr(game_analysis, "SECOND_LEAST", 1)
    draws = random.Random(SEED)
    page = await windows.page(f"http://127.0.0.1:{port}/", service_workers="allow", **window)  # type: ignore[arg-type]
    await until(page, "document.querySelector('[name=komi]').value")
    steps: list[list[float]] = []
    while len(steps) < STEPS:
        steps.append([draws.random() for _ in range(3)])
        await page.evaluate(f"([records, draws]) => {WALK}.step(records, draws)", [RECORDS, steps[-1]])
        await asyncio.sleep(draws.choice((0, 0, 0.01, 0.05, 0.2)))
        complaints = [each for each in windows.complaints if "autofocus" not in each]
        assert complaints == [], f"after {json.dumps(steps[-12:])}"
        if len(steps) % 5 == 0:
            assert await page.evaluate(f"{WALK}.wrong()") == [], f"after {json.dumps(steps[-12:])}"
