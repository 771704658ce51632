"""What boards and pieces of each game look like: a small table, and what any other game gets."""

from __future__ import annotations

from dataclasses import dataclass, field

# Of players, in their order, where a game does not say otherwise.
COLOURS = ("#d64b3c", "#2f6fb5", "#3b9b5f", "#e2a829", "#8b58b8", "#1f9e9e")
BLACK, WHITE, GOLD, SILVER = "#26282c", "#f7f5ef", "#e3b341", "#b9c4d0"

CHESSMEN = {"K": "king", "Q": "queen", "R": "rook", "B": "bishop", "N": "knight", "P": "pawn"}
ANIMALS = {"E": "elephant", "M": "camel", "H": "horse", "D": "dog", "C": "cat", "R": "rabbit"}
# As the two sides of xiangqi write them.
GENERALS = {
    "K": ("general", "帥將"), "A": ("advisor", "仕士"), "B": ("elephant", "相象"),
    "N": ("horse", "傌馬"), "R": ("chariot", "俥車"), "C": ("cannon", "炮砲"),
    "P": ("soldier", "兵卒"),
}  # fmt: skip


@dataclass(frozen=True)
class Piece:
    """What stands for a symbol of the board: a form, of a player where it is one's, and what it
    is called. Nothing is drawn of the form `none`."""

    form: str
    player: int | None = None
    name: str = ""
    text: str = ""  # on it


@dataclass(frozen=True)
class Look:
    """Of a game: how cells are drawn, which forms its pieces have, and what lies below them."""

    cells: str = "plain"  # plain, checkered, green, point, hole; plain ones may be hexagons
    forms: tuple[str, ...] = ("stone",)  # of the players' pieces, one for all or each
    names: tuple[str, ...] = ()  # of the players' colours, told to who cannot see them
    colours: tuple[str, ...] = COLOURS
    marked: str = "marked"  # of a player's piece in the other case: a king, one that is moving
    others: dict[str, tuple[str, str]] = field(default_factory=dict)  # symbol: form and name
    kinds: dict[str, str] = field(default_factory=dict)  # letters of pieces with names
    drops: bool = False  # an action is a column, and its piece falls
    captures: bool = False  # after its first two cells an action names what it takes
    steps: bool = False  # an action is a cell and one of n, e, s, w
    drawn: tuple[str, ...] = ()  # what is drawn besides: edges, river, loops, traps, homes


STONES = (BLACK, WHITE)
MEN = (WHITE, BLACK)
COLOUR_NAMES = ("red", "blue", "green", "yellow", "purple", "turquoise")

LOOKS = {
    "tictactoe": Look(forms=("cross", "nought"), names=("x", "o")),
    "mnk": Look(forms=("cross", "nought", "triangle", "diamond"), names=("x", "o", "z", "v")),
    "connect_four": Look(
        "hole", colours=("#e0483e", "#f2c530"), names=("red", "yellow"), drops=True
    ),
    "hex": Look(drawn=("edges",)),
    "havannah": Look(),
    "breakthrough": Look("checkered", ("pawn",), ("white", "black"), MEN),
    "othello": Look("green", ("disc",), ("black", "white"), STONES),
    "rolit": Look("plain", ("disc",)),
    "clobber": Look("checkered", ("disc",), ("white", "black"), MEN),
    "lines_of_action": Look("checkered", ("disc",), ("black", "white"), STONES),
    "gomoku": Look("point", ("stone",), ("black", "white"), STONES, drawn=("stars",)),
    "connect6": Look("point", ("stone",), ("black", "white"), STONES, drawn=("stars",)),
    "go": Look(
        "point", ("stone",), ("black", "white"), STONES, drawn=("stars",),
        others={"*": ("dot", "ko"), "-": ("none", ""), "=": ("none", "")},
    ),
    "surakarta": Look("point", ("stone",), ("red", "blue"), drawn=("loops",)),
    "ataxx": Look("plain", ("disc",)),
    "amazons": Look(
        "checkered", ("queen",), ("white", "black"), MEN, others={"#": ("block", "arrow")}
    ),
    "draughts": Look(
        "checkered", ("disc",), ("white", "black"), MEN, "crowned", captures=True,
        drawn=("numbers",),
    ),
    "chess": Look("checkered", names=("white", "black"), colours=MEN, kinds=CHESSMEN),
    "xiangqi": Look(
        "point", names=("red", "black"), colours=("#c8352b", "#22252a"),
        kinds={letter: name for letter, (name, _) in GENERALS.items()}, drawn=("river",),
    ),
    "arimaa": Look(
        "plain", names=("gold", "silver"), colours=(GOLD, SILVER), kinds=ANIMALS, steps=True,
        drawn=("traps",),
    ),
    "santorini": Look("levels", ("worker",)),
    "chinese_checkers": Look("hole", others={"*": ("dot", "passed by")}, drawn=("homes",)),
}  # fmt: skip


