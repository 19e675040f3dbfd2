"""Values in Java's format of properties (java.util.Properties), which kgsGtp and GoGui read."""

import json


def escaped(text: str) -> str:
    """Return a value: backslashes are doubled, and characters outside ASCII become their numbers, as in JSON."""
    return json.dumps(text)[1:-1]
