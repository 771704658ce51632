"""Moves and positions in the words of GTP, UCI, Hub and AEI, in random games of every game."""

import random
from collections.abc import Iterator

import pytest

import athenan
from athenan import InputError, State
from athenan.translators import (
    Translator,
    gtp_colour,
    make_translator,
    player_of_colour,
    protocol_of,
    uci_variant,
)

CASES = [
    ("gtp", "go", {}), ("gtp", "go", {"size": 19}), ("gtp", "hex", {"swap": True}),
    ("gtp", "havannah", {"base": 4, "swap": True}), ("gtp", "gomoku", {}),
    ("gtp", "connect6", {}), ("gtp", "othello", {}), ("gtp", "othello", {"size": 10}),
    ("gtp", "mnk", {}), ("gtp", "tictactoe", {}), ("gtp", "breakthrough", {}),
    ("uci", "chess", {}), ("uci", "xiangqi", {}), ("uci", "breakthrough", {}),
    ("uci", "breakthrough", {"rows": 6, "columns": 5}), ("uci", "clobber", {}),
    ("uci", "clobber", {"rows": 6, "columns": 5}), ("uci", "ataxx", {}),
    ("uci", "ataxx", {"size": 5}), ("uci", "amazons", {}), ("uci", "amazons", {"size": 6}),
    ("uci", "othello", {}), ("uci", "othello", {"size": 10}), ("uci", "othello", {"size": 6}),
    ("hub", "draughts", {}), ("hub", "draughts", {"variant": "brazilian"}),
    ("hub", "draughts", {"variant": "canadian"}), ("aei", "arimaa", {}),
]  # fmt: skip
NAMES = ["-".join([p, g, *(str(v) for v in o.values())]) for p, g, o in CASES]


def turns(
    translator: Translator, chooser: random.Random, plies: int
) -> Iterator[tuple[State, list[int], State]]:
    """The moves of a random game: the state before, its actions, the state after."""
    before = state = translator.game.initial_state()
    actions: list[int] = []
    for _ in range(plies):
        if state.is_terminal:
            return
        actions.append(chooser.choice(state.legal_actions()))
        state = state.play(actions[-1])
        if translator.is_whole(before, state):
            yield before, actions, state
            before, actions = state, []


@pytest.mark.parametrize(("protocol", "name", "options"), CASES, ids=NAMES)
def test_moves_are_read_back(protocol, name, options):
    game = athenan.make_game(name, **options)
    translator = make_translator(protocol, game)
    for seed in range(3):
        for before, actions, after in turns(translator, random.Random(seed), 120):
            text = translator.write(before, actions)
            again = translator.read(before, text)
            assert "\n" not in text
            if protocol == "aei" and before.part_of_turn == "set up a piece":
                assert line(before, again) == after  # pieces of one kind in another order
            else:
                assert again == actions, text


@pytest.mark.parametrize(("protocol", "name", "options"), CASES, ids=NAMES)
def test_every_legal_action_has_a_text_of_its_own(protocol, name, options):
    game = athenan.make_game(name, **options)
    translator = make_translator(protocol, game)
    chooser = random.Random(7)
    every = 60 if len(game.initial_state().legal_actions()) > 200 else 5
    for before, _, _ in list(turns(translator, chooser, 120))[::every]:
        moves: dict[str, list[int]] = {}
        for first in before.legal_actions():
            after, actions = before.play(first), [first]
            while not translator.is_whole(before, after):
                actions.append(chooser.choice(after.legal_actions()))
                after = after.play(actions[-1])
            if name == "arimaa" and not before.part_of_turn.startswith("step"):
                continue
            text = translator.write(before, actions)
            assert moves.setdefault(text, actions) == actions
            assert translator.read(before, text) == actions


