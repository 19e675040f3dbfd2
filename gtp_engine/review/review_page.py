"""The page of a review: one HTML file that needs nothing else, made of a template and the review's JSON.

Its policy (Content-Security-Policy) lets it load nothing and run only the script of the template, named by its hash, so
that nothing in a hostile record can become code.
"""

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from typing import Any


def page_of(result: dict[str, Any], *, title: str) -> str:
    """Return the page of a review; its numbers are those of the JSON `result`, which it contains."""
    template = files("gtp_engine.review").joinpath("page.html").read_text("utf-8")
    names = [result["players"][color]["name"] for color in ("B", "W")]
    if all(names):
        title = " – ".join(names)
    # Inside a script element, "</" would end it and "<!--" would start a comment, also within a string.
    data = json.dumps(result, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    values = {"@TITLE@": html.escape(title), "@DATA@": data, "@POLICY@": _policy(template)}
    return re.sub("|".join(values), lambda mark: values[mark[0]], template)


def _policy(template: str) -> str:
    """Return the policy of the page, which names its style and its script by their hashes."""
    style, script = (_hash(template, f"<{name}>", f"</{name}>") for name in ("style", "script"))
    return f"default-src 'none'; style-src '{style}'; script-src '{script}'; base-uri 'none'; form-action 'none'"


def _hash(template: str, begin: str, end: str) -> str:
    """Return the hash of the element between two tags."""
    content = template.split(begin)[1].split(end)[0]
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")
