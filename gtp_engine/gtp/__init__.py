"""The GTP 2 server: text protocol, command table, commands and the session on stdin and stdout.

From the wire inwards:

    protocol   bytes and lines <-> Command and Response; knows no command
    args       words of a command -> values; the spec's wording when they are wrong
    registry   the table of commands: name, usage, summary, handler
    commands/  the handlers, one module per subject; importing the package fills the table
    server     one line in, one reply out; no I/O
    session    threads, pipes and file descriptors; the only module that touches stdin and stdout

Nothing here imports numpy, numba, sgfmill or the engine when it is imported: the handshake (`name`,
`list_commands`, ...) is answered while the compiled part of the engine is still loading in the background.
Source of the protocol: GTP version 2 draft 2 (Farnebäck 2002); where the draft is silent, GNU Go 3.8 is
followed.
"""
