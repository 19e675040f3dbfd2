"""Learning from mistakes on the page of the server: the position before a mistake, positions to solve, and the rank."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from review.review_support import RECORD, TIMED, with_mistakes
from web.browser import Windows, needs_browser, open_record, until
from web.page_support import click_point, without_a_game

from gtp_engine.config.human import rank_number
from gtp_engine.people.rank_estimate import RankEstimate
from gtp_engine.people.review import annotated, game_analysis
from gtp_engine.people.review.game_review import PeopleChoice, PlayedLike
from gtp_engine.people.web import game_reviews

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = needs_browser

TEXT = "document.querySelector('.quiz-text').innerText"
BOTH_IN_VIEW = """['.quiz-text', '#board svg'].every((name) => {
  const { top, bottom } = document.querySelector(name).getBoundingClientRect();
  return top >= -1 && bottom <= innerHeight + 1;
})"""
PLACE = "getComputedStyle(document.querySelector('#confirm')).position"
ESTIMATE = RankEstimate(rank_number("3k"), rank_number("5k"), rank_number("1k"), 60, 1)


@pytest.fixture(autouse=True)
def reviews(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let reviews find that the first moves of both players lost eight points, and that Black's are those of a 3k."""
    monkeypatch.setattr(game_analysis, "DEFAULT_VISITS", 4)
    monkeypatch.setattr(game_analysis, "SECOND_LEAST", 1)
    shares = {"3k": 0.31, "1k": 0.2, "3d": 0.06}

    def found(line: Any, findings: Any, network: str) -> Any:
        review = with_mistakes(TIMED)
        choice = PeopleChoice("3k", "C3", 0.31, 0.31, shares)
        moves = (replace(review.moves[0], people=choice), *review.moves[1:])
        ranks = {"B": PlayedLike(ESTIMATE.to_json(), rank="3k"), "W": PlayedLike(note="19 moves tell no rank")}
        return replace(review, moves=moves, played_like=ranks)

    monkeypatch.setattr(game_reviews, "new_review", found)


async def reviewed(page: "Page") -> None:
    await open_record(page, TIMED.decode())
    await until(page, "document.querySelector('#number').innerText === '6 / 6'")
    await page.click("#review-start")
    await until(page, "document.querySelector('#review-news').innerText.startsWith('The review is finished')")


async def test_mistakes_are_seen_before_they_are_made_and_solved(windows: Windows, port: int) -> None:
    better, better_of_white = (move.best for move in with_mistakes(TIMED).moves[:2])
    page = await without_a_game(windows, port, touch=True, width=390, height=844)
    await reviewed(page)
    assert "Black played like 3k, between 5k or weaker and 1k." in await page.inner_text("#ranks")
    assert "White: no rank. It takes 24 moves of an even game on 19x19." in await page.inner_text("#ranks")
    assert (await page.locator("#mistakes h3").all_inner_texts())[0] == "Mistakes of Black"
    rows = [row.split("\t") for row in (await page.inner_text("#accuracy")).splitlines()]
    assert ["Seconds per move", "12.0", "3.0"] in rows, rows
    assert " · took 12 s · " in await page.inner_text("#mistakes button >> nth=0")
    await page.click("#mistakes button >> nth=0")
    await until(page, "document.querySelector('#number').innerText === '0 / 6'")
    text = await page.inner_text("#mistake")
    assert f"Black C3 lost 8.0; better {better}" in text
    assert "A 3k plays C3 in 31% of such positions, a 3d in 6%." in text
    assert await page.locator(".candidate.played, .candidate.best").count() == 2
    await page.get_by_role("button", name="As played").click()
    await page.get_by_role("button", name="Next move").click()
    assert await page.locator(".number").all_text_contents() == ["1", "2"]
    await page.get_by_role("button", name="Back to the game").click()
    assert not await page.locator(".number").count()
    await page.click(".quiz-start")
    assert "C3 was played here and lost 8.0 points" in await page.inner_text("#quiz")
    assert await page.evaluate(BOTH_IN_VIEW), "the question and the board"
    assert not await page.is_visible("#mistakes"), "which has the answers"
    for width, place in ((1280, "static"), (390, "fixed")):
        await page.set_viewport_size({"width": width, "height": 844})
        assert await page.evaluate(PLACE) == place, "it was far above the question"
    await click_point(page, "C3", 5)
    await until(page, f"{TEXT}.startsWith('C3 loses 8.0 points: White answers ')")
    await until(page, "document.querySelectorAll('#board .number').length > 1")  # by itself
    await page.get_by_role("button", name="Try again").click()
    await click_point(page, "A1", 5)  # which the review did not look at: the server does
    await until(page, f"/^(A1 loses|Right: A1)/.test({TEXT})")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.get_by_role("button", name="Stop").click()
    await until(page, "document.querySelector('#number').innerText === '0 / 6'")
    await page.get_by_role("button", name="White: Bob", exact=True).click()
    titles = await page.locator("#mistakes h3").all_inner_texts()
    assert titles == ["Mistakes of White", "Mistakes of Black"], "of two others, neither is the person"
    await page.click(".quiz-start")
    assert (await page.inner_text(".quiz-text")).startswith("White to play."), "only one side's were asked for"
    await click_point(page, "C3", 5)  # where a stone is: the server was asked about it
    assert await page.inner_text(".quiz-text") == "C3 is occupied."
    await click_point(page, str(better_of_white), 5)
    await until(page, f"{TEXT}.startsWith('Right: {better_of_white} is the best move.')")
    await page.get_by_role("button", name="Finish").click()
    assert await page.inner_text(".quiz-text") == "1 of 1 solved, 1 on the first try."
    assert "Over 1 game: " in await page.inner_text(".quiz-progress")
    await page.click("#games")
    await until(page, "document.querySelector('#game-list').innerText.includes('Accuracy: Black ')")


