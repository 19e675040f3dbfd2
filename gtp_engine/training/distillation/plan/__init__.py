"""A plan for a fixed time on a machine with a GPU: generate, train, finish, in parts that continue each other.

run_part    one part, from the beginning of a process to the files that it leaves
plan_state  how much time a part has and for what, and what the parts pass on to each other, as JSON
speeds      how fast a network trains here, in which batches, compiled or not
"""
