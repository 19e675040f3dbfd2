"""What every other room stands on, and what knows nothing of Go.

errors          every exception raised on purpose, and how messages are made
former_names    names of the public interface that have moved
files           files written whole or not at all, locks, paths of the user
signals         Ctrl-C and SIGTERM: how they end a command, or long work
streams         stdin and stdout of the protocols; everything else goes to stderr
progress        the progress bar
languages       texts in the reader's language, from the catalogues in `locale/`
installation    how this copy was installed, and the command that adds a package to it
machine         processors and memory of this machine
worker_process  a process that works for this one and ends with it
workers         many of them, on this machine or on a Ray cluster: retries and replacement
steps           long work: resumed, chained, ended by a deadline
"""
