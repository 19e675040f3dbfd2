"""The GTP 2 server: text protocol, command table, commands and the session on stdin and stdout.

A line on its way from stdin to stdout:

    session           threads, pipes and file descriptors, the log file; the only module here that uses stdin and stdout
    server            one line in, one reply out; no I/O; what it tells a person who types commands
    protocol          bytes and lines <-> Command and Response, replies at once or line by line; knows no command
    registry          the table of commands: name, usage, summary, handler
    args              words of a command -> values, with the draft's error messages
    commands/         the handlers, one module per subject; importing the package fills the table
    reports           searches as text: for analyze commands, servers, GoGui's live graphics or a person in a terminal

No module but `reports` imports numpy, numba or the engine at its top, so that the handshake (`name`, `list_commands`,
...) is answered while the engine is still loading.  Source of the protocol: GTP version 2 draft 2 (Farnebäck 2002), and
GNU Go 3.8 where the draft leaves something open.
"""
