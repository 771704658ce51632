"""Actors as processes that Ray runs, on this machine or a cluster; this process is the learner's.

Each actor plays inside calls, of which it has a few under way, so that it always has one and games
never pile up. Of Ray only what is simplest is used: actors that are never restarted by it, a call's
return value, one object for the weights. Who dies is replaced here, under another incarnation.
"""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import athenan
from athenan import _core
from athenan.actor import Actor, Commission, Order, Ready
from athenan.actors import (
    ActorsGone,
    Task,
    count_of_games,
    fresh_number,
    games_ahead,
    without_turns,
)
from athenan.checkpoint import Part
from athenan.cluster import Cluster
from athenan.errors import Failed, InputError
from athenan.ledger import Delivery, Ledger
from athenan.progress import duration
from athenan.records import Array, Block, GameRecord
from athenan.self_play import INCARNATION, saved_games
from athenan.settings import TrainSettings

TURN = 0.5  # seconds that a turn of the loop waits for games at most
LONGEST_REST = 64.0  # seconds before an actor is replaced
LOOK = 5.0  # seconds between looks at how large the cluster is


@dataclass
class Call:
    """One that an actor works on."""

    ref: Any
    weights: int  # their number
    steps: int  # of the learner, that the weights have
    since: float


@dataclass
class Seat:
    """A place for an actor, and what is known of the one that has it."""

    index: int
    actor: Any = None  # none while it is dead
    incarnation: int = 0
    ready: Ready | None = None
    calls: deque[Call] = field(default_factory=deque)
    asked: Any = None  # the answer to `prepare` or `give_back` that it owes
    heard: float = 0.0  # the last answer, or when it had to begin with the next
    starts: float = 0.0  # when another one may begin
    deaths: int = 0  # since it gave games
    raised: int = 0
    given_up: bool = False
    games: Part | None = None  # to begin with
    given: Part | None = None  # back at the end
    last: Delivery | None = None

    @property
    def name(self) -> str:
        where = f" (process {self.ready.pid} on {self.ready.node})" if self.ready else ""
        return f"actor {self.index}{where}"

    @property
    def waits(self) -> list[Any]:
        """What it owes next; calls are answered in their order."""
        if self.asked is not None:
            return [self.asked]
        return [self.calls[0].ref] if self.calls else []


