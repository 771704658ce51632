"""Chess: published counts, what random playouts hardly reach, and two endings in full."""

import functools
import itertools
import random
from typing import Any

import numpy as np
import pytest
from playing import boards

import athenan

GAME = athenan.make_game("chess")
FIDE = athenan.make_game("chess", draw_rules="fide")
PLAIN = athenan.make_game("chess", draw_rules="none", max_plies=1000)

# Counts of the chess programming wiki's "Perft Results".
PERFT = {
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": (
        [48, 2039, 97862, 4085603, 193690690]
    ),
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": [14, 191, 2812, 43238, 674624, 11030083],
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": (
        [6, 264, 9467, 422333, 15833292]
    ),
    "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1": (
        [6, 264, 9467, 422333, 15833292]
    ),
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": [44, 1486, 62379, 2103487],
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": (
        [46, 2079, 89890, 3894594]
    ),
}


def texts(state: Any) -> list[str]:
    return [state.action_to_string(action) for action in state.legal_actions()]


def play(state: Any, *actions: str) -> Any:
    for text in actions:
        state = state.play(state.string_to_action(text))
    return state


def leaves(state: Any, depth: int) -> int:
    actions = state.legal_actions()
    if depth == 1:
        return len(actions)
    return sum(leaves(state.play(action), depth - 1) for action in actions)


@pytest.mark.parametrize("fen", PERFT)
def test_published_counts(fen: str) -> None:
    counts = [count for count in PERFT[fen] if count <= 700_000]
    state = GAME.state_from_string(fen)
    assert [leaves(state, depth + 1) for depth in range(len(counts))] == counts


@pytest.mark.long
@pytest.mark.parametrize("fen", PERFT)
def test_deep_published_counts(fen: str) -> None:
    state = GAME.state_from_string(fen)
    for depth, count in enumerate(PERFT[fen]):
        if count > 700_000:
            assert leaves(state, depth + 1) == count


# ---- Castling ----------------------------------------------------------------------------------


def castlings(state: Any) -> set[str]:
    return {text for text in texts(state) if text in ("e1g1", "e1c1", "e8g8", "e8c8")}


def test_castling_moves_the_rook() -> None:
    state = GAME.state_from_string("""\
  a b c d e f g h
8 r . . . k . . r
7 p . . . . . . p
6 . . . . . . . .
5 . . . . . . . .
4 . . . . . . . .
3 . . . . . . . .
2 P . . . . . . P
1 R . . . K . . R
ply 0, K to move
FEN r3k2r/p6p/8/8/8/8/P6P/R3K2R w KQkq - 0 1""")
    assert castlings(state) == {"e1g1", "e1c1"}
    after = play(state, "e1g1", "e8c8")
    assert "1 R . . . . R K ." in str(after)
    assert "8 . .[k]r . . . r" in str(after)
    assert str(after).endswith("FEN 2kr3r/p6p/8/8/8/8/P6P/R4RK1 w - - 2 2")


@pytest.mark.parametrize(
    ("actions", "left"),
    [
        (("e1e2", "a7a6", "e2e1", "a6a5"), set()),  # the king has moved
        (("a1b1", "a7a6", "b1a1", "a6a5"), {"e1g1"}),
        (("h1g1", "a7a6", "g1h1", "a6a5"), {"e1c1"}),
        (("a2a3", "a7a6"), {"e1g1", "e1c1"}),
    ],
)
def test_castling_rights_are_lost(actions: tuple[str, ...], left: set[str]) -> None:
    [board] = boards("""
        r...k..r
        p......p
        ........
        ........
        ........
        ........
        P......P
        R...K..R""")
    state = GAME.state_from_string(board + " w KQkq - 0 1")
    assert castlings(play(state, *actions)) == left


def test_a_captured_rook_castles_no_more_not_even_a_new_one() -> None:
    white, black = boards("""
        ....k..r   r...k...
        ......P.   ........
        ........   ........
        ........   ........
        ........   ........
        ........   ........
        ........   ......p.
        R...K..R   R...K..R""")
    state = GAME.state_from_string(white + " w KQk - 0 1")
    assert castlings(play(state, "h1h8")) == set()
    after = play(state, "g7h8r")  # takes the rook with check
    assert str(after).endswith(" b KQ - 0 1")
    state = GAME.state_from_string(black + " b Qq - 0 1")
    assert castlings(play(state, "g2h1r", "e1d2", "h1h8")) == set()


