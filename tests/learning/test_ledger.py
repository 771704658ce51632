"""The ledger: whatever arrives how often and in which order, no game counts twice."""

from hypothesis import given
from hypothesis import strategies as st

from athenan.ledger import Delivery, Ledger


def delivery(incarnation: int, first: int, number: int) -> Delivery:
    return Delivery(incarnation, first, number, None, version=0, searching=0, under_way=0)


parcels = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 5)), max_size=40)


@given(parcels)
def test_no_game_counts_twice(arriving: list[tuple[int, int, int]]) -> None:
    ledger, counted = Ledger(), set[tuple[int, int]]()
    seen = 0
    for incarnation, first, number in arriving:
        dropped = ledger.accept(delivery(incarnation, first, number))
        games = {(incarnation, first + place) for place in range(dropped, number)}
        assert 0 <= dropped <= number
        assert not games & counted
        counted |= games
        seen += number
        assert (ledger.arrived, ledger.repeated) == (len(counted), seen - len(counted))


@given(st.lists(st.integers(0, 5), max_size=30))
def test_in_their_order_all_count(sizes: list[int]) -> None:
    ledger, first = Ledger(), 0
    for size in sizes:
        assert ledger.accept(delivery(7, first, size)) == 0
        first += size
    assert (ledger.arrived, ledger.repeated, ledger.missing) == (sum(sizes), 0, 0)


def test_a_gap_is_told_and_what_comes_late_is_dropped() -> None:
    ledger = Ledger()
    assert ledger.accept(delivery(0, 0, 3)) == 0
    assert ledger.accept(delivery(0, 5, 2)) == 0
    assert ledger.missing == 2
    assert ledger.accept(delivery(0, 3, 2)) == 2
    assert (ledger.arrived, ledger.repeated) == (5, 2)
