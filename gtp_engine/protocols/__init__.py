"""What the protocols have in common: GTP, KataGo's analysis protocol, and both over WebSockets.

    line_session   lines in, replies out: reader, writer, and the end of the process
    report_values  a search report by KataGo's names of its fields, as a colour sees it

What lines mean is for `gtp` and `analysis`.
"""
