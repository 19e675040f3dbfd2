"""Tree search: from a game and a request to a report on the root's moves.

It knows no protocol, no clock and no network: an `Evaluator` is passed in, and the caller's watcher and cancel token
end the search.  Two searches stand behind one interface, `limits.Searcher`:

puct/           with a network: its policy directs the search, its value says how good the leaves are
rollouts/       without one: UCT or RAVE, leaves played out to the end of the game

Both do playouts of four steps: *select* a leaf by walking down the tree, *evaluate* its position, *expand* it with an
edge for each legal move, *back up* the value to the root.  Both work on batches of playouts: one kernel call selects a
batch, one adds it to the tree, and Python runs only in between.  The docstrings of the two packages follow a playout
file by file.

Shared by both:

limits          SearchRequest: reports, moves left out; its Limits: visits, watcher; Progress, which the watcher reads;
                Searcher, what the engine calls; CancelToken, which ends the searches of one command; where the position
                to search now is found in the tree of the last search
players         the players of rollouts that other parts of the package have, imported by name
report          SearchReport: the root's moves, the value, ownership; scores for reports without a network
repetition      keys of positions on a path, repetitions and long cycles (kernels); the rule of superko is in `go.game`
fights          proofs of local fights: whether a chain is captured or survives, by `proofs`, which has the kernels
eye_spaces      what proofs know without a search
proof_work      the arrays and aims of proofs
rng             random numbers for kernels
"""
