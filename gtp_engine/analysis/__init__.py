"""KataGo's analysis protocol: queries as lines of JSON on stdin, responses on stdout, in no fixed order.

    session         threads, stdin and stdout
    server          one line in, responses out
    query           a query as a plain value
    fields          values of a query's fields, by type
    schedule        which position is searched next
    worker          searches the positions and sends the responses
    results         a search report as a response
    backend         what takes time to load: networks and searches

Source: KataGo's `docs/Analysis_Engine.md` and, where that leaves something open, the behaviour of KataGo 1.17.
"""
