"""Rules of a search that are functions of Python: the two methods that the class of all unbounded
minimax searches leaves open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from athenan import _core
from athenan.errors import InputError

OPTIONS = ("continue_rule", "order")


def own_rules(search: str, options: dict[str, Any]) -> dict[str, Any]:
    """Takes functions out of the options of a search, as the core calls them."""
    kinds: dict[str, type[OwnContinueRule] | type[OwnOrder]]
    kinds = dict(zip(OPTIONS, (OwnContinueRule, OwnOrder), strict=True))
    given = [name for name in OPTIONS if callable(options.get(name))]
    if given and search != "umb":
        raise InputError(
            f"Search '{search}' takes no function for '{given[0]}'; search 'umb' does."
        )
    return {name: kinds[name](options.pop(name)) for name in given}


@dataclass
class OwnContinueRule:
    rule: Callable[[_core.State, list[_core.Child], int], bool]

    def __call__(self, state: _core.State, children: list[_core.Child], new_states: int) -> bool:
        answer = called("continue_rule", self.rule, state, children, new_states)
        if not isinstance(answer, bool | np.bool_):
            raise InputError(f"Function 'continue_rule' returns True or False, not {answer!r}.")
        return bool(answer)


@dataclass
class OwnOrder:
    rule: Callable[[_core.State, list[_core.Child]], int]

    def __call__(self, state: _core.State, children: list[_core.Child]) -> int:
        """The place of the child that the rule has chosen by its action."""
        answer = called("order", self.rule, state, list(children))
        actions = [child.action for child in children]
        if isinstance(answer, bool) or answer not in actions:
            raise InputError(
                f"Function 'order' returns the action of a child it is given, not {answer!r}."
            )
        return actions.index(answer)


def called(name: str, rule: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return rule(*arguments)
    except Exception as error:
        raise InputError(f"Function '{name}' failed: {type(error).__name__}: {error}") from error
