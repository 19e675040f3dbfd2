from gtp_engine.people.play import *  # noqa: F403
