"""Chess: king and rook, king and pawn against a king, compared with tables made here in full."""

import functools
import itertools
import random
from typing import Any

import numpy as np
from playing import texts

import athenan

GAME = athenan.make_game("chess")
FIDE = athenan.make_game("chess", draw_rules="fide")
PLAIN = athenan.make_game("chess", draw_rules="none", max_plies=1000)

CELLS = range(64)
NAMES = [f"{'abcdefgh'[cell % 8]}{cell // 8 + 1}" for cell in CELLS]
STRAIGHT = [(0, 1), (0, -1), (1, 0), (-1, 0)]
AROUND = [*STRAIGHT, (1, 1), (1, -1), (-1, 1), (-1, -1)]


def neighbour(cell: int, way: tuple[int, int]) -> int | None:
    row, column = cell // 8 + way[0], cell % 8 + way[1]
    return 8 * row + column if 0 <= row < 8 and 0 <= column < 8 else None


NEAR = np.array([[other in {neighbour(c, w) for w in AROUND} for other in CELLS] for c in CELLS])
SAME = np.eye(64, dtype=bool)


def stepped(table: np.ndarray, axis: int, way: tuple[int, int], fill: Any) -> np.ndarray:
    """The table as seen by a piece of that axis after a step; `fill` where it leaves the board."""
    source = [neighbour(cell, way) for cell in CELLS]
    moved = np.take(table, [cell or 0 for cell in source], axis)
    off = np.array([cell is None for cell in source])
    shape = [1, 1, 1]
    shape[axis] = 64
    return np.where(off.reshape(shape), fill, moved)


