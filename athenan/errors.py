"""The one kind of error that is the user's to mend: a sentence, never a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """A wrong option, game, file or value; its text is one clear sentence."""


class Failed(RuntimeError):
    """Work that had to stop through no fault of its input; its text is one clear sentence."""


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of a sentence that offers the nearest right spelling, or nothing."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean '{close[0]}'?" if close else "."
