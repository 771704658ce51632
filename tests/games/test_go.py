"""Go: what random playouts hardly reach, and the smallest boards solved."""

import functools
import random
from typing import Any

import pytest

import athenan


def make(size: int, **options: Any) -> Any:
    return athenan.make_game("go", size=size, **{"komi": 0, **options})


def play(state: Any, *texts: str) -> Any:
    for text in texts:
        state = state.play(state.string_to_action(text))
    return state


def texts(state: Any) -> set[str]:
    return {state.action_to_string(action) for action in state.legal_actions()}


def rows(state: Any) -> list[str]:
    """The points alone, the highest row first, without ko and passes."""
    lines = str(state).replace("[", " ").replace("]", " ").splitlines()[1:-1]
    return ["".join(line.split()[1:]).translate(str.maketrans("*-=", "...")) for line in lines]


KO = """\
  a b c d e
5 . . . . .
4 . x o . .
3 x o . o .
2 . x o . .
1 . . . . .
ply 10, x to move"""


@pytest.mark.parametrize("draw_rules", ["olympiad", "openspiel", "none"])
def test_ko(draw_rules: str) -> None:
    state = play(make(5, draw_rules=draw_rules).state_from_string(KO), "c3")
    assert rows(state) == [".....", ".xo..", "x.xo.", ".xo..", "....."]
    assert "b3" not in texts(state)
    assert "*" in str(state)
    state = play(state, "e5", "e4")
    assert "b3" in texts(state), "after an exchange elsewhere the ko may be taken"
    assert rows(play(state, "b3"))[2] == "xo.o."


def test_taking_two_stones_back_is_no_ko() -> None:
    state = make(5).state_from_string("""\
  a b c d e
5 . o . . .
4 o x o . .
3 o x o . .
2 x . x . .
1 . x . . .
ply 10, o to move""")
    state = play(state, "b2")
    assert rows(state) == [".o...", "o.o..", "o.o..", "xox..", ".x..."]
    assert "b3" in texts(state)
    assert rows(play(state, "b3"))[3] == "x.x..", "the stone that took two is taken"


def test_suicide_is_refused_and_capture_is_not() -> None:
    state = make(5).state_from_string("""\
  a b c d e
5 . x o . .
4 x x o . .
3 o o o . o
2 x o . o .
1 . x o . o
ply 20, x to move""")
    assert "d1" not in texts(state), "a single stone without liberty"
    assert "e2" not in texts(state)
    assert "a1" not in texts(state), "nor may a group of one's own lose its last liberty"
    assert "c2" not in texts(state)
    assert "a5" not in texts(state)
    captured = play(state, "pass", "a5")
    assert rows(captured)[:2] == ["o.o..", "..o.."], "the last liberty may be filled to capture"


@pytest.mark.parametrize(
    ("rows", "mover", "why"),
    [
        ("xo. oo. ...", "x", "no liberty"),
        ("xxx xxx xxx", "x", "no liberty"),
        (".-. ... ...", "x", "several ways"),
        ("--= --- ---", "x", "several ways"),
        ("-*- --- ---", "x", "several ways"),
        ("*.. ... .*.", "x", "ko"),
        (".*. ... ...", "x", "ko"),
        ("*o. o.. ...", "x", "ko"),  # neither stone beside it can have taken one there
        ("*ox ox. x..", "o", "ko"),  # he would have taken his own stone
    ],
)
def test_texts_are_checked(rows: str, mover: str, why: str) -> None:
    lines = [f"{3 - i} {' '.join(row)}" for i, row in enumerate(rows.split())]
    text = "\n".join(["  a b c", *lines, f"ply 9, {mover} to move"])
    with pytest.raises(ValueError, match=why):
        make(3).state_from_string(text)


def test_a_ko_is_read() -> None:
    text = """\
  a b c
3 * o x
2 o x .
1 . . .
ply 9, x to move, * is ko"""
    state = make(3).state_from_string(text)
    assert "a3" not in texts(state)
    assert str(state) == text
    with pytest.raises(ValueError, match="at most 27 plies"):
        make(3).state_from_string(text.replace("ply 9", "ply 65545"))