def test_castling_conditions() -> None:
    """In turn: in check, f1, g1 and d1 attacked, b1 and h1 attacked (which does not matter), b1
    and g1 occupied, a king who is not at home (such rights are none)."""
    picture = """
        ....k...   ....k...   ....k...   ....k...   ....k...   ....k...   ....k...
        ........   ........   ........   ........   ........   ........   ........
        ........   ........   ........   ........   ........   ........   ........
        ........   ........   ........   ........   ........   ........   ........
        ....r...   .....r..   ......r.   ...r....   .r.....r   ........   ........
        ........   ........   ........   ........   ........   ........   ........
        ........   ........   ........   ........   ........   ........   ........
        R...K..R   R...K..R   R...K..R   R...K..R   R...K..R   RN..K.NR   R....K.R"""
    short, long = "e1g1", "e1c1"
    expected = [set(), {long}, {long}, {short}, {short, long}, set(), set()]
    states = [GAME.state_from_string(board + " w KQ - 0 1") for board in boards(picture)]
    assert [castlings(state) for state in states] == expected
    [rooks] = boards("""
        r...k..r
        ........
        ........
        ........
        ........
        ........
        ........
        R...K..R""")
    assert castlings(GAME.state_from_string(rooks + " w K - 0 1")) == {short}
    assert castlings(GAME.state_from_string(rooks + " b kq - 0 1")) == {"e8g8", "e8c8"}


# ---- En passant --------------------------------------------------------------------------------


def test_en_passant_lasts_one_action() -> None:
    twice, once = boards("""
        ....k...   ....k...
        ..p.....   ........
        ........   ..p.....
        ...P....   ...P....
        ........   ........
        ........   ........
        ........   ........
        ....K...   ....K...""")
    after = play(GAME.state_from_string(twice + " b - - 0 1"), "c7c5")
    assert str(after).endswith(" w - c6 0 2")
    taken = play(after, "d5c6")
    assert "5 . . . . . . . ." in str(taken)
    later = play(after, "e1e2", "e8e7")
    assert "d5c6" not in texts(later)
    assert str(later).endswith(" w - - 2 3")
    assert "d5c6" not in texts(play(GAME.state_from_string(once + " b - - 0 1"), "c6c5"))


def test_en_passant_and_pins() -> None:
    """After c7c5, may d5 take? In turn: both pawns would leave the row between king and rook; the
    pawn is pinned on a diagonal; on the diagonal along which it takes; on the column; the pawn
    that gives check is taken; the column that opens does not lead to the king; the double step
    uncovered a check that taking does not answer."""
    picture = """
        ........   ....k.b.   b...k...   ...rk...   ....k...   ..r.k...   .b..k...
        ..p.....   ..p.....   ..p.....   ..p.....   ..p.....   ..p.....   ..p.....
        ........   ........   ........   ........   ........   ........   ........
        K..P...r   ...P....   ...P....   ...P....   ...P....   ...P....   ...P....
        ........   ........   ........   ........   .K......   ........   ........
        ........   ........   ........   ........   ........   ........   ........
        ........   K.......   ......K.   ...K....   ........   ..K.....   .......K
        ....k...   ........   ........   ........   ........   ........   ........"""
    expected = [False, False, True, False, True, True, False]
    for board, legal in zip(boards(picture), expected, strict=True):
        after = play(GAME.state_from_string(board + " b - - 0 1"), "c7c5")
        assert ("d5c6" in texts(after)) == legal, str(after)
        assert (" c6 " in str(after)) == legal, "only a capture that is possible counts"


# ---- Promotion, mate, stalemate ----------------------------------------------------------------


def test_promotions() -> None:
    white, black = boards("""
        .n..k...   ....k...
        P.......   ........
        ........   ........
        ........   ........
        ........   ........
        ........   ........
        ........   p.......
        ....K...   .N..K...""")
    state = GAME.state_from_string(white + " w")
    promotions = {text for text in texts(state) if text.startswith("a7")}
    assert promotions == {f"a7{to}{kind}" for to in ("a8", "b8") for kind in "qrbn"}
    assert "8[N]n . . k . . ." in str(play(state, "a7a8n"))
    assert "8 .[Q]. . k . . ." in str(play(state, "a7b8q"))
    assert "1 .[r]. . K . . ." in str(play(GAME.state_from_string(black + " b"), "a2b1r"))


