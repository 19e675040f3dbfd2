"""The page in its reader's language."""

import pytest
from web.browser import Windows, needs_browser, open_record, until
from web.page_support import click_point

from gtp_engine.base.languages import page_texts

pytestmark = needs_browser


@pytest.mark.parametrize(("locale", "language"), [("ja-JP", "ja"), ("zh-TW", "zh-Hant")])
async def test_the_page_speaks_the_browsers_language(locale: str, language: str, windows: Windows, port: int) -> None:
    texts = page_texts(language)
    page = await windows.page(f"http://127.0.0.1:{port}/", locale=locale)
    await until(page, "document.querySelector('#setup').open")
    assert await page.evaluate("document.documentElement.lang") == language
    assert await page.inner_text("#setup-title") == texts["New game"]
    await page.click("#setup button[value=start]")
    await until(page, f"document.querySelector('#status').innerText.includes({texts['Your move.']!r})")
    assert await page.inner_text("#pass") == texts["Pass"]
    label = await page.get_attribute(".point[data-x='4'][data-y='4']", "aria-label")
    assert label == f"E5, {texts['empty']}"
    await click_point(page, "E5")
    await until(page, "document.querySelector('#number').innerText === '2 / 2'")
    await click_point(page, "E5")
    await until(page, "!document.querySelector('#error').hidden")
    assert await page.inner_text("#error") == texts["{vertex} is occupied."].format(vertex="E5"), "in English"
    await open_record(page, "(;SZ[9]TR[ee])")
    await until(page, f"document.querySelector('[aria-label=\"E5, {texts['empty']}, {texts['triangle']}\"]')")
