"""What every training run uses; independent of what is learned and from which data.

loop  learning             the training loop with its `Task`, and the settings of learning
devices  data_parallel  gradients   where and in which precision torch computes, on how many threads
optimizer  averaging       how weights change
prefetch  symmetries  held_out      batches prepared in advance, in all orientations, and which games are held out
observers  reporting  run_log  curves   what is reported about a run
checkpoint  network_file  writing  stopping     what a run leaves behind, and how it is interrupted
sgf_folder                 the games of a folder of SGF files
command_chain              commands that build on each other, resumed where they were interrupted
requirements               whether the extra `train` is installed
"""
