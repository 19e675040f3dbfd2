"""The reply to one command: whole or in lines, and ended only once."""

import threading

from gtp_engine.gtp.protocol import Reply


def test_a_plain_reply() -> None:
    sent: list[str] = []
    Reply(sent.append, 7).end("D4")
    assert sent == ["=7 D4\n\n"]


def test_a_failure() -> None:
    sent: list[str] = []
    Reply(sent.append).end("unknown command", ok=False)
    assert sent == ["? unknown command\n\n"]


def test_a_stream_begins_with_its_id_and_ends_with_a_blank_line() -> None:
    sent: list[str] = []
    reply = Reply(sent.append, 3)
    reply.open()
    reply.open()
    reply.line("info move D4")
    reply.line("")
    reply.line("two\n\nlines")
    reply.end("play D4")
    assert sent == ["=3\n", "info move D4\n", "two\nlines\n", "play D4\n\n"]


def test_the_first_line_opens_a_stream() -> None:
    sent: list[str] = []
    reply = Reply(sent.append)
    reply.line("info")
    reply.end()
    assert "".join(sent) == "=\ninfo\n\n"


def test_nothing_follows_the_end() -> None:
    sent: list[str] = []
    reply = Reply(sent.append)
    reply.open()
    reply.end()
    reply.line("late")
    reply.end("later")
    reply.interrupt()
    assert "".join(sent) == "=\n\n"
    assert reply.is_ended


def test_an_interruption_is_the_last_line_of_a_stream() -> None:
    for is_open, expected in ((False, "= cancelled\n\n"), (True, "=\ncancelled\n\n")):
        sent: list[str] = []
        reply = Reply(sent.append)
        reply.interrupted = "cancelled"
        if is_open:
            reply.open()
        reply.interrupt()
        reply.end("D4")
        assert "".join(sent) == expected


def test_an_error_after_lines_only_ends_them() -> None:
    sent: list[str] = []
    reply = Reply(sent.append)
    reply.line("info")
    reply.end("internal error", ok=False)
    assert "".join(sent) == "=\ninfo\n\n"


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