def fen_of(pieces: dict[str, int], mover: str, quiet_plies: int = 0) -> str:
    rows = []
    for row in range(7, -1, -1):
        symbols = {cell % 8: symbol for symbol, cell in pieces.items() if cell // 8 == row}
        line = "".join(symbols.get(column, "1") for column in range(8))
        rows.append(line)
    return f"{'/'.join(rows)} {mover} - - {quiet_plies} 1"


@functools.cache
def rook_ending() -> tuple[np.ndarray, np.ndarray]:
    """Plies to mate, indexed [white king, rook, black king], white and black to move; -1: none."""
    king, rook, black = np.ix_(CELLS, CELLS, CELLS)
    # The rook's attacks pass through the black king, who cannot hide behind himself.
    attacked = np.zeros((64, 64, 64), dtype=bool)
    for w, r in itertools.product(CELLS, CELLS):
        for way in STRAIGHT:
            cell = neighbour(r, way)
            while cell is not None and cell != w and w != r:
                attacked[w, r, cell] = True
                cell = neighbour(cell, way)
    apart = ~(SAME[king, rook] | SAME[king, black] | SAME[rook, black] | NEAR[king, black])
    for_white = apart & ~attacked
    escapes = ~NEAR[king, black] & ~SAME[king, black] & ~attacked
    escapes &= ~(SAME[rook, black] & NEAR[king, rook])  # a guarded rook is not taken

    white, after_white = np.full((64, 64, 64), -1), np.full((64, 64, 64), -1)
    for depth in range(0, 60):
        if depth % 2 == 0:  # black is lost when every escape is, and in check when there is none
            won = (white >= 0) & for_white
            lost, any_escape = apart.copy(), np.zeros_like(apart)
            for way in AROUND:
                can = stepped(escapes, 2, way, False)
                lost &= ~can | stepped(won, 2, way, True)
                any_escape |= can
            lost &= any_escape | attacked
            after_white[lost & (after_white < 0)] = depth
        else:
            lost = after_white >= 0
            wins = np.zeros_like(lost)
            for way in AROUND:
                wins |= stepped(lost & ~SAME[king, rook], 0, way, False)
            free = ~SAME[king, rook] & ~SAME[rook, black]
            for way in STRAIGHT:
                reached = np.zeros_like(lost)
                for _ in range(7):
                    reached = stepped((lost | reached) & free, 1, way, False)
                wins |= reached
            new = wins & for_white & (white < 0)
            white[new] = depth
            if not new.any():
                break
    after_white[~apart] = -1
    return white, after_white


def value(state: Any, depth: int) -> int:
    """For the mover, by searching everything to that depth; nothing decided is 0."""
    if state.is_terminal:
        return state.outcomes[state.to_move]
    if depth == 0:
        return 0
    return max(-value(state.play(action), depth - 1) for action in state.legal_actions())


def test_king_and_rook_against_king() -> None:
    """Every position's distance to mate by brute force; one step of our rules must agree."""
    white, black = rook_ending()
    assert white.max() == 31, "sixteen moves, as is well known"
    chance = random.Random(0)
    for mover, table, other in ((0, white, black), (1, black, white)):
        places = np.argwhere(table >= 0)
        for king, rook, enemy in places[chance.sample(range(len(places)), 1500)].tolist():
            pieces = {"K": king, "R": rook, "k": enemy}
            state = PLAIN.state_from_string(fen_of(pieces, "wb"[mover]))
            plies = table[king, rook, enemy]
            assert state.is_terminal == (plies == 0)
            after = []
            for text in texts(state):
                start, end = NAMES.index(text[:2]), NAMES.index(text[2:])
                moved = {p: end if cell == start else cell for p, cell in pieces.items()}
                after.append(other[moved["K"], moved["R"], moved["k"]])
            if mover == 0:
                assert plies == 1 + min(a for a in after if a >= 0)
            elif plies > 0:
                assert plies == 1 + max(after)
                assert min(after) > 0
    # The fifty moves may end with the mate itself, one ply less is a draw.
    places = np.argwhere(white == 3)
    for king, rook, enemy in places[chance.sample(range(len(places)), 10)].tolist():
        pieces = {"K": king, "R": rook, "k": enemy}
        assert value(GAME.state_from_string(fen_of(pieces, "w", 97)), 3) == 1
        assert value(GAME.state_from_string(fen_of(pieces, "w", 98)), 3) == 0


def test_the_search_solves_rook_endings() -> None:
    """The quiet plies leave just enough for the mate, or one ply too few."""
    white, black = rook_ending()
    chance = random.Random(0)
    for table, mover, plies in ((white, "w", 1), (white, "w", 3), (white, "w", 5), (black, "b", 4)):
        places = np.argwhere(table == plies)
        for king, rook, enemy in places[chance.sample(range(len(places)), 8)].tolist():
            pieces = {"K": king, "R": rook, "k": enemy}
            for left, expected in ((plies, 1), (plies - 1, 0)):
                state = GAME.state_from_string(fen_of(pieces, mover, 100 - left))
                result = athenan.make_search("descent", GAME, "zero").run(state, seconds=60)
                assert result.resolved
                assert result.completion == expected, f"{state}\nwithin {left}"


@functools.cache
def pawn_ending() -> tuple[np.ndarray, np.ndarray]:
    """Whether white wins, indexed [pawn, white king, black king], white and black to move."""
    pawn, king, black = np.ix_(CELLS, CELLS, CELLS)
    takes = np.array(
        [[o in (neighbour(c, (1, 1)), neighbour(c, (1, -1))) for o in CELLS] for c in CELLS]
    )
    on_rows = (pawn >= 8) & (pawn < 56)
    apart = on_rows & ~(SAME[pawn, king] | SAME[pawn, black] | SAME[king, black])
    apart &= ~NEAR[king, black]
    for_white = apart & ~takes[pawn, black]
    escapes = ~NEAR[king, black] & ~SAME[king, black] & ~takes[pawn, black]
    escapes &= ~(SAME[pawn, black] & NEAR[king, pawn])
    last = np.zeros((64, 64, 64), dtype=bool)  # promoted there, and black to move is lost
    for p, k, b in itertools.product(range(56, 64), CELLS, CELLS):
        if len({p, k, b}) == 3 and not NEAR[k, b]:
            last[p, k, b] = promotion_wins(p, k, b)
    white, after_white = np.zeros_like(last), np.zeros_like(last)
    while True:
        lost, any_escape = apart.copy(), np.zeros_like(apart)
        for way in AROUND:
            can = stepped(escapes, 2, way, False)
            lost &= ~can | stepped(white, 2, way, True)
            any_escape |= can
        lost &= any_escape | takes[pawn, black]
        free = ~SAME[pawn, king] & ~SAME[pawn, black]
        once = stepped(((lost & on_rows) | last) & free, 0, (1, 0), False)
        twice = stepped(stepped(lost & free, 0, (1, 0), False) & free, 0, (1, 0), False)
        wins = once | (twice & (pawn < 16))
        for way in AROUND:
            wins |= stepped(lost & ~SAME[pawn, king], 1, way, False)
        wins &= for_white
        if (wins == white).all() and (lost == after_white).all():
            return white, after_white
        white, after_white = wins, lost


def promotion_wins(promoted: int, king: int, black: int) -> bool:
    """Queen or rook against king wins unless it is taken at once or black is stalemated."""
    for ways in (AROUND, STRAIGHT):
        attacked = set()
        for way in ways:
            cell = neighbour(promoted, way)
            while cell is not None and cell != king:
                attacked.add(cell)
                cell = neighbour(cell, way)
        escapes = [c for c in CELLS if NEAR[black, c] and not NEAR[king, c] and c != king]
        escapes = [c for c in escapes if c not in attacked]
        if promoted not in escapes and (escapes or black in attacked):
            return True
    return False


def test_king_and_pawn_against_king() -> None:
    white, black = pawn_ending()
    # As many as in the table that chess programs build for pawns on four columns.
    assert white.sum() + black.sum() == 2 * 111282
    chance = random.Random(0)
    for mover, table, other in ((0, white, black), (1, black, white)):
        for _ in range(2500):
            pawn, king, enemy = chance.randrange(8, 56), chance.randrange(64), chance.randrange(64)
            pieces = {"P": pawn, "K": king, "k": enemy}
            try:
                state = PLAIN.state_from_string(fen_of(pieces, "wb"[mover]))
            except ValueError:
                continue  # kings side by side, or a pawn that could take the king
            if len(set(pieces.values())) < 3:
                continue
            won = []
            for text in texts(state):
                start, end = NAMES.index(text[:2]), NAMES.index(text[2:4])
                moved = {p: end if cell == start else cell for p, cell in pieces.items()}
                if text.endswith(("q", "r")):
                    won.append(promotion_wins(end, king, enemy))
                elif text.endswith(("b", "n")) or end == pawn:
                    won.append(False)  # dead material
                else:
                    won.append(bool(other[moved["P"], moved["K"], moved["k"]]))
            expected = any(won) if mover == 0 else all(won) and bool(won)
            assert bool(table[pawn, king, enemy]) == expected, str(state)


def test_the_search_solves_pawn_endings() -> None:
    """Promotion and mate within three plies, by plain search too; such wins are in the table."""
    white, _ = pawn_ending()
    game = athenan.make_game("chess", draw_rules="none", max_plies=3)
    chance = random.Random(0)
    solved = {0: 0, 1: 0}
    for _ in range(300):
        king, enemy, pawn = (
            chance.randrange(40, 64),
            chance.randrange(56, 64),
            chance.randrange(48, 56),
        )
        pieces = {"P": pawn, "K": king, "k": enemy}
        if len({king, enemy, pawn}) < 3 or NEAR[king, enemy]:
            continue
        text = fen_of(pieces, "w")
        try:
            state = game.state_from_string(text)
        except ValueError:
            continue  # the pawn could take the king
        result = athenan.make_search("descent", game, "zero", memory_mb=50).run(state, seconds=20)
        assert result.resolved
        assert result.completion == value(state, 3), str(state)
        assert white[pawn, king, enemy] or result.completion == 0, str(state)
        solved[result.completion] += 1
    assert min(solved.values()) > 10, solved
