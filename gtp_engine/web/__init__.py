"""The engine over a network, and a page to play and to analyse on; needs aiohttp (the extra `[web]`).

    web_process       `gtp-engine serve` as a process
    server_settings   where it listens, who may connect, how it encrypts
    installed         whether aiohttp is there
    listener          the listening socket
    access            checks of every request: names, origins, the token
    application       which address is answered by what
    engine_host       the networks, shared by all clients, and the thread for analyses
    client_socket     a WebSocket, accepted within limits
    outbox            what is on its way to a client, within limits
    analysis_socket   KataGo's analysis protocol for KaTrain and others
    gtp_socket        GTP, with an engine for each client
    static_pages      the page: `static/` holds its HTML, CSS and JavaScript; board, positions and
                      graphs are those of a review (`review/page/`)
    play_socket       what a page says and hears
    open_games        the games that pages show, each with an engine
    open_game         one game and the pages that show it
    saved_games       games on disk
    saved_reviews     finished reviews on disk
    json_files        a folder of such files
    game_reviews      reviews of games, one at a time
    review_work       the review of one game, in a thread
    guest_evaluator   the shared network for a review, which waits for games
    precedence        who searches first
    bridge            `gtp-engine connect`: the other end, a GTP engine on stdin and stdout

The event loop waits for nothing but the network: engines, searches, the replay of games and files are in threads.
"""
