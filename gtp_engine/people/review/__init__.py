"""Reviews of games: what each move lost, who played how well, and what would have been better.

    from gtp_engine import review

    bytes --read_game--> GameLine --GameAnalysis.run--> Findings --new_review--> GameReview --> files

game_line         the positions of a record's main line, and those of its variations
game_analysis     searches them in two passes, in groups side by side; how much, and what is kept
game_review       what was found in each position, what each move lost, accuracy, mistakes; the JSON
lessons           positions to solve, what people of the players' ranks play, and what was learned over games
openings          what people and games play in an opening, and what it loses
annotations       the annotated SGF
finished_reviews  the HTML page (of the files in `page`), the report for a terminal, the table of many games
review_files      many files: which to review, and where results go
score_report      the score of a position with its dead stones
problems          life and death in a region of the board; records of problems

The searches are `search.puct.joint_search`.  docs/review.md describes the JSON.
"""

from pathlib import Path

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.people.rank_estimate import RankReport, estimate_ranks
from gtp_engine.people.review.annotations import annotated
from gtp_engine.people.review.finished_reviews import page_of
from gtp_engine.people.review.game_analysis import Effort, GameAnalysis, OnProgress, SavedWork
from gtp_engine.people.review.game_line import GameLine, read_game
from gtp_engine.people.review.game_review import Candidate, Finding, GameReview, PlayedMove, Side, new_review
from gtp_engine.people.review.lessons import People, completed, open_people
from gtp_engine.people.review.problems import LifeAndDeath, Solution, problems_in
from gtp_engine.people.review.score_report import ScoreReport, score_record
from gtp_engine.sgf import GameTree, read_sgf_file

__all__ = [
    "review_game",
    "read_game",
    "annotated",
    "page_of",
    "GameReview",
    "PlayedMove",
    "Side",
    "Finding",
    "Candidate",
    "GameLine",
    "GameAnalysis",
    "SavedWork",
    "Effort",
    "People",
    "open_people",
    "completed",
    "new_review",
    "LifeAndDeath",
    "Solution",
    "problems_in",
    "score_record",
    "ScoreReport",
    "estimate_ranks",
    "RankReport",
]


def review_game(
    record: bytes | str | Path | Game | GameTree,
    evaluator: Evaluator,
    *,
    effort: Effort | None = None,
    config: Config | None = None,
    rules: Rules | None = None,
    komi: float | None = None,
    people: People | None = None,
    progress: OnProgress = lambda share, text: None,
) -> GameReview:
    """Return the review of a game, or of the first one of a record, with the network of `evaluator`, which stays open.

    The record is SGF, GIB, NGF or UGF as bytes or text, the path of a file, a `Game` or a `GameTree`.

    `rules` (by default those of the configuration) and `komi` are for records that name none.  With `people`
    (`open_people`) it says what people play, and the ranks that the moves look like.  `progress` is called with the
    share that is done, 0 to 1, and a text; an error that it raises ends the review.  Raises SgfError for a record that
    cannot be read, ConfigError for a network without score and ownership, ModelError for a board that it does not play.
    """
    config = config or Config()
    if isinstance(record, Path):
        record = read_sgf_file(str(record))
    elif not isinstance(record, bytes):
        record = (record if isinstance(record, GameTree) else GameTree(record)).to_bytes()
    line = read_game(record, rules=rules or Rules.parse(config.game.rules), komi=komi)
    analysis = GameAnalysis(config, evaluator, effort or Effort())
    findings = analysis.run(line, SavedWork(None, ""), progress)
    return completed(new_review(line, findings, analysis.network(line)), analysis, people)
