"""The game in the terminal: `gtp-engine play`.

    terminal_game   the loop: the person's commands, the engine's moves, the end of the game
    typed_command   what a typed line means
    screen          what is on the screen: the board, the facts beside it, a message
    board_picture   a board in colours (rich) or as plain text
    displays        shows screens and reads commands: a live screen with a cursor, or line by line
    key_reader      single keys of a terminal, on Unix and Windows
    start_log       the engine's log while it starts
    interruption    Ctrl-C ends a search instead of the program; a game that is ended from outside is saved first
    saving          the game's file; an existing one is replaced only if the person agrees

`gtp_engine.play` holds the game itself; nothing here knows the rules.
"""
