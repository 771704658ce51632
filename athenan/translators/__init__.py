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

__all__ = ["Translator", "gtp_colour", "make_translator", "player_of_colour", "uci_variant"]

TRANSLATORS: dict[str, Callable[[_core.Game], Translator]] = {
    "gtp": Gtp, "uci": Uci, "hub": Hub, "aei": Aei,
}  # fmt: skip


def make_translator(protocol: str, game: _core.Game) -> Translator:
    """For this game; an InputError where the protocol has no words for it."""
    if protocol not in TRANSLATORS:
        raise InputError(f"There is no protocol '{protocol}'{nearest(protocol, TRANSLATORS)}")
    if game.num_players != 2:
        raise InputError(f"Protocols are for two players; game '{game.name}' has others.")
    return TRANSLATORS[protocol](game)
