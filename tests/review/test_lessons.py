"""What can be learned from a review: positions to solve, what people of the players' ranks play, what was solved."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from fake_evaluators import UniformEvaluator
from puct_support import AreaEvaluator
from review.review_support import RECORD, analysis_of, review_of, with_mistakes

from gtp_engine import Config, Rules
from gtp_engine.config.human import profile_of, rank_name
from gtp_engine.evaluation.evaluator import Request
from gtp_engine.evaluation.positions import conditions_of_row
from gtp_engine.people.review import GameReview, People, completed, lessons, read_game
from gtp_engine.people.review.game_analysis import Effort, GameAnalysis
from gtp_engine.people.review.game_review import PeopleChoice
from gtp_engine.people.review.lessons import LearningRecord, _is_next


class RankedEvaluator(UniformEvaluator):
    """People who play the point `favourite` the more often the weaker they are: 2% for every rank below 9d."""

    def __init__(self, favourite: int) -> None:
        super().__init__()
        self._favourite = favourite
        self.asked: list[str] = []

    def evaluate(self, request: Request) -> None:
        super().evaluate(request)
        for row in range(request.rows):
            profile = profile_of(conditions_of_row(request.positions, row).human_profile)
            assert profile.black_rank == profile.white_rank
            self.asked.append(rank_name(profile.black_rank))
            policy = request.out.policy[row]
            if policy[self._favourite] > 0:
                share = 0.02 * (profile.black_rank - 1)
                policy *= (1 - share) / (1 - policy[self._favourite])
                policy[self._favourite] = share


def people_who_play(review: GameReview, number: int) -> tuple[People, RankedEvaluator]:
    human = RankedEvaluator(review.line.moves[number - 1].point)
    return People(AreaEvaluator(), human, None), human


def test_a_mistake_says_what_people_of_some_ranks_play() -> None:
    review = with_mistakes()
    mistake = review.mistakes[0]
    people, _ = people_who_play(review, mistake.number)
    found = completed(review, analysis_of(), people)
    assert found.side("B").played_like.rank == "3k", "of the record"
    choice = found.moves[mistake.number - 1].people
    assert choice is not None and (choice.rank, choice.vertex) == ("3k", mistake.vertex)
    assert choice.shares == {"3k": 0.22, "2k": 0.2, "1k": 0.18, "3d": 0.12}
    assert choice.share == choice.played_share == 0.22
    other = next(move for move in found.moves if not move.is_mistake)
    assert other.people is not None and other.people.shares == {}


def test_mistakes_that_people_a_little_stronger_make_less_often_are_worth_studying() -> None:
    review = with_mistakes()
    number = review.mistakes[0].number
    people, _ = people_who_play(review, number)
    lessons = {lesson.number: lesson for lesson in completed(review, analysis_of(), people).lessons}
    assert lessons[number].is_next, "18% two ranks above, 22% of the player's rank"
    assert not any(lesson.is_next for lesson in completed(review, analysis_of(), None).lessons), "no network says it"


@pytest.mark.parametrize(
    ("own", "above", "is_next"),
    [(0.2, 0.16, True), (0.2, 0.18, False), (0.2, 0.25, False), (0.01, 0.001, False), (0.02, 0.0, True)],
)
def test_a_mistake_that_is_hardly_rarer_two_ranks_above_can_wait(own: float, above: float, is_next: bool) -> None:
    """By mistakes of people: where the network says 0.9 times as many, as many made it."""
    assert _is_next(PeopleChoice("3k", "D4", own, own, {"3k": own, "2k": above, "1k": above})) is is_next


def test_a_rank_that_is_not_known_is_not_invented() -> None:
    review = with_mistakes(RECORD.replace(b"BR[3k]", b"BR[?]"))
    people, human = people_who_play(review, 1)
    found = completed(review, analysis_of(), people)
    assert all(move.people is None for move in found.moves) and human.asked == []
    assert found.side("B").played_like.note == "the network uniform has no table of ranks"
    review = with_mistakes(RECORD.replace(b"BR[3k]", b"BR[3p]"))
    assert completed(review, analysis_of(), people_who_play(review, 1)[0]).side("B").played_like.rank == "9d"
    assert [lessons._above(rank, 2) for rank in ("9d", "1k", "20k")] == ["9d", "2d", "18k"]


def test_every_move_that_was_compared_is_an_answer_and_right_if_it_loses_less_than_a_point() -> None:
    review = with_mistakes()
    found = completed(review, analysis_of())
    assert [lesson.number for lesson in found.lessons] == sorted(move.number for move in review.mistakes) != []
    for lesson in found.lessons:
        move = found.moves[lesson.number - 1]
        answers = {answer.vertex: answer for answer in lesson.answers}
        candidates = {each.vertex for each in found.findings[move.number - 1].candidates} - {"pass"}
        assert answers.keys() >= {move.vertex, *candidates}
        assert answers[move.vertex].points_lost == move.points_lost and not answers[move.vertex].is_right
        assert move.best is not None and answers[move.best].points_lost == 0 and answers[move.best].is_right
        assert all(answer.line[0] == answer.vertex for answer in lesson.answers)
        assert len(answers[move.vertex].line) > 1, "the refutation"
        assert [answer.is_right for answer in lesson.answers] == [each.points_lost < 1 for each in lesson.answers]


def test_a_review_with_a_time_limit_has_the_lessons_that_it_knows() -> None:
    analysis = GameAnalysis(Config(), AreaEvaluator(), Effort(total=0.2))
    review = with_mistakes()
    for lesson in completed(review, analysis).lessons:
        assert {answer.vertex for answer in lesson.answers} >= {review.moves[lesson.number - 1].vertex}


def test_what_was_solved_is_counted_over_games(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "lessons.json"
    record = LearningRecord(path)
    assert record.counts() == {"games": 0, "lessons": 0, "solved": 0, "first": 0}
    record.add("one", 12, "shown")
    record.add("one", 30, "first")
    record.add("one", 30, "later")
    record.add("two", 5, "later")
    assert LearningRecord(path).counts() == {"games": 2, "lessons": 3, "solved": 2, "first": 1}
    record.add("one", 12, "later")
    assert LearningRecord(path).of("one") == {12: "later", 30: "first"}
    path.write_text(json.dumps({str(number): {"1": "first"} for number in range(1000)}))
    record.add("0", 2, "later")
    record.add("new", 1, "later")
    assert (record.counts()["games"], len(record.of("0")), record.of("1"), len(record.of("new"))) == (1000, 2, {}, 1)
    path.write_text("[damaged")
    assert record.counts()["games"] == 0


TIMES = [
    ("TM[600]", ";B[aa]BL[590];W[bb]WL[597.5];B[cc]BL[575]", (10.0, 2.5, 15.0)),
    ("TM[600]OT[5x30 byo-yomi]", ";B[aa]BL[20]OB[5];W[bb];B[cc]BL[11]OB[4];W[dd]WL[5]", (610.0, None, 19.0, 595.0)),
    ("TM[600]OT[5x30 byo-yomi]", ";B[aa]BL[30]OB[5];W[bb]WL[590]", (None, 10.0)),
    ("TM[60]OT[10 fischer]", ";B[aa]BL[65];W[bb]WL[70];B[cc]BL[72]", (5.0, 0.0, 3.0)),
    ("", ";B[aa]BL[65];W[bb];B[cc]BL[50]", (None, None, 15.0)),
    ("TM[60]", ";B[aa]BL[nan];W[bb]WL[61];B[cc]BL[x]", (None, None, None)),
    ("TM[1e9]", ";B[aa]BL[60];W[bb]", (None, None)),
]


@pytest.mark.parametrize(("head", "moves", "seconds"), TIMES, ids=range(len(TIMES)))
def test_the_time_of_each_move_is_read_as_far_as_it_is_told(
    head: str, moves: str, seconds: tuple[float | None, ...]
) -> None:
    line = read_game(f"(;SZ[9]{head}{moves})".encode(), rules=Rules())
    assert line.seconds == seconds


def test_the_review_is_for_the_person_against_an_engine_or_the_player_that_is_named() -> None:
    def person(black: str, white: str, player: str | None = None) -> str | None:
        names = f"PB[{black}]PW[{white}]"
        review = review_of(RECORD.replace(b"PB[Ann]PW[Bob]", names.encode()))
        return replace(review, player=player).to_json()["person"]

    assert person("Human", "Tengen") == "B"
    assert person("KataGo 1.16", "Ann") == "W"
    assert person("Ann", "Bob") is None
    assert person("Ann", "Bob", "Bob") == person("Ann", "Bob", " bob") == "W"
    assert person("Ann", "Bob", "Cy") is person("KataGo", "Ann", "Cy") is None
