// Havannah: players in turn put a stone on an empty cell of a hexagon of hexagons. Three shapes of
// connected stones win: a ring around at least one cell, whatever that holds; a bridge between two
// of the six corners; a fork that touches three of the six sides (a corner belongs to no side). A
// full board without them is a draw.
// Options: base, the cells along a side (the Olympiad has played 8 and 10); swap: the second
// player's first action may be `swap`, which makes the first stone his. Tournaments normally swap
// (swap=true); the default is without, as in OpenSpiel, whose games and solved boards test these
// rules. Actions: column letter and row number from the top; `swap`.
//
// Each stone knows its group's name and each group what it touches; a new stone joins groups. It
// closes a ring exactly when two separate runs of own stones around it are of one group, or when
// it completes the six stones around an own one (an enclosed region of own stones always has such).
#include "games/bits.h"
#include "games/rules.h"

namespace athenan {
namespace {

template <int W>
struct Havannah {
  static constexpr int most_cells = W == 6 ? 271 : 64 * W;
  static constexpr std::uint16_t no_group = 0xFFFF;

  struct State {
    std::array<Bits<W>, 2> stones;
    std::array<std::uint16_t, most_cells> group;    // the lowest cell of the stone's group
    std::array<std::uint16_t, most_cells> touched;  // by the group of that name: see make_rim
    Key key;
    std::int16_t ply = 0;
    std::int8_t to_move = 0;
    std::int8_t winner = -1;
    bool full = false;
    friend bool operator==(const State&, const State&) = default;
  };

  int base;
  bool swap;
  int num_players = 2;
  int cells = 3 * base * (base - 1) + 1;  // numbered in reading order
  int max_plies = cells + (swap ? 1 : 0);
  Action swap_action = Action(cells);
  std::vector<std::string> other_actions = only_if(swap, "swap");
  Shape shape = make_shape();
  std::vector<int> places = shape.places();  // of each cell in the shape
  std::vector<std::array<std::int16_t, 6>> around = make_around();
  std::vector<std::uint16_t> rim = make_rim();

  State initial_state() const { return empty(0, 0); }

  Bits<W> action_set(const State& state) const {
    auto actions = free_cells(state);
    if (can_swap(state)) actions.set(swap_action);
    return actions;
  }

  void play(State& state, Action action) const {
    const int player = state.to_move;
    if (action == swap_action) {
      const int cell = state.stones[1 - player].lowest();
      state = empty(player, state.ply);
      place(state, cell, player);
    } else {
      place(state, int(action), player);
    }
    state.key ^= mover_key(0) ^ mover_key(1);
    state.to_move ^= 1;
    ++state.ply;
  }

  bool is_terminal(const State& state) const { return state.winner >= 0 || state.full; }
  int outcome(const State& state, int player) const {
    return state.winner < 0 ? 0 : state.winner == player ? 1 : -1;
  }
  Key key(const State& state) const {
    return can_swap(state) ? state.key ^ zobrist[2 * cells] : state.key;
  }

  void write_board(const State& state, Board& board) const {
    for (int p : {0, 1})
      state.stones[p].for_each([&](int cell) { board.cells[places[cell]] = std::uint8_t(p + 1); });
  }
  State from_board(const Board& board) const {
    State state = empty(board.to_move, board.ply);
    for (int cell = 0; cell < cells; ++cell)
      if (const int piece = board.cells[places[cell]]) place(state, cell, piece - 1);
    return state;
  }

  std::string action_to_string(const State&, Action action) const {
    return action == swap_action ? "swap" : cell_name(shape, places[action]);
  }
  int marked_cell(const State& after, Action action) const {
    return places[action == swap_action ? after.stones[1 - after.to_move].lowest() : int(action)];
  }
  // Six turns of the hexagon about its middle, each also reflected and with colours exchanged.
  std::vector<Symmetry> symmetries() const {
    std::vector<Symmetry> symmetries;
    for (bool colours : {false, true})
      for (bool reflected : {false, true})
        for (int turns = 0; turns < 6; ++turns)
          symmetries.push_back(make_symmetry(
              shape, num_players,
              [=, this](int row, int column) {
                if (!shape.exists(row * shape.columns + column)) return std::pair{row, column};
                int down = row - base + 1, right = column - base + 1;
                for (int i = 0; i < turns; ++i)
                  std::tie(down, right) = std::pair{right, right - down};
                if (reflected) std::swap(down, right);
                return std::pair{down + base - 1, right + base - 1};
              },
              colours));
    return symmetries;
  }

 private:
  State empty(int to_move, int ply) const {
    State state;
    state.group.fill(no_group);
    state.touched.fill(0);
    state.key = mover_key(to_move);
    state.to_move = std::int8_t(to_move);
    state.ply = std::int16_t(ply);
    return state;
  }
  // A text can say `ply 1` of any board, so the stones are counted too.
  bool can_swap(const State& state) const {
    return swap && state.ply == 1 && state.stones[state.to_move].none() &&
           state.stones[1 - state.to_move].count() == 1;
  }
  Bits<W> free_cells(const State& state) const {
    return ~(state.stones[0] | state.stones[1]) & Bits<W>::first(cells);
  }

