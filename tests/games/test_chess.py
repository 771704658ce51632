"""Chess: published counts, and what random playouts hardly reach."""

import random
from typing import Any

import numpy as np
import pytest
from playing import boards, play, play_beside, texts

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
    start, plain_start = game.state_from_string(fen), PLAIN.state_from_string(fen)
    seen, quiet = [start.planes().tobytes()], int(fen.split()[4])
    for state, plain, before, after in play_beside(start, plain_start, chance):
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
