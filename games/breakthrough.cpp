// Breakthrough: the first player's men (x) start on the lowest rows and move up, the second's (o)
// on the highest and move down. A man steps one row forward, straight or diagonally, onto an empty
// cell; he captures only diagonally, and need not. A man on the last row wins, and so does
// capturing every enemy. There is no draw and a player always has an action.
// Options: rows, columns: 8 × 8, as on Winands' page of the rules; below 6 rows a side has one row
// of men, otherwise two, as in OpenSpiel.
// Actions: from and to, a1 at the lower left.
#include "games/bits.h"
#include "games/rules.h"

namespace athenan {
namespace {

template <int W>
struct Breakthrough {
  struct State {
    std::array<Bits<W>, 2> men;
    Key key;
    std::int16_t ply = 0;
    std::int8_t to_move = 0;
    std::int8_t winner = -1;
    friend bool operator==(const State&, const State&) = default;
  };

  int rows, columns;
  int num_players = 2;
  int rows_of_men = rows < 6 ? 1 : 2;
  int max_pieces = rows_of_men * columns;
  // Every man can advance to the row before the last, and one of them onto the last.
  int max_plies = 2 * columns * rows_of_men * (2 * rows - 3 - rows_of_men) / 2 + 1;
  Shape shape{rows, columns, "xo", Grid::square, true};

  State initial_state() const {
    State state;
    state.key = mover_key(0);
    for (int i = 0; i < max_pieces; ++i) {
      put(state, 0, i);
      put(state, 1, shape.size() - 1 - i);
    }
    return state;
  }

  // An action is 3 * from + way; the ways are left, straight, right on the drawn board.
  void legal_actions(const State& state, Actions& actions) const {
    if (is_terminal(state)) return;
    const auto& own = state.men[state.to_move];
    const auto& enemy = state.men[1 - state.to_move];
    const int forward = state.to_move == 0 ? columns : -columns;
    own.for_each([&](int from) {
      const int column = from % columns, ahead = from + forward;
      if (column > 0 && !own.test(ahead - 1)) actions.push_back(3 * from);
      if (!own.test(ahead) && !enemy.test(ahead)) actions.push_back(3 * from + 1);
      if (column < columns - 1 && !own.test(ahead + 1)) actions.push_back(3 * from + 2);
    });
  }

  void play(State& state, Action action) const {
    const int player = state.to_move, from = int(action) / 3, to = target(player, action);
    put(state, player, from);
    if (state.men[1 - player].test(to)) put(state, 1 - player, to);
    put(state, player, to);
    const int last_row = player == 0 ? rows - 1 : 0;
    if (to / columns == last_row || state.men[1 - player].none()) state.winner = state.to_move;
    state.key ^= mover_key(0) ^ mover_key(1);
    state.to_move ^= 1;
    ++state.ply;
  }

  bool is_terminal(const State& state) const { return state.winner >= 0; }
  int outcome(const State& state, int player) const { return state.winner == player ? 1 : -1; }
  int pieces(const State& state, int player) const { return state.men[player].count(); }
  Key key(const State& state) const { return state.key; }

  void write_board(const State& state, Board& board) const { write_pieces(state.men, board); }
  State from_board(const Board& board) const {
    State state;
    set_turn(state, board);
    read_pieces(board, [&](int piece, int cell) { put(state, piece, cell); });
    const auto lowest = Bits<W>::first(columns), highest = lowest.shifted((rows - 1) * columns);
    if ((state.men[0] & highest).any() || state.men[1].none()) state.winner = 0;
    if ((state.men[1] & lowest).any() || state.men[0].none()) state.winner = 1;
    return state;
  }

  std::string action_to_string(const State& state, Action action) const {
    return cell_name(shape, int(action) / 3) + cell_name(shape, target(state.to_move, action));
  }
  int marked_cell(const State& after, Action action) const {
    return target(1 - after.to_move, action);
  }
  std::vector<Symmetry> symmetries() const {
    const int last_row = rows - 1, last_column = columns - 1;
    return {
        make_symmetry(shape, 2, [](int r, int c) { return std::pair{r, c}; }),
        make_symmetry(shape, 2, [=](int r, int c) { return std::pair{r, last_column - c}; }),
        make_symmetry(
            shape, 2, [=](int r, int c) { return std::pair{last_row - r, c}; }, true),
        make_symmetry(
            shape, 2, [=](int r, int c) { return std::pair{last_row - r, last_column - c}; }, true),
    };
  }

 private:
  int target(int player, Action action) const {
    return int(action) / 3 + (player == 0 ? columns : -columns) + int(action) % 3 - 1;
  }
  // Puts a man on the cell, or takes him off it.
  void put(State& state, int player, int cell) const {
    state.men[player].flip(cell);
    state.key ^= zobrist[player * shape.size() + cell];
  }
};

}  // namespace

extern const GameType breakthrough_type;
const GameType breakthrough_type{
    "breakthrough",
    "Breakthrough",
    {whole_number("rows", 8, 4, 19, "rows of the board; below 6 one row of men a side"),
     whole_number("columns", 8, 2, 19, "columns of the board")},
    [](const Options& options) {
      const int rows = options.integer("rows"), columns = options.integer("columns");
      return with_words(rows * columns, [&]<int W>() {
        return make_rules_game("breakthrough", Breakthrough<W>{rows, columns});
      });
    },
    {"a man on the top row wins", "a man on the bottom row wins"},
};

}  // namespace athenan
