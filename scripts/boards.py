"""A board of every game in the middle of a game, side by side: `python scripts/boards.py`.

Both sides play by random rollouts; the last action's cell is in brackets.
"""

import yaml

import athenan
from athenan.games import configs_folder, game_types

WIDTH = 100  # characters of a line
GAP = 4
ROLLOUTS = 4  # an action, for each that is legal
PLIES = 24
# Where that is too early, too late, or between the two halves of a turn.
PLIES_OF = {"arimaa": 44, "connect_four": 12, "mnk": 6, "santorini": 28, "tictactoe": 4}


def middle_board(name: str) -> list[str]:
    path = configs_folder() / "game" / f"{name}.yaml"
    game = athenan.make_game(**yaml.safe_load(path.read_text()))
    state, search = game.initial_state(), athenan.make_search("uct", game, exploration=1.4, seed=1)
    while state.ply < PLIES_OF.get(name, PLIES) and not state.is_terminal:
        rollouts = ROLLOUTS * len(state.legal_actions())
        action = search.run(state, iterations=rollouts).action
        assert action is not None
        state = state.play(action)
    return str(state).splitlines()


def main() -> None:
    boards = [[kind["title"], "", *middle_board(kind["name"])] for kind in game_types()]
    boards.sort(key=len)
    while boards:
        row = [boards.pop(0)]
        widths = [max(map(len, row[0]))]
        while boards and sum(widths) + GAP * len(row) + max(map(len, boards[0])) <= WIDTH:
            row.append(boards.pop(0))
            widths.append(max(map(len, row[-1])))
        for i in range(max(map(len, row))):
            cells = [board[i] if i < len(board) else "" for board in row]
            line = (" " * GAP).join(c.ljust(w) for c, w in zip(cells, widths, strict=True))
            print(line.rstrip())
        print()


if __name__ == "__main__":
    main()
