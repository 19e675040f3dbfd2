"""What every training run uses; knows neither what is learned nor from which data.

devices  data_parallel  gradients  where and in which precision torch computes, on how many threads
optimizer  learning_rate  averaging  how weights change
checkpoint_file  line_log  curves                what a run leaves behind and prints
symmetries                 boards in all orientations, as arrays
command_chain              commands that build on each other, resumed where they were interrupted
requirements               whether the extra `train` is installed
"""
