"""KataGo's analysis protocol: queries as lines of JSON on stdin, responses on stdout, in no fixed order.

    server          one line in, responses out; threads, stdin and stdout
    query           a query as a plain value, read from JSON
    schedule        which position is searched next
    worker          searches the positions and sends the responses
    results         a search report as a response

Source: KataGo's `docs/Analysis_Engine.md` and, where that leaves something open, the behaviour of KataGo 1.17.
"""
