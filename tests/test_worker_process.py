"""Commands that the user names, split as the platform does."""

import pytest

from gtp_engine.worker_process import split_command

ON_WINDOWS = r'"C:\My Go\katago.exe" gtp -model C:\nets\a.bin.gz'


def test_a_command_is_split_as_a_shell_does() -> None:
    assert split_command(" '/my go/katago' gtp -model a.bin.gz ") == ["/my go/katago", "gtp", "-model", "a.bin.gz"]


def test_on_windows_the_program_splits_its_command_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    assert split_command(f" {ON_WINDOWS} ") == ON_WINDOWS


@pytest.mark.parametrize(("command", "reason"), [("", "no command"), (" ", "no command"), ("a 'b", "No closing quot")])
def test_no_command_is_an_error(command: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        split_command(command)
