"""The GTP 2 server: text protocol, command table, commands and the session on stdin and stdout.

A line on its way from stdin to stdout:

    session           the session on stdin and stdout (`protocols.line_session`): its queue, its log file, its engine
    commands/         the handlers, one module per subject; importing the package fills the table
    server            the table of commands, and what runs them: one line in, one reply out; no I/O
    reports           searches as text: for analyze commands, servers, GoGui's live graphics or a person in a terminal
    protocol          bytes and lines <-> commands and responses, replies at once or line by line; words of a command ->
                      values, with the draft's error messages; knows no command

The handshake (`name`, `list_commands`, ...) is answered while the engine is still loading: nothing here imports it, nor
numba or what runs networks.  Source of the protocol: GTP version 2 draft 2 (Farnebäck 2002), and
GNU Go 3.8 where the draft leaves something open.
"""

from gtp_engine.protocols.gtp import commands as commands
