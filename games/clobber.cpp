// Clobber: the board is full of stones, coloured like a chessboard. A player moves a stone onto an
// orthogonally adjacent enemy stone, which leaves the board; the cell it came from stays empty. Who
// cannot move loses. There is no pass and no draw; every action takes a stone.
// Options: rows, columns (10 × 10 at the Computer Olympiad).
// The first player (x) owns the upper left corner, as in Fairy-Stockfish; OpenSpiel's start is the
// mirror image. Actions: from and to, a1 at the lower left.
#include "games/bits.h"
#include "games/rules.h"

namespace athenan {
namespace {

template <int W>
struct Clobber {
  struct State {
    std::array<Bits<W>, 2> stones;
    Key key;
    std::int16_t ply = 0;
    std::int8_t to_move = 0;
    friend bool operator==(const State&, const State&) = default;
  };

  int rows, columns;
  int num_players = 2;
  int max_plies = rows * columns - 1;
  int max_pieces = (rows * columns + 1) / 2;
  Shape shape{rows, columns, "xo", Grid::square, true};
  // Where the ways of an action lead, ascending, and the cells from which they stay on the board.
  std::array<int, 4> steps = {-columns, -1, 1, columns};
  std::array<Bits<W>, 4> inside = make_inside();

  State initial_state() const {
    State state;
    state.key = mover_key(0);
    for (int cell = 0; cell < shape.size(); ++cell)
      put(state, (rows - 1 - cell / columns + cell % columns) % 2, cell);
    return state;
  }

  // An action is 4 * from + way.
  void legal_actions(const State& state, Actions& actions) const {
    std::array<Bits<W>, 4> movable;
    Bits<W> any;
    for (int way = 0; way < 4; ++way) any |= movable[way] = movable_along(state, way);
    any.for_each([&](int from) {
      for (int way = 0; way < 4; ++way)
        if (movable[way].test(from)) actions.push_back(4 * from + way);
    });
  }

  void play(State& state, Action action) const {
    const int player = state.to_move, to = target(action);
    put(state, player, int(action) / 4);
    put(state, player, to);
    put(state, 1 - player, to);
    state.key ^= mover_key(0) ^ mover_key(1);
    state.to_move ^= 1;
    ++state.ply;
  }

  bool is_terminal(const State& state) const {
    for (int way = 0; way < 4; ++way)
      if (movable_along(state, way).any()) return false;
    return true;
  }
  int outcome(const State& state, int player) const { return player == state.to_move ? -1 : 1; }
  int pieces(const State& state, int player) const { return state.stones[player].count(); }
  Key key(const State& state) const { return state.key; }

  void write_board(const State& state, Board& board) const { write_pieces(state.stones, board); }
  State from_board(const Board& board) const {
    State state;
    set_turn(state, board);
    read_pieces(board, [&](int piece, int cell) { put(state, piece, cell); });
    return state;
  }

  std::string action_to_string(const State&, Action action) const {
    return cell_name(shape, int(action) / 4) + cell_name(shape, target(action));
  }
  int marked_cell(const State&, Action action) const { return target(action); }
  std::vector<Symmetry> symmetries() const { return grid_symmetries(shape, 2, true); }

 private:
  int target(Action action) const { return int(action) / 4 + steps[action % 4]; }

  // The mover's stones with an enemy next to them in that direction.
  Bits<W> movable_along(const State& state, int way) const {
    return state.stones[state.to_move] & inside[way] &
           state.stones[1 - state.to_move].shifted(-steps[way]);
  }

  // Puts a stone on the cell, or takes it off.
  void put(State& state, int player, int cell) const {
    state.stones[player].flip(cell);
    state.key ^= zobrist[player * shape.size() + cell];
  }

  std::array<Bits<W>, 4> make_inside() const {
    std::array<Bits<W>, 4> cells;
    for (int cell = 0; cell < rows * columns; ++cell) {
      if (cell / columns > 0) cells[0].set(cell);
      if (cell % columns > 0) cells[1].set(cell);
      if (cell % columns < columns - 1) cells[2].set(cell);
      if (cell / columns < rows - 1) cells[3].set(cell);
    }
    return cells;
  }
};

}  // namespace

extern const GameType clobber_type;
const GameType clobber_type{
    "clobber",
    "Clobber",
    {whole_number("rows", 10, 1, 19, "rows of the board"),
     whole_number("columns", 10, 2, 19, "columns of the board")},
    [](const Options& options) {
      const int rows = options.integer("rows"), columns = options.integer("columns");
      return with_words(rows * columns, [&]<int W>() {
        return make_rules_game("clobber", Clobber<W>{rows, columns});
      });
    },
    {"whoever has no neighbour to take any more loses"},
};

}  // namespace athenan