@pytest.mark.parametrize(
    ("protocol", "name", "options"),
    [case for case in CASES if case[0] != "gtp"],
    ids=[name for name in NAMES if not name.startswith("gtp")],
)
def test_positions_are_read_back(protocol, name, options):
    game = athenan.make_game(name, **options)
    translator = make_translator(protocol, game)
    for _, _, state in turns(translator, random.Random(3), 150):
        text = translator.write_position(state)
        again = translator.read_position(text)
        assert translator.write_position(again) == text or protocol == "uci"
        assert (again.planes() == state.planes()).all()
        assert again.to_move == state.to_move
        if protocol == "uci":
            assert again.ply == state.ply


def line(state: State, actions: list[int]) -> State:
    for action in actions:
        state = state.play(action)
    return state


def test_gtp_words():
    def words(name: str, *actions: str, **options: object) -> list[str]:
        translator = make_translator("gtp", athenan.make_game(name, **options))
        state, said = translator.game.initial_state(), []
        for text in actions:
            action = state.string_to_action(text)
            said.append(translator.write(state, [action]))
            state = state.play(action)
        return said

    assert words("go", "d4", "j9", "pass") == ["D4", "J9", "pass"]
    assert words("hex", "i1", "swap", swap=True) == ["i1", "swap-pieces"]
    assert words("gomoku", "i1", "a15") == ["J15", "A1"]  # without i, rows from the bottom
    assert words("othello", "d3", "c3") == ["D3", "C3"]
    assert gtp_colour(0) == "b"
    assert player_of_colour("White") == 1
    with pytest.raises(InputError, match="colour"):
        player_of_colour("red")


def read(name: str, text: str, start: str | None = None, **options: object) -> list[str]:
    """Our words for a move of UCI."""
    translator = make_translator("uci", athenan.make_game(name, **options))
    state = translator.read_position(start) if start else translator.game.initial_state()
    said = []
    for action in translator.read(state, text):
        said.append(state.action_to_string(action))
        state = state.play(action)
    return said


def test_uci_words():
    assert read("amazons", "d1a1,a1b1") == ["d1a1", "b1"]
    # An arrow back to where the amazon came from.
    assert read("amazons", "a1b2,b2a1", "10/10/10/q9/10/10/10/10/10/Q9 w - - 0 1") == ["a1b2", "a1"]
    assert read("othello", "P@e3") == ["e6"]
    assert read("othello", "e3") == ["e6"]
    assert read("ataxx", "P@f1") == ["f1"]
    assert read("ataxx", "g1e3") == ["g1e3"]
    castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    assert read("chess", "e1g1", castling) == ["e1g1"]
    assert read("chess", "a7a8N", "8/P6k/8/8/8/8/8/K7 w - - 0 1") == ["a7a8n"]


def test_a_pass_of_uci_is_a_move_from_the_first_own_cell_to_itself():
    translator = make_translator("uci", athenan.make_game("ataxx"))
    stuck = translator.read_position("7/7/7/ppppppp/ppppppp/ppppppp/ppppppP w - - 0 1")
    assert translator.write(stuck, stuck.legal_actions()) == "g1g1"
    assert translator.read(stuck, "0000") == translator.read(stuck, "g1g1")
    with pytest.raises(InputError, match="a1a1"):
        translator.read(stuck, "a1a1")


def test_variants_are_named_as_fairy_stockfish_names_them():
    def variant(name: str, **options: object) -> str:
        return uci_variant(athenan.make_game(name, **options))

    assert variant("clobber") == "clobber10"
    assert variant("clobber", rows=6, columns=5) == "clobber"
    assert variant("othello") == "flipello"
    assert variant("othello", size=10) == "flipello10"
    assert variant("breakthrough", rows=6, columns=6) == "breakthrough6"
    with pytest.raises(InputError, match="UCI has no words for go"):
        variant("go")


def test_hub_words():
    translator = make_translator("hub", athenan.make_game("draughts"))
    start = translator.game.initial_state()
    assert translator.write_position(start) == "W" + "b" * 20 + "e" * 10 + "w" * 20
    state = translator.read_position("W" + "e" * 17 + "b" + "e" * 4 + "w" + "e" * 27)
    assert [translator.write(state, [a]) for a in state.legal_actions()] == ["23x12x18"]
    two = "W" + "e" * 7 + "b" + "e" * 9 + "b" + "e" * 4 + "w" + "e" * 27
    state = translator.read_position(two)
    assert len({translator.read(state, text)[0] for text in ("23x3x18x8", "23x3x8x18")}) == 1
    with pytest.raises(InputError, match="no legal move"):
        translator.read(start, "31-22")


