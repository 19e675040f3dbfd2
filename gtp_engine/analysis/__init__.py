"""KataGo's analysis protocol: queries as lines of JSON on stdin, answers on stdout, in no fixed order.

    fields     values of a query's fields, by type
    query      a query as a plain value
    schedule   which position is searched next
    worker     searches and responds
    results    a search report as a response
    server     one line in, responses out
    session    threads, stdin and stdout

Source: KataGo's `docs/Analysis_Engine.md` and, where that is silent, what its program does (version 1.17).
"""
