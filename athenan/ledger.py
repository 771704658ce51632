"""The ledger of what arrives from actors of other processes: no game counts twice.

Every process of an actor is an incarnation, which no other one ever is, and numbers the games that
it gives. A delivery must go on where the last one of its incarnation ended.
"""

from __future__ import annotations

from dataclasses import dataclass

from athenan.records import Array


@dataclass
class Delivery:
    """What an actor gives at the end of a call: finished games, and facts of itself."""

    incarnation: int
    first: int  # games that the incarnation has given before
    number: int  # of the games here
    block: dict[str, Array] | None  # of these games (records.py), where there are any
    version: int  # of the weights that they were finished with
    searching: int  # searches under way
    under_way: int  # games under way
    # Since the process began:
    rows: int = 0  # states evaluated
    out_of_memory: int = 0  # searches that memory ended
    proofs: int = 0  # remembered now
    playing_seconds: float = 0.0
    evaluating_seconds: float = 0.0  # of those: for the network
    idle_seconds: float = 0.0  # between calls
    resident_mb: float = 0.0


class Ledger:
    """Counts games by what has become of them."""

    def __init__(self) -> None:
        self._expected: dict[int, int] = {}  # the first game that each incarnation gives next
        self.blocks = 0
        self.arrived = 0
        self.repeated = 0  # had arrived before: dropped
        self.missing = 0  # were skipped by a delivery, and cannot arrive any more
        self.abandoned = 0  # under way when their actor was lost

    def accept(self, delivery: Delivery) -> int:
        """How many of its games, from the first, are to be dropped."""
        expected = self._expected.get(delivery.incarnation, 0)
        after = delivery.first + delivery.number
        dropped = min(delivery.number, max(0, expected - delivery.first))
        self.blocks += delivery.number > 0
        self.repeated += dropped
        self.missing += max(0, delivery.first - expected) if delivery.number else 0
        self.arrived += delivery.number - dropped
        if delivery.number:
            self._expected[delivery.incarnation] = max(expected, after)
        return dropped

    def forget(self, incarnation: int) -> None:
        """It is dead; nothing of it is waited for."""
        self._expected.pop(incarnation, None)
