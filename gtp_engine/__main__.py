"""`python -m gtp_engine`: the same as the command `gtp-engine`."""

from gtp_engine.cli import main

if __name__ == "__main__":
    main()
