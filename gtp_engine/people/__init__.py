"""What people use: games against the engine, reviews, and what connects them with it.

play           a game between a person and the engine; no user interface
terminal       that game in a terminal
web            the page in the browser, and the engine over a network
review         reviews of records: mistakes, problems, scores; as page, SGF and text
rank_estimate  which rank a player's moves look like
mcp_server     tools for language models
front_ends     configurations of the programs that start the engine
doctor         what this machine has, and what is wrong with it
"""