  void place(State& state, int cell, int player) const {
    const auto& own = state.stones[player];
    unsigned beside = 0;  // bit i: the neighbour around[cell][i] is own
    for (int i = 0; i < 6; ++i) {
      const int other = around[cell][i];
      if (other >= 0 && own.test(other)) beside |= 1u << i;
    }
    state.stones[player].set(cell);
    state.key ^= zobrist[player * cells + cell];

    bool ring = surrounds_own(own, cell, beside);
    std::array<std::uint16_t, 3> joined;
    int count = 0;
    for (unsigned starts = beside & ~turned(beside); starts; starts &= starts - 1) {
      const auto name = state.group[around[cell][std::countr_zero(starts)]];
      if (std::find(joined.begin(), joined.begin() + count, name) != joined.begin() + count)
        ring = true;
      else
        joined[count++] = name;
    }
    const unsigned touched = join(state, cell, std::span(joined.data(), count));
    const int corners = std::popcount(touched & 63u), sides = std::popcount(touched >> 6);
    if (ring || corners >= 2 || sides >= 3) state.winner = std::int8_t(player);
    state.full = free_cells(state).none();
  }

  // Gives the cell and the groups one name; returns what they touch together.
  unsigned join(State& state, int cell, std::span<const std::uint16_t> joined) const {
    auto name = std::uint16_t(cell), touched = rim[cell];
    for (auto old : joined) {
      name = std::min(name, old);
      touched |= state.touched[old];
    }
    for (auto old : joined) {
      if (old == name) continue;
      state.touched[old] = 0;
      for (auto& group : state.group) group = group == old ? name : group;
    }
    state.group[cell] = name;
    state.touched[name] = touched;
    return touched;
  }

  // Bit i of the result is bit i - 1 of the six.
  static unsigned turned(unsigned six) { return (six << 1 | six >> 5) & 63u; }

  // Whether an own stone beside the new one, or the new one, has six own stones around it.
  bool surrounds_own(const Bits<W>& own, int cell, unsigned beside) const {
    if (beside == 63u) return true;
    // The middle of such a ring and the two stones next to it on the ring are beside the new one.
    for (unsigned middles = beside & turned(beside) & turned(turned(beside)); middles;
         middles &= middles - 1) {
      const int middle = around[cell][(std::countr_zero(middles) + 5) % 6];
      bool all = true;
      for (int other : around[middle]) all &= other >= 0 && own.test(other);
      if (all) return true;
    }
    return false;
  }

  Shape make_shape() const {
    const int rows = 2 * base - 1;
    Shape made{rows, rows, "xo", Grid::hexagon};
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < rows; ++column)
        made.holes.push_back(std::abs(row - column) >= base);
    return made;
  }
  // The neighbours in circular order; -1 off the board.
  std::vector<std::array<std::int16_t, 6>> make_around() const {
    static constexpr int steps[6][2] = {{0, 1}, {1, 1}, {1, 0}, {0, -1}, {-1, -1}, {-1, 0}};
    std::vector<int> cell_at(shape.size(), -1);
    for (int cell = 0; cell < cells; ++cell) cell_at[places[cell]] = cell;
    std::vector<std::array<std::int16_t, 6>> made(cells);
    for (int cell = 0; cell < cells; ++cell)
      for (int i = 0; i < 6; ++i) {
        const int row = places[cell] / shape.columns + steps[i][0];
        const int column = places[cell] % shape.columns + steps[i][1];
        const bool inside = row >= 0 && row < shape.rows && column >= 0 && column < shape.columns;
        made[cell][i] = std::int16_t(inside ? cell_at[row * shape.columns + column] : -1);
      }
    return made;
  }
  // What a cell touches: bits 0 to 5 for the corners, 6 to 11 for the sides.
  std::vector<std::uint16_t> make_rim() const {
    const int last = shape.rows - 1;
    std::vector<std::uint16_t> made(cells, 0);
    int corners = 0;
    for (int cell = 0; cell < cells; ++cell) {
      const int row = places[cell] / shape.columns, column = places[cell] % shape.columns;
      const bool on_side[6] = {row == 0,
                               column == 0,
                               row == last,
                               column == last,
                               row - column == base - 1,
                               column - row == base - 1};
      unsigned sides = 0;
      for (int i = 0; i < 6; ++i) sides |= unsigned(on_side[i]) << (6 + i);
      made[cell] = std::uint16_t(std::popcount(sides) == 2 ? 1u << corners++ : sides);
    }
    return made;
  }
};

}  // namespace

extern const GameType havannah_type;
const GameType havannah_type{
    "havannah",
    "Havannah",
    {whole_number("base", 8, 2, 10, "cells along a side"),
     yes_or_no("swap", false,
               "the second player may take over the first stone, as in tournaments")},
    [](const Options& options) {
      const int base = options.integer("base");
      const bool swap = options.flag("swap");  // an action more than there are cells
      return with_words(3 * base * (base - 1) + 1 + swap, [&]<int W>() {
        return make_rules_game("havannah", Havannah<W>{base, swap});
      });
    },
    {"a ring, a bridge between two corners or a fork of three sides wins"},
};

}  // namespace athenan
