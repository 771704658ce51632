// Tic-tac-toe: the m,n,k game of 3 × 3 cells, three in a row, two players.
#include "games/mnk.h"

namespace athenan {

extern const GameType tictactoe_type;
const GameType tictactoe_type{
    "tictactoe",
    "Tic-tac-toe",
    {},
    [](const Options&) { return make_mnk("tictactoe", 3, 3, 3, 2); },
    {"three in a line win"},
};

}  // namespace athenan
