"""A plan for a fixed time on a machine with a GPU: generate, train, finish, in parts that continue each other.

settings    what is planned: `gtp-engine train plan`
run_part    one part, from the beginning of a process to the files that it leaves
clock       how much time there is, and for what
state       what the parts pass on to each other, as JSON
generation  games of many workers, evaluated together on the device
speeds      how fast a network trains here, in which batches, compiled or not
learning    the runs of training
results     the files to keep, within the limits of a transfer
"""
