"""Reviews of games that pages show: how they grow, give way and end, and what pages can save of them."""

import asyncio
import base64
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from busy_machine import bound
from puct_support import AreaEvaluator
from web.play_transcripts import received
from web.serving import RolloutSource, serving, two_at, until
from web.test_play_socket import NEW, ask, in_base_64

from gtp_engine import Config, Game, Rules
from gtp_engine.engine.shared_engines import SharedEngines
from gtp_engine.people.review import Effort, GameAnalysis, annotated, game_analysis, review_game
from gtp_engine.people.web import engine_host, game_reviews
from gtp_engine.people.web.engine_host import Precedence
from gtp_engine.people.web.game_reviews import FinishedReview, GameReviews, SavedReviews, review_record
from gtp_engine.people.web.saved_games import JsonFileError
from gtp_engine.search.limits import CancelToken

RECORD = (
    "(;GM[1]SZ[5]KM[0.5]RU[Chinese]CA[Shift_JIS]PB[本因坊]PW[Bob]RE[B+2]C[kept];B[cc];W[bb];B[dd];W[aa];B[bc];W[ee])"
)
OTHER = "(;GM[1]SZ[5]KM[0.5]RU[Chinese]RE[B+2]C[a file];B[cc];W[bb])"


class ReviewSource(RolloutSource):
    """Engines that play by rollouts, so that only reviews use the network, while the gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()
        self.evaluator = AreaEvaluator(batch=2)
        self.evaluator.watch = lambda request: self.gate.wait(60)

    def load(self, config: Config) -> Any:
        return SharedEngines(config, evaluator=self.evaluator).load_for_analyses()


@pytest.fixture(autouse=True)
def small_reviews(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let reviews search little, and tell of it often."""
    monkeypatch.setattr(game_analysis, "DEFAULT_VISITS", 8)
    monkeypatch.setattr(game_analysis, "LEAST_POINTS", game_analysis.DEFAULT_POINTS)  # on small boards too
    monkeypatch.setattr(game_analysis, "SECOND_LEAST", 1)
    monkeypatch.setattr(game_reviews, "GROUP", 3)


async def finish(socket: Any) -> list[dict[str, Any]]:
    """Return all messages of a review up to its end."""
    messages = [await received(socket, "review")]
    while messages[-1]["state"] == "running":
        messages.append(await received(socket, "review"))
    return messages


def reviewed_now(record: bytes, config: Config) -> FinishedReview:
    analysis = GameAnalysis(config, AreaEvaluator(), Effort())
    return review_record(record, config, analysis, None, lambda share, review: None)


def test_a_record_without_komi_is_reviewed_with_the_servers() -> None:
    config = Config().with_values({"game.rules": "japanese", "game.komi": 1.5})
    game = reviewed_now(b"(;SZ[5];B[cc])", config).review["game"]
    assert (game["rules"], game["komi"]) == ("Japanese", 1.5)


