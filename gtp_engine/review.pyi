from gtp_engine.people.review import *  # noqa: F403