def test_two_passes_end_the_game() -> None:
    state = play(make(5, komi=0.5).initial_state(), "c3", "pass")
    assert not state.is_terminal
    assert "-" in str(state), "empty points are drawn so after a pass"
    assert play(state, "b3", "pass").is_terminal is False, "only in a row"
    state = play(state, "pass")
    assert state.is_terminal
    assert state.outcomes == (1, -1)
    assert state.score == 24.5, "one stone reaches every point"


def test_area_counts_dead_stones_until_they_are_played_out() -> None:
    game = make(5, komi=2.5)
    state = game.state_from_string("""\
  a b c d e
5 . . x o .
4 . o x o .
3 . . x o .
2 . . x o .
1 . . x o .
ply 21, x to move""")
    left_there = play(state, "pass", "pass")
    assert left_there.score == 5 - (5 + 1 + 5) - 2.5, "around the white stone is neutral"
    assert left_there.outcomes == (-1, 1)
    taken_off = play(state, "b5", "pass", "b3", "pass", "a4", "pass", "pass")
    assert taken_off.score == 15 - 10 - 2.5
    assert taken_off.outcomes == (1, -1)


def test_an_equal_area_is_a_draw() -> None:
    state = play(make(5).initial_state(), "pass", "pass")
    assert state.outcomes == (0, 0)


# On 2 × 2 points seven stones lead back to the board after the first, white to move.
CYCLE = ["a1", "b2", "a2", "b1", "a1", "a2", "a1"]


def test_a_balanced_long_cycle_is_a_draw() -> None:
    start = make(2, komi=0.5).initial_state()
    before = play(start, *CYCLE[:-1])
    assert rows(play(start, "a1")) == ["..", "x."]
    assert rows(before) == ["oo", ".o"]
    after = play(before, "a1")
    assert rows(after) == ["..", "x."]
    assert after.is_terminal
    assert after.outcomes == (0, 0)
    assert after.score == 0
    openspiel = play(make(2, draw_rules="openspiel", max_plies=20).initial_state(), *CYCLE)
    assert openspiel.is_terminal
    assert openspiel.outcomes == (0, 0)
    assert not play(make(2, draw_rules="none").initial_state(), *CYCLE).is_terminal


def test_openspiel_does_not_ask_who_moves() -> None:
    """The same board with the other player to move: a draw there, nothing at the Olympiad."""
    line = ["a1", "b1", "a2", "pass", "b2", "b1", "a1"]
    assert not play(make(2).initial_state(), *line).is_terminal
    state = play(make(2, draw_rules="openspiel").initial_state(), *line)
    assert state.is_terminal
    assert state.outcomes == (0, 0)
    assert rows(state) == rows(play(make(2).initial_state(), *line[:2])) == ["..", "xo"]


def test_an_unbalanced_cycle_loses_for_who_passed_less() -> None:
    line = ["a1", "pass", "b2", "pass", "a2", "b1", "a1", "pass", "a2", "b2", "a1", "a2", "a1"]
    game = make(2, max_plies=20)
    before = play(game.initial_state(), *line[:-1])
    assert not before.is_terminal
    after = play(before, line[-1])
    assert rows(after) == rows(play(game.initial_state(), "a1")) == ["..", "x."]
    assert after.outcomes == (-1, 1), "white passed three times, black never"
    assert after.score == 0, "no area decided it"


def test_send_two_return_one() -> None:
    """White gives two stones for one again and again; black, who can pass meanwhile, wins."""
    state = make(5).state_from_string("""\
  a b c d e
5 . . . . .
4 . . . . .
3 . x o . .
2 x x o . .
1 . o . o .
ply 8, x to move""")
    before = rows(state)
    state = play(state, "pass", "a1", "c1")
    assert rows(state)[-1] == "..xo."
    state = play(state, "b1")
    assert rows(state) == before
    assert state.outcomes == (1, -1)


def test_history_is_part_of_the_key() -> None:
    game = make(3, draw_rules="olympiad")
    one = play(game.initial_state(), "a1", "b1", "c1", "a3")
    other = play(game.initial_state(), "c1", "a3", "a1", "b1")
    assert rows(one) == rows(other)
    assert one.key != other.key, "other boards may recur"
    free = make(3, draw_rules="none")
    same = play(free.initial_state(), "a1", "b1", "c1", "a3")
    assert same.key == play(free.initial_state(), "c1", "a3", "a1", "b1").key


