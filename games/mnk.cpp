// m,n,k games: players in turn put a stone on an empty cell of a rows × columns board; the first
// with k (or more) of his stones in an unbroken row, column or diagonal wins and all others lose;
// a full board is a draw for all.
// Options: rows, columns, k, players (two to four). Tic-Tac-Mo is three players on 3 × 5 cells with
// three in a row, as in Ludii; there the others then play on for places, here the first win ends
// the game. Actions: column letter and row number from the top.
#include "games/mnk.h"

namespace athenan {

extern const GameType mnk_type;
const GameType mnk_type{
    "mnk",
    "m,n,k game",
    {whole_number("rows", 5, 1, 19, "rows of the board"),
     whole_number("columns", 5, 1, 19, "columns of the board"),
     whole_number("k", 4, 2, 19, "stones in a row that win"),
     whole_number("players", 2, 2, 4, "who put stones in turn")},
    [](const Options& options) {
      return make_mnk("mnk", options.integer("rows"), options.integer("columns"),
                      options.integer("k"), options.integer("players"));
    },
    {"k in a line win"},
};

}  // namespace athenan