def look_of(name: str) -> Look:
    return LOOKS.get(name, Look())


def colour_name(look: Look, player: int) -> str:
    return (look.names or COLOUR_NAMES)[player]


def piece_of(game_name: str, players: list[str], symbol: str) -> Piece:
    """The piece of a symbol, where the players are called by theirs."""
    look = look_of(game_name)
    if symbol in look.others:
        form, name = look.others[symbol]
        return Piece(form, None, name)
    letter = symbol.upper()
    if len({player.upper() for player in players}) < len(players):  # K and k: capitals are first
        player = 0 if symbol == letter else 1
        name = f"{colour_name(look, player)} {look.kinds.get(letter, letter)}"
        if game_name == "chess":
            return Piece(CHESSMEN[letter], player, name)
        text = GENERALS[letter][1][player] if game_name == "xiangqi" else letter
        return Piece("sign" if game_name == "xiangqi" else "letter", player, name, text)
    owners = [i for i, player in enumerate(players) if player.upper() == letter]
    if not owners:
        return Piece("letter", None, symbol, symbol)
    player = owners[0]
    form = look.forms[player % len(look.forms)]
    name = f"{colour_name(look, player)} piece"
    if symbol == players[player]:
        return Piece(form, player, name)
    return Piece(f"{form} {look.marked}", player, f"{name}, {look.marked}")


# Silhouettes in a square from -20 to 20, as SVG paths.
SILHOUETTES = {
    "pawn": (
        "M0-13a5.4 5.4 0 0 1 3.6 9.4C7-1.5 8 3 8.5 7H11v6h-22V7h2.5C-8 3-7-1.5-3.6-3.6A5.4 "
        "5.4 0 0 1 0-13Z"
    ),
    "rook": "M-10-13h4.5v3.5h3V-13h5v3.5h3V-13H10v7l-3 2.5v9L10 8.5V13h-20V8.5l3-3v-9l-3-2.5Z",
    "bishop": (
        "M0-16a2.3 2.3 0 0 1 1.7 3.9C6-8.5 8-4.5 7-.5 6.3 1.8 5 3 4.5 4l1.5 3.5c3 0 5.5 1 "
        "5.5 5.5h-23c0-4.5 2.5-5.5 5.5-5.5L-4.5 4C-5 3-6.3 1.8-7-.5c-1-4 1-8 5.3-11.6A2.3 "
        "2.3 0 0 1 0-16Z"
    ),
    "knight": (
        "M-3-15l3 3C8-11.5 12-3 11 13H-8.5c0-7 6-8.5 5-14-2.5 1-4 3.5-7 4.5l-2.8-3 "
        "2.3-2.7C-9.5-6-8-10-4-12Z"
    ),
    "queen": (
        "M-14-9l5 8 1-12 5.3 11L0-15 2.7-2 8-13l1 12 5-8-3.5 16c.5 2.5 1 4 1 6h-23c0-2 .5-3.5 1-6Z"
    ),
    "king": (
        "M-1.5-17h3v3h3v3h-3v3.2C7-11 13-8 12.5-3 12 1 8.5 4 8 7c1.5 1.5 2 4 2 6h-20c0-2 "
        ".5-4.5 2-6-.5-3-4-6-4.5-10C-13-8-7-11-1.5-7.8V-11h-3v-3h3Z"
    ),
    "worker": "M0-13a5 5 0 0 1 3.5 8.6C8-2.5 9 4 9 12H-9C-9 4-8-2.5-3.5-4.4A5 5 0 0 1 0-13Z",
}