def test_mate_and_stalemate() -> None:
    mated = play(GAME.initial_state(), "f2f3", "e7e5", "g2g4", "d8h4")
    assert mated.outcomes == (-1, 1)
    assert "k won" in str(mated)
    stalemate, smothered, double = boards("""
        .......k   ......rk   ....k...
        .....Q..   .....Npp   ........
        ......K.   ........   ........
        ........   ........   ........
        ........   ........   ....r...
        ........   ........   .....n..
        ........   ........   ...P..P.
        ........   ......K.   R...K..R""")
    assert GAME.state_from_string(stalemate + " b").outcomes == (0, 0)
    assert GAME.state_from_string(smothered + " b").outcomes == (1, -1)
    # A double check is answered by the king only, though each check alone could be met.
    state = GAME.state_from_string(double + " w KQ - 0 1")
    assert {text[:2] for text in texts(state)} == {"e1"}


# ---- Draws -------------------------------------------------------------------------------------

KNIGHTS_OUT_AND_BACK = ("g1f3", "g8f6", "f3g1", "f6g8")


def test_repetition() -> None:
    third = play(GAME.initial_state(), *(2 * KNIGHTS_OUT_AND_BACK))
    assert third.outcomes == (0, 0)
    assert not play(GAME.initial_state(), *(2 * KNIGHTS_OUT_AND_BACK)[:-1]).is_terminal
    fourth = play(FIDE.initial_state(), *(3 * KNIGHTS_OUT_AND_BACK))
    assert not fourth.is_terminal
    assert play(fourth, *KNIGHTS_OUT_AND_BACK).outcomes == (0, 0)
    assert not play(PLAIN.initial_state(), *(5 * KNIGHTS_OUT_AND_BACK)).is_terminal


def test_lost_castling_rights_make_another_state() -> None:
    start = GAME.state_from_string("r3k3/8/8/8/8/8/8/R3K2R w KQq - 0 1")
    to_and_fro = ("h1g1", "a8b8", "g1h1", "b8a8")
    state = play(start, *to_and_fro)
    assert not play(state, *to_and_fro).is_terminal, "the first time there were more rights"
    assert not play(state, *to_and_fro, "h1g1").is_terminal
    assert play(state, *to_and_fro, "h1g1", "a8b8").outcomes == (0, 0)


def test_a_possible_en_passant_makes_another_state() -> None:
    to_and_fro = ("e1e2", "e8e7", "e2e1", "e7e8")
    start = GAME.state_from_string("4k3/2p5/8/3P4/8/8/8/4K3 b - - 0 1")
    assert not play(start, "c7c5", *(2 * to_and_fro)).is_terminal
    assert play(start, "c7c5", *(2 * to_and_fro), "e1e2").outcomes == (0, 0)
    # No pawn could take: the states are the same.
    start = GAME.state_from_string("4k3/2p5/8/8/P7/8/8/4K3 b - - 0 1")
    assert play(start, "c7c5", *(2 * to_and_fro)).is_terminal


@pytest.mark.parametrize(("game", "limit"), [(GAME, 100), (FIDE, 150)])
def test_moves_without_progress(game: Any, limit: int) -> None:
    castling, mating = boards("""
        ....k...   ......k.
        ........   .....ppp
        ........   ........
        ........   ........
        ........   ........
        ........   ........
        P.......   ........
        R...K...   R...K...""")
    before = game.state_from_string(f"{castling} w Q - {limit - 1} 80")
    assert play(before, "a1b1").outcomes == (0, 0)
    assert play(before, "e1c1").outcomes == (0, 0)
    assert not play(before, "a2a3").is_terminal
    mate = game.state_from_string(f"{mating} w - - {limit - 1} 90")
    assert play(mate, "a1a8").outcomes == (1, -1), "mate comes first"
    assert game.state_from_string(f"{castling} w Q - {limit} 80").outcomes == (0, 0)


