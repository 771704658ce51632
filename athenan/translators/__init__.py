"""Moves and positions in the words of other programs' protocols: GTP, UCI, Hub and AEI."""

from __future__ import annotations

from collections.abc import Callable

from athenan import _core
from athenan.errors import InputError, nearest
from athenan.translators.aei import Aei
from athenan.translators.gtp import Gtp, gtp_colour, player_of_colour
from athenan.translators.hub import Hub
from athenan.translators.moves import Translator
from athenan.translators.uci import Uci, uci_variant

__all__ = [
    "PLAYED",
    "Translator",
    "gtp_colour",
    "make_translator",
    "player_of_colour",
    "protocol_of",
    "uci_variant",
]

TRANSLATORS: dict[str, Callable[[_core.Game], Translator]] = {
    "gtp": Gtp, "uci": Uci, "hub": Hub, "aei": Aei,
}  # fmt: skip

# The games that other programs play by each protocol; the first that fits is the usual one.
PLAYED = {
    "gtp": ("connect6", "go", "gomoku", "havannah", "hex", "mnk", "othello", "tictactoe"),
    "uci": ("chess", "xiangqi", "breakthrough", "clobber", "ataxx", "amazons", "othello"),
    "hub": ("draughts",),
    "aei": ("arimaa",),
}


def protocol_of(game: _core.Game) -> str | None:
    """By which other programs usually play the game, if by any."""
    if game.num_players != 2:
        return None
    return next((protocol for protocol, names in PLAYED.items() if game.name in names), None)


def make_translator(protocol: str, game: _core.Game) -> Translator:
    """For this game; an InputError where the protocol has no words for it."""
    if protocol not in TRANSLATORS:
        raise InputError(f"There is no protocol '{protocol}'{nearest(protocol, TRANSLATORS)}")
    if game.num_players != 2:
        raise InputError(f"Protocols are for two players; game '{game.name}' has others.")
    return TRANSLATORS[protocol](game)
