"""Shared by the tests of reviews: records, and reviews with an evaluator of a few lines."""

from collections.abc import Callable
from dataclasses import replace

from puct_support import AreaEvaluator

from gtp_engine import Config, Rules
from gtp_engine.people.review import Effort, GameAnalysis, GameReview, SavedWork, new_review, read_game

RECORD = b"(;GM[1]SZ[5]KM[0.5]RU[Chinese]PB[Ann]PW[Bob]BR[3k]RE[B+2];B[cc];W[bb];B[dd];W[aa];B[bc];W[ee])"

TIMED = RECORD.replace(b";B[cc];W[bb]", b"TM[600];B[cc]BL[588];W[bb]WL[597]")
"""The same where the first moves took 12 and 3 seconds."""


def review_of(data: bytes = RECORD, visits: int = 8) -> GameReview:
    """Return a review of a record."""
    line, analysis = read_game(data, rules=Rules()), analysis_of(visits)
    return new_review(line, analysis.run(line, SavedWork(None, ""), silent), analysis.network(line))


def with_mistakes(data: bytes = RECORD) -> GameReview:
    """Return a review in which the first move of each player has lost eight points."""
    review = review_of(data)
    findings = list(review.findings)
    findings[1] = replace(findings[1], lead=findings[0].lead - 8, winrate=0.3)
    findings[2] = replace(findings[2], lead=findings[1].lead + 8, winrate=0.6)
    for number in (0, 1):
        played = review.moves[number].vertex
        others = tuple(each for each in findings[number].candidates if each.vertex != played)
        findings[number] = replace(findings[number], candidates=others)
    return new_review(review.line, findings, "test")


def analysis_of(visits: int | None = 8, evaluator: AreaEvaluator | None = None) -> GameAnalysis:
    return GameAnalysis(Config(), evaluator or AreaEvaluator(), Effort(visits=visits))


def silent(share: float, text: str) -> None:
    """Receive the progress."""


def stopping_after(calls: int) -> Callable[[float, str], None]:
    """Return a receiver of progress that is interrupted at a call."""
    left = [calls]

    def progress(share: float, text: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    return progress
