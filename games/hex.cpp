// Hex: players in turn put a stone on an empty cell of a rhombus of hexagons. The first player (x)
// wins by a chain from the top to the bottom row, the second (o) from the left to the right
// column; one of them always does, so there is no draw.
// Options: size, 11 by default, the smallest of the three in the paper (11, 13 and 19, all of them
// of the Computer Olympiad); swap: instead of his first stone the second player may exchange the
// first stone for one of his own on the transposed cell; the players keep their sides. Tournaments
// swap (swap=true). The default is without, as in OpenSpiel, whose games and solved boards test
// these rules; whether the paper's experiments swapped it does not say.
// Actions: column letter and row number from the top; `swap`.
#include "games/bits.h"
#include "games/neighbours.h"
#include "games/rules.h"

namespace athenan {
namespace {

template <int W>
struct Hex {
  static constexpr int around[6][2] = {{-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}};

  struct State {
    std::array<Bits<W>, 2> stones;
    // linked[p][e]: the stones of player p that a chain joins to his first (0) or second (1) edge
    std::array<std::array<Bits<W>, 2>, 2> linked;
    Key key;
    std::int16_t ply = 0;
    std::int8_t to_move = 0;
    std::int8_t winner = -1;
    friend bool operator==(const State&, const State&) = default;
  };

  int size;
  bool swap;
  int num_players = 2;
  int max_plies = size * size + (swap ? 1 : 0);
  Shape shape{size, size, "xo", Grid::rhombus};
  Action swap_action = Action(size * size);
  std::vector<std::string> other_actions = only_if(swap, "swap");
  std::vector<Bits<W>> neighbours = make_neighbours<W>(shape, around);

  State initial_state() const {
    State state;
    state.key = mover_key(0);
    return state;
  }

  Bits<W> action_set(const State& state) const {
    auto actions = free_cells(state);
    if (can_swap(state)) actions.set(swap_action);
    return actions;
  }

  void play(State& state, Action action) const {
    const int player = state.to_move;
    if (action == swap_action) {
      const int cell = state.stones[1 - player].lowest();
      state.key ^= zobrist[(1 - player) * shape.size() + cell];
      state.stones[1 - player] = {};
      state.linked[1 - player] = {};
      place(state, cell % size * size + cell / size, player);
    } else {
      place(state, int(action), player);
    }
    state.key ^= mover_key(0) ^ mover_key(1);
    state.to_move ^= 1;
    ++state.ply;
  }

  bool is_terminal(const State& state) const { return state.winner >= 0; }
  int outcome(const State& state, int player) const { return state.winner == player ? 1 : -1; }
  Key key(const State& state) const {
    return can_swap(state) ? state.key ^ zobrist[2 * shape.size()] : state.key;
  }

  void write_board(const State& state, Board& board) const { write_pieces(state.stones, board); }
  State from_board(const Board& board) const {
    State state;
    set_turn(state, board);
    read_pieces(board, [&](int player, int cell) { place(state, cell, player); });
    return state;
  }

  std::string action_to_string(const State&, Action action) const {
    return action == swap_action ? "swap" : cell_name(shape, int(action));
  }
  int marked_cell(const State& after, Action action) const {
    return action == swap_action ? after.stones[1 - after.to_move].lowest() : int(action);
  }
  std::vector<Symmetry> symmetries() const {
    const int last = size - 1;
    return {
        make_symmetry(shape, 2, [](int r, int c) { return std::pair{r, c}; }),
        make_symmetry(shape, 2, [=](int r, int c) { return std::pair{last - r, last - c}; }),
        make_symmetry(
            shape, 2, [](int r, int c) { return std::pair{c, r}; }, true),
        make_symmetry(
            shape, 2, [=](int r, int c) { return std::pair{last - c, last - r}; }, true),
    };
  }

 private:
  Bits<W> free_cells(const State& state) const {
    return ~(state.stones[0] | state.stones[1]) & Bits<W>::first(shape.size());
  }
  // A text can say `ply 1` of any board, so the stones are counted too.
  bool can_swap(const State& state) const {
    return swap && state.ply == 1 && state.stones[state.to_move].none() &&
           state.stones[1 - state.to_move].count() == 1;
  }

  void place(State& state, int cell, int player) const {
    state.stones[player].set(cell);
    state.key ^= zobrist[player * shape.size() + cell];
    const int along = player == 0 ? cell / size : cell % size;
    bool wins = true;
    for (int edge : {0, 1}) {
      auto& linked = state.linked[player][edge];
      if (along == (edge == 0 ? 0 : size - 1) || (neighbours[cell] & linked).any())
        link(linked, state.stones[player], cell);
      wins &= linked.test(cell);
    }
    if (wins) state.winner = std::int8_t(player);
  }

  // Adds the chain of `cell` to `linked`; a stone is added once in a game, so this is cheap.
  void link(Bits<W>& linked, const Bits<W>& stones, int cell) const {
    auto waiting = Bits<W>::of(cell);
    while (waiting.any()) {
      const int next = waiting.lowest();
      waiting.clear(next);
      linked.set(next);
      waiting |= neighbours[next] & stones & ~linked;
    }
  }
};

}  // namespace

extern const GameType hex_type;
const GameType hex_type{
    "hex",
    "Hex",
    {whole_number("size", 11, 2, 19, "cells along a side"),
     yes_or_no("swap", false,
               "the second player may take over the first stone, as in tournaments")},
    [](const Options& options) {
      const int size = options.integer("size");
      const bool swap = options.flag("swap");  // an action more than there are cells
      return with_words(size * size + swap,
                        [&]<int W>() { return make_rules_game("hex", Hex<W>{size, swap}); });
    },
    {"a chain from the top row to the bottom row wins",
     "a chain from the left column to the right column wins"},
};

}  // namespace athenan
