"""Work handed to other processes, of this machine or of a Ray cluster; whatever dies is replaced.

Modules:

    worker_pool    tasks and who does them, retries and replacement, processes of this machine; start reading here
    ray_cluster    the same on other machines: actors, and the package, files and kernels that they need

Self-play and labelling (`training.distillation`), reviews and matches hand out their work here.
"""