def test_aei_words():
    translator = make_translator("aei", athenan.make_game("arimaa"))
    start = translator.game.initial_state()
    gold = "Ra1 Rb1 Rc1 Rd1 Re1 Rf1 Rg1 Rh1 Ha2 Db2 Cc2 Md2 Ee2 Cf2 Dg2 Hh2"
    silver = gold.lower().translate(str.maketrans("12", "87"))
    state = line(start, translator.read(start, gold))
    assert sorted(translator.write(start, translator.read(start, gold)).split()) == sorted(
        gold.split()
    )
    state = line(state, translator.read(state, silver))
    assert translator.write_position(state) == (
        "g [rrrrrrrrhdcmecdh" + " " * 32 + "HDCMECDHRRRRRRRR]"
    )
    turn = translator.read(state, "Ee2n Ee3n")
    assert [state.action_to_string(turn[0]), len(turn)] == ["Ee2n", 3]  # and the turn ends
    assert line(state, turn).to_move == 1
    with pytest.raises(InputError, match="no legal step"):
        translator.read(state, "Ee2n Ra1s")
    with pytest.raises(InputError, match="goes on"):
        translator.read(state, "Ee2n Ee3n Ee4n Ee5s Ee4s")
    with pytest.raises(InputError, match="eight rabbits"):
        translator.read(start, gold.replace("Rh1", "Rh3"))


def test_a_piece_that_falls_is_said():
    translator = make_translator("aei", athenan.make_game("arimaa"))
    rows = ["        "] * 8
    rows[0], rows[6] = "r      e", " R     E"  # b2
    state = translator.read_position(f"g [{''.join(rows)}]")
    step = state.string_to_action("Rb2e")
    after = state.play(step)
    into = after.string_to_action("Rc2n")
    last = after.play(into)
    turn = [step, into, last.string_to_action("pass")]
    assert translator.write(state, turn) == "Rb2e Rc2n Rc3x"
    assert translator.read(state, "Rb2e Rc2n Rc3x") == turn


def test_what_has_no_words_is_refused():
    with pytest.raises(InputError, match="did you mean 'gtp'"):
        make_translator("gpt", athenan.make_game("go"))
    with pytest.raises(InputError, match="for two players"):
        make_translator("gtp", athenan.make_game("mnk", players=3))
    with pytest.raises(InputError, match="for draughts"):
        make_translator("hub", athenan.make_game("chess"))
    with pytest.raises(InputError, match="for arimaa"):
        make_translator("aei", athenan.make_game("chess"))
    amazons = make_translator("uci", athenan.make_game("amazons"))
    start = amazons.game.initial_state()
    with pytest.raises(InputError, match="not over"):
        amazons.moves(start, [start.legal_actions()[0]])
    with pytest.raises(InputError, match="not over"):
        amazons.write_position(start.play(start.legal_actions()[0]))
    for text in ("", "8/8", "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Z3 w - - 0 1", "9/9/9 w"):
        with pytest.raises(InputError):
            amazons.read_position(text)
    for text in ("", "d1a1", "d1a1,", "d1a1,b1c1", "x"):
        with pytest.raises(InputError, match="no legal move"):
            amazons.read(start, text)


# ---- Beside independent programs -----------------------------------------------------------------

FAIRY = [
    ("chess", {}), ("xiangqi", {}), ("breakthrough", {}), ("clobber", {}),
    ("clobber", {"rows": 6, "columns": 5}), ("ataxx", {}), ("amazons", {}), ("othello", {}),
    ("othello", {"size": 10}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), FAIRY, ids=lambda v: str(v))
