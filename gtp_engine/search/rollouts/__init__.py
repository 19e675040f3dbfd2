"""Tree search that needs no network: UCT and RAVE, positions judged by playing them out."""