async def test_our_own_review_is_opened_with_the_analysis_that_is_stored_in_it(
    windows: Windows, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its analysis was left out, and the game had to be searched again."""
    monkeypatch.undo()
    record = annotated(RECORD, with_mistakes(RECORD))
    page = await without_a_game(windows, port)
    await open_record(page, record.decode())
    await until(page, "document.querySelector('#review-news').innerText.startsWith('The review is finished')")
    assert "Black C3 lost 8.0" in await page.inner_text("#mistakes")
    assert await page.locator(".quiz-start").is_visible()
    assert not await page.locator("#review-start").is_visible()
    assert await page.locator(".graph-winrate").count() == 1
    await page.click("#preferences summary")
    await page.set_viewport_size({"width": 640, "height": 400})  # a window at 200%
    await until(page, "document.documentElement.scrollWidth <= innerWidth")
    await page.click("#games")
    await page.wait_for_selector("#game-list li")
    assert "Accuracy: Black " in await page.inner_text("#game-list"), "it was only in the lists of our own reviews"


PROBLEMS = (
    "(;SZ[9]AB[ab][bb][cb][db][da]AW[ac][bc][cc][dc][ec][eb][ea]C[Black to live.]"
    ";B[ba](;W[gg];B[ca]C[RIGHT])(;W[hh];B[aa]C[RIGHT]))"
    "(;SZ[9]AB[ca][cb][cc][bc][ac]AW[aa][bb])"
)
SAID = "document.querySelector('#problems .problem-text').innerText"


async def test_problems_of_a_file_are_solved(windows: Windows, port: int) -> None:
    """A file of problems was opened as its first game, with the solution beside it."""
    page = await without_a_game(windows, port, touch=True, width=390, height=844)
    await page.click("#repeat")  # of those that ship
    await until(page, f"/the marked stones.$/.test({SAID}) && document.querySelectorAll('#board .triangle').length > 1")
    await open_record(page, "(;SZ[9])")  # the first game of this window: the problem stayed
    await until(page, "document.querySelector('#problems').hidden")
    await open_record(page, PROBLEMS)
    await page.click("#question-yes")
    await until(page, f"{SAID} === 'Black to play.\\nBlack to live.'")
    assert not await page.locator("#tree, #analysis, #players").filter(visible=True).count()
    await click_point(page, "A1")  # the record does not have it, and a network like this one knows nothing
    await until(page, f"/^(A1 is wrong|Right)/.test({SAID})")
    await page.get_by_role("button", name="Next problem").click()
    await until(page, f"{SAID} === 'Black to play.'")
    await page.get_by_role("button", name="Show the answer").click()  # which the server searches
    await until(page, f"{SAID}.startsWith('The solution.')")
    await page.get_by_role("button", name="Previous problem").click()
    await until(page, f"{SAID} === 'Black to play.\\nBlack to live.'")
    await click_point(page, "B9")
    await until(page, f"{SAID} === 'Right so far: G3 answers.'")
    await click_point(page, "C9")
    await until(page, f"{SAID} === 'Right!\\nRIGHT'")
    assert "1 of 2 problems solved" in await page.inner_text("#problem-counts")
    await page.reload()  # the file is still open
    await until(page, f"{SAID} === 'Black to play.\\nBlack to live.'")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.get_by_role("button", name="Stop").click()
    await until(page, "document.querySelector('#problems').hidden")
    await open_record(page, PROBLEMS)
    await page.click("#question-no")
    await until(page, "document.querySelector('#number').innerText === '3 / 3'")
    await open_record(page, PROBLEMS)
    await page.click("#question-yes")
    await until(page, f"{SAID} === 'Black to play.'")  # the one that is not solved
    await open_record(page, "(;SZ[19];B[ss])")  # of another size
    await until(page, "document.querySelector('#number').innerText === '1 / 1'")
    assert await page.locator("#problems, #players").filter(visible=True).count() == 1


async def test_an_opening_is_explored(windows: Windows, port: int) -> None:
    """Only in a review could be seen what people of a rank play."""
    rows = "document.querySelectorAll('#openings tbody tr').length"
    found = f"{rows} && document.querySelector('#opening-news').innerText === ''"
    page = await without_a_game(windows, port)
    await open_record(page, "(;SZ[9]RE[W+R];B[gc];W[cg])")
    await until(page, "document.querySelector('#number').innerText === '2 / 2'")
    await open_record(page, "(;SZ[9])")
    await until(page, "document.querySelector('#number').innerText === '0 / 0'")
    await page.click("#openings summary")
    await until(page, found)
    texts = await page.locator("#openings tbody tr").all_inner_texts()
    (corner,) = [text for text in texts if text.startswith("G7")]
    assert corner.endswith("1 game: 0 won by Black, 1 by White"), "the move of the other game"
    assert await page.locator("#board .candidate").count() >= 1
    await page.get_by_role("button", name="G7").click()
    await until(page, f"{found} && document.querySelector('#opening-path').innerText === 'G7'")
    assert any(text.startswith("C3") for text in await page.locator("#openings tbody tr").all_inner_texts())
    await click_point(page, "C7")
    await until(page, "document.querySelector('#opening-path').innerText === 'G7 C7'")
    await page.keyboard.press("ArrowLeft")
    await until(page, "document.querySelector('#opening-path').innerText === 'G7'")
    await page.click("#opening-leave")
    await until(page, "!document.querySelector('#board .stone-black, #board circle.black')")
    assert await page.inner_text("#number") == "0 / 0", "the game stays as it is"
