"""Books: what searches found in positions of one small board, one result for all positions that mirror each other.

    book           `Book`: positions with their moves, in a file; the value of each by minimax with error bars; the key
                   that mirrored positions share
    making         `enlarge`: adds the positions that matter most, each searched once
    checks         checks of a book, comparisons with game records, its lines as text and as SGF

A book holds for one board and one set of rules.  Values are points on the board for Black, komi not counted, so that
it serves games with any komi.
"""
