"""The room stays closed: a game without AlphaGo's networks or rollouts is loaded and searched without it."""

import subprocess
import sys


def test_nothing_imports_alphago_until_it_is_asked_for() -> None:
    program = (
        "import sys; import gtp_engine.nn.loading, gtp_engine.search.puct.puct_search;"
        "import gtp_engine.protocols.gtp.session;"
        "from gtp_engine.config import Config; from gtp_engine.engine.resources import Resources;"
        "from gtp_engine.engine.searches import new_searcher;"
        "from gtp_engine import FunctionEvaluator; from gtp_engine.search.players import rollout_players;"
        "new_searcher(Resources(None), Config()).close();"
        "assert rollout_players(Config(), FunctionEvaluator(print, 'none')) is None;"
        "print([name for name in sys.modules if name.startswith('gtp_engine.training.alphago')])"
    )
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert printed.strip() == "[]"
