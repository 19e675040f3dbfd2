"""What every training run uses; independent of what is learned and from which data.

loop  learning    the training loop, of which runs are derived, and its batches; the settings of learning
devices           where and in which precision torch computes, on how many threads
optimizer         how weights change: gradients, steps, the average of the weights
checkpoint        what a run leaves behind
reporting         what is reported about a run: its log, its curves, the bar on the terminal
game_data         games of SGF folders, and which of them are held out
"""
