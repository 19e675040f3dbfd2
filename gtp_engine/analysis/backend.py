"""The part of an analysis session that takes time to load: networks, and the searches that use them."""

from typing import Any, Protocol

from gtp_engine.config import Config
from gtp_engine.search.limits import Searcher


class Backend(Protocol):
    """Creates searchers and answers questions about the networks; called by the searching thread only."""

    def open_searcher(self, config: Config) -> Searcher:
        """Return a new searcher with these settings."""
        ...

    def models(self) -> list[dict[str, Any]]:
        """Return one entry for each network, with the keys of KataGo's `query_models`."""
        ...

    def clear_cache(self) -> None:
        """Clear cached evaluations."""
        ...

    def close(self) -> None:
        """Free the networks."""
        ...
