// Connect four: players in turn drop a stone into a column, where it falls onto the stones below;
// the first with four in a row, column or diagonal wins; a full board is a draw.
// Options: rows, columns. Actions: columns, written 1, 2, 3, … from the left.

#include "games/bits.h"
#include "games/rules.h"

namespace athenan {
namespace {

template <int W>
struct ConnectFour {
  // Bits are column by column with an empty row on top, so that no line wraps round:
  //   bit = column * (rows + 1) + row, row 0 at the bottom.
  struct State {
    std::array<Bits<W>, 2> stones;
    Key key;
    std::array<std::uint8_t, 19> height{};
    std::int8_t to_move = 0;
    std::int8_t winner = -1;
    std::int16_t ply = 0;
    std::int16_t free = 0;  // empty cells
    friend bool operator==(const State&, const State&) = default;
  };

  int rows, columns;
  int num_players = 2;
  int max_plies = rows * columns;
  int stride = rows + 1;
  Shape shape{rows, columns, "xo", Grid::square, true, true};

  State initial_state() const {
    State state;
    state.free = std::int16_t(rows * columns);
    state.key = mover_key(0);
    return state;
  }

  void legal_actions(const State& state, Actions& actions) const {
    if (is_terminal(state)) return;
    for (int column = 0; column < columns; ++column)
      if (state.height[column] < rows) actions.push_back(column);
  }

  void play(State& state, Action column) const {
    drop(state, int(column), state.to_move);
    if (has_four(state.stones[state.to_move])) state.winner = state.to_move;
    state.key ^= mover_key(0) ^ mover_key(1);
    state.to_move ^= 1;
    ++state.ply;
  }

  bool is_terminal(const State& state) const { return state.winner >= 0 || state.free == 0; }
  int outcome(const State& state, int player) const {
    return state.winner < 0 ? 0 : state.winner == player ? 1 : -1;
  }
  Key key(const State& state) const { return state.key; }

  void write_board(const State& state, Board& board) const {
    for (int column = 0; column < columns; ++column)
      for (int row = 0; row < state.height[column]; ++row)
        board.cells[row * columns + column] = state.stones[1].test(column * stride + row) ? 2 : 1;
  }
  State from_board(const Board& board) const {
    State state = initial_state();
    set_turn(state, board);
    read_pieces(board, [&](int player, int cell) {
      if (state.height[cell % columns] != cell / columns)
        refuse("a stone falls onto the stones below it");
      drop(state, cell % columns, player);
    });
    for (int player : {0, 1})
      if (has_four(state.stones[player])) state.winner = std::int8_t(player);
    return state;
  }

  std::string action_to_string(const State&, Action action) const {
    return std::to_string(action + 1);
  }
  std::optional<int> marked_cell(const State& after, Action action) const {
    return (after.height[action] - 1) * columns + int(action);
  }
  std::vector<Symmetry> symmetries() const {
    const auto same = [](int r, int c) { return std::pair{r, c}; };
    const auto mirror = [this](int r, int c) { return std::pair{r, columns - 1 - c}; };
    return {make_symmetry(shape, 2, same), make_symmetry(shape, 2, mirror)};
  }

 private:
  void drop(State& state, int column, int player) const {
    const int bit = column * stride + state.height[column]++;
    state.stones[player].set(bit);
    state.key ^= zobrist[player * columns * stride + bit];
    --state.free;
  }
  bool has_four(const Bits<W>& stones) const {
    for (int step : {1, stride - 1, stride, stride + 1}) {
      const auto pairs = stones & stones.shifted(-step);
      if ((pairs & pairs.shifted(-2 * step)).any()) return true;
    }
    return false;
  }
};

}  // namespace

extern const GameType connect_four_type;
const GameType connect_four_type{
    "connect_four",
    "Connect four",
    {whole_number("rows", 6, 1, 19, "rows of the board"),
     whole_number("columns", 7, 1, 19, "columns of the board")},
    [](const Options& options) {
      const int rows = options.integer("rows"), columns = options.integer("columns");
      return with_words((rows + 1) * columns, [&]<int W>() {
        return make_rules_game("connect_four", ConnectFour<W>{rows, columns});
      });
    },
    {"four in a line win; an action is a column"},
};

}  // namespace athenan
