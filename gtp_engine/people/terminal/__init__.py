"""The game in the terminal: `gtp-engine play`.

    terminal_game   the loop: the person's commands, the engine's moves, the end of the game
    typed_command   what a typed line means, and which file a typed name
    displays        shows screens and reads commands: a live screen with a cursor, or line by line
    board_picture   what is on the screen, and the board in colours (rich) or as plain text
    gtp_guide       what a person reads who types GTP commands instead, for `gtp-engine gtp`
    key_reader      single keys of a terminal, on Unix and Windows, and its signals

`gtp_engine.people.play` holds the game itself; nothing here knows the rules.
"""