def test_dead_material() -> None:
    dead = """
        k.......   k.......   k.......   kb......   k..b....
        ........   ........   ........   ........   ........
        ........   ........   ........   ........   ........
        ........   ........   ........   ........   ..b.....
        ........   ........   ........   ........   ........
        ........   ........   ........   ........   ....B...
        ........   ........   ........   ........   ........
        .......K   ......NK   ......BK   ......BK   ......BK"""
    alive = """
        k.b.....   k.bb....   kn......   k.......   kb......   k.......   k.......   k.......
        ........   ........   ........   ........   ........   p.......   ........   ........
        ........   ........   ........   ........   ........   ........   ........   ........
        ........   ........   ........   ........   ........   ........   ........   ........
        ........   ........   ........   ........   ........   ........   ........   ........
        ........   ........   ........   ........   ........   ........   ........   ........
        ........   ........   ........   ........   ........   ........   ........   ........
        ......BK   ....B.BK   ......NK   .....NNK   ......NK   .......K   ......RK   .Q.....K"""
    for picture, is_dead in ((dead, True), (alive, False)):
        for board in boards(picture):
            for game in (GAME, FIDE):
                assert game.state_from_string(board + " b").is_terminal == is_dead, board
            assert not PLAIN.state_from_string(board + " b").is_terminal


def test_the_last_capture_leaves_dead_material() -> None:
    [board] = boards("""
        k.......
        ........
        ........
        ........
        ........
        ........
        ......r.
        .......K""")
    assert play(GAME.state_from_string(board + " w"), "h1g2").outcomes == (0, 0)


def is_dead(planes: np.ndarray) -> bool:
    """One knight or bishop at most, or bishops of one colour; planes are those of KkQqRrBbNnPp."""
    if planes[..., [2, 3, 4, 5, 10, 11]].any():
        return False
    bishops = np.argwhere(planes[..., 6:8].any(-1)).sum(-1) % 2
    knights = int(planes[..., 8:10].sum())
    return knights + len(bishops) <= 1 or (knights == 0 and len(set(bishops.tolist())) == 1)


def recount(game: Any, fen: str, chance: random.Random, limits: tuple[int, int]) -> str:
    """A random game whose repetitions and quiet plies are counted anew; says what ended it."""
    state, plain = game.state_from_string(fen), PLAIN.state_from_string(fen)
    seen, quiet = [state.planes().tobytes()], int(fen.split()[4])
    while not state.is_terminal:
        before = state.planes()
        action = chance.choice(state.legal_actions())
        state, plain = state.play(action), plain.play(action)
        after = state.planes()
        assert (after == plain.planes()).all()
        captured = after[..., :12].sum() < before[..., :12].sum()
        moved_pawn = (after[..., 10:12] != before[..., 10:12]).any()
        quiet = 0 if captured or moved_pawn else quiet + 1
        seen.append(after.tobytes())
        assert int(str(state).split()[-2]) == quiet
        repetitions, quiet_plies = limits
        if not plain.legal_actions():
            assert state.outcomes == plain.outcomes
            return "stuck"
        ends = {
            "repetition": seen.count(seen[-1]) >= repetitions,
            "quiet": quiet >= quiet_plies,
            "dead": is_dead(after),
        }
        assert state.is_terminal == any(ends.values()), f"{ends}\n{state}"
        assert state.outcomes == ((0, 0) if state.is_terminal else None)
    return next(name for name, true in ends.items() if true)


def test_draws_equal_their_recount() -> None:
    """Kings and a rook between locked pawns; castling and en passant make some states differ."""
    chance = random.Random(0)
    found = [
        recount(game, fen, chance, limits)
        for fen in (
            "k7/2p5/p1P5/P7/8/8/8/7K w - - 0 1",
            "r3k3/p1p5/P1P5/8/8/8/8/4K2R w Kq - 90 60",
            "4k3/3p1p2/8/2P1P1P1/8/8/8/4K3 b - - 0 1",
        )
        for game, limits in ((GAME, (3, 100)), (FIDE, (5, 150)))
        for _ in range(25)
    ]
    assert {"repetition", "quiet", "dead"} <= set(found), found


