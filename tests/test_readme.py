"""README.md is true: its examples run, its transcript replays, its tables are those of the code."""

import doctest
import importlib.machinery
import importlib.util
import re
from pathlib import Path

import pytest

from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.gtp.server import GtpServer

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_examples_run() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    test = doctest.DocTestParser().get_doctest(code, {}, "README.md", "README.md", 0)
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert result.attempted > 5
    assert result.failed == 0


def test_the_transcript_replays() -> None:
    (text,) = re.findall(r"<!-- transcript -->\n```\n(.*?)```", README, re.DOTALL)
    exchanges = re.findall(r"> (.*?)\n(=.*?)(?=\n\n|\Z)", text, re.DOTALL)
    assert len(exchanges) == text.count("> ") == 6
    config = Config().with_values({"search.visits": "1000", "search.seed": "1"})
    engine = Engine(config)
    server = GtpServer(config, lambda: engine)
    for command, reply in exchanges:
        assert server.handle_line(command).strip() == reply.strip(), command
    engine.close()


def test_the_tables_are_those_of_the_code() -> None:
    script = str(ROOT / "scripts" / "update_readme")
    loader = importlib.machinery.SourceFileLoader("update_readme", script)
    spec = importlib.util.spec_from_loader("update_readme", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    assert module.with_tables(README) == README, "run scripts/update_readme"


OTHER_FLAGS = {"--json", "--mini", "--parallel", "--plot", "--random-plies", "--sprt", "--teacher", "--tiny"}
"""Flags of other commands than `gtp`, and of scripts."""


@pytest.mark.parametrize("flag", sorted(set(re.findall(r"`(?:gtp-engine )?(--[a-z-]+)", README)) - OTHER_FLAGS))
def test_the_flags_named_exist(flag: str) -> None:
    known = {option.flag for option in Config.options()}
    assert flag in known or flag.replace("--no-", "--") in known
