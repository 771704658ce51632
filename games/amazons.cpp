// Amazons: a turn is two actions: an amazon moves like a chess queen over empty cells, then shoots
// an arrow, again like a queen's move, from its new cell; the cell it came from is empty by then,
// so the arrow may go there. Where an arrow lands nothing moves or shoots any more. Who cannot move
// loses; an amazon that has moved can always shoot back, so there is no draw and no pass, and the
// game ends at the latest when the board is full.
// Options: size; 10 at the Computer Olympiad, with the first player's amazons (x) on d1 g1 a4 j4,
// the second's (o) opposite. On every size they stand a third of a side from the corners, which on
// 6 is OpenSpiel's start too. The amazon that has to shoot is drawn as X or O; arrows are #.
// Actions: from and to, then the arrow's cell, a1 at the lower left.

#include "games/bits.h"
#include "games/neighbours.h"
#include "games/rays.h"
#include "games/rules.h"

namespace athenan {
namespace {

template <int W>
struct Amazons {
  struct State {
    std::array<Bits<W>, 2> amazons;
    Bits<W> arrows;
    Key key;
    std::int16_t ply = 0;
    std::int8_t to_move = 0;
    std::int8_t shooter = -1;  // the cell of the amazon that has moved and not yet shot
    friend bool operator==(const State&, const State&) = default;
  };

  int size;
  int num_players = 2;
  int cells = size * size;
  int max_plies = 2 * (cells - 8);
  Shape shape{size, size, "xoXO#", Grid::square, true};
  Rays<W> rays{size, size};
  std::vector<Bits<W>> neighbours = make_rings<W>(size, size, 1);

  State initial_state() const {
    const int third = (size - 1) / 3, last = size - 1;
    State state;
    state.key = mover_key(0);
    for (int cell : {third, last - third, third * size, third * size + last}) {
      put(state, 0, cell);
      put(state, 1, (last - cell / size) * size + cell % size);
    }
    return state;
  }

  // A move is cells * from + to, an arrow cells * cells + to.
  void legal_actions(const State& state, Actions& actions) const {
    const auto taken = rays.taken(taken_cells(state));
    const auto add = [&](int from, int first) {
      rays.all(rays.targets(from, taken)).for_each([&](int to) { actions.push_back(first + to); });
    };
    if (state.shooter >= 0) return add(state.shooter, cells * cells);
    state.amazons[state.to_move].for_each([&](int from) { add(from, cells * from); });
  }
  Action random_action(const State& state, Random& random) const {
    const auto taken = rays.taken(taken_cells(state));
    if (state.shooter >= 0) {
      const auto arrows = rays.targets(state.shooter, taken);
      return Action(cells * cells + rays.nth(arrows, int(random.below(arrows.count()))));
    }
    std::array<std::uint8_t, 64 * W> moves;  // of each amazon
    int amazons = 0, all = 0;
    state.amazons[state.to_move].for_each([&](int from) {
      all += moves[amazons++] = std::uint8_t(rays.targets(from, taken).count());
    });
    int chosen = int(random.below(all)), amazon = 0;
    while (chosen >= moves[amazon]) chosen -= moves[amazon++];
    const int from = state.amazons[state.to_move].nth(amazon);
    return Action(cells * from + rays.nth(rays.targets(from, taken), chosen));
  }

  void play(State& state, Action action) const {
    const int to = int(action) % cells;
    if (state.shooter < 0) {
      put(state, state.to_move, int(action) / cells);
      put(state, state.to_move, to);
      aim(state, to);
    } else {
      state.key ^= zobrist[3 * cells + state.shooter];
      state.shooter = -1;
      block(state, to);
      state.key ^= mover_key(0) ^ mover_key(1);
      state.to_move ^= 1;
    }
    ++state.ply;
  }

  bool is_terminal(const State& state) const {
    if (state.shooter >= 0) return false;
    const auto free = ~taken_cells(state);
    return !state.amazons[state.to_move].any_of(
        [&](int cell) { return (neighbours[cell] & free).any(); });
  }
  int outcome(const State& state, int player) const { return player == state.to_move ? -1 : 1; }
  Key key(const State& state) const { return state.key; }

  void write_board(const State& state, Board& board) const {
    write_pieces(state.amazons, board);
    if (state.shooter >= 0) board.cells[state.shooter] += 2;
    state.arrows.for_each([&](int cell) { board.cells[cell] = 5; });
  }
  State from_board(const Board& board) const {
    State state;
    set_turn(state, board);
    for (int cell = 0; cell < cells; ++cell) {
      const int piece = board.cells[cell];
      if (piece == 5) block(state, cell);
      if (piece >= 1 && piece <= 4) put(state, (piece - 1) % 2, cell);
      if (piece != 3 && piece != 4) continue;
      if (state.shooter >= 0 || piece - 3 != state.to_move)
        refuse("only one amazon, of the player to move, can have to shoot");
      aim(state, cell);
    }
    if (state.shooter >= 0 && (neighbours[state.shooter] & ~taken_cells(state)).none())
      refuse("an amazon that has moved can always shoot back");
    return state;
  }

  std::string action_to_string(const State& state, Action action) const {
    const auto to = cell_name(shape, int(action) % cells);
    return state.shooter < 0 ? cell_name(shape, int(action) / cells) + to : to;
  }
  std::string part_of_turn(const State& state) const {
    return state.shooter < 0 ? "move an amazon" : "shoot an arrow";
  }
  int marked_cell(const State&, Action action) const { return int(action) % cells; }
  std::vector<Symmetry> symmetries() const { return grid_symmetries(shape, 2, true); }

 private:
  Bits<W> taken_cells(const State& state) const {
    return state.amazons[0] | state.amazons[1] | state.arrows;
  }
  // Puts an amazon on the cell, or takes it off.
  void put(State& state, int player, int cell) const {
    state.amazons[player].flip(cell);
    state.key ^= zobrist[player * cells + cell];
  }
  void block(State& state, int cell) const {
    state.arrows.set(cell);
    state.key ^= zobrist[2 * cells + cell];
  }
  void aim(State& state, int cell) const {
    state.shooter = std::int8_t(cell);
    state.key ^= zobrist[3 * cells + cell];
  }
};

}  // namespace

extern const GameType amazons_type;
const GameType amazons_type{
    "amazons",
    "Amazons",
    {whole_number("size", 10, 4, 10, "cells along a side")},
    [](const Options& options) {
      const int size = options.integer("size");
      return with_words(size * size,
                        [&]<int W>() { return make_rules_game("amazons", Amazons<W>{size}); });
    },
    {"whoever cannot move an amazon any more loses"},
};

}  // namespace athenan