def test_the_longest_game() -> None:
    drawn = play(make(3, max_plies=2, komi=0.5).initial_state(), "b2", "a1")
    assert drawn.is_terminal
    assert drawn.outcomes == (0, 0)
    scored = play(make(3, max_plies=2, draw_rules="openspiel").initial_state(), "b2", "pass")
    assert scored.outcomes == (1, -1)
    with pytest.raises(ValueError, match="max_plies"):
        make(9, max_plies=500)


# ---- Recurring boards against a recount --------------------------------------------------------


@pytest.mark.parametrize("draw_rules", ["olympiad", "openspiel", "none"])
@pytest.mark.parametrize(("size", "columns"), [(2, 2), (2, 3)])
def test_ends_equal_their_recount(size: int, columns: int, draw_rules: str) -> None:
    """Random games on boards so small that many of them come back to an earlier board."""
    game = make(size, columns=columns, draw_rules=draw_rules)
    chance = random.Random(size * columns)
    recurred = 0
    for _ in range(150):
        state = game.initial_state()
        boards = [(rows(state), 0, 0)]  # with the mover and how far black is ahead in passes
        while not state.is_terminal:
            stones = sorted(texts(state) - {"pass"})
            text = chance.choice(stones) if stones and chance.random() < 0.8 else "pass"
            mover, before = state.to_move, boards[-1][2]
            state = play(state, text)
            ahead = before + (0 if text != "pass" else 1 if mover == 0 else -1)
            now = (rows(state), state.to_move, ahead)
            olympiad = [b for b in boards if b[:2] == now[:2]]
            openspiel = [b for b in boards if b[0] == now[0] and text != "pass"]
            boards.append(now)
            if text == "pass" and "two passes" in str(state):
                assert state.is_terminal
            elif draw_rules == "olympiad" and olympiad:
                gained = ahead - olympiad[-1][2]
                sign = (gained > 0) - (gained < 0)
                assert state.outcomes == (sign, -sign)
                recurred += 1
            elif draw_rules == "openspiel" and openspiel:
                assert state.outcomes == (0, 0)
                recurred += 1
            else:
                assert state.is_terminal == (state.ply == game.max_plies)
    assert (recurred > 0) == (draw_rules != "none"), recurred


# ---- Small boards solved -----------------------------------------------------------------------


