// Gomoku: players in turn put a stone on an empty cell; five or more of one's own in an unbroken
// row, column or diagonal win (overlines count, for both players); a full board is a draw.
// Options: size; opening: `outer_open`, the Computer Olympiad's way to take away the first player's
// advantage, puts the very first stone on one of the two outermost lines (104 of 225 cells on
// 15 × 15) and leaves all others free, without a swap, as in Polygames; `free` has no restriction,
// as in OpenSpiel. Actions: column letter and row number from the top.
#include "games/mnk.h"

namespace athenan {

extern const GameType gomoku_type;
const GameType gomoku_type{
    "gomoku",
    "Gomoku",
    {whole_number("size", 15, 3, 19, "cells along a side; below 5 nobody can win"),
     one_of("opening", {"outer_open", "free"},
            "where the first stone goes: on the two outermost lines, or anywhere")},
    [](const Options& options) {
      const int size = options.integer("size");
      const int opening_lines = options.text("opening") == "outer_open" ? 2 : 0;
      return make_mnk("gomoku", size, size, 5, 2, opening_lines);
    },
    {"five or more in a line win"},
};

}  // namespace athenan
