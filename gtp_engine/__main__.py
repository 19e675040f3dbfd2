"""The command `gtp-engine`, also as `python -m gtp_engine`."""

import os
import signal


def _end(*_: object) -> None:
    """End the process in one line: an exception would be shown by Python, or lost within an import."""
    os.write(2, b"Interrupted.\n")
    os._exit(128 + signal.SIGINT)


def main() -> None:
    """Run the command line; Ctrl-C ends it while it is imported, too."""
    if is_interruptible := signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    from gtp_engine.cli import main as run

    if is_interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
