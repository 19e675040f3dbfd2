"""The reply to one command: whole or in lines, and ended only once."""

import threading

import pytest

from gtp_engine.protocols.gtp.protocol import Reply


@pytest.mark.parametrize(
    ("id", "calls", "sent"),
    [
        (7, [("end", "D4")], ["=7 D4\n\n"]),
        (None, [("fail", "unknown command")], ["? unknown command\n\n"]),
        (3, [("open",), ("open",), ("line", "info"), ("end", "play D4")], ["=3\n", "info\n", "play D4\n\n"]),
        (None, [("line", "two\n\nlines"), ("line", ""), ("end",)], ["=\n", "two\nlines\n", "\n"]),
        (None, [("open",), ("end",), ("line", "late"), ("end", "later"), ("interrupt",)], ["=\n", "\n"]),
        (None, [("interrupt",), ("end", "D4")], ["= cancelled\n\n"]),
        (None, [("open",), ("interrupt",), ("end", "D4")], ["=\n", "cancelled\n\n"]),
        (None, [("line", "info"), ("fail", "internal error")], ["=\n", "info\n", "\n"]),
    ],
    ids=["plain", "failure", "stream", "first line opens", "nothing follows", "interrupted", "stream is", "late error"],
)
def test_what_is_sent(id: int | None, calls: list[tuple[str, ...]], sent: list[str]) -> None:
    found: list[str] = []
    reply = Reply(found.append, id)
    reply.interrupted = "cancelled"
    for name, *words in calls:
        reply.end(*words, ok=False) if name == "fail" else getattr(reply, name)(*words)
    assert found == sent
    assert reply.is_ended and reply.is_open == (sent[0] in ("=\n", "=3\n"))


def test_lines_of_several_threads_stay_whole_and_before_the_end() -> None:
    sent: list[str] = []
    reply = Reply(sent.append)

    def write(name: str) -> None:
        for number in range(200):
            reply.line(f"{name} {number}")

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    reply.end("end")
    for thread in threads:
        thread.join()
    assert "".join(sent).endswith("\n\n")
    assert "".join(sent).count("\n\n") == 1
