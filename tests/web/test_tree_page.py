"""The tree of the game in a real browser: branches, comments, marks, records that come and go, settings that last."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from web.browser import Windows, needs_browser, open_record, until
from web.page_support import click_point, without_a_game

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = needs_browser

RECORD = (
    "(;SZ[9]KM[6.5]RU[Chinese]CA[Shift_JIS]PB[本因坊]BR[9d]PW[Bob]WR[2k]DT[2001-02-03]XX[kept]"
    ";B[ee]C[始め];W[ed]TR[ed](;B[dd];W[de];B[fd];W[cc];B[ec]C[takes])(;B[gc]LB[gc:A]C[other];W[cc]))"
)
NUMBER = "document.querySelector('#number').innerText"


async def opened(windows: Windows, port: int, record: str | bytes = RECORD, **options: Any) -> "Page":
    """Return a page that shows a record."""
    page = await without_a_game(windows, port, **options)
    await open_record(page, record)
    await until(page, "location.hash.startsWith('#game=')")
    return page


async def saved(page: "Page") -> bytes:
    """Return the file that *Save* gives."""
    async with page.expect_download() as download:
        await page.click("#save")
    path = await (await download.value).path()
    return Path(path).read_bytes()


async def is_shown(page: "Page", number: str) -> None:
    await until(page, f"{NUMBER} === '{number}'")


async def test_variations_comments_and_marks_are_shown_and_edited(windows: Windows, port: int) -> None:
    page = await opened(windows, port, RECORD.encode("cp932"), touch=True, width=390, height=844)
    await is_shown(page, "7 / 7")
    assert await page.input_value("#comment") == "takes"
    assert await page.evaluate("document.querySelectorAll('#tree-view .node').length") == 10
    await page.click("#tree-view .node[data-id='2']")
    await is_shown(page, "2 / 7")
    assert await page.locator("#board .mark.triangle").count() == 1
    assert await page.locator("#board .branch-black").count() == 2
    assert await page.inner_text("#branches") == "D6\nG7"
    await page.click("#branches button:last-child")
    await is_shown(page, "3 / 4")
    assert (await page.input_value("#comment"), await page.text_content("#board .label")) == ("other", "A")
    await page.fill("#comment", "mine: é")
    await page.click("#edit")
    for tool, vertex in (("square", "A1"), ("letter", "B1"), ("move", "J9"), ("move", "H9")):
        await page.click(f"label:has([value={tool}])")
        await click_point(page, vertex)
        await until(page, f"{NUMBER} === '{'3 / 4' if vertex < 'C' else '4 / 4' if vertex == 'J9' else '5 / 5'}'")
    await page.click("label:has([value=black])")
    await click_point(page, "A9")
    await until(page, "document.querySelector('.point[aria-label^=\"A9, black stone\"]')")
    await page.click("#turn")
    await page.click("#main-line")
    await until(page, "document.querySelector('#main-line').disabled")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expected = RECORD.replace("C[other]", "C[mine: é]SQ[ai]").replace("LB[gc:A]", "LB[gc:A][bi:B]")
    text = (await saved(page)).decode("utf-8").replace("\n", "")
    main, other = (
        expected[expected.index("(;B[gc]") :],
        expected[expected.index("(;B[dd]") : expected.index("(;B[gc]")],
    )
    main = main.removesuffix(";W[cc]))") + "(;W[ia];B[ha];AB[aa]PL[B])(;W[cc]))"
    start = expected[: expected.index("(;B[dd]")].replace("Shift_JIS", "UTF-8")
    assert text == f"{start}{main}{other})", "é is not in Shift_JIS"
    for deleted, left in ((12, "5 / 5"), (11, "4 / 4"), (10, "3 / 4")):
        assert await page.locator(f"#tree-view .shown[data-id='{deleted}']").count() == 1
        await page.click("#delete")
        await page.click("#question-yes")
        await until(page, f"!document.querySelector('.node[data-id=\"{deleted}\"]') && {NUMBER} === '{left}'")


async def test_opened_records(windows: Windows, port: int) -> None:
    page = await opened(windows, port, RECORD.encode("cp932"), permissions=["clipboard-read", "clipboard-write"])
    await keys_and_the_wheel_go_through_the_game(page)
    await information_copies_and_keys(page)
    await a_comment_that_is_being_typed_is_kept(page)
    await settings_of_the_board_last(page)
    await many_variations_leave_the_rest_in_its_place(page)
    await a_tree_of_five_thousand_nodes_scrolls(page)


async def keys_and_the_wheel_go_through_the_game(page: "Page") -> None:
    """They did nothing; captures and status stayed those of the last position."""
    await is_shown(page, "7 / 7")
    assert await page.inner_text("#black .captures") == "1 captured"
    await page.keyboard.press("ArrowLeft")
    await is_shown(page, "6 / 7")
    assert await page.inner_text("#black .captures") == "0 captured"
    assert await page.inner_text("#status") == "Move 6: White C7. Black to play."
    assert await page.evaluate("document.querySelector('#black').classList.contains('turn')")
    await page.hover(".point[data-x='8'][data-y='8']")
    for turn, number in ((-60, 5), (60, 6)):
        await page.mouse.wheel(0, turn)
        await is_shown(page, f"{number} / 7")
    await click_point(page, "A1")  # it is Tengen's turn; the board has the focus now
    await page.keyboard.press("ArrowRight")
    await is_shown(page, "7 / 7")
    await page.focus("#comment")
    await page.keyboard.press("ArrowLeft")
    await is_shown(page, "7 / 7")


TRANSFER = """(() => { const data = new DataTransfer();
    data.items.add(new File(['%s'], 'x.sgf'));
    const event = new Event('%s', { bubbles: true, cancelable: true });
    Object.defineProperty(event, '%s', { value: data });
    document.body.dispatchEvent(event); })()"""

PASTED_TEXT = """(() => { const data = new DataTransfer();
    data.setData('text', '(;SZ[9];B[aa];W[bb];B[cc])');
    const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true });
    document.body.dispatchEvent(event); })()"""


async def test_records_are_dropped_and_pasted(windows: Windows, port: int) -> None:
    """Also while a new game is asked for, whose dialog stayed above or took what was pasted."""
    page = await windows.page(f"http://127.0.0.1:{port}/")
    await until(page, "document.querySelector('#setup').open")
    await page.evaluate(TRANSFER % ("(;SZ[9]KM[6];B[cc])", "drop", "dataTransfer"))
    await is_shown(page, "1 / 1")
    await until(page, "!document.querySelector('#setup').open")
    await page.click("#new")
    await page.evaluate(PASTED_TEXT.replace("body", "activeElement"))
    await is_shown(page, "3 / 3")
    await until(page, "!document.querySelector('#setup').open")
    await page.evaluate(TRANSFER % ("(;SZ[9];B[aa];W[bb])", "paste", "clipboardData"))
    await is_shown(page, "2 / 2")
    await page.evaluate(PASTED_TEXT)
    await is_shown(page, "3 / 3")
    await page.click("#new")
    await a_choice_that_is_not_possible_is_shown(page)


async def settings_of_the_board_last(page: "Page") -> None:
    await page.click("#preferences summary")
    await page.select_option("[name=numbers]", "all")
    await page.uncheck("[name=coordinates]")
    await page.uncheck("[name=sound]")
    await page.reload()
    await is_shown(page, "7 / 7")
    numbers = await page.locator("#board .number").all_text_contents()
    assert sorted(numbers) == ["1", "3", "4", "5", "6", "7"]
    assert await page.is_hidden("#board .coordinate >> nth=0")
    assert not await page.is_checked("[name=sound]")


SCROLLED = """new Promise((resolve) => { const view = document.querySelector('#tree-view');
    view.scrollLeft -= 9700;
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(view.querySelectorAll('.node').length))); })"""


async def information_copies_and_keys(page: "Page") -> None:
    """Change who played, copy the record and a picture, and see the keys."""
    await page.click("#about-game")
    await page.fill("#information [name=PB]", "Lee]")
    await page.click("#information [value=save]")
    await until(page, "document.querySelector('#black .name').innerText.startsWith('Lee]')")
    copied = "navigator.clipboard.read().then(([item]) => item.getType('{}')).then((found) => found.{})"
    for button, kind, value, start in (
        ("record", "text/plain", "text()", "(;"),
        ("picture", "image/png", "slice(1, 4).text()", "PNG"),
    ):
        await page.click("#share")
        await page.click(f"#copy-{button}")
        await until(page, f"document.querySelector('#copy-{button}').innerText === 'Copied'")
        found = await page.evaluate(copied.format(kind, value))
        assert found.startswith(start) and ("PB[Lee\\]]" in found or button == "picture")
        await page.click("#links-close")
    await page.keyboard.press("?")
    assert await page.inner_text("#keys-title") == "Keys"
    await page.keyboard.press("Escape")


async def many_variations_leave_the_rest_in_its_place(page: "Page") -> None:
    """Their buttons took 2,600 pixels."""
    points = [f"{x}{y}" for x in "abcdefghi" for y in "abcdefghi" if f"{x}{y}" != "ee"]
    await open_record(page, f"(;SZ[9];B[ee]{''.join(f'(;W[{point}])' for point in points)})")
    await is_shown(page, "2 / 2")
    await page.keyboard.press("Home")
    await page.keyboard.press("ArrowRight")
    await until(page, "document.querySelectorAll('#branches button').length === 80")
    assert await page.evaluate("document.querySelector('#branches').clientHeight <= 160")


async def a_comment_that_is_being_typed_is_kept(page: "Page") -> None:
    """Leave the page in the middle of a comment, which was lost then."""
    for kept in ("takes!", "takes!!"):
        await page.focus("#comment")
        await page.keyboard.press("Control+End")
        await page.keyboard.type("!")
        await page.reload()
        await is_shown(page, "7 / 7")
        await until(page, f"document.querySelector('#comment').value === '{kept}'")
    await page.focus("#comment")
    await page.keyboard.press("Control+End")
    await page.keyboard.type("?")
    other = await page.context.new_page()
    await other.goto(page.url)
    await until(other, "document.querySelector('#comment').value === 'takes!!?'")
    await other.close()


async def a_choice_that_is_not_possible_is_shown(page: "Page") -> None:
    """*Play* did nothing, and nothing said why: the wrong field was folded away."""
    await until(page, "document.querySelector('#setup').open && document.querySelector('[name=rules]').options.length")
    await page.evaluate("document.querySelector('[name=komi]').value = '6.25'")
    await page.click("#setup button[value=start]")
    await until(page, "document.querySelector('#more').open && document.activeElement.name === 'komi'")


async def a_tree_of_five_thousand_nodes_scrolls(page: "Page") -> None:
    moves = "".join(f";{'BW'[number % 2]}[]" for number in range(2500))
    points = [x + y for x in "abcdefghi" for y in "abcdefghi"]
    variations = "".join(f"(;B[{points[number % 81]}];W[])" for number in range(1250))
    await open_record(page, f"(;SZ[9]({moves}){variations})")
    await is_shown(page, "2500 / 2500")
    assert 0 < await page.evaluate(SCROLLED) < 500, "what can be seen"
    for _ in range(10):
        await page.keyboard.press("ArrowLeft")
    await is_shown(page, "2490 / 2500")
