"""The engine over a network, and a page to play and to analyse on.

    web_process       `gtp-engine serve` as a process; which address is answered by what
    server_settings   where it listens, who may connect, how it encrypts
    access            checks of every request: names, origins, the token
    engine_host       the networks, shared by all clients, the thread for analyses, and who searches first
    client_socket     a WebSocket, accepted within limits, and what is on its way to the client
    protocol_sockets  GTP, with an engine for each client, and KataGo's analysis protocol for KaTrain and others
    play_socket       what a page sends and receives
    open_games        the games that pages show, each with an engine
    record_processes  records of clients are read in processes that can be ended
    saved_games       games on disk
    game_reviews      reviews of games, one at a time
    operations        health, figures, the log, and how the server ends
    bridge            `gtp-engine connect`: the other end, a GTP engine on stdin and stdout

`static/` holds the page's HTML, CSS and JavaScript, which need nothing from elsewhere; board, positions and graphs are
those of the page of a review (`people/review/page/`).

The event loop waits for nothing but the network: engines, searches, the replay of games and files are in threads, long
records of clients in processes of their own first.
"""
