"""Books: what searches found in positions of one small board, one result for all positions that mirror each other.

    position_keys  which positions are the same: the key of a game's position, and how the board lies in it
    book           `Book`: positions with their moves, in a file; the value of each by minimax with error bars
    making         `BookMaker`: adds the positions that matter most, each searched once
    checks         checks of a book, comparisons with game records and KataGo's pages, its lines as text and as SGF

A book holds for one board and one set of rules.  Values are points on the board for Black, komi not counted, so that
it serves games with any komi.
"""
