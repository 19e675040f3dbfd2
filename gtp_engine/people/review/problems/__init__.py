"""Problems of life and death: proved where the reader of fights can, else as a network expects.

life_and_death    LifeAndDeath: asks the proofs first, then a network's search
proofs            first moves that are proved to save or capture a chain
solution          Solution: first moves with what is known of them, as text and as a record
frames            the settled board in which a problem is read
regions           where the first move may be
records           the problems of a file, and one of them as plain values
"""

from gtp_engine.people.review.problems.life_and_death import LifeAndDeath
from gtp_engine.people.review.problems.records import problem_values, problems_in
from gtp_engine.people.review.problems.regions import parse_region, region_of
from gtp_engine.people.review.problems.solution import Solution

__all__ = ["LifeAndDeath", "Solution", "parse_region", "problem_values", "problems_in", "region_of"]
