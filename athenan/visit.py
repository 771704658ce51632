"""A visitor of the page: a game on a board, who sits where, and what the searches see of it.

He sends objects of JSON, `{"do": …}`, and is sent others, `{"type": …}`. Whatever is wrong with his
is answered by a sentence, and changes nothing."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from athenan.boards import Board
from athenan.engine import Budget, Engine
from athenan.errors import InputError
from athenan.house import House, Player, without_places
from athenan.messages import actions_in, number, position_of, text, thought_of
from athenan.notation import read_actions
from athenan.play import goal_of
from athenan.thoughts import Thought

SIDES = ("a", "b")  # who may think
YOU = "you"
MOST_PLIES = 5000  # of a line
EVERY_SECONDS = 0.3  # between two thoughts that are told
LEAST_SECONDS = 2.0  # of an analysis before it gives way to who waits
FAULT = "That went wrong here, not on your side."
WATCHED_SECONDS = 0.4  # at least, of an action where nobody of the seats is a person

Send = Callable[[dict[str, Any]], None]


@dataclass
class Table:
    """A game under way: all its states, and at which one the visitor looks."""

    name: str  # in the house
    board: Board
    seats: list[str]
    states: list[Any]
    actions: list[int] = field(default_factory=list)
    at: int = 0
    title: str = ""  # of a saved game
    values: list[Any] = field(default_factory=list)  # of each state, where known

    @property
    def state(self) -> Any:
        return self.states[self.at]

    def play(self, action: int) -> None:
        following = self.state.play(action)
        del self.states[self.at + 1 :], self.actions[self.at :], self.values[self.at + 1 :]
        self.states.append(following)
        self.actions.append(action)
        self.values.append(None)
        self.at += 1


class Visit:
    """`send` never waits; it is called in the loop's thread."""

    def __init__(self, house: House, send: Send) -> None:
        self.house, self.send = house, send
        self.loop = asyncio.get_running_loop()
        self.engines: dict[str, Engine] = {}
        self.players: dict[str, Player] = {}
        self.table: Table | None = None
        self.analysing = self.paused = False
        self._work: list[asyncio.Task[None]] = []
        self._epoch = 0  # of the position: thoughts of an earlier one are not told

    # ---- What he says ----------------------------------------------------------------------------

    async def hear(self, message: Any) -> None:
        try:
            if not isinstance(message, dict) or not isinstance(message.get("do"), str):
                raise InputError("A message is an object with 'do'.")
            act: Callable[[dict[str, Any]], Awaitable[None]] | None = {
                "hello": self.hello,
                "new": self.new,
                "play": self.play,
                "type": self.play_typed,
                "line": self.play_line,
                "resume": self.resume,
                "undo": self.undo,
                "go": self.go,
                "seats": self.set_seats,
                "analyse": self.analyse,
                "stop": self.stop_thinking,
                "players": self.set_players,
                "look": self.look,
                "games": self.list_games,
                "open": self.open_game,
                "run": self.show_run,
            }.get(message["do"])
            if act is None:
                raise InputError("There is nothing of that name to do.")
            await act(message)
        except (InputError, ValueError) as error:
            self.send({"type": "error", "sentence": without_places(str(error))})
        except Exception:  # a fault of ours ends no visit
            traceback.print_exc()
            self.send({"type": "error", "sentence": FAULT})

    async def leave(self) -> None:
        await self.quiet()

    async def hello(self, _: dict[str, Any]) -> None:
        self.send({"type": "catalogue", **await asyncio.to_thread(self.house.catalogue)})

    async def new(self, message: dict[str, Any]) -> None:
        """A game from its start."""
        await self.quiet()
        name = text(message, "game", self.house.first_game)
        game = self.house.make_game(name)
        board = Board(game)
        seats = [YOU] + ["a"] * (game.num_players - 1)
        self.table = Table(name, board, seats, [game.initial_state()], values=[None])
        self.engines, self.paused = {}, False
        if "seats" in message:
            self.table.seats = self.read_seats(message)
        await self.make_engines(message)
        self.tell_game()
        self.moved()

    async def set_seats(self, message: dict[str, Any]) -> None:
        table = self.need_table()
        table.seats = self.read_seats(message)
        await self.quiet()
        await self.make_engines({})
        self.paused = False
        self.tell_game()
        self.moved()

    async def set_players(self, message: dict[str, Any]) -> None:
        self.need_table()
        await self.quiet()
        await self.make_engines(message)
        self.tell_game()
        self.moved()

    async def play(self, message: dict[str, Any]) -> None:
        table = self.need_table()
        if number(message, "at", 0, MOST_PLIES) != table.at:
            raise InputError("The game has gone on meanwhile.")
        action = number(message, "action", 0, 2**32 - 1)
        await self.act([action])

    async def play_line(self, message: dict[str, Any]) -> None:
        """Several actions, as a search expects them."""
        table = self.need_table()
        if number(message, "at", 0, MOST_PLIES) != table.at:
            raise InputError("The game has gone on meanwhile.")
        actions = actions_in(message)
        if actions:
            await self.act(actions)

    async def resume(self, _: dict[str, Any]) -> None:
        """Who is to move goes on from the state that is looked at."""
        self.need_table()
        await self.quiet()
        self.paused = False
        self.moved()

    async def play_typed(self, message: dict[str, Any]) -> None:
        """An action as people write it."""
        table = self.need_table()
        if table.state.is_terminal:
            raise InputError("The game is over.")
        await self.act(read_actions(table.state, text(message, "text")[:100]))

    async def act(self, actions: list[int]) -> None:
        table = self.need_table()
        if table.at + len(actions) > MOST_PLIES:
            raise InputError("This line is too long.")
        after = table.state
        for action in actions:
            after = after.play(action)  # ValueError where it is not legal
        await self.quiet()
        for action in actions:
            table.play(action)
        self.paused = False
        self.moved()

    async def undo(self, _: dict[str, Any]) -> None:
        """To where the visitor chose last; a ply where he sits nowhere."""
        table = self.need_table()
        await self.quiet()
        if table.at == 0:
            raise InputError("There is nothing to undo.")
        table.at -= 1
        while table.at and YOU in table.seats and table.seats[table.state.to_move] != YOU:
            table.at -= 1
        del table.states[table.at + 1 :], table.actions[table.at :], table.values[table.at + 1 :]
        self.paused = False
        self.moved()

    async def go(self, message: dict[str, Any]) -> None:
        """To another state of the line; the line stays."""
        table = self.need_table()
        at = number(message, "at", 0, len(table.actions))
        await self.quiet()
        table.at = at
        self.paused = at < len(table.actions)
        self.moved()

    async def analyse(self, message: dict[str, Any]) -> None:
        self.need_table()
        await self.quiet()
        self.analysing = bool(message.get("on", True))
        await self.make_engines({})
        self.tell_game()
        self.moved()

    async def stop_thinking(self, _: dict[str, Any]) -> None:
        """Lets whoever thinks of his action play it at once."""
        for engine in self.engines.values():
            engine.search.core.stop()

    async def look(self, message: dict[str, Any]) -> None:
        """At the state that some actions lead to: the board there, and what the tree knows."""
        table = self.need_table()
        side, actions = text(message, "side", "a"), actions_in(message)
        state, words = table.state, []
        for action in actions:
            following = state.play(action)
            words.append(state.action_to_string(action))
            state = following
        engine = self.engines.get(side)
        thought = None
        if engine is not None and engine.state == table.state:
            thought = await asyncio.to_thread(engine.look, actions)
        self.send(
            {
                "type": "look",
                "for": text(message, "for", "peek")[:20],
                "side": side,
                "at": table.at,
                "actions": actions,
                "words": words,
                "position": position_of(table.board, state),
                "thought": None if thought is None else thought_of(thought),
            }
        )

    # ---- Games that were played ------------------------------------------------------------------

    async def list_games(self, message: dict[str, Any]) -> None:
        from athenan.exhibits import games_listed

        source = text(message, "source")
        rows = await asyncio.to_thread(games_listed, self.house, source)
        self.send({"type": "games", "source": source, "rows": rows})

    async def open_game(self, message: dict[str, Any]) -> None:
        from athenan.exhibits import opened

        source, index = text(message, "source"), number(message, "index", 0, 10**9)
        name, states, actions, values, title = await asyncio.to_thread(
            opened, self.house, source, index
        )
        await self.quiet()
        game = states[0].game
        self.analysing = False
        self.table = Table(
            name, Board(game), [YOU] * game.num_players, states, actions, 0, title,
            [*values, *[None] * (len(states) - len(values))],
        )  # fmt: skip
        self.engines, self.paused = {}, True
        self.tell_game()
        self.moved()

    async def show_run(self, message: dict[str, Any]) -> None:
        from athenan.exhibits import run_shown

        name = text(message, "run")
        shown = await asyncio.to_thread(run_shown, self.house, name)
        self.send({"type": "run", "run": name, **shown})

    # ---- Who thinks ------------------------------------------------------------------------------

    def read_seats(self, message: dict[str, Any]) -> list[str]:
        seats = message.get("seats")
        players = self.need_table().board.game.num_players
        if not isinstance(seats, list) or len(seats) != players:
            raise InputError(f"This game has {players} seats.")
        if not all(seat in (YOU, *SIDES) for seat in seats):
            raise InputError("In a seat is 'you', 'a' or 'b'.")
        return list(seats)

    async def make_engines(self, message: dict[str, Any]) -> None:
        """Those that are needed and not there yet; `a` and `b` of the message say who they are."""
        table = self.need_table()
        game = table.board.game
        for side in SIDES:
            if side in message and message[side] is None:
                self.engines.pop(side, None)
                self.players.pop(side, None)
                continue
            wanted = self.players.get(side) or self.usual_player()
            if side in message:
                wanted = self.read_player(message[side])
            elif side not in self.players and side not in table.seats and side != "a":
                continue
            there = side in self.engines and self.players.get(side) == wanted
            self.players[side] = wanted
            if not there:
                self.engines.pop(side, None)
                try:
                    self.engines[side] = await asyncio.to_thread(self.house.engine, game, wanted)
                except InputError:
                    self.players.pop(side)
                    if side in message or side in table.seats:
                        raise

    def usual_player(self) -> Player:
        config = self.house.config
        evaluator = self.house.evaluators_of(self.need_table().board.game)[0]
        evaluations = config.evaluations or config.most_evaluations
        return Player(config.search["name"], evaluator, evaluations)

    def read_player(self, said: Any) -> Player:
        if not isinstance(said, dict):
            raise InputError("A player is an object of search, evaluator and evaluations.")
        most = self.house.config.most_evaluations
        usual = self.usual_player()
        return Player(
            text(said, "search", usual.search),
            text(said, "evaluator", usual.evaluator),
            number(said, "evaluations", 1, most, usual.evaluations),
        )

    async def quiet(self) -> None:
        """Nobody thinks any more."""
        self._epoch += 1
        work, self._work = self._work, []
        for task in work:
            task.cancel()
        for engine in self.engines.values():
            await asyncio.to_thread(engine.stop)
        for task in work:
            with suppress(asyncio.CancelledError):
                await task

    def moved(self) -> None:
        """Tells the position, and lets think who has to."""
        table = self.need_table()
        self.tell_position()
        state = table.state
        if state.is_terminal:
            return
        seat = table.seats[state.to_move]
        if seat in self.engines and not self.paused:
            self.begin(seat, True)
        elif self.analysing:
            for side in self.engines:
                self.begin(side, False)

    def begin(self, side: str, plays: bool) -> None:
        self._work.append(self.loop.create_task(self.think(side, plays)))

    async def think(self, side: str, plays: bool) -> None:
        """Of the state that is looked at; then plays, or has only looked."""
        table, engine, epoch = self.need_table(), self.engines[side], self._epoch
        started = self.loop.time()
        engine.set_line(table.states[0], table.actions[: table.at])
        try:
            if plays:
                action = (await self.think_once(side, engine.budget, False)).action
            else:
                await self.analyse_on(side)
                action = None
            if plays and YOU not in table.seats:
                await asyncio.sleep(max(0.0, WATCHED_SECONDS - self.loop.time() + started))
        except InputError as error:
            self.send({"type": "error", "sentence": without_places(str(error))})
            return
        except Exception:
            traceback.print_exc()
            self.send({"type": "error", "sentence": FAULT})
            return
        if action is not None and epoch == self._epoch:
            self._epoch += 1
            self._work = []
            table.play(action)
            self.moved()

    async def analyse_on(self, side: str) -> None:
        """Goes on until its time is spent; whoever waits meanwhile has his turn between."""
        left = self.house.config.analysis_seconds
        while left > 0:
            thought = await self.think_once(side, Budget(seconds=left), True)
            if thought.result is None or thought.result.resolved or thought.seconds >= left:
                return
            left -= max(thought.seconds, LEAST_SECONDS)

    async def think_once(self, side: str, budget: Budget, gives_way: bool) -> Thought:
        """When there is a place for it on this machine."""
        engine, epoch = self.engines[side], self._epoch
        if self.house.slots.locked():
            self.send({"type": "waiting", "side": side})
        async with self.house.place():

            def told(thought: Thought) -> None:
                payload = thought_of(thought)
                self.loop.call_soon_threadsafe(self.tell_thought, epoch, side, payload)
                if gives_way and self.house.waiting and thought.seconds > LEAST_SECONDS:
                    engine.search.core.stop()

            future: Future[Thought] = engine.start(budget, told, EVERY_SECONDS)
            try:
                return await asyncio.shield(asyncio.wrap_future(future))
            except asyncio.CancelledError:
                await asyncio.to_thread(engine.stop)
                raise

    # ---- What he is told -------------------------------------------------------------------------

    def tell_thought(self, epoch: int, side: str, payload: dict[str, Any]) -> None:
        table = self.table
        if epoch != self._epoch or table is None:
            return
        if side == "a" or "a" not in self.engines:
            table.values[table.at] = payload.get("value")
        self.send({"type": "thought", "side": side, "at": table.at, **payload})

    def tell_game(self) -> None:
        table = self.need_table()
        game = table.board.game
        goals = [goal_of(game, player) for player in range(game.num_players)]
        self.send(
            {
                "type": "game",
                "game": table.name,
                "title": table.title,
                "board": table.board.description(),
                "seats": table.seats,
                "goals": goals,
                "analysing": self.analysing,
                "players": {side: vars(player) for side, player in self.players.items()},
                "bounds": {side: e.search.core.bound for side, e in self.engines.items()},
                "evaluators": self.house.evaluators_of(game),
            }
        )

    def tell_position(self) -> None:
        table = self.need_table()
        line = []
        for i, action in enumerate(table.actions):
            before = table.states[i]
            line.append([before.action_to_string(action), before.to_move])
        last = None
        if table.at:
            before = table.states[table.at - 1]
            path = table.board.paths(before)[table.actions[table.at - 1]]
            last = [part for part in path if isinstance(part, int)]
        self.send(
            {
                "type": "position",
                "at": table.at,
                "line": line,
                "values": table.values,
                "last": last or [],
                "paused": self.paused,
                **position_of(table.board, table.state),
            }
        )

    def need_table(self) -> Table:
        if self.table is None:
            raise InputError("There is no game yet.")
        return self.table
