"""What board and graph draw, in a real browser: labels on a phone, territory, lines that are seen."""

from typing import TYPE_CHECKING

from web.browser import Windows, needs_browser, until

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = needs_browser

MODULE = """import('/board.js').then((board) => {
  const place = document.createElement('div');
  document.body.prepend(place);
  const put = (width) => {
    place.style.width = `${width}px`;
    place.replaceChildren();
    return place;
  };
  %s
})"""


async def test_what_board_and_graph_draw(windows: Windows, port: int) -> None:
    page = await windows.page(f"http://127.0.0.1:{port}/")
    await until(page, "document.querySelector('#setup').open")
    await no_territory_on_stones(page)
    await labels_of_a_phone(page)
    await lines_are_seen(page)


BOARD = """const drawn = new board.Board(put(%d), () => {}, { hasCursor: false });
  drawn.render({ width: 19, height: 19, rows: ['XO' + '.'.repeat(17), ...Array(18).fill('.'.repeat(19))],
    ownership: Array(361).fill(0.9),
    candidates: [{ x: 3, y: 3, text: '−14.1', brief: '−14', small: '2', loss: 14.1 }] });
"""


async def no_territory_on_stones(page: "Page") -> None:
    """Squares lay on top of stones; now a stone that is expected to be captured fades."""
    count = "[place.querySelectorAll('.owner-black').length, place.querySelectorAll('.doomed').length]"
    assert await page.evaluate(MODULE % (BOARD % 600 + f"return {count}")) == [361 - 3, 1]


async def labels_of_a_phone(page: "Page") -> None:
    """They had 7 pixels; a small board has short ones, and turning the phone changes them."""
    await page.evaluate(MODULE % (BOARD % 360 + "window.place = place"))
    await until(page, "place.querySelector('.candidate').textContent === '−14'")
    assert await page.evaluate("place.querySelector('.candidate text').getBoundingClientRect().height") > 10
    await page.evaluate("place.style.width = '700px'")
    await until(page, "place.querySelector('.candidate').textContent === '−14.12'")


CONTRAST = """([one, other]) => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const light = (color) => {
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((each) => each / 255)
      .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low, high] = [one, other].map(light).sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}"""
LINE = """(name) => {
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'polyline');
  line.setAttribute('class', name);
  document.querySelector('#graph').append(line);
  let behind = line.parentNode;
  while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentNode;
  const colors = [getComputedStyle(line).stroke, getComputedStyle(behind).backgroundColor];
  line.remove();
  return colors;
}"""
RING = """() => {
  document.querySelector('#save').disabled = false;
  document.querySelector('#save').focus({ focusVisible: true });
  return [getComputedStyle(document.activeElement).outlineColor, getComputedStyle(document.body).backgroundColor];
}"""
RING_ON_WOOD = """([wood, ring]) => {
  document.documentElement.dataset.wood = wood;
  const made = [ring, 'wood'].map((name) => {
    const each = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    each.setAttribute('class', name);
    return document.querySelector('#board svg').appendChild(each);
  });
  const colors = [getComputedStyle(made[0]).stroke, getComputedStyle(made[1]).fill];
  made.forEach((each) => each.remove());
  return colors;
}"""


async def lines_are_seen(page: "Page") -> None:
    """Compare lines with what is behind them: that of the lead had a contrast of 2.6 : 1; WCAG asks for 3."""
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for name in ("graph-winrate", "graph-lead"):
            assert await page.evaluate(CONTRAST, await page.evaluate(LINE, name)) >= 3, (scheme, name)
        assert await page.evaluate(CONTRAST, await page.evaluate(RING)) >= 3, "of a button that has the focus"
        for wood in ("kaya", "walnut", "paper"):
            rings = [await page.evaluate(RING_ON_WOOD, [wood, ring]) for ring in ("ring-dark", "ring-light")]
            assert max([await page.evaluate(CONTRAST, colors) for colors in rings]) >= 3, f"the focus on {wood}"