# ---- Texts and keys ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("8/8/8/8/8/8/8/8 w - - 0 1", "one king"),
        ("k7/8/8/8/8/8/8/P6K w - - 0 1", "pawn"),
        ("k7/8/8/8/8/8/8/R6K w - - 0 1", "check"),
        ("k7/8/8/8/8/8/7K w - - 0 1", "incomplete"),
        ("k7/9/8/8/8/8/8/7K w - - 0 1", "rows"),
        ("k7/QQQQQQQQ/8/QQQQQQQQ/8/8/8/7K b - - 0 1", "16 pieces"),
        ("k7/8/8/8/8/8/8/7K x - - 0 1", "w or b"),
        ("k7/8/8/8/8/8/8/7K", "fields"),
        ("k7/8/8/8/8/8/8/7K w -", "fields"),
        ("k7/8/8/8/8/8/8/7K w - - 0 1 more", "fields"),
        ("k7/8/8/8/8/8/8/7K w KX - 0 1", "castling"),
        ("k7/8/8/8/8/8/8/7K w QK - 0 1", "castling"),
        ("k7/8/8/8/8/8/8/7K w - zz 0 1", "en passant"),
        ("k7/8/8/8/8/8/8/7K w - - -1 1", "from 0"),
        ("k7/8/8/8/8/8/8/7K w - - x 1", "from 0"),
        ("k7/8/8/8/8/8/8/7K w - - 0 0", "from 1"),
        ("k7/8/8/8/8/8/8/7K w - - 0 99999", "at most 12700 plies"),
        # A rook stands where the pawn should have come from; no pawn there; the wrong row; a
        # check that no double step can have left standing.
        ("4k3/2r5/8/2pP4/8/8/8/4K3 w - c6 0 1", "just have passed"),
        ("4k3/8/8/3P4/8/8/8/4K3 w - c6 0 1", "just have passed"),
        ("4k3/8/2p5/3P4/8/8/8/4K3 w - c7 0 1", "just have passed"),
        ("4k3/8/8/2pP4/8/8/4r3/4K3 w - c6 0 1", "just have passed"),
    ],
)
def test_texts_are_checked(wrong: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        GAME.state_from_string(wrong)


def test_max_plies_is_needed_without_draws() -> None:
    with pytest.raises(ValueError, match="max_plies"):
        athenan.make_game("chess", draw_rules="none")


def test_a_drawn_board_and_its_fen_agree() -> None:
    text = str(play(GAME.initial_state(), "e2e4", "g8f6", "b1c3"))
    fen = text.splitlines()[-1]
    for whole in (text, fen, fen.removeprefix("FEN ")):
        assert str(GAME.state_from_string(whole)) == text.replace("[N]", " N ")
    for one, other in ((" N ", " . "), ("ply 3", "ply 5"), (" b KQ", " w KQ"), ("[N]", " Q ")):
        with pytest.raises(ValueError, match="go on with"):
            GAME.state_from_string(text.replace(one, other))
    with pytest.raises(ValueError, match="ply 3, o to move"):
        GAME.state_from_string(text.replace("ply", "play"))
    assert GAME.state_from_string(fen + "\n") == GAME.state_from_string(fen)
    epd = " ".join(fen.split()[1:5])
    assert str(GAME.state_from_string(epd)).endswith(epd + " 0 1")


def test_a_text_keeps_castling_and_en_passant() -> None:
    state = play(GAME.initial_state(), "e2e4", "a7a6", "e4e5", "d7d5")
    again = GAME.state_from_string(str(state))
    assert again.key == state.key
    assert "e5d6" in texts(again)
    fen = "rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3"
    assert GAME.state_from_string(fen).identical(again)


def test_counters_and_history_are_in_the_key() -> None:
    start = GAME.initial_state()
    assert play(start, *KNIGHTS_OUT_AND_BACK).key != start.key
    a = play(start, "g1f3", "g8f6", "b1c3", "b8c6")
    b = play(start, "b1c3", "g8f6", "g1f3", "b8c6")
    assert a.key != b.key, "other states may be repeated"
    assert play(a, "e2e4").key == play(b, "e2e4").key
    fen = "4k3/8/8/8/8/8/P7/R3K3 w Q - {} 80"
    assert GAME.state_from_string(fen.format(3)).key != GAME.state_from_string(fen.format(4)).key


# ---- Endings -----------------------------------------------------------------------------------

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