def test_moves_and_positions_are_those_of_fairy_stockfish(name, options):
    pyffish = pytest.importorskip("pyffish", reason="pyffish is not installed")
    translator = make_translator("uci", athenan.make_game(name, **options))
    variant = translator.variant
    for seed in range(2):
        fen, passed = pyffish.start_fen(variant), False
        plies = 16 if name == "amazons" else 80
        for before, actions, after in turns(translator, random.Random(seed), plies):
            text = translator.write(before, actions)
            legal = pyffish.legal_moves(variant, fen, [])
            assert text in legal
            if name != "amazons":
                own = {translator.write(before, [a]) for a in before.legal_actions()}
                assert own == set(legal)
            if name == "othello" and passed and before.legal_actions() == actions:
                break  # Fairy-Stockfish does not end after two passes
            passed = before.action_to_string(actions[0]) == "pass"
            fen = pyffish.get_fen(variant, fen, [text])
            ours = translator.write_position(after)
            assert fields(ours)[:2] == fields(fen)[:2]
            if name in ("chess", "xiangqi"):
                assert ours == fen
            assert fields(translator.write_position(translator.read_position(fen))) == fields(ours)


def fields(fen: str) -> list[str]:
    """Without the hand."""
    placement, *others = fen.split()
    return [placement.partition("[")[0], *others[:1]]


def test_chess_is_that_of_python_chess():
    chess = pytest.importorskip("chess", reason="python-chess is not installed")
    translator = make_translator("uci", athenan.make_game("chess"))
    for seed in range(3):
        board = chess.Board()
        for before, actions, after in turns(translator, random.Random(seed), 200):
            assert {translator.write(before, [a]) for a in before.legal_actions()} == {
                move.uci() for move in board.legal_moves
            }
            board.push_uci(translator.write(before, actions))
            assert translator.write_position(after) == board.fen(en_passant="legal")


@pytest.mark.parametrize(("protocol", "name", "options"), CASES, ids=NAMES)
def test_any_text_is_a_legal_move_or_refused(protocol, name, options):
    translator = make_translator(protocol, athenan.make_game(name, **options))
    chooser = random.Random(11)
    letters = " \tabjzPXx@-,0123456789/[]'é\x00x:WB"
    for before, actions, _ in list(turns(translator, chooser, 40))[::4]:
        text = translator.write(before, actions)
        for _ in range(30):
            changed = list(text)
            for _ in range(chooser.randint(1, 3)):
                at = chooser.randint(0, len(changed))
                changed[at : at + chooser.randint(0, 2)] = chooser.choice(letters)
            try:
                found = translator.read(before, "".join(changed))
            except InputError:
                continue
            line(before, found)  # which are all legal


@pytest.mark.parametrize(
    ("protocol", "name", "options"),
    [case for case in CASES if case[0] != "gtp"],
    ids=[name for name in NAMES if not name.startswith("gtp")],
)
def test_any_text_is_a_sound_position_or_refused(protocol, name, options):
    translator = make_translator(protocol, athenan.make_game(name, **options))
    chooser = random.Random(12)
    for _, _, state in list(turns(translator, chooser, 60))[::6]:
        text = translator.write_position(state)
        for _ in range(40):
            changed = list(text)
            for _ in range(chooser.randint(1, 3)):
                at = chooser.randint(0, len(changed))
                words = ("9", "99999999999", "/", "w", "b", " ", "k", "P", "*", "-1", "[", "é", "")
                changed[at : at + chooser.randint(0, 2)] = chooser.choice(words)
            try:
                found = translator.read_position("".join(changed))
            except InputError:
                continue
            assert found.is_terminal or found.legal_actions()


def test_which_protocol_is_usual():
    found = {name: protocol_of(athenan.make_game(name)) for name in athenan.list_games()}
    assert (found["go"], found["othello"], found["chess"]) == ("gtp", "gtp", "uci")
    assert (found["draughts"], found["arimaa"]) == ("hub", "aei")
    assert found["santorini"] is None
    assert protocol_of(athenan.make_game("mnk", players=3)) is None
    for name, protocol in found.items():
        if protocol is not None:
            make_translator(protocol, athenan.make_game(name))
