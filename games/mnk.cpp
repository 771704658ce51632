#include "mnk.h"

namespace athenan {

extern const GameType mnk_type;
const GameType mnk_type{
    "mnk",
    "m,n,k game",
    {whole_number("rows", 3, 1, 19, "rows of the board"),
     whole_number("columns", 5, 1, 19, "columns of the board"),
     whole_number("k", 3, 2, 19, "stones in a row that win"),
     whole_number("players", 3, 2, 4, "players")},
    [](const Options& options) {
      return make_mnk("mnk", options.integer("rows"), options.integer("columns"),
                      options.integer("k"), options.integer("players"));
    },
};

}  // namespace athenan