class RayActors:
    beside = True
    overlapped = full = False
    can_be_saved = False  # with the games under way: only where the run ends

    def __init__(
        self,
        config: TrainSettings,
        run: Path,
        kind: type[Actor] = Actor,
        cluster: Cluster | None = None,
    ) -> None:
        self.config, self.layout, self.run = config, config.layout, run
        self.games = 0
        self.ledger = Ledger()
        self.cluster = cluster or Cluster(config.layout)
        try:
            number = config.layout.actors or self.cluster.room(config.layout)
        except BaseException:
            self.cluster.close()
            raise
        self.ray = self.cluster.ray
        self.seats = [Seat(index) for index in range(number)]
        self._kind = self.ray.remote(kind)
        self._next_incarnation = 0
        self._news: list[str] = []
        self._ahead: list[GameRecord] = []  # played by others, and not learned from yet
        self._weights: Any = None  # one object for all
        self._version = self._steps = self._steps_now = 0  # steps of the weights, and of now
        self._published = 0.0
        self._progress = 0.0
        self._clearings = 0
        self._holding = False
        self._turn = 0  # whose games come first
        self._looked = time.monotonic()
        self._deaths = self._replaced = 0
        self._heard = time.monotonic()
        self._waited = 0.0  # seconds that the learner had nothing to learn
        self._bytes = 0
        self._stale: deque[tuple[int, float]] = deque(maxlen=200)  # steps and seconds of games
        self._rows = self._out_of_memory = 0  # of those that are dead
        self._before = (self._heard, 0.0, 0.0, 0.0, 0.0, 0)  # at the last page
        self._last_shares: dict[str, float] = {}

    # ---- What the loop asks for --------------------------------------------------------

    def collect(self) -> list[GameRecord]:
        self._check()
        if self._ahead:
            ahead, self._ahead = self._ahead, []
            self._note_games(len(ahead))
            return ahead
        self._grow()
        for seat in self.seats:
            self._keep_busy(seat)
        records: list[GameRecord] = []
        began = time.monotonic()
        order = self.seats[self._turn :] + self.seats[: self._turn]
        owed = {ref: seat for seat in order for ref in seat.waits}
        if owed:
            ready, _ = self.ray.wait(list(owed), num_returns=1, timeout=TURN)
            for ref in ready:
                self._turn = (owed[ref].index + 1) % len(self.seats)
                records = self._take(owed[ref], ref)
        elif not self.idle:
            time.sleep(TURN / 5)
        self._waited += time.monotonic() - began
        self._end_silence()
        self._note_games(len(records))
        return records

    def publish(self, weights: list[Array], progress: float, steps: int = 0) -> None:
        self._progress = progress
        now = time.monotonic()
        if self._weights is None or now - self._published >= self.layout.publish_seconds:
            self._check_ray()
            self._weights = self.ray.put(weights)
            self._version += 1
            self._steps, self._published = steps, now
        self._steps_now = steps

    def hold(self, holding: bool, ending: bool = False) -> None:
        """Only where the run ends: otherwise a checkpoint goes without the games under way."""
        self._holding = holding and ending
        for seat in self.seats:
            if self._holding and seat.actor is not None and seat.ready is None:
                self._kill(seat)
                seat.actor = seat.asked = None

    @property
    def idle(self) -> bool:
        return not self._holding or all(
            seat.actor is None or seat.given is not None for seat in self.seats
        )

    def saved(self) -> Part:
        facts: list[Any] = []
        trees: list[Array] = []
        left = 0
        for seat in self.seats:
            part = seat.given or (seat.games if seat.last is None else None)
            if part is not None:
                facts += [game for game in part.facts["games_under_way"] if game is not None]
                trees += part.arrays["trees"]
            elif seat.last is not None:
                left += seat.last.under_way
        return Part(
            {
                "games": self.games,
                "next_game": self._next_incarnation * INCARNATION,
                "games_under_way": facts,
                "left_behind": left,
                "abandoned": self.ledger.abandoned,
                "repeated": self.ledger.repeated,
                "missing": self.ledger.missing,
                "blocks": self.ledger.blocks,
                "deaths": self._deaths,
            },
            {"trees": trees, "resolved": list(_core.ResolvedMemory(0).arrays())},
        )

    def restore(self, part: Part) -> None:
        """Games under way are dealt to the actors; those that no checkpoint has are abandoned."""
        if "turns" in part.facts:
            part = without_turns(part)
        self.games, self._ahead = part.count("games"), games_ahead(part)
        self._next_incarnation = fresh_number(count_of_games(part, "next_game")) // INCARNATION
        self.ledger.abandoned = part.facts.get("abandoned", 0) + part.facts.get("left_behind", 0)
        self.ledger.repeated = part.facts.get("repeated", 0)
        self.ledger.missing = part.facts.get("missing", 0)
        self.ledger.blocks = part.facts.get("blocks", 0)
        self._deaths = part.facts.get("deaths", 0)
        dealt: list[list[Any]] = [[] for _ in self.seats]
        under_way = [saved for saved in saved_games(part) if saved is not None]
        for place, saved in enumerate(under_way):
            dealt[place % len(dealt)].append(saved)
        for seat, games in zip(self.seats, dealt, strict=True):
            if games:
                seat.games = Part(
                    {"next_game": 0, "games_under_way": [game for game, _ in games]},
                    {"trees": [array for _, arrays in games for array in arrays]},
                )

    def run_aside(self, function: Callable[..., Any], *arguments: Any) -> Task | None:
        """In a process of its own, which ends with it."""
        remote = self.ray.remote(num_cpus=0, max_calls=1, max_retries=0)(function)
        return Aside(self.ray, remote.remote(*arguments))

    def news(self) -> list[str]:
        news, self._news = self._news, []
        return news

    def close(self) -> None:
        for seat in self.seats:  # the last report must not ask Ray for them
            seat.calls.clear()
        self.cluster.close()

    # ---- Actors, from their start to their end -------------------------------------------

    def _check(self) -> None:
        """Whether anybody can still play."""
        self._check_ray()
        if all(seat.given_up for seat in self.seats):
            raise ActorsGone("No actor is left: each has died too often.")
        started = any(seat.ready for seat in self.seats)
        silent = time.monotonic() - self._heard
        if not started and silent > 2 * self.layout.patience_seconds:
            raise ActorsGone(f"No actor could be started for {duration(silent)}.")

    def _check_ray(self) -> None:
        """Before it is asked for anything: where its raylet is dead it would end this process."""
        broken = self.cluster.broken()
        if broken:
            raise ActorsGone(f"Ray's {broken} has died, and with it all actors.")

    def _grow(self) -> None:
        """Nodes that come later have places, too, unless the number of actors is given."""
        now = time.monotonic()
        if self.cluster.own or self.layout.actors or now - self._looked < LOOK:
            return
        self._looked = now
        for index in range(len(self.seats), self.cluster.places(self.layout)):
            self.seats.append(Seat(index))

    def _keep_busy(self, seat: Seat) -> None:
        if seat.actor is None:
            if not (seat.given_up or self._holding) and time.monotonic() >= seat.starts:
                self._start(seat)
            return
        if seat.ready is None or seat.asked is not None or seat.given is not None:
            return
        if self._holding:
            self._hold(seat)
            return
        while len(seat.calls) < self.layout.calls_under_way:
            self._call(seat)

    def _start(self, seat: Seat) -> None:
        seat.incarnation = self._next_incarnation
        self._next_incarnation += 1
        self._replaced += seat.deaths > 0
        seat.actor = self._kind.options(
            num_cpus=self.layout.cpus,
            num_gpus=self.layout.gpus,
            max_restarts=0,
            max_task_retries=0,
        ).remote()
        commission = Commission(
            self.config,
            athenan.__version__,
            str(Path.cwd()),
            str(self.run.absolute()),
            seat.incarnation,
            seat.games,
        )
        seat.asked = seat.actor.prepare.remote(commission)
        seat.heard = time.monotonic()

    def _call(self, seat: Seat) -> None:
        order = Order(self._version, self._progress, self._clearings, self._holding)
        now = time.monotonic()
        if not seat.calls:
            seat.heard = now
        ref = seat.actor.play.remote(self._weights, order)
        seat.calls.append(Call(ref, self._version, self._steps, self._published))

    def _hold(self, seat: Seat) -> None:
        """One call at a time until its searches have ended; then it gives its games back."""
        if seat.calls:
            return
        if seat.last is None or seat.last.searching:
            self._call(seat)
        else:
            seat.asked = seat.actor.give_back.remote()
            seat.heard = time.monotonic()

    def _take(self, seat: Seat, ref: Any) -> list[GameRecord]:
        self._check_ray()
        errors = self.ray.exceptions
        try:
            answer = self.ray.get(ref)
        except errors.RayTaskError as error:
            self._raised(seat, error.cause)
            return []
        except errors.RayError:
            self._lost(seat, "died")
            return []
        seat.heard = self._heard = time.monotonic()
        if isinstance(answer, Ready):
            seat.ready, seat.asked = answer, None
            device = f", device {answer.device}" if answer.device else ""
            self._news.append(f"{seat.name}{device} plays")
            return []
        if isinstance(answer, Part):
            seat.asked = None
            arrays = {name: [np.array(a) for a in its] for name, its in answer.arrays.items()}
            seat.given = Part(answer.facts, arrays)
            return []
        return self._delivered(seat, answer)

    def _delivered(self, seat: Seat, delivery: Delivery) -> list[GameRecord]:
        call = seat.calls.popleft()
        seat.last = delivery
        if delivery.block is None:
            return []
        seat.deaths = seat.raised = 0
        # Copies: Ray's arrays are views of what it keeps, and cannot be written to.
        arrays = {name: np.array(array) for name, array in delivery.block.items()}
        self._bytes += sum(array.nbytes for array in arrays.values())
        records = Block.from_arrays(arrays).games()
        dropped = self.ledger.accept(delivery)
        stale = self._steps_now - call.steps, time.monotonic() - call.since
        self._stale.extend([stale] * (len(records) - dropped))
        return records[dropped:]

    def _raised(self, seat: Seat, error: BaseException) -> None:
        """The fault may be the process's own: another one gets a try."""
        if isinstance(error, InputError):
            raise error
        if seat.ready is None:
            seat.given_up = True
            self._lost(seat, f"cannot play ({error})", again=False)
            return
        seat.raised += 1
        what = f"{type(error).__name__}: {error}"
        if seat.raised > 1:
            raise Failed(f"Self-play failed twice in {seat.name}: {what}") from error
        self._lost(seat, f"failed ({what})")

    def _lost(self, seat: Seat, how: str, again: bool = True) -> None:
        """It is dead, or as good as that."""
        name = seat.name
        self._kill(seat)
        if seat.last is not None:
            self.ledger.abandoned += seat.last.under_way
            self._rows += seat.last.rows
            self._out_of_memory += seat.last.out_of_memory
            seat.games = None  # those it began with are among them
        self.ledger.forget(seat.incarnation)
        seat.actor = seat.ready = seat.asked = seat.last = None
        seat.calls.clear()
        seat.deaths += 1
        self._deaths += 1
        if again and seat.deaths >= self.layout.most_deaths:
            seat.given_up = True
            how += f" {seat.deaths} times without a game between"
        if seat.given_up:
            self._news.append(f"{name} {how}: it is given up")
            return
        rest = min(LONGEST_REST, 2.0 ** (seat.deaths - 1))
        seat.starts = time.monotonic() + rest
        self._news.append(f"{name} {how}: another one takes its place in {duration(rest)}")

    def _kill(self, seat: Seat) -> None:
        """By Ray, and at once where it is here: Ray only asks a process that has been stopped."""
        if self.cluster.own and seat.ready is not None:
            with suppress(OSError):
                os.kill(seat.ready.pid, signal.SIGKILL)
        self.ray.kill(seat.actor, no_restart=True)

    def _end_silence(self) -> None:
        """An actor that does not answer is replaced; the others never wait for it."""
        now = time.monotonic()
        for seat in self.seats:
            patience = self.layout.patience_seconds
            if seat.calls and not self.layout.call_batches:
                patience += self.layout.call_seconds
            if seat.actor is None or not seat.waits or now - seat.heard < patience:
                continue
            if self.ray.wait(seat.waits, timeout=0)[0]:  # it has; nobody has looked yet
                continue
            if seat.ready is None:
                # A place may be wanting, on a cluster: that is no fault of the actor's.
                self._kill(seat)
                seat.actor = seat.asked = None
                self._news.append(f"{seat.name} did not start in {duration(patience)}")
            else:
                self._lost(seat, f"has not answered for {duration(now - seat.heard)}")

    def _note_games(self, number: int) -> None:
        before, self.games = self.games, self.games + number
        every = self.config.resolved.clear_every_games
        if every and self.games // every > before // every:
            self._clearings += 1

    # ---- For reports -----------------------------------------------------------------------

    def facts(self) -> dict[str, float]:
        last = [seat.last for seat in self.seats if seat.last is not None]
        found: dict[str, float] = {
            "rows": self._rows + sum(one.rows for one in last),
            "remembered_proofs": sum(one.proofs for one in last),
            "out_of_memory": self._out_of_memory + sum(one.out_of_memory for one in last),
        }
        return found

    def pages(self) -> dict[str, float]:
        """Figures of the layout, since the last time where they are rates."""
        last = [(seat, seat.last) for seat in self.seats if seat.last is not None]
        shares = self._shares()
        found: dict[str, float] = {f"layout/{name}": share for name, share in shares.items()}
        found |= {
            "layout/actors": float(sum(seat.ready is not None for seat in self.seats)),
            "layout/deaths": float(self._deaths),
            "layout/replaced": float(self._replaced),
            "layout/games_arrived": float(self.ledger.arrived),
            "layout/games_abandoned": float(self.ledger.abandoned),
            "layout/games_repeated": float(self.ledger.repeated),
            "layout/games_missing": float(self.ledger.missing),
            "layout/blocks_waiting": float(self._waiting()),
        }
        if self._stale:
            steps, seconds = zip(*self._stale, strict=True)
            found["layout/stale_steps"] = float(np.mean(steps))
            found["layout/stale_steps_most"] = float(max(steps))
            found["layout/stale_seconds"] = float(np.mean(seconds))
        for seat, delivery in last:
            lived = max(1.0, delivery.playing_seconds + delivery.idle_seconds)
            found[f"layout/actor_{seat.index}_states_per_second"] = delivery.rows / lived
            found[f"layout/actor_{seat.index}_megabytes"] = delivery.resident_mb
        return found

    def _waiting(self) -> int:
        refs = [call.ref for seat in self.seats for call in seat.calls]
        return len(self.ray.wait(refs, num_returns=len(refs), timeout=0)[0]) if refs else 0

    def _shares(self) -> dict[str, float]:
        """Of the time since the last page: what waits."""
        last = [seat.last for seat in self.seats if seat.last is not None]
        now = (
            time.monotonic(),
            self._waited,
            sum(one.playing_seconds for one in last),
            sum(one.evaluating_seconds for one in last),
            sum(one.idle_seconds for one in last),
            self._bytes,
        )
        seconds, waited, playing, evaluating, idle, size = (
            max(0.0, after - before) for after, before in zip(now, self._before, strict=True)
        )
        if seconds > 1.0:
            self._before = now
            self._last_shares = {
                "learner_waits": waited / seconds,
                "actors_wait": idle / max(1e-9, playing + idle),
                "network": evaluating / max(1e-9, playing),
                "bytes_per_second": size / seconds,
            }
        return self._last_shares

    def starving(self) -> str | None:
        shares = self._last_shares
        if shares.get("learner_waits", 0.0) > 0.25:
            device = shares["network"] > 0.75
            return "the learner waits" + (", actors wait for the device" if device else "")
        if shares.get("actors_wait", 0.0) > 0.25:
            return "actors wait for the learner"
        return None


class Aside:
    """A call in a process of its own."""

    def __init__(self, ray: Any, ref: Any) -> None:
        self._ray, self._ref = ray, ref

    def result(self, wait: bool = False) -> Any:
        errors = self._ray.exceptions
        try:
            while True:
                ready, _ = self._ray.wait([self._ref], timeout=TURN if wait else 0)
                if ready:
                    return self._ray.get(self._ref)
                if not wait:
                    return None
        except errors.RayTaskError as error:
            if isinstance(error.cause, InputError | OSError):
                raise error.cause from None
            raise Failed(f"a match failed: {error.cause}") from None
        except errors.RayError:
            raise Failed("the process of a match died") from None
