"""`gtp-engine serve` and `gtp-engine connect` on the command line."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from gtp_engine.cli import cli


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["serve", "--token", "short"], "16 or more letters"),
        (["serve", "--key", "key.pem"], "a key without a certificate"),
        (["serve", "--port", "65536"], "an integer from 0 to 65535"),
        (
            ["serve", "--certificate", "missing.pem"],
            "'missing.pem' cannot be read: No such file or directory: expected",
        ),
        (["connect", "127.0.0.1:1", "--certificate", "missing.pem"], "'missing.pem' cannot be read: No such file"),
        (["connect", "ftp://x"], "expected HOST, HOST:PORT"),
        (["connect", "127.0.0.1:1", "--token", "a token of two\nlines"], "16 or more letters"),
    ],
)
def test_wrong_options_end_in_one_sentence(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENGEN_DATA_DIR", str(tmp_path))
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
