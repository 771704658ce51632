"""Actions as people write them: the game's own text, other case and separators, chess's SAN."""

from __future__ import annotations

import re
from typing import Any

from athenan.errors import InputError

SEPARATORS = re.compile(r"[x×]")  # between cells; no board has a column of that name
WORDS = re.compile(r"\d+|[^\W\d_]+")
CASTLING = re.compile(r"([o0])-\1(-\1)?", re.IGNORECASE)
SAN = re.compile(
    r"(?P<piece>[KQRBN])?(?P<file>[a-h])?(?P<rank>[1-8])?[x×:-]?(?P<to>[a-h][1-8])"
    r"(=?(?P<promotion>[QRBNqrbn]))?( ?e\.?p\.?)?"
)


def read_actions(state: Any, text: str) -> list[int]:
    """One action, or several of one turn (`d1-d4/g7`, `j10 k11`). What cannot be read, or could
    mean several actions, is an InputError that says so, with an example of a right one."""
    try:
        return [read_action(state, text)]
    except InputError as error:
        parts = [part for part in re.split(r"[\s/;]+", text) if part]
        try:
            return read_turn(state, parts)
        except InputError:
            raise error from None


def read_turn(state: Any, parts: list[str]) -> list[int]:
    """The actions of one player, one after the other."""
    actions, player = [], state.to_move
    if len(parts) < 2:
        raise InputError("A single action is no turn of several.")
    for part in parts:
        if state.is_terminal or state.to_move != player:
            raise InputError("The turn ends before.")
        actions.append(read_action(state, part))
        state = state.play(actions[-1])
    return actions


def read_action(state: Any, text: str) -> int:
    text = text.strip()
    try:
        action: int = state.string_to_action(text)
        return action
    except ValueError as error:
        refusal = str(error)
    if state.is_terminal:
        raise InputError("The game is over.")
    written = {action: state.action_to_string(action) for action in state.legal_actions()}
    meant = from_san(state, text, written) or folded(text, written)
    if len(meant) == 1:
        return meant[0]
    if meant:
        names = ", ".join(written[action] for action in meant)
        raise InputError(f"'{text}' may mean several actions here: {names}.")
    if "may mean several" in refusal:
        raise InputError(refusal)
    raise InputError(f"'{text}' is no action here; write for example {example(state)}.")


def example(state: Any) -> str:
    """Some action as it is written: not the first, which is often a corner or a pass."""
    actions = state.legal_actions()
    text: str = state.action_to_string(actions[len(actions) // 2])
    return text


def folded(text: str, written: dict[int, str]) -> list[int]:
    """The actions whose texts differ in case and separators alone."""
    wanted = fold(text)
    return [action for action, own in written.items() if wanted and fold(own) == wanted]


def fold(text: str) -> list[str]:
    """Its letters and numbers: `E2-e4`, `e2 x e4` and `e2e4` are the same. Numbers stay apart, so
    that `3 14` is not `31 4`."""
    return WORDS.findall(SEPARATORS.sub(" ", text.casefold()))


# ---- Chess -------------------------------------------------------------------------------------


def from_san(state: Any, text: str, written: dict[int, str]) -> list[int]:
    """The legal actions of chess that the standard algebraic notation may mean."""
    found = re.search(r"^FEN (\S+) ([wb]) \S+ ", str(state), re.MULTILINE)
    if not found or found[1].count("/") != 7:
        return []
    text = text.rstrip("+#!? ")
    pieces = pieces_of(found[1])
    castling = CASTLING.fullmatch(text)
    if castling:
        side = "c" if castling[2] else "g"
        return [
            action
            for action, own in written.items()
            if own[:1] == "e" and own[2:3] == side and pieces[own[:2]] in "Kk"
        ]
    # As it is written a small b is a column; in another case it may be a bishop's, too.
    small = text.lower()
    for readings in ({text}, {small, small[:1].upper() + small[1:]}):
        found_in = [match for reading in readings if (match := SAN.fullmatch(reading))]
        meant = [a for a, own in written.items() if any(is_meant(m, own, pieces) for m in found_in)]
        if meant:
            return meant
    return []


def is_meant(meant: re.Match[str], own: str, pieces: dict[str, str]) -> bool:
    """Whether the action, `e7e8q`, is what the match says."""
    piece = pieces[own[:2]].upper()
    file = meant["file"]
    if piece == "P" and not file:
        file = meant["to"][0]  # a pawn that takes names its column
    return (
        piece == (meant["piece"] or "P")
        and own[2:4] == meant["to"]
        and own[4:] == (meant["promotion"] or "").lower()
        and own[0] == (file or own[0])
        and own[1] == (meant["rank"] or own[1])
    )


def pieces_of(placement: str) -> dict[str, str]:
    """Cell to piece, of a FEN's first field."""
    pieces: dict[str, str] = {}
    for rank, row in zip("87654321", placement.split("/"), strict=True):
        cells = re.sub(r"\d", lambda gap: " " * int(gap[0]), row)
        pieces |= {f"{file}{rank}": piece for file, piece in zip("abcdefgh", cells, strict=True)}
    return pieces
