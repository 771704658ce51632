"""Actors that need no network, for tests of those that watch over them. Ray runs them in real
processes; what they do wrong is asked for by files in the run's folder."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from athenan.actor import Actor, Commission, Order, Ready
from athenan.checkpoint import Part
from athenan.errors import Failed
from athenan.games import make_game
from athenan.ledger import Delivery
from athenan.records import Array, Block, GameRecord
from athenan.self_play import INCARNATION


class QuickActor(Actor):
    """Gives a game a call."""

    def prepare(self, commission: Commission) -> Ready:
        self.run = Path(commission.run)
        if (self.run / "broken").exists():
            raise Failed("Device 3 of here is broken: its values differ from the CPU's by 1.")
        self.incarnation, self.given = commission.incarnation, 0
        bits = np.prod(make_game(**commission.config.game).plane_shape)
        self.bytes = -(-int(bits) // 8)
        return Ready(os.getpid(), "here", os.environ.get("CUDA_VISIBLE_DEVICES"))

    def play(self, weights: list[Array], order: Order) -> Delivery:
        assert weights
        time.sleep(0.02)
        if (self.run / f"raise_{self.incarnation}").exists():
            raise OSError("this fault")
        first, self.given = self.given, self.given + 1
        game = GameRecord(
            self.incarnation * INCARNATION + first,
            np.full((3, self.bytes), first % 256, np.uint8),
            np.zeros((3, 1), np.float32),
            np.arange(2, dtype=np.uint32),
            np.zeros((2, 1), np.float32),
            (1, -1),
        )
        block = Block.of([game]).to_arrays()
        return Delivery(self.incarnation, first, 1, block, order.version, 0, under_way=4)

    def give_back(self) -> Part:
        game = {"number": self.incarnation * INCARNATION + self.given}
        return Part({"games_under_way": [game]}, {"trees": [np.zeros(1)] * 5})