def reference_value(size: int, columns: int, max_plies: int) -> int:
    """Black's score by a second set of rules; ko means not to restore the board before last."""
    cells = range(size * columns)
    near = [
        [b for b in cells if abs(a // columns - b // columns) + abs(a % columns - b % columns) == 1]
        for a in cells
    ]

    def region(board: tuple[int, ...], start: int) -> tuple[set[int], set[int]]:
        """The cells that hang together with `start`, and what they touch."""
        inside, waiting, touched = {start}, [start], set()
        while waiting:
            for cell in near[waiting.pop()]:
                if board[cell] != board[start]:
                    touched.add(cell)
                elif cell not in inside:
                    inside.add(cell)
                    waiting.append(cell)
        return inside, touched

    @functools.cache
    def placed(board: tuple[int, ...], cell: int, colour: int) -> tuple[int, ...] | None:
        if board[cell]:
            return None
        after = [*board[:cell], colour, *board[cell + 1 :]]
        for enemy in near[cell]:
            if after[enemy] == -colour:
                group, touched = region(tuple(after), enemy)
                if all(after[c] for c in touched):
                    for stone in group:
                        after[stone] = 0
        _, touched = region(tuple(after), cell)
        return tuple(after) if any(after[c] == 0 for c in touched) else None

    def score(board: tuple[int, ...]) -> int:
        total = sum(board)
        for cell in cells:
            if board[cell] == 0:
                colours = {board[c] for c in region(board, cell)[1]}
                total += colours.pop() if len(colours) == 1 else 0
        return total

    @functools.cache
    def value(board: tuple[int, ...], before: Any, colour: int, passed: bool, ply: int) -> int:
        if ply == max_plies:
            return 0
        values = [score(board) if passed else value(board, None, -colour, True, ply + 1)]
        for cell in cells:
            after = placed(board, cell, colour)
            if after is not None and after != before:
                values.append(value(after, board, -colour, False, ply + 1))
        return max(values) if colour == 1 else min(values)

    return value((0,) * len(cells), None, 1, False, 0)


@pytest.mark.parametrize(("size", "columns", "max_plies"), [(2, 2, 12), (2, 3, 18), (3, 3, 9)])
def test_the_search_solves_small_boards(size: int, columns: int, max_plies: int) -> None:
    game = make(size, columns=columns, draw_rules="none", max_plies=max_plies)
    search = athenan.make_search("descent", game, "zero", heuristic="score", strong=True)
    result = search.run(game.initial_state(), seconds=60)
    assert result.resolved
    assert result.value == reference_value(size, columns, max_plies)


def test_the_search_finds_that_the_centre_of_3x3_takes_all() -> None:
    game = make(3, komi=8.5, draw_rules="none", max_plies=15)
    result = athenan.make_search("descent", game, "zero").run(game.initial_state(), seconds=60)
    assert result.resolved
    assert result.completion == 1
    assert game.initial_state().action_to_string(result.action) == "b2"


def test_rectangles() -> None:
    state = play(make(2, columns=5, komi=0.5).initial_state(), "e1", "e2", "d2")
    assert rows(state) == ["...x.", "....x"]
    assert [texts(state) >= {cell} for cell in ("e2", "a1", "e1")] == [False, True, False]
    with pytest.raises(ValueError, match="columns"):
        make(2, columns=1)


def value(game: Any) -> float:
    """Of the first player, by score; a cycle and a game cut short count nothing."""
    known: dict[int, float] = {}

    def of(state: Any) -> float:
        if state.is_terminal:
            return state.score
        if state.key not in known:
            values = [of(state.play(action)) for action in state.legal_actions()]
            known[state.key] = max(values) if state.to_move == 0 else min(values)
        return known[state.key]

    return of(game.initial_state())


@pytest.mark.parametrize("draw_rules", ["olympiad", "openspiel", "none"])
def test_2x2_is_drawn_where_boards_may_recur(draw_rules: str) -> None:
    """No prohibition of recurring boards is assumed, only simple ko: white holds by a cycle."""
    assert value(make(2, draw_rules=draw_rules, max_plies=10)) == 0


def test_2x2_is_worth_a_point_to_black_under_superko() -> None:
    """The published value, 1, is for positional superko, which is not among our rules: here the
    test itself forbids every earlier board. Shown is black's half, that he gets a point at least
    (within 12 plies, though a game cut there would count for white)."""

    def black_gets_a_point(state: Any, seen: frozenset[str]) -> bool:
        if state.is_terminal:
            return state.score >= 1
        results = (
            black_gets_a_point(child, seen | {board})
            for action in state.legal_actions()
            for child in [state.play(action)]
            for board in ["/".join(rows(child))]
            if board not in seen or state.action_to_string(action) == "pass"
        )
        return any(results) if state.to_move == 0 else all(results)

    start = make(2, draw_rules="none", max_plies=12).initial_state()
    assert black_gets_a_point(start, frozenset({"/".join(rows(start))}))


def test_3x3_is_all_black() -> None:
    """From the centre black takes all nine points, the published value. He does so within 15
    plies where boards may recur; the shortest way to a win never comes back to a board with the
    same player to move, so cycles change nothing and the value holds for all our draw rules."""
    known: dict[int, bool] = {}

    def black_wins(state: Any) -> bool:
        if state.is_terminal:
            return state.outcomes == (1, -1)
        if state.key not in known:
            results = (black_wins(state.play(action)) for action in state.legal_actions())
            known[state.key] = any(results) if state.to_move == 0 else all(results)
        return known[state.key]

    game = make(3, komi=8.5, draw_rules="none", max_plies=15)
    assert black_wins(play(game.initial_state(), "b2"))
    assert not black_wins(play(game.initial_state(), "a1"))


@pytest.mark.parametrize("komi", [7, -1, 0, 6.5])
def test_komi_may_be_a_whole_number(komi: float) -> None:
    game = athenan.make_game("go", size=2, komi=komi)
    state = game.state_from_string(str(game.initial_state()))
    for _ in range(2):
        state = state.play(state.string_to_action("pass"))
    assert state.score == -komi