async def test_a_review_grows_and_is_kept(tmp_path: Path) -> None:
    async with serving(source := ReviewSource(), games=tmp_path) as client:
        async with client.ws_connect("/play") as socket:
            game = await ask(socket, do="load", file=in_base_64(RECORD, "shift_jis"))
            assert (await received(socket, "review"))["state"] == "none"
            await socket.send_json({"do": "review"})
            messages = await finish(socket)
        assert max(source.evaluator.asked) == 2, "a game waits for a batch at most"
        async with client.ws_connect("/play") as socket:
            await socket.send_json({"do": "open", "id": game["id"]})
            assert await received(socket, "review") == messages[-1], "it is kept"
            files = {kind: await ask(socket, "review_file", do="review_file", format=kind) for kind in ("html", "sgf")}
            assert "html or sgf" in (await ask(socket, "error", do="review_file", format="../x"))["message"]
    async with serving(ReviewSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        await socket.send_json({"do": "open", "id": game["id"]})
        assert await received(socket, "review") == messages[-1], "a server that is restarted has it too"
        assert await ask(socket, "review_file", do="review_file", format="html") == files["html"]
    (path,) = (tmp_path / "reviews").iterdir()
    path.write_text("{")
    async with serving(ReviewSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        await socket.send_json({"do": "open", "id": game["id"]})
        assert (await received(socket, "review"))["state"] == "none", "a damaged file is no review"
    check_growth(messages)
    check_files(messages[-1], {kind: base64.b64decode(file["content"]) for kind, file in files.items()})


async def test_the_review_of_a_game_that_is_deleted_is_removed(tmp_path: Path) -> None:
    async with serving(ReviewSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        game = await ask(socket, do="load", file=in_base_64(RECORD, "shift_jis"))
        await socket.send_json({"do": "review"})
        await finish(socket)
        await until(lambda: [path.stem for path in tmp_path.glob("reviews/*.json")] == [game["id"]])
        await ask(socket, **NEW)
        await ask(socket, "games", do="delete_game", id=game["id"])
        assert [*tmp_path.glob("reviews/*")] == []


async def test_a_fault_in_a_question_of_a_page_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page waited for ever."""

    def fail(*_: object, **_options: object) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr(game_reviews, "LifeAndDeath", fail)

    async with serving(ReviewSource(), games=tmp_path, errors=1) as client, client.ws_connect("/play") as socket:
        position = {"number": 1, "rules": "chinese", "boardXSize": 5, "boardYSize": 5, "moves": []}
        answer = await ask(socket, "error", do="check_answer", vertex="C3", **position)
        assert answer["message"] == "internal error: ValueError"
        answer = await ask(socket, "error", do="openings", rank="x", **position)
        assert answer["message"] == "rank 'x': expected 20k to 9d"


def check_growth(messages: list[dict[str, Any]]) -> None:
    shares = [message["share"] for message in messages]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert messages[0]["review"] is None
    reviews = [message["review"] for message in messages[1:]]
    assert [len(review["positions"]) for review in reviews] == [3, 6, 7, 7, 7]
    assert [message["state"] for message in messages] == ["running"] * 5 + ["finished"]
    for review in reviews:
        assert len(review["moves"]) == len(review["positions"]) - 1
        assert review["moves"][0]["vertex"] == "C3"


def data_of(page: bytes) -> dict[str, Any]:
    """Return the JSON in the page of a review."""
    data = page.decode().split('id="data"')[1].split(">", 1)[1].split("</script>")[0]
    return dict(json.loads(data))


def check_files(message: dict[str, Any], files: dict[str, bytes]) -> None:
    """Compare the files with those of `gtp-engine review`, and what pages are told with the JSON."""
    whole = review_game(RECORD.encode("shift_jis"), AreaEvaluator(), effort=Effort(visits=8), rules=Rules())
    assert files["sgf"] == annotated(RECORD.encode("shift_jis"), whole)
    result = data_of(files["html"])
    assert result.pop("key")
    assert result == json.loads(json.dumps(whole.to_json())) and result["lessons"] != []
    for position in result["positions"]:
        del position["stones"], position["ownership"], position["candidates"][1:]
    assert {name: value for name, value in message["review"].items() if name != "key"} == result


def test_a_review_of_the_older_format_is_opened(tmp_path: Path) -> None:
    """Its file has the page and the annotated record, which is not annotated again."""
    record, name = RECORD.encode("shift_jis"), "0" * 16
    finished = reviewed_now(record, Config())
    saved, files = SavedReviews(tmp_path), {kind: finished.file(kind) for kind in ("html", "sgf")}
    old = {kind: base64.b64encode(content).decode() for kind, content in files.items()}
    saved.write(name, {"format": 2, "message": {"state": "finished"}, "files": old})
    opened = saved.load(name)
    assert opened is not None and {kind: opened.file(kind) for kind in files} == files
    assert opened.review["players"]["B"]["name"] == "本因坊"
    accuracies = saved.accuracies()
    saved.save(name, finished)
    assert saved.accuracies() == accuracies and accuracies[name]["line"][0] == ["B", "C3"]
    for damaged in ({"format": 2, "files": {}}, {"format": 3, "record": "", "review": None}):
        saved.write(name, damaged)
        with pytest.raises(JsonFileError):
            saved.load(name)


async def test_one_review_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another game waits; a review can be stopped, and one that no page shows gives way."""
    tokens: list[CancelToken] = []

    def new_token() -> CancelToken:
        tokens.append(CancelToken())
        return tokens[-1]

    monkeypatch.setattr(game_reviews, "CancelToken", new_token)

    source = ReviewSource()
    gate = source.gate
    async with serving(source, games=tmp_path) as client, client.ws_connect("/play") as one:
        other = await client.ws_connect("/play")
        await ask(one, do="load", file=in_base_64(RECORD, "shift_jis"))
        await ask(other, do="load", file=in_base_64(OTHER))
        for socket in (one, other):
            assert (await received(socket, "review"))["state"] == "none"
        gate.clear()
        assert (await ask(other, "review", do="review"))["state"] == "running"
        assert "another game is being reviewed" in (await ask(one, "error", do="review"))["message"]
        await other.send_json({"do": "stop_review"})
        await until(lambda: tokens[0].is_cancelled)
        gate.set()
        assert (await finish(other))[-1]["state"] == "none"
        assert "no finished review" in (await ask(other, "error", do="review_file", format="sgf"))["message"]
        gate.clear()
        assert (await ask(other, "review", do="review"))["state"] == "running"
        await other.close()
        await one.send_json({"do": "review"})
        await until(lambda: tokens[1].is_cancelled)
        gate.set()
        assert (await finish(one))[-1]["state"] == "finished"


async def test_the_file_that_was_opened_is_reviewed_after_a_restart_too(tmp_path: Path) -> None:
    async with serving(ReviewSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        game = await ask(socket, do="load", file=in_base_64(RECORD, "shift_jis"))
    async with serving(ReviewSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        await ask(socket, do="open", id=game["id"])
        _, record = await reviewed(socket, "shift_jis")
        assert "PB[本因坊]" in record and "C[kept" in record


async def reviewed(socket: Any, encoding: str = "utf-8") -> tuple[dict[str, Any], str]:
    """Review the game that is shown; return the last message and the record."""
    await socket.send_json({"do": "review"})
    while (message := await received(socket, "review"))["state"] != "finished":
        pass
    file = await ask(socket, "review_file", do="review_file", format="sgf")
    return message, base64.b64decode(file["content"]).decode(encoding)


async def test_what_was_played_is_reviewed(tmp_path: Path) -> None:
    """After another move, the game as it is, in the record that was opened."""
    async with serving(ReviewSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        await ask(socket, do="load", file=in_base_64(OTHER))
        await ask(socket, do="resume")
        await socket.send_json({"do": "play", "vertex": "A1"})
        game = await received(socket)
        while len(game["moves"]) < 4:
            game = await received(socket)
        message, record = await reviewed(socket)
        assert [move["vertex"] for move in message["review"]["moves"]] == [vertex for _, vertex in game["moves"]]
        assert "C[a file]" in record


async def test_a_review_is_not_annotated_again(tmp_path: Path) -> None:
    async with serving(ReviewSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        await ask(socket, do="load", file=in_base_64(OTHER.replace("GM[1]", "GM[1]TENGEN[old]")))
        _, record = await reviewed(socket)
        assert "TENGEN[review" in record
        assert "TENGEN[old]" not in record


async def test_what_cannot_be_reviewed_gets_a_sentence(tmp_path: Path) -> None:
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        assert "no game is open" in (await ask(socket, "error", do="review"))["message"]
        await ask(socket, **NEW)
        assert "--model FILE" in (await ask(socket, "error", do="review"))["message"]
        assert (await received(socket, "review"))["state"] == "none"
    async with serving(ReviewSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        await ask(socket, **NEW)
        assert "no moves to review" in (await ask(socket, "error", do="review"))["message"]


async def test_a_review_waits_while_an_engine_thinks(tmp_path: Path) -> None:
    source = ReviewSource()
    source.config = source.config.with_values({"search.visits": 10**7})
    async with two_at("/play", source, games=tmp_path) as (_, player, reader):
        await ask(reader, do="load", file=in_base_64(OTHER))
        await player.send_json({**NEW, "human": "W"})
        while not (await player.receive_json()).get("thinking"):
            pass
        await reader.send_json({"do": "review"})
        while (await received(reader, "review"))["state"] != "running":
            pass
        await asyncio.sleep(0.1)
        assert source.evaluator.asked == []
        await player.send_json({"do": "resign"})
        assert (await finish(reader))[-1]["state"] == "finished"


@pytest.mark.parametrize(("patience", "is_cancelled"), [(0.01, False), (1000, True)])
def test_a_review_gets_on_while_games_go_on_without_a_pause(
    monkeypatch: pytest.MonkeyPatch, patience: float, is_cancelled: bool
) -> None:
    """It waited for ever."""
    monkeypatch.setattr(engine_host, "PATIENCE", patience)
    precedence, cancel = Precedence(), CancelToken()
    waiting = threading.Thread(target=precedence.wait, args=(cancel,))
    with precedence.held():
        with precedence.held():
            pass
        waiting.start()
        if is_cancelled:
            waiting.join(0.02)
            assert waiting.is_alive(), "the end of one game is not that of all"
            cancel.cancel()
        waiting.join(bound(20))
        assert not waiting.is_alive()


def test_people_are_asked_by_one_page_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page had a lock of its own for the network that all share."""
    busy, human, lent = threading.Lock(), AreaEvaluator(), SimpleNamespace(lend_evaluator=AreaEvaluator)

    def watch(_: object) -> None:
        assert busy.acquire(blocking=False), "another page asks"
        time.sleep(0.05)
        busy.release()

    human.watch = watch
    monkeypatch.setattr(game_reviews, "human_network", lambda config, log: (human, None))
    host: Any = SimpleNamespace(config=Config(), log=print, precedence=Precedence(), source=lambda: lent)
    reviews = GameReviews(host, None, None)  # type: ignore[arg-type]
    people = [reviews.guests(CancelToken())[1] for _ in range(3)]
    with ThreadPoolExecutor(3) as threads:
        assert all(threads.map(lambda each: each and each.shares(Game(5), "3d").any(), people))


def test_the_oldest_review_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_reviews, "MOST_REVIEWS", 2)
    saved, review = SavedReviews(tmp_path), FinishedReview(b"\xff", {})
    names = [f"{number:016x}" for number in range(3)]
    for age, name in enumerate(names):
        saved.save(name, review)
        os.utime(tmp_path / f"{name}.json", (age, age))
    assert [saved.load(name) for name in names] == [None, review, review]
